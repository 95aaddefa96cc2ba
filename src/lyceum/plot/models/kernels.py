"""Pictures of kernel machines: margins, grids of settings, losses, the lift to feature space,
faces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.data import dense_cells
from lyceum._core.types import Data, Estimator, Target
from lyceum.errors import DataError
from lyceum.plot.plane import plane_grid
from lyceum.plot.style import (
    COLORS,
    GRAY,
    INK,
    axes,
    color_of,
    draw_points,
    finish,
    heading,
    legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def margin(
    model: Estimator,
    X: Data,
    y: Target,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The margin of a machine of two classes on the plane: boundary, edges, support vectors and
    slacks.

    The boundary f = 0 is solid, the edges f = ±1 are dashed. Support vectors have a ring, a thick
    one at the bound; of a linear machine every slack is a line from the row to the edge of its
    class.

    Parameters
    ----------
    model : SVC
        Fitted on two columns and two classes.
    X : array of shape (n, 2)
        The rows of `fit`.
    y : array of shape (n,)
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.kernels.SVC : the machine.

    Examples
    --------
    >>> from lyceum.kernels import SVC
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 0.0]]), [0, 0, 1, 1]
    >>> margin(SVC(kernel="linear").fit(X, y), X, y).get_xlabel()
    'x0'
    """
    X = np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2 or len(model.classes_) != 2:
        raise DataError(
            f"a margin is drawn on two columns for two classes, not {X.shape[-1]} and"
            f" {len(model.classes_)}"
        )
    ax = axes(ax, (6.0, 4.8))
    sides, grid = plane_grid(X, 0.12, 160)
    f = np.asarray(model.decision_function(grid)).reshape(160, 160)
    ax.contourf(*sides, f, levels=[-np.inf, 0, np.inf], colors=COLORS[:2], alpha=0.07)
    # the boundary f = 0, and the edges of the margin f = ±1
    lines = [COLORS[0], INK, COLORS[1]]
    ax.contour(*sides, f, levels=[-1, 0, 1], colors=lines, linestyles=["--", "-", "--"])
    if getattr(model, "coef_", None) is not None:
        _draw_slacks(ax, model, X, y)
    _draw_rows(ax, model, X, y)
    names = getattr(model, "feature_names_in_", ("x0", "x1"))
    if title is None:
        title = f"{model.n_on_margin_[0]} on it, {model.n_at_bound_[0]} at the bound"
        if np.isfinite(model.margin_width_[0]):
            title = f"margin {model.margin_width_[0]:.3g}, {title}"
    finish(ax, str(names[0]), str(names[1]), title)
    legend(ax)
    return ax


def _draw_rows(ax: Axes, model: Estimator, X: np.ndarray, y: np.ndarray) -> None:
    """The rows of both classes, and a ring around support vectors, heavy for those at the bound."""
    for k, label in enumerate(model.classes_):
        x0, x1 = X[y == label].T
        ax.scatter(
            x0, x1, s=26, color=COLORS[k], marker="os"[k], label=str(label), zorder=3
        )
    # α = w C at the bound, w the weight of the row; a slack ξ > 0 says so without the weights
    alpha = np.asarray(model.alpha_)[model.support_]
    slack = np.asarray(model.slack_)[model.support_]
    at_bound = (alpha >= model.C) | (slack > 10 * model.tol)
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "zorder": 4}
    widths = np.where(at_bound, 2.2, 1.0)
    draw_points(ax, X[model.support_], 110, linewidths=widths, **ring)


def _draw_slacks(ax: Axes, model: Estimator, X: np.ndarray, y: np.ndarray) -> None:
    """A line from every row with a slack to the edge of the margin on its side."""
    w = model.coef_[0]
    f = np.asarray(model.decision_function(X))
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    for i in np.flatnonzero(np.asarray(model.slack_) > 10 * model.tol):
        # the step t w with f(x + t w) = f(x) + t ‖w‖² = y
        edge = X[i] + (signs[i] - f[i]) / (w @ w) * w
        line = np.stack([X[i], edge]).T
        ax.plot(*line, color=GRAY, linewidth=1.0, zorder=2, gid="slack")


def setting_grid(
    scores: Any,
    C: Any,
    sigma: Any,
    *,
    score: str = "accuracy",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The score of every pair of settings (C, σ) as a grid of colors; the best one has a frame.

    Parameters
    ----------
    scores : array of shape (len(C), len(sigma))
        For example cross-validated accuracies.
    C, sigma : array
        The settings of the rows and the columns, in ascending order.
    score : str, default="accuracy"
        What the colors show.
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.cross_validate : where scores come from.

    Examples
    --------
    >>> setting_grid([[0.7, 0.8], [0.9, 0.75]], [1, 10], [0.5, 2.0]).get_xlabel()
    'σ'
    """
    from matplotlib.patches import Rectangle

    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (len(C), len(sigma)):
        raise DataError(
            f"scores of shape {scores.shape} for {len(C)} values of C and {len(sigma)} of sigma"
        )
    ax = axes(ax, (5.8, 4.4))
    image = ax.imshow(scores, origin="lower", aspect="auto", cmap="cividis")
    # the first of equal scores
    best = np.unravel_index(np.nanargmax(scores), scores.shape)
    # every score as text, light on dark
    middle = (np.nanmin(scores) + np.nanmax(scores)) / 2
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
    for (i, j), number in np.ndenumerate(scores):
        if np.isfinite(number):
            color = "white" if number < middle else "black"
            ax.text(j, i, f"{number:.3g}", color=color, **text)
    corner = (best[1] - 0.5, best[0] - 0.5)
    ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=COLORS[1], linewidth=3))
    ax.set_xticks(range(len(sigma)), [f"{value:.3g}" for value in sigma])
    ax.set_yticks(range(len(C)), [f"{value:.3g}" for value in C])
    ax.figure.colorbar(image, ax=ax, label=score)
    finish(ax, "σ", "C", title)
    ax.grid(False)
    return ax


def hinge_and_logistic(*, title: str | None = None, ax: Axes | None = None) -> Axes:
    """The hinge and its square beside the logistic and the zero-one loss, over the margin y f(x).

    Parameters
    ----------
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    Examples
    --------
    >>> len(hinge_and_logistic().lines)
    4
    """
    ax = axes(ax, (5.6, 4.2))
    # all four are 1 at m = 0: the others bound the zero-one loss from above
    m = np.linspace(-2.0, 3.0, 501)
    short = np.maximum(0.0, 1.0 - m)
    curves = {
        "hinge": short,
        "squared hinge": short**2,
        "logistic / log 2": np.logaddexp(0.0, -m) / np.log(2.0),
        "zero-one": (m <= 0).astype(float),
    }
    colors = [*COLORS[:3], GRAY]
    for color, (name, values) in zip(colors, curves.items()):
        ax.plot(m, values, color=color, linewidth=1.8, label=name)
    ax.set_ylim(0.0, 4.0)
    finish(ax, "margin y f(x)", "loss", title)
    legend(ax)
    return ax


def feature_lift(
    X: Data,
    y: Target,
    *,
    title: str | None = None,
    features: Any = None,
    ax: Any = None,
) -> Any:
    """Rows of two columns lifted to three features, where a plane parts what no line did.

    Parameters
    ----------
    X : array of shape (n, 2)
    y : array of shape (n,)
        Classes.
    title : str, optional
    features : function of X, optional
        Gives three features per row; by default (x₁², √2 x₁x₂, x₂²), the map of the kernel (x·z)².
    ax : Matplotlib 3D axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.kernels.PolynomialKernel : its `feature_map`.

    Examples
    --------
    >>> feature_lift([[0.0, 0.1], [1.0, 1.0]], [0, 1]).get_zlabel()
    'x₂²'
    """
    X = np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2:
        raise DataError(f"a lift starts from two columns, but the shape is {X.shape}")
    if features is None:
        # the inner product of two such rows is the kernel (xᵀz)²
        x1, x2 = X.T
        lifted = np.column_stack([x1**2, np.sqrt(2.0) * x1 * x2, x2**2])
        names = ("x₁²", "√2 x₁x₂", "x₂²")
    else:
        lifted = np.asarray(features(X), dtype=np.float64)
        names = ("φ₁", "φ₂", "φ₃")
        if lifted.shape != (len(X), 3):
            raise DataError(
                f"features gave the shape {lifted.shape}: three features per row are drawn"
            )
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(5.6, 4.8)).add_subplot(projection="3d")
    for k, label in enumerate(np.unique(y)):
        ax.scatter(
            *lifted[y == label].T,
            color=color_of(k),
            marker="os^D"[k % 4],
            label=str(label),
            s=18,
        )
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_zlabel(names[2])
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.get_major_locator().set_params(nbins=4)
    heading(ax, title)
    legend(ax)
    return ax


def hull_points(
    points: Any, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Two convex hulls on the plane, their nearest points, and the plane halfway between these.

    The points that the nearest ones are made of have a ring; the dashed lines through the nearest
    points are the edges of the hard margin.

    Parameters
    ----------
    points : HullPoints
        From `lyceum.kernels.nearest_hull_points`, of two columns.
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.kernels.nearest_hull_points : The points as numbers.
    margin : The margin of a machine.

    Examples
    --------
    >>> from lyceum.kernels import nearest_hull_points
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> ax = hull_points(nearest_hull_points(corner, corner + 2.0))
    >>> len(ax.patches)
    2
    """
    if points.first.shape[1] != 2:
        raise DataError(
            f"hulls are drawn on two columns, but there are {points.first.shape[1]}"
        )
    ax = axes(ax)
    sides = (
        ("first", points.first, points.first_shares),
        ("second", points.second, points.second_shares),
    )
    for k, (name, rows, shares) in enumerate(sides):
        corners = _hull_corners(rows)
        ax.fill(*corners.T, color=color_of(k), alpha=0.15, linewidth=0)
        ax.plot(*np.vstack([corners, corners[:1]]).T, color=color_of(k), linewidth=1)
        x, y = rows.T
        ax.scatter(x, y, color=color_of(k), s=22, label=f"{name} hull")
        ring: dict[str, Any] = {
            "facecolors": "none",
            "edgecolors": INK,
            "linewidths": 1.2,
        }
        ax.scatter(x[shares > 0], y[shares > 0], s=90, **ring)
    ends = np.stack([points.first_point, points.second_point])
    label = f"nearest points, {points.distance:.4g} apart"
    ax.plot(*ends.T, color=INK, marker="D", markersize=5, linewidth=1.5, label=label)
    if points.distance:
        _draw_between(ax, points)
    ax.set_aspect("equal", adjustable="datalim")
    finish(ax, "x0", "x1", title)
    legend(ax)
    return ax


def _hull_corners(rows: np.ndarray) -> np.ndarray:
    """The corners of the hull of rows on the plane, in order; of rows on a line its two ends."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return rows[ConvexHull(rows).vertices]
    except (QhullError, ValueError):
        # fewer than three corners: the ends along the direction of largest spread
        centered = rows - rows.mean(axis=0)
        direction = np.linalg.svd(centered, full_matrices=False)[2][0]
        along = centered @ direction
        return rows[[along.argmin(), along.argmax()]]


def _draw_between(ax: Axes, points: Any) -> None:
    """The plane halfway between the nearest points, solid, and the margin's edges, dashed."""
    middle = (points.first_point + points.second_point) / 2.0
    along = np.array([-points.normal[1], points.normal[0]])
    along /= np.linalg.norm(along)
    both = np.vstack([points.first, points.second])
    reach = float(np.abs((both - middle) @ along).max()) or points.distance
    styles = ((middle, "-"), (points.first_point, "--"), (points.second_point, "--"))
    for point, style in styles:
        line = np.stack([point - reach * along, point + reach * along])
        ax.plot(*line.T, color=GRAY, linestyle=style, linewidth=1)


def support_faces(
    model: Estimator,
    shape: tuple[int, int],
    *,
    most: int = 12,
    title: str | None = None,
) -> Any:
    """The support vectors of an image set as images, those of the largest α first.

    Parameters
    ----------
    model : SVC or SVR
        Fitted on rows whose columns are pixels.
    shape : (int, int)
        The height and the width of an image.
    most : int, default=12
        How many are shown.
    title : str, optional

    Returns
    -------
    Matplotlib figure

    Examples
    --------
    >>> from lyceum.kernels import SVC
    >>> model = SVC(kernel="linear").fit(np.eye(4), [0, 0, 1, 1])
    >>> len(support_faces(model, (2, 2)).axes)
    4
    """
    from matplotlib import pyplot

    V = np.asarray(dense_cells(model.support_vectors_))
    if V.shape[1] != shape[0] * shape[1]:
        raise DataError(
            f"images of {shape[0]} × {shape[1]} pixels need as many columns, but there are"
            f" {V.shape[1]}"
        )
    # one row per machine: its largest weight in any
    weight = np.abs(dense_cells(model.dual_coef_)).max(axis=0)
    chosen = np.argsort(-weight, kind="stable")[:most]
    columns = min(6, len(chosen))
    rows = -(-len(chosen) // columns)
    size = (1.4 * columns, 1.7 * rows + 0.4)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=size, squeeze=False, layout="constrained"
    )
    for cell in grid.flat[len(chosen) :]:
        figure.delaxes(cell)
    for i, cell in zip(chosen, grid.flat):
        cell.imshow(V[i].reshape(shape), cmap="gray")
        name = f"row {model.support_[i]}, |α| {weight[i]:.3g}"
        cell.set_title(name, fontsize="xx-small", color=INK)
        cell.set_axis_off()
    if title:
        figure.suptitle(title, color=INK, fontweight="bold")
    return figure
