"""One schema's codes in another's: columns by name, categories by value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data.files.column_names import missing_columns
from lyceum._core.data.rows.block import Block
from lyceum._core.data.schema.coding import codes_of
from lyceum._core.data.schema.column import Column, categorical_kind, union_levels
from lyceum._core.data.schema.schema import Schema, with_texts_of
from lyceum._core.types import Operation
from lyceum.errors import ExportError, SchemaError


def union(known: Schema, new: Schema, caller: str, counts: bool) -> Schema:
    """The columns of `known` with the categories and classes of both.

    A method that `counts` keeps a table for a categorical column, which cannot become a number
    later.
    """
    odd = sorted(set(known.names) ^ set(new.names))
    if odd:
        change = "is new" if odd[0] in new else "is missing"
        raise SchemaError(
            f"column {odd[0]!r} {change}: {caller} was fitted on"
            f" {', '.join(map(repr, known.names))}"
        )
    columns = tuple(_union(column, new[column.name], caller) for column in known)
    for before, after in zip(known, columns):
        if counts and before.is_categorical and not after.is_categorical:
            raise SchemaError(
                f"column {before.name!r} was {before.kind} ({before.why}) when {caller} was fitted"
                " and holds other numbers now: declare its kind from the start, e.g. scan(...,"
                f" kinds={{{before.name!r}: 'continuous'}})"
            )
    target = known.target
    if (
        target is not None
        and new.target is not None
        and target.categories is not None
        and new.target.categories is not None
    ):
        target = _with_categories(target, new.target, caller)
    return Schema(columns, target, known.weight)


def _union(one: Column, two: Column, caller: str) -> Column:
    # nothing new: no cells, more numbers, or texts that no schema lists
    if (
        two.is_empty
        or (one.categories is None and two.numeric)
        or (one.is_free_text and two.is_text)
    ):
        return one
    # a binary column of numbers and others: it stays binary with the same two, else is continuous
    if one.numeric and two.numeric:
        assert one.categories is not None
        if two.categories is not None:
            both_numbers = np.union1d(one.categories, two.categories)
            if len(both_numbers) == 2:
                return one
        return replace(one, kind="continuous", categories=None)
    if one.numeric != two.numeric:
        raise SchemaError(
            f"column {one.name!r} was {one.kind} ({one.why}) when {caller} was fitted and is"
            f" {two.kind} ({two.why}) now"
        )
    both = _with_categories(one, two, caller)
    # numbers that were declared to be categories stay so, even when there are two of them
    if one.is_text:
        return both
    return replace(both, kind=one.kind)


def _with_categories(one: Column, two: Column, caller: str) -> Column:
    a = one.categories
    b = two.categories
    assert a is not None
    assert b is not None
    if len(a) and len(b) and one.is_text != two.is_text:
        raise SchemaError(
            f"column {one.name!r} held values such as {a[0]!r} when {caller} was fitted and holds"
            f" {b[0]!r} now: give both one type"
        )
    both = union_levels(a, b)
    return replace(one, kind=categorical_kind(both), categories=both)


Change = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Align:
    """A step from the blocks of one schema to those of another: columns by name, categories by
    value.

    Attributes
    ----------
    after : Schema
        The schema that is wanted.
    indices : array
        The column that each wanted column comes from.
    changes : tuple of Change or None
        The change to the cells of each wanted column, None where they stay as they are.
    classes : Change or None
        The change to class codes, None where they stay as they are.

    See Also
    --------
    Step : What it is an example of.
    Schema : Columns with their categories.
    Recode, Design : Other steps.

    Examples
    --------
    A column of colors whose categories are in another order, and one more of them:

    >>> import numpy as np
    >>> from lyceum._core.data import Align
    >>> from lyceum.data import Block, Schema
    >>> before = Schema.declare({"color": ["blue", "red"], "age": "continuous"})
    >>> after = Schema.declare({"age": "continuous", "color": ["red", "green", "blue"]})
    >>> block = Block(np.array([[0.0, 31.0], [1.0, 45.0]]), None, None, 0, before)
    >>> Align.between(before, after)(block).X.tolist()
    [[31.0, 2.0], [45.0, 0.0]]
    """

    after: Schema
    indices: np.ndarray
    changes: tuple[Change | None, ...]
    classes: Change | None

    @classmethod
    def between(cls, before: Schema, after: Schema) -> Align:
        missing = [name for name in after.names if name not in before]
        if missing:
            raise missing_columns(missing, before.names)
        indices = np.array([before.index(name) for name in after.names], dtype=np.intp)
        changes = tuple(
            change_between(before[int(j)], column) for j, column in zip(indices, after)
        )
        classes = None
        if (
            before.target is not None
            and after.target is not None
            and after.target.categories is not None
        ):
            classes = _between_categories(before.target, after.target)
        return cls(after, indices, changes, classes)

    def schema(self, schema: Schema) -> Schema:
        return self.after

    def __call__(self, block: Block) -> Block:
        X = block.X
        y = block.y
        if (
            len(self.indices) != X.shape[1]
            or (self.indices != np.arange(X.shape[1])).any()
        ):
            if sparse.issparse(X):
                X = X[:, self.indices]
            else:
                X = X.take(self.indices, axis=1)
        for j, change in enumerate(self.changes):
            if change is None:
                continue
            # cells that can hold the code -1, and are not those of the block
            if X.dtype.kind == "u":
                X = X.astype(np.float64)
            elif X is block.X:
                X = X.copy()
            X[:, j] = change(X[:, j])
        if y is not None and self.classes is not None:
            y = self.classes(y).astype(np.int32)
        schema = with_texts_of(self.after, block.schema)
        return type(block)(X, y, block.w, block.start, schema)

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        operations: list[Operation] = []
        order = self.indices.tolist()
        if order != list(range(len(schema))):
            operations.append(("pick", {"columns": order}))
        changes = [
            _exported_change(j, change, self.after[j].name)
            for j, change in enumerate(self.changes)
            if change is not None
        ]
        if changes:
            operations.append(("recode", {"changes": changes}))
        return operations


def _exported_change(j: int, change: Change, name: str) -> list[Any]:
    """What a change to the cells of column j does: its table, or the numbers of its categories."""
    constants = getattr(change, "keywords", {})
    if "table" in constants:
        return [j, "codes to codes", constants["table"].tolist()]
    if "categories" not in constants:
        raise ExportError(f"the change to column {name!r} cannot be exported")
    categories = constants["categories"].astype(np.float64).tolist()
    if getattr(change, "func", None) is codes_of:
        return [j, "numbers to codes", categories]
    return [j, "codes to numbers", categories]


def change_between(before: Column, after: Column) -> Change | None:
    """The change to the cells of one column, None where they stay as they are."""
    if after.numeric and before.numeric:
        return None
    if after.numeric and not before.is_text:
        return partial(_values_of, categories=np.asarray(before.categories))
    if after.numeric:
        raise SchemaError(
            f"column {after.name!r} holds categories ({before.why}) where numbers were learned"
            f" ({after.why})"
        )
    # all cells are NaN, which is a missing code too
    if before.is_empty:
        return None
    assert after.categories is not None
    if after.is_free_text and before.is_text:
        return None
    if before.numeric and not after.is_text:
        return partial(codes_of, categories=after.categories)
    if before.numeric:
        raise SchemaError(
            f"column {after.name!r} holds numbers ({before.why}) where categories were learned "
            f"({after.why}): give it as text"
        )
    return _between_categories(before, after)


def _values_of(codes: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """The numbers that codes stand for, NaN for those missing or unknown."""
    # the index -1 is the NaN at the end
    values = np.append(categories.astype(np.float64), np.nan)
    indices = np.where(codes >= 0, codes, -1).astype(np.intp)
    return values[indices]


def _between_categories(before: Column, after: Column) -> Change | None:
    """From codes before to codes after, -1 for those unknown after; None when they are the same."""
    assert before.categories is not None
    assert after.categories is not None
    if np.array_equal(before.categories, after.categories):
        return None
    # table[k] is the code after of the code k before
    code_of = {value: code for code, value in enumerate(after.categories.tolist())}
    codes = [code_of.get(value, -1) for value in before.categories.tolist()]
    return partial(_recode, table=np.array(codes, dtype=np.float64))


def _recode(codes: np.ndarray, table: np.ndarray) -> np.ndarray:
    recoded = codes.astype(np.float64)
    known = recoded >= 0  # neither missing nor unknown
    recoded[known] = table[recoded[known].astype(np.intp)]
    return recoded


@dataclass(frozen=True)
class TargetNumbers:
    """Class codes back to the numbers they stand for, for a method that predicts numbers."""

    target: Column

    def schema(self, schema: Schema) -> Schema:
        return schema.with_target(Column(self.target.name, why=self.target.why))

    def __call__(self, block: Block) -> Block:
        if block.y is None:
            return block
        # the code -1, a missing class, is the NaN at the end
        values = np.append(self.target.categories.astype(np.float64), np.nan)  # type: ignore[union-attr]
        return replace(block, y=values[block.y], schema=self.schema(block.schema))
