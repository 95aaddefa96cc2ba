"""The nearest of a few centers, in one read of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances.matrices import float_matrix
from lyceum._core.native import native
from lyceum._core.text import show_count
from lyceum.errors import SettingError


def nearest_center(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest center of every row, the first of equally near ones, and the squared distance to
    it.

    Centers are compared by products in the precision of X, about the mean of the centers; the
    distance to the one found is then taken from differences, in double precision (for sparse rows
    from products too). It is faster than `nearest`, which compares exactly.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        float32 or float64; whole numbers become float64.
    centers : array of shape (k, d)

    Returns
    -------
    labels : array of int32 of shape (n,)
    squares : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.distances import nearest_center
    >>> labels, squares = nearest_center(np.array([[1.0], [9.0]]), np.array([[0.0], [10.0]]))
    >>> labels.tolist(), squares.tolist()
    ([0, 1], [1.0, 1.0])

    See Also
    --------
    nearest : the k nearest rows, exactly, in any metric.
    """
    centers = float_matrix(centers, "centers need")
    X = X.tocsr() if sparse.issparse(X) else float_matrix(X, "distances need")
    if X.shape[1] != centers.shape[1]:
        raise SettingError(
            f"rows of {show_count(X.shape[1], 'column')} cannot be compared with centers of "
            f"{show_count(centers.shape[1], 'column')}"
        )
    if sparse.issparse(X):
        return _nearest_sparse(X, centers)
    labels = np.empty(X.shape[0], dtype=np.int32)
    squares = np.empty(X.shape[0])
    # the kernel of k-means, whose sums are not needed
    sums = np.zeros(centers.shape)
    weights = np.zeros(len(centers))
    centers = centers.astype(X.dtype, copy=False)
    native.lloyd(X, centers, None, sums, weights, labels, squares)
    return labels, squares


def _nearest_sparse(X: Any, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By |x|² - 2 s with the scores s = x·c - |c|² / 2; the nearest center has the largest.

    Most cells are zero, so that the origin is a fair point to measure from.
    """
    X = X.astype(np.float64, copy=False)
    scores = X @ np.asarray(centers, dtype=np.float64).T
    scores -= np.einsum("kj,kj->k", centers, centers, dtype=np.float64) / 2
    labels = np.empty(len(scores), dtype=np.int64)
    native.row_argmax(scores, labels)
    if not X.has_canonical_format:  # a cell that is stored twice is their sum
        X = X.copy()
        X.sum_duplicates()
    lengths = np.zeros(X.shape[0])
    is_filled = X.indptr[1:] > X.indptr[:-1]
    if is_filled.any():
        starts = X.indptr[:-1][is_filled]  # reduceat has no empty sums
        lengths[is_filled] = np.add.reduceat(X.data * X.data, starts)
    squares = lengths - 2 * scores[np.arange(len(scores)), labels]
    return labels.astype(np.int32), np.maximum(squares, 0.0, out=squares)
