"""Lloyd's loop over rows, and the geometry of its two metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lyceum.cluster._lloyd_sums import FarthestRows, LloydSums
from lyceum.data import Block, Rows, Schema
from lyceum.distances import nearest_center, pairwise, unit_rows

__all__ = ["COSINE", "EUCLIDEAN", "Geometry", "Run", "UnitRows", "descend", "fill_empty"]


@dataclass(frozen=True, slots=True)
class Geometry:
    """How a metric moves centres, measures rows, and scales the squared Euclidean inertia."""

    move: Callable[[np.ndarray, LloydSums], np.ndarray]
    labels: Callable[..., np.ndarray]  # (block, centers)
    distances: Callable[..., np.ndarray]  # (block, centers)
    scale: float


@dataclass(frozen=True, slots=True)
class Run:
    """Where one descent ended and how it went."""

    centers: np.ndarray
    last: LloydSums  # the pass at `centers`
    n_iter: int
    history: list[float]
    record: list[np.ndarray]


def descend(rows: Rows, centers: np.ndarray, geometry: Geometry, max_iter: int, tol: float) -> Run:
    """Move the centres until nothing changes, they move by at most `tol` mean variances of a column, or
    `max_iter` passes are done.
    """
    history, record, before, limit = [], [centers], None, 0.0
    for n_iter in range(1, max_iter + 1):
        sums = rows.reduce(partial(LloydSums.of, centers=centers))
        limit = tol * _mean_variance(sums, centers) if n_iter == 1 else limit
        sums = fill_empty(rows, centers, sums)
        history.append(sums.inertia)
        # Equal sums of equal blocks: no row has changed its centre, and the last move was none.
        if before is not None and _equal(sums, before):
            return Run(centers, sums, n_iter, history, record)
        moved = geometry.move(centers, sums)
        shift = float(((moved - centers) ** 2).sum())
        centers, before = moved, sums
        record.append(centers)
        if shift <= limit:
            break
    last = rows.reduce(partial(LloydSums.of, centers=centers))
    return Run(centers, last, n_iter, [*history, last.inertia], record)


def _mean_variance(sums: LloydSums, centers: np.ndarray) -> float:
    """The mean variance of the columns, from the scatter about the centres moved to the mean m of all rows:

    sum w |x - m|^2 = sum_k sum w |x - c_k|^2 + [2 (s_k - W_k c_k) + W_k (c_k - m)] . (c_k - m).
    """
    weights, total = sums.weights[:, None], sums.weights.sum()
    if not total:
        return 0.0
    from_mean = centers - sums.sums.sum(axis=0) / total
    between = (2 * (sums.sums - weights * centers) + weights * from_mean) * from_mean
    return max(0.0, (sums.inertia + float(between.sum())) / (total * centers.shape[1]))


def _equal(one: LloydSums, two: LloydSums) -> bool:
    return np.array_equal(one.sums, two.sums) and np.array_equal(one.weights, two.weights)


def fill_empty(
    rows: Rows, centers: np.ndarray, sums: LloydSums, empty: np.ndarray | None = None
) -> LloydSums:
    """Clusters without rows take the rows farthest from their centres, one each, while there are some."""
    places = np.flatnonzero(sums.weights == 0 if empty is None else empty)
    if not len(places):
        return sums
    farthest = rows.reduce(partial(FarthestRows.of, centers=centers, size=len(places)))
    return sums.with_rows_moved(farthest, places)


# -- Euclidean ----------------------------------------------------------------------------------------------


def _to_means(centers: np.ndarray, sums: LloydSums) -> np.ndarray:
    weights = sums.weights[:, None]
    return np.divide(sums.sums, weights, out=centers.copy(), where=weights > 0)


def _labels(block: Block, centers: np.ndarray) -> np.ndarray:
    return nearest_center(block.X, centers)[0]


def _distances(block: Block, centers: np.ndarray) -> np.ndarray:
    if not sparse.issparse(block.X):
        return pairwise(block.X, centers.astype(block.X.dtype, copy=False))
    # The centres are dense: products visit only the stored cells of the rows.
    squares = np.asarray(block.X.multiply(block.X).sum(axis=1)).reshape(-1, 1)
    norms = np.einsum("kj,kj->k", centers, centers)
    return np.sqrt(np.maximum(squares - 2 * (block.X @ centers.T) + norms, 0.0)).astype(
        block.X.dtype, copy=False
    )


EUCLIDEAN = Geometry(_to_means, _labels, _distances, 1.0)


# -- on the sphere ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Every row scaled to length 1; rows of zeros stay, with weight zero."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        X, zero = unit_rows(block.X)
        if not zero.any():
            return replace(block, X=X)
        w = block.weights
        return replace(block, X=X, w=np.where(zero, 0.0, w))


def _to_directions(centers: np.ndarray, sums: LloydSums) -> np.ndarray:
    directions, zero = unit_rows(sums.sums)
    return np.where(zero[:, None], centers, directions)


def _sphere_labels(block: Block, centers: np.ndarray) -> np.ndarray:
    labels = nearest_center(block.X, centers)[0]
    labels[_zero_rows(block.X)] = 0
    return labels


def _sphere_distances(block: Block, centers: np.ndarray) -> np.ndarray:
    if sparse.issparse(block.X):
        return np.maximum(1.0 - block.X @ centers.T, 0.0).astype(block.X.dtype, copy=False)
    return pairwise(block.X, centers.astype(block.X.dtype, copy=False), metric="cosine")


def _zero_rows(X: Any) -> np.ndarray:
    return np.diff(X.indptr) == 0 if sparse.issparse(X) else ~X.any(axis=1)


COSINE = Geometry(_to_directions, _sphere_labels, _sphere_distances, 0.5)
