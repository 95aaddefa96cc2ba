"""Pictures of clusterings: dendrogram, silhouettes, the number of clusters, k-means step by
step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError
from lyceum.plot.style import COLORS, GRAY, INK, axes, finish

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
    >>> ax = dendrogram(AgglomerativeClustering(2).fit([[0.0], [1.0], [7.0]]), names=["a", "b", "c"])
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
    for x, wide, height, color in tree.triangles:
        ax.fill([x - wide, x, x + wide], [0, height, 0], color=color, alpha=0.35, linewidth=0)
    labels = [tree.label(end, names) for end in tree.ends]
    if len(labels) <= _MOST_NAMED:
        long = max(map(len, labels), default=0) > 3
        ax.set_xticks(
            tree.places, labels, rotation=90 if long else 0, fontsize=7 if len(labels) > 30 else 9
        )
    else:
        ax.set_xticks([])
    if 1 < groups <= n:
        heights = np.maximum.accumulate(merges[:, 2])
        if n > groups:
            low = heights[n - groups - 1]
        else:
            low = 0.0
        high = heights[n - groups]
        ax.axhline((low + high) / 2, color=GRAY, linewidth=0.8, linestyle=(0, (4, 3)))
    if tree.triangles:
        below = f"{show_count(n, 'row')}; numbers are rows in a branch"
    else:
        below = ""
    finish(ax, below, "height", title)
    ax.grid(False, axis="x")
    ax.set_ylim(0.0, 1.04 * max(merges[:, 2].max(initial=0.0), 1e-300))
    return ax


class _Drawn:
    """Lines, triangles and places of the branches of a tree, without recursion."""

    def __init__(self, merges: np.ndarray, most: int, groups: int):
        self.merges = merges
        self.n = len(merges) + 1
        first = max(self.n, 2 * self.n - most)  # nodes below it are ends of the picture
        self.ends: list[int] = []
        rows = np.ones(2 * self.n - 1)
        for t, (a, b) in enumerate(merges[:, :2].astype(int)):
            rows[self.n + t] = rows[a] + rows[b]
        self.rows = rows
        color = self._colors(groups)
        stack = [2 * self.n - 2]
        while stack:
            node = stack.pop()
            if node < first:
                self.ends.append(node)
            else:
                a, b = merges[node - self.n, :2].astype(int)
                stack += [b, a]
        widths = 1.0 + 0.25 * np.log2(rows[self.ends])
        self.places = (np.cumsum(widths) - widths / 2).tolist()
        x = dict(zip(self.ends, self.places))
        top = dict.fromkeys(self.ends, 0.0)
        self.triangles = []
        for end, place, wide in zip(self.ends, self.places, widths):
            if end >= self.n:
                top[end] = merges[end - self.n, 2]
                self.triangles.append((place, 0.4 * wide, top[end], color[end]))
        self.lines = []
        for node in range(first, 2 * self.n - 1):
            a, b = merges[node - self.n, :2].astype(int)
            height = merges[node - self.n, 2]
            for part in (a, b):
                self.lines.append(([x[part], x[part]], [top[part], height], color[part]))
            self.lines.append(([x[a], x[b]], [height, height], color[node]))
            x[node], top[node] = (x[a] + x[b]) / 2, height

    def _colors(self, groups: int) -> list[str]:
        """Every branch below the cut in its cluster's color, what is above in ink."""
        found = [INK] * (2 * self.n - 1)
        if not 1 < groups <= self.n:
            return found
        cut = 2 * self.n - groups  # nodes from here on are above the cut
        ready = 0
        for node in range(2 * self.n - 2, -1, -1):
            if node >= self.n:
                for part in self.merges[node - self.n, :2].astype(int):
                    if node >= cut and part < cut:
                        found[part] = COLORS[ready % len(COLORS)]
                        ready += 1
                    elif node < cut:
                        found[part] = found[node]
        return found

    def label(self, end: int, names: Sequence[str] | None) -> str:
        if end >= self.n:
            return f"({int(self.rows[end])})"
        if names is None:
            return str(end)
        return str(names[end])


def silhouette(found: Any, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """The silhouette of every row, cluster by cluster, the largest at the top, and both means.

    Parameters
    ----------
    found : Silhouette
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
    inside = ~np.isnan(found.points)
    gap = 0.02 * inside.sum() + 1
    place = 0.0
    ticks = []
    for c, cluster in enumerate(found.clusters):
        values = np.sort(found.points[inside & (found.labels == cluster)])[::-1]
        rows = place + np.arange(len(values) + 1)
        shade: dict[str, Any] = {"color": COLORS[c % len(COLORS)], "linewidth": 0, "alpha": 0.85}
        ax.fill_betweenx(rows, 0, np.append(values, values[-1:]), step="post", **shade)
        ticks.append((place + len(values) / 2, f"{cluster}  ({found.cluster_means[c]:.2f})"))
        place += len(values) + gap
    ax.axvline(
        found.mean,
        color=INK,
        linewidth=1.0,
        linestyle=(0, (5, 2)),
        label=f"mean of rows {found.mean:.3f}",
    )
    ax.axvline(found.mean_of_clusters, color=GRAY, linewidth=1.0, linestyle=(0, (1.2, 1.5)),
               label=f"mean of clusters {found.mean_of_clusters:.3f}")  # fmt: skip
    ax.set_yticks([tick for tick, _ in ticks], [name for _, name in ticks])
    ax.set_ylim(place - gap, -gap / 2)
    finish(ax, "silhouette", "cluster (its mean)", title)
    ax.grid(False, axis="y")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, frameon=False)
    return ax


def elbow(found: Any, *, title: str | None = None) -> list[Axes]:
    """SSE, silhouette and BIC by the number of clusters, each with the number that it chooses.

    Parameters
    ----------
    found : KChoice
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
    best = [found.elbow if np.isfinite(found.second_differences).any() else None]
    best.append(found.by_silhouette if np.isfinite(found.silhouettes).any() else None)
    best.append(found.by_bic)
    rows = (
        ("SSE", found.sse, "elbow"),
        ("mean silhouette", found.silhouettes, "largest"),
        ("BIC", found.bic, "least"),
    )
    for ax, (name, values, how), k in zip(drawn, rows, best):
        ax.plot(found.clusters, values, color=COLORS[0], marker="o", markersize=4)
        if k is not None:
            at = int(np.flatnonzero(found.clusters == k)[0])
            ax.plot(
                [k],
                [values[at]],
                "o",
                color=COLORS[1],
                markersize=9,
                markerfacecolor="none",
                markeredgewidth=2,
            )
            ax.axvline(k, color=COLORS[1], linewidth=0.8, linestyle=(0, (4, 3)))
        finish(ax, "clusters", name, None if k is None else f"{how}: {k}")
        ax.xaxis.get_major_locator().set_params(integer=True)
    if title:
        figure.suptitle(title)
    return list(drawn)


def kmeans_steps(
    model: Any,
    X: Any,
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
    from matplotlib import pyplot

    if not getattr(model, "record_", None):
        raise SettingError("there are no steps to draw: fit with record=True")
    X = np.asarray(X, dtype=np.float64)
    steps = model.record_
    shown = np.unique(np.linspace(0, len(steps) - 1, min(most, len(steps))).round().astype(int))
    wide = min(3, len(shown))
    tall = -(-len(shown) // wide)
    figure, grid = pyplot.subplots(
        tall,
        wide,
        figsize=(3.3 * wide, 3.1 * tall),
        layout="constrained",
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    names = getattr(model, "design_names", [f"x{j}" for j in range(X.shape[1])])
    i, j = columns
    for ax, s in zip(grid.flat, shown):
        centers = steps[s]["centers"]
        labels = ((X[:, None, :] - centers) ** 2).sum(axis=2).argmin(axis=1)
        colors = np.array(COLORS)[labels % len(COLORS)]
        ax.scatter(X[:, i], X[:, j], s=9, c=colors, alpha=0.55, linewidths=0)
        for k in range(len(centers)):
            path = np.array([step["centers"][k] for step in steps[: s + 1]])
            ax.plot(path[:, i], path[:, j], color=INK, linewidth=0.9)
            ax.plot(
                *centers[k, [i, j]],
                "X",
                color=COLORS[k % len(COLORS)],
                markersize=10,
                markeredgecolor="white",
            )
        objective = steps[s].get("objective")
        if objective is None:
            text = ""
        else:
            text = f": {objective:.4g}"
        finish(ax, str(names[i]), str(names[j]), f"step {steps[s]['step']}{text}")
    for ax in list(grid.flat)[len(shown) :]:
        ax.set_visible(False)
    if title:
        figure.suptitle(title)
    return list(grid.flat)[: len(shown)]
