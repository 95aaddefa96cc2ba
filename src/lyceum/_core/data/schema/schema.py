"""Schemas: the columns that a learner sees, in order, with the target and the weights."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data.files.column_names import check_names
from lyceum._core.data.schema.column import (
    FIELDS,
    Column,
    Kind,
    categorical_kind,
    is_beyond_floats,
)
from lyceum.errors import ModelFileError, SchemaError

_MANY = 10_000  # columns


class _NameIndex:
    """Holds the names and their places; they are no fields, so that copies and model files do
    without."""

    __slots__ = ("_has_free_text", "_listed_names", "_number_codes", "_places")
    _has_free_text: bool
    _listed_names: tuple[str, ...]
    _number_codes: dict[int, dict[float, float] | None]
    _places: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Schema(_NameIndex):
    """The columns that a learner sees, the target and the weight column if there are any.

    Attributes
    ----------
    columns : tuple of Column
        The columns that are learned from.
    target : Column or None, default=None
        The column that is predicted.
    weight : str or None, default=None
        The name of the column with weights.
    names : tuple of str
        The names of the columns.
    categorical : array of int
        The places of binary and categorical columns.
    continuous : array of int
        The places of continuous columns.
    target_name : str
        The name of the target, "y" if it has none.
    has_free_text : bool
        Whether there is a column of free text.
    number_codes : dict of int to dict
        The columns of categories that are numbers, with the code of every number.
    of_an_array : bool
        Whether the columns are the numbers of an array.
    text_formats : dict of str to str
        How the cells of columns were written that were read from text, by name.

    See Also
    --------
    Column : One of its columns.
    scan : Infers a schema from a file or frame, or takes one, `kinds=`.
    lyceum.errors.SchemaError : Raised where rows do not fit.

    Examples
    --------
    >>> schema = Schema.declare({"age": "continuous", "sex": ["female", "male"]})
    >>> print(schema)
    age  continuous  declared
    sex  binary      declared
    """

    columns: tuple[Column, ...]
    target: Column | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        if not self.of_an_array:
            check_names(self.names)

    @classmethod
    def declare(
        cls, kinds: Mapping[str, Kind | Sequence[Any]], target: Column | None = None
    ) -> Schema:
        """A schema from names and, for each, "continuous" or the list of categories."""
        columns = []
        for name, kind in kinds.items():
            if isinstance(kind, str):
                columns.append(Column(name, kind, why="declared"))  # type: ignore[arg-type]
                continue
            values = np.asarray(kind)
            column = Column(name, categorical_kind(values), values, "declared")
            columns.append(column)
        return cls(tuple(columns), target)

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Schema:
        """All columns continuous, as in a plain array."""
        return cls(_number_columns(tuple(names)))

    @property
    def names(self) -> tuple[str, ...]:
        try:
            return self._listed_names
        except AttributeError:
            names = _known_names(self.columns)
            if not names:
                names = tuple([column.name for column in self.columns])
            object.__setattr__(self, "_listed_names", names)
            return names

    @property
    def of_an_array(self) -> bool:
        """Whether these are known to be the numbers of an array, without a look at (a million)
        columns."""
        return bool(_known_names(self.columns))

    @property
    def target_name(self) -> str:
        """The name of the target, "y" if it has none."""
        if self.target is None:
            return "y"
        return self.target.name

    @property
    def categorical(self) -> np.ndarray:
        """The indices of binary and categorical columns."""
        return np.array(
            [j for j, column in enumerate(self.columns) if column.is_categorical],
            dtype=np.intp,
        )

    @property
    def continuous(self) -> np.ndarray:
        """The indices of continuous columns."""
        return np.array(
            [j for j, column in enumerate(self.columns) if not column.is_categorical],
            dtype=np.intp,
        )

    @property
    def has_free_text(self) -> bool:
        """Whether there is a column of free text."""
        try:
            return self._has_free_text
        except AttributeError:
            has = not self.of_an_array and any(
                column.is_free_text for column in self.columns
            )
            object.__setattr__(self, "_has_free_text", has)
            return has

    @property
    def number_codes(self) -> dict[int, dict[float, float] | None]:
        """The columns of categories that are numbers, with the codes of these; None where floats
        do not tell the numbers apart."""
        try:
            return self._number_codes
        except AttributeError:
            codes: dict[int, dict[float, float] | None] = {}
            columns = () if self.of_an_array else self.columns
            for j, column in enumerate(columns):
                if column.is_categorical and column.numeric:
                    codes[j] = _codes_of_numbers(column)
            object.__setattr__(self, "_number_codes", codes)
            return codes

    def check(self) -> None:
        """Raise ModelFileError unless the values, which came from a model file, are those of a
        schema."""
        columns = self.columns
        if not isinstance(columns, tuple) or not all(
            isinstance(column, Column) for column in columns
        ):
            raise ModelFileError("holds a schema that is not made of columns")
        has_roles = isinstance(self.target, Column | None)
        if not has_roles or not isinstance(self.weight, str | None):
            raise ModelFileError(
                "holds a schema whose target or weight is not a column"
            )
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, key: str | int) -> Column:
        if isinstance(key, str):
            key = self.index(key)
        return self.columns[key]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def index(self, name: str) -> int:
        """The place of a column among the columns."""
        index = self._index.get(name)
        if index is None:
            raise SchemaError(
                f"there is no column {name!r}: the columns are {', '.join(map(repr, self.names))}"
            )
        return index

    @property
    def _index(self) -> dict[str, int]:
        try:
            return self._places
        except AttributeError:
            indices = {name: index for index, name in enumerate(self.names)}
            object.__setattr__(self, "_places", indices)
            return indices

    def with_text_formats(self, styles: Mapping[str, str]) -> Schema:
        """The schema that remembers how the cells of some columns were written."""
        if not styles:
            return self

        def remember(column: Column) -> Column:
            style = styles.get(column.name, "")
            if style and (column.categories is None or column.numeric):
                return replace(column, text_format=style)
            return column

        target = self.target
        if target is not None:
            target = remember(target)
        return replace(self, columns=tuple(map(remember, self.columns)), target=target)

    @property
    def text_formats(self) -> dict[str, str]:
        """How the cells of columns were written that were read from text."""
        columns = [*self.columns, self.target]
        return {
            column.name: column.text_format
            for column in columns
            if column is not None and column.text_format
        }

    def same_as(self, other: Schema) -> bool:
        """Whether both have the same columns with the same categories, and targets of the same
        classes."""
        return not self.difference(other)

    def difference(self, other: Schema) -> str:
        """What is first different in the columns or classes of `other`, in words; "" if nothing is.

        The order of columns and of categories counts; the names of the targets do not.

        Examples
        --------
        >>> known = Schema.declare({"age": "continuous", "size": ["S", "M", "L"]})
        >>> known.difference(Schema.declare({"age": "continuous", "size": ["L", "M", "S"]}))
        "column 'size' has its categories in another order"
        >>> known.difference(Schema.declare({"age": "continuous", "size": ["S", "XL"]}))
        "column 'size' has the new category 'XL'"
        """
        # arrays of the same names are the same, without a look at (a million) columns
        both_arrays = self.of_an_array and other.of_an_array
        same_array = both_arrays and self.names == other.names
        if self.columns is not other.columns and not same_array:
            if len(self) != len(other):
                return f"the number of columns is {len(other)} instead of {len(self)}"
            for before, column in zip(self.columns, other.columns):
                if not before.same_as(column):
                    return before.difference(column)
        if self.target is None or other.target is None:
            return ""
        change = replace(self.target, name=other.target.name).difference(other.target)
        return change and f"the target {change.removeprefix('column ')}"

    def with_target(self, target: Column | None) -> Schema:
        schema = copy(self)  # the names are known to be different
        object.__setattr__(schema, "target", target)
        object.__setattr__(schema, "_listed_names", self.names)
        return schema

    def __str__(self) -> str:
        target = self.target
        names = list(self.names)
        if target:
            names.append(target.name)
        wide = max(map(len, names), default=0)
        lines = [
            f"{column.name:<{wide}}  {column.kind:<11} {column.why}".rstrip()
            for column in self.columns
        ]
        if target:
            lines.append(
                f"{target.name:<{wide}}  {target.kind:<11} the target; {target.why}"
            )
        return "\n".join(lines)


# the setters of the fields, which a frozen class hides; as defaults below they are local names, the
# fastest that there are
_SLOTS = [getattr(Column, name).__set__ for name in FIELDS]


def _number_column(
    name: str,
    new: Any = object.__new__,
    set_name: Any = _SLOTS[0],
    set_kind: Any = _SLOTS[1],
    set_categories: Any = _SLOTS[2],
    set_why: Any = _SLOTS[3],
    set_written: Any = _SLOTS[4],
) -> Column:
    """A column of numbers, made quickly: a sparse array may have a million."""
    column: Column = new(Column)
    set_name(column, name)
    set_kind(column, "continuous")
    set_categories(column, None)
    set_why(column, "a number in an array")
    set_written(column, "")
    return column


_Numbers = tuple[tuple[str, ...], tuple[Column, ...]]
# names and columns of the last arrays: a wide one is often fitted again
_recent: tuple[_Numbers, ...] = ()
_MOST_RECENT = 4


def _known_names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The names of columns that `_number_columns` made, which are all different; else none."""
    return next((names for names, made in _recent if made is columns), ())


def _number_columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    """Columns of numbers; those of the last arrays are kept."""
    global _recent
    for recent_names, columns in _recent:
        if recent_names is names or recent_names == names:
            return columns
    check_names(names)
    collects = len(names) > _MANY and gc.isenabled()
    # the collector would look through all columns again and again while they are made
    if collects:
        gc.disable()
    try:
        columns = tuple(map(_number_column, names))
    finally:
        if collects:
            gc.enable()
    _recent = ((names, columns), *_recent[: _MOST_RECENT - 1])
    return columns


# -- free text: a block of rows lists its own texts, a learner keeps none ---------------


def _codes_of_numbers(column: Column) -> dict[float, float] | None:
    values = np.asarray(column.categories)
    if is_beyond_floats(values):
        return None
    numbers = values.astype(np.float64).tolist()
    return {number: float(code) for code, number in enumerate(numbers)}


def with_texts_of(schema: Schema, listed: Schema) -> Schema:
    """The schema with the texts that another one lists for its columns of free text, by name.

    >>> import numpy as np
    >>> block = Schema((Column("mail", "categorical", np.array(["free lunch"]), "free text"),))
    >>> schema = Schema((Column("age"), Column.of_text("mail")))
    >>> with_texts_of(schema, block)["mail"].categories.tolist()
    ['free lunch']
    """
    if not schema.has_free_text:
        return schema
    columns = list(schema.columns)
    for j, column in enumerate(columns):
        if column.is_free_text and column.name in listed:
            source = listed[column.name]
            if source.is_text:
                columns[j] = replace(column, categories=source.categories)
    return replace(schema, columns=tuple(columns))


def without_texts(schema: Schema) -> Schema:
    """The schema without the texts of its columns of free text: those to come are others."""
    if not schema.has_free_text:
        return schema
    columns = [
        Column.of_text(column.name) if column.is_free_text else column
        for column in schema
    ]
    return replace(schema, columns=tuple(columns))
