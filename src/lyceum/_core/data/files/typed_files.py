"""Parquet, Arrow and Feather files: what Arrow reads of them is checked before it is used.

Arrow follows the offsets and codes of a file wherever they point, also out of its memory, and
unpacks whatever a file asks for. `validated` is therefore the only way by which rows of a file (or
of a request) come in, and what it will take is looked up in the file before it is unpacked.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lyceum._core.data.files.column_names import check_names
from lyceum._core.data.files.file_errors import file_errors, first_line
from lyceum._core.data.files.limits import check_memory
from lyceum._core.data.files.raw_bytes import read_bytes
from lyceum._core.data.inputs.arrow import plain_text, replace_columns
from lyceum._core.lazy_arrow import feather, pa, pc, pq
from lyceum.errors import DataError, SchemaError

_Rows = TypeVar("_Rows", bound=Any)
_MOST_TEXT = 1 << 30  # bytes of a text column; offsets of 32 bits end at twice as many
# rows at a time of texts that each may repeat most of the one before: what they take is known when
# they are read
_STEP_ROWS = 16
_PART_ROWS = 1 << 16  # of a part of a table


def validated(rows: _Rows, path: str, start: int = 0) -> _Rows:
    """A table or batch whose offsets, codes and texts have all been checked; views as plain text.

    Parameters
    ----------
    rows : pyarrow.Table or pyarrow.RecordBatch
        What was read.
    path : str
        The file, for messages.
    start : int, default=0
        The number of its first row in the file, for messages.

    Raises
    ------
    DataError
        With the name of the column, and the row where Arrow says which it is.
    """
    with file_errors(path):
        names = rows.schema.names
        _check_names(names, path)
        for name, column in zip(names, rows.columns):
            row = start
            for chunk in getattr(column, "chunks", (column,)):
                try:
                    chunk.validate(full=True)
                except pa.ArrowInvalid as error:
                    where = _where(name, row, error)
                    text = f"{path} is damaged: {where}: {first_line(error)}"
                    raise DataError(text) from error
                row += len(chunk)
        sound = {
            name: _sound_codes(column)
            for name, column in zip(names, rows.columns)
            if pa.types.is_dictionary(column.type) and column.null_count
        }
        return _with_room(plain_text(replace_columns(rows, sound)), path)


def _with_room(rows: _Rows, path: str) -> _Rows:
    """Rows whose texts fit memory also where each code of a dictionary is written out.

    Columns of more text than offsets of 32 bits reach get those of 64.
    """
    larger = {}
    for name, column in zip(rows.schema.names, rows.columns):
        kind = column.type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not _is_text(values):
            continue
        n_bytes = _text_bytes(column)
        if n_bytes > _MOST_TEXT:
            check_memory(n_bytes, path, f"the texts of column {name!r}")
            if pa.types.is_dictionary(kind):
                large = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
            else:
                large = pa.large_string()
            larger[name] = column.cast(large)
    return replace_columns(rows, larger)


def _text_bytes(column: pa.Array | pa.ChunkedArray) -> int:
    """The bytes of all cells of a text column; of a dictionary at least where it matters."""
    n_bytes = 0
    for chunk in getattr(column, "chunks", (column,)):
        if not pa.types.is_dictionary(chunk.type):
            n_bytes += chunk.nbytes
            continue
        lengths = pc.binary_length(chunk.dictionary).fill_null(0)
        longest = pc.max(lengths).as_py() or 0
        if len(chunk) * longest > _MOST_TEXT // 100:
            n_bytes += pc.sum(lengths.take(chunk.indices).cast(pa.int64())).as_py() or 0
    return n_bytes


def _sound_codes(
    column: pa.Array | pa.ChunkedArray,
) -> pa.Array | pa.ChunkedArray:
    """A dictionary column with code 0 below its missing cells.

    What stands there is not checked, and may be anything; but where Arrow unites dictionaries, it
    looks up these codes, too.
    """
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array(map(_sound_codes, column.chunks), column.type)
    codes = column.indices.fill_null(0).to_numpy()
    missing = np.asarray(column.is_null())
    indices = pa.array(codes, column.indices.type, mask=missing)
    return pa.DictionaryArray.from_arrays(
        indices, column.dictionary, ordered=column.type.ordered
    )


def _check_names(names: Sequence[str], path: str) -> None:
    try:
        check_names(names)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from error


def _where(name: str, start: int, error: Exception) -> str:
    """The column, and the row if the error counts cells of it."""
    index = re.search(r"(?:string index|at index|at slot|position) (\d+)", str(error))
    # the cells of a dictionary are no rows
    if index is None or "ictionary" in str(error):
        return f"column {name!r}"
    return f"column {name!r}, row {start + int(index[1])}"


def read_arrow_file(path: str) -> pa.Table:
    """An Arrow file, or a stream of Arrow batches; Feather is one or the other or older."""
    with file_errors(path, "arrow"):
        return read_arrow(read_bytes(path), path)


def read_arrow(data: pa.Buffer, name: str) -> pa.Table:
    """The rows of Arrow or Feather data; `name` is that of the file, for messages."""
    with file_errors(name, "arrow"):
        source = pa.BufferReader(data)
        is_file = data[:6].to_pybytes().startswith((b"ARROW1", b"FEA1"))
        _check_sizes(data, name)
        if is_file:
            table = feather.read_table(source)
        else:
            table = pa.ipc.open_stream(source).read_all()
            if source.tell() < data.size:
                raise DataError(
                    f"{name} has {data.size - source.tell():,} bytes behind the end of its stream:"
                    " it may be two files in one; write them as one, or apart"
                )
    return validated(table, name)


# -- what an Arrow file asks for -------------------------------------------------------
# The headers of its messages are tables of FlatBuffers: a table begins with the distance back to
# the list of where its fields are (https://arrow.apache.org/docs/format/Columnar.html).


def _check_sizes(data: pa.Buffer, name: str) -> None:
    """Raise if the batches of an Arrow file or stream take more memory than its reading may."""
    content = memoryview(data)
    n_bytes = 0
    n_cells = 0
    is_misread = False
    try:
        for header, body in _messages(content):
            message = _Table(content, header)
            kind, table = message.union(1)
            if kind == _DICTIONARY_BATCH:
                table = table.table(1)
            if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
                continue
            n_cells += table.integer(0, "<q") * table.vector(1)[1]
            n_bytes += _unpacked_bytes(content, table, body)
            # pyarrow packs messages of older versions, too, and reads them as not packed
            is_misread |= message.integer(0, "<h") < _VERSION_5 and table.is_there(3)
    except (struct.error, IndexError, ValueError) as error:
        raise DataError(f"{name} is damaged: its batches are cut off") from error
    if is_misread:
        raise DataError(
            f"{name} has packed batches in the form of an Arrow before 1.0, which cannot be read:"
            " write it without compression, or with metadata_version=V5"
        )
    check_memory(n_bytes, name, "its batches, unpacked,")
    check_memory(8 * n_cells, name, f"its {n_cells:,} cells")


def _unpacked_bytes(content: memoryview, batch: _Table, body: int) -> int:
    """The bytes of the buffers of a batch, whose body begins there."""
    start, n_buffers = batch.vector(2)
    # pairs of offset and length
    buffers = np.frombuffer(content, "<i8", 2 * n_buffers, start).reshape(-1, 2)
    lengths = np.maximum(buffers[:, 1], 0)
    # the numbers of buffers of columns of views, which versions of Arrow before 24 take unchecked
    start, n_columns = batch.vector(4)
    counts = np.frombuffer(content, "<i8", n_columns, start)
    if (counts < 0).any() or int(counts.astype(object).sum()) > n_buffers:
        raise ValueError("more buffers than there are")
    if not batch.is_there(3):
        return int(lengths.sum())
    # a packed buffer begins with the length that it is unpacked to, -1 if it is as it was
    n_bytes = 0
    for offset in buffers[lengths >= 8, 0].tolist():
        n_bytes += max(0, *struct.unpack_from("<q", content, body + offset))
    return n_bytes


_DICTIONARY_BATCH = 2
_RECORD_BATCH = 3
_VERSION_5 = 4


class _Table:
    """A table of FlatBuffers, by the numbers of its fields."""

    def __init__(self, content: memoryview, start: int) -> None:
        self._content = content
        self._start = start

    def offset(self, field: int) -> int | None:
        """Where a field is, None if it is left out."""
        (back,) = struct.unpack_from("<i", self._content, self._start)
        fields = self._start - back
        (size,) = struct.unpack_from("<H", self._content, fields)
        if 4 + 2 * field >= size:
            return None
        (distance,) = struct.unpack_from("<H", self._content, fields + 4 + 2 * field)
        return self._start + distance if distance else None

    def is_there(self, field: int) -> bool:
        return self.offset(field) is not None

    def integer(self, field: int, form: str) -> int:
        offset = self.offset(field)
        return (
            0 if offset is None else struct.unpack_from(form, self._content, offset)[0]
        )

    def _target(self, field: int) -> int:
        offset = self.offset(field)
        if offset is None:
            raise IndexError(field)
        return offset + struct.unpack_from("<I", self._content, offset)[0]

    def table(self, field: int) -> _Table:
        return _Table(self._content, self._target(field))

    def union(self, field: int) -> tuple[int, _Table]:
        """The type of what a field holds, and the table that it is."""
        return self.integer(field, "<B"), self.table(field + 1)

    def vector(self, field: int) -> tuple[int, int]:
        """Where the elements of a list begin, and their number."""
        if self.offset(field) is None:
            return 0, 0
        target = self._target(field)
        return target + 4, struct.unpack_from("<I", self._content, target)[0]


def _messages(content: memoryview) -> Iterator[tuple[int, int]]:
    """Where the header and the body of every message are, as Arrow's reader finds them."""
    if bytes(content[:4]) == b"FEA1":
        return
    if bytes(content[:6]) != b"ARROW1":
        offset = 0
        while offset + 8 <= len(content):
            header, size = _prefix(content, offset)
            if size == 0:
                return
            message = header + struct.unpack_from("<I", content, header)[0]
            yield message, header + size
            offset = header + size + max(0, _Table(content, message).integer(3, "<q"))
        return
    # the end of a file says where its batches are: dictionaries, then rows
    (size,) = struct.unpack_from("<i", content, len(content) - 10)
    start = len(content) - 10 - size
    footer = _Table(content, start + struct.unpack_from("<I", content, start)[0])
    for field in (2, 3):
        blocks, n_blocks = footer.vector(field)
        for i in range(n_blocks):
            offset, length = struct.unpack_from("<qi", content, blocks + 24 * i)
            header, _ = _prefix(content, offset)
            message = header + struct.unpack_from("<I", content, header)[0]
            yield message, offset + length


def _prefix(content: memoryview, offset: int) -> tuple[int, int]:
    """Where the header of a message begins, and its size; older files have no mark before it."""
    mark, size = struct.unpack_from("<Ii", content, offset)
    if mark == 0xFFFFFFFF:
        return offset + 8, size
    return offset + 4, mark


def parquet_footer(
    path: str, data: pa.Buffer | None = None
) -> tuple[pq.FileMetaData, pa.Schema]:
    """What a Parquet file says of itself, and the types of its columns."""
    with file_errors(path):
        footer = pq.read_metadata(path if data is None else pa.BufferReader(data))
        schema = footer.schema.to_arrow_schema()
        _check_names(schema.names, path)
        groups = [footer.row_group(j) for j in range(footer.num_row_groups)]
        counts = [group.num_rows for group in groups]
        if min(counts, default=0) < 0 or sum(counts) != footer.num_rows:
            raise DataError(
                f"{path} is damaged: it declares {footer.num_rows} rows, and its row groups"
                f" {sum(counts)}"
            )
        return footer, schema


def read_parquet_file(
    path: str,
    columns: Sequence[str] | None = None,
    use_threads: bool = True,
    data: pa.Buffer | None = None,
) -> pa.Table:
    """All rows of a Parquet file, or of the bytes of one, whose name `path` then is."""
    footer, schema = parquet_footer(path, data)
    names = schema.names if columns is None else list(columns)
    fields = {name: schema.field(name) for name in names if name in schema.names}
    n_cells = footer.num_rows * len(fields)
    check_memory(8 * n_cells, path, f"its {n_cells:,} cells")
    texts = _text_columns(footer, schema)
    source = path if data is None else pa.BufferReader(data)
    if texts.in_steps.intersection(names):
        with open_parquet(source, path) as batches:
            kinds = schema.empty_table().select(names).schema
            parts = list(batches(_PART_ROWS, columns=names, use_threads=use_threads))
            return pa.Table.from_batches(parts, None if parts else kinds)
    with file_errors(path):
        # a folder named year=2024 adds no column
        table = pq.read_table(
            source,
            columns=names,
            use_threads=use_threads,
            partitioning=None,
            read_dictionary=texts.by_dictionary.intersection(names),
        )
    rows = validated(table, path)
    plain = {
        name: _written_out(rows.column(name))
        for name in texts.by_dictionary.intersection(names)
    }
    return replace_columns(rows, plain)


@dataclass(frozen=True, slots=True)
class _TextColumns:
    """How the columns of text of a Parquet file are read, so that their memory is known before."""

    by_dictionary: frozenset[str]  # the texts once, however many rows repeat them
    in_steps: frozenset[str]  # of encodings that Arrow reads row by row alone


def _text_columns(footer: pq.FileMetaData, schema: pa.Schema) -> _TextColumns:
    names = frozenset(field.name for field in schema if _is_text(field.type))
    in_steps = set()
    for j in range(footer.num_row_groups):
        group = footer.row_group(j)
        chunks = map(group.column, range(group.num_columns))
        in_steps |= {
            chunk.path_in_schema
            for chunk in chunks
            if any(coding.startswith("DELTA") for coding in chunk.encodings)
        }
    return _TextColumns(names - in_steps, names & in_steps)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _written_out(column: Any) -> Any:
    """The texts that a dictionary stands for."""
    if not pa.types.is_dictionary(column.type):
        return column
    return column.cast(column.type.value_type)


class ParquetBatches:
    """An open Parquet file whose batches are checked as they come."""

    def __init__(
        self,
        path: str,
        file: pq.ParquetFile,
        texts: _TextColumns,
        dictionaries: Collection[str],
    ) -> None:
        self._path = path
        self._file = file
        self._texts = texts
        self._to_write = texts.by_dictionary.difference(dictionaries)

    @property
    def column_names(self) -> list[str]:
        return self._file.schema_arrow.names

    def __call__(self, n_rows: int, **options: Any) -> Iterator[pa.RecordBatch]:
        """Batches of at most `n_rows` rows; the options are those of `iter_batches`."""
        start = 0
        columns = options.get("columns") or self.column_names
        if self._texts.in_steps.intersection(columns):
            batches = self._steps(n_rows, options)
        else:
            batches = self._file.iter_batches(n_rows, **options)
        for batch in batches:
            rows = validated(batch, self._path, start)
            start += batch.num_rows
            yield self._with_texts(rows)

    def _steps(self, n_rows: int, options: Any) -> Iterator[pa.RecordBatch]:
        """The batches, read in small steps until their texts take as much as memory may hold."""
        steps: list[pa.RecordBatch] = []
        n_read = n_bytes = 0
        for step in self._file.iter_batches(_STEP_ROWS, **options):
            names = self._texts.in_steps.intersection(step.schema.names)
            steps.append(step)
            n_read += step.num_rows
            n_bytes += sum(step.column(name).nbytes for name in names)
            check_memory(n_bytes, self._path, "the texts of its first rows")
            if n_read + _STEP_ROWS > n_rows:
                yield from pa.Table.from_batches(steps).combine_chunks().to_batches()
                steps = []
                n_read = n_bytes = 0
        if steps:
            yield from pa.Table.from_batches(steps).combine_chunks().to_batches()

    def _with_texts(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows whose texts are written out where no dictionary was asked for."""
        plain = {}
        for name in self._to_write.intersection(rows.schema.names):
            column = rows.column(name)
            what = f"the texts of column {name!r}"
            check_memory(_text_bytes(column), self._path, what)
            plain[name] = _written_out(column)
        return replace_columns(rows, plain)


@contextmanager
def open_parquet(
    source: str | pa.NativeFile,
    path: str = "",
    read_dictionary: Collection[str] = (),
    **options: Any,
) -> Iterator[ParquetBatches]:
    """A Parquet file to be read in batches, or an open one of the name `path`; other options are
    those of `ParquetFile`."""
    path = path or str(source)
    with file_errors(path):
        footer = pq.read_metadata(source)
        texts = _text_columns(footer, footer.schema.to_arrow_schema())
        by_dictionary = texts.by_dictionary
        with pq.ParquetFile(source, read_dictionary=by_dictionary, **options) as file:
            yield ParquetBatches(path, file, texts, read_dictionary)
