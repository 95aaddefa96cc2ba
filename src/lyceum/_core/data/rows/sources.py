"""Where rows come from: arrays and tables in memory. Files are in `file_sources.py`, Dask
collections in `dask.py`.

A source yields parts that can be read in any order and again; a part yields blocks. Parts do not
share anything, so threads can work on several at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from lyceum._core.data.rows.block import Block, as_float, block_rows
from lyceum._core.data.schema.coding import ArrayCoder, TableCoder, with_texts
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa


class Part(Protocol):
    """Consecutive rows, which can be read as blocks any number of times."""

    def blocks(self) -> Iterator[Block]: ...


class Source(Protocol):
    """Parts in order, the schema that codes them, and the number of rows where it is known."""

    @property
    def schema(self) -> Schema: ...

    @property
    def n_rows(self) -> int | None: ...

    def parts(self) -> Iterator[Part]: ...


@dataclass(frozen=True, slots=True)
class ArraySource:
    """Rows in memory: a dense or CSR array, of cells as the user gave them or (`coded`) of coded
    ones.

    Attributes
    ----------
    X : array of shape (n, d), or CSR
        The cells.
    y : array or None
        Class codes or numbers.
    w : array or None
        Weights.
    schema : Schema
        The columns.
    coded : bool, default=False
        Whether the cells are coded.
    settled : bool, default=False
        Whether a learner passes these rows on to its members: it has settled the kinds of the
        columns, and the members' `categorical_features` are not used.
    n_rows : int
        The number of rows.
    block : Block
        All rows as one block.
    is_coded : bool
        Whether blocks are parts of the array itself, without a copy.

    See Also
    --------
    Rows : Rows from this or any other source.
    Block : Some rows with their cells coded.
    scan : Makes the source for a file, frame or array.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.data import ArraySource
    >>> from lyceum.data import Rows, Schema
    >>> source = ArraySource(np.array([[1.0], [2.0], [4.0]]), None, None, Schema.of_numbers(["x"]))
    >>> source.n_rows, source.take(np.array([2, 0])).X.tolist()
    (3, [[4.0], [1.0]])
    >>> Rows(source)
    <Rows: 3 rows × 1 column (1 continuous), in memory>
    """

    X: Any
    y: np.ndarray | None
    w: np.ndarray | None
    schema: Schema
    coded: bool = False
    settled: bool = False

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @classmethod
    def of_block(cls, block: Block) -> ArraySource:
        """The rows of one block, whose cells are coded."""
        return cls(block.X, block.y, block.w, block.schema, coded=True)

    @property
    def block(self) -> Block:
        """All rows as one block; cells that are not `coded` are as the user gave them."""
        return Block(self.X, self.y, self.w, 0, self.schema)

    @property
    def is_coded(self) -> bool:
        """Whether the array itself is what blocks are made of, without a copy."""
        if self.coded:
            return True
        if sparse.issparse(self.X):
            return self.X.dtype in (np.float32, np.float64)
        # what the coder does to one row, it does to all
        first = self.X[:1]
        coded = ArrayCoder(self.schema)(first)
        return self.X.flags.c_contiguous and np.may_share_memory(coded, first)

    def take(self, indices: np.ndarray) -> ArraySource:
        """Some of the rows, in the order given."""
        taken = self.block.take(indices)
        return replace(self, X=taken.X, y=taken.y, w=taken.w)

    def parts(self) -> Iterator[Part]:
        step = block_rows(self.X.shape[1])
        return (
            _ArrayPart(self, start, start + step)
            for start in range(0, self.n_rows, step)
        )


@dataclass(frozen=True, slots=True)
class _ArrayPart:
    source: ArraySource
    start: int
    stop: int

    def blocks(self) -> Iterator[Block]:
        source = self.source
        rows = slice(self.start, self.stop)
        X = source.X[rows]
        if sparse.issparse(X):
            X = as_float(X)
        elif not source.coded:
            X = ArrayCoder(source.schema)(X)
        y = None if source.y is None else source.y[rows]
        w = None if source.w is None else source.w[rows]
        yield Block(X, y, w, self.start, source.schema)


@dataclass(frozen=True, slots=True)
class BatchPart:
    """Rows of an Arrow table or record batch."""

    batch: pa.Table | pa.RecordBatch
    start: int
    schema: Schema

    @property
    def n_rows(self) -> int:
        return self.batch.num_rows

    def blocks(self) -> Iterator[Block]:
        schema = with_texts(self.schema, self.batch)
        coder = TableCoder(schema)
        step = block_rows(len(schema))
        for start in range(0, self.batch.num_rows, step):
            rows = self.batch.slice(start, step)
            X = coder.features(rows)
            y = coder.target(rows)
            w = coder.weights(rows)
            yield Block(X, y, w, self.start + start, schema)
