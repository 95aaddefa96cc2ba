"""What the user declared of the columns: target, weight, declared kinds or a schema, columns to
leave out."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lyceum._core.data.files.column_names import missing_columns
from lyceum._core.data.schema.column import (
    LISTED,
    Column,
    Kind,
    categorical_kind,
    declared_column,
)
from lyceum._core.data.schema.profile import (
    ColumnProfile,
    TableProfile,
    by_type,
    check_kinds,
)
from lyceum._core.data.schema.schema import Schema
from lyceum._core.text import show_count
from lyceum.errors import DataError, SchemaError

TASK_KINDS: dict[str, Kind] = {
    "classification": "categorical",
    "regression": "continuous",
}
_CLASSES = 20  # a target of more distinct whole numbers is a number
_PER_CLASS = 3  # rows for each of them, on average, that classes have
_SINGLE = 10  # from this number of classes on, one may have a single row


@dataclass(frozen=True)
class ColumnRoles:
    """What the user declared of the columns.

    `kinds` are declared for some columns; `columns` are those of a whole schema that was given.
    `types` says what every column of a typed table holds (see `ColumnProfile.holds`): its kind
    follows from its type. It is None for files without types, whose kinds follow from their values;
    `by_values` asks for this with types, too.
    """

    target: str | None = None
    weight: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    types: Mapping[str, str] | None = None
    by_values: bool = False

    @classmethod
    def of(
        cls,
        target: str | None,
        weight: str | None,
        kinds: Mapping[str, Kind] | Schema | None,
        ignore: Collection[str] = (),
        task: str | None = None,
    ) -> ColumnRoles:
        ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and not isinstance(name, str):
                raise SchemaError(
                    f"{role} is the name of a column, but {type(name).__name__} came: put the"
                    " values into the table as a column, or give them to fit(X, y, sample_weight)"
                )
        if not isinstance(kinds, Schema):
            declared = dict(kinds or {})
            declared |= _target_kind(target, task, declared)
            return cls(target, weight, declared, ignore)
        if target is None and kinds.target is not None:
            target = kinds.target.name
        columns = {column.name: _declare(column) for column in kinds}
        if kinds.target is not None and kinds.target.name == target:
            columns[target] = _declare(kinds.target)
        return cls(target, weight or kinds.weight, {}, ignore, columns)

    def names_to_read(self, names: Sequence[str]) -> list[str]:
        """The columns to read, out of those there are; raises if the user named one that does not
        exist."""
        present = set(names)
        ignored = set(self.ignore)
        for role, name in self._mentions():
            if name not in present:
                raise SchemaError(
                    f"{role}: there is no column {name!r}{spelling_hint(name, names)}"
                )
            if role != "ignore" and name in ignored:
                raise SchemaError(
                    f"column {name!r} is both in ignore and in {role}: take it out of one"
                )
        if self.target is not None and self.target == self.weight:
            raise SchemaError(
                f"column {self.target!r} cannot be both the target and the weight"
            )
        check_kinds(self.kinds)
        if not self.columns:
            return [name for name in names if name not in ignored]
        missing = [name for name in self.columns if name not in present]
        if missing:
            raise missing_columns(missing, names)
        # a schema says the order of the columns too; target and weight follow them
        last = [name for name in (self.target, self.weight) if name is not None]
        features = [name for name in self.columns if name not in last]
        return features + last

    def _mentions(self) -> Iterator[tuple[str, str]]:
        """Every role with the names that it is given to."""
        if self.target is not None:
            yield "target", self.target
        if self.weight is not None:
            yield "weight", self.weight
        for name in self.ignore:
            yield "ignore", name
        for name in (*self.kinds, *self.columns):
            yield "kinds", name

    @property
    def text_formats(self) -> dict[str, str]:
        """How columns of a schema that was given were written when they were learned."""
        return {
            name: column.text_format
            for name, column in self.columns.items()
            if column.text_format
        }

    @property
    def in_full(self) -> set[str]:
        """Columns whose values must all be listed: those declared to be categories."""
        return {name for name, kind in self.kinds.items() if kind != "continuous"}

    @property
    def unsettled_names(self) -> list[str]:
        """The columns of a typed table whose values have to be seen: the others go by their types
        alone."""
        assert self.types is not None
        return [
            name
            for name, holds in self.types.items()
            if not self._is_settled(name, holds)
        ]

    def _is_settled(self, name: str, holds: str) -> bool:
        # weights are checked by their range, whatever their type
        if name == self.weight:
            return False
        if name in self.columns:
            return True
        # few whole numbers are classes: the target's values have to be counted
        if name == self.target or name in self.in_full:
            return False
        if self.by_values and holds == "number" and name not in self.kinds:
            return False
        return by_type(name, holds) is not None or (
            name in self.kinds and holds != "text"
        )

    def undecided_names(self, profile: TableProfile) -> list[str]:
        """Columns whose kind, categories or weights may still depend on the remaining rows."""
        in_full = self.in_full | {self.weight}
        return [
            name
            for name, column in profile.columns.items()
            if column.is_open or name in in_full
        ]

    def schema(self, profile: TableProfile) -> Schema:
        """The schema of the columns to read, from their profile and their types."""
        # a typed table may have columns that no profile needs to tell of
        names = profile.columns if self.types is None else self.types
        columns = tuple(
            self._column(name, profile.columns.get(name))
            for name in names
            if name not in (self.target, self.weight)
        )
        if not columns:
            raise SchemaError(
                "there are no columns to learn from: only the target, the weight or ignored ones"
            )
        if self.weight is not None:
            _check_weight(profile.columns[self.weight])
        return Schema(columns, self._target(profile), self.weight)

    def column_of(self, profile: ColumnProfile) -> Column:
        """The column of a profile, be it a feature or the target."""
        name = profile.name
        if name == self.target and name not in self.columns:
            return target_column(profile, self.kinds.get(name))
        return self._column(name, profile)

    def _column(self, name: str, profile: ColumnProfile | None) -> Column:
        if name in self.columns:
            return self.columns[name]
        if profile is not None:
            typed = self.types is not None and not self.by_values
            return profile.column(self.kinds.get(name), typed=typed)
        if name in self.kinds:
            return declared_column(name, self.kinds[name], None)
        assert self.types is not None
        column = by_type(name, self.types[name])
        assert column is not None
        return column

    def _target(self, profile: TableProfile) -> Column | None:
        if self.target is None:
            return None
        if self.target in self.columns:
            return self.columns[self.target]
        return self.column_of(profile.columns[self.target])


def _target_kind(
    target: str | None, task: str | None, kinds: Mapping[str, Kind]
) -> dict[str, Kind]:
    """The kind that a task declares for the target, and an error where another one is declared."""
    if task is None:
        return {}
    if task not in TASK_KINDS:
        raise SchemaError(f"task = {task!r}: choose one of {', '.join(TASK_KINDS)}")
    if target is None:
        raise SchemaError(
            f"task = {task!r} is about a target, and none is named: add target=..."
        )
    is_number = kinds.get(target) == "continuous"
    if target in kinds and is_number != (task == "regression"):
        raise SchemaError(
            f"kinds says {kinds[target]!r} of the target {target!r}, and task {task!r}: drop one"
        )
    return {target: kinds.get(target, TASK_KINDS[task])}


def _declare(column: Column) -> Column:
    if column.is_categorical:
        why = LISTED
    elif column.is_time:
        why = column.why
    else:
        why = "declared"
    return replace(column, why=why)


def _check_weight(profile: ColumnProfile) -> None:
    """Refuse weights that no sum over rows makes sense with."""
    is_number = profile.holds in ("number", "bool")
    faults = {
        f"holds {profile.holds}": not is_number,
        f"has {profile.n_missing} missing cells": profile.n_missing > 0,
        f"has {profile.n_infinite} infinite cells": profile.n_infinite > 0,
        f"has negative cells, down to {profile.low:g}": profile.low < 0,
        "is zero in every row": profile.high == 0,
    }
    fault = next((text for text, holds in faults.items() if holds), None)
    if fault:
        raise DataError(
            f"the weight column {profile.name!r} {fault}: weights are numbers of at least 0, and"
            " some more than 0"
        )


def spelling_hint(name: str, names: Sequence[str]) -> str:
    """The column that was probably meant by a name, or the columns that there are."""
    similar = difflib.get_close_matches(name, names, 1)
    if not similar:
        similar = [other for other in names if other.lower() == name.lower()]
    if similar:
        return f": did you mean {similar[0]!r}?"
    return f": the columns are {', '.join(map(repr, names[:20]))}{', ...' * (len(names) > 20)}"


def target_column(profile: ColumnProfile, declared: Kind | None) -> Column:
    """The target's column: few whole numbers are classes, and classes of whole numbers are
    integers.

    Classes are sorted and occur, as scikit-learn's are: levels that a category type declares in
    another order, or that no row has, make no difference to a target.
    """
    column = profile.column(declared)
    values = profile.values
    has_levels = profile.holds in ("text", "category")
    if has_levels and column.is_categorical and values is not None:
        assert profile.counts is not None
        classes = np.sort(values[profile.counts > 0])
        if profile.is_integer:
            classes = _integers(classes)
        kind = declared or categorical_kind(classes)
        return replace(column, kind=kind, categories=classes)
    if profile.holds != "number" or not profile.is_integer or values is None:
        return column
    if declared is None and column.kind == "continuous" and len(values):
        return _whole_number_target(profile)
    if column.is_categorical:
        return replace(column, categories=_integers(values))
    return column


def _whole_number_target(profile: ColumnProfile) -> Column:
    """Classes or numbers, by how many values there are, how many rows each has, and how many have
    one row."""
    values = profile.values
    counts = profile.counts
    assert values is not None
    assert counts is not None
    n_values = len(values)
    n_rows = int(counts.sum())
    n_single = int((counts == 1).sum())
    are_classes = (
        n_values <= _CLASSES
        and n_rows >= _PER_CLASS * n_values
        and n_single * _SINGLE <= n_values
    )
    why = f"{n_values} distinct whole number{'s' * (n_values > 1)} in {show_count(n_rows, 'row')}"
    if n_single:
        why += f", {n_single} of them only once"
    if not are_classes:
        return Column(profile.name, "continuous", None, f"{why}, taken as numbers")
    classes = _integers(values)
    return Column(profile.name, "categorical", classes, f"{why}, taken as classes")


def _integers(values: np.ndarray) -> np.ndarray:
    """Whole numbers as integers; those beyond 64 signed bits stay unsigned."""
    if values.dtype.kind == "u":
        return values
    return values.astype(np.int64)
