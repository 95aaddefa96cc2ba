"""Attacks on readers, the third set: what formats allow and few files have. Extension and nested
types, statistics that lie, dictionaries that grow, line ends that change, parts outside of a
workbook, virtual tables, frames of packers. Where another reader knows the cells, they are its."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import sqlite3
import struct
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
from fuzz.file_cases import ReadingProcess, check_cells
from fuzz.workbooks import NAMESPACES, PACKAGE, Book

__all__ = ["ATTACKS", "case", "make"]

MEMORY = 96 << 20  # that a file may take, by its limit
SPARE = 500 << 20  # and the process beside it
Cells = dict[str, list[Any]]
# the file's name, its bytes, and its cells by another reader, or None where it may be refused
Attack = Callable[[np.random.Generator], tuple[str, bytes, Cells | None]]


def read_cells(path: str) -> Cells:
    """The cells of the file, the same numbers of rows by `inspect` and in parts."""
    from lyceum._core.data import read_data, reading_limits
    from lyceum.data import inspect, scan

    with reading_limits(memory=MEMORY, seconds=2.0):
        table = read_data(path).table
        counts = [table.num_rows, inspect(path).n_rows]
        blocks = scan(path, memory=0).blocks()
        counts.append(sum(len(block.X) for block in blocks))
        if len(set(counts)) > 1:
            raise AssertionError(f"at once, inspect and in parts: {counts} rows")
        return {
            name: [_plain(cell) for cell in table.column(name).to_pylist()]
            for name in table.column_names
        }


def _plain(cell: Any) -> Any:
    """Numbers as floats, texts as they are, None for NaN."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return cell
    return None if math.isnan(cell) else float(cell)


def _of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


# -- typed files -----------------------------------------------------------------------


def _nested(rng: np.random.Generator) -> pa.Array:
    """Types in types, to a drawn depth."""
    column = pa.array([1, 2, 3, 4])
    for _ in range(int(10 ** rng.uniform(0, 1.8))):
        form = rng.integers(4)
        if form == 0:
            column = pa.StructArray.from_arrays([column], [_of(rng, "x", "", "x.y")])
        elif form == 1:
            column = pa.ListArray.from_arrays(np.arange(len(column) + 1), column)
        elif form == 2:
            column = pa.FixedSizeListArray.from_arrays(column, 1)
        else:
            keys = pa.array([str(i) for i in range(len(column))])
            column = pa.MapArray.from_arrays(np.arange(len(column) + 1), keys, column)
    return column


def _extension(rng: np.random.Generator) -> pa.Table:
    """Columns that say to be of an extension type, with storage that may not fit."""
    kind = _of(
        rng, "arrow.uuid", "arrow.json", "arrow.bool8", "arrow.fixed_shape_tensor",
        "arrow.opaque", "arrow.variable_shape_tensor", "pandas.period", "", "x" * 70_000,
    )  # fmt: skip
    content = _of(rng, "", "{}", '{"shape":[2]}', '{"shape":[-1]}', "[" * 5000, "\0")
    storage = _of(
        rng,
        pa.array([1, 2, 1, 2], pa.int8()),
        pa.array(["a", "{", "[1]", None]),
        pa.array([b"0123456789abcdef"] * 4, pa.binary(16)),
        pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float64(), 2)),
    )
    metadata = {"ARROW:extension:name": kind, "ARROW:extension:metadata": content}
    field = pa.field("a", storage.type, metadata=metadata)
    return pa.Table.from_arrays([storage], schema=pa.schema([field]))


def _written(table: pa.Table, rng: np.random.Generator) -> tuple[str, bytes]:
    sink = io.BytesIO()
    try:
        if rng.random() < 0.5:
            pq.write_table(table, sink)
            return "t.parquet", sink.getvalue()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return "t.arrow", sink.getvalue()
    except (pa.ArrowException, ValueError):  # a type that the format lacks
        return "t.csv", b"a,b\n1,2\n"


def _odd_types(rng: np.random.Generator) -> tuple[str, bytes, None]:
    if rng.random() < 0.5:
        return *_written(pa.table({"a": _nested(rng), "b": [1, 2, 3, 4]}), rng), None
    return *_written(_extension(rng), rng), None


def _lying_statistics(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """Least and largest values in the footer that are none of the cells."""
    least, largest = 1_111_111_111_111, 2_222_222_222_222
    numbers = [least, *rng.integers(least, largest, 50).tolist(), largest]
    sink = io.BytesIO()
    table = pa.table({"a": numbers, "b": [float(n) / 4 for n in numbers]})
    pq.write_table(table, sink, use_dictionary=False, row_group_size=_of(rng, 7, 100))
    content = sink.getvalue()
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = content[-8 - length : -8]
    for number in (least, largest):
        other = int(rng.choice([0, -1, 2**62, -(2**63), 7]))
        packed = struct.pack("<q", number)
        if rng.random() < 0.8:
            footer = footer.replace(packed, struct.pack("<q", other))
    content = content[: -8 - length] + footer + content[-8:]
    return (
        "t.parquet",
        content,
        {"a": [float(n) for n in numbers], "b": [n / 4 for n in numbers]},
    )


def _encodings(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """Every way of writing pages, in many or empty groups of rows."""
    n_rows = int(rng.choice([1, 9, 1025]))
    numbers = rng.integers(-(2**52), 2**52, n_rows)
    words = [f"w{n % 7}" for n in numbers]
    coding = _of(rng, "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN")
    of_text = _of(rng, "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "PLAIN")
    table = pa.table({"a": numbers, "b": words})
    sink = io.BytesIO()
    writer = pq.ParquetWriter(
        sink, table.schema, use_dictionary=False, column_encoding={"a": coding, "b": of_text},
        compression=_of(rng, "snappy", "gzip", "brotli", "zstd", "lz4", "none"),
        data_page_version=_of(rng, "1.0", "2.0"), write_page_checksum=bool(rng.integers(2)),
        write_page_index=bool(rng.integers(2)),
    )  # fmt: skip
    with writer:
        for _ in range(int(rng.choice([0, 1, 300]))):
            writer.write_table(table.slice(0, 0))
        writer.write_table(table, row_group_size=int(rng.choice([1, 8, 10_000])))
    return (
        "t.parquet",
        sink.getvalue(),
        {"a": numbers.astype(float).tolist(), "b": words},
    )


def _growing_dictionaries(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """A stream whose batches add to the dictionary of a column, or replace it."""
    words = [f"w{i}" for i in rng.permutation(12)]
    kind = pa.dictionary(_of(rng, pa.int8(), pa.int64(), pa.uint8()), pa.string())
    schema = pa.schema([("a", kind)])
    deltas = bool(rng.integers(2))
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
    sink = io.BytesIO()
    cells: list[Any] = []
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for step in range(int(rng.integers(2, 6))):
            # more of the same words, or other ones, or one of them missing
            known = (
                words[: 2 + 2 * step] if deltas else list(rng.permutation(words)[:5])
            )
            codes = rng.integers(len(known), size=6)
            column = pa.DictionaryArray.from_arrays(
                pa.array(codes, kind.index_type), pa.array(known, pa.string())
            )
            writer.write_batch(pa.record_batch([column], schema=schema))
            cells += [str(known[code]) for code in codes]
    return "t.arrow", sink.getvalue(), {"a": cells}


def _lying_metadata(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """What pandas writes beside a table, damaged: the cells are the same."""
    notes = [
        "{",
        "[" * 9000,
        '{"index_columns": ["a"], "columns": []}',
        "\0" * 50,
        "null",
    ]
    notes.append(
        '{"index_columns": [{"kind": "range", "start": 0, "stop": 1e18, "step": 0}]}'
    )
    metadata = {"pandas": _of(rng, *notes), "": "", "x" * 3000: "y" * 3000}
    table = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]}).replace_schema_metadata(
        metadata
    )
    return *_written(table, rng), {"a": [1.0, 2.0], "b": ["x", "y"]}


# -- text ------------------------------------------------------------------------------


def _line_ends(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """Line ends of three kinds in one file, a mark in the middle, zeros, long cells."""
    rows = [["n", "t"]]
    for i in range(int(rng.integers(2, 40))):
        text = f"x{i % 3}"
        how = rng.random()
        if how < 0.1:
            text = "\ufeff" + text
        elif how < 0.15:
            text = "y" * int(10 ** rng.uniform(3, 6.1))
        elif how < 0.2:
            text = f"{text} \u2028\x85\x0c"
        rows.append([str(i), text])
    mixed = rng.random() < 0.6
    ends = (
        [str(_of(rng, "\n", "\r\n", "\r")) for _ in rows]
        if mixed
        else ["\n"] * len(rows)
    )
    text = "".join(",".join(row) + end for row, end in zip(rows, ends))
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    content = text.encode(_of(rng, "utf8", "utf8", "utf-8-sig", "utf-16"))
    csv.field_size_limit(1 << 30)
    _, *found = csv.reader(io.StringIO(text, newline=""))
    return (
        "t.csv",
        content,
        {"n": [float(row[0]) for row in found], "t": [row[1] for row in found]},
    )


def _odd_csv(rng: np.random.Generator) -> tuple[str, bytes, None]:
    """Names and quotes that no program writes."""
    odd = [
        "a,a,a\n1,2,3\n", ",\n1,2\n", "a,b\n1\n1,2,3\n", '"a\nb",c\n1,2\n', 'a"b,c\n1,2\n',
        "\x1b[2J,\u202e\n1,2\n", "a,b\n" + '"' * int(10 ** rng.uniform(0, 6)) + "\n",
        "sep=\n1,2\n", "sep=\0\na,b\n1,2\n", "sep=,,\na,b\n", "a\n" + "\n" * 100_000 + "1\n2\n",
        "a,b\n" + "1," * int(10 ** rng.uniform(0, 5)) + "\n", "﻿﻿a,b\n1,2\n", "a,b\r\r\n1,2\r\r\n",
        "a b\n1 2\n" * 3, "a|b;c,d\te\n1|2;3,4\t5\n", "1e309,b\n1e309,2\n-1e309,3\n",
        "a,b\n0x10,1\n0b1,2\n1_0,3\n٣,4\n", "a,b\n2020-13-45,1\n9999999-01-01,2\n",
        "#a,b\n1,2\n", "a,b\n1;2\n3,4\n", "\n\n\n", "\r", '"', "\ufeff", "\0\0\0\0",
    ]  # fmt: skip
    return "t.csv", str(_of(rng, *odd)).encode(), None


def _json_values(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """Numbers at the limits and texts with escapes, as `json` reads them."""
    numbers = [0, -1, 2**53, -(2**53), 0.1, 1e308, -1e-308, 5e-324, 1.5e10, -0.0]
    texts = [
        "\\u0041",
        '\\"',
        "\\\\",
        "\\/",
        "\\b\\f\\n\\r\\t",
        "\\ud83d\\ude00",
        "é",
        "\u2028",
        "NaN",
    ]
    lines, cells = [], []
    for i in range(int(rng.integers(1, 20))):
        text = f'"{_of(rng, *texts)}{i % 3}"'
        number = repr(float(_of(rng, *numbers)))
        keys = [f'"a": {number}', f'"b": {text}']
        if rng.random() < 0.5:
            keys.reverse()
        space = _of(rng, "", " ", "\t")
        lines.append("{" + space + f"{space},{space}".join(keys) + space + "}")
        cells.append(json.loads(lines[-1]))
    content = _of(rng, "\n", "\r\n", "\n\n").join(lines).encode()
    wanted = {name: [line[name] for line in cells] for name in cells[0]}
    return "t.jsonl", content, wanted


def _odd_json(rng: np.random.Generator) -> tuple[str, bytes, None]:
    """Literals that are no JSON, keys that say little, whole files in one value."""
    lines = [
        '{"a": NaN}', '{"a": Infinity}\n{"a": -Infinity}', '{"a": 1}\n[1]', "null", '{"a": 1,}',
        '{"": 1}', '{"a": 1e999999999}', '{"a": ' + "1" * 100_000 + "}", "{'a': 1}", '{"a": 01}',
        '[{"a": 1}, {"a": 2}]', '{"a": [1, {"b": [2]}]}', '{"a": 1} {"a": 2}', '{"a": "\\u12"}',
        '{"a": 1}\n' * 1000 + '{"a": "x"}', '{"\\u0000": 1}', '{"a": "' + "x" * 1_000_000 + '"}',
        '{"a": 18446744073709551616}\n{"a": 0.5}', '{"a": -9223372036854775809}', "{}\n{}",
        "".join(f'{{"k{i}": 1}}\n' for i in range(3000)), '// x\n{"a": 1}', '{"a": yes}',
        '{"a": {"a": {"a": 1}}, "a.a": 2}', "\x1e" + '{"a": 1}', '{"a":1}\0', '{"a": .5}',
    ]  # fmt: skip
    return "t.jsonl", str(_of(rng, *lines)).encode(), None


# -- archives --------------------------------------------------------------------------


def _frames(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """Members with names and comments, frames that are skipped, archives in archives."""
    n_rows = int(rng.integers(2, 3000))
    text = b"a,b\n" + b"".join(b"%d,x\n" % i for i in range(n_rows))
    wanted = {"a": [float(i) for i in range(n_rows)], "b": ["x"] * n_rows}
    body = gzip.compress(text)[10:]
    named = (
        b"\x1f\x8b\x08\x1c\0\0\0\0\0\xff" + b"\x04\0abcd" + b"n" * 300 + b"\0c\0" + body
    )
    zstd = pa.Codec("zstd").compress(text, asbytes=True)
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"12345"
    endless = b"\x50\x2a\x4d\x18" + struct.pack("<I", 2**32 - 1) + b"1"
    window = zstd[:4] + b"\x00\xf8" + zstd[6:]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("t.csv", text)
        archive.writestr("inner.zip", stream.getvalue())
    zipped = stream.getvalue()
    forms: list[tuple[str, bytes, Cells | None]] = [
        ("t.csv.gz", named, wanted),
        ("t.csv.zst", zstd, wanted),
        ("t.csv.zst", skipped + zstd, None),
        ("t.csv.zst", zstd + skipped, None),
        ("t.csv.zst", endless, None),
        ("t.csv.zst", window, None),
        (
            "t.csv.gz",
            gzip.compress(text) + bytes(rng.integers(0, 256, 50, np.uint8)),
            None,
        ),
        ("t.csv.gz", zipped, None),
        ("t.csv", zipped, None),
        ("t.xlsx", zipped, None),
        ("t.ods", zipped, None),
        ("t.csv.gz", gzip.compress(zipped), None),
        ("t.csv.bz2", gzip.compress(text), None),
        ("t.csv.lz4", zstd, None),
        ("t.csv.br", bytes(rng.integers(0, 256, 400, np.uint8)), None),
    ]
    return _of(rng, *forms)


# -- workbooks -------------------------------------------------------------------------

_BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{}]>'
_ENTITIES = "".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12)
)


def _odd_book(rng: np.random.Generator) -> tuple[str, bytes, None]:
    """Parts that a sheet need not have, places that there are none of, texts that explode."""
    main, relations = NAMESPACES[False]
    cells = [
        '<c r="A2" t="s"><v>{}</v></c>'.format(_of(rng, -1, 7, 2**31, 2**64, "x", "")),
        '<c r="{}"><v>1</v></c>'.format(_of(rng, "A0", "A-1", "AAAA1", "a2", "2", "A" * 999)),
        '<c r="A2" s="{}"><v>43000</v></c>'.format(_of(rng, -1, 999, 2**32, "x")),
        '<c r="A2"><v>1</v></c><c r="A2"><v>2</v></c>',
        '<c r="A2" t="inlineStr"><is><r><t>a</t></r><rPh sb="0" eb="1"><t>b</t></rPh></is></c>',
        '<c r="A2" t="str"><f>[1]s!A1</f><v>x</v></c>',
        '<c r="A2" t="array"><f t="array" ref="A1:XFD1048576">1</f><v>1</v></c>',
        '<c r="A2" t="d"><v>99999-99-99T99:99:99</v></c>',
        '<c r="A2"><v>{}</v></c>'.format(_of(rng, "1e999", "NaN", "0x1", "1,5", "&#0;", "")),
        '<c r="A2" t="e"><v>&l;</v></c>', '<c r="A2" t="zzz"><v>1</v></c>', "<c/>" * 20_000,
    ]  # fmt: skip
    size = _of(
        rng, "A1:A2", "A1:XFD1048576", "A1:A1", "Z9:A1", "", "A1:AAAA99999999999"
    )
    sheet = (
        f'<worksheet xmlns="{main}"><dimension ref="{size}"/><sheetData><row r="1"><c r="A1">'
        f'<v>1</v></c></row><row r="2">{_of(rng, *cells)}</row></sheetData>'
        '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>'
    )
    if rng.random() < 0.2:
        sheet = _BOMB.format(_ENTITIES) + sheet.replace("<v>1</v>", "<v>&l;</v>")
    text = _of(rng, "x", "x" * 30_000, "&lt;" * 9000)
    count = _of(rng, 300, 300, 300, 4_000_000_000, -1, "x")
    items = f"<si><t>{text}</t></si>" * 300
    strings = f'<sst xmlns="{main}" uniqueCount="{count}">{items}</sst>'
    place = _of(rng, "http://192.0.2.1/x", "file:///dev/zero", "externalLinks/e.xml")
    kind = f"{relations}/relationships/externalLink"
    target = f'Target="{place}" TargetMode="External"'
    link = f'<Relationship Id="r8" Type="{kind}" {target}/>'
    whole = {(0, 0): ("whole", 1), (1, 0): ("whole", 2)}
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(Book(whole, tuple(whole)).write())) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            part = old.read(name).decode()
            if name == "xl/worksheets/s0.xml":
                part = sheet
            if name.endswith("workbook.xml.rels"):
                part = part.replace("</Relationships>", f"{link}</Relationships>")
            if name != "xl/sharedStrings.xml":
                new.writestr(name, part)
        new.writestr("xl/sharedStrings.xml", strings)
        inner = f'<Relationships xmlns="{PACKAGE}/relationships">{link}</Relationships>'
        new.writestr("xl/worksheets/_rels/s0.xml.rels", inner)
    return "t.xlsx", stream.getvalue(), None


# -- databases -------------------------------------------------------------------------

_GENERATED = "create table v(a int, b as (a * 2), c as (a * a) stored)"
_WITHOUT_ROWID = "create table v(b int primary key) without rowid"
_ODD_NAMES = 'create table "v"("b" int, "" int, "\x1b[2J" int)'
_TWELVE = ", ".join(["t"] * 11)
_PRODUCTS = (
    "create view v as with t(b) as (values (1), (2), (3), (4), (5), (6), (7), (8))"
)
_TRIGGER = "create trigger g after insert on v begin delete from v; end"
_NO_AFFINITY = "insert into v values (1), ('1'), (x'31'), (1.5)"
_VIEWS = tuple(f"create view w{i} as select * from w{i - 1}" for i in range(1, 60))
# statements, and the cells of column b where they are known
_TABLES: tuple[tuple[tuple[str, ...], list[Any] | None], ...] = (
    (("create virtual table v using fts5(a)", "insert into v values ('x')"), None),
    (("create virtual table v using rtree(i, a, b)",), None),
    ((_GENERATED, "insert into v values (1), (2)"), None),
    (("create table v(b int) strict", "insert into v values (5), (6)"), [5.0, 6.0]),
    ((_WITHOUT_ROWID, "insert into v values (8), (7)"), [7.0, 8.0]),
    (("create table v(b)", _NO_AFFINITY), None),
    ((_ODD_NAMES, "insert into v values (1, 2, 3)"), None),
    (("create view w0 as select 1 as b", *_VIEWS), None),
    ((f"{_PRODUCTS} select x.b from t x, {_TWELVE}",), None),
    (("create view v as select value as b from json_each('[1, 2]')",), None),
    (("create table v(b int)", _TRIGGER, "insert into v values (1)"), None),
    (("create table v(b int)",), None),
    ((), None),
)


def _odd_database(rng: np.random.Generator) -> tuple[str, bytes, Cells | None]:
    """Kinds of tables that few databases have, and schemas that say something else."""
    statements, cells = _of(rng, *_TABLES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"pragma page_size = {_of(rng, 512, 4096, 65536)}")
            connection.execute(
                f"pragma encoding = '{_of(rng, 'UTF-8', 'UTF-16le', 'UTF-16be')}'"
            )
            for statement in statements:
                connection.execute(statement)
            damaged = rng.random() < 0.4
            if damaged:
                column, value = _of(
                    rng, ("sql", "create table v(b"), ("sql", "x" * 99_999), ("rootpage", 0),
                    ("rootpage", 2**31), ("rootpage", 1), ("name", ""), ("name", "sqlite_x"),
                    ("type", "zzz"), ("sql", "create view v as select * from v"), ("sql", None),
                    ("sql", "create table v(b collate nowhere, c default (load_extension('x')))"),
                )  # fmt: skip
                connection.execute("pragma writable_schema = on")
                connection.execute(f"update sqlite_schema set {column} = ?", (value,))
        content = path.read_bytes()
    known = None if cells is None or damaged else {"b": cells}
    return "t.sqlite", content, known


ATTACKS: dict[str, Attack] = {
    "odd types": _odd_types,
    "lying statistics": _lying_statistics,
    "encodings": _encodings,
    "growing dictionaries": _growing_dictionaries,
    "lying metadata": _lying_metadata,
    "line ends": _line_ends,
    "odd csv": _odd_csv,
    "json values": _json_values,
    "odd json": _odd_json,
    "frames": _frames,
    "odd book": _odd_book,
    "odd database": _odd_database,
}


def make() -> tuple[Path, ReadingProcess]:
    """A folder, and a process that reads with little memory."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read_cells, MEMORY + SPARE)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """One attack; where another reader knows the cells, they must be read, and be the same."""
    folder, read = shared
    name = list(ATTACKS)[rng.integers(len(ATTACKS))]
    file, content, wanted = ATTACKS[name](rng)
    for path in folder.iterdir():
        path.unlink()
    (folder / file).write_bytes(content)
    outcome = read(folder / file)
    if [path.name for path in folder.iterdir()] != [file]:
        raise Finding(f"{name}: reading left other files in the folder")
    if (folder / file).read_bytes() != content:
        raise Finding(f"{name}: {file} was changed by reading it")
    if wanted is None:
        return f"{name} {outcome.word}"
    if outcome.refusal:
        raise Finding(f"{name}: a whole file was refused: {outcome.refusal}")
    check_cells(outcome.value, wanted, "another reader")
    return f"{name} compared"
