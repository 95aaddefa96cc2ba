"""Pictures of linear models: regularization paths, residuals, and boundaries with posterior
contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.base import targets_to_score
from lyceum._core.types import Data, Estimator, Target
from lyceum.errors import DataError, SettingError
from lyceum.plot.plane import in_columns_of, plane_grid
from lyceum.plot.style import (
    COLORS,
    DASHED,
    GRAY,
    axes,
    color_of,
    draw_points,
    finish,
    legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def regularization_path(
    path: Any, *, most: int = 7, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Every coefficient over the penalty alpha, which decreases to the right; the largest are
    named.

    Parameters
    ----------
    path : RegularizationPath or RidgePath
        From `lyceum.linear.lasso_path`, `elastic_net_path` or `ridge_path`.
    most : int, default=7
        How many columns are colored and named; the others are gray.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.linear.lasso_path, lyceum.linear.elastic_net_path : The paths.
    lyceum.linear.ridge_path : That of ridge regression.

    Examples
    --------
    >>> from lyceum.linear import lasso_path
    >>> path = lasso_path(np.eye(4)[:, :2], np.array([4.0, 2.0, 0.0, 0.0]), alphas=20)
    >>> len(regularization_path(path).lines)
    2
    """
    ax = axes(ax, (6.2, 4.2))
    # columns that enter the model anywhere on the path, the largest coefficients first
    entered = np.flatnonzero(path.coefs.any(axis=0))
    largest = np.abs(path.coefs[:, entered]).max(axis=0)
    named = entered[np.argsort(-largest, kind="stable")][:most]
    for j in np.setdiff1d(entered, named):
        ax.plot(path.alphas, path.coefs[:, j], color=GRAY, linewidth=0.7, alpha=0.6)
    for k, j in enumerate(named):
        line: dict[str, Any] = {"color": color_of(k), "linewidth": 1.8}
        ax.plot(path.alphas, path.coefs[:, j], label=str(path.names[j]), **line)
    ax.set_xscale("log")
    ax.invert_xaxis()
    finish(ax, "penalty alpha", "coefficient", title)
    if len(named):
        legend(ax)
    return ax


def residuals(
    model: Estimator,
    X: Data = None,
    y: Target = None,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Residuals, y minus the fitted value, over the fitted value.

    A good model leaves no pattern: neither a curve (a term is missing) nor a funnel (the variance
    changes).

    Parameters
    ----------
    model : fitted regressor
        With `predict`.
    X : array, frame or scanned rows
        Rows to predict.
    y : array of shape (n,), optional
        Their targets; scanned rows carry their own.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.regression_report : The errors as numbers.

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 3.0, 3.0]
    >>> ax = residuals(LinearRegression().fit(X, y), X, y)
    >>> ax.collections[0].get_offsets()[:, 1].round(2).tolist()
    [-0.5, 1.0, -0.5]
    """
    if X is None or not hasattr(model, "predict"):
        raise SettingError(
            "residuals need a fitted model and its rows, residuals(model, X, y): the reports of "
            "lyceum.evaluate hold no single errors"
        )
    ax = axes(ax)
    fitted = np.asarray(model.predict(X), dtype=np.float64)
    y, _ = targets_to_score(model, X, y, None)
    errors = np.asarray(y, dtype=np.float64) - fitted
    ax.axhline(0.0, gid="reference", **DASHED)
    ax.scatter(fitted, errors, s=12, color=COLORS[0], alpha=0.6, linewidths=0)
    finish(ax, "fitted value", "residual", title)
    return ax


def margin_losses(
    losses: Sequence[str] | None = None,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The losses of the margin m = y f(x): what a row costs that is m on its own side of the
    boundary.

    The logistic loss has the logarithm to base 2, so that it is 1 at m = 0 as the others are and
    lies above the zero-one loss too.

    Parameters
    ----------
    losses : sequence of names, optional
        Of `lyceum.linear.margin_loss`; all by default.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.linear.margin_loss : The values.
    lyceum.linear.MarginClassifier : Trains with each of them.

    Examples
    --------
    >>> [line.get_label() for line in margin_losses(["zero_one", "logistic"]).lines]
    ['zero-one', 'logistic (log₂)']
    """
    from lyceum.linear import margin_loss

    ax = axes(ax, (5.8, 4.2))
    m = np.linspace(-2.0, 3.0, 1001)
    names = _MARGIN_LOSSES if losses is None else losses
    for k, name in enumerate(names):
        values = margin_loss(m, name)
        if name == "logistic":  # in bits: 1 at m = 0, as the others
            values = values / np.log(2.0)
        style: dict[str, Any] = {"color": color_of(k), "linewidth": 1.8}
        if name == "zero_one":
            style = {"color": GRAY, "linewidth": 2.2, "drawstyle": "steps-mid"}
        elif name == "squared":  # up to m = 1 it is the squared hinge
            style["linestyle"] = (0, (4, 3))
        ax.plot(m, values, label=_MARGIN_LOSSES[name], **style)
    ax.scatter([0.0], [1.0], s=18, color=GRAY, zorder=3)  # where all meet
    ax.set_ylim(-0.05, 4.0)
    finish(ax, "margin m = y f(x)", "loss", title)
    legend(ax)
    return ax


def posterior_contours(
    model: Estimator,
    X: Any,
    y: Target,
    *,
    steps: int = 120,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The posteriors of a classifier over two columns, their contours and the boundary between the
    classes.

    For two classes the contours are those of the posterior of the second, and the boundary is at ½.
    For more, the predicted class is shaded in its color, with contours of the largest posterior.
    `laplace_contours` shows three kinds of posteriors side by side.

    Parameters
    ----------
    model : fitted classifier with `predict_proba`
    X : array or frame of shape (n_samples, 2)
        Rows to show.
    y : array of shape (n_samples,)
        Their classes.
    steps : int, default=120
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
    laplace_contours : Three kinds of posteriors of a logistic regression.
    class_densities : Densities instead of posteriors.

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 0, 1])
    >>> ax = posterior_contours(LogisticRegression(posterior="probit").fit(X, y), X, y, steps=10)
    >>> ax.get_xlabel()
    'x0'
    """
    cells = np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    if cells.ndim != 2 or cells.shape[1] != 2 or len(model.classes_) < 2:
        raise DataError(
            "contours need two columns and two classes: choose two columns and fit on them"
        )
    ax = axes(ax)
    sides, grid = plane_grid(cells, 0.25, steps)
    posterior = np.asarray(model.predict_proba(in_columns_of(model, grid)))
    posterior = posterior.reshape(steps, steps, -1)
    K = len(model.classes_)
    if K == 2:
        # the second class is blue, as high posteriors are in the color map
        colors: tuple[str, ...] = COLORS[1::-1]
        _contours_of_two(ax, sides, posterior[:, :, 1])
    else:
        colors = (COLORS * K)[:K]
        _contours_of_many(ax, sides, posterior, colors)
    for label, color in zip(model.classes_, colors):
        edge = {"edgecolors": "white", "linewidths": 0.4}
        rows = cells[y == label]
        draw_points(ax, rows, 16, color=color, label=str(label), **edge)
    names = model.schema_.names if hasattr(model, "schema_") else ("x0", "x1")
    finish(ax, names[0], names[1], title)
    legend(ax)
    return ax


def _contours_of_two(ax: Axes, sides: list[np.ndarray], posterior: np.ndarray) -> None:
    tenths = np.linspace(0, 1, 11)
    ax.contourf(*sides, posterior, levels=tenths, cmap="RdBu", alpha=0.35)
    levels = [0.1, 0.25, 0.5, 0.75, 0.9]
    lines = ax.contour(*sides, posterior, levels=levels, colors=GRAY, linewidths=0.9)
    ax.clabel(lines, fontsize="x-small")
    ax.contour(*sides, posterior, levels=[0.5], colors="black", linewidths=1.8)


def _contours_of_many(
    ax: Axes, sides: list[np.ndarray], posterior: np.ndarray, colors: Sequence[str]
) -> None:
    from matplotlib.colors import to_rgba_array

    K = posterior.shape[2]
    largest = posterior.max(axis=2)
    # the color of the most probable class, the denser the surer: from 1/K to 1
    shade = to_rgba_array(list(colors))[posterior.argmax(axis=2)]
    shade[:, :, 3] = 0.08 + 0.37 * (largest - 1 / K) / (1 - 1 / K)
    extent = (sides[0][0], sides[0][-1], sides[1][0], sides[1][-1])
    ax.imshow(shade, extent=extent, origin="lower", aspect="auto", zorder=0)
    lines = ax.contour(
        *sides, largest, levels=[0.5, 0.75, 0.9], colors=GRAY, linewidths=0.9
    )
    ax.clabel(lines, fontsize="x-small")
    # where the lead of a class over all others is zero
    for k in range(K):
        lead = posterior[:, :, k] - np.delete(posterior, k, axis=2).max(axis=2)
        ax.contour(*sides, lead, levels=[0.0], colors="black", linewidths=1.4)


def laplace_contours(
    X: Data, y: Target, *, C: float = 1.0, steps: int = 120, **settings: Any
) -> list[Axes]:
    """A logistic regression's posteriors by plug-in, Monte Carlo and probit, side by side.

    Averaging over the Laplace posterior of the weights fans the contours out away from the rows;
    the boundary of two classes stays, but for the randomness of Monte Carlo.

    Parameters
    ----------
    X : array or frame of shape (n_samples, 2)
        Rows to show.
    y : array of shape (n_samples,)
        Their classes.
    C : float, default=1.0
        The inverse strength of the penalty: the variance of the prior of the weights.
    steps : int, default=120
        The number of points along each side of the grid.
    **settings
        Further parameters of `LogisticRegression`.

    Returns
    -------
    list of three Matplotlib axes

    See Also
    --------
    posterior_contours : One fitted classifier.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 0, 1])
    >>> [ax.get_title(loc="left") for ax in laplace_contours(X, y, steps=10)]
    ['plug-in', 'Monte Carlo', 'probit']
    """
    from matplotlib import pyplot

    from lyceum.linear import LogisticRegression

    _, panels = pyplot.subplots(
        1, 3, figsize=(12.6, 4.2), layout="constrained", sharex=True, sharey=True
    )
    for ax, (kind, title) in zip(panels, _PREDICTIVES.items()):
        model = LogisticRegression(C=C, posterior=kind, **settings).fit(X, y)
        posterior_contours(model, X, y, steps=steps, title=title, ax=ax)
    return list(panels)


_PREDICTIVES = {"plugin": "plug-in", "monte_carlo": "Monte Carlo", "probit": "probit"}
_MARGIN_LOSSES = {
    "zero_one": "zero-one",
    "hinge": "hinge",
    "squared_hinge": "squared hinge",
    "logistic": "logistic (log₂)",
    "exponential": "exponential",
    "squared": "squared",
}
