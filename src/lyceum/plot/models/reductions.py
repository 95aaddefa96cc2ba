"""Reductions: the scree of variances, rows and columns in one picture, and PCA beside Fisher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.types import Data, Target
from lyceum.decomposition import PCA, DiscriminantProjection
from lyceum.errors import DataError
from lyceum.plot.style import (
    COLORS,
    DASHED,
    GRAY,
    INK,
    axes,
    color_of,
    draw_points,
    finish,
    legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def scree(
    pca: Any,
    *,
    proportion: float | None = 0.9,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The proportion of variance of every principal component, alone and cumulative.

    Parameters
    ----------
    pca : fitted PCA
    proportion : float or None, default=0.9
        A line at this cumulative proportion, with the number of components that reach it.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    biplot : The first two components.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> scree(PCA().fit(X)).get_ylabel()
    'proportion of variance'
    """
    ax = axes(ax)
    ratio = np.asarray(pca.explained_variance_ratio_)
    numbers = np.arange(1, len(ratio) + 1)
    cumulative = np.cumsum(ratio)
    ax.bar(numbers, ratio, color=COLORS[0], width=0.65, label="each")
    dots: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1.8}
    ax.plot(numbers, cumulative, color=COLORS[1], label="cumulative", **dots)
    if proportion is not None:
        reached = np.flatnonzero(cumulative >= proportion)
        text = f"{proportion:.0%}"
        if len(reached):
            text += f": {reached[0] + 1} components"
        ax.axhline(proportion, gid="reference", **DASHED)
        # below the line, at its right end
        corner = (numbers[-1] + 0.4, proportion - 0.015)
        ax.text(*corner, text, ha="right", va="top", color=GRAY, fontsize="small")
    if len(numbers) <= 15:
        ax.set_xticks(numbers)
    ax.set_ylim(0, 1.03)
    finish(ax, "component", "proportion of variance", title)
    ax.grid(False, axis="x")
    legend(ax, "center right")
    return ax


def biplot(
    pca: Any,
    X: Data,
    *,
    labels: ArrayLike | None = None,
    most: int = 8,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Rows on the first two principal components, and columns as arrows.

    An arrow is the loading of a column on both components, all stretched alike to fit the picture.

    Parameters
    ----------
    pca : fitted PCA with two components at least
    X : array or frame of shape (n, d)
        Rows to show.
    labels : array of shape (n,), optional
        Classes, for colors.
    most : int, default=8
        The most arrows: those of the longest loadings.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    scree : How much the components explain.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> biplot(PCA().fit(X), X).get_xlabel().startswith("pc1")
    True
    """
    if pca.n_components_ < 2:
        raise DataError("a biplot needs two components")
    ax = axes(ax)
    scores = np.asarray(pca.transform(X), dtype=np.float64)[:, :2]
    _points(ax, scores, labels)
    # a loading is v √λ; the longest arrow reaches as far as the rows do
    loadings = pca.components_[:2].T * np.sqrt(pca.explained_variance_[:2])
    length = np.linalg.norm(loadings, axis=1)
    stretch = 0.85 * np.abs(scores).max() / max(float(length.max()), 1e-300)
    arrow = {"arrowstyle": "->", "color": INK, "linewidth": 1.3}
    shown = np.argsort(-length)[:most]
    names = []
    for j in shown:
        tip = stretch * loadings[j]
        # over the boxes of all names
        ax.annotate("", tip, (0, 0), arrowprops=arrow, zorder=4)
        names.append(_arrow_name(ax, tip, pca.design_names[j]))
    first, second = (
        f"pc{k + 1} ({pca.explained_variance_ratio_[k]:.0%})" for k in range(2)
    )
    ax.margins(0.06)
    # neither arrows nor names widen the axes by themselves
    ax.update_datalim(stretch * loadings[shown])
    ax.autoscale_view()
    _make_room(ax, names)
    finish(ax, first, second, title)
    return ax


def _arrow_name(ax: Axes, tip: np.ndarray, name: str) -> Any:
    """The name of an arrow, a little beyond its tip."""
    x, y = tip
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8}
    return ax.annotate(
        name,
        (x, y),
        (4 if x >= 0 else -4, 3 if y >= 0 else -3),
        textcoords="offset points",
        ha="left" if x >= 0 else "right",
        va="bottom" if y >= 0 else "top",
        color=INK,
        fontsize="small",
        bbox=box,
        annotation_clip=False,
        zorder=3,
    )


def _make_room(ax: Axes, texts: list[Any]) -> None:
    """Widen the axes until all texts are inside."""
    # wider axes have smaller units, in which the same text is longer: a second round takes that in
    for _ in range(3):
        for text in texts:
            corners = text.get_window_extent().corners()
            ax.update_datalim(ax.transData.inverted().transform(corners))
        ax.autoscale_view()


def pca_beside_fisher(X: Data, y: Target, *, title: str | None = None) -> Figure:
    """The first two principal components beside the first two directions of Fisher's projection.

    Parameters
    ----------
    X : array or frame of shape (n, d)
        Rows.
    y : array of shape (n,)
        Classes.
    title : str, optional
        The title of the picture.

    Returns
    -------
    Matplotlib figure

    See Also
    --------
    biplot : Principal components with their columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    >>> len(pca_beside_fisher(X, y).axes)
    2
    """
    from matplotlib import pyplot

    labels = np.asarray(y)
    pca = PCA(2).fit(X)
    fisher = DiscriminantProjection().fit(X, labels)
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(9.2, 4.2), layout="constrained"
    )
    _points(left, np.asarray(pca.transform(X), dtype=np.float64), labels)
    finish(left, "pc1", "pc2", "PCA: most variance")
    scores = np.asarray(fisher.transform(X), dtype=np.float64)
    if scores.shape[1] == 1:  # two classes: one direction, spread upwards to be seen
        heights = np.random.default_rng(0).uniform(-0.5, 0.5, len(scores))
        scores = np.column_stack([scores, heights])
    _points(right, scores[:, :2], labels)
    if fisher.n_components_ > 1:
        finish(right, "direction 1", "direction 2", "Fisher: classes apart")
    else:
        finish(right, "direction 1", "", "Fisher: classes apart")
        right.set_yticks([])
    legend(right)
    if title:
        figure.suptitle(title, color=INK)
    return figure


def _points(ax: Axes, scores: np.ndarray, labels: ArrayLike | None) -> None:
    if labels is None:
        draw_points(ax, scores, 11, color=COLORS[0], alpha=0.6)
        return
    names = np.asarray(labels).astype(str)
    for k, name in enumerate(np.unique(names)):
        style = {"color": color_of(k), "alpha": 0.65}
        draw_points(ax, scores[names == name], 13, label=str(name), **style)
