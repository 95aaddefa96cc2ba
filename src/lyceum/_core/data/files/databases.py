"""Tables of SQLite and DuckDB files.

A database that is opened as data can only be read: its views and triggers may attach no other file,
load no extension and write nothing, and take no more memory and time than `limits` allow.
"""

from __future__ import annotations

import difflib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from sys import getsizeof
from typing import Any

from lyceum._core.data.files.column_names import check_names
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.limits import Stopwatch, check_memory, memory_limit
from lyceum._core.data.files.raw_bytes import read_head
from lyceum._core.data.inputs.arrow import to_arrow
from lyceum._core.lazy_arrow import pa, pc
from lyceum._core.packages import check_installed
from lyceum.errors import DataError


def database_kind(path: str) -> str:
    """ "sqlite" or "duckdb", by the first bytes of the file, else ""."""
    try:
        head = read_head(path, 16)
    except OSError:
        return ""
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    return ""


def read_database(path: str, file_format: FileFormat) -> pa.Table:
    """One table or view of a database file."""
    kind = database_kind(path)
    if kind == "sqlite":
        return _read_sqlite(path, file_format)
    if kind == "duckdb":
        return _read_duckdb(path, file_format)
    raise DataError(f"{path} is not an SQLite or DuckDB file")


def choose_table(
    path: str, names: Sequence[str], wanted: str, what: str = "table"
) -> str:
    """The table that is meant, or an error that lists those there are."""
    if not names:
        raise DataError(f"{path} has no {what}")
    listed = ", ".join(map(repr, names[:20]))
    if len(names) > 20:
        listed += ", …"
    if not wanted and len(names) == 1:
        return names[0]
    if not wanted:
        raise DataError(
            f"{path} has {len(names)} {what}s: say which, e.g. --table {names[0]}; they are"
            f" {listed}"
        )
    if wanted not in names:
        similar = difflib.get_close_matches(wanted, names, 1)
        hint = f"they are {listed}"
        if similar:
            hint = f"did you mean {similar[0]!r}?"
        raise DataError(f"{path} has no {what} {wanted!r}: {hint}")
    return wanted


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# -- SQLite ----------------------------------------------------------------------------

_STEPS_BETWEEN_LOOKS = 100_000  # of SQLite's machine, about a millisecond
_EXACT = 1 << 53  # whole numbers up to it are exact as floats
# what reading a table or a view asks for; attaching, writing and pragmas are none of it
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_FUNCTIONS_OF_FILES = {
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
}


def _read_sqlite(path: str, file_format: FileFormat) -> pa.Table:
    watch = Stopwatch(path)
    with _sqlite_errors(path, watch), closing(_open_sqlite(path, watch)) as connection:
        tables = connection.execute(
            "select name from sqlite_master where type in ('table', 'view') and name not like"
            " 'sqlite!_%' escape '!'"
        )
        name = choose_table(path, [row[0] for row in tables], file_format.table)
        query = f"select * from {_quote(name)}"
        try:
            names, cells = _fetch(connection, query, path, name)
        except sqlite3.OperationalError as error:
            if "Could not decode" in str(error):
                raise _undecodable(connection, query, path) from error
            raise
    check_names(names)
    columns = zip(*cells) if cells else ([] for _ in names)
    return pa.table(
        {
            name: _column(path, name, list(column), file_format.missing)
            for name, column in zip(names, columns)
        }
    )


@contextmanager
def _sqlite_errors(path: str, watch: Stopwatch) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        if watch.left < 0:
            raise watch.error("its table or view") from error
        if "not authorized" in str(error) or "unsafe use" in str(error):
            raise DataError(
                f"{path} cannot be read: its table or view asks for more than reading the file"
                f" itself ({error})"
            ) from error
        raise DataError(f"{path} cannot be read as an SQLite file: {error}") from error


def _open_sqlite(path: str, watch: Stopwatch) -> sqlite3.Connection:
    """A connection by which nothing but this file can be read, and nothing written."""
    # a connection's own `with` would not close it
    uri = f"{Path(path).resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    # functions in views of a file are not trusted (https://www.sqlite.org/security.html)
    connection.execute("pragma trusted_schema = off")
    connection.execute("pragma cell_size_check = on")
    connection.set_authorizer(_may_read)
    longest = min(connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH), memory_limit() // 4)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    # true interrupts the query
    connection.set_progress_handler(lambda: watch.left < 0, _STEPS_BETWEEN_LOOKS)
    return connection


def _may_read(action: int, first: str | None, second: str | None, *_: Any) -> int:
    is_reading = action in _READING
    if action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS_OF_FILES:
        is_reading = False
    return sqlite3.SQLITE_OK if is_reading else sqlite3.SQLITE_DENY


def _fetch(
    connection: sqlite3.Connection, query: str, path: str, name: str
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names and the rows of a query, as long as memory may hold them."""
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    rows: list[tuple[Any, ...]] = []
    # a tuple has 40 bytes and a pointer for every cell
    n_bytes_of_row = 40 + 8 * len(names)
    most = memory_limit()
    n_bytes = 0
    # row by row: a view of a few bytes may ask for long cells in every one
    for row in cursor:
        rows.append(row)
        n_bytes += n_bytes_of_row + sum(map(getsizeof, row))
        if n_bytes > most:
            check_memory(n_bytes, path, f"the first {len(rows):,} rows of {name!r}")
    return names, rows


def _undecodable(connection: sqlite3.Connection, query: str, path: str) -> DataError:
    """The error that names the first cell whose bytes are not text."""
    connection.text_factory = bytes
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    for i, row in enumerate(cursor):
        for name, cell in zip(names, row):
            try:
                if isinstance(cell, bytes):
                    cell.decode()
            except UnicodeDecodeError:
                return DataError(
                    f"{path}: row {i + 1} of column {str(name)!r} holds {cell[:40]!r}, which is not"
                    " UTF-8 text: mend it, or leave the column out by a view"
                )
    return DataError(f"{path} holds text that is not UTF-8")


def _column(
    path: str, name: str, cells: list[Any], missing: tuple[str, ...]
) -> pa.Array:
    """Cells of any types, as SQLite has them: numbers, or text as soon as one is text."""
    types = {type(cell) for cell in cells} - {type(None)}
    if bytes in types:
        raise DataError(
            f"{path}: column {name!r} holds bytes, which cannot be used: leave it out of the table"
        )
    if str in types:
        texts = [
            None if cell is None or cell in missing else str(cell) for cell in cells
        ]
        return pa.array(texts, pa.string()).dictionary_encode()
    if types == {int, float}:
        for i, cell in enumerate(cells):
            if type(cell) is int and abs(cell) > _EXACT and int(float(cell)) != cell:
                raise DataError(
                    f"{path}: row {i + 1} of column {name!r} holds {cell}, which would be rounded"
                    " beside the fractions of other rows: store the column as text, or as numbers"
                    " with fractions"
                )
        # Arrow takes no whole number beyond 2^53 for a float, exact or not
        cells = [None if cell is None else float(cell) for cell in cells]
    kind = pa.null()
    if float in types:
        kind = pa.float64()
    elif int in types:
        kind = pa.int64()
    return pa.array(cells, kind)


# -- DuckDB ----------------------------------------------------------------------------


def _read_duckdb(path: str, file_format: FileFormat) -> pa.Table:
    check_installed(f"reading {path}", "duckdb")
    import duckdb

    watch = Stopwatch(path)
    # no other file, no extension, and no statement may change that
    config: Any = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "max_temp_directory_size": "0B",
        "memory_limit": f"{max(64, memory_limit() >> 20)}MiB",
        "lock_configuration": "true",
    }
    try:
        with duckdb.connect(path, read_only=True, config=config) as connection:
            tables = connection.execute(
                "select table_schema, table_name from information_schema.tables"
                " order by table_name"
            ).fetchall()
            # "schema.table" outside of the schema that is there from the start
            quoted = {}
            for schema, table in tables:
                name = table if schema == "main" else f"{schema}.{table}"
                quoted[name] = f"{_quote(schema)}.{_quote(table)}"
            name = choose_table(path, list(quoted), file_format.table)
            with _interrupted_in_time(connection, watch):
                relation = connection.sql(f"select * from {quoted[name]}")
                return _fetch_arrow(relation, path, name)
    # an interrupted stream of Arrow ends in an OSError, or before it begins in a RuntimeError
    except (
        duckdb.Error,
        pa.ArrowException,
        OSError,
        RuntimeError,
        UnicodeDecodeError,
    ) as error:
        if watch.left < 0:
            raise watch.error("its table or view") from error
        raise DataError(f"{path} cannot be read as a DuckDB file: {error}") from error


@contextmanager
def _interrupted_in_time(connection: Any, watch: Stopwatch) -> Iterator[None]:
    timer = threading.Timer(watch.left, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _fetch_arrow(relation: Any, path: str, name: str) -> pa.Table:
    """All rows of a relation, as long as memory may hold them."""
    reader = pa.RecordBatchReader.from_stream(relation)
    batches = []
    n_rows = n_bytes = 0
    for batch in reader:
        batches.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        check_memory(n_bytes, path, f"the first {n_rows:,} rows of {name!r}")
    table = pa.Table.from_batches(batches, reader.schema)
    for column, kind in zip(relation.columns, relation.types):
        # DuckDB gives Arrow the bits of unsigned numbers as those of signed ones
        if str(kind) != "UHUGEINT":
            continue
        least = pc.min(table[column]).as_py()
        if least is not None and least < 0:
            raise DataError(
                f"{path}: column {column!r} holds whole numbers from 2^127 on, which cannot be"
                " read: make them text by a view, cast(... as varchar)"
            )
    return to_arrow(table)
