"""How one cluster is divided into two: by two means, or by a splinter group."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import ArraySource, Rows, Schema
from lyceum.cluster.kmeans.geometry import GEOMETRIES
from lyceum.cluster.kmeans.loop import descend


def two_means(X: np.ndarray, w: np.ndarray, schema: Schema) -> np.ndarray | None:
    """The centers of the two halves by 2-means, started on both sides of the mean; None for equal
    rows.

    The start lies one standard deviation along the principal axis, so that chance plays no part.
    """
    mean = w @ X / w.sum()
    Z = (X - mean) * np.sqrt(w / w.sum())[:, None]
    variance, axis = _principal_axis(Z)
    if not variance > 1e-28 * max(1.0, float(np.abs(mean).max())) ** 2:
        return None
    step = np.sqrt(variance) * axis * np.sign(axis[np.argmax(np.abs(axis))])
    rows = Rows(ArraySource(np.ascontiguousarray(X), None, np.ascontiguousarray(w), schema))
    run = descend(rows, np.stack([mean - step, mean + step]), GEOMETRIES["euclidean"], 100, 1e-8)
    if (run.last.weights > 0).all():
        return run.centers
    return None


def _principal_axis(Z: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of ZᵀZ and its eigenvector, by the smaller of ZᵀZ and ZZᵀ.

    >>> _principal_axis(np.array([[3.0, 0.0, 4.0]]))              # ZZᵀ is 25
    (25.0, array([0.6, 0. , 0.8]))
    """
    n, d = Z.shape
    if d <= n:
        values, axes = np.linalg.eigh(Z.T @ Z)
        return float(values[-1]), axes[:, -1]
    values, axes = np.linalg.eigh(Z @ Z.T)
    axis = Z.T @ axes[:, -1]
    length = float(np.linalg.norm(axis))
    return float(values[-1]), axis / length if length else axis


def splinter(D: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Which rows leave a cluster with the distances D (Macnaughton-Smith and others 1964).

    The row with the largest mean distance to the others leaves first; then, one after another, the
    row that is on average nearer to those that left than to those that stay, by the largest
    difference.

    >>> splinter(np.abs(np.subtract.outer([0.0, 1.0, 7.0], [0.0, 1.0, 7.0])), np.ones(3)).tolist()
    [False, False, True]
    """
    n = len(D)
    left = np.zeros(n, dtype=bool)
    to_stay, to_left = D @ w, np.zeros(n)  # sums of distances
    stay_weight = float(w.sum())
    left_weight = 0.0
    while (~left).sum() > 1:
        others = np.maximum(stay_weight - w, 1e-300)
        gain = np.where(left, -np.inf, to_stay / others)
        if left_weight:
            gain = gain - to_left / left_weight
        row = int(np.argmax(gain))
        if left_weight and not gain[row] > 0:
            break
        left[row] = True
        to_stay = to_stay - w[row] * D[row]
        to_left = to_left + w[row] * D[row]
        stay_weight = stay_weight - w[row]
        left_weight = left_weight + w[row]
    return left
