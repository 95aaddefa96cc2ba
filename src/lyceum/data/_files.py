"""Files of rows: which there are, of what kind, and all of their rows as one Arrow table."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lyceum.data._arff import read_arff
from lyceum.data._arrow import is_frame, to_arrow
from lyceum.data._csv import CsvFormat
from lyceum.data._rows_text import source_name
from lyceum.data._sources import reading
from lyceum.errors import DataError, SchemaError

__all__ = [
    "READERS",
    "TableData",
    "check_same",
    "file_kind",
    "fits_memory",
    "paths_of",
    "read_data",
    "read_parquet",
    "read_table",
    "read_whole",
    "with_rows",
]


def paths_of(data: Any) -> list[str]:
    if not isinstance(data, str | os.PathLike):
        if isinstance(data, Sequence) and data and all(isinstance(path, str | os.PathLike) for path in data):
            return [found for path in data for found in paths_of(path)]
        raise DataError(
            f"cannot read a {type(data).__name__}: give a path, a frame, an array or a Dask collection"
        )
    path = os.fspath(data)
    found: list[str]
    if os.path.isdir(path):
        found = sorted(str(p) for p in Path(path).iterdir() if _suffix(str(p)) in _SUFFIXES)
    elif os.path.exists(path):
        return [path]
    else:
        found = sorted(glob.glob(path))
        if not found:
            raise DataError(f"there is no file {path}")
    if not found:
        raise DataError(f"the directory {path} has no file of a known kind ({', '.join(_SUFFIXES)})")
    return found


def _suffix(path: str) -> str:
    return Path(path.removesuffix(".gz")).suffix.lower()


_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".arff": "arff",
    ".arrow": "arrow",
    ".feather": "arrow",
}


def file_kind(paths: Sequence[str]) -> str:
    kinds = {_SUFFIXES.get(_suffix(path)): path for path in paths}
    if None in kinds:
        raise DataError(f"cannot tell what kind of file {kinds[None]} is: name it {', '.join(_SUFFIXES)}")
    if len(kinds) > 1:
        raise DataError(
            f"the files are of different kinds, {' and '.join(kinds.values())}: scan files of one kind"
        )
    return str(next(iter(kinds)))


def read_table(data: Any, form: CsvFormat | None = None) -> pa.Table:
    """All of a file or frame as one Arrow table."""
    if is_frame(data):
        return to_arrow(data)
    paths = paths_of(data)
    return with_rows(READERS[file_kind(paths)](paths, form or CsvFormat("")), paths[0])


@dataclass(frozen=True, slots=True)
class TableData:
    """A table in memory that `inspect` and `scan` both take, so that its file is read once.

    `typed` says whether the kinds of its columns follow from their types (frames, Parquet, Arrow, ARFF) or
    from their values (CSV).
    """

    table: pa.Table
    typed: bool
    name: str


def read_data(data: Any, form: CsvFormat | None = None) -> TableData:
    """Read a file or a frame into memory, for `inspect` and `scan` alike.

    Parameters
    ----------
    data : path, glob, list of paths, or frame
        What to read.
    form : CsvFormat, optional
        How a CSV file is written; by default its delimiter is guessed.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import inspect, read_data, scan
    >>> data = read_data(datasets.path("penguins"))
    >>> inspect(data).n_rows == len(scan(data, target="species"))
    True
    """
    typed = is_frame(data) or file_kind(paths_of(data)) != "csv"
    return TableData(read_table(data, form), typed, source_name(data))


def fits_memory(data: Any, memory: int, form: CsvFormat | None = None) -> bool:
    """Whether the cells of a file take at most `memory` bytes as numbers, judged without reading it.

    >>> from lyceum import datasets
    >>> fits_memory(datasets.path("penguins"), 1 << 20), fits_memory(datasets.path("penguins"), 1 << 10)
    (True, False)
    """
    paths = paths_of(data)
    kind = file_kind(paths)
    if kind == "parquet":
        footers = [read_whole(path, pq.read_metadata) for path in paths]
        return sum(8 * footer.num_rows * footer.num_columns for footer in footers) <= memory
    if kind == "csv":
        form = form or CsvFormat("")
        return sum(form.cell_bytes(path, os.path.getsize(path)) for path in paths) <= memory
    return True


def with_rows(table: pa.Table, path: str) -> pa.Table:
    if not table.num_rows:
        raise DataError(f"{path} has column names but no rows (0 samples)")
    return table


def _read_csv(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    return _concatenated(form.sniffed(paths[0]).read_all(paths), paths)


def read_parquet(paths: Sequence[str], form: CsvFormat, columns: list[str] | None = None) -> pa.Table:
    return _concatenated([read_whole(path, partial(pq.read_table, columns=columns)) for path in paths], paths)


def _read_arrow(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    import pyarrow.feather as feather

    return _concatenated([read_whole(path, feather.read_table) for path in paths], paths)


def _read_arff(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    return _concatenated([read_arff(path, form.encoding) for path in paths], paths)


READERS = {"csv": _read_csv, "parquet": read_parquet, "arrow": _read_arrow, "arff": _read_arff}


def read_whole(path: str, read: Callable[[str], Any]) -> Any:
    """What `read` finds in a file; raises if the file is cut off or of another kind."""
    with reading(path, _SUFFIXES[_suffix(path)].capitalize()):
        return read(path)


def _concatenated(tables: list[pa.Table], paths: Sequence[str]) -> pa.Table:
    names = tables[0].column_names
    for table, path in zip(tables, paths):
        check_same(names, table.column_names, paths[0], path)
    if len(tables) == 1:
        return tables[0]
    columns = {name: _joined(name, [table.column(name) for table in tables]) for name in names}
    return pa.table(columns)


def _joined(name: str, columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    try:
        return pa.concat_tables(
            [pa.table({name: column}) for column in columns], promote_options="permissive"
        )[name]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        types = " and ".join(dict.fromkeys(str(column.type) for column in columns))
        raise SchemaError(f"column {name!r} holds {types} in different files: make it one type") from error


def check_same(names: Sequence[str], others: Sequence[str], path: str, other: str) -> None:
    odd = sorted(set(names) ^ set(others))
    if odd:
        has, lacks = (path, other) if odd[0] in names else (other, path)
        raise SchemaError(
            f"{has} has the column {odd[0]!r}, which {lacks} lacks: give files of the same columns"
        )
