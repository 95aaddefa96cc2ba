"""Files of other kinds: workbooks, JSON lines, Arrow, packed text, SQLite and DuckDB files, lazy
frames."""

import bz2
import gzip
import json
import sqlite3
import zipfile
from datetime import date, datetime

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from lyceum import scan
from lyceum._core.data import read_data
from lyceum.data import inspect
from lyceum.errors import DataError, DataWarning

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(path, sheets):
    """An .xlsx file of sheets: strings shared and inline, numbers, dates (style 1), true/false and
    errors."""
    texts = []

    def cell(value, place):
        at = f'r="{place}"'
        if isinstance(value, bool):
            return f'<c {at} t="b"><v>{int(value)}</v></c>'
        if isinstance(value, datetime | date):
            days = (datetime(value.year, value.month, value.day) - datetime(1899, 12, 30)).days
            days += value.hour / 24 if isinstance(value, datetime) else 0
            return f'<c {at} s="1"><v>{days}</v></c>'
        if value == "#N/A":
            return f'<c {at} t="e"><v>#N/A</v></c>'
        if isinstance(value, str) and len(texts) % 2:
            texts.append(value)
            return f'<c {at} t="s"><v>{len(texts) - 1}</v></c>'
        if isinstance(value, str):
            texts.append(value)
            return (
                f"<c {at}"
                f' t="inlineStr"><is><r><t>{value[:1]}</t></r><r><t>{value[1:]}</t></r></is></c>'
            )
        return "" if value is None else f"<c {at}><v>{value!r}</v></c>"

    def line(number, row):
        cells = "".join(cell(value, f"{chr(65 + j)}{number}") for j, value in enumerate(row))
        return f'<row r="{number}">{cells}</row>'

    listed = "".join(f'<sheet name="{name}" r:id="r{i}"/>' for i, name in enumerate(sheets))
    places = "".join(
        f'<Relationship Id="r{i}" Target="worksheets/{i}.xml"/>' for i in range(len(sheets))
    )
    codes = '<numFmts><numFmt numFmtId="170" formatCode="[Red]yyyy\\-mm"/></numFmts>'
    styles = f'{codes}<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs>'
    parts = {
        "xl/workbook.xml": (
            f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{listed}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": f"<Relationships>{places}</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>',
    }
    for i, rows in enumerate(sheets.values()):
        lines = "".join(line(r + 1, row) for r, row in enumerate(rows))
        parts[f"xl/worksheets/{i}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
        )
    shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{shared}</sst>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return str(path)


ROWS = [
    ["age", "town", "when", "ok", "mixed", "share"],
    [31, "Ulm", date(2024, 3, 1), True, 1, 0.5],
    [None, "Bonn", date(2024, 3, 2), False, "two", "#N/A"],
    [],
    [45.5, "NA", datetime(2024, 3, 2, 12), True, 3, 0.25],
]


def test_a_workbook_is_read(tmp_path):
    table = read_data(workbook(tmp_path / "t.xlsx", {"People": ROWS})).table
    assert table.to_pydict() == {
        "age": [31.0, None, 45.5],
        "town": ["Ulm", "Bonn", None],
        "when": [datetime(2024, 3, 1), datetime(2024, 3, 2), datetime(2024, 3, 2, 12)],
        "ok": [True, False, True],
        "mixed": ["1", "two", "3"],
        "share": [0.5, None, 0.25],
    }


def test_a_sheet_is_chosen_and_named_when_it_is_not(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"People": ROWS, "Towns": [["a", "b"], [1, 2], [3, 4]]})
    assert scan(path, table="Towns").schema.names == ("a", "b")
    assert len(scan(path, table="Towns", header=False)) == 3
    with pytest.raises(
        DataError, match=r"has 2 sheets: say which, e\.g\. --table People; they are 'Peo"
    ):
        scan(path)
    with pytest.raises(DataError, match="has no sheet 'Town': did you mean 'Towns'"):
        scan(path, table="Town")


def test_a_name_that_appears_twice_in_a_workbook_gets_a_number_and_a_note(tmp_path):
    found = read_data(workbook(tmp_path / "t.xlsx", {"s": [["a", "b", "a"], [1, 2, 3]]}))
    assert found.table.to_pydict() == {"a": [1], "b": [2], "a.1": [3]}
    assert found.notes == ("column names appear twice: read as 'a.1' (named 'a')",)


def test_numbers_written_as_text_in_a_workbook_are_read(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"s": [["price", "y"], ["1.200,50 €", 1], ["3 €", 2]]})
    with pytest.warns(DataWarning, match=r"'1\.200,50 €' as 1200\.5"):
        assert scan(path).schema["price"].is_categorical  # two numbers
    assert read_data(path).table["price"].to_pylist() == [1200.5, 3.0]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"a,b\n1,2\n"])
def test_a_damaged_workbook_is_an_error(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(
        DataError, match=r"t\.xlsx is damaged, protected by a password or not an Excel"
    ):
        scan(tmp_path / "t.xlsx")


def test_a_workbook_with_entities_is_refused(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"s": [["a"], [1]]})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/0.xml"] = b'<!DOCTYPE x [<!ENTITY a "b">]>' + parts["xl/worksheets/0.xml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match="declares entities"):
        scan(path)


LINES = [{"a": 1, "b": "x"}, {"a": 2.5, "b": "NA", "c": True}, {"a": None, "b": "y", "c": False}]


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.jsonl.gz", "t.json"])
def test_json_lines_are_read(tmp_path, name):
    text = (
        json.dumps(LINES) if name == "t.json" else "".join(json.dumps(one) + "\n" for one in LINES)
    )
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = read_data(tmp_path / name).table.to_pydict()
    assert found == {"a": [1.0, 2.5, None], "b": ["x", None, "y"], "c": [None, True, False]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1, 2]}\n', "'a' holds a list or an object: .* flatten it first"),
        ('{"a": {"b": 1}}\n', "'a' holds a list or an object"),
        ('{"a": 1}\nnot json\n', "is not a file of one JSON object per line"),
        ('[{"a": 1}]\xea', "is not a JSON file of rows"),
        ("[1, 2]", "is not a list of JSON objects"),
        ("[1, ", "is not a JSON file of rows"),
        ("", "is empty"),
    ],
)
def test_json_that_is_no_table_says_so(tmp_path, text, message):
    (tmp_path / "t.jsonl").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        scan(tmp_path / "t.jsonl")


def test_json_columns_may_mix_numbers_and_text(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n{"a": "x"}\n{"a": 100000000000000000000}\n')
    assert read_data(tmp_path / "t.jsonl").table["a"].to_pylist() == [
        "1",
        "x",
        "100000000000000000000",
    ]


@pytest.mark.parametrize("kind", ["file", "stream", "feather"])
def test_arrow_files_are_read(tmp_path, kind):
    table = pa.table({"a": [1.5, 2.5, None], "b": ["x", "y", "x"]})
    path = str(tmp_path / ("t.feather" if kind == "feather" else "t.arrow"))
    if kind == "feather":
        import pyarrow.feather as feather

        feather.write_feather(table, path)
    else:
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with pa.OSFile(path, "wb") as sink, new(sink, table.schema) as writer:
            writer.write_table(table)
    assert read_data(path).table.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("memory", [0, 1 << 30])
@pytest.mark.parametrize("packed", ["gz", "bz2", "zst"])
def test_packed_text_is_read(tmp_path, packed, memory):
    data = b"a;b\n1,5;x\n2,5;y\n3,5;x\n"
    path = tmp_path / f"t.csv.{packed}"
    if packed == "zst":
        with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd") as sink:
            sink.write(data)
    else:
        path.write_bytes(gzip.compress(data) if packed == "gz" else bz2.compress(data))
    with pytest.warns(DataWarning, match="decimal commas"):
        rows = scan(path, memory=memory)
    assert np.concatenate([block.X for block in rows.blocks()])[:, 0].tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("name", ["t.sqlite", "t.db", "t"])
def test_sqlite_tables_are_read(tmp_path, name):
    path = str(tmp_path / name)
    connection = sqlite3.connect(path)
    connection.execute('create table "my people" (id integer, age real, town text, empty text)')
    rows = [(2**60 + 1, 1.5, "Ulm", None), (2, None, "?", None), (3, 2.0, "Bonn", None)]
    connection.executemany('insert into "my people" values (?, ?, ?, ?)', rows)
    connection.commit()
    assert read_data(path).table.to_pydict() == {
        "id": [2**60 + 1, 2, 3], "age": [1.5, None, 2.0], "town": ["Ulm", None, "Bonn"], "empty": [None] * 3,
    }  # fmt: skip
    connection.execute("create view old as select age from 'my people'")
    connection.commit()
    connection.close()
    assert scan(path, table="old").schema.names == ("age",)
    with pytest.raises(DataError, match=r"has 2 tables: say which.*'my people', 'old'"):
        scan(path)


def test_duckdb_tables_are_read(tmp_path):
    path = str(tmp_path / "t.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("create table people as values (1.5::double, 'x'), (2.5, 'y')")
    assert read_data(path).table.to_pydict() == {"col0": [1.5, 2.5], "col1": ["x", "y"]}
    with pytest.raises(DataError, match="has no table 'peple': did you mean 'people'"):
        scan(path, table="peple")


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb", "t.db"])
def test_a_file_that_is_no_database_is_an_error(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataError, match="is not an SQLite or DuckDB file"):
        scan(tmp_path / name)


def test_a_lazy_frame_is_collected(tmp_path):
    frame = pl.DataFrame({"a": [1.5, 2.5, 3.5], "b": ["x", "y", "x"]})
    lazy = scan(frame.lazy().filter(pl.col("a") < 3), target="b")
    assert len(lazy) == 2
    assert inspect(frame.lazy()).n_rows == 3


@pytest.mark.parametrize(
    ("name", "hint"),
    [("t.xls", r"save it as \.xlsx"), ("t.pkl", "run any code"), ("t.zip", "unpack")],
)
def test_other_files_say_what_to_do(tmp_path, name, hint):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DataError, match=f"cannot read .*{name}: .*{hint}"):
        scan(tmp_path / name)
