"""The scatter of few rows of many columns, stored as the centred rows themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum.data import Block
from lyceum.statistics import Scatter

__all__ = ["CenteredRows", "scatter_or_rows"]

_WIDE = 256  # narrower scatter matrices are always cheap


@dataclass(frozen=True, slots=True)
class CenteredRows:
    """Weight, mean, and a factor whose product with itself, factorᵀ factor, is the centred scatter matrix.

    The factor has one row sqrt(w) (x - mean) per row, and one more per merge, along the line between the
    means. It is used in place of the (d, d) matrix while it has fewer than d / 2 rows.
    """

    n_rows: int
    weight: float
    mean: np.ndarray  # (d,)
    factor: np.ndarray  # (m, d)

    @classmethod
    def of(cls, block: Block) -> CenteredRows:
        X = np.asarray(block.dense, dtype=np.float64)
        w = block.weights
        X, w = X[w > 0], w[w > 0]
        if not len(X):
            return cls(0, 0.0, np.zeros(X.shape[1]), X)
        # About the first row, so that the mean of a constant column is exactly its value.
        mean = X[0] + w @ (X - X[0]) / w.sum()
        return cls(len(X), float(w.sum()), mean, np.sqrt(w)[:, None] * (X - mean))

    @property
    def scatter(self) -> np.ndarray:
        """The (d, d) scatter matrix."""
        return self.factor.T @ self.factor

    @property
    def as_scatter(self) -> Scatter:
        """The same statistic with the (d, d) matrix."""
        return Scatter(self.n_rows, self.weight, self.mean, self.scatter, 0)

    def merge(self, other: CenteredRows | Scatter) -> CenteredRows | Scatter:
        if isinstance(other, Scatter) or not _is_thin(len(self.factor) + len(other.factor), len(self.mean)):
            return self.as_scatter.merge(other)  # type: ignore[arg-type]
        weight = self.weight + other.weight
        if not self.weight or not other.weight:
            return self if self.weight else other
        delta, share = other.mean - self.mean, other.weight / weight
        between = np.sqrt(self.weight * share) * delta
        factor = np.vstack([self.factor, other.factor, between])
        return CenteredRows(self.n_rows + other.n_rows, weight, self.mean + share * delta, factor)

    def mapped(self, matrix: np.ndarray, offset: np.ndarray) -> CenteredRows:
        """The same rows with other columns, x ↦ matrix x + offset."""
        return CenteredRows(self.n_rows, self.weight, matrix @ self.mean + offset, self.factor @ matrix.T)


def scatter_or_rows(block: Block) -> CenteredRows | Scatter:
    """The centred rows if they are few for their columns, else the scatter matrix; the two can be merged."""
    return CenteredRows.of(block) if _is_thin(len(block), block.X.shape[1]) else Scatter.of(block)


def _is_thin(n_rows: int, n_columns: int) -> bool:
    return n_columns > _WIDE and 2 * n_rows < n_columns
