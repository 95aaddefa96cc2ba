"""One schema's codes in another's: columns by name, categories by value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lyceum.data._block import Block
from lyceum.data._schema import Column, Schema
from lyceum.errors import SchemaError

__all__ = ["Align", "TargetNumbers", "union"]


def union(known: Schema, new: Schema, who: str) -> Schema:
    """The columns of `known` with the categories and classes of both."""
    if known.names != new.names:
        raise SchemaError(f"{who} was fitted on columns {', '.join(known.names)}; now came {', '.join(new.names)}")
    columns = tuple(_union(one, two, who) for one, two in zip(known, new))
    target = known.target
    if target is not None and new.target is not None:
        target = _union(target, new.target, who)
    return Schema(columns, target, known.weight)


def _union(one: Column, two: Column, who: str) -> Column:
    if one.categories is None and two.categories is None:
        return one
    if one.categories is None or two.categories is None:
        if one.numeric and two.numeric:
            return replace(one, kind="continuous", categories=None)
        raise SchemaError(f"column {one.name!r} was {one.kind} when {who} was fitted and is {two.kind} now")
    both = np.union1d(one.categories, two.categories)
    return replace(one, kind="binary" if len(both) == 2 else "categorical", categories=both)


@dataclass(frozen=True)
class Align:
    """Takes blocks of one schema to another: the columns it wants, with its codes."""

    after: Schema
    places: np.ndarray  # the column that each wanted column comes from
    tables: tuple[np.ndarray | None, ...]  # new code of each old code, for each wanted column
    classes: np.ndarray | None

    @classmethod
    def between(cls, before: Schema, after: Schema) -> Align:
        absent = [name for name in after.names if name not in before.names]
        if absent:
            raise SchemaError(
                f"missing column{'s' * (len(absent) > 1)} {', '.join(map(repr, absent))}: the columns here are "
                f"{', '.join(map(repr, before.names))}"
            )
        places = np.array([before.names.index(name) for name in after.names], dtype=np.intp)
        tables = tuple(_table(before[int(j)], column) for j, column in zip(places, after))
        classes = None
        if before.target is not None and after.target is not None:
            classes = _table(before.target, after.target, always=True)
        return cls(after, places, tables, classes)

    def schema(self, schema: Schema) -> Schema:
        return self.after

    def __call__(self, block: Block) -> Block:
        X, y = block.X, block.y
        if len(self.places) != X.shape[1] or (self.places != np.arange(X.shape[1])).any():
            X = X[:, self.places]
        for j, table in enumerate(self.tables):
            if table is not None:
                X = X.copy() if X is block.X else X
                X[:, j] = _recoded(X[:, j], table)
        if y is not None and self.classes is not None:
            y = _recoded(y.astype(np.float64), self.classes).astype(np.int32)
        return replace(block, X=X, y=y, schema=self.after)


def _table(before: Column, after: Column, always: bool = False) -> np.ndarray | None:
    """The code after of every code before, -1 for those unknown after; None when nothing changes."""
    if not always and after.numeric:
        if not before.numeric:
            raise SchemaError(f"column {after.name!r} holds categories ({before.why}) where numbers were learned")
        return None
    if before.categories is None or after.categories is None:
        if before.categories is after.categories:
            return None
        raise SchemaError(f"column {after.name!r} is {before.kind} ({before.why}) but was learned as {after.kind}")
    if not always and before.numeric:
        raise SchemaError(f"column {after.name!r} holds numbers ({before.why}) but was learned as categories of text")
    if np.array_equal(before.categories, after.categories):
        return None
    code = {value: place for place, value in enumerate(after.categories.tolist())}
    return np.array([code.get(value, -1) for value in before.categories.tolist()], dtype=np.float64)


def _recoded(codes: np.ndarray, table: np.ndarray) -> np.ndarray:
    known = np.isfinite(codes) & (codes >= 0)
    out = codes.astype(np.float64)
    out[known] = table[codes[known].astype(np.intp)]
    return out


@dataclass(frozen=True)
class TargetNumbers:
    """Class codes back to the numbers they stand for, for a method that predicts numbers."""

    target: Column

    def schema(self, schema: Schema) -> Schema:
        return schema.with_target(Column(self.target.name, why=self.target.why))

    def __call__(self, block: Block) -> Block:
        if block.y is None:
            return block
        values = np.append(self.target.categories.astype(np.float64), np.nan)  # type: ignore[union-attr]
        return replace(block, y=values[block.y], schema=self.schema(block.schema))
