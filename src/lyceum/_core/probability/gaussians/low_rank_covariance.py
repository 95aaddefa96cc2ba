"""Covariances of few rows with many columns: a diagonal and some rows, without a matrix of all
columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from lyceum.errors import ModelFileError


@dataclass(frozen=True, slots=True)
class LowRankCovariance:
    """Σ = diag(t) + GᵀG with few rows G, solved by Woodbury's formula.

    With H = G diag(t)^(-½) and HHᵀ = U Λ Uᵀ, Σ⁻¹ = diag(t)⁻¹ - BᵀB, B = (I + Λ)^(-½) Uᵀ G
    diag(t)⁻¹, and log |Σ| = Σ log t + Σ log(1 + λ). Columns where t is 0 are left out.

    Parameters
    ----------
    diagonal : array of shape (d,)
        t, the diagonal part of Σ.
    rows : array of shape (m, d)
        G, the rows of the low-rank part.
    turn : array of shape (m, m)
        (I + Λ)^(-½) Uᵀ.
    log_det : float
        log |Σ| over the columns that are not left out.

    See Also
    --------
    whiten : The whitening of a full or diagonal covariance.
    Gaussian : A distribution with a full covariance.

    References
    ----------
    M. A. Woodbury, "Inverting modified matrices", Statistical Research Group, Memorandum 42,
    Princeton University, 1950.

    Examples
    --------
    >>> found = LowRankCovariance.of(np.array([1.0, 1.0]), np.array([[1.0, 1.0]]))
    >>> found.toarray().tolist(), found.solve(np.array([[3.0, 0.0]])).round(12).tolist()
    ([[2.0, 1.0], [1.0, 2.0]], [[2.0, -1.0]])
    """

    diagonal: np.ndarray
    rows: np.ndarray
    turn: np.ndarray
    log_det: float

    @classmethod
    def of(cls, diagonal: np.ndarray, rows: np.ndarray) -> LowRankCovariance:
        """The covariance of a diagonal and rows."""
        # the eigenvalues of HHᵀ (m, m), which are those of HᵀH (d, d) without its zeros
        used = diagonal > 0
        values, U = eigh((rows * _inverse(diagonal)) @ rows.T, check_finite=False)
        values = np.maximum(values, 0.0)
        log_det = np.log(diagonal[used]).sum() + np.log1p(values).sum()
        turn = U.T / np.sqrt(1.0 + values)[:, None]
        return cls(diagonal, rows, turn, float(log_det))

    def solve(self, Z: np.ndarray) -> np.ndarray:
        """Σ⁻¹ z of every row z."""
        inverse = _inverse(self.diagonal)
        scaled = Z * inverse
        low_rank = self._rotate(scaled) @ self.turn @ self.rows
        return scaled - low_rank * inverse

    def squared_distances(self, Z: np.ndarray) -> np.ndarray:
        """zᵀ Σ⁻¹ z of every row z."""
        scaled = Z * _inverse(self.diagonal)
        by_diagonal = np.einsum("ij,ij->i", scaled, Z)
        return by_diagonal - (self._rotate(scaled) ** 2).sum(axis=1)

    def _rotate(self, scaled: np.ndarray) -> np.ndarray:
        """B z of every row, from diag(t)⁻¹ z."""
        return (scaled @ self.rows.T) @ self.turn.T

    def toarray(self) -> np.ndarray:
        """Σ, (d, d)."""
        return np.diag(self.diagonal) + self.rows.T @ self.rows

    def check(self) -> None:
        """Raise ModelFileError unless the values, which came from a model file, are those of a
        covariance."""
        arrays = (self.diagonal, self.rows, self.turn)
        if not all(
            isinstance(part, np.ndarray) and part.dtype == np.float64 for part in arrays
        ):
            raise ModelFileError("holds a covariance that is not made of numbers")
        m = len(self.turn)
        if (
            self.diagonal.ndim != 1
            or self.rows.shape != (m, len(self.diagonal))
            or self.turn.shape != (m, m)
        ):
            raise ModelFileError(
                "holds a covariance whose diagonal and rows do not fit together"
            )
        finite = all(np.isfinite(part).all() for part in arrays)
        if not finite or not isinstance(self.log_det, float):
            raise ModelFileError("holds a covariance with missing or infinite numbers")


def _inverse(diagonal: np.ndarray) -> np.ndarray:
    return np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
