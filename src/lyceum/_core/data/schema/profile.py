"""What a table's columns look like: a mergeable profile, from which kinds are inferred with their
reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lyceum._core.data.inputs.arrow import (
    EXACT,
    check_exact,
    column_class,
    has_large_levels,
    numbers,
)
from lyceum._core.data.schema.column import (
    DECLARED,
    NOTHING,
    TIMES,
    Column,
    Kind,
    as_whole_numbers,
    categorical_kind,
    declared_column,
    union_levels,
)
from lyceum._core.data.schema.distinct_values import (
    FEW,
    MANY,
    Counted,
    count_declared,
    count_numbers,
    count_text,
)
from lyceum._core.lazy_arrow import pa
from lyceum.errors import SchemaError


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Rows, missing cells, range and distinct values of one column: a statistic that merges.

    Attributes
    ----------
    name : str
        The name of the column.
    holds : str
        "number", "category" (of numbers), "text", "bool", "time" or "empty".
    n_rows : int
        The number of rows.
    n_missing : int
        Missing cells.
    n_infinite : int
        Infinite cells.
    low : float
        The smallest finite number; inf when there is none.
    high : float
        The largest finite number; -inf when there is none.
    is_integer : bool
        Whether all numbers are whole.
    values : array or None
        Distinct values in order, None once there are too many to list.
    counts : array or None
        The rows of each distinct value.
    in_full : bool, default=False
        Whether distinct numbers are listed however many there are.
    ordered : bool, default=False
        Whether values are the levels of a category type, in their order.
    is_open : bool
        Whether more rows could still change the kind, the categories or the reason.

    See Also
    --------
    TableProfile : The profiles of all columns.
    Column : What is inferred from it.
    ColumnInspection : The same for people, with medians and notes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum._core.data import ColumnProfile
    >>> first = ColumnProfile.of("dose", pa.array([5, 20, None, 5]))
    >>> first.column().kind, first.counts.tolist()
    ('binary', [2, 1])
    >>> both = first.merge(ColumnProfile.of("dose", pa.array([10])))
    >>> both.column().kind, both.column().why
    ('continuous', 'whole numbers, 3 distinct')
    """

    name: str
    holds: str
    n_rows: int
    n_missing: int
    n_infinite: int
    low: float
    high: float
    is_integer: bool
    values: np.ndarray | None
    counts: np.ndarray | None
    in_full: bool = False
    ordered: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        column: pa.Array | pa.ChunkedArray,
        in_full: bool = False,
        ordered: bool = False,
    ) -> ColumnProfile:
        """Profile a column; `ordered` keeps the levels of a dictionary in the order of their
        type."""
        holds = contents(column.type, name)
        ordered = ordered and pa.types.is_dictionary(column.type)
        n = len(column)
        if holds == "text":
            values, counts = count_text(column, ordered, name)
            return cls(
                name=name,
                holds=holds,
                n_rows=n,
                n_missing=column.null_count
                if counts is None
                else n - int(counts.sum()),
                n_infinite=0,
                low=np.nan,
                high=np.nan,
                is_integer=False,
                values=values,
                counts=counts,
                ordered=ordered,
            )
        if holds == "category" and has_large_levels(column):
            whole = cls.of(name, column.cast(column.type.value_type), in_full=True)
            return replace(whole, holds=holds)
        if pa.types.is_integer(column.type) and column.null_count < n:
            present = cls._of_integers(name, column.drop_null(), in_full)
            return replace(present, n_rows=n, n_missing=column.null_count)
        return cls._of_floats(name, holds, column, in_full, ordered)

    @classmethod
    def _of_floats(
        cls,
        name: str,
        holds: str,
        column: pa.Array | pa.ChunkedArray,
        in_full: bool,
        ordered: bool,
    ) -> ColumnProfile:
        """The profile of cells that are numbers, or categories other than texts."""
        if in_full:
            check_exact(column, name)
        cells = numbers(column, name)
        cells = cells[~np.isnan(cells)]
        finite = cells[np.isfinite(cells)]
        if holds == "category":
            values, counts = count_declared(column, cells, name, ordered)
        else:
            values, counts = count_numbers(cells, in_full)
        all_finite = len(finite) == len(cells)
        return cls(
            name=name,
            holds=holds,
            n_rows=len(column),
            n_missing=len(column) - len(cells),
            n_infinite=len(cells) - len(finite),
            low=float(finite.min(initial=np.inf)),
            high=float(finite.max(initial=-np.inf)),
            is_integer=all_finite and bool(np.array_equal(cells, np.trunc(cells))),
            values=values,
            counts=counts,
            in_full=in_full,
            ordered=ordered,
        )

    @classmethod
    def _of_integers(
        cls, name: str, column: pa.Array | pa.ChunkedArray, in_full: bool
    ) -> ColumnProfile:
        """The profile of whole numbers without a missing one, which need not become floats.

        Numbers beyond 2⁵³ stay whole numbers: as floats, neighbors would be the same.
        """
        cells = column.to_numpy()
        low = int(cells.min())
        high = int(cells.max())
        is_exact = max(-low, high) <= EXACT
        values: np.ndarray | None
        counts: np.ndarray | None
        # a table of the numbers from low to high counts without sorting
        if high - low < 1 << 16 and is_exact:
            tally = np.bincount(np.subtract(cells, low, dtype=np.int64))
            present = np.flatnonzero(tally)
            values = (present + low).astype(np.float64)
            counts = tally[present]
            if not in_full and len(values) > FEW:
                values = None
                counts = None
        else:
            if is_exact:
                cells = cells.astype(np.float64)
            values, counts = count_numbers(cells, in_full)
        return cls(
            name=name,
            holds="number",
            n_rows=len(cells),
            n_missing=0,
            n_infinite=0,
            low=float(low),
            high=float(high),
            is_integer=True,
            values=values,
            counts=counts,
            in_full=in_full,
        )

    def merge(self, other: ColumnProfile) -> ColumnProfile:
        check_same_types({self.name: self.holds}, {self.name: other.holds})
        values, counts = self._merge_counts(other)
        return ColumnProfile(
            name=self.name,
            holds=self.holds if other.holds == "empty" else other.holds,
            n_rows=self.n_rows + other.n_rows,
            n_missing=self.n_missing + other.n_missing,
            n_infinite=self.n_infinite + other.n_infinite,
            # fmin and fmax pass over the NaN of text
            low=float(np.fmin(self.low, other.low)),
            high=float(np.fmax(self.high, other.high)),
            is_integer=self.is_integer and other.is_integer,
            values=values,
            counts=counts,
            in_full=self.in_full or other.in_full,
            ordered=self.ordered or other.ordered,
        )

    def _merge_counts(self, other: ColumnProfile) -> Counted:
        """The distinct values of both with their counts, None for both once there are too many."""
        if (
            self.values is None
            or other.values is None
            or self.counts is None
            or other.counts is None
        ):
            return None, None
        if not len(self.values):
            return other.values, other.counts
        if not len(other.values):
            return self.values, self.counts
        in_full = self.in_full or other.in_full or self.holds in ("text", "category")
        first, second = _one_type(self.values, other.values)
        values = np.union1d(first, second)
        if len(values) > (MANY if in_full else FEW):
            return None, None
        # the values of each are distinct, so that every place is added to once
        counts = np.zeros(len(values), dtype=np.int64)
        counts[np.searchsorted(values, first)] += self.counts
        counts[np.searchsorted(values, second)] += other.counts
        if not (self.ordered or other.ordered):
            return values, counts
        levels = union_levels(first, second)
        return levels, counts[np.searchsorted(values, levels)]

    @property
    def is_open(self) -> bool:
        """Whether more rows could still change the kind, the categories or the reason."""
        return self.holds == "text" or self.values is not None

    def column(self, declared: Kind | None = None, typed: bool = False) -> Column:
        """The column with its kind and the reason: declared, by its type if it is `typed`, or
        inferred."""
        if declared is not None:
            return self._declare_column(declared)
        if typed:
            column = by_type(self.name, self.holds)
            if column is not None:
                return column
        all_missing = self.n_missing == self.n_rows and not self._distinct
        if self.holds == "empty" or all_missing:
            return Column(self.name, "continuous", None, NOTHING)
        if self.holds in ("text", "category", "bool"):
            return self._categorical()
        if self.holds == "time":
            return Column(self.name, "continuous", None, TIMES)
        if self.values is None:
            why = f"numbers, more than {FEW} distinct"
            return Column(self.name, "continuous", None, why)
        if self._distinct == 2:
            low, high = self.values
            why = f"two numbers only: {low:g} and {high:g}"
            return Column(self.name, "binary", self.values, why)
        why = f"{'whole ' * self.is_integer}numbers, {self._distinct} distinct"
        return Column(self.name, "continuous", None, why)

    @property
    def _distinct(self) -> int:
        if self.values is None:
            return 0
        return len(self.values)

    def _categorical(self) -> Column:
        if self.holds == "bool":
            return Column(self.name, "binary", np.array([False, True]), "true or false")
        values = self._list_values("categorical")
        n = len(values)
        if self.holds == "category":
            why = f"a category type of {n} numbers"
            return Column(self.name, "categorical", as_whole_numbers(values), why)
        why = f"text with {n} value{'s' * (n != 1)}"
        return Column(self.name, categorical_kind(values), values, why)

    def _declare_column(self, kind: Kind | Literal["text"]) -> Column:
        if kind == "text":
            if self.holds not in ("text", "empty"):
                raise SchemaError(
                    f"column {self.name!r} is declared text but holds {_PLURAL[self.holds]}"
                )
            return Column.of_text(self.name)
        if kind == "continuous":
            if self.holds == "text" and self.n_missing < self.n_rows:
                example = "text"
                if self.values is not None:
                    example = f"text such as {str(self.values[0])!r}"
                raise SchemaError(
                    f"column {self.name!r} is declared continuous but holds {example}: clean it"
                    " first"
                )
            return declared_column(self.name, kind, None)
        if self.holds == "bool":
            values = np.array([False, True])
        else:
            values = self._list_values(kind)
        return declared_column(self.name, kind, values)

    def _list_values(self, kind: Kind) -> np.ndarray:
        if self.values is None:
            raise SchemaError(too_many_text(self.name, kind))
        return self.values


def too_many_text(name: str, kind: Kind) -> str:
    return (
        f"column {name!r} has too many distinct values for a {kind} column, more than {MANY:,} or"
        f" very long ones: leave it out, e.g. ignore=[{name!r}], or group its values first"
    )


def contents(kind: pa.DataType, name: str) -> str:
    """What a column of an Arrow type holds: the words of `ColumnProfile.holds`."""
    return column_class(kind, name).replace("number-dictionary", "category")


def names_with_levels(schema: pa.Schema) -> set[str]:
    """The columns of category types, whose levels have an order."""
    return {column.name for column in schema if pa.types.is_dictionary(column.type)}


def by_type(name: str, holds: str) -> Column | None:
    """The column of a type that settles the kind; None for types whose values have to be listed."""
    if holds == "number":
        return Column(name, why="numbers")
    if holds == "time":
        return Column(name, why=TIMES)
    if holds == "bool":
        return Column(name, "binary", np.array([False, True]), "true or false")
    return None


def check_same_types(one: Mapping[str, str], two: Mapping[str, str]) -> None:
    """Raise if a column holds one thing in some files or partitions and another in others."""
    for name, holds in one.items():
        if holds != two[name] and "empty" not in (holds, two[name]):
            raise SchemaError(
                f"column {name!r} holds {_PLURAL[holds]} in some files or partitions and "
                f"{_PLURAL[two[name]]} in others: make it one type"
            )


_PLURAL = {
    "number": "numbers",
    "category": "a category type",
    "text": "text",
    "bool": "true/false",
    "time": "times",
    "empty": "nothing",
}


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The profiles of all columns of a table: a statistic that merges.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    columns : mapping of str to ColumnProfile
        The profile of every column, by name.

    See Also
    --------
    ColumnProfile : The profile of one column.
    profile_large_file : Profiles a file that is larger than memory.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum._core.data import TableProfile
    >>> first = TableProfile.of(pa.table({"age": [31.0, None], "club": ["a", "b"]}))
    >>> both = first.merge(TableProfile.of(pa.table({"age": [58.0], "club": ["c"]})))
    >>> both.n_rows, both.columns["age"].high, both.columns["club"].values.tolist()
    (3, 58.0, ['a', 'b', 'c'])
    """

    n_rows: int
    columns: Mapping[str, ColumnProfile]

    @classmethod
    def of(
        cls,
        table: pa.Table | pa.RecordBatch,
        in_full: Collection[str] = (),
        ordered: Collection[str] = (),
    ) -> TableProfile:
        """Profile the table.

        Numbers of the columns `in_full` are listed however many there are; the levels of the
        dictionaries `ordered` stay in their order, those of others are sorted.
        """
        columns = {
            name: ColumnProfile.of(
                name, table.column(name), name in in_full, name in ordered
            )
            for name in table.schema.names
        }
        return cls(table.num_rows, columns)

    def merge(self, other: TableProfile) -> TableProfile:
        if set(self.columns) != set(other.columns):
            odd = sorted(set(self.columns) ^ set(other.columns))
            raise SchemaError(
                f"the files differ in their columns: {', '.join(map(repr, odd))}"
            )
        merged = {
            name: column.merge(other.columns[name])
            for name, column in self.columns.items()
        }
        return TableProfile(self.n_rows + other.n_rows, merged)

    def select(self, names: Collection[str]) -> TableProfile:
        """With these columns only, in their order."""
        return TableProfile(self.n_rows, {name: self.columns[name] for name in names})

    def with_columns_of(self, other: TableProfile) -> TableProfile:
        """With the columns that `other` has replaced by its."""
        return replace(
            self,
            columns={**self.columns, **other.columns},
            n_rows=max(self.n_rows, other.n_rows),
        )


def check_kinds(kinds: Mapping[str, str]) -> None:
    """Raise unless every declared kind is one."""
    for name, kind in kinds.items():
        if kind not in DECLARED:
            raise SchemaError(
                f"kinds says {kind!r} for column {name!r}: choose one of {', '.join(DECLARED)}"
            )


def _one_type(one: np.ndarray, two: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as whole numbers if one of them is and the other can be, else as they are."""
    kinds = {one.dtype.kind, two.dtype.kind}
    if kinds not in ({"i", "f"}, {"u", "f"}):
        return one, two
    dtype = two.dtype if one.dtype.kind == "f" else one.dtype
    are_whole = all(np.array_equal(values, np.trunc(values)) for values in (one, two))
    if are_whole:
        return one.astype(dtype), two.astype(dtype)
    return one, two
