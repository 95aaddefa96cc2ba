"""Kernel values of a few rows with all rows: computed in passing, kept in a cache, or given."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from lyceum._core.native import native
from lyceum._core.threads import n_threads
from lyceum._core.types import Data
from lyceum.kernels.functions.base import Kernel, NativeKernel
from lyceum.kernels.functions.other import PrecomputedKernel

# up to which kernel values cost no more than reading them from memory
_FEW_COLUMNS = 64
# up to which all values are computed at once: so few take less time than the account of a cache
_FEW_ROWS = 256


class KernelRows(Protocol):
    """The kernel values that a working-set solver needs."""

    dtype: Any
    most: int  # rows that can be requested at once

    def block(self, rows: np.ndarray) -> np.ndarray:
        """The values of these rows with each other, (q, q)."""

    def add(self, F: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> None:
        """F[j] += Σ_i weight[i] k(x_i, x_j) over these rows, for all rows j."""

    def sums_at(
        self,
        rows: np.ndarray,
        weight: np.ndarray,
        targets: np.ndarray,
    ) -> np.ndarray:
        """Σ_i weight[i] k(x_i, x_j) over these rows, for the rows j of `targets`."""


def kernel_rows(
    kernel: Kernel,
    X: Any,
    dtype: Any,
    cache: float,
    shift: float,
    balanced: bool,
) -> KernelRows:
    """The way to the values of `kernel + shift` that suits the rows.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR of shape (n, d)
    dtype : float32 or float64
        The type of the values.
    cache : float
        Bytes for rows of kernel values.
    shift : float
        Added to every value.
    balanced : bool
        Whether the weights sum to zero, so that rows may be moved for a linear kernel.
    """
    if isinstance(kernel, PrecomputedKernel):
        return _GivenRows(np.ascontiguousarray(X), shift)
    n, d = X.shape
    slots = int(cache // max(1, n * np.dtype(dtype).itemsize))
    if kernel.native is not None and not sparse.issparse(X):
        # where Σ s b = 0, an offset of all rows adds to F one number, which the intercept takes
        is_balanced = balanced and not shift
        if (d <= _FEW_COLUMNS or slots < 4096) and n > _FEW_ROWS:
            X = _shift_rows(kernel.native, X, dtype, is_balanced)
            return _PassingRows(kernel.native, X, shift)
        X = _shift_rows(kernel.native, X, np.float64, is_balanced)
    if n <= _FEW_ROWS:
        K = kernel.gram(X.astype(dtype))
        return _GivenRows(np.ascontiguousarray(K, dtype=dtype), shift)
    slots = max(64, min(slots, n))
    return _CachedRows(kernel, X.astype(dtype), slots, shift)


def is_moved(kernel: Kernel, X: Data, balanced: bool) -> bool:
    """Whether values of a linear kernel are taken about the mean of the rows: F is then less by
    w·mean."""
    return kernel.name == "linear" and balanced and not sparse.issparse(X)


def _shift_rows(
    kernel: NativeKernel,
    X: np.ndarray,
    dtype: Any,
    balanced: bool,
) -> np.ndarray:
    """Rows about their mean where that changes nothing, so that an offset takes no digits."""
    if kernel.name == "rbf" or (kernel.name == "linear" and balanced):
        X = X - X.mean(axis=0, dtype=np.float64) if len(X) else X
    return np.ascontiguousarray(X.astype(dtype, copy=False))


class _PassingRows:
    """Values that are computed where they are added up: nothing is kept but the rows themselves."""

    def __init__(self, kernel: NativeKernel, X: np.ndarray, shift: float):
        self.kernel = kernel
        self.X = X
        self.shift = shift
        self.dtype = X.dtype
        self.most = len(X)

    def block(self, rows: np.ndarray) -> np.ndarray:
        K = np.empty((len(rows), len(rows)), dtype=self.dtype)
        native.kernel_gram(*self.kernel, self.X[rows], None, K, n_threads())
        K += self.dtype.type(self.shift)
        return K

    def add(self, F: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> None:
        F += self._sums(rows, weight, self.X)

    def sums_at(
        self,
        rows: np.ndarray,
        weight: np.ndarray,
        targets: np.ndarray,
    ) -> np.ndarray:
        return self._sums(rows, weight, self.X[targets])

    def _sums(self, rows: np.ndarray, weight: np.ndarray, Y: np.ndarray) -> np.ndarray:
        out = np.zeros((len(Y), 1))
        native.kernel_sums(
            *self.kernel,
            self.X[rows],
            weight[:, None],
            Y,
            out,
            n_threads(),
        )
        return out[:, 0] + self.shift * weight.sum()


class _CachedRows:
    """Whole rows of kernel values, as many as fit; the least recently used is dropped first."""

    def __init__(self, kernel: Kernel, X: Any, slots: int, shift: float):
        self.kernel = kernel
        self.X = X
        self.shift = shift
        self.dtype = X.dtype
        self.values = np.empty((slots, X.shape[0]), dtype=X.dtype)
        self.slot = np.full(X.shape[0], -1)  # of every row, -1 if it is not stored
        self.owner = np.full(slots, -1)
        self.used = np.zeros(slots, dtype=np.int64)
        self.clock = 0
        self.most = slots

    def _slots(self, rows: np.ndarray) -> np.ndarray:
        """Where the rows are, after those that were missing have been computed."""
        self.clock += 1
        there = self.slot[rows]
        self.used[there[there >= 0]] = self.clock
        missing = np.unique(rows[there < 0])
        if len(missing):
            # the slots that were used longest ago; those of this request have the newest time
            free = np.argsort(self.used, kind="stable")[: len(missing)]
            old = self.owner[free]
            self.slot[old[old >= 0]] = -1
            self.slot[missing] = free
            self.owner[free] = missing
            self.used[free] = self.clock
            # 2²⁴ values at a time, beside those that are kept
            step = max(1, (1 << 24) // self.X.shape[0])
            for first in range(0, len(missing), step):
                rows_now = missing[first : first + step]
                values = self.kernel.gram(self.X[rows_now], self.X)
                self.values[free[first : first + step]] = values
            if self.shift:
                self.values[free] += self.dtype.type(self.shift)
        return self.slot[rows]

    def block(self, rows: np.ndarray) -> np.ndarray:
        values = self.values[self._slots(rows)]
        return np.ascontiguousarray(values[:, rows])

    def add(self, F: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> None:
        for first in range(0, len(rows), self.most):
            part = slice(first, first + self.most)
            slots = self._slots(rows[part])
            native.add_rows(self.values, slots, weight[part], F)

    def sums_at(
        self,
        rows: np.ndarray,
        weight: np.ndarray,
        targets: np.ndarray,
    ) -> np.ndarray:
        sums = self.kernel.sums(self.X[rows], weight, self.X[targets])
        return sums + self.shift * weight.sum()


class _GivenRows:
    """A Gram matrix that is there."""

    def __init__(self, K: np.ndarray, shift: float):
        self.K = K
        if shift:
            self.K = K + K.dtype.type(shift)
        self.dtype = K.dtype
        self.most = len(K)
        self.all = np.arange(len(K))

    def block(self, rows: np.ndarray) -> np.ndarray:
        if np.array_equal(rows, self.all):
            return self.K
        return self.K[rows[:, None], rows]

    def add(self, F: np.ndarray, rows: np.ndarray, weight: np.ndarray) -> None:
        native.add_rows(self.K, rows, weight, F)

    def sums_at(
        self,
        rows: np.ndarray,
        weight: np.ndarray,
        targets: np.ndarray,
    ) -> np.ndarray:
        return self.K[targets[:, None], rows] @ weight
