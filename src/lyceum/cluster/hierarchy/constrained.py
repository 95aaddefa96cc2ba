"""Agglomerative clustering in which only neighbors in a graph may be merged."""

from __future__ import annotations

import heapq
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from lyceum._core.distances import Metric, finite_distances, pairwise
from lyceum.errors import SettingError
from lyceum.progress import report

# linkages whose distances are those of centers
_OF_CENTERS = ("centroid", "median", "ward")


def link_neighbors(
    X: Any,
    graph: sparse.csr_array,
    linkage: str,
    metric: Metric | None,
    w: np.ndarray,
) -> np.ndarray:
    """SciPy's linkage matrix where two clusters may be merged if an edge joins them.

    The distance of two clusters is what the linkage makes of the edges between them; of centers
    for Ward's, centroid and median linkage. The closest pair comes off a heap, and the merged
    cluster gets the edges of both: n k log n steps for n rows with k neighbors. Heights may fall.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows, or their distances where `metric` is None.
    graph : sparse array of shape (n, n)
        Which rows are neighbors; an edge in one direction counts for both.

    >>> from lyceum.distances import Euclidean
    >>> chain = checked_graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], 3)
    >>> rows = np.array([[0.0], [5.0], [1.0]])
    >>> link_neighbors(rows, chain, "complete", Euclidean(), np.ones(3)).tolist()
    [[1.0, 2.0, 4.0, 2.0], [0.0, 3.0, 5.0, 3.0]]
    """
    n = X.shape[0]
    if sparse.issparse(X):
        X = X.toarray()
    edges = _joined_graph(graph, X, metric)
    if linkage in _OF_CENTERS:
        if metric is None or metric.name != "euclidean":
            raise SettingError(
                f"linkage={linkage!r} of neighbors goes by the means of clusters: it needs"
                ' metric="euclidean"; take linkage="average", "complete" or "single"'
            )
        clusters: Any = _Centers(X, linkage, w)
    else:
        clusters = _Edges(linkage, w)
    # every edge once, with its distance; the heap also holds edges of clusters that are gone
    first, second = edges
    heights = clusters.start(first, second, _edge_lengths(X, metric, first, second))
    heap = list(zip(heights.tolist(), first.tolist(), second.tolist()))
    heapq.heapify(heap)
    merges = np.empty((n - 1, 4))
    for t in range(n - 1):
        height, a, b = heapq.heappop(heap)
        while not clusters.are_neighbors(a, b, height):
            height, a, b = heapq.heappop(heap)
        for distance, other in clusters.merge(a, b, n + t):
            heapq.heappush(heap, (distance, other, n + t))
        merges[t] = (a, b, height, clusters.weights[n + t])
        report("merges", t + 1, n - 1)
    return merges


def checked_graph(connectivity: Any, n: int) -> sparse.csr_array:
    """Which of n rows are neighbors, as a sparse array."""
    if not sparse.issparse(connectivity):
        try:
            connectivity = np.asarray(connectivity, dtype=np.float64)
        except (TypeError, ValueError):
            raise SettingError(
                f"connectivity={connectivity!r}: give an array or a sparse array of numbers with a"
                f" row and a column for each of the {n} rows"
            ) from None
    if connectivity.shape != (n, n):
        raise SettingError(
            f"connectivity has the shape {connectivity.shape}: it must have a row and a column for"
            f" each of the {n} rows"
        )
    return sparse.csr_array(connectivity)


def _joined_graph(
    graph: sparse.csr_array, X: np.ndarray, metric: Metric | None
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of neighbors, a < b, with the closest pairs of parts that no edge joins."""
    graph = sparse.coo_array(sparse.triu(graph + graph.T, 1))
    pairs = {(a, b) for a, b in zip(graph.row.tolist(), graph.col.tolist())}
    n_parts, part = connected_components(graph, directed=False)
    if n_parts > 1:
        warnings.warn(
            "the number of connected components of the connectivity matrix is"
            f" {n_parts} > 1. Completing it to avoid stopping the tree early.",
            UserWarning,
            stacklevel=5,
        )
        members = [np.flatnonzero(part == p) for p in range(n_parts)]
        for p in range(n_parts):
            for q in range(p):
                D = _distances(X, metric, members[p], members[q])
                i, j = np.unravel_index(np.argmin(D), D.shape)
                a, b = sorted((int(members[p][i]), int(members[q][j])))
                pairs.add((a, b))
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return ordered[:, 0], ordered[:, 1]


def _distances(
    X: np.ndarray, metric: Metric | None, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """The distances between some rows and others."""
    if metric is None:
        return X[np.ix_(a, b)]
    return finite_distances(pairwise(X[a], X[b], metric=metric), metric)


def _edge_lengths(
    X: np.ndarray, metric: Metric | None, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """The distance of the two rows of every edge, edges in order of a."""
    lengths = np.empty(len(a))
    starts = np.flatnonzero(np.diff(a, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(a))):
        lengths[start:end] = _distances(X, metric, a[start : start + 1], b[start:end])
    return lengths


class _Edges:
    """Clusters whose distances are made of those of their edges."""

    def __init__(self, linkage: str, w: np.ndarray) -> None:
        self.linkage = linkage
        self.weights = np.append(w, np.zeros(len(w) - 1))
        # of every cluster that there is: its neighbors and their distances
        self.neighbors: dict[int, dict[int, float]] = {i: {} for i in range(len(w))}

    def start(self, a: np.ndarray, b: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Take the edges, and say how long they are."""
        for i, j, length in zip(a.tolist(), b.tolist(), lengths.tolist()):
            self.neighbors[i][j] = length
            self.neighbors[j][i] = length
        return lengths

    def are_neighbors(self, a: int, b: int, distance: float) -> bool:
        """Whether both clusters are there, at this distance."""
        return b in self.neighbors and self.neighbors.get(a, {}).get(b) == distance

    def merge(self, a: int, b: int, new: int) -> list[tuple[float, int]]:
        """Put the cluster `new` in the place of two; the distances of its neighbors."""
        of_a = self.neighbors.pop(a)
        of_b = self.neighbors.pop(b)
        self.weights[new] = self.weights[a] + self.weights[b]
        share = self.weights[a] / self.weights[new]
        if self.linkage == "weighted":
            share = 0.5
        joined = {**of_a, **of_b}
        joined.pop(a, None)
        joined.pop(b, None)
        for other in of_a.keys() & of_b.keys():
            one = of_a[other]
            two = of_b[other]
            if self.linkage == "single":
                joined[other] = min(one, two)
            elif self.linkage == "complete":
                joined[other] = max(one, two)
            else:
                joined[other] = share * one + (1.0 - share) * two
        self.neighbors[new] = joined
        for other, distance in joined.items():
            theirs = self.neighbors[other]
            theirs.pop(a, None)
            theirs.pop(b, None)
            theirs[new] = distance
        return [(distance, other) for other, distance in joined.items()]


class _Centers:
    """Clusters whose distances are those of their centers, which edges join."""

    def __init__(self, X: np.ndarray, linkage: str, w: np.ndarray) -> None:
        n, d = X.shape
        self.linkage = linkage
        self.weights = np.append(w, np.zeros(n - 1))
        self.centers = np.vstack([X, np.zeros((n - 1, d))]).astype(np.float64)
        self.neighbors: dict[int, set[int]] = {i: set() for i in range(n)}

    def start(self, a: np.ndarray, b: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Take the edges, and say how far their clusters are apart."""
        for i, j in zip(a.tolist(), b.tolist()):
            self.neighbors[i].add(j)
            self.neighbors[j].add(i)
        if self.linkage != "ward":
            return lengths
        wa = self.weights[a]
        wb = self.weights[b]
        return np.sqrt(2.0 * wa * wb / (wa + wb)) * lengths

    def are_neighbors(self, a: int, b: int, distance: float) -> bool:
        """Whether both clusters are there."""
        return a in self.neighbors and b in self.neighbors

    def merge(self, a: int, b: int, new: int) -> list[tuple[float, int]]:
        """Put the cluster `new` in the place of two; the distances of its neighbors."""
        weights = self.weights
        weights[new] = weights[a] + weights[b]
        share = weights[a] / weights[new]
        if self.linkage == "median":
            share = 0.5
        center = share * self.centers[a] + (1.0 - share) * self.centers[b]
        self.centers[new] = center
        joined = (self.neighbors.pop(a) | self.neighbors.pop(b)) - {a, b}
        self.neighbors[new] = joined
        for other in joined:
            self.neighbors[other] -= {a, b}
            self.neighbors[other].add(new)
        others = sorted(joined)
        moved = self.centers[others] - center
        distances = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        if self.linkage == "ward":
            theirs = weights[others]
            distances *= np.sqrt(2.0 * weights[new] * theirs / (weights[new] + theirs))
        return list(zip(distances.tolist(), others))
