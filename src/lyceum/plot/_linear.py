"""Pictures of linear models: regularisation paths, residuals, and boundaries with posterior contours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum.errors import DataError
from lyceum.plot._style import COLOURS, GREY, axes, finish, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["posterior_contours", "regularization_path", "residuals"]


def regularization_path(
    path: Any, *, most: int = 7, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Every coefficient over the penalty alpha, which falls to the right; the largest ones are named.

    Parameters
    ----------
    path : RegularizationPath
        From `lyceum.linear.lasso_path` or `elastic_net_path`.
    most : int, default=7
        How many columns are coloured and named; the others are grey.
    title : str, optional
    ax : Matplotlib axes, optional

    Examples
    --------
    >>> from lyceum.linear import lasso_path
    >>> path = lasso_path(np.eye(4)[:, :2], np.array([4.0, 2.0, 0.0, 0.0]), alphas=20)
    >>> len(regularization_path(path).lines)
    2
    """
    ax = axes(ax, (6.2, 4.2))
    ever = np.flatnonzero(path.coefs.any(axis=0))
    named = ever[np.argsort(-np.abs(path.coefs[:, ever]).max(axis=0), kind="stable")][:most]
    for j in np.setdiff1d(ever, named):
        ax.plot(path.alphas, path.coefs[:, j], color=GREY, linewidth=0.7, alpha=0.6)
    for k, j in enumerate(named):
        ax.plot(
            path.alphas, path.coefs[:, j], color=COLOURS[k % len(COLOURS)], linewidth=1.8,
            label=str(path.names[j]),
        )  # fmt: skip
    ax.set_xscale("log")
    ax.invert_xaxis()
    finish(ax, "penalty alpha", "coefficient", title)
    if len(named):
        legend(ax)
    return ax


def residuals(model: Any, X: Any, y: Any, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """What a regression leaves, y less the fitted value, over the fitted value.

    Without a pattern: neither a curve (a term is missing) nor a funnel (the spread is not constant).

    Parameters
    ----------
    model : fitted regression
    X, y : rows and their targets
    title : str, optional
    ax : Matplotlib axes, optional

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 3.0, 3.0]
    >>> ax = residuals(LinearRegression().fit(X, y), X, y)
    >>> ax.collections[0].get_offsets()[:, 1].round(2).tolist()
    [-0.5, 1.0, -0.5]
    """
    ax = axes(ax)
    fitted = np.asarray(model.predict(X), dtype=np.float64)
    left = np.asarray(y, dtype=np.float64) - fitted
    ax.axhline(0.0, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), gid="reference")
    ax.scatter(fitted, left, s=12, color=COLOURS[0], alpha=0.6, linewidths=0)
    finish(ax, "fitted value", "residual", title)
    return ax


def posterior_contours(
    model: Any, X: Any, y: Any, *, steps: int = 120, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """The posterior of the second of two classes over two columns, its contours and the boundary at ½.

    Side by side for `LogisticRegression(posterior="plugin")`, "probit" and "monte_carlo" it shows how
    averaging over the weights fans the contours out away from the rows.

    Parameters
    ----------
    model : fitted classifier of two classes with `predict_proba`
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
    steps : int, default=120
        The number of points a side of the grid.
    title : str, optional
    ax : Matplotlib axes, optional

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 0, 1])
    >>> ax = posterior_contours(LogisticRegression(posterior="probit").fit(X, y), X, y, steps=10)
    >>> ax.get_xlabel()
    'x0'
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2 or len(model.classes_) != 2:
        raise DataError("contours need two columns and two classes: choose two columns and fit on them")
    ax = axes(ax)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.25 * np.where(high > low, high - low, 1.0)
    sides = [np.linspace(low[j] - margin[j], high[j] + margin[j], steps) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    posterior = np.asarray(model.predict_proba(grid))[:, 1].reshape(steps, steps)
    ax.contourf(*sides, posterior, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.35)
    lines = ax.contour(*sides, posterior, levels=[0.1, 0.25, 0.5, 0.75, 0.9], colors=GREY, linewidths=0.9)
    ax.clabel(lines, fontsize="x-small")
    ax.contour(*sides, posterior, levels=[0.5], colors="black", linewidths=1.8)
    for k, label in enumerate(model.classes_):
        here = y == label
        ax.scatter(
            X[here, 0],
            X[here, 1],
            s=16,
            color=COLOURS[1 - k],
            label=str(label),
            edgecolors="white",
            linewidths=0.4,
        )
    names = model.schema_.names if hasattr(model, "schema_") else ("x0", "x1")
    finish(ax, names[0], names[1], title)
    legend(ax)
    return ax
