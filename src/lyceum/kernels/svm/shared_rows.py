"""The rows of several machines, whose kernel values are computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lyceum.kernels.functions.base import Kernel
from lyceum.kernels.functions.other import PrecomputedKernel

# rows up to which values of all pairs are quicker than those that every machine needs anew
_MOST_ROWS = 2000


@dataclass(frozen=True)
class SharedRows:
    """Rows that machines are solved on, each on some of them: cells, or kernel values of all
    pairs."""

    kernel: Kernel
    cells: Any

    @classmethod
    def of(
        cls, kernel: Kernel, cells: Any, bound: np.ndarray, cache: float
    ) -> SharedRows:
        """Kernel values, where they fit into `cache` bytes and rows need not be moved; not for a
        hard margin, of which the kernel tells whether there is one."""
        n = cells.shape[0]
        is_native = getattr(kernel, "native", None) is not None
        if not is_native or kernel.name == "linear" or sparse.issparse(cells):
            return cls(kernel, cells)
        if n > _MOST_ROWS or 8.0 * n * n > cache or np.isinf(bound).any():
            return cls(kernel, cells)
        values = kernel.gram(cells.astype(np.float64))
        return cls(PrecomputedKernel(), values)

    def take(self, rows: np.ndarray) -> Any:
        """Some of the rows, in their order, as a solver takes them."""
        if len(rows) == self.cells.shape[0]:
            return self.cells
        if isinstance(self.kernel, PrecomputedKernel):
            return self.cells[rows[:, None], rows]
        return self.cells[rows]

    def sums(self, rows: np.ndarray, coef: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Σ_i coef_i k(x_i, x) over `rows`, for each of the rows `new`."""
        if isinstance(self.kernel, PrecomputedKernel):
            return self.cells[new[:, None], rows] @ coef
        return self.kernel.sums(self.cells[rows], coef, self.cells[new])
