"""The native comparisons of prepared rows, dense or sparse."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy import sparse

from lyceum._core.distances.arrays import ArraySpace
from lyceum._core.distances.function import FunctionSpace
from lyceum._core.distances.metrics import Space
from lyceum._core.native import native
from lyceum._core.text import show_count
from lyceum.errors import SettingError

_AT_ONCE = 64  # rows whose distances by a function are held at a time


def alike(A: Any, B: Any) -> tuple[Any, Any]:
    """Both sides dense or both sparse, of one type of numbers."""
    if A.shape[1] != B.shape[1]:
        raise SettingError(
            f"rows of {show_count(A.shape[1], 'column')} cannot be compared with rows of "
            f"{show_count(B.shape[1], 'column')}"
        )
    if sparse.issparse(A) != sparse.issparse(B):
        A = _csr(A)
        B = _csr(B)
    if A.dtype != B.dtype:
        A = A.astype(np.float64, copy=False)
        B = B.astype(np.float64, copy=False)
    return A, B


def _csr(A: Any) -> Any:
    if sparse.issparse(A):
        return A
    # SciPy takes int64 for large arrays; the kernels take int32
    A = sparse.csr_array(A)
    A.indices = A.indices.astype(np.int32)
    A.indptr = A.indptr.astype(np.int32)
    return A


def raw_pairwise(space: Any, A: Any, B: Any, out: np.ndarray) -> None:
    """Set out (n, m) to the raw values of all pairs under a `Space`, a `FunctionSpace` or an
    `ArraySpace`."""
    if space.name == "function":
        space.set(A, B, out)
    elif sparse.issparse(A):
        native.sparse_pairwise(space.name, space.power, *_parts(A), *_parts(B), out)
    else:
        native.pairwise(*cast(Space, space), A, B, out)


def raw_nearest(
    space: Any, A: Any, B: Any, k: int, skip: np.ndarray | None, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest raw values for every row of A, and the rows of B, numbered from `first`; (n,
    k) each.

    `skip` holds the row number that each row of A leaves out. Where there are fewer than k rows,
    raw values are infinite and row numbers -1.
    """
    if space.name == "function":
        return _function_nearest(space, A, B, k, skip, first)
    raw = np.empty((A.shape[0], k))
    rows = np.empty((A.shape[0], k), dtype=np.int64)
    if sparse.issparse(A):
        native.sparse_nearest(
            space.name, space.power, *_parts(A), *_parts(B), skip, first, raw, rows
        )
    else:
        native.nearest(*cast(Space, space), A, B, skip, first, raw, rows)
    return raw, rows


def _function_nearest(
    space: FunctionSpace | ArraySpace,
    A: np.ndarray,
    B: np.ndarray,
    k: int,
    skip: np.ndarray | None,
    first: int,
) -> tuple[np.ndarray, np.ndarray]:
    raw = np.full((len(A), k), np.inf)
    rows = np.full((len(A), k), -1, dtype=np.int64)
    for start in range(0, len(A), _AT_ONCE):
        some = A[start : start + _AT_ONCE]
        distances = np.empty((len(some), len(B)))
        space.set(some, B, distances)
        for i, of_row in enumerate(distances, start):
            order = np.argsort(of_row, kind="stable")
            if skip is not None:
                order = order[order != skip[i] - first]
            order = order[:k]
            raw[i, : len(order)] = of_row[order]
            rows[i, : len(order)] = order + first
    return raw, rows


def _parts(A: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return A.indptr, A.indices, A.data
