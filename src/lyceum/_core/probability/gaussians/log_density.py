"""Log densities of several Gaussians at once, from their whitening matrices."""

from __future__ import annotations

import numpy as np

from lyceum._core.native import native


def gaussian_log_density(
    X: np.ndarray, means: np.ndarray, whitening: np.ndarray, constant: np.ndarray
) -> np.ndarray:
    """constant_k - ½ |W_k (x - μ_k)|² of every row x and component k.

    The part of the log density that depends on x; the constants hold -½ (log |Σ_k| + d log 2π), and
    log priors where there are any. One block of rows is computed in one thread: `Rows.collect` has
    the threads.

    Parameters
    ----------
    X : array of shape (n, d), of float32 or float64
    means : array of shape (K, d)
    whitening : array of shape (K, d, d) or (K, d)
        Lower triangles W_k with W_k Σ_k W_kᵀ = I, or the diagonals of diagonal ones; see `whiten`.
    constant : array of shape (K,)

    Returns
    -------
    array of shape (n, K)

    See Also
    --------
    Gaussian : One Gaussian as a value.
    whiten : The whitening matrices.

    Examples
    --------
    >>> X, means = np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]])
    >>> gaussian_log_density(X, means, np.ones((2, 1)), np.zeros(2))
    array([[ 0. , -0.5],
           [-2. , -0.5]])
    """
    K = len(means)
    if whitening.ndim == 3:
        out = np.zeros((len(X), K))
        native.quadratic_log_density(X, means, whitening, constant, out)
        return out
    # a sum over columns, as in naive Bayes: its kernel takes one row per column, ½/σ², and the log
    # density at the mean, which the constants have already
    out = np.empty((len(X), K))
    out[:] = constant
    mean = np.ascontiguousarray(means.T)
    half = np.ascontiguousarray(0.5 * whitening.T**2)
    columns = np.arange(len(mean), dtype=np.int32)
    native.gaussian_log_joint(X, columns, mean, half, np.zeros_like(half), out)
    return out


def squared_distance_parts(
    X: np.ndarray, means: np.ndarray, whitening: np.ndarray
) -> np.ndarray:
    """The part of every column in the squared distances |W_k (x - μ_k)|².

    (x - μ)ᵀ P (x - μ) is the sum over the columns of (x - μ)_j (P (x - μ))_j: an interaction of two
    columns is split evenly between them.

    Parameters
    ----------
    X : array of shape (n, d)
    means : array of shape (K, d)
    whitening : array of shape (K, d, d) or (K, d)

    Returns
    -------
    array of shape (n, K, d)

    See Also
    --------
    gaussian_log_density : The densities that the distances belong to.

    Examples
    --------
    >>> squared_distance_parts(np.array([[2.0, 1.0]]), np.zeros((1, 2)), np.ones((1, 2))).tolist()
    [[[4.0, 1.0]]]
    """
    centered = X[:, None, :] - means
    if whitening.ndim == 2:
        return (centered * whitening) ** 2
    precision = np.swapaxes(whitening, 1, 2) @ whitening
    return centered * np.einsum("nkj,kji->nki", centered, precision)
