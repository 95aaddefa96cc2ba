"""Attacks on readers that were thought out after the repairs, with drawn sizes and places: archives
that say one thing twice, counts and statistics that lie, types that nest, bombs, views that ask for
too much. Each is read or refused by name, within limits of memory and time."""

from __future__ import annotations

import gzip
import io
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz import Finding
from fuzz.file_cases import ReadingProcess
from fuzz.workbooks import NAMESPACES, Book

__all__ = ["ATTACKS", "case", "make"]

MEMORY = 96 << 20  # that a file may take, by its limit
SPARE = 700 << 20  # and the process beside it
Files = dict[str, bytes]  # by name; the first is read
Attack = Callable[[np.random.Generator], Files]


def read_rows(path: str) -> int:
    """The rows, at once, in parts and by `inspect`, within the limits."""
    from lyceum._core.data import reading_limits
    from lyceum.data import inspect, scan

    with reading_limits(memory=MEMORY, seconds=2.0):
        n_rows = inspect(path).n_rows
        for memory in (1 << 26, 0):
            blocks = scan(path, memory=memory).blocks()
            if sum(len(block.X) for block in blocks) != n_rows:
                raise AssertionError("scan and inspect see other numbers of rows")
    return n_rows


# -- workbooks -------------------------------------------------------------------------


def _sheet(rows: str) -> str:
    main = NAMESPACES[False][0]
    opening = f'<worksheet xmlns="{main}" xmlns:x="{main}">'
    return f"{opening}<sheetData>{rows}</sheetData></worksheet>"


def _book(rng: np.random.Generator) -> Files:
    """A sheet whose size, name or relation is not what it seems."""
    row, column = int(10 ** rng.uniform(0, 6)), int(rng.integers(1, 700))
    letters = f"{chr(65 + column // 26 % 26)}{chr(65 + column % 26)}"
    prefix = str(rng.choice(["", "x:"]))
    far = (
        f'<{prefix}row r="{row}"><{prefix}c r="{letters}{row}"><{prefix}v>2</{prefix}v>'
    )
    rows = f"{far}</{prefix}c></{prefix}row>"
    if rng.random() < 0.4:
        rows = (
            f"<{prefix}row/>" * (row // 10)
            + f"<{prefix}row>{'<c/>' * column}</{prefix}row>"
        )
    cells = {(0, 0): ("whole", 1), (1, 0): ("whole", 2)}
    content = Book(cells, tuple(cells)).write()
    name = str(rng.choice(["xl/worksheets/s0.xml", "xl/worksheets/S0.XML", "xl/d.bin"]))
    target = name[3:].lower() if rng.random() < 0.5 else f"../xl/./{name[3:]}"
    relations = {
        "": "",
        "comment": f'<!--<Relationship Id="r0" Target="{target}"/>-->',
        "twice": f'<Relationship Id="r0" Target="{target}"/>',
        "loop": '<Relationship Id="r0" Target="workbook.xml"/>',
        "outside": '<Relationship Id="r0" Target="file:///etc/passwd" TargetMode="External"/>',
    }
    extra = relations[list(relations)[rng.integers(len(relations))]]
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.namelist():
            text = old.read(part).decode()
            if part.endswith("workbook.xml.rels"):
                text = text.replace("</Relationships>", f"{extra}</Relationships>")
            if part == "xl/worksheets/s0.xml":
                new.writestr(name, _sheet(rows))
            else:
                new.writestr(part, text)
    return {"t.xlsx": _spliced(stream.getvalue(), rng)}


def _spliced(content: bytes, rng: np.random.Generator) -> bytes:
    """The archive as it is, or cut off, doubled, or with sizes that lie."""
    how = rng.integers(6)
    if how == 0:
        return content[: rng.integers(len(content))]
    if how == 1:
        return content + content
    if how == 2:
        return content[: rng.integers(len(content))] + content
    if how == 3:
        # a size or an offset of the directory
        changed = bytearray(content)
        start = content.rfind(b"PK\x01\x02") + int(rng.choice([20, 24, 42]))
        value = int(rng.choice([0, 7, 2**31, 2**32 - 1]))
        changed[start : start + 4] = value.to_bytes(4, "little")
        return bytes(changed)
    return content


# -- Arrow and Parquet -----------------------------------------------------------------


def _column(rng: np.random.Generator, n_rows: int) -> pa.Array:
    """A column of a type that few files have."""
    codes = pa.array(np.zeros(n_rows, np.int32))
    text = pa.array(["x" * int(10 ** rng.uniform(0, 6))])
    whole = pa.array(np.arange(n_rows))
    kinds: list[Callable[[], pa.Array]] = [
        lambda: pa.DictionaryArray.from_arrays(codes, text),
        lambda: pa.nulls(n_rows * int(10 ** rng.uniform(0, 5))),
        lambda: pa.RunEndEncodedArray.from_arrays([n_rows], pa.array([1.5])),
        lambda: pa.array(np.zeros(n_rows * int(10 ** rng.uniform(0, 4)))),
        lambda: pa.array([[1, 2]] * n_rows, pa.list_view(pa.int64())),
        lambda: pa.StructArray.from_arrays([whole], ["x"]),
        lambda: pa.array([b"\xff"] * n_rows, pa.binary_view()),
        lambda: pa.UnionArray.from_sparse(pa.array([0] * n_rows, pa.int8()), [whole]),
        lambda: pa.array([10**60] * n_rows, pa.decimal256(76, 3)),
        lambda: pa.array([(1, 2, 3)] * n_rows, pa.month_day_nano_interval()),
        lambda: pa.array([2**62] * n_rows, pa.timestamp("s", "Mars/Phobos")),
        lambda: pa.array([None, "a" * 20][:n_rows] * (n_rows // 2), pa.string_view()),
    ]
    return kinds[rng.integers(len(kinds))]()


def _typed(rng: np.random.Generator) -> Files:
    """Odd types, packed; perhaps with one 4- or 8-byte number of a header changed."""
    column = _column(rng, int(rng.choice([2, 10, 3000])))
    table = pa.table({"a": column})
    sink = io.BytesIO()
    packing = str(rng.choice(["uncompressed", "lz4", "zstd"]))
    options = pa.ipc.IpcWriteOptions(compression=None if packing[0] == "u" else packing)
    opened = pa.ipc.new_file if rng.random() < 0.5 else pa.ipc.new_stream
    name = "t.arrow"
    try:
        if rng.random() < 0.4:
            packing = packing.replace("lz4", "gzip").replace("uncompressed", "none")
            pq.write_table(table, sink, compression=packing)
            name = "t.parquet"
        else:
            with opened(sink, table.schema, options=options) as writer:
                writer.write_table(table)
    except pa.ArrowException:  # a type that Parquet lacks
        return {"t.csv": b"a\n1\n"}
    content = sink.getvalue()
    if rng.random() < 0.5:
        changed = bytearray(content)
        start = int(rng.integers(max(1, len(changed) - 8)))
        value = int(rng.choice([0, 1, 2**20, 2**31 - 1, 2**62]))
        changed[start : start + 8] = value.to_bytes(8, "little")
        content = bytes(changed)
    if rng.random() < 0.2:
        content += content
    return {name: content}


# -- text ------------------------------------------------------------------------------


def _json(rng: np.random.Generator) -> Files:
    """Keys that appear twice, huge exponents, marks in the middle, other encodings."""
    depth = int(10 ** rng.uniform(0, 5))
    cells = [
        "1e400",
        "-1e-400",
        "NaN",
        "[" * depth,
        '"\\ud800"',
        "9" * 4500,
        "-0",
        "{}",
    ]
    cell = cells[rng.integers(len(cells))]
    keys = [f'{{"a": {cell}}}', f'{{"a": 1, "a": {cell}}}', f'{{"k{depth}": 1}}']
    lines = [str(rng.choice(keys)) for _ in range(rng.integers(1, 5))]
    mark = str(rng.choice(["\n", "\n\ufeff", "\r", "\u2028"]))
    encodings = [
        "utf8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-32-be",
        "utf-7",
        "cp500",
    ]
    return {"t.jsonl": mark.join(lines).encode(str(rng.choice(encodings)), "replace")}


def _packed(rng: np.random.Generator) -> Files:
    """Members one after the other, lengths and sums that lie, bombs inside of bombs."""
    text = b"a,b\n" + b"1,x\n" * int(10 ** rng.uniform(0, 7.5))
    packed = gzip.compress(text, 1)
    forms = [
        packed + gzip.compress(b"2,y\n"),
        gzip.compress(packed),
        packed[:-4] + b"\xff\xff\xff\x7f",
        packed[:-8] + b"\0\0\0\0" + packed[-4:],
        packed + b"\0" * int(rng.integers(1, 600)),
        gzip.compress(b"") * int(rng.integers(1, 3000)) + packed,
        packed[: rng.integers(len(packed))],
    ]
    return {"t.csv.gz": forms[rng.integers(len(forms))]}


def _text(rng: np.random.Generator) -> Files:
    """CSV and ARFF with zeros, lone quotes, dates without parts, relations in relations."""
    zeros = b"\0" * int(10 ** rng.uniform(0, 4))
    date = str(rng.choice(["'", "''", "%n", "yyyy%", "\\", "MM''MM", "%%"])).encode()
    head = b"@relation r\n@attribute a numeric\n@attribute b "
    files = [
        {"t.csv": b"a,b\n1,x" + zeros + b"\n2,y\n"},
        {"t.csv": b'a,b\n1,"' + b"z" * int(10 ** rng.uniform(0, 6)) + b"\n2,y\n"},
        {
            "t.csv": "a,b\n1,x\n\ufeffa,b\n2,y\n".encode(
                str(rng.choice(["utf8", "utf-16"]))
            )
        },
        {"t.arff": head + b'date "' + date + b'"\n@data\n1,x\n2,2001-01-01\n'},
        {"t.arff": head + b"relational\n@attribute c numeric\n@end b\n@data\n1,'2'\n"},
        {"t.arff": head + b"{x,x,y}\n@data\n{0 1, 0 2}\n{1 y, 99999999999 2}\n"},
        {"t.arff": head + b"numeric\n@data\n1e400,-1e400\n{5},2\n"},
    ]
    return files[rng.integers(len(files))]


# -- databases -------------------------------------------------------------------------

VIEWS = (
    "create view v as with recursive r(i) as (select 1 union all select i+1 from r)"
    " select i from r",
    "create view v as select hex(zeroblob({n})) as a",
    "create view v as select printf('%.*c', {n}, 'x') as a",
    "create view v as select * from pragma_database_list",
    "create view v as select load_extension('/tmp/x.so') as a",
    "create table v(a int, b as (hex(zeroblob({n}))) virtual)",
    "create table v(a int, b int as (a * 2) stored)",
    'create table "v""; drop table x" ("" int, "é ""q" int)',
    "create table v(a int primary key, b) without rowid",
)


def _database(rng: np.random.Generator) -> Files:
    """Views and generated columns, beside a journal or a log of writes that does not belong."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "t.sqlite"
    statement = VIEWS[rng.integers(len(VIEWS))]
    with closing(sqlite3.connect(path)) as connection, connection:
        if rng.random() < 0.3:
            connection.execute("pragma journal_mode = wal")
        connection.execute(statement.format(n=int(10 ** rng.uniform(1, 9))))
        if statement.startswith("create table v(a int,"):
            connection.execute("insert into v(a) values (1), (2)")
    content = path.read_bytes()
    files = {"t.sqlite": content}
    beside = str(rng.choice(["", "t.sqlite-journal", "t.sqlite-wal", "t.sqlite-shm"]))
    if beside:
        noise = rng.integers(0, 256, 4096, dtype=np.uint8).tobytes()
        magic = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" if "journal" in beside else b""
        files[beside] = magic + noise
    for name in folder.iterdir():
        name.unlink()
    folder.rmdir()
    return files


ATTACKS: dict[str, Attack] = {
    "workbook": _book,
    "typed": _typed,
    "json": _json,
    "packed": _packed,
    "text": _text,
    "database": _database,
}


def make() -> tuple[Path, ReadingProcess]:
    """A folder, and a process that reads with little memory."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read_rows, MEMORY + SPARE)


def case(shared: tuple[Path, Any], rng: np.random.Generator) -> str:
    """One attack; nothing but its own files may stand in the folder afterwards."""
    folder, read = shared
    for path in folder.iterdir():
        path.unlink()
    name = list(ATTACKS)[rng.integers(len(ATTACKS))]
    files = ATTACKS[name](rng)
    for file, content in files.items():
        (folder / file).write_bytes(content)
    first = next(iter(files))
    outcome = read(folder / first)
    if (folder / first).read_bytes() != files[first]:
        raise Finding(f"{first} was changed by reading it")
    return f"{name} {outcome.word}"
