"""What stands for some rows: their clusters, medians and geometric medians."""

from __future__ import annotations

import numpy as np

from lyceum.cluster import KMeans


def groups(X: np.ndarray, w: np.ndarray, k: int, seed: int) -> np.ndarray:
    """The cluster of every row, at most k of them."""
    if k > 1:
        k = min(k, len(np.unique(X, axis=0)))
    if k == 1:
        return np.zeros(len(X), dtype=np.int64)
    return KMeans(k, random_state=seed).fit(X, sample_weight=w).labels_


def median(x: np.ndarray, w: np.ndarray) -> float:
    """Where half of the weight is below; the middle of the two where exactly half is."""
    order = np.argsort(x, kind="stable")
    within = np.cumsum(w[order])
    half = within[-1] / 2
    i = int(np.searchsorted(within, half * (1 - 1e-12)))
    median = x[order[i]]
    is_half = abs(within[i] - half) <= 1e-9 * half
    if is_half and i + 1 < len(x):
        median = (median + x[order[i + 1]]) / 2
    return float(median)


def geometric_median(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The point of the least weighted sum of distances: Weiszfeld's steps, Vardi and Zhang's at a
    row."""
    point = np.average(X, axis=0, weights=w)
    for _ in range(1000):
        d = np.sqrt(((X - point) ** 2).sum(axis=1))
        is_far = d > 1e-12 * (d.max() or 1.0)
        if not is_far.any():
            break
        # Weiszfeld: the mean with weights w / d. Rows at the point itself hold it by their weight,
        # against the force Σ w (x - point) / d of the others.
        pull = w[is_far] / d[is_far]
        target = np.average(X[is_far], axis=0, weights=pull)
        pulls = pull[:, None] * (X[is_far] - point)
        force = np.linalg.norm(pulls.sum(axis=0))
        stay = 1.0
        if force > 0:
            stay = min(1.0, w[~is_far].sum() / force)
        new_point = (1 - stay) * target + stay * point
        if np.abs(new_point - point).max() <= 1e-10 * d.max():
            return new_point
        point = new_point
    return point
