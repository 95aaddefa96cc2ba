"""Pictures of clusterings: dendrogram, silhouettes, the number of clusters, k-means step by
step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator
from lyceum.errors import DataError, SettingError
from lyceum.plot.style import (
    COLORS,
    GRAY,
    INK,
    axes,
    color_of,
    draw_points,
    finish,
    panel_grid,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_NAMED = 60  # leaves with names


def dendrogram(
    model: Any,
    *,
    names: Sequence[str] | None = None,
    most: int = 40,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The tree of merges, the root at the top, clusters in colors.

    A tree with more than `most` branches is drawn down to its last `most` - 1 merges; below them,
    every branch is a triangle as wide as the logarithm of its rows, so that thousands of leaves
    stay readable.

    Parameters
    ----------
    model : fitted learner with `linkage_`, or array of shape (n - 1, 4)
        The merges, as SciPy has them.
    names : sequence of str, optional
        The names of the rows; drawn if there are at most 60.
    most : int, default=40
        The most branches.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.cluster.AgglomerativeClustering : the trees.

    Examples
    --------
    >>> from lyceum.cluster import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2).fit([[0.0], [1.0], [7.0]])
    >>> ax = dendrogram(model, names=["a", "b", "c"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['c', 'a', 'b']
    """
    merges = np.asarray(getattr(model, "linkage_", model), dtype=np.float64)
    if merges.ndim != 2 or merges.shape[1] != 4:
        raise DataError(f"merges have 4 columns, but the shape is {merges.shape}")
    n = len(merges) + 1
    groups = int(getattr(model, "n_clusters_", 1))
    tree = _Drawn(merges, max(2, most), groups)
    ax = axes(ax, (max(5.2, 0.16 * len(tree.ends) + 1.5), 4.4))
    for xs, ys, color in tree.lines:
        ax.plot(xs, ys, color=color, linewidth=1.1, solid_joinstyle="miter")
    for x, half, height, color in tree.triangles:
        corners = [x - half, x, x + half], [0, height, 0]
        ax.fill(*corners, color=color, alpha=0.35, linewidth=0)
    _name_ends(ax, tree, names)
    if 1 < groups <= n:
        cut = tree.cut_height(n - groups)
        ax.axhline(cut, color=GRAY, linewidth=0.8, linestyle=(0, (4, 3)))
    below = ""
    if tree.triangles:
        below = f"{show_count(n, 'row')}; numbers are rows in a branch"
    finish(ax, below, "height", title)
    ax.grid(False, axis="x")
    ax.set_ylim(0.0, 1.04 * max(merges[:, 2].max(initial=0.0), 1e-300))
    return ax


def _name_ends(ax: Axes, tree: _Drawn, names: Sequence[str] | None) -> None:
    """The names of the ends below the picture, where there is room for them."""
    labels = [tree.label(end, names) for end in tree.ends]
    if len(labels) > _MOST_NAMED:
        ax.set_xticks([])
        return
    angle = 90 if max(map(len, labels), default=0) > 3 else 0
    size = 7 if len(labels) > 30 else 9
    ax.set_xticks(tree.x, labels, rotation=angle, fontsize=size)


class _Drawn:
    """Lines, triangles and positions of the branches of a tree, without recursion."""

    def __init__(self, merges: np.ndarray, most: int, groups: int):
        # rows are the nodes 0, ..., n - 1; merge t makes the node n + t of two earlier ones
        self.merges = merges
        self.pairs = merges[:, :2].astype(int)
        self.n = len(merges) + 1
        # nodes below it are ends of the picture
        self.first = max(self.n, 2 * self.n - most)
        self.rows = np.ones(2 * self.n - 1)
        for t, (a, b) in enumerate(self.pairs):
            self.rows[self.n + t] = self.rows[a] + self.rows[b]
        self.ends = self._find_ends()
        # a branch of many rows is wider, but not in proportion
        widths = 1.0 + 0.25 * np.log2(self.rows[self.ends])
        self.x = (np.cumsum(widths) - widths / 2).tolist()
        self._draw(widths, self._colors(groups))

    def _find_ends(self) -> list[int]:
        """The ends from left to right."""
        ends: list[int] = []
        stack = [2 * self.n - 2]
        while stack:
            node = stack.pop()
            if node < self.first:
                ends.append(node)
            else:
                a, b = self.pairs[node - self.n]
                stack += [b, a]
        return ends

    def _draw(self, widths: np.ndarray, color: Any) -> None:
        """The triangles of the branches that are not shown, and the lines of all others."""
        x = dict(zip(self.ends, self.x))
        # the height at which a branch begins: 0 for a row, its last merge for a triangle
        top = dict.fromkeys(self.ends, 0.0)
        self.triangles = []
        for end, width in zip(self.ends, widths):
            if end >= self.n:
                top[end] = self.merges[end - self.n, 2]
                self.triangles.append((x[end], 0.4 * width, top[end], color[end]))
        self.lines = []
        for node in range(self.first, 2 * self.n - 1):
            a, b = self.pairs[node - self.n]
            height = self.merges[node - self.n, 2]
            # two lines up to the height of the merge, and one across
            for part in (a, b):
                self.lines.append(([x[part]] * 2, [top[part], height], color[part]))
            self.lines.append(([x[a], x[b]], [height] * 2, color[node]))
            x[node] = (x[a] + x[b]) / 2
            top[node] = height

    def _colors(self, groups: int) -> list[str]:
        """Every branch below the cut in its cluster's color, what is above in ink."""
        result = [INK] * (2 * self.n - 1)
        if not 1 < groups <= self.n:
            return result
        cut = 2 * self.n - groups  # nodes from here on are above the cut
        n_clusters = 0
        # from the root down, so that a branch has its color before it hands it on
        for node in range(2 * self.n - 2, self.n - 1, -1):
            for part in self.pairs[node - self.n]:
                if node >= cut and part < cut:
                    result[part] = color_of(n_clusters)
                    n_clusters += 1
                elif node < cut:
                    result[part] = result[node]
        return result

    def cut_height(self, n_merges: int) -> float:
        """Between the last merge that is made and the next."""
        # heights fall back in centroid linkage; their running maximum does not
        heights = np.append(0.0, np.maximum.accumulate(self.merges[:, 2]))
        return heights[n_merges : n_merges + 2].mean()

    def label(self, end: int, names: Sequence[str] | None) -> str:
        if end >= self.n:
            return f"({int(self.rows[end])})"
        if names is None:
            return str(end)
        return str(names[end])


_ABOVE: dict[str, Any] = {
    "loc": "lower center",
    "bbox_to_anchor": (0.5, 1.0),
    "ncols": 2,
    "fontsize": 8,
    "frameon": False,
}


def silhouette(
    result: Any, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """The silhouette of every row, cluster by cluster, the largest at the top, and both means.

    Parameters
    ----------
    result : Silhouette
        What `lyceum.cluster.silhouette(X, labels)` gives.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.cluster.silhouette : the numbers.

    Examples
    --------
    >>> from lyceum.cluster import silhouette as silhouette_of
    >>> ax = silhouette(silhouette_of([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]))
    >>> ax.get_xlabel()
    'silhouette'
    """
    ax = axes(ax, (5.2, 4.8))
    inside = ~np.isnan(result.points)
    # rows of no cluster have no silhouette, and no bar
    gap = 0.02 * inside.sum() + 1
    height = 0.0
    ticks = []
    names = []
    for c, cluster in enumerate(result.clusters):
        values = np.sort(result.points[inside & (result.labels == cluster)])[::-1]
        n = len(values)
        rows = height + np.arange(n + 1)
        # steps hold from one row to the next: the last value stands twice
        ends = np.append(values, values[-1:])
        bars: dict[str, Any] = {"color": color_of(c), "linewidth": 0, "alpha": 0.85}
        ax.fill_betweenx(rows, 0, ends, step="post", **bars)
        ticks.append(height + n / 2)
        names.append(f"{cluster}  ({result.cluster_means[c]:.2f})")
        height += n + gap
    _mean_line(ax, result.mean, "rows", INK, (5, 2))
    _mean_line(ax, result.mean_of_clusters, "clusters", GRAY, (1.2, 1.5))
    ax.set_yticks(ticks, names)
    ax.set_ylim(height - gap, -gap / 2)
    finish(ax, "silhouette", "cluster (its mean)", title)
    ax.grid(False, axis="y")
    ax.legend(**_ABOVE)
    return ax


def _mean_line(
    ax: Axes, mean: float, of: str, color: str, dashes: tuple[float, float]
) -> None:
    label = f"mean of {of} {mean:.3f}"
    ax.axvline(mean, color=color, linewidth=1.0, linestyle=(0, dashes), label=label)


def elbow(result: Any, *, title: str | None = None) -> list[Axes]:
    """SSE, silhouette and BIC by the number of clusters, each with the number that it chooses.

    Parameters
    ----------
    result : KChoice
        What `lyceum.cluster.choose_k(X)` gives.
    title : str, optional
        The title of the picture.

    Returns
    -------
    list of Matplotlib axes

    See Also
    --------
    lyceum.cluster.choose_k : the numbers.

    Examples
    --------
    >>> from lyceum.cluster import choose_k
    >>> drawn = elbow(choose_k([[0.0], [1.0], [9.0], [10.0], [20.0], [21.0]], range(1, 6)))
    >>> len(drawn)
    3
    """
    from matplotlib import pyplot

    figure, drawn = pyplot.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
    # a criterion that is not known for any number of clusters chooses none
    has_elbow = np.isfinite(result.second_differences).any()
    elbow_k = result.elbow if has_elbow else None
    has_silhouettes = np.isfinite(result.silhouettes).any()
    silhouette_k = result.by_silhouette if has_silhouettes else None
    pictures = (
        ("SSE", result.sse, "elbow", elbow_k),
        ("mean silhouette", result.silhouettes, "largest", silhouette_k),
        ("BIC", result.bic, "least", result.by_bic),
    )
    for ax, (name, values, how, k) in zip(drawn, pictures):
        caption = None
        ax.plot(result.clusters, values, color=COLORS[0], marker="o", markersize=4)
        if k is not None:
            caption = f"{how}: {k}"
            index = int(np.flatnonzero(result.clusters == k)[0])
            ax.plot(
                [k],
                [values[index]],
                "o",
                color=COLORS[1],
                markersize=9,
                markerfacecolor="none",
                markeredgewidth=2,
            )
            ax.axvline(k, color=COLORS[1], linewidth=0.8, linestyle=(0, (4, 3)))
        finish(ax, "clusters", name, caption)
        ax.xaxis.get_major_locator().set_params(integer=True)
    if title:
        figure.suptitle(title)
    return list(drawn)


def kmeans_steps(
    model: Estimator,
    X: Data,
    *,
    columns: tuple[int, int] = (0, 1),
    most: int = 6,
    title: str | None = None,
) -> list[Axes]:
    """k-means step by step: the rows in the colors of their nearest centers, and how the centers
    moved.

    Parameters
    ----------
    model : fitted KMeans or FuzzyCMeans with record=True
        Its `record_` holds the centers of every step.
    X : array of shape (n, d)
        The rows, in the columns of the centers.
    columns : tuple of two int, default=(0, 1)
        The columns to draw.
    most : int, default=6
        The most steps drawn, the first and the last among them.
    title : str, optional
        The title of the picture.

    Returns
    -------
    list of Matplotlib axes

    See Also
    --------
    lyceum.cluster.KMeans : the learner.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.cluster import KMeans
    >>> X = np.array([[0.0, 0], [1, 0], [9, 9], [10, 9]])
    >>> model = KMeans(2, init=X[:2], record=True).fit(X)
    >>> len(kmeans_steps(model, X)) == min(6, len(model.record_))
    True
    """
    if not getattr(model, "record_", None):
        raise SettingError("there are no steps to draw: fit with record=True")
    X = np.asarray(X, dtype=np.float64)
    steps = model.record_
    # at even distances, the first and the last included
    numbers = np.linspace(0, len(steps) - 1, min(most, len(steps)))
    shown = np.unique(numbers.round().astype(int))
    figure, panels = panel_grid(len(shown), (3.3, 3.1))
    names = getattr(model, "design_names", [f"x{j}" for j in range(X.shape[1])])
    i, j = columns
    for ax, s in zip(panels, shown):
        centers = np.stack([step["centers"] for step in steps[: s + 1]])
        draw_center_step(ax, X, centers, [i, j])
        objective = steps[s].get("objective")
        if objective is None:
            text = ""
        else:
            text = f": {objective:.4g}"
        finish(ax, str(names[i]), str(names[j]), f"step {steps[s]['step']}{text}")
    if title:
        figure.suptitle(title)
    return panels


def draw_center_step(
    ax: Axes, X: np.ndarray, centers: np.ndarray, columns: list[int]
) -> None:
    """The rows in the colors of their nearest centers, and the paths of the centers so far.

    `centers` has the shape (steps, K, d).
    """
    distances = ((X[:, None, :] - centers[-1]) ** 2).sum(axis=2)
    colors = [color_of(k) for k in distances.argmin(axis=1)]
    draw_points(ax, X[:, columns], 9, c=colors, alpha=0.55)
    paths = centers[:, :, columns]
    for k in range(paths.shape[1]):
        ax.plot(*paths[:, k].T, color=INK, linewidth=0.9)
        mark: dict[str, Any] = {"color": color_of(k), "markeredgecolor": "white"}
        ax.plot(*paths[-1, k], "X", markersize=10, **mark)
