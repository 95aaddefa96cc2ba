"""Columns: the cells of a table column by column, as ranks of their values. Trees are grown on
ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.native import native
from lyceum._core.threads import ordered_map
from lyceum.errors import DataError

LARGE = 1 << 16  # cells that are worth several threads


@dataclass(frozen=True)
class Columns:
    """Every cell as the rank of its value among the distinct values of its column.

    `codes[j, i]` is the rank, or for a missing cell `n_codes[j]`. The ranks of a continuous column
    stand for the values from `lower[j][code]` to `upper[j][code]`, which are one value unless
    columns are binned; the ranks of a categorical column are its category codes.
    """

    codes: np.ndarray  # (d, n) uint8, uint16 or uint32
    n_codes: np.ndarray  # int32
    is_category: np.ndarray  # bool
    lower: tuple[np.ndarray, ...]  # an empty array for a categorical column
    upper: tuple[np.ndarray, ...]

    @classmethod
    def of_cells(cls, X: np.ndarray, schema: Schema) -> Columns:
        """Exact ranks of coded cells (n, d); threads take a column each."""
        if len(X) >= 1 << 32:
            raise DataError(
                "more than 2^32 rows cannot be ranked: set max_bins, which needs no ranks"
            )
        if X.dtype.kind != "f":
            X = X.astype(np.float64)
        codes = np.empty((X.shape[1], len(X)), dtype=np.uint32)
        each = ordered_map if X.size >= LARGE else map
        ranked = list(each(partial(_rank, X, schema, codes), range(X.shape[1])))
        n_codes = np.array([count for count, _ in ranked], dtype=np.int32)
        # views of one array, which the kernels then take as it is
        flat = np.concatenate([values for _, values in ranked])
        ends = np.cumsum([len(values) for _, values in ranked])
        values = tuple(np.split(flat, ends[:-1]))
        del ranked
        # the smallest type that holds the ranks and the code of missing cells
        smallest = np.min_scalar_type(int(n_codes.max(initial=0)))
        return cls(
            codes=codes.astype(smallest, copy=False),
            n_codes=n_codes,
            is_category=np.array([column.is_categorical for column in schema], bool),
            lower=values,
            upper=values,
        )

    @cached_property
    def native(self) -> Any:
        """The columns as the kernels take them."""
        # where the values of every column start in one array of all
        sizes = np.array([len(values) for values in self.lower], dtype=np.int64)
        first = np.cumsum(sizes) - sizes
        lower = _one_array(self.lower)
        upper = lower if self.upper is self.lower else _one_array(self.upper)
        return native.TreeColumns(
            self.codes,
            self.n_codes,
            self.is_category.view(np.uint8),
            first,
            lower,
            upper,
        )


def _rank(
    X: np.ndarray, schema: Schema, codes: np.ndarray, j: int
) -> tuple[int, np.ndarray]:
    """Write the ranks of column j; returns their number, and the values of a continuous column."""
    column = schema[j]
    if not column.is_categorical:
        values = native.rank_column(X, j, codes[j])
        return len(values), values
    count = len(np.asarray(column.categories))
    # an unknown category counts as missing
    known = np.isfinite(X[:, j]) & (X[:, j] >= 0)
    codes[j] = np.where(known, X[:, j], count)
    return count, np.empty(0)


def _one_array(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The parts in one array: that which they are views of, if they are all of it, one after the
    other."""
    base = parts[0].base
    n = sum(map(len, parts))
    if base is None or base.shape != (n, *parts[0].shape[1:]):
        return np.concatenate(parts)
    address = base.ctypes.data
    for part in parts:
        if (
            part.base is not base
            or not part.flags.c_contiguous
            or part.ctypes.data != address
        ):
            return np.concatenate(parts)
        address += part.nbytes
    return base
