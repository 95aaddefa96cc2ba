"""Neighbors: cells of the nearest row, decision regions, local fits and radial units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from lyceum._core.types import Data, Estimator
from lyceum.errors import DataError
from lyceum.neighbors import LocallyWeightedRegression, RBFNetworkRegressor
from lyceum.plot.plane import plane_grid
from lyceum.plot.style import (
    COLORS,
    GRAY,
    INK,
    axes,
    color_of,
    draw_points,
    finish,
    legend,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


_SIDE = 220  # points along a side of a grid
_CURVE = 400  # points of a curve
_OUTSIDE = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1], [0, 3], [3, 0]])


def voronoi(
    X: Data,
    y: Any = None,
    *,
    delaunay: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The cells of the nearest row in two columns (Voronoi), and which rows are neighbors
    (Delaunay).

    One nearest neighbor gives every point of a cell the class of its row. The heavy line, between
    cells of different classes, is its decision boundary.

    Parameters
    ----------
    X : array of shape (n, 2)
        The rows, at least four of them not on a line; equal rows are drawn once.
    y : array of shape (n,), optional
        Their classes.
    delaunay : bool, default=True
        Whether to draw the triangulation: edges between rows whose cells touch.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    neighbor_regions : Decision regions for several numbers of neighbors.

    Examples
    --------
    >>> ax = voronoi([[0.0, 0.0], [1.0, 0.2], [0.2, 1.0], [1.0, 1.0]], ["a", "a", "b", "b"])
    >>> len(ax.collections) > 2
    True
    """
    from matplotlib.collections import LineCollection

    rows = _two_columns(X)
    codes = np.zeros(len(rows), dtype=np.int64)
    if y is not None:
        codes = np.unique(y, return_inverse=True)[1]
    # repeated rows share one cell
    rows, first = np.unique(rows, axis=0, return_index=True)
    codes = codes[first]
    ax = axes(ax)
    low = rows.min(axis=0)
    high = rows.max(axis=0)
    pad = 0.12 * np.maximum(high - low, 1e-9)
    cells, edges = _cells_and_edges(rows, delaunay)
    _draw_cells(ax, cells, codes)
    lines = list(rows[edges])
    dashes = (0, (2, 2))
    ax.add_collection(
        LineCollection(lines, colors=GRAY, linewidths=0.8, linestyles=dashes)
    )
    classes = None if y is None else np.unique(y)
    _scatter(ax, rows, codes, classes)
    ax.set_xlim(low[0] - pad[0], high[0] + pad[0])
    ax.set_ylim(low[1] - pad[1], high[1] + pad[1])
    finish(ax, *_names_of(X), title or "Cells of the nearest row")
    return ax


def _cells_and_edges(rows: np.ndarray, delaunay: bool) -> tuple[Any, np.ndarray]:
    """The cells of the rows, and the edges between neighbors if they are wanted."""
    from scipy.spatial import Delaunay, QhullError, Voronoi

    low = rows.min(axis=0)
    high = rows.max(axis=0)
    try:
        # rows far outside close the cells at the border
        far = (low + high) / 2 + 50 * (high - low + 1e-9) * _OUTSIDE
        cells = Voronoi(np.vstack([rows, far]))
        edges = np.empty((0, 2), dtype=int)
        if delaunay:
            # the three sides of every triangle; two triangles share an inner side
            corners = Delaunay(rows).simplices
            sides = np.vstack(
                [corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]
            )
            edges = np.unique(np.sort(sides, axis=1), axis=0)
    except QhullError as error:
        raise DataError(
            f"cells need at least four rows that are not on a line: {error}"
        ) from None
    return cells, edges


def _draw_cells(ax: Axes, cells: Any, codes: np.ndarray) -> None:
    """The cell of every row in the color of its class, with heavy lines between classes."""
    from matplotlib.collections import LineCollection, PolyCollection

    n = len(codes)
    shapes = [
        cells.vertices[cells.regions[region]] for region in cells.point_region[:n]
    ]
    faces = [color_of(c) for c in codes]
    ax.add_collection(
        PolyCollection(shapes, facecolors=faces, alpha=0.18, edgecolors="none")
    )
    thin: list[np.ndarray] = []
    heavy: list[np.ndarray] = []
    for (i, j), ridge in zip(cells.ridge_points, cells.ridge_vertices):
        # rows from n on are those far outside; -1 is a corner at infinity
        if min(i, j) >= n or -1 in ridge:
            continue
        divides_classes = max(i, j) < n and codes[i] != codes[j]
        if divides_classes:
            lines = heavy
        else:
            lines = thin
        lines.append(cells.vertices[ridge])
    ax.add_collection(LineCollection(thin, colors=GRAY, linewidths=0.6))
    ax.add_collection(LineCollection(heavy, colors=INK, linewidths=2.0))


def neighbor_regions(
    model: Estimator,
    X: Any,
    y: Any,
    *,
    n_neighbors: Sequence[int] = (1, 5, 25),
    axs: Any = None,
) -> np.ndarray:
    """Decision regions of nearest neighbors in two columns, for several numbers of neighbors side
    by side.

    Parameters
    ----------
    model : KNeighborsClassifier, or any classifier with `n_neighbors`
        It is fitted to X and y again for every number.
    X : array of shape (n, 2)
    y : array of shape (n,)
    n_neighbors : sequence of int, default=(1, 5, 25)
        The numbers of neighbors.
    axs : array of Matplotlib axes, optional
        Where to draw; a new row of axes by default.

    Returns
    -------
    array of Matplotlib axes

    See Also
    --------
    voronoi : The cells behind the regions of one neighbor.

    Examples
    --------
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0, 0.0], [1.0, 0.2], [0.2, 1.0], [1.0, 1.0]], ["a", "a", "b", "b"]
    >>> len(neighbor_regions(KNeighborsClassifier(), X, y, n_neighbors=(1, 3)))
    2
    """
    from matplotlib import pyplot
    from matplotlib.colors import ListedColormap

    rows = _two_columns(X)
    classes, codes = np.unique(y, return_inverse=True)
    n_colors = max(2, len(classes))
    if axs is None:
        size = (3.6 * len(n_neighbors), 3.6)
        _, axs = pyplot.subplots(
            1, len(n_neighbors), figsize=size, layout="constrained", squeeze=False
        )
    axs = np.ravel(axs)
    sides, grid = plane_grid(rows, 0.08, _SIDE)
    for ax, k in zip(axs, n_neighbors):
        fitted = clone(model).set_params(n_neighbors=int(k)).fit(rows, np.asarray(y))
        regions = np.searchsorted(classes, fitted.predict(grid)).reshape(_SIDE, _SIDE)
        ax.pcolormesh(
            *sides,
            regions,
            cmap=ListedColormap([color_of(c) for c in range(n_colors)]),
            vmin=-0.5,
            vmax=n_colors - 0.5,
            alpha=0.2,
            rasterized=True,
        )
        for c in range(len(classes)):
            inside = regions == c
            if inside.any() and not inside.all():
                ax.contour(*sides, inside, levels=[0.5], colors=INK, linewidths=0.7)
        in_legend = classes if ax is axs[0] else None
        _scatter(ax, rows, codes, in_legend)
        finish(ax, *_names_of(X), f"k = {k}")
    return axs


def local_fit(
    model: LocallyWeightedRegression,
    x: float,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A locally weighted regression in one column: the fit, and how it comes about at one query.

    Rows are drawn as large as the kernel weighs them at the query; the heavy line is the polynomial
    that is fitted there, the band the fit plus and minus two standard errors.

    Parameters
    ----------
    model : fitted LocallyWeightedRegression of one column
    x : float
        The query.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    radial_units : A sum of bumps instead of fits of its own.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> ax = local_fit(LocallyWeightedRegression().fit(X, np.sin(X[:, 0])), 2.0)
    >>> [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]
    ['fit', 'polynomial at the query']
    """
    if model.rows_.shape[1] != 1:
        raise DataError(
            f"the picture needs a model of one column of numbers, not of {model.rows_.shape[1]}"
        )
    rows = np.asarray(model.rows_[:, 0], dtype=np.float64)
    ax = axes(ax)
    grid = np.linspace(rows.min(), rows.max(), _CURVE)
    fit, error = model.predict(grid[:, None], return_std=True)
    # two standard errors to either side, where the error is known
    band = (grid, fit - 2 * error, fit + 2 * error)
    ax.fill_between(*band, where=np.isfinite(error), color=COLORS[0], alpha=0.15)
    dots: dict[str, Any] = {"color": GRAY, "alpha": 0.6, "linewidths": 0}
    ax.scatter(rows, model.targets_, s=10, zorder=2, **dots)
    ax.plot(grid, fit, color=COLORS[0], linewidth=1.8, label="fit", zorder=4)
    _draw_neighborhood(ax, model, rows, x)
    ax.axvline(x, color=INK, linewidth=0.8, linestyle=(0, (3, 3)), label="_query")
    schema = model.schema_
    finish(ax, schema.names[0], schema.target_name, title or f"Local fit at {x:g}")
    legend(ax)
    return ax


def radial_units(
    model: RBFNetworkRegressor, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """A network of radial basis functions in one column: every unit's part of the output, and their
    sum.

    Parameters
    ----------
    model : fitted RBFNetworkRegressor of one column
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    local_fit : A fit of its own about every query.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> model = RBFNetworkRegressor(n_centers=5, centers="uniform").fit(X, np.sin(X[:, 0]))
    >>> ax = radial_units(model)
    >>> len(ax.lines)
    6
    """
    if model.n_features_in_ != 1 or len(model.mean_) != 1:
        raise DataError(
            f"the picture needs a model of one column of numbers, not of {model.n_features_in_}"
        )
    low = model.centers_.min()
    high = model.centers_.max()
    # a unit reaches about one width beyond its center
    pad = max(0.1 * (high - low), float(model.widths_.mean() * model.scale_[0]))
    grid = np.linspace(low - pad, high + pad, _CURVE)
    ax = axes(ax)
    for j, part in enumerate(model.unit_outputs(grid[:, None]).T):
        color = COLORS[j % (len(COLORS) - 1)]  # all but the black of their sum
        ax.plot(grid, part, color=color, linewidth=1.2, alpha=0.9, label="_unit")
        ax.fill_between(grid, 0.0, part, color=color, alpha=0.08, linewidth=0)
    output = model.predict(grid[:, None])
    text = "their sum and the constant"
    ax.plot(grid, output, color=INK, linewidth=2.2, label=text)
    centers = model.centers_[:, 0]
    ax.scatter(centers, np.zeros(len(centers)), marker="|", color=INK, s=60, zorder=5)
    schema = model.schema_
    title = title or "Radial units and their sum"
    finish(ax, schema.names[0], schema.target_name, title)
    legend(ax)
    return ax


# -- helpers ---------------------------------------------------------------------------


def _two_columns(X: Data) -> np.ndarray:
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2 or not np.isfinite(rows).all():
        raise DataError(
            f"the picture needs rows of two columns of numbers, but they have shape {rows.shape}"
        )
    return rows


def _names_of(X: Data) -> tuple[str, str]:
    names = getattr(X, "columns", None)
    if names is None:
        return ("x0", "x1")
    return (str(names[0]), str(names[1]))


def _scatter(
    ax: Axes, rows: np.ndarray, codes: np.ndarray, classes: np.ndarray | None
) -> None:
    markers = "osD^vP*"
    for c in np.unique(codes):
        draw_points(
            ax,
            rows[codes == c],
            18,
            color=color_of(c),
            marker=markers[c % len(markers)],
            edgecolors="white",
            linewidths=0.4,
            zorder=3,
            label="_rows" if classes is None else str(classes[c]),
        )
    if classes is not None:
        legend(ax)


def _draw_neighborhood(
    ax: Axes, model: LocallyWeightedRegression, rows: np.ndarray, x: float
) -> None:
    """The rows near x, larger where they weigh more, the polynomial through them, their weights."""
    local = model.neighborhood(x)
    share = local["weights"] / local["weights"].max()
    near_x = rows[local["rows"]]
    near_y = model.targets_[local["rows"]]
    dots: dict[str, Any] = {"alpha": 0.55, "linewidths": 0, "zorder": 3}
    ax.scatter(near_x, near_y, s=6 + 60 * share, color=COLORS[1], **dots)
    # the polynomial over the rows that weigh anything, and over x if it lies beyond them
    inside = near_x[share > 0]
    reach = np.linspace(min(inside.min(), x), max(inside.max(), x), 80)
    line: dict[str, Any] = {"color": INK, "linewidth": 2.4, "zorder": 5}
    ax.plot(reach, local["polynomial"](reach), label="polynomial at the query", **line)
    # the kernel along the bottom of the axes
    strip = ax.inset_axes((0.0, 0.0, 1.0, 0.14), sharex=ax)
    order = np.argsort(near_x)
    kernel = (near_x[order], 0.0, share[order])
    strip.fill_between(*kernel, color=COLORS[1], alpha=0.3, linewidth=0)
    strip.set_ylim(0.0, 1.3)
    strip.axis("off")
