"""The changes that fitted transformers make to a block of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, Column, Design, Schema, as_float, codes_of
from lyceum._core.types import Operation
from lyceum.errors import ExportError, SchemaError


def is_unknown(codes: np.ndarray, column: Column) -> np.ndarray:
    """Where a code stands for no category of the column and is not missing either."""
    return (codes < 0) | (codes >= len(column.categories))  # type: ignore[arg-type]


def renamed(columns: Schema, names: Schema) -> Schema:
    """The columns of one schema under the names of another."""
    pairs = zip(columns, names)
    return Schema(tuple(replace(column, name=other.name) for column, other in pairs))


def missing_cells(block: Block) -> np.ndarray:
    """Where cells are missing."""
    if block.X.dtype.kind == "f":
        return np.isnan(block.X)
    return np.zeros(block.X.shape, dtype=bool)


@dataclass(frozen=True, eq=False)
class Affine:
    """x -> (x - center) / scale * gain + offset, kept within [low, high] if they are given; or its
    inverse.

    Computed in float64, whatever the cells are.
    """

    center: np.ndarray
    scale: np.ndarray
    gain: np.ndarray | None = None
    offset: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    inverse: bool = False

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if sparse.issparse(block.X):
            return block.with_X(self._of_sparse(block.X), block.schema)
        X = as_float(block.X)
        out = self._backward(X) if self.inverse else self._forward(X)
        return block.with_X(out.astype(X.dtype, copy=False), block.schema)

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        if self.inverse:
            raise ExportError("the inverse of a scaler cannot be exported")
        constants = {}
        for name in ("center", "scale", "gain", "offset", "low", "high"):
            values = getattr(self, name)
            if values is not None:
                values = np.broadcast_to(
                    np.asarray(values, float), len(schema)
                ).tolist()
            constants[name] = values
        return [("affine", constants)]

    def _forward(self, X: np.ndarray) -> np.ndarray:
        out = X - self.center
        out /= self.scale
        if self.gain is not None:
            out *= self.gain
            out += self.offset
        if self.low is not None:
            np.clip(out, self.low, self.high, out=out)
        return out

    def _backward(self, X: np.ndarray) -> np.ndarray:
        out = X.astype(np.float64)
        if self.gain is not None:
            out -= self.offset  # type: ignore[arg-type]
            out /= self.gain
        out *= self.scale
        out += self.center
        return out

    def _of_sparse(self, X: sparse.csr_array) -> sparse.csr_array:
        """Only the scale: a center would fill the zeros."""
        scale = self.scale[X.indices]
        out = X.copy()
        cells = X.data * scale if self.inverse else X.data / scale
        out.data = cells.astype(X.dtype, copy=False)
        return out


@dataclass(frozen=True, eq=False)
class Fill:
    """A value for the missing cells of every column, and 0/1 columns that mark those of `flagged`
    columns.

    `values` are cells of the columns after: numbers, or codes of categories. NaN leaves them
    missing.
    """

    before: Schema
    filled: Schema
    values: np.ndarray
    flagged: tuple[int, ...] = ()

    @cached_property
    def after(self) -> Schema:
        columns = list(renamed(self.filled, self.before).columns)
        for j in self.flagged:
            name = self.before[j].name
            flags = np.array([0.0, 1.0])
            why = f"1 where {name!r} was missing"
            columns.append(Column(f"{name} missing", "binary", flags, why))
        return Schema(tuple(columns))

    @cached_property
    def recoded_columns(self) -> list[int]:
        """Columns whose cells were numbers and are codes after."""
        return [
            j
            for j, (new, old) in enumerate(zip(self.filled, self.before))
            if old.numeric and not new.numeric
        ]

    def schema(self, schema: Schema) -> Schema:
        # all blocks have one schema: it is made once, as in `Design`
        last: tuple[Schema, Schema] | None = self.__dict__.get("_last")
        if last is None or last[0] is not schema:
            last = (schema, replace(schema, columns=self.after.columns))
            self.__dict__["_last"] = last
        return last[1]

    def __call__(self, block: Block) -> Block:
        # by index, not by np.where over all columns: few cells are missing as a rule
        X = self._as_codes(as_float(block.X))
        missing = missing_cells(block)
        indices = np.flatnonzero(missing)
        if len(indices):
            rows, columns = np.divmod(indices, X.shape[1])
            X = X.copy()
            X[rows, columns] = self.values[columns]
        if self.flagged:
            X = np.hstack([X, missing[:, self.flagged].astype(X.dtype)])
        return block.with_X(X, self.schema(block.schema))

    def _as_codes(self, X: np.ndarray) -> np.ndarray:
        if self.recoded_columns:
            X = X.copy()
            for j in self.recoded_columns:
                X[:, j] = codes_of(X[:, j], self.before[j].categories)  # type: ignore[arg-type]
        return X

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        recoded = [
            [
                j,
                "numbers to codes",
                np.asarray(self.before[j].categories, float).tolist(),
            ]
            for j in self.recoded_columns
        ]
        fill = ("fill", {"values": self.values.tolist(), "flagged": list(self.flagged)})
        if recoded:
            return [("recode", {"changes": recoded}), fill]
        return [fill]


@dataclass(frozen=True, slots=True)
class DropMissingRows:
    """Drops the rows with a missing cell or a missing target, their targets and weights with
    them."""

    drops_rows = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        keep = np.asarray(~missing_cells(block).any(axis=1))
        # a missing class has the code -1, a missing number is NaN
        if block.y is not None and block.y.dtype.kind == "i":
            keep &= block.y >= 0
        elif block.y is not None:
            keep &= ~np.isnan(block.y)
        return block if keep.all() else block.take(keep)


@dataclass(frozen=True, eq=False)
class KnownOnly:
    """One-of-C columns; a category that was not learned is an error."""

    design: Design
    caller: str

    def schema(self, schema: Schema) -> Schema:
        return self.design.schema(schema)

    def __call__(self, block: Block) -> Block:
        for j, column in enumerate(self.design.before):
            if column.numeric or column.is_free_text:
                continue
            unknown = is_unknown(block.X[:, j], column)
            if unknown.any():
                row = block.start + int(unknown.argmax())
                raise SchemaError(
                    f"column {column.name!r} has a category in row {row} that {self.caller} has not"
                    " learned: handle_unknown='ignore' codes it as none of the known ones"
                )
        return self.design(block)
