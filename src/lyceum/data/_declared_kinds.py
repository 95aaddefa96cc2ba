"""`categorical_features`: the kinds of columns declared to a learner, in any of the forms that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lyceum.data._column import Column
from lyceum.data._column_roles import ColumnRoles
from lyceum.data._profile import check_kinds
from lyceum.data._schema import Schema
from lyceum.errors import SchemaError

__all__ = ["declared_kinds"]


def declared_kinds(given: Any, names: Sequence[str], named: bool = True) -> ColumnRoles:
    """The kinds that `categorical_features` declares for the columns of these names.

    A mask, indices or names are categorical columns, a dict has the kinds of some columns by name, a `Schema`
    all columns with their categories; unless the columns are `named`, those of a schema go by their places.
    """
    if given is None or given is False or (isinstance(given, str) and given == "from_dtype"):
        return ColumnRoles()
    if isinstance(given, Schema):
        return ColumnRoles(columns=_columns(given, names, named))
    if isinstance(given, Mapping):
        _check_there(list(given), names)
        check_kinds(given)
        return ColumnRoles(kinds=dict(given))
    return ColumnRoles(kinds=dict.fromkeys(_categorical(given, names), "categorical"))


def _columns(schema: Schema, names: Sequence[str], named: bool) -> dict[str, Column]:
    declared = ColumnRoles.of(None, None, Schema(schema.columns)).columns
    if not named:
        if len(declared) != len(names):
            raise SchemaError(
                f"the schema in categorical_features has {len(declared)} columns, the array {len(names)}"
            )
        return {name: replace(column, name=name) for name, column in zip(names, declared.values())}
    _check_there(list(declared), names)
    more = [name for name in names if name not in declared]
    if more:
        raise SchemaError(f"column {more[0]!r} is not in the schema that categorical_features gives")
    return {name: declared[name] for name in names}


def _categorical(given: Any, names: Sequence[str]) -> list[str]:
    """The columns that are declared categorical by a mask, by indices or by names."""
    if given is True:
        return list(names)
    chosen = np.asarray(given)
    if chosen.dtype.kind == "b":
        if len(chosen) != len(names):
            raise SchemaError(f"categorical_features has {len(chosen)} entries for {len(names)} columns")
        return [names[j] for j in np.flatnonzero(chosen).tolist()]
    if chosen.dtype.kind in "iu":
        if chosen.size and (chosen.min() < 0 or chosen.max() >= len(names)):
            raise SchemaError(f"categorical_features names column {chosen.max()}, but there are {len(names)}")
        return [names[j] for j in chosen.tolist()]
    _check_there(chosen.tolist(), names)
    return chosen.tolist()


def _check_there(chosen: Sequence[str], names: Sequence[str]) -> None:
    present = set(names)
    missing = [name for name in chosen if name not in present]
    if missing:
        raise SchemaError(f"categorical_features names the column {missing[0]!r}, which is not there")
