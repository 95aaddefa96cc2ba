"""The merges of agglomerative clustering, in SciPy's form, and how a tree is cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from lyceum._core.distances import Metric, SquaredEuclidean, finite_distances, pairwise
from lyceum._core.native import native
from lyceum._core.threads import n_threads

LINKAGES = (
    "single",
    "complete",
    "average",
    "weighted",
    "centroid",
    "median",
    "ward",
)
# by Lance and Williams's formula for squared distances
_BY_SQUARES = ("centroid", "median", "ward")
# clusters may come closer by a merge: heights that fall stay in the order of merging
_MAY_FALL = ("centroid", "median")
_MOST_COLUMNS = 8  # of a tree of boxes
_FEWEST_ROWS = 2048

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows a, rows b, raw values


def link_rows(
    X: Any,
    linkage: str,
    metric: Metric,
    w: np.ndarray | None = None,
) -> np.ndarray:
    """SciPy's linkage matrix of rows as the metric takes them, with weights as sizes.

    Single linkage comes from the minimum spanning tree, Ward's and centroid linkage of Euclidean
    distances from the means of the clusters: without the distances of all pairs. The others hold
    those once, half a matrix.

    >>> from lyceum.distances import Euclidean
    >>> link_rows(np.array([[0.0], [1.0], [4.0]]), "single", Euclidean()).tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 3.0, 3.0]]
    """
    n = X.shape[0]
    dense = not sparse.issparse(X)
    if dense and linkage == "single":
        points = metric.points(np.ascontiguousarray(X))
        points = np.ascontiguousarray(points, dtype=np.float64)
        a, b, raw = spanning_tree(points, metric)
        heights = metric.distances(raw, points.shape[1])
        return link_edges(a, b, finite_distances(heights, metric), w)
    by_means = linkage in ("centroid", "ward") and metric.name == "euclidean"
    if by_means and dense:
        if linkage == "ward":
            merge = native.ward_points
        else:
            merge = native.centroid_points
        a, b, heights = _no_edges(n)
        X = np.ascontiguousarray(X, dtype=np.float64)
        merge(X, w, n_threads(), a, b, heights)
        return link_edges(a, b, np.sqrt(heights), w, in_order=linkage in _MAY_FALL)
    squared = linkage in _BY_SQUARES and metric.name == "euclidean"
    if squared:
        metric = SquaredEuclidean()
    distances = finite_distances(pairwise(X, metric=metric, condensed=True), metric)
    return link_distances(distances, n, linkage, w, squared=squared)


def link_distances(
    distances: np.ndarray,
    n: int,
    linkage: str,
    w: np.ndarray | None = None,
    squared: bool = False,
) -> np.ndarray:
    """SciPy's linkage matrix from the distances of all pairs i < j, which are overwritten.

    Centroid, median and Ward's linkage work on squares, by Lance and Williams's formula; it means
    what its name says if the distances are Euclidean. `squared` says that they are squares already.
    """
    by_squares = linkage in _BY_SQUARES
    if by_squares and not squared:
        np.multiply(distances, distances, out=distances)
    if linkage == "ward" and w is not None:
        # what a merge of two rows adds to the sum of squares, twice: 2 w_i w_j / (w_i + w_j) d²
        i, j = np.triu_indices(n, 1)
        distances *= 2 * w[i] * w[j] / (w[i] + w[j])
    a, b, heights = _no_edges(n)
    native.linkage_matrix(linkage, distances, n, w, n_threads(), a, b, heights)
    if by_squares:
        heights = np.sqrt(heights)
    return link_edges(a, b, heights, w, in_order=linkage in _MAY_FALL)


def _no_edges(n: int) -> Edges:
    return (
        np.empty(n - 1, dtype=np.int64),
        np.empty(n - 1, dtype=np.int64),
        np.empty(n - 1),
    )


def spanning_tree(
    points: np.ndarray,
    metric: Metric,
    core: np.ndarray | None = None,
) -> Edges:
    """The edges of the minimum spanning tree of prepared points, with raw values.

    With `core`, raw values too, an edge is the largest of the value and the cores of its ends. Rows
    of at most 8 columns are searched in a tree of boxes; otherwise Prim's algorithm compares all
    pairs and keeps none.
    """
    n, d = points.shape
    space = metric.space
    edges = _no_edges(n)
    threads = n_threads()
    # boxes of many columns exclude few pairs
    if space.has_boxes and d <= _MOST_COLUMNS and n >= _FEWEST_ROWS:
        order = np.empty(n, dtype=np.int64)
        native.leaf_order(points, native.leaf_rows, order)
        Z = np.ascontiguousarray(points[order])
        native.spanning_tree_of_leaves(
            space.name, space.power, Z, order, core, threads, *edges
        )
    else:
        native.spanning_tree(*space, points, core, threads, *edges)
    return edges


def link_edges(
    a: np.ndarray,
    b: np.ndarray,
    heights: np.ndarray,
    w: np.ndarray | None,
    in_order: bool = False,
) -> np.ndarray:
    """Merges of rows as SciPy writes them: two cluster numbers, the height, the size."""
    if not in_order:
        # edges come as they were found: a tree is built from the lowest up
        order = np.argsort(heights, kind="stable")
        a = a[order]
        b = b[order]
        heights = heights[order]
    named = np.empty((len(a), 3))
    native.number_merges(a, b, w, named)
    return np.column_stack([named[:, :2], heights, named[:, 2]])


# -- cuts ------------------------------------------------------------------------------


def merge_path(merges: np.ndarray, leaf: int) -> np.ndarray:
    """The merges that a row goes through, from the first to the root.

    Parameters
    ----------
    merges : array of shape (n - 1, 4)
        SciPy's linkage matrix.
    leaf : int
        The number of the row.

    Returns
    -------
    array of shape (n_steps, 4)
        Of every merge its number, its height, the cluster that was joined to that of the row (below
        n a single row), and the weight of both together.

    >>> merge_path(np.array([[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 3.0, 3.0]]), 2).tolist()
    [[1.0, 3.0, 3.0, 3.0]]
    """
    n = len(merges) + 1
    parts = merges[:, :2].astype(np.int64)
    parent = np.full(2 * n - 1, -1)
    parent[parts.ravel()] = np.repeat(np.arange(n - 1), 2)
    steps = []
    node = leaf
    while parent[node] >= 0:
        t = int(parent[node])
        other = parts[t].sum() - node
        steps.append((t, merges[t, 2], other, merges[t, 3]))
        node = n + t
    return np.array(steps, dtype=np.float64).reshape(-1, 4)


def merge_members(
    merges: np.ndarray, steps: Iterable[int] | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows of the two clusters of the merges with the numbers `steps`, all by default, in
    ascending order.

    >>> merges = np.array([[0.0, 2.0, 1.0, 2.0], [1.0, 3.0, 3.0, 3.0]])
    >>> [(one.tolist(), other.tolist()) for one, other in merge_members(merges)]
    [([0], [2]), ([1], [0, 2])]
    """
    n = len(merges) + 1
    parts = merges[:, :2].astype(np.int64).tolist()
    counts = [1] * n
    for one, other in parts:
        counts.append(counts[one] + counts[other])
    # rows in the order of the leaves of the tree, in which every cluster is one stretch
    starts = [0] * (2 * n - 1)
    for t in range(n - 2, -1, -1):
        one, other = parts[t]
        starts[one] = starts[n + t]
        starts[other] = starts[n + t] + counts[one]
    leaves = np.empty(n, dtype=np.int64)
    leaves[starts[:n]] = np.arange(n)

    def rows(cluster: int) -> np.ndarray:
        begin = starts[cluster]
        return np.sort(leaves[begin : begin + counts[cluster]])

    if steps is None:
        steps = range(n - 1)
    return [(rows(parts[t][0]), rows(parts[t][1])) for t in steps]


def cut_merges(merges: np.ndarray, done: np.ndarray) -> np.ndarray:
    """The cluster of every row after only those merges that are `done`, numbered from 0 in any
    order.

    >>> merges = np.array([[0, 1, 1.0, 2], [2, 3, 3.0, 3]])
    >>> cut_merges(merges, merges[:, 2] <= 2.0).tolist()
    [0, 0, 1]
    """
    # the tree as a graph, of which the merges that are not done are left out: its components
    n = len(merges) + 1
    made = n + np.flatnonzero(done)
    parts = merges[done, :2].astype(np.int64)
    edges = (np.repeat(made, 2), parts.ravel())
    cells = (np.ones(2 * len(made)), edges)
    graph = sparse.coo_array(cells, shape=(2 * n - 1, 2 * n - 1))
    _, components = connected_components(graph, directed=False)
    _, labels = np.unique(components[:n], return_inverse=True)
    return labels


def cut_inconsistent(
    merges: np.ndarray,
    most: float,
    depth: int,
) -> np.ndarray:
    """The clusters below which no merge is more inconsistent than `most` (Jain and Dubes 1988).

    A merge's inconsistency is how many standard deviations its height is above the mean height of
    the merges within `depth` levels below it.
    """
    from scipy.cluster.hierarchy import fcluster

    plain = merges.copy()
    # weights are no counts of rows; where the tree is cut depends on heights alone
    plain[:, 3] = 2.0
    return fcluster(plain, most, criterion="inconsistent", depth=depth) - 1
