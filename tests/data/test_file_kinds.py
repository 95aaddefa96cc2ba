"""Files of other kinds: workbooks, JSON lines, Arrow, packed text, SQLite and DuckDB files, lazy
frames."""

import base64
import bz2
import gzip
import json
import sqlite3
import zipfile
import zlib
from datetime import date, datetime, time, timedelta

import duckdb
import numpy as np
import openpyxl
import polars as pl
import pyarrow as pa
import pytest

from lyceum import scan
from lyceum._core.data import read_data
from lyceum.data import inspect
from lyceum.errors import DataError, DataWarning, MissingPackageError

OLD_WORKBOOK = (  # an .xls file, compressed, of numbers, text, dates and durations
    "eNrtWEtoU0EUPTMvSZPQ5mNToRVKKNhqbYXajQvbp1LtKqUK4oeCJk0WUkklulAXWq1ZCoIrxU2hXbipH/DvQnHjQq"
    "joQhCERpeuBAUXbZ537pvUtI3QQC1Y5oR7Z+bOzJmbmTsz7713M9HZiftNBSxBLywUnQB8ZTZBEigVIqB6x1HZUuon"
    "cQz+KwT8tJA+L57Xva1Ra6jWuwCJe55XpIEvJEM4jYHRbCa+htjLPiSF8qGHtMBtsoTQyF5tYD3Mup71XW75gvVutl"
    "xj3UNtZ8UxzNgD7Tt1FB+RLVwXguJ9zH0+saULDXijovjSdeG29WJP7mTy1HqpaPbUYhK00v2ZbCanymFMIQgcJXQm"
    "Ep19fbOIURRM4qcTB36UtvvLuLGvrV2A7L8W22v+YvfTIlayB7B9mf2G9ABjcE7wrspTm10eN0bOzKFNxQYLxU2SJE"
    "UyTJKm7XGuS6kdSnUH1V3AZ0dk0dlRx3uqlnQaYc5HeWdFyMe5O9/fJ1KD9nG2jPF94d4qm5VPcHBZ9aDOIa7xLOh2"
    "7rGN9RVm3cT5JtYxim5KWwcbdGb/OLe5yrWtNE4344PdVpbfQvn8twNPmvNf7a2Un+4vXIhNf7Qn0EJzkqb+6jeODt"
    "Ehbt1UeGqXUqFPoM+sG5edRn4Z0b47+uoMY15tM0KUtVtSsyMWSlLPlVuyqGRpLrGE66IMsi3Kc67aC+ZSc+XWSfLw"
    "wWsJi+ZSEE89DjGmbMUnK/BJ5gtqPnflvJpPMt8jzSfL+B4yn1WBz2K+kOazmM+n+Szme6b5LObT8Wn3ShpJOUPn+B"
    "8EYWBgYGBgYGBgsBoQ/NwJ/QQHfuLz6VcA9V1nnqRoPpOsWxzEKP3O0jviPmQpzeF8VfGzEV5R4hIr7FP6XqhwmEbP"
    "YQQp9mOk6vil9zBR/n9W3DGyeluo2vGL1fj5j8f/DeWk514="
)


def workbook(path, sheets):
    """An .xlsx file of sheets."""
    book = openpyxl.Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
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
    path = workbook(
        tmp_path / "t.xlsx", {"People": ROWS, "Towns": [["a", "b"], [1, 2], [3, 4]]}
    )
    assert scan(path, table="Towns").schema.names == ("a", "b")
    assert len(scan(path, table="Towns", header=False)) == 3
    with pytest.raises(
        DataError,
        match=r"has 2 sheets: say which, e\.g\. --table People; they are 'Peo",
    ):
        scan(path)
    with pytest.raises(DataError, match="has no sheet 'Town': did you mean 'Towns'"):
        scan(path, table="Town")


def test_a_name_that_appears_twice_in_a_workbook_gets_a_number_and_a_note(tmp_path):
    found = read_data(
        workbook(tmp_path / "t.xlsx", {"s": [["a", "b", "a"], [1, 2, 3]]})
    )
    assert found.table.to_pydict() == {"a": [1], "b": [2], "a.1": [3]}
    assert found.notes == ("column names appear twice: read as 'a.1' (named 'a')",)


def test_numbers_written_as_text_in_a_workbook_are_read(tmp_path):
    path = workbook(
        tmp_path / "t.xlsx", {"s": [["price", "y"], ["1.200,50 €", 1], ["3 €", 2]]}
    )
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


def test_times_of_day_and_durations_of_a_workbook_are_what_they_are(tmp_path):
    hours = [1, 1439, 1440, 0.5]
    times = [time(13, 45, 10), time(0, 0), time(23, 59, 59), time(6)]
    rows = [
        [timedelta(hours=n), at, date(1900, 1, day + 1)]
        for day, (n, at) in enumerate(zip(hours, times))
    ]
    path = workbook(tmp_path / "t.xlsx", {"s": [["lasts", "starts", "day"], *rows]})
    table = read_data(path).table
    assert table["lasts"].to_pylist() == [timedelta(hours=n) for n in hours]
    assert table["starts"].to_pylist() == times
    assert table["day"].to_pylist() == [date(1900, 1, day) for day in range(1, 5)]
    X = next(scan(path).blocks()).X
    assert X[:, 0].tolist() == [3600 * n for n in hours]
    assert X[:, 1].tolist() == [49_510, 0, 86_399, 21_600]


def test_whole_numbers_of_a_workbook_are_integers_while_they_are_exact(tmp_path):
    rows = [["a", "b", "c"], [1, 1, 2**53], [-3, 2.5, 2.0**60]]
    table = read_data(workbook(tmp_path / "t.xlsx", {"s": rows})).table
    assert table.schema.types == [pa.int64(), pa.float64(), pa.float64()]


def test_an_empty_column_of_a_workbook_has_no_name_and_is_left_out(tmp_path):
    rows = [[], ["a", None, None, 2020], [], [1, None, "x", 4]]
    table = read_data(workbook(tmp_path / "t.xlsx", {"s": rows})).table
    assert table.to_pydict() == {"a": [1], "column 3": ["x"], "2020": [4]}


def test_an_old_workbook_is_read(tmp_path):
    (tmp_path / "t.xls").write_bytes(zlib.decompress(base64.b64decode(OLD_WORKBOOK)))
    assert read_data(tmp_path / "t.xls").table.to_pydict() == {
        "a": [1, 2, 3],
        "b": ["x1", "x2", "x3"],
        "c": [date(2024, 1, day) for day in (1, 2, 3)],
        "d": [timedelta(hours=hours) for hours in (1, 2, 3)],
    }


def test_a_damaged_old_workbook_is_an_error(tmp_path):
    content = zlib.decompress(base64.b64decode(OLD_WORKBOOK))
    (tmp_path / "t.xls").write_bytes(content[:3700])
    with pytest.raises(DataError, match=r"t\.xls is damaged"):
        scan(tmp_path / "t.xls")


def test_an_opendocument_sheet_is_read(tmp_path):
    cells = [
        ("string", "<text:p>a</text:p>"),
        ("string", "<text:p>b</text:p>"),
        ('float" office:value="1.5', ""),
        ('date" office:date-value="2024-03-01', ""),
    ]
    texts = [f'<table:table-cell office:value-type="{kind}">{text}</table:table-cell>'
             for kind, text in cells]  # fmt: skip
    rows = "".join(
        f"<table:table-row>{''.join(row)}</table:table-row>"
        for row in (texts[:2], texts[2:])
    )
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    sheet = f'<table:table table:name="s">{rows}</table:table>'
    body = (
        f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    )
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest:manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content{names}>{body}</office:document-content>",
        )
    table = read_data(tmp_path / "t.ods").table
    assert table.to_pydict() == {"a": [1.5], "b": [date(2024, 3, 1)]}


def test_a_workbook_without_its_package_names_the_extra(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", {"s": [["a"], [1]]})
    monkeypatch.setattr("lyceum._core.packages._is_installed", lambda package: False)
    with pytest.raises(
        MissingPackageError, match=r'needs python_calamine.*"lyceum-ml\[excel\]"'
    ):
        scan(path)


LINES = [
    {"a": 1, "b": "x"},
    {"a": 2.5, "b": "NA", "c": True},
    {"a": None, "b": "y", "c": False},
]


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.jsonl.gz", "t.json"])
def test_json_lines_are_read(tmp_path, name):
    text = (
        json.dumps(LINES)
        if name == "t.json"
        else "".join(json.dumps(one) + "\n" for one in LINES)
    )
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = read_data(tmp_path / name).table.to_pydict()
    assert found == {
        "a": [1.0, 2.5, None],
        "b": ["x", None, "y"],
        "c": [None, True, False],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1, 2]}\n', "'a' holds a list or an object: .* flatten it first"),
        ('{"a": {"b": 1}}\n', "'a' holds a list or an object"),
        ('{"a": 1}\nnot json\n', "is not a JSON file of rows: line 2"),
        ('[{"a": 1}]\xea', "line 1 is not UTF8 text"),
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
    (tmp_path / "t.jsonl").write_text(
        '{"a": 1}\n{"a": "x"}\n{"a": 100000000000000000000}\n'
    )
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
    assert np.concatenate([block.X for block in rows.blocks()])[:, 0].tolist() == [
        1.5,
        2.5,
        3.5,
    ]


@pytest.mark.parametrize("name", ["t.sqlite", "t.db", "t"])
def test_sqlite_tables_are_read(tmp_path, name):
    path = str(tmp_path / name)
    connection = sqlite3.connect(path)
    connection.execute(
        'create table "my people" (id integer, age real, town text, empty text)'
    )
    rows = [(2**60 + 1, 1.5, "Ulm", None), (2, None, "?", None), (3, 2.0, "Bonn", None)]
    connection.executemany('insert into "my people" values (?, ?, ?, ?)', rows)
    connection.commit()
    assert read_data(path).table.to_pydict() == {
        "id": [2**60 + 1, 2, 3], "age": [1.5, None, 2.0], "town": ["Ulm", None, "Bonn"],
        "empty": [None] * 3,
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
        connection.execute(
            "create table people as values (1.5::double, 'x'), (2.5, 'y')"
        )
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
    [("t.pkl", "run any code"), ("t.zip", "unpack")],
)
def test_other_files_say_what_to_do(tmp_path, name, hint):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DataError, match=f"cannot read .*{name}: .*{hint}"):
        scan(tmp_path / name)
