"""Rules for the width of a kernel: closest rows of different classes, median distance, variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import row_weights
from lyceum._core.distances import nearest, pairwise
from lyceum._core.statistics import weighted_median
from lyceum._core.text import show_count
from lyceum.errors import DataError

_MOST_ROWS = 1000  # whose distances are taken for the median


def median_sigma(X: Any, random_state: int = 0, sample_weight: Any = None) -> float:
    """The median distance of two different rows, a width σ for `RBF`.

    Of more than 1,000 rows, 1,000 are drawn, in proportion to their weights. Rows at distance 0 are
    passed over.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    random_state : int, default=0
        The seed of the draw.
    sample_weight : array of shape (n,), optional
        How often every row counts.

    Returns
    -------
    float

    See Also
    --------
    closest_sigma : a width from the classes.

    Examples
    --------
    >>> from lyceum.kernels import median_sigma
    >>> median_sigma([[0.0], [1.0], [3.0]])
    2.0
    """
    if not sparse.issparse(X):
        X = np.asarray(X)
    n = X.shape[0]
    w: np.ndarray = np.asarray(row_weights(sample_weight, n), dtype=np.float64)
    if X.shape[0] > _MOST_ROWS:
        rng = np.random.default_rng(random_state)
        # with replacement where weights differ: a row of weight 2 is drawn like two rows
        is_weighted = bool(np.ptp(w))
        shares = w / w.sum() if is_weighted else None
        rows = rng.choice(X.shape[0], _MOST_ROWS, replace=is_weighted, p=shares)
        rows, w = np.unique(rows, return_counts=True)
        X = X[rows]
    distances = np.zeros(0)
    if X.shape[0] > 1:
        distances = pairwise(X, condensed=True)
    # a pair counts as often as its rows do together, in the order of the condensed distances
    i, j = np.triu_indices(X.shape[0], 1)
    weights = w[i] * w[j]
    apart = (distances > 0) & (weights > 0)
    distances = distances[apart]
    weights = weights[apart]
    if not len(distances):
        raise DataError(
            "all rows are the same, so no width follows from their distances: give sigma as a"
            " number"
        )
    return weighted_median(distances, weights)


def closest_sigma(X: Any, y: Any) -> float:
    """The distance between the closest rows of different classes, a width σ for `RBF`.

    Rows that lie exactly on one of another class are passed over.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    y : array of shape (n,)
        The classes.

    Returns
    -------
    float

    See Also
    --------
    median_sigma : a width without classes.

    Examples
    --------
    >>> from lyceum.kernels import closest_sigma
    >>> closest_sigma([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"])
    2.0
    """
    if not sparse.issparse(X):
        X = np.asarray(X)
    y = np.asarray(y)
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise DataError(
            f"y has the shape {y.shape} for {show_count(X.shape[0], 'row')} of X: give one class"
            " each"
        )
    classes = np.unique(y)
    if len(classes) < 2:
        raise DataError(
            "all rows are of one class, so there are no closest rows of two: give sigma as a number"
        )
    of_classes = []
    # of two classes the closest pair is found from either side
    for label in classes[1:] if len(classes) == 2 else classes:
        neighbors = nearest(X[y == label], 1, among=X[y != label])
        distances = neighbors.distances[:, 0]
        of_classes.append(distances[distances > 0])
    distances = np.concatenate(of_classes)
    if not len(distances):
        raise DataError(
            "every row lies on one of another class: give sigma as a number"
        )
    return float(distances.min())


def scale_gamma(X: Any, rule: str, w: Any = None) -> float:
    """1 / (d · variance of all cells) for "scale", 1 / d for "auto", as in scikit-learn; rows of
    weight w."""
    d = X.shape[1]
    if rule == "auto":
        return 1.0 / d
    w = np.asarray(row_weights(w, X.shape[0]), dtype=np.float64)
    weight = w.sum() * d
    ones = np.ones(d)
    mean = float(w @ (X @ ones)) / weight
    # about the mean where cells are dense; sparse ones stay sparse, and are near zero anyway
    if sparse.issparse(X):
        squares = X.multiply(X)
        variance = float(w @ (squares @ ones)) / weight - mean**2
    else:
        squares = np.square(X - mean, dtype=np.float64)
        variance = float(w @ (squares @ ones)) / weight
    if variance > 0:
        return 1.0 / (d * variance)
    return 1.0
