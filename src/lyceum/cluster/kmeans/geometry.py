"""The geometry of k-means: how its three metrics move centers and measure rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, Schema, Step, as_float, dense_cells
from lyceum._core.distances import nearest, nearest_center, pairwise, unit_rows
from lyceum.cluster.kmeans.sums import LloydSums
from lyceum.errors import SettingError, number_setting


@dataclass(frozen=True, slots=True)
class Geometry:
    """How a metric moves centers, measures rows, and scales the squared Euclidean inertia."""

    move: Callable[[np.ndarray, LloydSums], np.ndarray]
    labels: Callable[..., np.ndarray]  # (block, centers)
    distances: Callable[..., np.ndarray]  # (block, centers)
    scale: float
    steps: tuple[Step, ...] = ()  # what is done to rows first
    on_sphere: bool = False  # whether rows and centers have length 1


def weighted_squares(block: Block, centers: np.ndarray) -> np.ndarray:
    """The squared distance of every row to its nearest center, times its weight."""
    squares = nearest_center(block.X, centers)[1]
    if block.w is None:
        return squares
    return block.w * squares


def margins(
    block: Block,
    centers: np.ndarray,
    scale: float,
) -> np.ndarray:
    """The cluster, zero, and for every column scale [(x - c)^2 - (x - b)^2].

    b is the nearest center, c the second nearest.
    """
    X = np.asarray(block.dense, dtype=np.float64)
    order = nearest(X, min(2, len(centers)), among=centers).rows
    own = centers[order[:, 0]]
    other = centers[order[:, -1]]
    terms = scale * ((X - other) ** 2 - (X - own) ** 2)
    return np.column_stack([order[:, 0], np.zeros(len(X)), terms])


# -- Euclidean -------------------------------------------------------------------------


def _to_means(centers: np.ndarray, sums: LloydSums) -> np.ndarray:
    weights = sums.weights[:, None]
    return np.divide(sums.sums, weights, out=centers.copy(), where=weights > 0)


def _labels(block: Block, centers: np.ndarray) -> np.ndarray:
    return nearest_center(block.X, centers)[0]


def _distances(block: Block, centers: np.ndarray) -> np.ndarray:
    if not sparse.issparse(block.X):
        return pairwise(block.X, centers).astype(block.X.dtype, copy=False)
    # |x - c|² = |x|² - 2 x·c + |c|². The centers are dense: products visit only the stored cells
    # of the rows.
    X = block.X.astype(np.float64, copy=False)
    squares = np.asarray(X.multiply(X).sum(axis=1))
    squares = squares.reshape(-1, 1)
    norms = np.einsum("kj,kj->k", centers, centers)
    squared = squares - 2 * (X @ centers.T) + norms
    distances = np.sqrt(np.maximum(squared, 0.0))
    return distances.astype(block.X.dtype, copy=False)


# -- on the sphere ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnitRows:
    """Every row scaled to length 1; rows of zeros stay as they are, with weight zero."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        X, zero = unit_rows(block.X)
        if not zero.any():
            return replace(block, X=X)
        w = block.weights
        return replace(block, X=X, w=np.where(zero, 0.0, w))


@dataclass(frozen=True, slots=True)
class CenterRows:
    """Every row about its own mean, so that the cosine of two rows is their correlation."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if sparse.issparse(block.X):
            raise SettingError(
                "metric='correlation' takes the mean from every row, which fills all cells of"
                " sparse rows: give X.toarray(), or take metric='cosine'"
            )
        X = as_float(np.asarray(block.X))
        # in float64, so that an offset takes no digits of float32; what is left of a constant row
        # is rounding
        wide = X.astype(np.float64, copy=False)
        centered = wide - wide.mean(axis=1, keepdims=True)
        largest = np.abs(wide).max(axis=1, initial=0.0)
        is_flat = np.ptp(wide, axis=1) <= 8 * np.finfo(np.float64).eps * largest
        centered[is_flat] = 0.0
        return replace(block, X=centered.astype(X.dtype, copy=False))


def _to_directions(centers: np.ndarray, sums: LloydSums) -> np.ndarray:
    directions, zero = unit_rows(sums.sums)
    return np.where(zero[:, None], centers, directions)


def _sphere_labels(block: Block, centers: np.ndarray) -> np.ndarray:
    labels = nearest_center(block.X, centers)[0]
    # a row of zeros is as far from all centers; rounding must not decide
    if sparse.issparse(block.X):
        labels[np.diff(block.X.indptr) == 0] = 0
    else:
        labels[~block.X.any(axis=1)] = 0
    return labels


def _sphere_distances(block: Block, centers: np.ndarray) -> np.ndarray:
    if sparse.issparse(block.X):
        distances = np.maximum(1.0 - block.X @ centers.T, 0.0)
        return distances.astype(block.X.dtype, copy=False)
    centers = centers.astype(block.X.dtype, copy=False)
    return pairwise(block.X, centers, metric="cosine")


# between unit rows 1 - cosine is half of the squared Euclidean distance
_SPHERE = Geometry(
    move=_to_directions,
    labels=_sphere_labels,
    distances=_sphere_distances,
    scale=0.5,
    steps=(UnitRows(),),
    on_sphere=True,
)
GEOMETRIES = {
    "euclidean": Geometry(_to_means, _labels, _distances, 1.0),
    "cosine": _SPHERE,
    "correlation": replace(_SPHERE, steps=(CenterRows(), UnitRows())),
}


# -- given centers ---------------------------------------------------------------------


def checked_centers(
    centers: Any,
    shape: tuple[int, int],
    metric: str,
) -> np.ndarray:
    """Centers to start from, of this shape, finite, and of length 1 where the metric wants it."""
    starts = np.array(number_setting("init", dense_cells(centers)), order="C")
    if starts.ndim != 2 or len(starts) != shape[0]:
        raise SettingError(
            f"The shape of the initial centers {starts.shape} does not match the number of clusters"
            f" {shape[0]}."
        )
    if starts.shape[1] != shape[1]:
        raise SettingError(
            f"The shape of the initial centers {starts.shape} does not match the number of features"
            f" of the data {shape[1]}."
        )
    if not np.isfinite(starts).all():
        raise SettingError("the centers to start from hold NaN or infinity")
    if metric == "correlation":
        starts = starts - starts.mean(axis=1, keepdims=True)
    if GEOMETRIES[metric].on_sphere:
        return unit_rows(starts)[0]
    return starts
