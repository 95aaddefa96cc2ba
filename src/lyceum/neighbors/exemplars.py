"""The row that stands for some rows: their mean, median or geometric median."""

from __future__ import annotations

import numpy as np


def exemplar(X: np.ndarray, w: np.ndarray, kind: str) -> np.ndarray:
    """The mean, the median of every column, or the geometric median of weighted rows."""
    if kind == "mean":
        return np.average(X, axis=0, weights=w)
    if kind == "median":
        return np.array([_median(column, w) for column in X.T])
    return _geometric_median(X, w)


def _median(x: np.ndarray, w: np.ndarray) -> float:
    """Where half of the weight is below; the middle of the two where exactly half is."""
    order = np.argsort(x, kind="stable")
    within = np.cumsum(w[order])
    half = within[-1] / 2
    at = int(np.searchsorted(within, half * (1 - 1e-12)))
    exact = abs(within[at] - half) <= 1e-9 * half and at + 1 < len(x)
    return float((x[order[at]] + x[order[at + 1]]) / 2 if exact else x[order[at]])


def _geometric_median(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The point of the least weighted sum of distances: Weiszfeld's steps, Vardi and Zhang's at a
    row."""
    at = np.average(X, axis=0, weights=w)
    for _ in range(1000):
        d = np.sqrt(((X - at) ** 2).sum(axis=1))
        far = d > 1e-12 * (d.max() or 1.0)
        if not far.any():
            break
        pull = w[far] / d[far]
        target = np.average(X[far], axis=0, weights=pull)
        force = np.linalg.norm((pull[:, None] * (X[far] - at)).sum(axis=0))
        if force > 0:
            stay = min(1.0, w[~far].sum() / force)
        else:
            stay = 1.0
        there = (1 - stay) * target + stay * at
        if np.abs(there - at).max() <= 1e-10 * d.max():
            return there
        at = there
    return at
