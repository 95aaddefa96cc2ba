"""Columns with about one category per row: they name the rows, and what they teach holds nowhere
else."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows, Schema

_FEWEST = 20  # rows below which a textbook's "day 1, day 2, ..." may be looked at
_SHARE = 0.5  # categories that occur per row; a bootstrap sample of names has 0.63


def row_names(rows: Rows) -> list[str]:
    """The categorical columns with more than half as many categories as rows.

    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> table = pa.table({"name": [f"row {i}" for i in range(20)], "kind": ["a", "b"] * 10})
    >>> row_names(scan(table))
    ['name']
    """
    n = rows.n_rows
    if n is None or n < _FEWEST or rows.on_dask or rows.schema.of_an_array:
        return []
    # categories that no row has may be listed, so that the list alone is not enough
    listed = []
    for j, column in enumerate(rows.schema):
        has_list = column.categories is not None and not column.is_free_text
        if has_list and len(column.categories) > _SHARE * n:  # type: ignore[arg-type]
            listed.append(j)
    if not listed:
        return []
    seen = rows.reduce(partial(_CategoriesSeen.of, columns=listed))
    names = [rows.schema.names[j] for j in listed]
    return [name for name, codes in zip(names, seen.codes) if len(codes) > _SHARE * n]


def without_row_names(rows: Rows, caller: str, blank: bool) -> Rows:
    """The same rows with a warning where a column names them; `blank` makes its cells missing.

    A split by such a column puts every row into a leaf of its own. Trees therefore do not look at
    it.
    """
    names = row_names(rows)
    if not names:
        return rows
    for name in names:
        count = len(rows.schema[name].categories)  # type: ignore[arg-type]
        does = "learns from it what holds for no other row"
        if blank:
            does = "makes no split by it"
        warnings.warn(
            f"column {name!r} has {count:,} categories in {rows.n_rows:,} rows and so names the"
            f" rows: {caller} {does}; leave the column out, or group its categories",
            UserWarning,
            stacklevel=4,
        )
    if blank:
        return rows.then(BlankColumns(tuple(names)))
    return rows


@dataclass(frozen=True, slots=True)
class BlankColumns:
    """All cells of some columns as missing."""

    names: tuple[str, ...]

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        dtype = block.X.dtype if block.X.dtype.kind == "f" else np.float64
        X: Any = block.X.astype(dtype)
        columns = [block.schema.index(name) for name in self.names]
        X[:, columns] = np.nan
        return block.with_X(X, block.schema)


@dataclass(frozen=True, slots=True)
class _CategoriesSeen:
    """The distinct codes of some columns."""

    codes: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, block: Block, columns: list[int]) -> _CategoriesSeen:
        codes = []
        for j in columns:
            cells = block.X[:, j]
            codes.append(np.unique(cells[np.isfinite(cells) & (cells >= 0)]))
        return cls(tuple(codes))

    def merge(self, other: _CategoriesSeen) -> _CategoriesSeen:
        return _CategoriesSeen(tuple(map(np.union1d, self.codes, other.codes)))
