"""What the user said of the columns: target, weight, declared kinds, columns to leave out."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lyceum.data._profile import ColumnProfile, TableProfile, check_kinds
from lyceum.data._schema import Column, Kind, Schema
from lyceum.errors import DataError, SchemaError

__all__ = ["ColumnRoles", "spelling_hint", "target_column"]

_CLASSES = 20  # a target of at most this many distinct whole numbers is a class label


@dataclass(frozen=True)
class ColumnRoles:
    """What the user said of the columns."""

    target: str | None
    weight: str | None
    kinds: Mapping[str, Kind]
    ignore: tuple[str, ...]

    def wanted(self, names: Sequence[str]) -> list[str]:
        """The columns to read, out of those there are; raises if the user named one that is not there."""
        there, ignored = set(names), set(self.ignore)
        said = {"target": [self.target], "weight": [self.weight], "ignore": self.ignore, "kinds": self.kinds}
        for role, mentioned in said.items():
            for name in mentioned:
                if name is not None and name not in there:
                    raise SchemaError(f"{role}: there is no column {name!r}{spelling_hint(name, names)}")
                if name is not None and role != "ignore" and name in ignored:
                    raise SchemaError(f"column {name!r} is both in ignore and in {role}: take it out of one")
        if self.target is not None and self.target == self.weight:
            raise SchemaError(f"column {self.target!r} cannot be both the target and the weight")
        check_kinds(self.kinds)
        return [name for name in names if name not in ignored]

    @property
    def in_full(self) -> set[str]:
        """Columns whose values must all be listed: those declared to be categories."""
        return {name for name, kind in self.kinds.items() if kind != "continuous"}

    def undecided(self, profile: TableProfile) -> list[str]:
        """Columns of which the rest of the rows could still tell something that matters."""
        in_full = self.in_full | {self.weight}
        return [name for name, column in profile.columns.items() if column.is_open or name in in_full]

    def schema(self, profile: TableProfile) -> Schema:
        """The schema of the columns to read, from their profile."""
        columns = tuple(
            column.column(self.kinds.get(name))
            for name, column in profile.columns.items()
            if name not in (self.target, self.weight)
        )
        target = (
            None
            if self.target is None
            else target_column(profile.columns[self.target], self.kinds.get(self.target))
        )
        if not columns:
            raise SchemaError(
                "there are no columns to learn from: only the target, the weight or ignored ones"
            )
        if self.weight is not None:
            _check_weight(profile.columns[self.weight])
        return Schema(columns, target, self.weight)


def _check_weight(profile: ColumnProfile) -> None:
    """Refuse weights that no sum over rows makes sense with."""
    faults = {
        f"holds {profile.holds}": profile.holds in ("text", "category", "time", "empty"),
        f"has {profile.n_missing} missing cells": profile.n_missing > 0,
        f"has {profile.n_infinite} infinite cells": profile.n_infinite > 0,
        f"has negative cells, down to {profile.low:g}": profile.low < 0,
        "is zero in every row": profile.high == 0,
    }
    fault = next((text for text, holds in faults.items() if holds), None)
    if fault:
        raise DataError(
            f"the weight column {profile.name!r} {fault}: weights are numbers of at least 0, and some more "
            "than 0"
        )


def spelling_hint(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
    if near:
        return f": did you mean {near[0]!r}?"
    return f": the columns are {', '.join(map(repr, names[:20]))}{', ...' * (len(names) > 20)}"


def target_column(profile: ColumnProfile, declared: Kind | None) -> Column:
    """The target's column: few whole numbers are classes, and classes of whole numbers are integers."""
    column, values = profile.column(declared), profile.values
    if profile.holds != "number" or not profile.whole or values is None:
        return column
    if declared is None and column.kind == "continuous" and 0 < len(values) <= _CLASSES:
        why = f"{len(values)} distinct whole number{'s' * (len(values) > 1)}, taken as classes"
        return Column(profile.name, "categorical", values.astype(np.int64), why)
    return replace(column, categories=values.astype(np.int64)) if column.is_categorical else column
