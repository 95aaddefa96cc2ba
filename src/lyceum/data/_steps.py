"""Steps between the source and a learner: cells as codes, cells as numbers, and the checks on both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from lyceum._native import kernels
from lyceum.data._block import Block
from lyceum.data._coding import codes_of
from lyceum.data._schema import Column, Schema
from lyceum.errors import MissingValuesError

__all__ = ["CheckCells", "CheckTarget", "Design", "Recode"]


@dataclass(frozen=True, slots=True)
class Recode:
    """Every categorical cell as a code, binary numbers too: for methods that count."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        columns = [j for j, column in enumerate(block.schema) if column.is_categorical and column.numeric]
        if not columns:
            return block
        X = block.X.astype(block.X.dtype if block.X.dtype.kind == "f" else np.float64)
        for j in columns:
            X[:, j] = codes_of(X[:, j], block.schema[j].categories)  # type: ignore[arg-type]
        return block.with_X(X, block.schema)


@dataclass(frozen=True)
class Design:
    """Every cell as a number: one-of-C columns for categories that are not numbers.

    A column of two categories gives one column, 1 for the second. With `reference` the first category of every
    column is left out, so that the columns are independent of an intercept. An unknown category is all zeros.
    """

    before: Schema
    reference: bool = False

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=self.after.columns)

    @cached_property
    def after(self) -> Schema:
        columns: list[Column] = []
        for column in self.before:
            if column.numeric:
                columns.append(replace(column, kind="continuous", categories=None))
            else:
                first = self._first(column)
                columns += [Column(f"{column.name}={value}", why=column.why) for value in column.categories[first:]]  # type: ignore[index]
        return Schema(tuple(columns))

    def _first(self, column: Column) -> int:
        return 1 if self.reference or len(column.categories) == 2 else 0  # type: ignore[arg-type]

    @cached_property
    def layout(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every column: where its design columns start, how many there are (0: a number), the first category."""
        first = [0 if column.numeric else self._first(column) for column in self.before]
        size = [0 if c.numeric else len(c.categories) - f for c, f in zip(self.before, first)]  # type: ignore[arg-type]
        width = [1 if column.numeric else n for column, n in zip(self.before, size)]
        start = np.concatenate([[0], np.cumsum(width)[:-1]]) if width else np.empty(0)
        # a lone category with nothing left of it has size 0 and must not be taken for a number
        return start.astype(np.int32), np.array(size, np.int32), np.array(first, np.int32)

    @cached_property
    def source(self) -> np.ndarray:
        """The column that every design column comes from."""
        width = [1 if c.numeric else len(c.categories) - self._first(c) for c in self.before]  # type: ignore[arg-type]
        return np.repeat(np.arange(len(self.before)), width)

    @cached_property
    def is_plain(self) -> bool:
        return all(column.numeric for column in self.before)

    def __call__(self, block: Block) -> Block:
        if self.is_plain:
            return block.with_X(block.X, self.schema(block.schema))
        X = block.X
        kept = [j for j, c in enumerate(self.before) if c.numeric or len(c.categories) > self._first(c)]  # type: ignore[arg-type]
        start, size, first = (part[kept] for part in self.layout)
        out = np.empty((len(X), len(self.after)), dtype=X.dtype if X.dtype.kind == "f" else np.float64)
        kernels.expand(np.ascontiguousarray(X if len(kept) == X.shape[1] else X[:, kept]), start, size, first, out)
        return block.with_X(out, self.schema(block.schema))


@dataclass(frozen=True, slots=True)
class CheckCells:
    """Refuses infinities, and missing cells unless they are allowed, by the name of the column."""

    who: str
    allow_missing: bool = False

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        cells = block.X.data if sparse.issparse(block.X) else block.X
        if cells.dtype.kind != "f":
            return block
        place = kernels.first_nonfinite(cells.reshape(1, -1) if cells.ndim == 1 else cells, self.allow_missing)
        if place >= 0:
            raise MissingValuesError(self._message(block, place, cells.flat[place]))
        return block

    def _message(self, block: Block, place: int, value: float) -> str:
        if sparse.issparse(block.X):
            row = int(np.searchsorted(block.X.indptr, place, side="right")) - 1
            column = block.schema[int(block.X.indices[place])].name
        else:
            row, column = place // block.X.shape[1], block.schema[place % block.X.shape[1]].name
        where = f"column {column!r} has {{}} in row {block.start + row}, which {self.who} cannot take"
        if np.isnan(value):
            return where.format("a missing value (NaN)") + ": fill it first, e.g. lyceum.prepare.FillMissing()"
        return where.format("an infinity (inf)") + ": replace it by a number, or by NaN if it is unknown"


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """Refuses rows without a target."""

    who: str

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if block.y is None:
            raise MissingValuesError(f"{self.who} needs a target: give y, or scan(..., target=...)")
        absent = block.y < 0 if block.y.dtype.kind == "i" else ~np.isfinite(block.y)
        if absent.any():
            row = block.start + int(np.flatnonzero(absent)[0])
            name = block.schema.target.name if block.schema.target else "y"
            raise MissingValuesError(
                f"target {name!r} is missing or infinite (NaN or inf) in row {row}, which {self.who} cannot learn "
                "from: drop such rows first"
            )
        return block
