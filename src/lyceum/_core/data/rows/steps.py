"""Steps between the source and a learner: cells as codes, cells as numbers, the checks on both, and
a count of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from lyceum._core.data.rows.block import Block
from lyceum._core.data.schema.coding import codes_of
from lyceum._core.data.schema.column import Column
from lyceum._core.data.schema.schema import Schema
from lyceum._core.native import native
from lyceum._core.types import Operation
from lyceum.errors import MissingValuesError, SchemaError

if TYPE_CHECKING:
    from lyceum._core.data.rows.rows import Rows


@dataclass(frozen=True, slots=True)
class Dense:
    """A step that makes sparse cells dense, block by block: for methods that look at every cell.

    See Also
    --------
    Recode : Cells as codes.

    Examples
    --------
    >>> from scipy import sparse
    >>> from lyceum._core.data import ArraySource, Dense
    >>> from lyceum.data import Rows, Schema
    >>> X = sparse.csr_array([[0.0, 2.0], [1.0, 0.0]])
    >>> rows = Rows(ArraySource(X, None, None, Schema.of_numbers(["a", "b"])))
    >>> next(rows.then(Dense()).blocks()).X.tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if not sparse.issparse(block.X):
            return block
        return block.with_X(np.ascontiguousarray(block.dense), block.schema)

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models, whose rows are dense."""
        return []


@dataclass(frozen=True, slots=True)
class Recode:
    """A step that makes every categorical cell a code, those of binary numbers too: for methods
    that count.

    See Also
    --------
    Design : Cells as numbers, for methods that compute.
    Align : Codes of another schema.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum._core.data import Recode
    >>> from lyceum.data import scan
    >>> rows = scan(pa.table({"dose": [5.0, 20.0, 5.0]}), kinds={"dose": "binary"})
    >>> next(rows.blocks()).X[:, 0].tolist(), next(rows.then(Recode()).blocks()).X[:, 0].tolist()
    ([5.0, 20.0, 5.0], [0.0, 1.0, 0.0])
    """

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        columns = block.schema.number_codes
        if not columns:
            return block
        dtype = block.X.dtype
        if dtype.kind != "f":
            dtype = np.dtype(np.float64)
        X = block.X.astype(dtype)
        for j, codes in columns.items():
            if len(X) == 1 and codes is not None:
                value = X.item(0, j)
                X[0, j] = codes.get(value, -1.0) if value == value else np.nan
            else:
                X[:, j] = codes_of(X[:, j], block.schema[j].categories)  # type: ignore[arg-type]
        return block.with_X(X, block.schema)

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        changes = [
            [j, "numbers to codes", np.asarray(schema[j].categories, float).tolist()]
            for j in schema.number_codes
        ]
        return [("recode", {"changes": changes})] if changes else []


@dataclass(frozen=True)
class Design:
    """A step that makes every cell a number: one-of-C columns for categories that are not numbers.

    A column of two categories gives one column, 1 for the second. With `reference` the first
    category of every column is left out, so that the columns are independent of an intercept. With
    `every` all categories have a column, also where there are two: two rows that differ in a
    category then differ in two cells, however many categories there are, so that distances weigh
    all columns of categories alike. An unknown category is all zeros. Free text stays as it is.

    Attributes
    ----------
    before : Schema
        The columns of the table.
    reference : bool, default=False
        Whether the first category of every column is left out.
    every : bool, default=False
        Whether a column of two categories also has two columns.
    sparse : bool, default=False
        Whether cells are CSR where most of them would be zeros.
    after : Schema
        The design columns.
    width : array of shape (d,)
        How many design columns every column has.
    source : array of shape (number of design columns,)
        The column that every design column comes from.
    is_plain : bool
        Whether every column stays as it is.

    See Also
    --------
    Recode : Cells as codes, for methods that count.
    lyceum.prepare.OneHotEncoder : The same as a transformer.
    design_change : From the design columns of one schema to those of a larger one.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import Block, Schema
    >>> from lyceum._core.data import Design
    >>> kinds = {"sky": ["clear", "rain", "snow"], "wind": ["no", "yes"], "degrees": "continuous"}
    >>> schema = Schema.declare(kinds)
    >>> design = Design(schema)
    >>> design.after.names
    ('sky=clear', 'sky=rain', 'sky=snow', 'wind=yes', 'degrees')
    >>> design(Block(np.array([[1.0, 1.0, 20.5]]), None, None, 0, schema)).X.tolist()
    [[0.0, 1.0, 0.0, 1.0, 20.5]]
    """

    before: Schema
    reference: bool = False
    every: bool = False
    sparse: bool = False

    def schema(self, schema: Schema) -> Schema:
        # all blocks have one schema: it is made once, as its checks take time over thousands of
        # columns
        last: tuple[Schema, Schema] | None = self.__dict__.get("_last")
        if last is None or last[0] is not schema:
            last = (schema, replace(schema, columns=self.after.columns))
            self.__dict__["_last"] = last
        return last[1]

    @cached_property
    def after(self) -> Schema:
        if self.before.of_an_array:
            return Schema(self.before.columns)
        columns: list[Column] = []
        for column in self.before:
            if column.numeric:
                if column.categories is not None:
                    column = replace(column, kind="continuous", categories=None)
                columns.append(column)
            elif column.is_free_text:
                columns.append(column)
            else:
                values = np.asarray(column.categories)[self._first(column) :]
                columns += [
                    Column(f"{column.name}={value}", why=column.why) for value in values
                ]
        return Schema(tuple(columns))

    def _first(self, column: Column) -> int:
        """The first category that has a design column."""
        if _stays(column):
            return 0
        is_pair = len(np.asarray(column.categories)) == 2
        return int(self.reference or (is_pair and not self.every))

    @cached_property
    def width(self) -> np.ndarray:
        """How many design columns every column has."""
        if self.before.of_an_array:
            return np.ones(len(self.before), dtype=np.int32)
        widths = []
        for column in self.before:
            width = 1
            if not _stays(column):
                n_categories = len(np.asarray(column.categories))
                width = n_categories - self._first(column)
            widths.append(width)
        return np.array(widths, dtype=np.int32)

    @cached_property
    def source(self) -> np.ndarray:
        """The column that every design column comes from."""
        return np.repeat(np.arange(len(self.before)), self.width)

    @cached_property
    def _layout(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The columns that have design columns, where these start, how many (0: a number), from
        which."""
        # a column whose only category is left out has no design column
        used = np.flatnonzero(self.width)
        stays = np.array([_stays(column) for column in self.before])
        firsts = [self._first(column) for column in self.before]
        first = np.array(firsts, dtype=np.int32)
        start = np.cumsum(self.width, dtype=np.int32) - self.width
        size = np.where(stays, np.int32(0), self.width)
        return used, start[used], size[used], first[used]

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column stays as it is."""
        return self.before.of_an_array or all(map(_stays, self.before))

    @cached_property
    def _is_sparse(self) -> bool:
        return self.sparse and len(self.after) >= 4 * len(self.before)

    def __call__(self, block: Block) -> Block:
        if self.is_plain:
            return block.with_X(block.X, self.schema(block.schema))
        used, *layout = self._layout
        X = block.X
        if len(used) < len(self.before):
            X = X[:, used]
        if X.dtype.kind != "f" and self._is_sparse:
            X = X.astype(np.float64)
        cells = self._expand(np.ascontiguousarray(X), *layout)
        return block.with_X(cells, self.schema(block.schema))

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        if self.is_plain:
            return []
        used, _, size, first = self._layout
        layout = [list(pair) for pair in zip(size.tolist(), first.tolist())]
        return [("expand", {"columns": used.tolist(), "layout": layout})]

    def _expand(
        self, X: np.ndarray, start: np.ndarray, size: np.ndarray, first: np.ndarray
    ) -> Any:
        """Cells of the table as design columns, dense or CSR; see `_layout`."""
        shape = (len(X), len(self.after))
        if not self._is_sparse:
            dtype = X.dtype if X.dtype.kind == "f" else np.float64
            expanded = np.empty(shape, dtype=dtype)
            native.expand(X, start, size, first, expanded)
            return expanded
        # every cell of the table gives at most one that is not zero
        indptr = np.empty(len(X) + 1, np.int32)
        indices = np.empty(X.size, np.int32)
        data = np.empty(X.size)
        n_used = native.expand_sparse(X, start, size, first, indptr, indices, data)
        cells = (data[:n_used], indices[:n_used], indptr)
        return sparse.csr_array(cells, shape=shape)


def _stays(column: Column) -> bool:
    return column.numeric or column.is_free_text


def design_change(known: Schema, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The matrix and offset of z ↦ matrix z + offset, from rows coded by `known` to the same rows
    coded by `design`.

    `design` has the columns of `known`, some with more categories, which no older row has.
    """
    # the design columns of an old column give the indicators of its old categories; those of new
    # categories are zero for every old row
    old = replace(design, before=Schema(known.columns))
    matrix = np.zeros((len(design.after), len(old.after)))
    offset = np.zeros(len(design.after))
    for j, (before, after) in enumerate(zip(old.before, design.before)):
        old_columns = np.flatnonzero(old.source == j)
        new_columns = np.flatnonzero(design.source == j)
        if after.numeric:
            matrix[new_columns, old_columns] = 1.0
            continue
        categories = np.asarray(after.categories)
        coded = categories[len(categories) - len(new_columns) :]
        slopes, starts = _indicators(before, len(old_columns))
        for i, value in zip(new_columns, coded):
            for index in np.flatnonzero(np.asarray(before.categories) == value):
                matrix[i, old_columns] = slopes[index]
                offset[i] = starts[index]
    return matrix, offset


def _indicators(column: Column, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The indicator of every category as slopes @ z + starts, with z the design columns."""
    n = len(np.asarray(column.categories))
    # two numbers a < b as they are: b is where (z - a) / (b - a) is 1
    if column.numeric:
        a, b = np.asarray(column.categories, dtype=np.float64)
        slopes = np.array([[-1.0], [1.0]])
        starts = np.array([b, -a])
        return slopes / (b - a), starts / (b - a)
    if width == n:
        return np.eye(n), np.zeros(n)
    # without a column of its own, the first category is 1 minus the others
    slopes = np.vstack([-np.ones(n - 1), np.eye(n - 1)])
    return slopes, np.append(1.0, np.zeros(n - 1))


@dataclass(frozen=True, slots=True)
class CheckCells:
    """A step that refuses infinite cells, and missing cells unless they are allowed, with the
    column's name.

    Attributes
    ----------
    caller : str
        The learner, for the message.
    allow_missing : bool, default=False
        Whether missing cells pass.
    instead : str, default=""
        A further remedy for missing cells, appended to the message.

    See Also
    --------
    CheckTarget : The same for the target.
    lyceum.errors.MissingValuesError : What it raises.
    lyceum.prepare.SimpleImputer : A remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.data import CheckCells
    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[1.0, 2.0], [3.0, np.inf]])).then(CheckCells("A learner"))
    >>> next(rows.blocks())  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.MissingValuesError: column 'x1' has an infinity (inf) in row 1, which A learner
        cannot take: replace it by a number, or by NaN if it is unknown
    """

    caller: str
    allow_missing: bool = False
    instead: str = ""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        cells = block.X
        if sparse.issparse(cells):
            cells = cells.data.reshape(1, -1)
        if cells.dtype.kind != "f":
            return block
        index = native.first_nonfinite(cells, self.allow_missing)
        if index >= 0:
            raise MissingValuesError(self._message(block, index, cells.flat[index]))
        return block

    def operations(self, schema: Schema) -> list[Operation]:
        """The same for exported models."""
        names = list(schema.names)
        return [("require", {"names": names, "takes_missing": self.allow_missing})]

    def _message(self, block: Block, index: int, value: float) -> str:
        # an index into the cells: those of a CSR row r are from indptr[r] to indptr[r + 1]
        if sparse.issparse(block.X):
            row = int(np.searchsorted(block.X.indptr, index, side="right")) - 1
            column = block.schema[int(block.X.indices[index])].name
        else:
            row = index // block.X.shape[1]
            column = block.schema[index % block.X.shape[1]].name
        if np.isnan(value):
            what = "a missing value (NaN)"
            remedy = f"fill it first, e.g. lyceum.prepare.SimpleImputer(){self.instead}"
        else:
            what = "an infinity (inf)"
            remedy = "replace it by a number, or by NaN if it is unknown"
        return (
            f"column {column!r} has {what} in row {block.start + row}, which {self.caller} cannot"
            f" take: {remedy}"
        )


@dataclass(frozen=True, slots=True)
class CheckCategories:
    """Refuses categories that a declared schema does not list, by the name of the column."""

    caller: str

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        for j, column in enumerate(block.schema):
            if column.is_listed:
                codes = block.X[:, j]
                if column.numeric:
                    codes = codes_of(codes, column.categories)  # type: ignore[arg-type]
                unknown = np.flatnonzero(codes == -1)
                if len(unknown):
                    raise SchemaError(
                        f"column {column.name!r} has a category in row {block.start + unknown[0]}"
                        f" that its schema does not list, which {self.caller} cannot learn from:"
                        " add it to the schema"
                    )
        return block


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """A step that refuses rows whose target is missing or infinite.

    Attributes
    ----------
    caller : str
        The learner, for the message.

    See Also
    --------
    CheckCells : The same for cells.
    lyceum.errors.MissingValuesError : What it raises.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.data import CheckTarget
    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[1.0, 2.5], [3.0, np.nan]]), target="x1")
    >>> rows = rows.then(CheckTarget("A learner"))
    >>> next(rows.blocks())  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.MissingValuesError: target 'x1' is missing or infinite (NaN or inf) in row 1,
        which A learner cannot learn from: drop such rows first
    """

    caller: str

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if block.y is None:
            raise MissingValuesError(
                f"{self.caller} needs a target: give y, or scan(..., target=...)"
            )
        if block.y.dtype.kind == "i":
            missing = block.y < 0
        else:
            missing = ~np.isfinite(block.y)
        if missing.any():
            row = block.start + int(np.flatnonzero(missing)[0])
            name = block.schema.target_name
            raise MissingValuesError(
                f"target {name!r} is missing or infinite (NaN or inf) in row {row}, which"
                f" {self.caller} cannot learn from: drop such rows first"
            )
        return block


class RowCounter:
    """A step that counts the rows that come by, where only a pass can tell how many there are.

    Parameters
    ----------
    rows : Rows
        What is counted.
    before : int, default=0
        Rows counted in earlier calls of `partial_fit`.

    Attributes
    ----------
    complete : bool
        Whether a pass over all rows has been made; `Rows` says so.
    """

    def __init__(self, rows: Rows, before: int = 0):
        self.rows = rows
        self.before = before
        self.complete = False
        # by the first row of a block: more passes change nothing
        self._lengths: dict[int, int] = {}

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        self._lengths[block.start] = len(block)
        return block

    def total(self) -> int:
        """The number of rows; takes a pass only if none was made here, as on Dask."""
        n_rows = sum(self._lengths.values()) if self.complete else len(self.rows)
        return self.before + n_rows
