"""SQLite and DuckDB files, perhaps damaged: read as they were written, or refused by name."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import Finding
from fuzz.file_cases import ReadingProcess, draw_cells, draw_names
from fuzz.mutations import mutate_bytes

__all__ = ["case", "make"]

KINDS = ("integer", "number", "text", "bool")
# what the columns of a DuckDB table are declared as
TYPES = {"integer": "bigint", "number": "double", "text": "varchar", "bool": "boolean"}
ENDLESS = (
    "with recursive r(i) as (select 1 union all select i + 1 from r) select * from r"
)


def read_table(path: str) -> dict[str, list[Any]]:
    """The columns of the only table, within half a second and 64 MB."""
    from lyceum._core.data import read_data, reading_limits

    with reading_limits(memory=64 << 20, seconds=0.5):
        return read_data(path).table.to_pydict()


def make() -> tuple[Path, ReadingProcess]:
    """A folder, and a process that reads."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read_table)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """Write a table or a view, perhaps damage the file, and compare what is read."""
    folder, read = shared
    count = int(rng.integers(1, 5))
    names = draw_names(rng, count)
    kinds = [KINDS[place] for place in rng.integers(len(KINDS), size=count)]
    n_rows = int(rng.integers(1, 60))
    columns = [draw_cells(rng, kind, n_rows) for kind in kinds]
    for column in columns:
        column[0] = column[0] or 0
    if rng.random() < 0.6:
        path = folder / "t.sqlite"
        _write_sqlite(path, names, columns, rng.random() < 0.1)
    else:
        path = folder / "t.duckdb"
        columns = [draw_cells(rng, kind, n_rows) for kind in kinds]
        _write_duckdb(path, names, kinds, columns)
    if rng.random() < 0.75:
        path.write_bytes(_damage(path.read_bytes(), rng))
        return read(path).word
    outcome = read(path)
    if outcome.refusal:
        reasons = ("would be rounded", "rows of", "not finished")
        if any(reason in outcome.refusal for reason in reasons):
            return "refused rightly"
        raise Finding(f"a database that was not damaged: {outcome.refusal}")
    for name, cells in zip(names, columns):
        found = outcome.value[name]
        if path.suffix == ".sqlite" and any(isinstance(cell, str) for cell in cells):
            cells = [None if cell is None else str(cell) for cell in cells]
        if found != cells:
            raise Finding(f"{found} in {name!r} instead of {cells}")
    return "compared"


def _write_sqlite(
    path: Path, names: list[str], columns: list[list[Any]], endless: bool
) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        if endless:
            connection.execute(f"create view v as {ENDLESS}")
            return
        connection.execute(f"create table t ({', '.join(map(_quote, names))})")
        marks = ", ".join("?" * len(names))
        connection.executemany(f"insert into t values ({marks})", zip(*columns))


def _write_duckdb(
    path: Path, names: list[str], kinds: list[str], columns: list[list[Any]]
) -> None:
    import duckdb

    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        declared = (f"{_quote(name)} {TYPES[kind]}" for name, kind in zip(names, kinds))
        connection.execute(f"create table t ({', '.join(declared)})")
        marks = ", ".join("?" * len(names))
        rows = [list(row) for row in zip(*columns)]
        connection.executemany(f"insert into t values ({marks})", rows)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _damage(content: bytes, rng: np.random.Generator) -> bytes:
    """Changes anywhere, or in the first page, where the schema is."""
    size = 4096
    if rng.random() < 0.5 and len(content) > size:
        return (
            mutate_bytes(content[:size], rng)[:size].ljust(size, b"\0") + content[size:]
        )
    return mutate_bytes(content, rng)
