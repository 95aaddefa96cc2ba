"""Lagrange multipliers, seen: contours of an objective, constraints, and gradients at stationary
points."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import show
from lyceum.errors import DataError
from lyceum.plot.style import COLORS, INK, axes, color_of, finish, legend, note

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
    ends = _limits(optima) if limits is None else np.asarray(limits, dtype=np.float64)
    sides = [np.linspace(low, high, steps) for low, high in ends.tolist()]
    _draw_contours(ax, optima, sides)
    reach = _ARROW * max(side[-1] - side[0] for side in sides)
    for point in optima.points:
        _draw_point(ax, problem, point, reach)
    if not optima.feasible:
        label = "least violation: no point is feasible"
        ax.plot(*optima.nearest, "x", color=INK, markersize=9, label=label)
    finish(ax, problem.variables[0], problem.variables[1], title)
    ax.set_aspect("equal", adjustable="box")
    legend(ax)
    return ax


def _constraints(problem: Any) -> list[tuple[str, Any, str]]:
    """The name, the function and the color of every constraint."""
    both = {**problem.equalities, **problem.inequalities}
    return [(name, of, color_of(k + 2)) for k, (name, of) in enumerate(both.items())]


def _draw_contours(ax: Axes, optima: Any, sides: list[np.ndarray]) -> None:
    """The objective, a line where a constraint binds, and a shade where an inequality fails."""
    problem = optima.problem
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    height = _on(lambda x: problem.objective(*x), grid)
    ax.contour(*sides, height, levels=14, cmap="viridis", linewidths=0.8, alpha=0.8)
    # at an optimum a contour of the objective touches the constraints; equal values may differ
    # by rounding
    touched = np.unique([round(point.value, 9) for point in optima.points])
    if len(touched):
        ax.contour(
            *sides,
            height,
            levels=touched,
            colors=[INK],
            linewidths=1.1,
            linestyles="dashed",
        )
    for name, of, color in _constraints(problem):
        height = _on(lambda x, of=of: of(*x), grid)
        ax.contour(*sides, height, levels=[0.0], colors=[color], linewidths=2.0)
        # a contour has no entry in the legend: an empty line stands for it
        ax.plot([], [], color=color, linewidth=2.0, label=name)
        if name in problem.inequalities and (height < 0).any():
            fails = [-np.inf, 0.0]
            ax.contourf(*sides, height, levels=fails, colors=[color], alpha=0.13)


def _draw_point(ax: Axes, problem: Any, point: Any, reach: float) -> None:
    """A stationary point, its value, and ∇f = Σ λ ∇g there as arrows."""
    mark, color = _MARKS.get(point.kind, _OTHER)
    labels = {str(line.get_label()) for line in ax.lines}
    ax.plot(
        *point.x,
        mark,
        label=f"_{point.kind}" if point.kind in labels else point.kind,
        color=color,
        markersize=9,
        markeredgecolor="white",
        zorder=5,
    )
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.7}
    text: dict[str, Any] = {"fontsize": "small", "color": INK, "zorder": 6, "bbox": box}
    note(ax, show(round(point.value, 9) + 0.0), point.x, (7, -12), **text)
    # the length of ∇f is the unit of all arrows at this point
    slope = problem.gradient(problem.objective, point.x)
    length = float(np.hypot(*slope))
    if length <= 1e-9:
        return
    # all arrows are scaled alike, so that the parts add up to the gradient in the picture too
    _arrow(ax, point.x, slope / length * reach, color=INK, dashes="-")
    for name, of, color in _constraints(problem):
        if name in point.binding:
            part = point.multipliers[name] * problem.gradient(of, point.x)
            arrow = part / length * reach
            _arrow(ax, point.x, arrow, color=color, dashes=(0, (3, 2)))


def _arrow(
    ax: Axes, start: np.ndarray, way: np.ndarray, *, color: str, dashes: Any
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


def _limits(optima: Any) -> np.ndarray:
    """A square around the stationary points, with the origin where it is not far."""
    shown = [point.x for point in optima.points] or [optima.nearest]
    low = np.min(shown, axis=0)
    high = np.max(shown, axis=0)
    widest = float((high - low).max())
    farthest = float(np.abs(shown).max())
    half = max(widest / 2 * 1.5, 0.9 * farthest, 1.6)
    middle = (low + high) / 2
    return np.column_stack([middle - half, middle + half])


def _on(of: Any, grid: np.ndarray) -> np.ndarray:
    """The values of a function of a point on a grid; NaN where it has none."""
    values = np.full(grid.shape[:-1], np.nan)
    with np.errstate(all="ignore"):
        # all points at once, if the function takes arrays; math.sqrt and the like do not
        try:
            whole = np.asarray(of(np.moveaxis(grid, -1, 0)), dtype=np.float64)
            if whole.shape == values.shape:
                return whole
        except (TypeError, ValueError):
            pass
        for index in np.ndindex(values.shape):
            with suppress(ValueError, ArithmeticError):
                values[index] = float(of(grid[index]))
    return values
