"""`categorical_features`: the kinds of columns declared to a learner, in any of the forms that it
takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from lyceum._core.data.inputs.arrow import EXACT
from lyceum._core.data.rows.block import Block
from lyceum._core.data.rows.rows import Rows
from lyceum._core.data.schema.align import Align, Change, change_between
from lyceum._core.data.schema.array_schema import NOT_SPARSE
from lyceum._core.data.schema.column import Column, declared_column
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.distinct_values import MANY
from lyceum._core.data.schema.profile import check_kinds, too_many_text
from lyceum._core.data.schema.schema import Schema
from lyceum._core.text import show_count
from lyceum.errors import SchemaError

_WITHOUT_NAMES = (
    " categorical_features should be passed as an array of integers or as a boolean mask when the"
    " model is fitted on data without feature names."
)


def declared_kinds(
    given: object, names: Sequence[str], named: bool = True
) -> ColumnRoles:
    """The kinds that `categorical_features` declares for the columns of these names.

    A mask, indices or names are categorical columns, a dict has the kinds of some columns by name,
    a `Schema` all columns with their categories; unless the columns are `named`, those of a schema
    go by their places.
    """
    is_default = isinstance(given, str) and given in ("from_dtype", "auto")
    if given is None or given is False or is_default:
        return ColumnRoles()
    if isinstance(given, Schema):
        return ColumnRoles(columns=_columns(given, names, named))
    if isinstance(given, Mapping):
        _check_names_exist(list(given), names)
        check_kinds(given)
        return ColumnRoles(kinds=dict(given))
    return ColumnRoles(
        kinds=dict.fromkeys(_categorical(given, names, named), "categorical")
    )


def _columns(schema: Schema, names: Sequence[str], named: bool) -> dict[str, Column]:
    declared = ColumnRoles.of(None, None, Schema(schema.columns)).columns
    if not named:
        if len(declared) != len(names):
            raise SchemaError(
                f"the schema in categorical_features has {show_count(len(declared), 'column')}, the"
                f" array {len(names)}"
            )
        return {
            name: replace(column, name=name)
            for name, column in zip(names, declared.values())
        }
    _check_names_exist(list(declared), names)
    undeclared = [name for name in names if name not in declared]
    if undeclared:
        raise SchemaError(
            f"column {undeclared[0]!r} is not in the schema that categorical_features gives"
        )
    return {name: declared[name] for name in names}


def _categorical(given: object, names: Sequence[str], named: bool) -> list[str]:
    """The columns that are declared categorical by a mask, by indices or by names."""
    if given is True:
        return list(names)
    chosen = np.asarray(given)
    if chosen.ndim > 1:
        raise SchemaError(
            f"categorical_features must be a flat list of columns, got {given!r}"
        )
    if chosen.dtype.kind == "b":
        if len(chosen) != len(names):
            raise SchemaError(
                f"categorical_features has {len(chosen)} entries for"
                f" {show_count(len(names), 'column')}: categorical_features set as a boolean mask"
                f" must have shape (n_features,), got: {chosen.shape}"
            )
        return [names[j] for j in np.flatnonzero(chosen).tolist()]
    if chosen.dtype.kind in "iu":
        is_outside = (chosen < 0) | (chosen >= len(names))
        if is_outside.any():
            raise SchemaError(
                f"categorical_features names column {chosen.max()}, but there are {len(names)}:"
                " categorical_features set as integer indices must be in [0, n_features - 1]"
            )
        return [names[j] for j in chosen.tolist()]
    _check_kind(chosen)
    _check_names_exist(chosen.tolist(), names, named)
    return chosen.tolist()


def _check_kind(chosen: np.ndarray) -> None:
    """Raise unless columns are given by text, where they are not by numbers or a mask."""
    got = ""
    if chosen.dtype.kind == "O":
        kinds = {type(name).__name__ for name in chosen.tolist()}
        got = ", ".join(sorted(kinds - {"str"})) and ", ".join(sorted(kinds))
    elif chosen.dtype.kind not in "UT" and chosen.size:
        got = chosen.dtype.name
    if got:
        raise SchemaError(
            f"categorical_features must be an array-like of bool, int or str, got: {got}."
        )


def _check_names_exist(
    chosen: Sequence[str], names: Sequence[str], named: bool = True
) -> None:
    present = set(names)
    missing = [name for name in chosen if name not in present]
    if missing:
        raise SchemaError(
            f"categorical_features names the column {missing[0]!r}, which does not exist:"
            f" categorical_features has an item value {missing[0]!r} which is not a valid feature"
            " name of the training data." + ("" if named else _WITHOUT_NAMES)
        )


# -- rows that have kinds already ------------------------------------------------------


def declare_rows(rows: Rows, roles: ColumnRoles, caller: str) -> Rows:
    """The rows with their columns of the kinds that `categorical_features` declares.

    Numbers that become categories take one pass over the rows, to list the values. A declaration
    that coded cells cannot follow is refused: text as numbers, and words as free text or the
    reverse.

    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[5.0, 1.0], [7.0, 2.0], [5.0, 3.0]]))
    >>> print(declare_rows(rows, declared_kinds(["x0"], rows.schema.names), "A learner").schema)
    x0  categorical declared
    x1  continuous  numbers
    """
    schema = rows.schema
    if not roles.kinds and not roles.columns:
        return rows
    become_categories = [
        column.name
        for column in schema
        if column.categories is None
        and roles.kinds.get(column.name) in ("binary", "categorical")
    ]
    values = _listed_values(rows, become_categories)
    columns = tuple(
        _declare(column, roles, values.get(column.name), caller) for column in schema
    )
    changes = tuple(
        _change(before, after, caller) for before, after in zip(schema, columns)
    )
    after = replace(schema, columns=columns)
    return rows.then(Align(after, np.arange(len(schema)), changes, None))


def _declare(
    before: Column, roles: ColumnRoles, values: np.ndarray | None, caller: str
) -> Column:
    """The column as it is declared; `values` are its distinct numbers where they were listed."""
    name = before.name
    kind = roles.kinds.get(name)
    if name in roles.columns:
        return roles.columns[name]
    if kind is None:
        return before
    if (str(kind) == "text") != before.is_free_text:
        raise _contradiction(before, kind, caller)
    if before.is_free_text:
        return before
    after = declared_column(name, kind, before.categories if values is None else values)
    if after.numeric:
        return replace(after, text_format=before.text_format)
    return after


def _change(before: Column, after: Column, caller: str) -> Change | None:
    """The change to the cells of one column; raises if they cannot be read in the declared kind."""
    # the codes of words stand for one list, those of free text for a list in every block
    if before.is_free_text == after.is_free_text:
        try:
            return change_between(before, after)
        except SchemaError:
            pass
    raise _contradiction(before, "text" if after.is_free_text else after.kind, caller)


def _contradiction(column: Column, kind: str, caller: str) -> SchemaError:
    return SchemaError(
        f"column {column.name!r} of the rows is {column.kind} ({column.why}), and"
        f" categorical_features of {caller} declares it {kind}, which coded cells cannot follow:"
        f" declare it where the rows are read, scan(..., kinds={{{column.name!r}: {kind!r}}})"
    )


@dataclass(frozen=True, slots=True)
class _Distinct:
    """The distinct numbers in some columns."""

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, block: Block, names: tuple[str, ...]) -> _Distinct:
        if sparse.issparse(block.X):
            raise SchemaError(NOT_SPARSE)
        distinct = []
        for name in names:
            values = np.unique(block.X[:, block.schema.index(name)])
            distinct.append(values[~np.isnan(values)])
        return cls(names, tuple(distinct))

    def merge(self, other: _Distinct) -> _Distinct:
        both = tuple(map(np.union1d, self.values, other.values))
        for name, values in zip(self.names, both):
            if len(values) > MANY:
                raise SchemaError(too_many_text(name, "categorical"))
        return _Distinct(self.names, both)


def _listed_values(rows: Rows, names: list[str]) -> dict[str, np.ndarray]:
    """The distinct values of columns of numbers, sorted."""
    if not names:
        return {}
    distinct = rows.reduce(partial(_Distinct.of, names=tuple(names)))
    listed = dict(zip(names, distinct.values))
    for name, values in listed.items():
        if len(values) and np.abs(values).max() > EXACT:
            raise SchemaError(
                f"column {name!r} of the rows has whole numbers beyond 2⁵³, which may be rounded"
                f" there: declare its kind where they are read, scan(..., kinds={{{name!r}:"
                " 'categorical'})"
            )
    return listed
