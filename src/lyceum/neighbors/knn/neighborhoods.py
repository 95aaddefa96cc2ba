"""The neighbors that vote, with how much of the weight of each row counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.distances import NeighborIndex
from lyceum._core.types import Data

_CELLS = 1 << 22


@dataclass(frozen=True)
class Neighborhood:
    """Neighbors of some queries, the nearest first; where there are fewer, distances are infinite.

    `counts` says how often each row counts, None for once each.
    """

    distances: np.ndarray  # (n, k)
    rows: np.ndarray  # (n, k)
    counts: np.ndarray | None = None


def nearest_by_weight(
    index: NeighborIndex,
    X: Data,
    k: int,
    weights: np.ndarray | None,
    own: np.ndarray | None = None,
) -> Neighborhood:
    """The nearest rows whose weights sum to k, the last one counted in part; all rows if they are
    too few.

    `weights` is None for rows that count once each. X is None for every row among the others; or
    `own` is the stored row that every query leaves out.
    """
    n = len(index) - (X is None)
    if weights is None and own is None:
        neighbors = index.nearest(X, min(k, n))
        return Neighborhood(neighbors.distances, neighbors.rows)
    # how many neighbors have the weight k is not known before: twice as many until it is enough
    n_near = min(k + (own is not None), n)
    while True:
        neighbors = index.nearest(X, n_near)
        if weights is None:
            held = np.ones(neighbors.rows.shape)
        else:
            held = weights[neighbors.rows]
        if own is not None:
            held = np.where(neighbors.rows == own[:, None], 0.0, held)
        within = np.cumsum(held, axis=1)
        if n_near == n or (within[:, -1] >= k).all():
            break
        n_near = min(n, 2 * n_near)
    # a row counts as far as the nearer ones leave room in k
    counts = np.clip(k - (within - held), 0.0, held)
    used_columns = np.flatnonzero((counts > 0).any(axis=0))
    n_used = int(used_columns.max(initial=0)) + 1
    return Neighborhood(
        distances=neighbors.distances[:, :n_used],
        rows=neighbors.rows[:, :n_used],
        counts=counts[:, :n_used],
    )


def nearest_with_ties(
    index: NeighborIndex, X: Any, k: int, weights: np.ndarray | None
) -> Neighborhood:
    """The nearest rows whose weights sum to k, and all others at the distance of the last one."""
    n = len(index)
    n_near = min(n, k + 1)
    while True:
        neighbors = index.nearest(X, n_near)
        held = np.ones(neighbors.rows.shape)
        if weights is not None:
            held = weights[neighbors.rows]
        is_reached = np.cumsum(held, axis=1) >= k
        # the first row with which the weight is reached, the last where it never is
        last = np.where(is_reached[:, -1], is_reached.argmax(axis=1), n_near - 1)
        radius = neighbors.distances[np.arange(len(last)), last][:, None]
        is_farther = neighbors.distances[:, -1:] > radius
        if n_near == n or (is_reached[:, -1:] & is_farther).all():
            break
        n_near = min(n, 2 * n_near)
    counts = np.where(neighbors.distances <= radius, held, 0.0)
    return Neighborhood(neighbors.distances, neighbors.rows, counts)


def within(
    index: NeighborIndex, X: Any, radius: float, weights: np.ndarray | None
) -> Neighborhood:
    """All rows within a radius, or the nearest row where there is none; X is None for every row
    among the others."""
    neighbors = index.within(X, radius)
    n_within = neighbors.counts
    n = len(n_within)
    # lists of different lengths as a table, filled up with rows at infinite distance
    width = max(1, int(n_within.max(initial=1)))
    distances = np.full((n, width), np.inf)
    rows = np.zeros((n, width), dtype=np.int64)
    exists = np.arange(width) < n_within[:, None]
    distances[exists] = neighbors.distances
    rows[exists] = neighbors.rows
    # a query without a row in reach takes the nearest one
    alone = np.flatnonzero(n_within == 0)
    if len(alone):
        if X is None:
            nearest = index.nearest(None, 1)
            nearest_rows = nearest.rows[alone, 0]
            least = nearest.distances[alone, 0]
        else:
            nearest = index.nearest(X[alone], 1)
            nearest_rows = nearest.rows[:, 0]
            least = nearest.distances[:, 0]
        distances[alone, 0] = least
        rows[alone, 0] = nearest_rows
    return Neighborhood(distances, rows, None if weights is None else weights[rows])


def slices(n: int, width: int) -> Iterator[slice]:
    """Stretches of n rows that each keep `width` numbers per row within memory."""
    step = max(1, _CELLS // max(1, width))
    return (slice(start, min(n, start + step)) for start in range(0, n, step))
