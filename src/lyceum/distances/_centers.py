"""The nearest of a few centres, in one read of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._native import native

__all__ = ["nearest_center"]


def nearest_center(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest centre of every row, the first of equally near ones, and the squared distance to it.

    Centres are compared by products in the precision of X, about the mean of the centres; the distance to
    the one found is then taken from differences, in double precision (for sparse rows from products too).
    It is faster than `nearest`, which compares exactly.

    Parameters
    ----------
    X : array or CSR array of shape (n, d)
        float32 or float64.
    centers : array of shape (k, d)

    Returns
    -------
    labels : array of int32 of shape (n,)
    squares : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.distances import nearest_center
    >>> labels, squares = nearest_center(np.array([[1.0], [9.0]]), np.array([[0.0], [10.0]]))
    >>> labels.tolist(), squares.tolist()
    ([0, 1], [1.0, 1.0])

    See Also
    --------
    nearest : the k nearest rows, exactly, in any metric.
    """
    if sparse.issparse(X):
        return _nearest_sparse(X, centers)
    labels, squares = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0])
    sums, weights = np.zeros(centers.shape), np.zeros(len(centers))
    native.lloyd(X, centers.astype(X.dtype, copy=False), None, sums, weights, labels, squares)
    return labels, squares


def _nearest_sparse(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Most cells are zero, so that the origin is a fair point to measure from.
    X = X.astype(np.float64)
    norms = np.einsum("kj,kj->k", centers, centers)
    scores = X @ centers.T - norms / 2
    labels = scores.argmax(axis=1).astype(np.int32)
    lengths = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    best = np.take_along_axis(scores, labels[:, None].astype(np.intp), axis=1)[:, 0]
    return labels, np.maximum(lengths - 2 * best, 0.0)
