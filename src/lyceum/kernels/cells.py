"""Rows as kernels take them: dense or sparse cells of float32 or float64, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from lyceum._core import data as core_data
from lyceum._core.data import Block, Design, Rows, Schema, as_float
from lyceum._core.distances import check_finite, float_matrix
from lyceum._core.types import Data
from lyceum.errors import DataError

if TYPE_CHECKING:
    from lyceum.kernels.functions.base import Kernel


def is_frame(X: Data) -> bool:
    """Whether X is a table with named columns."""
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "columns")


def block_of(X: Data, kernel: Kernel) -> Any:
    """Frames and rows as one block in memory, other rows as they are."""
    if is_frame(X):
        X = core_data.scan(X)
    if isinstance(X, Rows):
        return X.in_one_block(
            f"the kernel {kernel!r}", "Nystroem or RBFSampler, which work in passes"
        )
    return X


def cells_of(X: Data, kernel: Kernel) -> Any:
    """The cells of X as floats, one-of-C columns for text; refuses what the kernel cannot take."""
    X = block_of(X, kernel)
    if isinstance(X, Block):
        has_categories = not all(column.numeric for column in X.schema)
        if has_categories and not kernel.takes_categories:
            X = Design(Schema(X.schema.columns), every=True)(X)
        X = X.X
    # of a sparse array only the stored cells can be missing or infinite
    if sparse.issparse(X):
        if kernel.takes_sparse:
            X = as_float(sparse.csr_array(X))
            _check_finite(X.data.reshape(1, -1), kernel)
            return X
        X = X.toarray()
    cells = float_matrix(X, "a kernel needs")
    _check_finite(cells, kernel)
    return cells


def numbers_of(kernel: Kernel, X: Data, Y: Data) -> tuple[Any, Any]:
    """The cells of X and Y in one type; the very same object twice if Y is None or X itself."""
    A = cells_of(X, kernel)
    if Y is None or Y is X:
        return A, A
    B = cells_of(Y, kernel)
    if A.shape[1] != B.shape[1]:
        raise DataError(
            f"the rows to compare have {A.shape[1]} and {B.shape[1]} columns"
        )
    kind = np.float32 if A.dtype == B.dtype == np.float32 else np.float64
    return A.astype(kind, copy=False), B.astype(kind, copy=False)


def _check_finite(cells: np.ndarray, kernel: Kernel) -> None:
    check_finite(
        cells, f"the kernel {kernel!r}", kernel.takes_missing, "DistanceKernel('gower')"
    )
