"""What a table's columns look like: a mergeable profile, from which kinds are inferred with their reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lyceum.data._arrow import column_class, numbers
from lyceum.data._schema import KINDS, Column, Kind
from lyceum.errors import SchemaError

__all__ = ["ColumnProfile", "TableProfile"]

_FEW = 32  # distinct numbers that are counted one by one before a column is just "many numbers"


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Rows, gaps, range and distinct values of one column of one stretch of rows."""

    name: str
    holds: str  # "number", "category" (of numbers), "text", "bool", "time" or "empty"
    n_rows: int
    n_missing: int
    n_infinite: int
    low: float
    high: float
    whole: bool
    values: np.ndarray | None  # distinct values in order, None once there are too many numbers to list
    counts: np.ndarray | None  # rows of each

    @classmethod
    def of(cls, name: str, column: pa.Array | pa.ChunkedArray, in_full: bool = False) -> ColumnProfile:
        try:
            holds = column_class(column.type).replace("number-dictionary", "category")
        except SchemaError as error:
            raise SchemaError(f"column {name!r}: {error}") from None
        if holds == "text":
            values, counts = _count_text(column)
            return cls(name, holds, len(column), column.null_count, 0, np.nan, np.nan, False, values, counts)
        cells = numbers(column, name)
        cells = cells[~np.isnan(cells)]
        finite = cells[np.isfinite(cells)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (np.inf, -np.inf)
        values, counts = _count_numbers(cells, in_full or holds == "category")
        whole = bool(np.array_equal(finite, np.trunc(finite)))
        n_missing, n_infinite = len(column) - len(cells), len(cells) - len(finite)
        return cls(name, holds, len(column), n_missing, n_infinite, low, high, whole, values, counts)

    def merge(self, other: ColumnProfile) -> ColumnProfile:
        values, counts = _merge_counts(self, other)
        holds = self.holds if other.holds == "empty" else other.holds
        if {self.holds, other.holds} == {"text", "number"}:
            raise SchemaError(f"column {self.name!r} holds text in some places and numbers in others: make it one type")
        return ColumnProfile(
            self.name,
            holds,
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_infinite + other.n_infinite,
            float(np.fmin(self.low, other.low)),
            float(np.fmax(self.high, other.high)),
            self.whole and other.whole,
            values,
            counts,
        )

    @property
    def is_open(self) -> bool:
        """Whether more rows could still change the kind or the categories."""
        return self.holds in ("text", "category", "empty", "bool") or (self.values is not None and len(self.values) <= 2)

    def column(self, declared: Kind | None = None) -> Column:
        """The column with its kind, declared or inferred, and the reason."""
        if declared is not None:
            return self._declared(declared)
        distinct = 0 if self.values is None else len(self.values)
        if self.holds == "bool":
            return Column(self.name, "binary", np.array([False, True]), "true or false")
        if self.holds == "text":
            values = np.asarray(self.values)
            kind: Kind = "binary" if distinct == 2 else "categorical"
            return Column(self.name, kind, values, f"text with {distinct} value{'s' * (distinct != 1)}")
        if self.holds == "category":
            return Column(self.name, "categorical", np.asarray(self.values), f"a category type of {distinct} numbers")
        if self.holds == "empty" or self.n_missing == self.n_rows:
            return Column(self.name, "continuous", None, "nothing but missing cells")
        if distinct == 2:
            values = np.asarray(self.values)
            return Column(self.name, "binary", values, f"two numbers only: {values[0]:g} and {values[1]:g}")
        if self.holds == "time":
            return Column(self.name, "continuous", None, "times, as seconds since 1970")
        many = f"{distinct} distinct" if self.values is not None else f"more than {_FEW} distinct"
        return Column(self.name, "continuous", None, f"{'whole ' * self.whole}numbers, {many}")

    def _declared(self, kind: Kind) -> Column:
        if kind == "continuous":
            if self.holds == "text":
                raise SchemaError(f"column {self.name!r} holds text and cannot be continuous: clean it first")
            return Column(self.name, kind, None, "declared")
        values = np.array([False, True]) if self.holds == "bool" else self.values
        if values is None:
            raise SchemaError(f"column {self.name!r} has too many distinct values for a {kind} column")
        if kind == "binary" and len(values) > 2:
            raise SchemaError(f"column {self.name!r} is declared binary but has {len(values)} values")
        return Column(self.name, kind, np.asarray(values), "declared")


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The profiles of all columns of a table."""

    n_rows: int
    columns: Mapping[str, ColumnProfile]

    @classmethod
    def of(cls, table: pa.Table | pa.RecordBatch, in_full: Collection[str] = ()) -> TableProfile:
        """Profile the table; numbers of the columns `in_full` are listed however many there are."""
        names = table.schema.names
        return cls(
            table.num_rows,
            {name: ColumnProfile.of(name, table.column(name), name in in_full) for name in names},
        )

    def merge(self, other: TableProfile) -> TableProfile:
        if set(self.columns) != set(other.columns):
            odd = sorted(set(self.columns) ^ set(other.columns))
            raise SchemaError(f"the files differ in their columns: {', '.join(map(repr, odd))}")
        merged = {name: column.merge(other.columns[name]) for name, column in self.columns.items()}
        return TableProfile(self.n_rows + other.n_rows, merged)

    def updated(self, other: TableProfile) -> TableProfile:
        """With the columns that `other` has replaced by its."""
        return replace(self, columns={**self.columns, **other.columns}, n_rows=max(self.n_rows, other.n_rows))

    @property
    def open_columns(self) -> list[str]:
        return [name for name, column in self.columns.items() if column.is_open]


def check_kinds(kinds: Mapping[str, str], names: Collection[str]) -> None:
    """Raise unless every declared kind names a column and a kind."""
    for name, kind in kinds.items():
        if name not in names:
            raise SchemaError(f"kinds names the column {name!r}, which is not there: {', '.join(map(repr, names))}")
        if kind not in KINDS:
            raise SchemaError(f"kinds says {kind!r} for column {name!r}: choose one of {', '.join(KINDS)}")


def _count_text(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    if pa.types.is_dictionary(column.type):
        return _count_dictionary(column)
    counted = pc.value_counts(column.drop_null())
    return _sorted_counts(counted.field("values"), counted.field("counts").to_numpy(zero_copy_only=False))


def _count_dictionary(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    unified = column.unify_dictionaries() if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if not unified.num_chunks:
        return _sorted_counts(pa.array([], pa.string()), np.empty(0, dtype=np.int64))
    dictionary = unified.chunk(0).dictionary
    counts = np.zeros(len(dictionary), dtype=np.int64)
    for chunk in unified.chunks:
        counts += np.bincount(chunk.indices.drop_null().to_numpy(zero_copy_only=False), minlength=len(counts))
    return _sorted_counts(dictionary, counts)


def _sorted_counts(values: pa.Array, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels = np.array(values.to_pylist(), dtype=np.str_) if len(values) else np.empty(0, dtype="<U1")
    order = np.argsort(labels, kind="stable")
    return labels[order], counts[order]


def _count_numbers(cells: np.ndarray, in_full: bool) -> tuple[np.ndarray | None, np.ndarray | None]:
    if not in_full and len(np.unique(cells[:1000])) > _FEW:
        return None, None
    values, counts = _distinct(cells)
    return (values, counts) if in_full or len(values) <= _FEW else (None, None)


def _distinct(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`np.unique` with counts; whole numbers of a small range are counted without sorting."""
    if len(cells) and np.isfinite(cells).all() and np.array_equal(cells, np.trunc(cells)):
        low = cells.min()
        if cells.max() - low < 1 << 16:
            counts = np.bincount((cells - low).astype(np.intp))
            present = np.flatnonzero(counts)
            return present + low, counts[present]
    return np.unique(cells, return_counts=True)


def _merge_counts(one: ColumnProfile, two: ColumnProfile) -> tuple[np.ndarray | None, np.ndarray | None]:
    if one.values is None or two.values is None or one.counts is None or two.counts is None:
        return None, None
    if not len(one.values):
        return two.values, two.counts
    if not len(two.values):
        return one.values, one.counts
    values = np.union1d(one.values, two.values)
    counts = np.zeros(len(values), dtype=np.int64)
    for profile in (one, two):
        counts[np.searchsorted(values, profile.values)] += profile.counts  # type: ignore[arg-type]
    return values, counts
