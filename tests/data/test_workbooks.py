"""Workbooks beside openpyxl, and what their parts declare: far cells, damage, lost digits."""

import io
import re
import struct
import zipfile
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pytest
from fuzz.workbooks import Book, difference, draw_book, expected, table_of

from lyceum._core.data import read_data, reading_limits
from lyceum.data import FileFormat
from lyceum.errors import DataError

pytest.importorskip("python_calamine")
FILES = Path(__file__).parent / "files"


@pytest.fixture
def path(tmp_path):
    """The path of a workbook to be written."""
    return tmp_path / "t.xlsx"


def book(*columns):
    """A workbook of columns: a kind, then values."""
    cells = {}
    for j, (kind, *values) in enumerate(columns):
        cells[0, j] = ("title", f"c{j}")
        cells |= {(i + 1, j): (kind, value) for i, value in enumerate(values)}
    return Book(cells, tuple(cells))


def changed_part(content, part, change):
    """The workbook with a part replaced by what `change` makes of it."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name == part else data)
    return stream.getvalue()


SHEET = "xl/worksheets/s0.xml"


# -- beside openpyxl -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(100))
def test_a_workbook_is_read_as_openpyxl_reads_it(path, seed):
    pytest.importorskip("openpyxl")
    content = draw_book(np.random.default_rng(seed)).write()
    path.write_bytes(content)
    wanted = expected(content)
    if not wanted or not next(iter(wanted.values())):
        with pytest.raises(DataError, match="no rows"):
            table_of(str(path))
        return
    assert difference(table_of(str(path)), wanted) == ""


@pytest.mark.parametrize("seed", range(20))
def test_strict_workbooks_hold_the_same(path, seed):
    drawn = draw_book(np.random.default_rng([seed, 1]))
    tables = []
    for strict in (False, True):
        path.write_bytes(replace(drawn, strict=strict).write())
        try:
            tables.append(table_of(str(path)))
        except DataError as error:
            tables.append(str(error))
    assert tables[0] == tables[1]


@pytest.mark.parametrize("name", ["kinds.xls", "kinds.ods"])
def test_other_formats_hold_the_same(name):
    # written by LibreOffice Calc 7.4, which stores true and false of .ods files as formulas
    table = read_data(FILES / name, FileFormat(table="kinds")).table.to_pydict()
    hours = (1, 25, 1439, 1440)
    assert table["date"] == [date(2020, 1, i) for i in range(1, 5)]
    assert table["moment"] == [datetime(2021, 2, 3, 4, 5, 6 + i) for i in range(4)]
    assert table["time"] == [time(1 + i, 2, 3) for i in range(4)]
    assert table["duration"] == [timedelta(hours=n) for n in hours]
    assert table["number"] == [0.5, 1.5, 2.5, 3.5]
    assert table["whole"] == [1, 10, 100, 1000]
    assert table["text"] == ["a", "é", "x & y", "日本"]
    assert table["truth"] == [1, 0, 1, 0]
    assert table["formula"] == [1, 3, 5, 7]
    assert table["error"] == [None, None, 5, 6]
    second = read_data(FILES / name, FileFormat(table="second")).table.to_pydict()
    assert second == {
        "u": [1, 3, None],
        "v": [2, None, None],
        "column 4": [None, None, 7],
    }
    with pytest.raises(DataError, match="is empty"):
        read_data(FILES / name, FileFormat(table="blank"))


def record(kind, content=b""):
    """A record of an .xlsb part: number and length, seven bits to a byte."""
    number = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return number + length + content


def wide(text):
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def part_relations(**targets):
    """The part that says which others a workbook is made of: kinds and their paths."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    inside = "".join(
        f'<Relationship Id="r{i}" Type="{kinds}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets.items())
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{inside}</Relationships>'


# numbers of formats in an .xlsb file: as it is, date, date and time, time, duration
FORMATS = (0, 14, 22, 21, 46)


def binary_book(rows, from_1904=False):
    """An .xlsb file of one sheet with these texts and numbers, or (format, number), by row and
    column."""
    sheet = record(129) + record(148, struct.pack("<4I", 0, 0, 0, 0)) + record(145)
    for row, cells in rows.items():
        sheet += record(0, struct.pack("<I", row) + bytes(13))
        for column, cell in cells.items():
            if isinstance(cell, str):
                sheet += record(6, struct.pack("<II", column, 0) + wide(cell))
            else:
                style, number = cell if isinstance(cell, tuple) else (0, cell)
                place = struct.pack("<II", column, FORMATS.index(style))
                sheet += record(5, place + struct.pack("<d", number))
    sheet += record(146) + record(130)
    properties = record(153, struct.pack("<III", from_1904, 0, 0))
    bundle = struct.pack("<II", 0, 1) + wide("r0") + wide("s0")
    sheets = record(143) + record(156, bundle) + record(144)
    kinds = (record(47, struct.pack("<HH", 0, style) + bytes(12)) for style in FORMATS)
    styles = record(617, struct.pack("<I", len(FORMATS))) + b"".join(kinds)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            part_relations(worksheet="worksheets/sheet1.bin", styles="styles.bin"),
        )
        archive.writestr(
            "xl/workbook.bin", record(131) + properties + sheets + record(132)
        )
        archive.writestr(
            "xl/styles.bin", record(278) + styles + record(618) + record(279)
        )
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
    return stream.getvalue()


def test_binary_workbooks_are_read(tmp_path):
    path = tmp_path / "t.xlsb"
    rows = {0: {0: "a", 1: "b"}, 1: {0: 1.5, 1: "x"}, 2: {0: -2.0, 1: "y"}}
    path.write_bytes(binary_book(rows))
    assert read_data(path).table.to_pydict() == {"a": [1.5, -2.0], "b": ["x", "y"]}


HOURS = (0, 1, 24, 25, 1439, 1440, 1441)
EPOCHS = [(False, datetime(1899, 12, 30)), (True, datetime(1904, 1, 1))]


@pytest.mark.parametrize(("from_1904", "epoch"), EPOCHS)
def test_dates_and_durations_of_binary_workbooks(tmp_path, from_1904, epoch):
    path = tmp_path / "t.xlsb"
    rows = {0: dict(enumerate(["date", "moment", "time", "duration"]))}
    for i, n in enumerate(HOURS):
        numbers = (14, 61 + n), (22, 40_000.25 + n), (21, i / 24), (46, n / 24)
        rows[i + 1] = dict(enumerate(numbers))
    path.write_bytes(binary_book(rows, from_1904))
    assert read_data(path).table.to_pydict() == {
        "date": [(epoch + timedelta(61 + n)).date() for n in HOURS],
        "moment": [epoch + timedelta(40_000.25 + n) for n in HOURS],
        "time": [time(i) for i in range(len(HOURS))],
        "duration": [timedelta(hours=n) for n in HOURS],
    }


def test_an_old_workbook_from_1904_has_other_dates_and_the_same_durations(tmp_path):
    content = (FILES / "kinds.xls").read_bytes()
    # the record DateMode: its number, its length, and 0 for 1900
    before = struct.pack("<HHH", 0x22, 2, 0)
    assert content.count(before) == 1
    path = tmp_path / "t.xls"
    path.write_bytes(content.replace(before, struct.pack("<HHH", 0x22, 2, 1)))
    table = read_data(path, FileFormat(table="kinds")).table.to_pydict()
    shift = timedelta(days=1462)
    assert table["date"] == [date(2020, 1, i) + shift for i in range(1, 5)]
    assert table["moment"] == [
        datetime(2021, 2, 3, 4, 5, 6 + i) + shift for i in range(4)
    ]
    assert table["time"] == [time(1 + i, 2, 3) for i in range(4)]
    assert table["duration"] == [timedelta(hours=n) for n in (1, 25, 1439, 1440)]


# -- far cells and bombs ---------------------------------------------------------------


def test_a_far_cell_of_a_binary_workbook_is_refused(tmp_path):
    path = tmp_path / "t.xlsb"
    path.write_bytes(binary_book({0: {0: "a"}, 1: {0: 1.0}, 1_048_575: {16_383: 2.0}}))
    with pytest.raises(DataError, match=r"row 1,048,576, column 16,384 of its sheet"):
        read_data(path)


def test_a_far_cell_is_refused_before_its_grid_is_made(path):
    cells = {(0, 0): ("title", "a"), (1, 0): ("number", 1.0)}
    cells[1_048_575, 16_383] = ("number", 2.0)
    path.write_bytes(Book(cells, tuple(cells)).write())
    assert path.stat().st_size < 5000
    with pytest.raises(DataError, match=r"17,179,869,184 cells .* about 1,718 GB"):
        read_data(path)


def test_a_cell_that_is_far_but_fits_is_read(path):
    cells = {(0, 0): ("title", "a"), (2000, 100): ("number", 2.0)}
    path.write_bytes(Book(cells, tuple(cells)).write())
    assert read_data(path).table.column_names == ["a", "column 101"]


def ods(rows):
    """An .ods file of one table with these rows, as XML."""
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content{spaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="t">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return stream.getvalue()


def test_cells_that_are_repeated_too_often_are_refused(tmp_path):
    path = tmp_path / "t.ods"
    cell = '<table:table-cell {} office:value-type="float" office:value="1"/>'
    repeated = cell.format('table:number-columns-repeated="16384"')
    path.write_bytes(
        ods(
            f"<table:table-row>{cell.format('')}</table:table-row>"
            f'<table:table-row table:number-rows-repeated="1048575">{repeated}</table:table-row>'
        )
    )
    with pytest.raises(DataError, match=r"17,179,869,184 cells of its tables"):
        read_data(path)


def test_a_part_that_is_longer_than_it_says_is_refused(path):
    content = bytearray(book(("inline", *["x" * 1000] * 500)).write())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        info = archive.getinfo(SHEET)
    # the size in the directory at the end, which readers go by
    place = content.rindex(struct.pack("<I", info.file_size))
    content[place : place + 4] = struct.pack("<I", 1000)
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"its part {SHEET} is not what was written"):
        read_data(path)


def test_parts_beyond_memory_are_refused_before_they_are_unpacked(path):
    content = changed_part(
        book(("number", 1.0)).write(), SHEET, lambda data: data + b" " * (64 << 20)
    )
    assert len(content) < 1 << 20
    path.write_bytes(content)
    with reading_limits(memory=100 << 20), pytest.raises(DataError, match="its parts"):
        read_data(path)


# -- what would be silently wrong ------------------------------------------------------


def test_digits_that_a_float_would_lose_are_refused_by_cell(path):
    path.write_bytes(book(("whole", 7, 2**53 + 1)).write())
    with pytest.raises(DataError, match=f"cell A3 holds {2**53 + 1}, more digits"):
        read_data(path)
    path.write_bytes(book(("whole", 7, 2**54)).write())
    assert read_data(path).table["c0"].to_pylist() == [7, 2**54]


def test_a_time_below_zero_is_refused_by_cell(path):
    path.write_bytes(book(("number", -1.0, -2.0), ("time", 0.5, -0.25)).write())
    with pytest.raises(DataError, match="cell B3 is a date or a time below zero"):
        read_data(path)


def test_durations_below_zero_are_read(path):
    path.write_bytes(book(("duration", 0.5, -0.25)).write())
    lengths = read_data(path).table["c0"].to_pylist()
    assert lengths == [timedelta(hours=12), timedelta(hours=-6)]


def test_times_of_a_day_or_more_are_durations(path):
    path.write_bytes(book(("time", 0.5, 25 / 24, 2.0)).write())
    lengths = read_data(path).table["c0"].to_pylist()
    assert lengths == [timedelta(hours=n) for n in (12, 25, 48)]


def test_formulas_without_stored_values_are_noted(path):
    content = changed_part(
        book(("formula", 1.0, 2.0), ("number", 3.0, 4.0)).write(),
        SHEET,
        lambda data: re.sub(rb"</f><v>1.0</v>", b"</f>", data),
    )
    path.write_bytes(content)
    data = read_data(path)
    assert data.table["c0"].to_pylist() == [None, 2]
    assert "1 formula without a stored value, read as missing" in data.notes[0]


def test_merged_cells_are_noted(path):
    merged = b'</sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    content = changed_part(
        book(("number", 1.5), ("number", 3.0, 4.0)).write(),
        SHEET,
        lambda data: data.replace(b"</sheetData>", merged),
    )
    path.write_bytes(content)
    data = read_data(path)
    assert data.table["c0"].to_pylist() == [1.5, None]
    assert "1 area of merged cells" in data.notes[0]


def test_a_duration_that_no_calendar_has_is_refused(path):
    path.write_bytes(book(("duration", 2147483647.0)).write())
    with pytest.raises(DataError, match=r"t\.xlsx is damaged"):
        read_data(path)


# -- damage ----------------------------------------------------------------------------


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "xl/styles.xml"])
def test_a_damaged_part_is_named(path, part):
    content = bytearray(book(("number", 1.0, 2.0)).write())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        info = archive.getinfo(part)
    middle = info.header_offset + 30 + len(part) + info.compress_size // 2
    content[middle] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"t\.xlsx is damaged.*{part}"):
        read_data(path)


def test_deep_xml_is_read(path):
    content = changed_part(
        book(("number", 1.0)).write(),
        SHEET,
        lambda data: data.replace(b"<sheetData>", b"<a>" * 200_000 + b"<sheetData>"),
    )
    path.write_bytes(content)
    # what stands around the rows is passed over
    assert read_data(path).table.num_rows == 1
