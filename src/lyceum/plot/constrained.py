"""Lagrange multipliers, seen: contours of an objective, constraints, and gradients at stationary
points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import show
from lyceum.errors import DataError
from lyceum.plot.style import COLORS, INK, axes, finish, legend, note

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MARKS = {
    "minimum": ("v", COLORS[0]),
    "maximum": ("^", COLORS[1]),
    "saddle point": ("X", COLORS[3]),
}
_OTHER = ("D", COLORS[6])
_ARROW = 0.16  # the length of the longest arrow, as a share of the picture


def constrained_optima(
    optima: Any,
    *,
    limits: Any = None,
    steps: int = 160,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The contours of an objective of two variables, its constraints, and where it is stationary
    under them.

    Equalities are lines; where an inequality fails, the plane is shaded; dashed contours are those
    through stationary points. At every such point the gradient of the objective is drawn, and
    dashed that of every binding constraint times its multiplier: they add up to it.

    Parameters
    ----------
    optima : ConstrainedOptima
        From `lyceum.solvers.constrained_optima`, of two variables.
    limits : two pairs of numbers, optional
        The ends of both axes; by default around the stationary points.
    steps : int, default=160
        The number of points along each side of the grid.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.solvers.constrained_optima : The points and multipliers as numbers.

    Examples
    --------
    >>> from lyceum._core import solvers as solvers
    >>> equalities = {"x + y = 6": lambda x, y: x + y - 6}
    >>> optima = solvers.constrained_optima(lambda x, y: x * y, equalities)
    >>> ax = constrained_optima(optima, steps=20)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    """
    problem = optima.problem
    if len(problem.variables) != 2:
        raise DataError(
            f"the picture is of two variables, but there are {len(problem.variables)}"
        )
    ax = axes(ax, (6.0, 5.4))
    sides = [
        np.linspace(low, high, steps) for low, high in _limits(optima, limits).tolist()
    ]
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    _draw_objective(ax, optima, sides, grid)
    constraints = {**problem.equalities, **problem.inequalities}
    _draw_constraints(ax, problem, constraints, sides, grid)
    reach = _ARROW * max(side[-1] - side[0] for side in sides)
    for point in optima.points:
        _draw(ax, problem, point, reach, constraints)
    if not optima.feasible:
        label = "least violation: no point is feasible"
        ax.plot(*optima.nearest, "x", color=INK, markersize=9, label=label)
    finish(ax, problem.variables[0], problem.variables[1], title)
    ax.set_aspect("equal", adjustable="box")
    legend(ax)
    return ax


def _draw_objective(
    ax: Axes, optima: Any, sides: list[np.ndarray], grid: np.ndarray
) -> None:
    height = _on(lambda x: optima.problem.objective(*x), grid)
    ax.contour(*sides, height, levels=14, cmap="viridis", linewidths=0.8, alpha=0.8)
    touched = np.unique([round(point.value, 9) for point in optima.points])
    if len(touched):  # the contours that touch the constraints
        dashed: dict[str, Any] = {
            "colors": [INK],
            "linewidths": 1.1,
            "linestyles": "dashed",
        }
        ax.contour(*sides, height, levels=touched, **dashed)


def _draw_constraints(
    ax: Axes,
    problem: Any,
    constraints: dict[str, Any],
    sides: list[np.ndarray],
    grid: np.ndarray,
) -> None:
    """A line where a constraint binds, and a shade where an inequality fails."""
    for k, (name, of) in enumerate(constraints.items()):
        color = COLORS[(k + 2) % len(COLORS)]
        height = _on(lambda x, of=of: of(*x), grid)
        ax.contour(*sides, height, levels=[0.0], colors=[color], linewidths=2.0)
        ax.plot([], [], color=color, linewidth=2.0, label=name)
        if name in problem.inequalities and (height < 0).any():
            ax.contourf(
                *sides, height, levels=[-np.inf, 0.0], colors=[color], alpha=0.13
            )


def _draw(ax: Axes, problem: Any, point: Any, reach: float, constraints: Any) -> None:
    mark, color = _MARKS.get(point.kind, _OTHER)
    labels = {str(line.get_label()) for line in ax.lines}
    label = f"_{point.kind}" if point.kind in labels else point.kind
    style: dict[str, Any] = {
        "color": color,
        "markersize": 9,
        "markeredgecolor": "white",
        "zorder": 5,
    }
    ax.plot(*point.x, mark, label=label, **style)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.7}
    text: dict[str, Any] = {"fontsize": "small", "color": INK, "zorder": 6, "bbox": box}
    note(ax, show(round(point.value, 9) + 0.0), point.x, (7, -12), **text)
    slope = problem.gradient(problem.objective, point.x)
    length = float(np.hypot(*slope))
    if length <= 1e-9:
        return
    _arrow(ax, point.x, slope / length * reach, INK, "-")
    for k, (name, of) in enumerate(constraints.items()):
        if name in point.binding:
            part = point.multipliers[name] * problem.gradient(of, point.x)
            _arrow(
                ax,
                point.x,
                part / length * reach,
                COLORS[(k + 2) % len(COLORS)],
                (0, (3, 2)),
            )


def _arrow(
    ax: Axes, start: np.ndarray, way: np.ndarray, color: str, dashes: Any
) -> None:
    if np.hypot(*way) > 0:
        style: dict[str, Any] = {
            "arrowstyle": "-|>",
            "color": color,
            "linewidth": 1.6,
            "linestyle": dashes,
            "shrinkA": 0,
        }
        ax.annotate("", tuple(start + way), tuple(start), arrowprops=style, zorder=4)


def _limits(optima: Any, limits: Any) -> np.ndarray:
    if limits is not None:
        return np.asarray(limits, dtype=np.float64)
    shown = [point.x for point in optima.points] or [optima.nearest]
    low = np.min(shown, axis=0)
    high = np.max(shown, axis=0)
    half = max(
        float((high - low).max()) / 2 * 1.5, 0.9 * float(np.abs(shown).max()), 1.6
    )
    middle = (low + high) / 2
    return np.column_stack([middle - half, middle + half])


def _on(of: Any, grid: np.ndarray) -> np.ndarray:
    """The values of a function of a point on a grid; NaN where it has none."""
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(of(np.moveaxis(grid, -1, 0)), dtype=np.float64)
            if values.shape == grid.shape[:-1]:
                return values
        except (TypeError, ValueError):
            pass
        return np.array([[_number(of, x) for x in row] for row in grid])


def _number(of: Any, x: np.ndarray) -> float:
    try:
        return float(of(x))
    except (ValueError, ArithmeticError):
        return np.nan
