"""Files of rows: which there are, of what kind, and all of their rows as one Arrow table."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from lyceum._core.data.files.arff import read_arff
from lyceum._core.data.files.csv import CsvReader
from lyceum._core.data.files.databases import database_kind, read_database
from lyceum._core.data.files.encodings import text_encoding
from lyceum._core.data.files.file_errors import file_errors
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.json_lines import read_json
from lyceum._core.data.files.limits import check_memory
from lyceum._core.data.files.raw_bytes import (
    is_packed,
    read_head,
    unpacked_name,
)
from lyceum._core.data.files.text_formats import (
    TextFormat,
    describe_formats,
    distinct_texts,
    format_names,
    parse_columns,
    parse_text,
    text_formats_of,
)
from lyceum._core.data.files.typed_files import (
    parquet_footer,
    read_arrow_file,
    read_parquet_file,
)
from lyceum._core.data.files.workbooks.workbook import FIRST_ROW, read_workbook
from lyceum._core.data.inputs.arrow import is_frame, to_arrow
from lyceum._core.data.rows.text import source_name
from lyceum._core.lazy_arrow import pa, pc
from lyceum._core.types import Data
from lyceum.errors import DataError, SchemaError


def paths_of(data: Data) -> list[str]:
    if not isinstance(data, str | os.PathLike):
        if (
            isinstance(data, Sequence)
            and data
            and all(isinstance(path, str | os.PathLike) for path in data)
        ):
            return [file for path in data for file in paths_of(path)]
        raise DataError(
            f"cannot read {source_name(data)}: give a path, a frame, an array or a Dask collection"
        )
    path = os.fspath(data)
    paths: list[str]
    if os.path.isdir(path):
        entries = map(str, Path(path).iterdir())
        paths = sorted(entry for entry in entries if _suffix(entry) in _SUFFIXES)
    elif os.path.exists(path):
        if Path(path).is_fifo():
            raise DataError(
                f"{path} is a pipe, which can be read only once: write it into a file first"
            )
        return [path]
    else:
        paths = sorted(glob.glob(path))
        if not paths:
            raise DataError(f"there is no file {path}")
    if not paths:
        raise DataError(
            f"the directory {path} has no file of a known kind ({', '.join(_SUFFIXES)})"
        )
    return paths


def _suffix(path: str) -> str:
    return Path(unpacked_name(path)).suffix.lower()


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
    ".ipc": "arrow",
    ".xlsx": "workbook",
    ".xlsm": "workbook",
    ".xlsb": "workbook",
    ".xls": "workbook",
    ".ods": "workbook",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".duckdb": "database",
    ".sqlite": "database",
    ".sqlite3": "database",
    ".db": "database",
}
FILE_ENDINGS = tuple(_SUFFIXES)
_OTHERS = {
    ".zip": "unpack it first",
    ".sav": "export it as .csv there",
    ".dta": "export it as .csv there",
    ".rds": "write it as .csv or .parquet in R",
    ".pkl": "write the frame as .parquet: a pickle can run any code",
    ".pickle": "write the frame as .parquet: a pickle can run any code",
}
_WITH_TABLES = {"workbook", "sqlite", "duckdb"}
_WITHOUT_TYPES = ("csv", "json", "workbook", "sqlite")


def file_kind(paths: Sequence[str], table: str = "") -> str:
    """What kind of files they are; `table` names a sheet or a table, which only some kinds have."""
    kinds = {_kind(path): path for path in paths}
    if table and not kinds.keys() & _WITH_TABLES:
        raise DataError(
            f"{paths[0]} has no tables to choose {table!r} from: leave out table (--table)"
        )
    if len(kinds) > 1:
        raise DataError(
            f"the files are of different kinds, {' and '.join(kinds.values())}: scan files of one"
            " kind"
        )
    return next(iter(kinds))


def _kind(path: str) -> str:
    """What kind of file it is: by its name, or by its first bytes where the name says nothing."""
    suffix = _suffix(path)
    if suffix in _SUFFIXES:
        kind = _SUFFIXES[suffix]
        if kind == "database":
            return database_kind(path) or "duckdb"
        return kind
    if suffix in _OTHERS:
        raise DataError(f"cannot read {path}: {_OTHERS[suffix]}")
    head = _first_bytes(path)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head and database_kind(path):
        return database_kind(path)
    raise DataError(
        f"cannot tell what kind of file {path} is: name it {', '.join(_SUFFIXES)}"
    )


def _first_bytes(path: str) -> bytes:
    try:
        if is_packed(path):
            return b""
        return read_head(path, 16)
    except OSError:
        return b""


def is_typed(kind: str) -> bool:
    """Whether the columns of a kind of file have types that settle their kinds."""
    return kind not in _WITHOUT_TYPES


def read_table(data: Data, file_format: FileFormat | None = None) -> pa.Table:
    """All of a file or frame as one Arrow table."""
    return read_data(data, file_format).table


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table in memory that `inspect` and `scan` both take, so that its file is read once.

    Attributes
    ----------
    table : pyarrow.Table
        The rows.
    typed : bool
        Whether the kinds of its columns follow from their types (frames, Parquet, Arrow, ARFF,
        DuckDB) or from their values (CSV, JSON, workbooks, SQLite).
    name : str
        The path of the file, or the type of the frame.
    notes : tuple of str, default=()
        What was inferred about how the file is written.
    text_formats : dict, default={}
        How columns are written that were read from text, by name: a decimal mark or a format of
        dates.
    first_row : int, default=2
        The number of the first row as a spreadsheet counts: below the names of the columns, which
        are in row 1 unless there is a title.

    See Also
    --------
    read_data : Makes it.
    ProfiledFile : A file that is larger than memory.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum._core.data import read_data
    >>> data = read_data(datasets.path("weather"))
    >>> data.table.num_rows, data.table.column_names[:2], data.typed
    (14, ['outlook', 'temperature'], False)
    """

    table: pa.Table
    typed: bool
    name: str
    notes: tuple[str, ...] = ()
    text_formats: Mapping[str, str] = field(default_factory=dict)
    first_row: int = 2


def read_data(
    data: Any,
    file_format: FileFormat | None = None,
    learned_formats: Mapping[str, str] | None = None,
) -> LoadedTable:
    """Read a file or a frame into memory, for `inspect` and `scan` alike.

    Parameters
    ----------
    data : path, glob, list of paths, or frame
        What to read.
    file_format : FileFormat, optional
        How the file is written; by default this is inferred.
    learned_formats : dict, optional
        How columns were written when a model learned them, by name (`Schema.text_formats`): taken
        where it fits.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import inspect, scan
    >>> from lyceum._core.data import read_data
    >>> data = read_data(datasets.path("penguins"))
    >>> inspect(data).n_rows == len(scan(data, target="species"))
    True
    """
    if is_frame(data):
        return LoadedTable(to_arrow(data), True, source_name(data))
    paths = paths_of(data)
    return read_files(
        paths, file_format or FileFormat(), source_name(data), learned_formats or {}
    )


def read_files(
    paths: Sequence[str],
    file_format: FileFormat,
    name: str = "",
    learned_formats: Mapping[str, str] = MappingProxyType({}),
) -> LoadedTable:
    """Files of one kind as one table: written numbers and dates parsed where the files have no
    types."""
    kind = file_kind(paths, file_format.table)
    # `prefers` is the decimal mark to take where cells such as 1,234 fit both
    with file_errors(paths[0], kind):
        tables, notes, prefers = _READERS[kind](paths, file_format)
    table = _concatenate(tables, paths)
    check_has_columns(table.num_columns, paths[0])
    check_has_rows(table.num_rows, paths[0])
    # as learners get them, each a number
    n_cells = table.num_rows * table.num_columns
    check_memory(8 * n_cells, paths[0], f"its {n_cells:,} cells")
    formats = dict[str, TextFormat]()
    if not is_typed(kind):
        before = table
        table, formats = parse_text(
            before, file_format.decimal, prefers, learned_formats
        )
        notes = (*notes, *_describe(formats, before))
    return LoadedTable(
        table,
        is_typed(kind),
        name or paths[0],
        tuple(dict.fromkeys(notes)),
        format_names(formats),
        first_row_number(paths[0], kind, tables[0], file_format),
    )


def first_row_number(
    path: str, kind: str, table: pa.Table, file_format: FileFormat
) -> int:
    """The number of the first row of a file as a spreadsheet counts."""
    if kind == "csv":
        return file_format.csv_reader(path).preamble + 1 + file_format.header
    return int((table.schema.metadata or {}).get(FIRST_ROW, 2))


def _describe(formats: Mapping[str, TextFormat], table: pa.Table) -> Iterator[str]:
    return describe_formats(
        formats, {name: distinct_texts(table.column(name)) for name in formats}
    )


def with_parsed_text(data: LoadedTable) -> LoadedTable:
    """The data of a typed source with text that is written as numbers or dates read as such, with a
    note.

    Text of plain digits stays text, as it may hold codes.

    >>> table = pa.table({"price": ["$3", "$1,200.50"], "code": ["17", "4"]})
    >>> with_parsed_text(LoadedTable(table, True, "shop")).table.schema.types[0]
    DataType(double)
    """
    if not data.typed:
        return data
    formats = {}
    for name, text_format in text_formats_of(data.table, "", ".").items():
        texts = distinct_texts(data.table.column(name))
        are_digits = pc.match_substring_regex(texts, r"^[+-]?\d+(\.\d*)?$")
        if not pc.all(are_digits).as_py():
            formats[name] = text_format
    return replace(
        data,
        table=parse_columns(data.table, formats),
        notes=(*data.notes, *_describe(formats, data.table)),
        text_formats=format_names(formats),
    )


def fits_memory(data: Data, memory: int, file_format: FileFormat | None = None) -> bool:
    """Whether the cells of a file take at most `memory` bytes as numbers, judged without reading
    it.

    Only CSV and Parquet files can be read in parts; others are always read whole.

    >>> from lyceum import datasets
    >>> path = datasets.path("penguins")
    >>> fits_memory(path, 1 << 20), fits_memory(path, 1 << 10)
    (True, False)
    """
    paths = paths_of(data)
    kind = file_kind(paths)
    if kind == "parquet":
        footers = [parquet_footer(path)[0] for path in paths]
        n_bytes = sum(8 * footer.num_rows * footer.num_columns for footer in footers)
        return n_bytes <= memory
    if kind == "csv":
        with file_errors(paths[0], kind):
            csv = (file_format or FileFormat()).csv_reader(paths[0])
            sizes = [os.path.getsize(path) for path in paths]
            n_bytes = sum(map(csv.cell_bytes, paths, sizes))
        return n_bytes <= memory
    return True


def check_has_columns(n_columns: int, source: str) -> None:
    """Raise DataError unless there are columns."""
    if not n_columns:
        raise DataError(f"{source} has no columns")


def check_has_rows(n_rows: int, source: str) -> None:
    """Raise DataError unless there are rows below the column names."""
    if not n_rows:
        raise DataError(f"{source} has column names but no rows (0 samples)")


# the tables of the files, notes on how they are written, and the decimal mark to prefer in text
Tables: TypeAlias = "tuple[list[pa.Table], tuple[str, ...], str]"


def _read_csv(paths: Sequence[str], file_format: FileFormat) -> Tables:
    csv = file_format.csv_reader(paths[0])
    csv.check_memory(paths)
    used, tables = csv.read_all(paths)
    return tables, used.notes, csv.decimal


def read_parquet(paths: Sequence[str], columns: list[str] | None = None) -> pa.Table:
    """Parquet files as one table."""
    tables = [read_parquet_file(path, columns) for path in paths]
    return _concatenate(tables, paths)


def _one_by_one(
    read: Callable[[str, FileFormat], pa.Table],
) -> Callable[[Sequence[str], FileFormat], Tables]:
    """A reader of one file as a reader of several, without notes."""

    def read_each(paths: Sequence[str], file_format: FileFormat) -> Tables:
        tables = []
        for path in paths:
            with file_errors(path, _kind(path)):
                tables.append(read(path, file_format))
        return tables, (), "."

    return read_each


def _read_workbooks(paths: Sequence[str], file_format: FileFormat) -> Tables:
    workbooks = [read_workbook(path, file_format) for path in paths]
    tables = [table for table, _ in workbooks]
    notes = tuple(chain.from_iterable(notes for _, notes in workbooks))
    return tables, notes, "."


def _read_texts(
    read: Callable[[str, FileFormat], pa.Table],
) -> Callable[[Sequence[str], FileFormat], Tables]:
    """A reader of text files, of which a note says that they are not UTF-8."""

    def read_each(paths: Sequence[str], file_format: FileFormat) -> Tables:
        notes: tuple[str, ...] = ()
        if not file_format.encoding:
            encoding, _ = text_encoding(read_head(paths[0]), paths[0])
            file_format = replace(file_format, encoding=encoding)
            if encoding != "utf8":
                notes = (f"not UTF-8 text: read as {encoding}",)
        tables, _, decimal = _one_by_one(read)(paths, file_format)
        return tables, notes, decimal

    return read_each


_READERS: dict[str, Callable[[Sequence[str], FileFormat], Tables]] = {
    "csv": _read_csv,
    "parquet": lambda paths, file_format: ([read_parquet(paths)], (), "."),
    "arrow": _one_by_one(lambda path, _: read_arrow_file(path)),
    "arff": _read_texts(lambda path, form: read_arff(path, form.encoding)),
    "json": _read_texts(read_json),
    "workbook": _read_workbooks,
    "sqlite": _one_by_one(read_database),
    "duckdb": _one_by_one(read_database),
}


def _concatenate(tables: list[pa.Table], paths: Sequence[str]) -> pa.Table:
    names = tables[0].column_names
    for table, path in zip(tables, paths):
        check_same(names, table.column_names, paths[0], path)
    if len(tables) == 1:
        return tables[0]
    columns = {}
    # column by column, so that an error can say which of them has no common type
    for name in names:
        parts = [table.select([name]) for table in tables]
        try:
            joined = pa.concat_tables(parts, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            types = dict.fromkeys(str(part.schema.types[0]) for part in parts)
            raise SchemaError(
                f"column {name!r} holds {' and '.join(types)} in different files: make it one type"
            ) from error
        columns[name] = joined[name]
    return pa.table(columns)


def check_same(
    names: Sequence[str], others: Sequence[str], path: str, other: str
) -> None:
    odd = sorted(set(names) ^ set(others))
    if odd:
        if odd[0] not in names:
            path, other = other, path
        raise SchemaError(
            f"{path} has the column {odd[0]!r}, which {other} lacks: give files of the same columns"
        )


def stream_files(reader: CsvReader, paths: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The batches of CSV files one after the other; raises if one has other columns."""
    for path in paths:
        with file_errors(path, "csv"):
            for batch in reader.stream(path):
                check_same(list(reader.types), batch.schema.names, paths[0], path)
                yield batch
