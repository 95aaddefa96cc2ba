"""Covariances turned into whitening matrices, singular ones too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

__all__ = ["RIDGE", "Whitening", "whiten"]

RIDGE = 1e-6  # of a column's variance: what a singular covariance gets on its diagonal
_UNEXPLAINED = (
    1e-12  # a column follows from those before it if no more than this part of its variance is its own
)


class Whitening(NamedTuple):
    """W with W (Σ + ridge) Wᵀ = I and log |Σ + ridge|, both on the columns that have a variance."""

    W: np.ndarray  # (d, d) lower triangular, or (d,) for a diagonal Σ
    log_det: float
    ridge: np.ndarray  # (d,) what was added to the diagonal, zeros for a regular Σ
    culprit: int | None  # the first column that makes Σ singular

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """W x for every row x."""
        return rows * self.W if self.W.ndim == 1 else rows @ self.W.T


def whiten(covariance: np.ndarray, spare: np.ndarray) -> Whitening:
    """The whitening of a full covariance (d, d), or of one given by its diagonal (d,).

    A singular covariance gets a ridge, small against the variance of each column. A column without a variance
    of its own is measured by `spare`, its variance over all rows; where that is 0 as well the column is left
    out: it has zeros in W and no part in the determinant.
    """
    return _whiten_diagonal(covariance, spare) if covariance.ndim == 1 else _whiten_full(covariance, spare)


def _whiten_full(covariance: np.ndarray, spare: np.ndarray) -> Whitening:
    # Σ = S R S with S the deviations and R = L Lᵀ the correlations, so W = L⁻¹ S⁻¹. The squared diagonal of L
    # is the part of every column that those before it leave unexplained.
    variance = np.diag(covariance)
    scale = np.sqrt(np.where(variance > 0, variance, spare))
    there = scale > 0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=there)
    R = covariance * inverse * inverse[:, None]
    np.fill_diagonal(R, np.where(there, variance * inverse**2, 1.0))
    L, culprit = _cholesky(R)
    ridge = np.zeros_like(scale)
    if culprit is not None:
        L, _ = _cholesky(R + RIDGE * np.eye(len(scale)))
        ridge = RIDGE * scale**2
    log_det = 2.0 * float(np.log(np.diag(L)[there]).sum() + np.log(scale[there]).sum())
    return Whitening(np.ascontiguousarray(lapack.dtrtri(L, lower=1)[0] * inverse), log_det, ridge, culprit)


def _cholesky(R: np.ndarray) -> tuple[np.ndarray, int | None]:
    """The lower factor, and the first column that is explained by those before it."""
    L, failed = lapack.dpotrf(R, lower=1, clean=1)
    if failed > 0:
        return L, failed - 1
    return L, _first(np.diag(L) ** 2 < _UNEXPLAINED)


def _whiten_diagonal(variance: np.ndarray, spare: np.ndarray) -> Whitening:
    bare = (variance <= 0) & (spare > 0)
    ridge = np.where(bare, RIDGE * spare, 0.0)
    used = variance + ridge
    there = used > 0
    W = np.divide(1.0, np.sqrt(used), out=np.zeros_like(used), where=there)
    return Whitening(W, float(np.log(used[there]).sum()), ridge, _first(bare))


def _first(marked: np.ndarray) -> int | None:
    return int(marked.argmax()) if marked.any() else None
