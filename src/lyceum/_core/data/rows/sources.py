"""Where rows come from: arrays, Parquet files, CSV files. Dask collections are in `dask.py`.

A source yields parts that can be read in any order and again; a part yields blocks. Parts do not
share anything, so threads can work on several at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from lyceum._core.data.files.csv import CsvReader
from lyceum._core.data.files.typed_files import open_parquet, parquet_footer
from lyceum._core.data.rows.block import Block, as_float, block_rows
from lyceum._core.data.schema.coding import ArrayCoder, TableCoder, with_texts
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa, pq


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


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """Parquet files, read row group by row group: one part is a few row groups of one file."""

    paths: Sequence[str]
    schema: Schema
    text: tuple[str, ...] = ()  # columns to read as dictionaries

    @property
    def n_rows(self) -> int:
        return sum(parquet_footer(path)[0].num_rows for path in self.paths)

    def parts(self) -> Iterator[ParquetPart]:
        start = 0
        for path in self.paths:
            metadata, _ = parquet_footer(path)
            for groups in _group(metadata):
                n_rows = sum(metadata.row_group(group).num_rows for group in groups)
                yield ParquetPart(path, groups, start, n_rows, self.schema, self.text)
                start += n_rows

    def without_features(self) -> ParquetSource:
        """The same rows with targets and weights alone."""
        return replace(self, schema=replace(self.schema, columns=()))


_PART_ROWS = 1 << 18  # of a part of a Parquet file


def _group(metadata: pq.FileMetaData) -> Iterator[tuple[int, ...]]:
    """Consecutive row groups, each bundle with enough rows to be worth opening the file for."""
    bundle: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        bundle.append(group)
        rows += metadata.row_group(group).num_rows
        if rows >= _PART_ROWS:
            yield tuple(bundle)
            bundle = []
            rows = 0
    if bundle:
        yield tuple(bundle)


@dataclass(frozen=True, slots=True)
class ParquetPart:
    path: str
    groups: tuple[int, ...]
    start: int
    n_rows: int
    schema: Schema
    text: tuple[str, ...] = ()

    def batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows of the part, a few blocks at a time."""
        # with a buffer, column chunks are read in pieces; threads work on parts, not inside of one
        options: dict[str, Any] = {
            "buffer_size": 1 << 16,
            "read_dictionary": list(self.text),
        }
        with open_parquet(self.path, **options) as batches:
            present = set(batches.column_names)
            names = [name for name in names if name in present]
            size = 4 * block_rows(len(self.schema))
            yield from batches(
                size, row_groups=self.groups, columns=names, use_threads=False
            )

    def blocks(self) -> Iterator[Block]:
        start = self.start
        for batch in self.batches(TableCoder(self.schema).names):
            yield from BatchPart(batch, start, self.schema).blocks()
            start += batch.num_rows


@dataclass(frozen=True, slots=True)
class CsvSource:
    """CSV files too large for memory, parsed again on every pass, a few blocks at a time."""

    paths: Sequence[str]
    reader: CsvReader
    schema: Schema
    n_rows: int | None = None

    def without_features(self) -> CsvSource:
        """The same rows with targets and weights alone."""
        schema = replace(self.schema, columns=())
        reader = replace(self.reader, only=tuple(TableCoder(schema).names))
        return replace(self, schema=schema, reader=reader)

    def parts(self) -> Iterator[Part]:
        start = 0
        for path in self.paths:
            for batch in self.reader.stream(path):
                yield BatchPart(batch, start, self.schema)
                start += batch.num_rows
