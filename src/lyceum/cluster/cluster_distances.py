"""Distances of rows to clusters of stored rows, and sums of distances, in blocks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise as pairs
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, dense_cells
from lyceum._core.distances import (
    Metric,
    finite_distances,
    nearest,
    pairwise,
    pairwise_blocks,
)
from lyceum._core.native import native
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.types import Estimator


def distance_sums(
    X: Any,
    Y: Any,
    w: np.ndarray,
    starts: np.ndarray,
    metric: Metric,
) -> np.ndarray:
    """The weighted sums of the distances of every row of X to the rows of every cluster of Y, (n,
    k).

    The rows of Y are in order of their clusters, which start at `starts`. Nothing of the size of
    all pairs is held, for dense rows: distances are added up as they are computed.

    >>> from lyceum.distances import Manhattan
    >>> Y = np.array([[0.0], [1.0], [5.0]])
    >>> distance_sums(Y, Y, np.ones(3), np.array([0, 2, 3]), Manhattan()).tolist()
    [[1.0, 5.0], [1.0, 4.0], [9.0, 0.0]]
    """
    scale, rooted = _linear_form(metric, Y.shape[1])
    out = np.empty((X.shape[0], len(starts) - 1))
    if sparse.issparse(X) or sparse.issparse(Y) or scale is None:
        # sums over clusters as a product: member[c, j] is the weight of row j if it is in c
        cells = (w, (clusters_in_order(starts), np.arange(len(w))))
        member = sparse.csr_array(cells, shape=(len(starts) - 1, len(w)))
        for rows, D in pairwise_blocks(X, Y, metric=metric):
            out[rows] = (member @ finite_distances(D, metric).T).T
        return out
    A, B = (
        np.ascontiguousarray(metric.points(np.ascontiguousarray(Z)), dtype=np.float64)
        for Z in (X, Y)
    )
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    # at least one part per thread, and none of more than 4,800 rows
    rows_per_thread = -(-len(A) // n_threads())
    step = max(1, min(4800, rows_per_thread))

    def work(begin: int) -> None:
        rows = slice(begin, begin + step)
        native.cluster_sums(
            *metric.space, A[rows], B, w, starts, rooted, scale, out[rows]
        )

    for _ in ordered_map(work, range(0, len(A), step)):
        pass
    return out


def _linear_form(metric: Metric, n_columns: int) -> tuple[float | None, bool]:
    """The scale for which distances are scale * raw, or scale * sqrt(raw); None if they are
    neither."""
    # infinite where no cell is shared, or not native
    if metric.name in ("gower", "function"):
        return None, False
    # raw values 1 and 4 tell the two forms apart: 4 times as large, or twice
    n_points = metric.points(np.zeros((1, n_columns))).shape[1]
    of_one, of_four = metric.distances(np.array([1.0, 4.0]), n_points)
    if np.isclose(of_four, 4 * of_one):
        return float(of_one), False
    if np.isclose(of_four, 2 * of_one):
        return float(of_one), True
    return None, False


def distances_to_clusters(
    X: Any,
    model: Estimator,
    linkage: str,
    D: np.ndarray | None = None,
) -> np.ndarray:
    """The distance of every row to every cluster of stored rows, in the sense of the linkage."""
    starts = model.starts_
    metric = model.metric_
    if D is None and linkage in ("centroid", "ward") and metric.name == "euclidean":
        means: Any = cluster_means(model)
        if sparse.issparse(X):
            means = sparse.csr_array(means)
        return pairwise(X, means)
    # rows are stored cluster by cluster, so that `reduceat` at the first ones goes over each
    firsts = starts[:-1]
    if D is not None and linkage in ("single", "complete"):
        extreme = np.minimum if linkage == "single" else np.maximum
        return extreme.reduceat(D, firsts, axis=1)
    if linkage == "single":
        columns = []
        for begin, end in pairs(starts):
            neighbors = nearest(X, 1, among=model.rows_[begin:end], metric=metric)
            columns.append(neighbors.distances[:, 0])
        return finite_distances(np.column_stack(columns), metric)
    if linkage == "complete":
        out = np.empty((X.shape[0], len(firsts)))
        for rows, block in pairwise_blocks(X, model.rows_, metric=metric):
            distances = finite_distances(block, metric)
            out[rows] = np.maximum.reduceat(distances, firsts, axis=1)
        return out
    # all others by the mean distance to the rows of a cluster
    if D is not None:
        sums = np.add.reduceat(D * model.weights_, firsts, axis=1)
    else:
        sums = distance_sums(X, model.rows_, model.weights_, starts, metric)
    return sums / model.counts_


def clusters_in_order(starts: np.ndarray) -> np.ndarray:
    """The cluster of every row that is stored cluster by cluster, from where each begins.

    >>> clusters_in_order(np.array([0, 2, 3])).tolist()
    [0, 0, 1]
    """
    clusters = np.arange(len(starts) - 1)
    return np.repeat(clusters, np.diff(starts))


def cluster_means(model: Estimator) -> np.ndarray:
    """The means of the clusters of stored rows, (k, d)."""
    weighted = dense_cells(model.rows_) * model.weights_[:, None]
    sums = np.add.reduceat(weighted, model.starts_[:-1], axis=0)
    return sums / model.counts_[:, None]


def labels_in_order(
    order: np.ndarray,
    starts: np.ndarray,
    block: Block,
    weighted: np.ndarray,
    nearest_cluster: Callable[[Block], np.ndarray],
) -> np.ndarray:
    """The cluster of every row of a block; rows that were not clustered get the nearest one.

    The rows with the numbers `weighted` were clustered: in the order `order` clusters begin at
    `starts`.
    """
    labels = np.empty(len(block), dtype=np.int64)
    labels[weighted[order]] = clusters_in_order(starts)
    if len(weighted) < len(block):
        rest = np.setdiff1d(np.arange(len(block)), weighted)
        labels[rest] = nearest_cluster(block.take(rest))
    return labels
