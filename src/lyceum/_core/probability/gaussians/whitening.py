"""Whitening matrices of covariances, singular ones included."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from lyceum._core.statistics import UNEXPLAINED

RIDGE = 1e-6  # of a column's variance: added to the diagonal of a singular covariance


class Whitening(NamedTuple):
    """W with W (Σ + ridge) Wᵀ = I, on the columns that have a variance.

    Attributes
    ----------
    W : array of shape (d, d) or (d,)
        Lower triangular, or the diagonal for a diagonal Σ.
    log_det : float
        log |Σ + ridge|.
    ridge : array of shape (d,)
        Added to the diagonal; zeros for a regular Σ.
    dependent : int or None
        The first column that makes Σ singular.

    See Also
    --------
    whiten : Makes it from a covariance.
    gaussian_log_density : Log densities from whitening matrices.
    LowRankCovariance : Covariances of few rows with many columns.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.probability import whiten
    >>> covariance = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> white = whiten(covariance, np.diag(covariance))
    >>> white.W.tolist(), white.dependent                         # W Σ Wᵀ = I
    ([[0.5, 0.0], [-0.5, 1.0]], None)
    >>> round(white.log_det, 4)                                   # ln(4 · 2 - 2 · 2)
    1.3863
    """

    W: np.ndarray
    log_det: float
    ridge: np.ndarray
    dependent: int | None

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """W x for every row x."""
        if self.W.ndim == 1:
            return rows * self.W
        return rows @ self.W.T


def whiten(covariance: np.ndarray, total_variance: np.ndarray) -> Whitening:
    """The whitening of a full covariance (d, d), or of one given by its diagonal (d,).

    A singular covariance gets a ridge, small compared with the variance of each column.

    Parameters
    ----------
    covariance : array of shape (d, d) or (d,)
        Σ, or its diagonal.
    total_variance : array of shape (d,)
        The variance of every column over all rows, which replaces a variance of 0. A column where
        both are 0 is left out: it has zeros in W and no part in the determinant.

    Returns
    -------
    Whitening

    See Also
    --------
    gaussian_log_density : Log densities from whitening matrices.
    Gaussian : Its `whitening` is that of its covariance.

    Examples
    --------
    >>> white = whiten(np.array([[4.0, 0.0], [0.0, 1.0]]), np.ones(2))
    >>> np.abs(white.W).tolist(), round(white.log_det, 4)
    ([[0.5, 0.0], [0.0, 1.0]], 1.3863)
    """
    by_kind = _whiten_diagonal if covariance.ndim == 1 else _whiten_full
    return by_kind(covariance, total_variance)


def _whiten_full(covariance: np.ndarray, total_variance: np.ndarray) -> Whitening:
    # Σ = S R S with S the deviations and R = L Lᵀ the correlations, so W = L⁻¹ S⁻¹. The squared
    # diagonal of L is the part of every column that those before it leave unexplained.
    variance = np.diag(covariance)
    scale = np.sqrt(np.where(variance > 0, variance, total_variance))
    varies = scale > 0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
    R = covariance * inverse * inverse[:, None]
    np.fill_diagonal(R, np.where(varies, variance * inverse**2, 1.0))
    L, dependent = _cholesky(R)
    ridge = np.zeros_like(scale)
    if dependent is not None:
        L, _ = _cholesky(R + RIDGE * np.eye(len(scale)))
        ridge = RIDGE * scale**2
    # ln |Σ| = 2 Σ_j (ln L_jj + ln S_j); the ridge is in units of the variances
    half_log_det = np.log(np.diag(L)[varies]).sum()
    half_log_det += np.log(scale[varies]).sum()
    inverse_L, _ = lapack.dtrtri(L, lower=1)
    W = np.ascontiguousarray(inverse_L * inverse)
    return Whitening(W, 2.0 * float(half_log_det), ridge, dependent)


def _cholesky(R: np.ndarray) -> tuple[np.ndarray, int | None]:
    """The lower factor, and the first column that is explained by those before it."""
    L, failed = lapack.dpotrf(R, lower=1, clean=1)
    if failed > 0:
        return L, failed - 1
    return L, _first_index(np.diag(L) ** 2 < UNEXPLAINED)


def _whiten_diagonal(variance: np.ndarray, total_variance: np.ndarray) -> Whitening:
    # a column that varies over all rows, but not here, is singular by itself
    constant = (variance <= 0) & (total_variance > 0)
    ridge = np.where(constant, RIDGE * total_variance, 0.0)
    used = variance + ridge
    varies = used > 0
    W = np.divide(1.0, np.sqrt(used), out=np.zeros_like(used), where=varies)
    log_det = float(np.log(used[varies]).sum())
    return Whitening(W, log_det, ridge, _first_index(constant))


def _first_index(mask: np.ndarray) -> int | None:
    if mask.any():
        return int(mask.argmax())
    return None
