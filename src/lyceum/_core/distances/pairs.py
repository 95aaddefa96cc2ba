"""Distances of all pairs of rows, as one matrix or in blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances.metrics import (
    Metric,
    check_same_categories,
    metric as as_metric,
    points_of,
    schema_of,
)
from lyceum._core.distances.native_comparisons import alike, raw_pairwise
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.types import Data
from lyceum.errors import SettingError

_PAIRS = 1 << 21  # distances per block: 16 MB
_FEW = 1 << 15  # distances that are there before another thread has woken up


def pairwise(
    X: Data,
    Y: Data = None,
    *,
    metric: str | Metric = "euclidean",
    condensed: bool = False,
) -> np.ndarray:
    """The distances of all pairs of rows.

    Parameters
    ----------
    X : array, sparse array or Rows of shape (n, d)
        A frame too where the metric has learned mixed columns, as `Gower().learn(frame)`.
    Y : array, sparse array or Rows of shape (m, d), optional
        By default the rows of X.
    metric : str or Metric, default="euclidean"
        See `lyceum.distances.metric` for the names.
    condensed : bool, default=False
        Only the pairs i < j of the rows of X, row after row, as SciPy's `linkage` takes them.

    Returns
    -------
    array of shape (n, m), or (n (n - 1) / 2,) if condensed
        float32 if X and Y are, else float64.

    Examples
    --------
    >>> from lyceum.distances import pairwise
    >>> pairwise([[0.0], [1.0], [4.0]]).tolist()
    [[0.0, 1.0, 4.0], [1.0, 0.0, 3.0], [4.0, 3.0, 0.0]]
    >>> pairwise([[0.0], [1.0], [4.0]], metric="manhattan", condensed=True).tolist()
    [1.0, 4.0, 3.0]

    See Also
    --------
    pairwise_blocks : the same for a few rows at a time.
    nearest : only the nearest rows.
    """
    if condensed and Y is not None and Y is not X:
        raise SettingError(
            "condensed=True is for the pairs of one set of rows: leave Y out"
        )
    pairs = _Pairs(X, X if condensed else Y, as_metric(metric))
    n, m = pairs.shape
    shape = (n * (n - 1) // 2,) if condensed else (n, m)
    out = np.empty(shape, dtype=pairs.dtype)

    def work(rows: slice) -> None:
        if condensed:
            pairs.set_condensed(rows, out)
        else:
            pairs.set(rows, out[rows])

    # what a condensed block has below the diagonal is wasted: less in blocks of fewer rows
    most = _PAIRS // 16 if condensed else _PAIRS
    for _ in ordered_map(work, pairs.stretches(most=most)):
        pass
    return out


def pairwise_blocks(
    X: Data,
    Y: Data = None,
    *,
    metric: str | Metric = "euclidean",
    n_rows: int | None = None,
) -> Iterator[tuple[slice, np.ndarray]]:
    """The distances of all pairs of rows, a few rows of X at a time, in order.

    Parameters
    ----------
    X : array, sparse array or Rows of shape (n, d)
    Y : array, sparse array or Rows of shape (m, d), optional
        By default the rows of X.
    metric : str or Metric, default="euclidean"
        See `lyceum.distances.metric` for the names.
    n_rows : int, optional
        Rows of X in a block; by default as many as take 16 MB.

    Yields
    ------
    rows : slice
        The rows of X in the block.
    distances : array of shape (rows in the block, m)

    Examples
    --------
    >>> from lyceum._core.distances import pairwise_blocks
    >>> for rows, distances in pairwise_blocks([[0.0], [1.0], [4.0]], n_rows=2):
    ...     print(rows.start, distances.tolist())
    0 [[0.0, 1.0, 4.0], [1.0, 0.0, 3.0]]
    2 [[4.0, 3.0, 0.0]]

    See Also
    --------
    pairwise : the full matrix.
    """
    if n_rows is not None and not (isinstance(n_rows, Integral) and n_rows >= 1):
        raise SettingError(
            f"n_rows must be a whole number of at least 1, but it is {n_rows!r}"
        )
    pairs = _Pairs(X, Y, as_metric(metric))

    def work(rows: slice) -> tuple[slice, np.ndarray]:
        out = np.empty((rows.stop - rows.start, pairs.shape[1]), dtype=pairs.dtype)
        pairs.set(rows, out)
        return rows, out

    yield from ordered_map(work, pairs.stretches(n_rows))


class _Pairs:
    """Two prepared sets of rows, and the distances of some rows of the first to the second."""

    def __init__(self, X: Any, Y: Data, metric: Metric):
        self.metric = metric
        self.space = metric.space
        check_same_categories(schema_of(X), schema_of(Y))
        A = points_of(metric, X)
        B = A if Y is None or Y is X else points_of(metric, Y)
        self.n_columns = A.shape[1]
        is_single = _is_single(X) and (Y is None or _is_single(Y))
        self.dtype = np.float32 if is_single else np.float64
        self.A, self.B = alike(A, B)
        self.shape = (self.A.shape[0], self.B.shape[0])

    def stretches(self, n_rows: int | None = None, most: int = _PAIRS) -> list[slice]:
        n, m = self.shape
        # as many rows for every thread, unless these are too many for memory
        even = n if n * m <= _FEW else math.ceil(n / n_threads())
        step = n_rows or max(1, min(most // max(1, m), even))
        return [slice(start, min(n, start + step)) for start in range(0, n, step)]

    def set(self, rows: slice, out: np.ndarray, first: int = 0) -> None:
        """Set out to the distances of some rows to those from `first` on."""
        B = self.B[first:] if first else self.B
        raw = out if out.dtype == np.float64 else np.empty(out.shape)
        raw_pairwise(self.space, self.A[rows], B, raw)
        distances = self.metric.distances(raw, self.n_columns)
        if distances is not out:
            out[:] = distances

    def set_condensed(self, rows: slice, out: np.ndarray) -> None:
        n = self.shape[0]
        block = np.empty((rows.stop - rows.start, n - rows.start))
        self.set(rows, block, first=rows.start)
        for i in range(rows.start, rows.stop):
            start = i * n - i * (i + 1) // 2  # pairs of the rows before i
            end = start + n - i - 1
            out[start:end] = block[i - rows.start, i - rows.start + 1 :]


def _is_single(X: Any) -> bool:
    return (isinstance(X, np.ndarray) or sparse.issparse(X)) and X.dtype == np.float32
