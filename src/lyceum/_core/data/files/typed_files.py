"""Parquet, Arrow and Feather files: what Arrow reads of them is checked before it is used.

Arrow follows the offsets and codes of a file wherever they point, also out of its memory.
`validated` is therefore the only way by which rows of a file come in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from lyceum._core.data.files.column_names import check_names
from lyceum._core.data.files.file_errors import file_errors, first_line
from lyceum._core.data.files.raw_bytes import read_bytes
from lyceum._core.data.inputs.arrow import plain_text, replace_columns
from lyceum._core.lazy_arrow import feather, pa, pq
from lyceum.errors import DataError, SchemaError

_Rows = TypeVar("_Rows", bound=Any)


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
        return plain_text(replace_columns(rows, sound))


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
        data = read_bytes(path)
        file = pa.BufferReader(data)
        if data[:6].to_pybytes().startswith((b"ARROW1", b"FEA1")):
            table = feather.read_table(file)
        else:
            table = pa.ipc.open_stream(file).read_all()
    return validated(table, path)


def parquet_footer(path: str) -> tuple[pq.FileMetaData, pa.Schema]:
    """What a Parquet file says of itself, and the types of its columns."""
    with file_errors(path):
        footer = pq.read_metadata(path)
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
    path: str, columns: Sequence[str] | None = None, use_threads: bool = True
) -> pa.Table:
    """All rows of a Parquet file."""
    names = None if columns is None else list(columns)
    with file_errors(path):
        # a folder named year=2024 adds no column
        table = pq.read_table(
            path, columns=names, use_threads=use_threads, partitioning=None
        )
    return validated(table, path)


class ParquetBatches:
    """An open Parquet file whose batches are checked as they come."""

    def __init__(self, path: str, file: pq.ParquetFile) -> None:
        self._path = path
        self._file = file

    @property
    def column_names(self) -> list[str]:
        return self._file.schema_arrow.names

    def __call__(self, n_rows: int, **options: Any) -> Iterator[pa.RecordBatch]:
        """Batches of at most `n_rows` rows; the options are those of `iter_batches`."""
        start = 0
        for batch in self._file.iter_batches(n_rows, **options):
            yield validated(batch, self._path, start)
            start += batch.num_rows


@contextmanager
def open_parquet(path: str, **options: Any) -> Iterator[ParquetBatches]:
    """A Parquet file to be read in batches; the options are those of `ParquetFile`."""
    with file_errors(path), pq.ParquetFile(path, **options) as file:
        yield ParquetBatches(path, file)
