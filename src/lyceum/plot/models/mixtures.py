"""Mixtures: ellipses and contours, and expectation-maximization step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lyceum._core.types import Data, Estimator
from lyceum.errors import DataError, SettingError
from lyceum.plot.plane import ELLIPSE, in_columns_of, plane_grid
from lyceum.plot.style import (
    INK,
    axes,
    color_of,
    draw_points,
    finish,
    heading,
    panel_grid,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_GRID = 120


def mixture(
    model: Estimator,
    X: Data,
    *,
    columns: tuple[int, int] = (0, 1),
    contours: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A fitted mixture of Gaussians or Student-t: rows by component, 95 % ellipses, and density
    contours.

    Parameters
    ----------
    model : fitted mixture
        With `means_`, `covariances_` and `weights_`.
    X : array or frame of shape (n, d)
        Rows to show.
    columns : pair of int, default=(0, 1)
        The design columns to show.
    contours : bool, default=True
        Whether to draw contours of the density of the two columns, for mixtures of two columns.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    em_steps : How the mixture came about.
    density : Any density of one or two columns.

    Examples
    --------
    >>> from lyceum.mixtures import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> mixture(GaussianMixture(2, random_state=0).fit(X), X).get_xlabel()
    'x0'
    """
    if model.means_.shape[1] < 2:
        raise DataError(
            "ellipses need two columns; draw one column with lyceum.plot.density"
        )
    ax = axes(ax)
    cells = np.asarray(X, dtype=np.float64)[:, list(columns)]
    labels = np.asarray(model.predict(X))
    for k in range(len(model.weights_)):
        rows = cells[labels == k]
        draw_points(ax, rows, 10, color=color_of(k), alpha=0.55)
    if contours and model.means_.shape[1] == 2:
        sides, grid = plane_grid(cells, 0.08, _GRID)
        scores = model.score_samples(in_columns_of(model, grid))
        log_density = np.asarray(scores).reshape(_GRID, _GRID)
        # one contour for every factor e below the highest density
        levels = float(log_density.max()) - np.arange(7.0, 0.0, -1.0)
        ax.contour(*sides, log_density, levels=levels, colors="#9A9A9A", linewidths=0.7)
    covariances = covariance_matrices(model, model.covariances_)
    draw_ellipses(ax, model.weights_, model.means_, covariances, columns=columns)
    names = model.design_names
    finish(ax, names[columns[0]], names[columns[1]], title)
    return ax


def em_steps(
    model: Estimator, X: Data, *, n_steps: int = 6, columns: tuple[int, int] = (0, 1)
) -> Figure:
    """Expectation-maximization step by step: the components after some of the iterations.

    Parameters
    ----------
    model : mixture fitted with `record=True`
    X : array or frame of shape (n, d)
        Rows to show.
    n_steps : int, default=6
        How many steps to show, the first and the last among them.
    columns : pair of int, default=(0, 1)
        The design columns to show.

    Returns
    -------
    Matplotlib figure

    See Also
    --------
    mixture : The final mixture.

    Examples
    --------
    >>> from lyceum.mixtures import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> len(em_steps(GaussianMixture(2, random_state=0, record=True).fit(X), X, n_steps=2).axes)
    2
    """
    record = getattr(model, "record_", None)
    if not record:
        raise SettingError("the steps were not kept: fit with record=True")
    # early steps change most: even steps of the logarithm
    numbers = np.geomspace(1, len(record), min(n_steps, len(record)))
    shown = np.unique(np.round(numbers).astype(int) - 1)
    figure, panels = panel_grid(len(shown), (3.1, 2.9))
    cells = np.asarray(X, dtype=np.float64)[:, list(columns)]
    names = model.design_names
    for ax, index in zip(panels, shown):
        step = record[index]
        draw_points(ax, cells, 5, color="#B8B8B8")
        covariances = covariance_matrices(model, step["covariances"])
        draw_ellipses(ax, step["weights"], step["means"], covariances, columns=columns)
        finish(ax, "", "", None)
        heading(ax, f"step {step['step']}: {step['objective']:.1f}")
    figure.supxlabel(names[columns[0]], color=INK, fontsize="medium")
    figure.supylabel(names[columns[1]], color=INK, fontsize="medium")
    return figure


def covariance_matrices(model: Estimator, covariances: np.ndarray) -> np.ndarray:
    """One covariance matrix per component, whatever their form."""
    K, d = model.means_.shape
    values = np.asarray(covariances)
    if values.ndim == 3:
        return values
    # one matrix for all
    if model.covariance_type in ("tied", "EEE"):
        return np.broadcast_to(values, (K, d, d))
    # variances by component and column ("diag"), or one per component ("spherical")
    if values.ndim == 2:
        variances = values
    else:
        variances = np.repeat(values[:, None], d, axis=1)
    return variances[:, :, None] * np.eye(d)


def draw_ellipses(
    ax: Axes,
    weights: np.ndarray,
    means: np.ndarray,
    matrices: np.ndarray,
    *,
    columns: tuple[int, int],
) -> None:
    from matplotlib.patches import Ellipse

    pair = list(columns)
    for k, (weight, mean, matrix) in enumerate(zip(weights, means, matrices)):
        if weight < 1e-3:  # a component that holds almost no rows says nothing
            continue
        # the axes of the ellipse are the eigenvectors, its radii the roots of the eigenvalues
        values, vectors = np.linalg.eigh(matrix[np.ix_(pair, pair)])
        width, height = 2.0 * ELLIPSE * np.sqrt(np.maximum(values, 0.0))
        angle = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
        color = color_of(k)
        center = (float(mean[pair[0]]), float(mean[pair[1]]))
        ax.add_patch(
            Ellipse(
                center,
                width,
                height,
                angle=angle,
                fill=False,
                edgecolor=color,
                linewidth=1.8,
                zorder=3,
            )
        )
        ax.plot(
            *center,
            marker="+",
            markersize=9,
            markeredgewidth=2.0,
            color=color,
            zorder=4,
        )
    ax.autoscale_view()
