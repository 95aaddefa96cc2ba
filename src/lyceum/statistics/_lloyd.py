"""One pass of k-means: sums of the rows nearest to every centre, and the rows farthest from theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._native import native
from lyceum.data import Block

__all__ = ["FarthestRows", "LloydSums", "nearest"]


@dataclass(frozen=True, slots=True)
class LloydSums:
    """For every centre the weight and the sum of its rows; over all of them the weighted squared distances.

    A row belongs to its nearest centre, the first of a tie.

    >>> from lyceum.data import scan
    >>> import numpy as np
    >>> rows = scan(np.array([[0.0], [1.0], [9.0]]))
    >>> pass_ = rows.reduce(lambda block: LloydSums.of(block, centers=np.array([[0.0], [10.0]])))
    >>> pass_.weights.tolist(), pass_.sums.ravel().tolist(), pass_.inertia
    ([2.0, 1.0], [1.0, 9.0], 2.0)
    """

    n_rows: int
    sums: np.ndarray  # (k, d)
    weights: np.ndarray  # (k,)
    inertia: float  # sum of w |x - nearest centre|^2

    @classmethod
    def of(cls, block: Block, centers: np.ndarray) -> LloydSums:
        if sparse.issparse(block.X):
            return cls._of_sparse(block, centers)
        sums, weights = np.zeros(centers.shape), np.zeros(len(centers))
        inertia = native.lloyd(block.X, centers.astype(block.X.dtype, copy=False), block.w, sums, weights)
        return cls(len(block), sums, weights, inertia)

    @classmethod
    def _of_sparse(cls, block: Block, centers: np.ndarray) -> LloydSums:
        labels, distances = nearest(block.X, centers)
        w = block.weights
        member = sparse.csr_array((w, (labels, np.arange(len(w)))), shape=(len(centers), len(w)))
        sums = (member @ block.X.astype(np.float64)).toarray()
        return cls(len(block), sums, np.bincount(labels, w, len(centers)), float(w @ distances))

    def merge(self, other: LloydSums) -> LloydSums:
        return LloydSums(
            self.n_rows + other.n_rows,
            self.sums + other.sums,
            self.weights + other.weights,
            self.inertia + other.inertia,
        )

    def moved(self, farthest: FarthestRows, empty: np.ndarray) -> LloydSums:
        """Each of the `empty` clusters takes one of the farthest rows from the cluster that it is in."""
        sums, weights = self.sums.copy(), self.weights.copy()
        for k, x, w, label in zip(empty, farthest.X, farthest.weights, farthest.labels):
            sums[label] -= w * x
            weights[label] -= w
            sums[k], weights[k] = w * x, w
        return replace(self, sums=sums, weights=weights)


@dataclass(frozen=True, slots=True)
class FarthestRows:
    """The `size` distinct rows farthest from their nearest centres, with the weight of all rows like them.

    Rows on a centre and rows of weight zero do not count. Equal distances are ordered by the cells.

    >>> from lyceum.data import scan
    >>> import numpy as np
    >>> rows = scan(np.array([[0.0], [5.0], [3.0], [5.0]]))
    >>> far = rows.reduce(lambda block: FarthestRows.of(block, centers=np.zeros((1, 1)), size=2))
    >>> far.X.ravel().tolist(), far.distances.tolist(), far.weights.tolist()
    ([5.0, 3.0], [25.0, 9.0], [2.0, 1.0])
    """

    size: int
    X: np.ndarray  # (m, d) float64
    distances: np.ndarray  # (m,) squared, descending
    weights: np.ndarray  # (m,)
    labels: np.ndarray  # (m,) the nearest centre

    @classmethod
    def of(cls, block: Block, centers: np.ndarray, size: int) -> FarthestRows:
        labels, distances = nearest(block.X, centers)
        w = block.weights
        there = np.flatnonzero((w > 0) & (distances > 0))
        # Rows equal to one that is kept have its distance: cut at the distance of the size-th distinct one.
        apart = np.unique(distances[there])
        if len(apart) > size:
            there = there[distances[there] >= apart[-size]]
        X = block.X[there]
        cells = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        return cls(size, *_first_distinct(size, cells, distances[there], w[there], labels[there]))

    def merge(self, other: FarthestRows) -> FarthestRows:
        both = (np.concatenate(pair) for pair in zip(self._values(), other._values()))
        return FarthestRows(self.size, *_first_distinct(self.size, *both))

    def _values(self) -> tuple[np.ndarray, ...]:
        return self.X, self.distances, self.weights, self.labels

    def __len__(self) -> int:
        return len(self.distances)


def nearest(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest centre (int32) of every row and the squared distance to it."""
    if sparse.issparse(X):
        return _nearest_sparse(X, centers)
    labels, distances = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0])
    sums, weights = np.zeros(centers.shape), np.zeros(len(centers))
    native.lloyd(X, centers.astype(X.dtype, copy=False), None, sums, weights, labels, distances)
    return labels, distances


def _nearest_sparse(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Cells that are not stored are zero, so the origin is a fair point to measure from.
    X = X.astype(np.float64)
    norms = np.einsum("kj,kj->k", centers, centers)
    scores = X @ centers.T - norms / 2
    labels = scores.argmax(axis=1).astype(np.int32)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    best = np.take_along_axis(scores, labels[:, None].astype(np.intp), axis=1)[:, 0]
    return labels, np.maximum(squares - 2 * best, 0.0)


def _first_distinct(
    size: int, X: np.ndarray, distances: np.ndarray, weights: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, ...]:
    order = np.lexsort((*X.T[::-1], -distances))
    X, distances, weights, labels = X[order], distances[order], weights[order], labels[order]
    if not len(X):
        return X, distances, weights, labels
    first = np.flatnonzero(np.append(True, (X[1:] != X[:-1]).any(axis=1)))
    weights = np.add.reduceat(weights, first)
    first = first[:size]
    return X[first], distances[first], weights[:size], labels[first]
