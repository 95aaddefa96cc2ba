"""Densities: curves and contours, classes with their decision regions, and Gaussians learned and
fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator, Target
from lyceum.bayes import (
    BayesianGaussianClassifier,
    NormalMean,
    QuadraticDiscriminantAnalysis,
)
from lyceum.density import ParzenClassifier
from lyceum.errors import DataError
from lyceum.plot.plane import ELLIPSE, in_columns_of
from lyceum.plot.style import (
    COLORS,
    DASHED,
    GRAY,
    INK,
    axes,
    color_of,
    draw_points,
    finish,
    heading,
    legend,
    line_style,
)
from lyceum.probability import fuse_gaussians

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_CURVE = 400  # points of a curve
_GRID = 120  # points along a side of a grid
_WITH_CLASS_DENSITIES = (
    ParzenClassifier,
    QuadraticDiscriminantAnalysis,
    BayesianGaussianClassifier,
)


def density(
    model: Estimator,
    X: Data,
    *,
    label: str | None = None,
    title: str | None = None,
    levels: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """A fitted density: a curve for one column, contours for two, with the rows of X.

    Parameters
    ----------
    model : fitted density of one or two columns
        With `score_samples`; several may be drawn into one `ax`.
    X : array or frame of shape (n, 1) or (n, 2)
        Rows to show, whose range is drawn.
    label : str, optional
        The name of a curve.
    title : str, optional
        The title of the picture.
    levels : int, default=8
        The number of contours.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    class_densities : The densities of several classes.

    Examples
    --------
    >>> from lyceum.density import KernelDensity
    >>> X = [[0.0], [1.0], [1.5]]
    >>> ax = density(KernelDensity(bandwidth=0.5).fit(X), X)
    >>> len(ax.lines[0].get_xdata())
    400
    """
    rows, names = _rows_of(X, model)
    ax = axes(ax)
    if rows.shape[1] == 1:
        grid = _spread(rows[:, 0], _CURVE)
        heights = _values(model, grid[:, None])
        ax.plot(grid, heights, label=label, **line_style(ax))
        _rug(ax, rows[:, 0], color=GRAY, alpha=0.5)
        finish(ax, names[0], "density", title)
        legend(ax)
        return ax
    x, y, grid = _plane(rows)
    heights = _values(model, grid).reshape(len(y), len(x))
    ax.contour(x, y, heights, levels=levels, colors=COLORS[0], linewidths=1.1)
    draw_points(ax, rows, 8, label=label, gid="rows", color=GRAY, alpha=0.5)
    finish(ax, names[0], names[1], title)
    return ax


def class_densities(
    model: Estimator,
    X: Data,
    y: Target = None,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """π_k f_k(x) of every class, and the regions where each class is predicted.

    Parameters
    ----------
    model : ParzenClassifier, QuadraticDiscriminantAnalysis or BayesianGaussianClassifier
        Fitted on one or two columns: a classifier that knows the density of every class.
    X : array or frame of shape (n, 1) or (n, 2)
        Rows to show, whose range is drawn.
    y : array of shape (n,), optional
        Their classes, to color them by.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    density : One density.
    posterior_contours : Posteriors of any classifier.

    Examples
    --------
    >>> from lyceum.density import ParzenClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    >>> ax = class_densities(ParzenClassifier().fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    if not isinstance(model, _WITH_CLASS_DENSITIES):
        names = ", ".join(kind.__name__ for kind in _WITH_CLASS_DENSITIES)
        raise DataError(
            f"{type(model).__name__} has no density for every class: give one of {names}"
        )
    rows, columns = _rows_of(X, model)
    ax = axes(ax)
    # the rows of each class; none are marked without y
    marked = [rows[:0]] * len(model.classes_)
    if y is not None:
        codes = np.searchsorted(model.classes_, np.asarray(y))
        marked = [rows[codes == k] for k in range(len(model.classes_))]
    if rows.shape[1] == 1:
        _classes_on_a_line(ax, model, X, rows, marked)
        finish(ax, columns[0], "prior × density", title)
    else:
        _classes_on_a_plane(ax, model, X, rows, marked)
        finish(ax, columns[0], columns[1], title)
    legend(ax)
    return ax


def posterior_updating(
    x: ArrayLike,
    *,
    mean: float = 0.0,
    variance: float = 1.0,
    noise: float = 1.0,
    after: Sequence[int] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The posterior of the mean of a Gaussian as rows arrive: the prior, and the posterior after n
    rows.

    Parameters
    ----------
    x : array of shape (n,)
        Rows, in the order in which they come.
    mean, variance : float
        The prior of the mean.
    noise : float
        The known variance of a row.
    after : sequence of int, optional
        The numbers of rows to show; by default 0, 1, 2, 4, 8 ... and all.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.bayes.NormalMean : The posterior itself.

    Examples
    --------
    >>> ax = posterior_updating([1.0, 2.0, 1.5, 1.8])
    >>> [line.get_label() for line in ax.lines]
    ['prior', '1 row', '2 rows', '4 rows']
    """
    x = np.asarray(x, dtype=np.float64)
    if after is None:
        # after 1, 2, 4, ... rows and after all: the posterior narrows like 1/√n
        doubled = [1 << k for k in range(len(x).bit_length()) if 1 << k <= len(x)]
        after = sorted({0, *doubled, len(x)})
    prior = NormalMean(mean, variance, noise)
    steps = [prior.update(x[:n]) if n else prior for n in after]
    means = np.array([float(step.mean) for step in steps])
    sds = np.array([float(np.sqrt(step.variance)) for step in steps])
    if not (np.isfinite(sds) & (sds > 0)).all():
        raise DataError(
            "a prior of infinite or no variance cannot be drawn: give a positive variance"
        )
    # 3.5 deviations to either side hold 99.95 %
    grid = np.linspace((means - 3.5 * sds).min(), (means + 3.5 * sds).max(), _CURVE)
    ax = axes(ax)
    for n, m, s in zip(after, means, sds):
        if n:
            name = show_count(n, "row")
        else:
            name = "prior"
        ax.plot(grid, norm.pdf(grid, m, s), label=name, **line_style(ax))
    finish(ax, "mean", "density", title)
    legend(ax)
    return ax


def sensor_fusion(
    means: Any,
    covariances: Any,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Several measurements with their uncertainty, and their fusion.

    Numbers are drawn as densities, points of the plane as their means and the ellipses that hold 95
    %.

    Parameters
    ----------
    means : array of shape (k,) or (k, 2)
        The measurements.
    covariances : array of shape (k,) or (k, 2, 2)
        Their variances or covariance matrices.
    labels : sequence of str, optional
        Their names.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.density.fuse_gaussians : The fusion itself.
    sensor_fusion_cases : Three typical cases.

    Examples
    --------
    >>> ax = sensor_fusion([1.0, 2.0], [1.0, 0.5])
    >>> [line.get_label() for line in ax.lines]
    ['sensor 1', 'sensor 2', 'fused']
    """
    m = np.asarray(means, dtype=np.float64)
    P = np.asarray(covariances, dtype=np.float64)
    fused = fuse_gaussians(m, P)
    names = [*(labels or [f"sensor {i + 1}" for i in range(len(m))]), "fused"]
    if len(names) != len(m) + 1:
        raise DataError(f"there are {len(names) - 1} labels for {len(m)} measurements")
    both = np.concatenate([m, [fused.mean]]), np.concatenate([P, [fused.covariance]])
    ax = axes(ax)
    if m.ndim == 1:
        _fused_on_a_line(ax, *both, names)
        finish(ax, "x", "density", title)
    elif m.shape[1] == 2:
        _fused_on_a_plane(ax, *both, names)
        finish(ax, "x", "y", title)
        ax.set_aspect("equal", adjustable="datalim")
    else:
        raise DataError(
            f"measurements of {show_count(m.shape[1], 'column')} cannot be drawn: give numbers or"
            " points"
        )
    legend(ax)
    return ax


def sensor_fusion_cases() -> list[Axes]:
    """The three pictures of sensor fusion: equal sensors, a better one, and each good in one
    direction.

    Returns
    -------
    list of three Matplotlib axes

    See Also
    --------
    sensor_fusion : One picture of your own measurements.

    Examples
    --------
    >>> [ax.get_title(loc="left") for ax in sensor_fusion_cases()]
    ['equally reliable', 'the second is better', 'each is good in one direction']
    """
    from matplotlib import pyplot

    means = np.array([[0.0, -1.0], [1.0, 1.0]])
    one = np.eye(2)
    tilted = [np.array([[10.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, 10.0]])]
    cases = {
        "equally reliable": [one, one],
        "the second is better": [5.0 * one, one],
        "each is good in one direction": tilted,
    }
    _, panels = pyplot.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained")
    drawn = [
        sensor_fusion(means, np.array(P), ax=ax)
        for P, ax in zip(cases.values(), panels)
    ]
    for ax, title in zip(drawn, cases):
        heading(ax, title)
    return drawn


# -- rows and grids --------------------------------------------------------------------


def _rows_of(X: Data, model: Estimator) -> tuple[np.ndarray, tuple[str, ...]]:
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] not in (1, 2):
        raise DataError(
            f"rows of shape {rows.shape} cannot be drawn: give one column or two"
        )
    return rows, tuple(getattr(model, "design_names", ("x", "y")))


def _spread(values: np.ndarray, n: int) -> np.ndarray:
    """A grid over the values and a little beyond."""
    low = values.min()
    high = values.max()
    beyond = 0.15 * (high - low) or 1.0
    return np.linspace(low - beyond, high + beyond, n)


def _plane(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = _spread(rows[:, 0], _GRID)
    y = _spread(rows[:, 1], _GRID)
    return x, y, np.column_stack([part.ravel() for part in np.meshgrid(x, y)])


def _values(model: Estimator, grid: np.ndarray) -> np.ndarray:
    return np.exp(np.asarray(model.score_samples(in_columns_of(model, grid))))


def _joint(model: Estimator, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """π_k f_k, (n, K), and the class decided for, also where all of them are too small for a
    float."""
    # decided by the logarithms, as densities far out are 0 for all classes
    log = np.asarray(model.log_joint(in_columns_of(model, grid)))
    return np.exp(log), log.argmax(axis=1)


# -- classes ---------------------------------------------------------------------------


def _classes_on_a_line(
    ax: Axes, model: Estimator, X: Data, rows: np.ndarray, marked: list[np.ndarray]
) -> None:
    grid = _spread(rows[:, 0], _CURVE)
    joint, decided = _joint(model, grid[:, None])
    highest = joint.max(axis=1)
    for k, label in enumerate(model.classes_.tolist()):
        style = line_style(ax)
        color = style["color"]
        ax.plot(grid, joint[:, k], label=str(label), **style)
        region = decided == k
        ax.fill_between(grid, 0, highest, where=region, color=color, alpha=0.12, lw=0)
        _rug(ax, marked[k][:, 0], color=color)
    # a boundary lies halfway between two points of the grid with different decisions
    middles = 0.5 * (grid[1:] + grid[:-1])
    for x in middles[np.diff(decided) != 0]:
        ax.axvline(x, gid="boundary", **DASHED)


def _classes_on_a_plane(
    ax: Axes, model: Estimator, X: Data, rows: np.ndarray, marked: list[np.ndarray]
) -> None:
    x, y, grid = _plane(rows)
    joint, decided = _joint(model, grid)
    decided = decided.reshape(len(y), len(x))
    K = len(model.classes_)
    colors = [color_of(k) for k in range(K)]
    # classes are the integers 0, ..., K - 1 on the grid: levels between them part the regions
    edges = np.arange(K + 1) - 0.5
    ax.contourf(x, y, decided, levels=edges, colors=colors, alpha=0.12)
    for k, label in enumerate(model.classes_.tolist()):
        heights = joint[:, k].reshape(len(y), len(x))
        ax.contour(x, y, heights, levels=5, colors=colors[k], linewidths=0.9)
        draw_points(ax, marked[k], 10, color=colors[k], label=str(label))
    if K > 1:
        ax.contour(x, y, decided, levels=edges[1:-1], colors=INK, linewidths=1.2)


def _rug(ax: Axes, values: np.ndarray, **style: Any) -> None:
    """A tick on the axis for every value."""
    if len(values):
        heights = np.zeros(len(values))
        ax.plot(values, heights, "|", markersize=8, gid="rows", **style)


# -- fusion ----------------------------------------------------------------------------


def _fused_on_a_line(
    ax: Axes, means: np.ndarray, variances: np.ndarray, names: list[str]
) -> None:
    spread = np.sqrt(variances)
    if not (spread > 0).all():
        raise DataError(
            "a measurement without error has no curve: give positive variances"
        )
    low = (means - 3.5 * spread).min()
    high = (means + 3.5 * spread).max()
    grid = np.linspace(low, high, _CURVE)
    for m, s, name in zip(means, spread, names):
        curve = np.exp(-0.5 * ((grid - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))
        ax.plot(grid, curve, label=name, **_fusion_style(ax, name))


def _fused_on_a_plane(
    ax: Axes, means: np.ndarray, covariances: np.ndarray, names: list[str]
) -> None:
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = ELLIPSE * np.stack([np.cos(turn), np.sin(turn)])
    for m, P, name in zip(means, covariances, names):
        # P = V Λ Vᵀ: the circle is stretched by √Λ, turned by V and moved to the mean
        values, vectors = np.linalg.eigh(P)
        radii = np.sqrt(np.maximum(values, 0.0))
        x, y = m[:, None] + vectors @ (radii[:, None] * circle)
        style = _fusion_style(ax, name)
        ax.plot(x, y, label=name, **style)
        ax.plot(*m, "x", color=style["color"], markersize=7, gid="mean")


def _fusion_style(ax: Axes, name: str) -> Mapping[str, Any]:
    if name == "fused":
        return {"color": INK, "linewidth": 2.4}
    return line_style(ax)
