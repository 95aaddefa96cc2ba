"""A column: its kind, its categories in code order, and why it has this kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from lyceum._core.data.files.text_formats import FORMATS
from lyceum._core.data.inputs.arrow import EXACT
from lyceum.errors import ModelFileError, SchemaError

Kind = Literal["binary", "categorical", "continuous"]
KINDS: tuple[Kind, ...] = ("binary", "categorical", "continuous")
NOTHING = "nothing but missing cells"
TIMES = "times, in seconds"
FREE_TEXT = "free text"
DECLARED = (*KINDS, "text")  # what a column may be declared to be
LISTED = "declared with its categories"
FIELDS = ("name", "kind", "categories", "why", "text_format")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: its name, its kind, its categories in code order, and why.

    A binary column of two numbers or of true and false (`numeric` is true) keeps its numbers as
    cells, for methods that compute; methods that count take it as a table of two values. Cells of
    other categorical columns are codes.

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
    text_format : str, default=""
        How cells were written that were read from text: a decimal mark or a format of dates
        ("%d/%m/%Y").
    is_categorical : bool
        Whether it is binary or categorical.
    numeric : bool
        Whether its cells are numbers in their own right, not codes.
    is_text : bool
        Whether its categories are text.
    is_empty : bool
        Whether all cells that were seen are missing.
    is_time : bool
        Whether its cells are dates or times, as seconds since 1970.
    is_free_text : bool
        Whether it holds free text, which only a preparation such as `TextVectorizer` takes.
    is_listed : bool
        Whether its categories were declared, so that rows may have others.

    See Also
    --------
    Schema : All columns of a table.

    Examples
    --------
    >>> from lyceum import datasets
    >>> schema = datasets.load("penguins").schema
    >>> schema["island"].kind, schema["island"].categories.tolist(), schema["island"].why
    ('categorical', ['Biscoe', 'Dream', 'Torgersen'], 'text with 3 values')
    >>> schema["body_mass_g"].kind, schema["body_mass_g"].numeric
    ('continuous', True)
    """

    name: str
    kind: Kind = "continuous"
    categories: np.ndarray | None = None
    why: str = ""
    text_format: str = ""

    def _set_state(self, state: Sequence[Any]) -> None:
        # older model files lack `text_format`
        for name, value in zip_longest(FIELDS, state, fillvalue=""):
            object.__setattr__(self, name, value)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(
                f"column {self.name!r} has the kind {self.kind!r}: choose one of {', '.join(KINDS)}"
            )
        if self.kind == "continuous" and self.categories is not None:
            raise SchemaError(
                f"column {self.name!r} is continuous and cannot have categories"
            )
        if self.kind != "continuous" and self.categories is None:
            raise SchemaError(
                f"column {self.name!r} is {self.kind} and needs its categories"
            )

    def check(self) -> None:
        """Raise ModelFileError unless the values, which came from a model file, are those of a
        column."""
        fits = isinstance(self.name, str) and isinstance(self.why, str)
        values = self.categories
        if values is not None:
            is_list = isinstance(values, np.ndarray) and values.ndim == 1
            fits = fits and is_list and values.dtype.kind in "biufUSO"
        if self.text_format not in ("", *FORMATS):
            raise ModelFileError(
                f"holds a column {self.name!r} written as {self.text_format!r}"
            )
        if not fits:
            raise ModelFileError(
                f"holds a column {self.name!r} whose categories are not a list of values"
            )
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
        return (
            self.kind == "binary"
            and values.dtype.kind in "iufb"
            and not is_beyond_floats(values)
        )

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
        """Whether it holds free text, which only a preparation such as `TextVectorizer` takes."""
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

    def difference(self, other: Column) -> str:
        """What is different in `other`, in words; "" if name, kind and categories are the same."""
        if self.same_as(other):
            return ""
        if self.name != other.name:
            return f"column {other.name!r} is in the place of column {self.name!r}"
        if self.categories is None or other.categories is None:
            return f"column {other.name!r} is {other.kind} instead of {self.kind}"
        before = dict.fromkeys(self.categories.tolist())
        now = dict.fromkeys(other.categories.tolist())
        added = [value for value in now if value not in before]
        if added:
            return f"column {other.name!r} has the new category {added[0]!r}"
        gone = [value for value in before if value not in now]
        if gone:
            return f"column {other.name!r} has no category {gone[0]!r}"
        return f"column {other.name!r} has its categories in another order"


# set here: up to Python 3.11.2 at least, a frozen dataclass with slots replaces one in the body of
# the class
Column.__setstate__ = Column._set_state  # type: ignore[attr-defined]


def categorical_kind(categories: np.ndarray) -> Kind:
    """Two categories are binary, any other number of them is categorical."""
    if len(categories) == 2:
        return "binary"
    return "categorical"


def is_beyond_floats(values: np.ndarray) -> bool:
    """Whether these are whole numbers so large that they are not exact as floats."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not len(values):
        return False
    return int(values.max()) > EXACT or int(values.min()) < -EXACT


def union_levels(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The levels of both: sorted if both are, else those of the first, then the new ones, in their
    order.

    >>> union_levels(np.array(["low", "high"]), np.array(["high", "none"])).tolist()
    ['low', 'high', 'none']
    """
    if _is_sorted(one) and _is_sorted(two):
        return np.union1d(one, two)
    both = np.concatenate([one, two])
    _, first_places = np.unique(both, return_index=True)
    return both[np.sort(first_places)]


def _is_sorted(values: np.ndarray) -> bool:
    if len(values) < 2:
        return True
    return bool((values[:-1] <= values[1:]).all())


def declared_column(name: str, kind: Kind, values: np.ndarray | None) -> Column:
    """A column of a declared kind with the values that occur in it; categories of whole numbers are
    integers.

    >>> declared_column("beds", "categorical", np.array([1.0, 2.0])).categories.tolist()
    [1, 2]
    """
    if kind == "continuous":
        return Column(name, kind, None, "declared")
    if values is not None and kind == "binary" and len(values) > 2:
        raise SchemaError(
            f"column {name!r} is declared binary but has {len(values)} values: declare it"
            " categorical"
        )
    if values is not None:
        values = as_whole_numbers(values)
    return Column(name, kind, values, "declared")


def as_whole_numbers(values: np.ndarray) -> np.ndarray:
    """Categories that are whole numbers as integers, others as they are.

    >>> as_whole_numbers(np.array([1.0, 2.0])), as_whole_numbers(np.array([0.5, 2.0]))
    (array([1, 2]), array([0.5, 2. ]))
    """
    if values.dtype.kind != "f" or not np.array_equal(values, np.trunc(values)):
        return values
    if np.abs(values).max(initial=0.0) > EXACT:
        return values
    return values.astype(np.int64)
