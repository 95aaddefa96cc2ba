"""Attacks on readers, the fifth set: sound files with options that few writers turn on, files that
change while they are read, and numbers at the limits of their types. Cells are those of another
reader, or a sentence refuses the file."""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import sqlite3
import struct
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz import Finding
from fuzz.file_cases import ReadingProcess

__all__ = ["ATTACKS", "Attack", "Cells", "attack", "case", "make", "one_of"]

Cells = dict[str, list[Any]]
# the file's name, and its cells by another reader, or None where only a crash would be wrong
Attack = Callable[[Path, np.random.Generator], tuple[Path, Cells | None]]
LIMITS = (
    0, 1, -1, 127, 128, -129, 255, 256, 32768, 65536, 2**31 - 1, 2**31, -(2**31) - 1, 2**32,
    2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**30,
)  # fmt: skip
REALS = (
    0.0,
    -0.0,
    0.1,
    5e-324,
    2.2e-308,
    1.7976931348623157e308,
    -1e308,
    1 / 3,
    1e22,
    1e15,
)


def read_cells(path: str) -> Cells:
    """The cells of the file, the same numbers of rows by `inspect` and in parts."""
    from lyceum._core.data import read_data, reading_limits
    from lyceum.data import inspect, scan

    with reading_limits(memory=256 << 20, seconds=5.0):
        table = read_data(path).table
        if Path(path).is_fifo():
            return table.to_pydict()
        counts = [table.num_rows, inspect(path).n_rows]
        blocks = scan(path, memory=0).blocks()
        counts.append(sum(len(block.X) for block in blocks))
        if len(set(counts)) > 1 and "-changing" not in path:
            raise AssertionError(f"at once, inspect and in parts: {counts} rows")
        return {name: table.column(name).to_pylist() for name in table.column_names}


def make() -> tuple[Path, ReadingProcess]:
    """A folder, and a process that reads."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read_cells, seconds=30)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """One file, read by us and by another reader."""
    return attack(shared, ATTACKS, rng)


def attack(
    shared: tuple[Path, ReadingProcess],
    attacks: dict[str, Attack],
    rng: np.random.Generator,
) -> str:
    """One of the attacks: the file that it makes, read by us and by another reader."""
    folder, read = shared
    name = list(attacks)[rng.integers(len(attacks))]
    for old in folder.iterdir():
        old.unlink(missing_ok=True)
    path, cells = attacks[name](folder, rng)
    try:
        outcome = read(path)
    except Finding as finding:
        raise Finding(f"{name}: {finding}") from finding
    if outcome.refusal:
        return f"{name}: refused"
    if cells is not None:
        _compare(name, outcome.value, cells)
    return f"{name}: {'read' if cells is None else 'compared'}"


def _compare(attack: str, found: Cells, cells: Cells) -> None:
    if list(found) != list(cells):
        raise Finding(f"{attack}: columns {list(found)} instead of {list(cells)}")
    for name, wanted in cells.items():
        if len(wanted) != len(found[name]):
            raise Finding(f"{attack}: {len(found[name])} rows instead of {len(wanted)}")
        for row, (one, other) in enumerate(zip(found[name], wanted)):
            if not _same(one, other):
                raise Finding(
                    f"{attack}: column {name!r}, row {row}: {one!r} instead of {other!r}"
                )


def _same(one: Any, other: Any) -> bool:
    """Whether two readers mean the same: by value, None and NaN alike, dates by their seconds."""
    if _missing(one) or _missing(other):
        return _missing(one) and _missing(other)
    one, other = _plain(one), _plain(other)
    if isinstance(one, str) != isinstance(other, str):
        # text that is numbers throughout is read as numbers
        return str(one) == str(other) or _number(one) == _number(other) is not None
    if isinstance(one, float) and isinstance(other, int):
        return one == float(other) and int(one) == other
    return bool(one == other)


def _number(cell: Any) -> float | int | None:
    """What a cell or its text is as a number: the nearest float, whole numbers as they are."""
    try:
        exact = Decimal(cell)
        return int(exact) if exact == int(exact) < 10**20 else float(exact)
    except (InvalidOperation, TypeError, OverflowError):
        return None


def _missing(cell: Any) -> bool:
    return cell is None or cell != cell


def _plain(cell: Any) -> Any:
    if isinstance(cell, datetime.datetime):
        zone = cell.tzinfo or datetime.UTC
        start = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return (cell.replace(tzinfo=zone) - start).total_seconds()
    if isinstance(cell, datetime.date):
        return (cell - datetime.date(1970, 1, 1)).total_seconds()
    if isinstance(cell, Decimal) and cell == int(cell):
        return int(cell)
    if isinstance(cell, bytes):
        return cell.decode("utf8", "replace")
    return cell


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    """One of the choices."""
    return choices[rng.integers(len(choices))]


def _table(rng: np.random.Generator) -> pa.Table:
    """Columns of several types, with values at their limits and missing ones."""
    n = int(rng.integers(1, 40))
    missing = rng.random(n) < 0.2
    kinds: list[tuple[pa.DataType, Callable[[], Any]]] = [
        *[(kind, lambda k=kind: _whole(k, rng)) for kind in (
            pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
            pa.uint64(),
        )],
        (pa.float64(), lambda: one_of(rng, *REALS)),
        (pa.float32(), lambda: one_of(rng, 0.0, 0.5, -1.5, 1e-45, 3e38)),
        (pa.decimal128(20, 3), lambda: Decimal(int(rng.integers(-(10**6), 10**6))) / 1000),
        (pa.bool_(), lambda: bool(rng.integers(2))),
        (pa.string(), lambda: one_of(rng, "", "a", "b\0c", "é", "00", "0", "1e5", "a" * 300)),
        (pa.date32(), lambda: datetime.date(1, 1, 1) + datetime.timedelta(int(rng.integers(3e6)))),
        (pa.timestamp("us"), lambda: datetime.datetime(1900, 1, 1) + datetime.timedelta(
            microseconds=int(rng.integers(10**16)))),
    ]  # fmt: skip
    columns = {}
    for j in range(int(rng.integers(1, 5))):
        kind, draw = kinds[rng.integers(len(kinds))]
        cells = [None if missing[i] else draw() for i in range(n)]
        column = pa.array(cells, kind)
        if rng.random() < 0.3 and not pa.types.is_decimal(kind):
            column = column.dictionary_encode()
        columns[f"c{j}"] = column
    return pa.table(columns)


def _whole(kind: pa.DataType, rng: np.random.Generator) -> int:
    limits = np.iinfo(kind.to_pandas_dtype())
    return int(
        one_of(rng, limits.min, limits.max, 0, 1, limits.max - 1, limits.max // 2 + 1)
    )


# -- typed files -----------------------------------------------------------------------


def _parquet(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Page indexes, pages of both versions, other encodings, rare types on the disk, dictionaries
    that differ between groups of rows."""
    table = _table(rng)
    parts = [table] + [_table_like(table, rng) for _ in range(int(rng.integers(3)))]
    table = pa.concat_tables([part.cast(table.schema) for part in parts])
    plain = [
        f.name for f in table.schema
        if f.type in (pa.float64(), pa.float32(), pa.int32(), pa.int64())
    ]  # fmt: skip
    options: dict[str, Any] = {
        "write_page_index": bool(rng.integers(2)),
        "data_page_version": one_of(rng, "1.0", "2.0"),
        "version": one_of(rng, "1.0", "2.4", "2.6"),
        "compression": one_of(rng, "none", "snappy", "gzip", "brotli", "zstd", "lz4"),
        "row_group_size": int(rng.integers(1, 50)),
        "data_page_size": int(one_of(rng, 1, 100, 10**6)),
        "write_page_checksum": bool(rng.integers(2)),
        "store_schema": bool(rng.integers(2)),
        "use_deprecated_int96_timestamps": bool(rng.integers(2)),
        "store_decimal_as_integer": bool(rng.integers(2)),
        "dictionary_pagesize_limit": int(one_of(rng, 1, 10**6)),
        "write_statistics": bool(rng.integers(2)),
    }
    if rng.random() < 0.5:
        options["use_dictionary"] = False
        options["column_encoding"] = dict.fromkeys(plain, "BYTE_STREAM_SPLIT") or None
    if rng.random() < 0.3:
        sorting = [pq.SortingColumn(0, descending=bool(rng.integers(2)))]
        options["sorting_columns"] = sorting
    path = folder / "t.parquet"
    pq.write_table(table, path, **options)
    return path, pq.read_table(path).to_pydict()


def _table_like(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """The rows in another order, some of them."""
    order = rng.permutation(table.num_rows)[: int(rng.integers(1, table.num_rows + 1))]
    return table.take(pa.array(order))


def _arrow(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Runs, unions, views and compressed buffers, in files and streams, with the cells of Arrow."""
    table = _table(rng)
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    for name, column in columns.items():
        form = rng.integers(6)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if form == 0:
            columns[name] = pa.compute.run_end_encode(column)
        elif form == 1 and column.type == pa.string():
            columns[name] = column.cast(pa.string_view())
        elif form == 2:
            # sliced: offsets in front of the cells
            twice = pa.concat_arrays([column, column])
            columns[name] = twice.slice(len(column))
        elif form == 3 and column.type == pa.string():
            columns[name] = column.cast(pa.large_string())
    table = pa.table(columns)
    options = pa.ipc.IpcWriteOptions(
        compression=one_of(rng, None, "lz4", "zstd"),
        metadata_version=one_of(
            rng, pa.ipc.MetadataVersion.V4, pa.ipc.MetadataVersion.V5
        ),
        emit_dictionary_deltas=bool(rng.integers(2)),
    )
    path = folder / one_of(rng, "t.arrow", "t.feather", "t.ipc")
    writer = one_of(rng, pa.ipc.new_file, pa.ipc.new_stream)
    with writer(str(path), table.schema, options=options) as sink:
        try:
            for batch in table.to_batches(max_chunksize=int(rng.integers(1, 30))):
                sink.write_batch(batch)
        except pa.ArrowInvalid:  # dictionaries that a file may not replace
            pass
    return path, table.to_pydict()


def _lying_buffers(folder: Path, rng: np.random.Generator) -> tuple[Path, None]:
    """Compressed buffers that say to be longer or shorter than they are."""
    table = pa.table(
        {"a": np.arange(5000.0), "b": ["x" * (i % 7) for i in range(5000)]}
    )
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=one_of(rng, "lz4", "zstd"))
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    content = bytearray(sink.getvalue())
    # the sizes before compression stand in front of the buffers, in eight bytes
    for size in (40_000, 20_004):
        at = content.find(struct.pack("<q", size))
        if at >= 0 and rng.random() < 0.7:
            other = one_of(
                rng, -1, -2, 0, 1, size - 8, size + 8, 2**31, 2**40, 2**62, -(2**63)
            )
            content[at : at + 8] = struct.pack("<q", other)
    path = folder / "t.arrow"
    path.write_bytes(content)
    return path, None


# -- databases -------------------------------------------------------------------------


def _sqlite(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Tables without row numbers, strict, generated, collated, with triggers, views, logs."""
    path = folder / one_of(rng, "t.sqlite", "t.db", "a b#c?.sqlite3", "mode=rw%20.db")
    name = one_of(
        rng, "t", "select", 'a"b', "sqlites", "sqlite-data", "SQLITEX", "é", " "
    )
    quoted = '"' + name.replace('"', '""') + '"'
    with closing(sqlite3.connect(path)) as connection:
        if rng.random() < 0.4:
            connection.execute(
                f"pragma journal_mode = {one_of(rng, 'wal', 'truncate', 'persist')}"
            )
        connection.execute(f"pragma page_size = {one_of(rng, 512, 4096, 65536)}")
        connection.execute(
            f"pragma encoding = '{one_of(rng, 'UTF-8', 'UTF-16le', 'UTF-16be')}'"
        )
        ending = one_of(rng, "", "", "without rowid", "strict", "strict, without rowid")
        kind = (
            "any"
            if "strict" in ending
            else one_of(rng, "numeric", "blob", "text", "real", "")
        )
        made = f"generated always as (a * 2) {one_of(rng, 'virtual', 'stored')}"
        connection.execute(
            f"create table {quoted} (i integer primary key, a integer, b {kind}"
            f" collate nocase, g integer {made}) {ending}"
        )
        values = [
            1,
            2,
            2**40,
            -(2**63),
            2**63 - 1,
            0.5,
            1e300,
            "x",
            "X",
            "1",
            "1.0",
            None,
            "",
        ]
        one_kind = one_of(rng, values, values[:5], values[5:7], values[7:])
        for i in range(int(rng.integers(1, 30))):
            row = (i, int(rng.integers(-99, 99)), one_kind[rng.integers(len(one_kind))])
            connection.execute(f"insert into {quoted} (i, a, b) values (?, ?, ?)", row)
        if rng.random() < 0.3:
            connection.execute(f"create index x on {quoted} (b desc)")
        if rng.random() < 0.3:
            connection.execute(
                f"create trigger y after insert on {quoted} begin delete from {quoted}; end"
            )
        connection.commit()
        if rng.random() < 0.3:
            connection.execute(f"delete from {quoted} where i % 3 = 1")
            connection.commit()
        cursor = connection.execute(f"select * from {quoted}")
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    # empty texts are missing, as in CSV
    return path, {
        name: [None if row[j] == "" else row[j] for row in rows]
        for j, name in enumerate(names)
    }


def _duckdb(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Rare types and their limits, in tables and views, in schemas of their own."""
    import duckdb

    values = {
        "hugeint": (0, 1, -(10**30), 2**64), "uhugeint": (0, 2**127), "ubigint": (0, 2**64 - 1),
        "utinyint": (0, 255), "decimal(18, 3)": (Decimal("0.125"), Decimal("-99999.999")),
        "enum('a', 'B', '')": ("a", "B", ""),
        "date": (datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
        "timestamp": (datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59)),
        "timestamp_s": (datetime.datetime(1970, 1, 1), datetime.datetime(2262, 4, 12)),
        "timestamp_ns": (datetime.datetime(1970, 1, 1), datetime.datetime(2200, 1, 1)),
        "boolean": (True, False), "varchar": ("", "0", "é", "x" * 200), "float": (0.5, -3.0),
        "double": REALS,
    }  # fmt: skip
    path = folder / one_of(rng, "t.duckdb", "t.db")
    kinds = [
        list(values)[j] for j in rng.integers(len(values), size=int(rng.integers(1, 5)))
    ]
    n = int(rng.integers(1, 30))
    rows = [
        [None if rng.random() < 0.1 else one_of(rng, *values[kind]) for kind in kinds]
        for _ in range(n)
    ]
    with duckdb.connect(str(path)) as connection:
        declared = ", ".join(f"c{j} {kind}" for j, kind in enumerate(kinds))
        connection.execute(f"create table t ({declared})")
        marks = ", ".join("?" * len(kinds))
        connection.executemany(f"insert into t values ({marks})", rows)
        if rng.random() < 0.3:
            connection.execute(
                "create schema s; create table s.u as from t; drop table t"
            )
            rows = connection.execute("from s.u").fetchall()
        else:
            rows = connection.execute("from t").fetchall()
    return path, {f"c{j}": [row[j] for row in rows] for j in range(len(kinds))}


# -- text ------------------------------------------------------------------------------


def _limits(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Whole numbers around the limits of types, in text, one of them late in the file."""
    count = int(one_of(rng, 3, 30, 3000))
    numbers = [int(one_of(rng, *LIMITS[:12])) for _ in range(count)]
    numbers[int(rng.integers(count))] = int(one_of(rng, *LIMITS))
    numbers[-1] = int(one_of(rng, *LIMITS))
    form = one_of(rng, "csv", "tsv", "jsonl", "json", "arff")
    path = folder / f"t.{form}"
    if form in ("csv", "tsv"):
        mark = "," if form == "csv" else "\t"
        lines = [f"a{mark}b", *(f"{n}{mark}x" for n in numbers)]
        encoding = one_of(rng, "utf8", "utf-8-sig", "utf-16", "utf-16-le")
        path.write_bytes(one_of(rng, "\n", "\r\n").join([*lines, ""]).encode(encoding))
    elif form == "arff":
        body = "\n".join(f"{n},x" for n in numbers)
        path.write_text(
            f"@relation r\n@attribute a integer\n@attribute b {{x}}\n@data\n{body}\n"
        )
    else:
        lines = [f'{{"a": {n}, "b": "x"}}' for n in numbers]
        text = "\n".join(lines) if form == "jsonl" else f"[{', '.join(lines)}]"
        path.write_text(text + "\n")
    return path, {"a": numbers, "b": ["x"] * count}


def _reals(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Fractions as people and programs write them: the nearest float of every one."""
    texts = (
        "0.1", "-0.0", "5e-324", "2e-324", "4.9e-324", "1.7976931348623157e308", "1e22", "1e23",
        "9007199254740993.0", "0.1000000000000000055511151231257827", "123456789012345678901.5",
        "2.2250738585072011e-308", "+1.5", ".5", "5.", "1E5", "00.5", "1e-400",
    )  # fmt: skip
    drawn = [str(one_of(rng, *texts)) for _ in range(int(rng.integers(2, 40)))]
    form = one_of(rng, "csv", "tsv")
    path = folder / f"t.{form}"
    mark = "," if form == "csv" else "\t"
    path.write_text("\n".join([f"a{mark}b", *(f"{t}{mark}x" for t in drawn), ""]))
    return path, {"a": [float(text) for text in drawn], "b": ["x"] * len(drawn)}


# -- files that are not at rest --------------------------------------------------------


def _changing(folder: Path, rng: np.random.Generator) -> tuple[Path, None]:
    """A file that grows, shrinks, is replaced or removed while it is read."""
    ending = one_of(rng, "csv", "parquet", "arrow", "jsonl", "sqlite")
    path = folder / f"t-changing.{ending}"
    n = int(one_of(rng, 100, 100_000))

    def write(target: Path, shift: int) -> None:
        table = pa.table({"a": np.arange(n) + shift, "b": np.arange(n) % 7})
        if ending == "csv":
            table.to_pandas().to_csv(target, index=False)
        elif ending == "jsonl":
            table.to_pandas().head(2000).to_json(target, orient="records", lines=True)
        elif ending == "parquet":
            pq.write_table(table, target, row_group_size=1000)
        elif ending == "sqlite":
            with closing(sqlite3.connect(target)) as connection:
                connection.execute("create table if not exists t (a, b)")
                connection.executemany(
                    "insert into t values (?, ?)", [(i, i) for i in range(100)]
                )
                connection.commit()
        else:
            with pa.ipc.new_file(str(target), table.schema) as sink:
                sink.write_table(table, max_chunksize=1000)

    write(path, 0)
    how = rng.integers(4)
    pause = float(rng.uniform(0.0, 0.05))

    def change() -> None:
        if how == 0:
            os.truncate(path, os.path.getsize(path) // 2)
        elif how == 1:
            other = path.with_name("other")
            write(other, 10**6)
            os.replace(other, path)
        elif how == 2:
            with path.open("ab") as file:
                file.write(b"1,2\n" * 1000)
        else:
            path.unlink(missing_ok=True)

    threading.Timer(pause, _quietly, args=(change,)).start()
    return path, None


def _quietly(change: Callable[[], None]) -> None:
    """Change a file that the next case may have removed."""
    with contextlib.suppress(OSError, sqlite3.Error):
        change()


def _not_plain(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells | None]:
    """Links, pipes, devices, folders with names of files, names that are patterns."""
    content = b"a,b\n1,2\n3,4\n"
    form = rng.integers(5)
    if form == 0:
        (folder / "real.csv").write_bytes(content)
        path = folder / "link.csv"
        path.symlink_to(folder / "real.csv")
        return path, {"a": [1, 3], "b": [2, 4]}
    if form == 1:
        path = folder / "loop.csv"
        path.symlink_to(path)
        return path, None
    if form == 2:
        path = folder / one_of(
            rng, "[a].csv", "x*.csv", "a?.csv", "~.csv", "%41.csv", "a\nb.csv"
        )
        path.write_bytes(content)
        return path, {"a": [1, 3], "b": [2, 4]}
    if form == 3:
        path = folder / "pipe.csv"
        os.mkfifo(path)
        threading.Thread(target=_feed, args=(path, content), daemon=True).start()
        return path, None
    path = folder / "zero.csv"
    path.symlink_to(one_of(rng, "/dev/null", "/proc/self/mem", "/proc/cpuinfo"))
    return path, None


def _feed(path: Path, content: bytes) -> None:
    try:
        with path.open("wb") as pipe:
            pipe.write(content)
    except OSError:
        pass


ATTACKS: dict[str, Attack] = {
    function.__name__.strip("_"): function
    for function in (
        _parquet,
        _arrow,
        _lying_buffers,
        _sqlite,
        _duckdb,
        _limits,
        _reals,
        _changing,
        _not_plain,
    )
}
