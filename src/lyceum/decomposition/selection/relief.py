"""Relief: columns by how they differ between near rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lyceum._core.data import Block, Schema
from lyceum._core.distances import Gower, pairwise

_PAIRS = 1 << 21  # distances held at once


def relief(
    block: Block,
    n_classes: int,
    n_neighbors: int,
    n_rows: int,
    random: np.random.RandomState,
) -> np.ndarray:
    """ReliefF for classes, RReliefF for numbers (Robnik-Šikonja and Kononenko 2003).

    Columns that differ between near rows of different classes gain, those that differ between near
    rows of one class lose. Differences are shares of the range for numbers, 0 or 1 for categories,
    and ½ where a cell is missing; rows are near by the sum of these, and equally near ones are
    taken in their order. No row of the block has weight 0; `n_classes` is 0 for numbers.
    """
    X = np.asarray(block.dense, np.float64)
    y = np.asarray(block.y, np.float64)
    w = block.weights
    size = min(n_rows, len(X))
    chances = w / w.sum()
    drawn = random.choice(len(X), size, replace=False, p=chances)
    chosen = np.sort(drawn)
    cells = _Cells(X, block.schema)
    if n_classes:
        return _of_classes(cells, y.astype(np.int64), w, chosen, n_neighbors, n_classes)
    return _of_numbers(cells, y, w, chosen, n_neighbors)


def _of_classes(
    cells: _Cells,
    y: np.ndarray,
    w: np.ndarray,
    chosen: np.ndarray,
    n_neighbors: int,
    n_classes: int,
) -> np.ndarray:
    # Σ over rows of -diff(nearest hits) + Σ_k P(k) / (1 - P(own class)) diff(nearest misses of k)
    prior = np.bincount(y, w, n_classes) / w.sum()
    gains = np.zeros(cells.X.shape[1])
    for rows, D in cells.distances(chosen):
        other_share = np.maximum(1.0 - prior[y[rows]], 1e-300)
        for k in range(n_classes):
            members = np.flatnonzero(y == k)
            if not len(members):
                continue
            query, index = _nearest(D[:, members], n_neighbors)
            neighbors = members[index]
            gain = np.where(y[rows] == k, -1.0, prior[k] / other_share)
            share = _neighbor_shares(query, w[neighbors], len(rows))
            differences = cells.differences(rows[query], neighbors)
            gains += (share * gain[query]) @ differences
    return gains / max(len(chosen), 1)


def _neighbor_shares(
    query: np.ndarray,
    w: np.ndarray,
    n_rows: int,
) -> np.ndarray:
    """The weight of every neighbor over that of all neighbors of the same row."""
    return w / np.bincount(query, w, n_rows)[query]


def _of_numbers(
    cells: _Cells,
    y: np.ndarray,
    w: np.ndarray,
    chosen: np.ndarray,
    n_neighbors: int,
) -> np.ndarray:
    """P(different x, different y) / P(different y) - P(different x, like y) / P(like y)."""
    d = cells.X.shape[1]
    m = max(len(chosen), 1)
    # sums over pairs of near rows: of the difference of y, of that of every column, and of both
    of_y = 0.0
    of_x = np.zeros(d)
    of_both = np.zeros(d)
    span = float(np.ptp(y)) or 1.0
    for rows, D in cells.distances(chosen):
        query, neighbors = _nearest(D, n_neighbors)
        share = _neighbor_shares(query, w[neighbors], len(rows))
        apart = cells.differences(rows[query], neighbors)
        unlike = np.abs(y[neighbors] - y[rows[query]]) / span
        of_y += float(share @ unlike)
        of_x += share @ apart
        of_both += (share * unlike) @ apart
    if of_y > 0:
        given_unlike = of_both / of_y
    else:
        given_unlike = np.zeros(d)
    if m > of_y:
        given_like = (of_x - of_both) / (m - of_y)
    else:
        given_like = np.zeros(d)
    return given_unlike - given_like


class _Cells:
    """Cells as they are compared: numbers as shares of their range, categories as codes."""

    def __init__(self, X: np.ndarray, schema: Schema):
        categorical = np.array([column.is_categorical for column in schema])
        known = ~np.isnan(X)
        low = np.where(known, X, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, X, -np.inf).max(axis=0, initial=-np.inf)
        self.metric = Gower(schema=Schema(schema.columns), low=low, high=high)
        self.X = self.metric.points(X)
        self.known = known.astype(np.float64)
        self.categorical = categorical
        self._rows = X

    def distances(self, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
        """Some of the chosen rows, and the sums of their differences to all rows; infinite to
        themselves."""
        n, d = self.X.shape
        step = max(1, _PAIRS // max(1, n))
        for begin in range(0, len(chosen), step):
            rows = chosen[begin : begin + step]
            # Gower's distance is the mean over the columns known in both rows; the sum of
            # differences is that times their number, and ½ for each of the others
            shared = self.known[rows] @ self.known.T
            mean = pairwise(self._rows[rows], self._rows, metric=self.metric)
            sums = np.where(shared > 0, mean, 0.0) * shared
            D = sums + 0.5 * (d - shared)
            D = D.round(12)  # sums that are equal up to rounding are ties
            D[np.arange(len(rows)), rows] = np.inf
            yield rows, D

    def differences(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The differences of pairs of rows in every column, (n_pairs, d)."""
        A = self.X[a]
        B = self.X[b]
        apart = np.where(self.categorical, A != B, np.abs(A - B))
        return np.where(np.isnan(A) | np.isnan(B), 0.5, apart)


def _nearest(D: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (i, j) of the k least finite D[i, j] of every row i, of equal ones the first."""
    # all below the k-th least value, and of those equal to it the first that fill up k
    k = min(k, D.shape[1])
    limit = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    below = limit > D
    is_tie = limit == D
    room = k - below.sum(axis=1, keepdims=True)
    first_ties = is_tie & (np.cumsum(is_tie, axis=1) <= room)
    query, index = np.nonzero((below | first_ties) & np.isfinite(D))
    return query, index
