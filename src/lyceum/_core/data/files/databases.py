"""Tables of SQLite and DuckDB files."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.raw_bytes import read_head
from lyceum._core.data.inputs.arrow import to_arrow
from lyceum._core.lazy_arrow import pa
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


def _read_sqlite(path: str, file_format: FileFormat) -> pa.Table:
    # opened so that it cannot be written; a connection's own `with` would not close it
    uri = f"{Path(path).resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            tables = connection.execute(
                "select name from sqlite_master where type in ('table', 'view') and name not like"
                " 'sqlite_%'"
            )
            name = choose_table(path, [row[0] for row in tables], file_format.table)
            rows = connection.execute(f"select * from {_quote(name)}")
            names = [column[0] for column in rows.description]
            cells = rows.fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as an SQLite file: {error}") from error
    columns = zip(*cells) if cells else ([] for _ in names)
    return pa.table(
        {
            name: _column(name, list(column), file_format.missing)
            for name, column in zip(names, columns)
        }
    )


def _column(name: str, cells: list[Any], missing: tuple[str, ...]) -> pa.Array:
    """Cells of any types, as SQLite has them: numbers, or text as soon as one is text."""
    types = {type(cell) for cell in cells} - {type(None)}
    if bytes in types:
        raise DataError(
            f"column {name!r} holds bytes, which cannot be used: leave it out of the table"
        )
    if str in types:
        texts = [
            None if cell is None or cell in missing else str(cell) for cell in cells
        ]
        return pa.array(texts, pa.string()).dictionary_encode()
    kind = pa.null()
    if float in types:
        kind = pa.float64()
    elif int in types:
        kind = pa.int64()
    return pa.array(cells, kind)


def _read_duckdb(path: str, file_format: FileFormat) -> pa.Table:
    check_installed(f"reading {path}", "duckdb")
    import duckdb

    try:
        with duckdb.connect(path, read_only=True) as connection:
            tables = connection.execute(
                "select table_name from information_schema.tables order by table_name"
            ).fetchall()
            name = choose_table(path, [row[0] for row in tables], file_format.table)
            return to_arrow(connection.sql(f"select * from {_quote(name)}"))
    except duckdb.Error as error:
        raise DataError(f"{path} cannot be read as a DuckDB file: {error}") from error
