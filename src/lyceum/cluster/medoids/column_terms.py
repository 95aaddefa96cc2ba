"""What every column adds to a distance, for metrics that are sums over columns."""

from __future__ import annotations

import numpy as np

from lyceum._core.distances import Gower, Metric, unit_rows
from lyceum.errors import SettingError

_ADDITIVE = frozenset({"cosine", "euclidean", "gower", "hamming", "manhattan", "squared_euclidean"})


def is_additive(name: str) -> bool:
    """Whether distances under the metric of this name, or their squares, are sums over columns."""
    return name in _ADDITIVE


def terms_unit(metric: Metric) -> str:
    """The name of the distance whose differences the terms add up to."""
    squared = metric.name in ("euclidean", "mahalanobis")
    if squared:
        what = "squared distance"
    else:
        what = "distance"
    return f"{what} to the next medoid minus that to its own"


def column_terms(metric: Metric, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The terms of row i of X and row i of Y, (n, d): their sum is the distance, or its square if
    Euclidean.

    >>> from lyceum.distances import Manhattan
    >>> column_terms(Manhattan(), np.array([[0.0, 1.0]]), np.array([[2.0, 0.5]])).tolist()
    [[2.0, 0.5]]
    """
    if isinstance(metric, Gower):
        return _gower_terms(metric, X, Y)
    if metric.name in ("euclidean", "squared_euclidean"):
        return (X - Y) ** 2
    if metric.name == "manhattan":
        return np.abs(X - Y)
    if metric.name == "hamming":
        return (X != Y) / X.shape[1]
    if metric.name == "cosine":
        U, zero = unit_rows(X)
        V, other = unit_rows(Y)
        # a row of zeros is at distance 1 from all others, of which a half is for its having no
        # direction
        return (U - V) ** 2 / np.where(zero != other, 1.0, 2.0)[:, None]
    raise SettingError(
        f"distances of the metric {metric.name!r} are no sums over columns: explain takes"
        " Euclidean, Manhattan, Hamming, cosine and Gower's distances"
    )


def _gower_terms(metric: Gower, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    space = metric.space
    A = metric.points(X)
    B = metric.points(Y)
    assert space.weight is not None
    assert space.matched is not None
    known = ~(np.isnan(A) | np.isnan(B))
    apart = np.where(space.matched.astype(bool), A != B, np.minimum(np.abs(A - B), 1.0))
    share = space.weight * known
    total = share.sum(axis=1, keepdims=True)
    terms = np.divide(
        share * np.where(known, apart, 0.0), total, out=np.zeros_like(A), where=total > 0
    )
    # rows that share no known cell are at distance 1, whichever column it is laid to
    return np.where(total > 0, terms, 1.0 / A.shape[1])
