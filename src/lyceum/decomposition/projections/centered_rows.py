"""The scatter of few rows of many columns: the centered rows, until a matrix is smaller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Block
from lyceum._core.statistics import RowScatter, Scatter

_WIDE = 256  # narrower scatter matrices are always cheap


@dataclass(frozen=True, slots=True)
class CenteredRows(RowScatter):
    """A `RowScatter` without a target that is used while it has fewer than d / 2 rows; then a
    `Scatter`."""

    @property
    def scatter(self) -> np.ndarray:
        """The (d, d) scatter matrix."""
        return self.rows.T @ self.rows

    @property
    def as_scatter(self) -> Scatter:
        """The same statistic with the (d, d) matrix."""
        return Scatter(self.n_rows, self.weight, self.mean, self.scatter, 0)

    def merge(self, other: CenteredRows | Scatter) -> CenteredRows | Scatter:  # type: ignore[override]
        # a matrix cannot be taken apart into rows: the result is a matrix
        if isinstance(other, Scatter):
            return self.as_scatter.merge(other)
        n_rows = len(self.rows) + len(other.rows)
        if not _is_thin(n_rows, len(self.mean)):
            return self.as_scatter.merge(other)  # type: ignore[arg-type]
        return RowScatter.merge(self, other)  # type: ignore[return-value]


def scatter_or_rows(block: Block) -> CenteredRows | Scatter:
    """The centered rows if they are few for their columns, else the scatter matrix; the two can be
    merged."""
    if _is_thin(len(block), block.X.shape[1]):
        return CenteredRows.of(block)
    return Scatter.of(block)


def _is_thin(n_rows: int, n_columns: int) -> bool:
    return n_columns > _WIDE and 2 * n_rows < n_columns
