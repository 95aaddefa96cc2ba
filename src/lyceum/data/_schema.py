"""Column kinds: what every column is, which values it may take, and why that was concluded."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from lyceum.data._column_names import check_names
from lyceum.data._text_styles import FORMATS
from lyceum.errors import ModelFileError, SchemaError

__all__ = ["KINDS", "Column", "Kind", "Schema"]

Kind = Literal["binary", "categorical", "continuous"]
KINDS: tuple[Kind, ...] = ("binary", "categorical", "continuous")
EXACT = 2**53  # whole numbers up to this are told apart as floats
_MANY = 10_000  # columns
NOTHING = "nothing but missing cells"
TIMES = "times, in seconds"
FREE_TEXT = "free text"
DECLARED = (*KINDS, "text")  # what a column may be declared to be
LISTED = "declared with its categories"
_FIELDS = ("name", "kind", "categories", "why", "written")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: its name, its kind, its categories in code order, and why.

    A binary column of two numbers or of true and false (`numeric` is true) keeps its numbers as cells, for
    methods that compute; methods that count take it as a table of two values. Cells of other categorical
    columns are codes.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"binary", "categorical", "continuous"}, default="continuous"
        Its kind.
    categories : array or None, default=None
        Its categories in the order of their codes.
    why : str, default=""
        Why it has this kind.
    written : str, default=""
        How cells were written that were read from text: a decimal mark or a format of dates ("%d/%m/%Y").
    """

    name: str
    kind: Kind = "continuous"
    categories: np.ndarray | None = None
    why: str = ""
    written: str = ""

    def __setstate__(self, state: Sequence[Any]) -> None:
        for each, value in zip_longest(_FIELDS, state, fillvalue=""):  # older model files lack `written`
            object.__setattr__(self, each, value)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(
                f"column {self.name!r} has the kind {self.kind!r}: choose one of {', '.join(KINDS)}"
            )
        if self.kind == "continuous" and self.categories is not None:
            raise SchemaError(f"column {self.name!r} is continuous and cannot have categories")
        if self.kind != "continuous" and self.categories is None:
            raise SchemaError(f"column {self.name!r} is {self.kind} and needs its categories")

    def check(self) -> None:
        """Raise ModelFileError unless the values, which came from a model file, are those of a column."""
        fits = isinstance(self.name, str) and isinstance(self.why, str)
        values = self.categories
        if values is not None:
            fits = fits and isinstance(values, np.ndarray) and values.ndim == 1
            fits = fits and values.dtype.kind in "biufUSO"
        if self.written not in ("", *FORMATS):
            raise ModelFileError(f"holds a column {self.name!r} written as {self.written!r}")
        if not fits:
            raise ModelFileError(f"holds a column {self.name!r} whose categories are not a list of values")
        self.__post_init__()

    @property
    def is_categorical(self) -> bool:
        return self.kind != "continuous"

    @property
    def numeric(self) -> bool:
        """Whether the cells are numbers in their own right."""
        values = self.categories
        if values is None:
            return True
        return self.kind == "binary" and values.dtype.kind in "iufb" and not is_beyond_floats(values)

    @property
    def is_text(self) -> bool:
        """Whether its categories are text."""
        return self.categories is not None and self.categories.dtype.kind not in "iufb"

    @property
    def is_empty(self) -> bool:
        """Whether no cell was ever seen in it."""
        return self.categories is None and self.why == NOTHING

    @property
    def is_time(self) -> bool:
        """Whether its cells are dates or times, as seconds since 1970."""
        return self.categories is None and self.why == TIMES

    @classmethod
    def of_text(cls, name: str) -> Column:
        """A column of free text: every block of rows lists the texts that its codes stand for."""
        return cls(name, "categorical", np.empty(0, dtype="<U1"), FREE_TEXT)

    @property
    def is_free_text(self) -> bool:
        """Whether it holds free text, which only a preparation such as `TextCounts` takes."""
        return self.why == FREE_TEXT and self.is_text

    @property
    def is_listed(self) -> bool:
        """Whether its categories were declared, so that rows may have others."""
        return self.categories is not None and self.why == LISTED

    def same_as(self, other: Column) -> bool:
        """Whether both have the same name, kind and categories."""
        if (self.name, self.kind) != (other.name, other.kind):
            return False
        if self.categories is None or other.categories is None:
            return self.categories is other.categories
        return np.array_equal(self.categories, other.categories)


class _NameIndex:
    """Holds the names and their places; they are no fields, so that copies and model files do without."""

    __slots__ = ("_has_free_text", "_listed_names", "_places")
    _has_free_text: bool
    _listed_names: tuple[str, ...]
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
    def declare(cls, kinds: Mapping[str, Kind | Sequence[Any]], target: Column | None = None) -> Schema:
        """A schema from names and, for each, "continuous" or the list of categories."""
        return cls(tuple(_declare(name, kind) for name, kind in kinds.items()), target)

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Schema:
        """All columns continuous, as in a plain array."""
        return cls(_number_columns(tuple(names)))

    @property
    def names(self) -> tuple[str, ...]:
        try:
            return self._listed_names
        except AttributeError:
            names = _known_names(self.columns) or tuple([column.name for column in self.columns])
            object.__setattr__(self, "_listed_names", names)
            return names

    @property
    def of_an_array(self) -> bool:
        """Whether these are known to be the numbers of an array, without a look at (a million) columns."""
        return bool(_known_names(self.columns))

    @property
    def target_name(self) -> str:
        """The name of the target, "y" if it has none."""
        return "y" if self.target is None else self.target.name

    @property
    def categorical(self) -> np.ndarray:
        """The indices of binary and categorical columns."""
        return np.array([j for j, column in enumerate(self.columns) if column.is_categorical], dtype=np.intp)

    @property
    def continuous(self) -> np.ndarray:
        """The indices of continuous columns."""
        return np.array(
            [j for j, column in enumerate(self.columns) if not column.is_categorical], dtype=np.intp
        )

    @property
    def has_free_text(self) -> bool:
        """Whether there is a column of free text."""
        try:
            return self._has_free_text
        except AttributeError:
            has = not self.of_an_array and any(column.is_free_text for column in self.columns)
            object.__setattr__(self, "_has_free_text", has)
            return has

    def check(self) -> None:
        """Raise ModelFileError unless the values, which came from a model file, are those of a schema."""
        columns = self.columns
        if not isinstance(columns, tuple) or not all(isinstance(column, Column) for column in columns):
            raise ModelFileError("holds a schema that is not made of columns")
        if not isinstance(self.target, Column | None) or not isinstance(self.weight, str | None):
            raise ModelFileError("holds a schema whose target or weight is not a column")
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, key: str | int) -> Column:
        return self.columns[self.index(key) if isinstance(key, str) else key]

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def index(self, name: str) -> int:
        """The place of a column among the columns."""
        place = self._index.get(name)
        if place is None:
            raise SchemaError(
                f"there is no column {name!r}: the columns are {', '.join(map(repr, self.names))}"
            )
        return place

    @property
    def _index(self) -> dict[str, int]:
        try:
            return self._places
        except AttributeError:
            places = {name: place for place, name in enumerate(self.names)}
            object.__setattr__(self, "_places", places)
            return places

    def with_written(self, styles: Mapping[str, str]) -> Schema:
        """The schema that remembers how the cells of some columns were written."""
        if not styles:
            return self

        def remember(column: Column) -> Column:
            known = styles.get(column.name, "") if column.categories is None or column.numeric else ""
            return replace(column, written=known) if known else column

        target = None if self.target is None else remember(self.target)
        return replace(self, columns=tuple(map(remember, self.columns)), target=target)

    @property
    def written(self) -> dict[str, str]:
        """How the cells of columns were written that were read from text."""
        columns = self.columns if self.target is None else (*self.columns, self.target)
        return {column.name: column.written for column in columns if column.written}

    def with_target(self, target: Column | None) -> Schema:
        schema = copy(self)  # the names are known to be different
        object.__setattr__(schema, "target", target)
        object.__setattr__(schema, "_listed_names", self.names)
        return schema

    def __str__(self) -> str:
        rows = list(self.columns) + ([self.target] if self.target else [])
        wide = max((len(column.name) for column in rows), default=0)
        lines = [f"{column.name:<{wide}}  {column.kind:<11} {column.why}".rstrip() for column in self.columns]
        if self.target:
            lines.append(f"{self.target.name:<{wide}}  {self.target.kind:<11} the target; {self.target.why}")
        return "\n".join(lines)


_SLOTS = [getattr(Column, name).__set__ for name in _FIELDS]


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
_recent: tuple[_Numbers, ...] = ()  # names and columns of the last arrays: a wide one is often fitted again
_KEPT = 4


def _known_names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The names of columns that `_number_columns` made, which are all different; else none."""
    return next((names for names, made in _recent if made is columns), ())


def _number_columns(names: tuple[str, ...]) -> tuple[Column, ...]:
    """Columns of numbers; those of the last arrays are kept."""
    global _recent
    for known, columns in _recent:
        if known is names or known == names:
            return columns
    check_names(names)
    collects = len(names) > _MANY and gc.isenabled()
    if collects:  # the collector would look through all columns again and again while they are made
        gc.disable()
    try:
        columns = tuple(map(_number_column, names))
    finally:
        if collects:
            gc.enable()
    _recent = ((names, columns), *_recent[: _KEPT - 1])
    return columns


def is_beyond_floats(values: np.ndarray) -> bool:
    """Whether these are whole numbers so large that floats do not tell them apart."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not len(values):
        return False
    return int(values.max()) > EXACT or int(values.min()) < -EXACT


def union_levels(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The levels of both: sorted if both are, else those of the first, then the new ones, in their order.

    >>> union_levels(np.array(["low", "high"]), np.array(["high", "none"])).tolist()
    ['low', 'high', 'none']
    """
    if _is_sorted(one) and _is_sorted(two):
        return np.union1d(one, two)
    both = np.concatenate([one, two])
    return both[np.sort(np.unique(both, return_index=True)[1])]


def _is_sorted(values: np.ndarray) -> bool:
    return len(values) < 2 or bool((values[:-1] <= values[1:]).all())


def declared_column(name: str, kind: Kind, values: np.ndarray | None) -> Column:
    """A column of a declared kind with the values that occur in it."""
    if kind == "continuous":
        return Column(name, kind, None, "declared")
    if values is not None and kind == "binary" and len(values) > 2:
        raise SchemaError(
            f"column {name!r} is declared binary but has {len(values)} values: declare it categorical"
        )
    return Column(name, kind, values, "declared")


def _declare(name: str, kind: Kind | Sequence[Any]) -> Column:
    if isinstance(kind, str):
        return Column(name, kind, why="declared")  # type: ignore[arg-type]
    values = np.asarray(kind)
    return Column(name, "binary" if len(values) == 2 else "categorical", values, "declared")
