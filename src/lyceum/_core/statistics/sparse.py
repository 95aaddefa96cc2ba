"""The cells of a CSR block as the kernels take them, shifted where that keeps the zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class SparseCells:
    """CSR arrays with sorted int32 indices and no duplicates, and which columns have a cell in
    every row.

    Such full columns can be shifted by a constant without storing more: x - shift for them, x for
    the others.

    Attributes
    ----------
    indptr : array
        Where every row starts, as in a CSR array.
    indices : array
        The column of every stored cell.
    data : array
        The stored cells, float64.
    full : array of shape (d,)
        Which columns have a cell in every row.

    See Also
    --------
    Scatter, LogisticLoss : Statistics that use it for CSR rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from lyceum._core.statistics import SparseCells
    >>> cells = SparseCells.of(sparse.csr_array([[7.0, 0.0], [9.0, 1.0]]))
    >>> cells.full.tolist(), cells.shift_data(np.array([8.0, 0.0])).tolist()
    ([True, False], [-1.0, 1.0, 1.0])
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    full: np.ndarray

    @classmethod
    def of(cls, X: Any) -> SparseCells:
        X = canonical(X)
        stored = np.bincount(X.indices, minlength=X.shape[1])
        return cls(
            indptr=X.indptr.astype(np.int32, copy=False),
            indices=X.indices.astype(np.int32, copy=False),
            data=X.data.astype(np.float64, copy=False),
            full=stored == X.shape[0],
        )

    def provisional_mean(self) -> np.ndarray:
        """The plain mean of every full column, exact when the column is constant; 0 for the
        others."""
        # columns with a cell in every row only: shifting others would fill their zeros
        first = np.zeros(len(self.full))
        if len(self.indptr) < 2:  # no rows
            return first
        # about the first row, so that sums lose no digits to an offset
        row = slice(self.indptr[0], self.indptr[1])
        first[self.indices[row]] = self.data[row]
        first[~self.full] = 0.0
        moved = self.data - first[self.indices]
        sums = np.bincount(self.indices, moved, len(self.full))
        mean = first + sums / max(1, len(self.indptr) - 1)
        return np.where(self.full & np.isfinite(mean), mean, 0.0)

    def shift_data(self, shift: np.ndarray) -> np.ndarray:
        """The stored cells, those of full columns less `shift`."""
        return self.data - np.where(self.full, shift, 0.0)[self.indices]


def canonical(X: Any) -> Any:
    """The CSR array with sorted indices and no cell twice: itself, or a copy."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
