"""Numbers below zero that are shown as dates or times, and digits that a number of a sheet cannot
hold, in every kind of workbook: read as they are, or refused by their cell."""

import re
import struct
from datetime import time, timedelta
from pathlib import Path

import pytest
from tests.data.test_workbooks import (
    SHEET,
    binary_book,
    book,
    changed_part,
    ods,
    record,
)

from lyceum._core.data import read_data
from lyceum._core.data.files.workbooks.parts import address
from lyceum._core.data.files.workbooks.records import old_negative_cells
from lyceum.data import FileFormat
from lyceum.errors import DataError

pytest.importorskip("python_calamine")
FILES = Path(__file__).parent / "files"
HALF_DAYS = [timedelta(hours=12), timedelta(hours=-6), timedelta(hours=-36)]


# -- .xlsx -----------------------------------------------------------------------------


def test_a_time_below_zero_without_an_address_is_refused(tmp_path):
    path = tmp_path / "t.xlsx"
    content = book(("number", -1.0, -2.0), ("time", 0.5, -0.25)).write()
    path.write_bytes(
        changed_part(content, SHEET, lambda data: data.replace(b' r="B3"', b""))
    )
    with pytest.raises(DataError, match="cell B3 is a date or a time below zero"):
        read_data(path)


@pytest.mark.parametrize(
    "value",
    [
        "\n15",
        "15 ",
        "<![CDATA[15]]>",
        "&#49;5",
        "1<!-- -->5",
        "<?x?>15",
        "1<![CDATA[5]]>",
    ],
)
def test_values_that_are_not_plain_numbers_are_refused(tmp_path, value):
    # calamine takes them for texts, nothing, or the first piece alone
    path = tmp_path / "t.xlsx"
    content = book(("number", 7.0, 15.0)).write()
    path.write_bytes(
        changed_part(content, SHEET, lambda data: data.replace(b"15.0", value.encode()))
    )
    with pytest.raises(DataError, match="values that are not plain numbers or text"):
        read_data(path)


def test_blanks_and_signs_by_number_in_the_text_of_a_formula_are_read(tmp_path):
    path = tmp_path / "t.xlsx"
    cell = b'<c r="A2" t="str"><f>B1 &amp; "x"</f><v> a &amp; b&#10; </v></c>'
    content = book(("number", 7.0)).write()
    path.write_bytes(
        changed_part(
            content,
            SHEET,
            lambda data: re.sub(rb'<c r="A2".*?</c>', lambda _: cell, data),
        )
    )
    assert read_data(path).table["c0"].to_pylist() == [" a & b\n "]


def test_addresses_go_on_after_z():
    assert [address(0, j) for j in (0, 25, 26, 701, 702, 16_383)] == [
        "A1", "Z1", "AA1", "ZZ1", "AAA1", "XFD1",
    ]  # fmt: skip


# -- .xls ------------------------------------------------------------------------------


def old_sheet(name):
    # written by xlwt 1.3
    return read_data(FILES / "below_zero.xls", FileFormat(table=name)).table.to_pydict()


@pytest.mark.parametrize(("sheet", "cell"), [("times", "B3"), ("dates", "A3")])
def test_a_time_below_zero_of_an_old_workbook_is_refused_by_cell(sheet, cell):
    with pytest.raises(DataError, match=f"cell {cell} is a date or a time below zero"):
        old_sheet(sheet)


def test_durations_below_zero_and_all_digits_of_an_old_workbook_are_read():
    table = old_sheet("durations")
    assert table["d"] == HALF_DAYS
    # a double in the file: no digit is lost
    assert table["n"] == [2**53 + 2, -1.0, -(2**60)]


def test_numbers_below_zero_beside_times_of_an_old_workbook_are_read():
    assert old_sheet("above") == {"t": [time(12), time(6)], "n": [-1.0, -0.5]}


def old_record(kind, content=b""):
    return struct.pack("<HH", kind, len(content)) + content


def old_cells():
    """The stream of an .xls workbook with a chart and a sheet of all records of numbers."""
    sheet = old_record(0x809, bytes(16))
    numbers = {(0, 0): -2.0, (0, 1): 2.0, (0, 2): -0.0, (1, 300): -1e300}
    for (row, column), number in numbers.items():
        sheet += old_record(0x203, struct.pack("<HHHd", row, column, 0, number))
    # a chart inside of the sheet ends before the sheet does
    sheet += old_record(0x809, bytes(16)) + old_record(0x0A)
    short = struct.pack("<I", (-25 << 2 | 2) & 0xFFFFFFFF)  # the whole number -25
    sheet += old_record(0x27E, struct.pack("<HHH", 2, 4, 0) + short)
    # several in a row: 25, -25, the upper half of -1.0
    several = [struct.pack("<I", 25 << 2 | 2), short, struct.pack("<I", 0xBFF00000)]
    styled = b"".join(b"\0\0" + number for number in several)
    sheet += old_record(0xBD, struct.pack("<HH", 3, 7) + styled + struct.pack("<H", 9))
    # formulas: a number, and one whose result is a text
    sheet += old_record(0x06, struct.pack("<HHHd", 4, 0, 0, -3.5) + bytes(8))
    sheet += old_record(0x06, struct.pack("<HHH", 4, 1, 0) + b"\0" * 6 + b"\xff\xff")
    sheet += old_record(0x0A)
    head = old_record(0x809, bytes(16))
    sheets = b"".join(
        old_record(0x85, struct.pack("<IBB", start, 0, kind) + b"\1\0s")
        for start, kind in ((0, 2), (len(head) + 2 * 13 + 4, 0))
    )
    return head + sheets + old_record(0x0A) + sheet


def compound_file(stream, most_small=4096):
    """A compound file of 512-byte sectors whose stream is in small sectors of 64 bytes, unless it
    has `most_small` bytes or more. The sectors stand in reverse order."""
    is_small = len(stream) < most_small
    n_data = -(-len(stream) // 512)
    n_small = 8 * n_data
    # sectors: the chains, the directory, the small chains, the data from last to first
    data = range(3, 3 + n_data)[::-1]
    chains = [0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFE] + [0] * n_data
    for number, following in zip(data, [*data[1:], 0xFFFFFFFE]):
        chains[number] = following
    small = [*range(1, n_small), 0xFFFFFFFE]
    first, root = (0, data[0]) if is_small else (data[0], 0xFFFFFFFE)

    def entry(name, kind, start, size):
        title = name.encode("utf-16-le").ljust(64, b"\0")
        middle = struct.pack("<HBB3I36x", 2 * len(name) + 2, kind, 1, *[0xFFFFFFFF] * 3)
        return title + middle + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, root, 512 * n_data)
    directory += entry("Workbook", 2, first, len(stream))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(24, b"\0")
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIII", 0, 1, 1, 0)
    header += struct.pack("<IIIII", most_small, 2, 1, 0xFFFFFFFE, 0)
    header += struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)
    padded = stream.ljust(512 * n_data, b"\0")
    pieces = [padded[i : i + 512] for i in range(0, len(padded), 512)][::-1]
    tables = [chains, small]
    written = [struct.pack(f"<{len(t)}I", *t).ljust(512, b"\xff") for t in tables]
    return b"".join(
        [header, written[0], directory.ljust(512, b"\0"), written[1], *pieces]
    )


@pytest.mark.parametrize("most_small", [1, 4096])
def test_numbers_below_zero_are_found_in_all_records_of_an_old_workbook(most_small):
    found = old_negative_cells(compound_file(old_cells(), most_small), 0)
    assert found == {(0, 0), (1, 300), (2, 4), (3, 8), (3, 9), (4, 0)}


def test_parts_of_an_old_workbook_that_do_not_fit_end_in_errors_of_their_own():
    content = compound_file(old_cells())
    for length in range(0, len(content), 7):
        with pytest.raises((IndexError, struct.error)):
            old_negative_cells(content[:length], 3)


# -- .xlsb -----------------------------------------------------------------------------


def binary_times(cells, code=20):
    """An .xlsb file whose numbers below a title are shown by a format of Excel's, e.g. h:mm."""
    content = binary_book({0: {0: "c"}, **{i + 1: {0: c} for i, c in enumerate(cells)}})
    styles = record(0x269, struct.pack("<I", 1)) + record(
        0x2F, struct.pack("<HH", 0, code) + bytes(12)
    )
    return changed_part(content, "xl/styles.bin", lambda _: styles + record(0x26A))


def test_a_time_below_zero_of_a_binary_workbook_is_refused_by_cell(tmp_path):
    path = tmp_path / "t.xlsb"
    path.write_bytes(binary_times([0.5, 0.25]))
    assert read_data(path).table["c"].to_pylist() == [time(12), time(6)]
    path.write_bytes(binary_times([0.5, -0.25]))
    with pytest.raises(DataError, match="cell A3 is a date or a time below zero"):
        read_data(path)


def test_durations_below_zero_and_all_digits_of_a_binary_workbook_are_read(tmp_path):
    path = tmp_path / "t.xlsb"
    path.write_bytes(binary_times([0.5, -0.25, -1.5], code=46))
    assert read_data(path).table["c"].to_pylist() == HALF_DAYS
    path.write_bytes(
        binary_book({0: {0: "c"}, 1: {0: 2.0**53 + 2}, 2: {0: -(2.0**60)}})
    )
    assert read_data(path).table["c"].to_pylist() == [2**53 + 2, -(2**60)]


# -- .ods ------------------------------------------------------------------------------


def table_rows(kind, *values, repeats=1):
    """Rows of an .ods table of one column, the first one the title."""
    attribute = {"float": "value", "time": "time-value", "date": "date-value"}[kind]
    title = '<table:table-cell office:value-type="string" office:string-value="c"/>'
    cells = [
        f'<table:table-cell office:value-type="{kind}" office:{attribute}="{value}"/>'
        for value in values
    ]
    repeated = f' table:number-rows-repeated="{repeats}"'
    rows = [f"<table:table-row>{title}</table:table-row>"]
    return "".join(
        rows + [f"<table:table-row{repeated}>{c}</table:table-row>" for c in cells]
    )


def table_cells(tmp_path, rows):
    path = tmp_path / "t.ods"
    path.write_bytes(ods(rows))
    return read_data(path).table["c"].to_pylist()


def test_durations_below_zero_of_an_open_document_are_read(tmp_path):
    rows = table_rows("time", "PT12H00M00S", "-PT06H00M00S", "-PT36H00M00S")
    assert table_cells(tmp_path, rows) == HALF_DAYS


@pytest.mark.parametrize("number", [2**53 + 1, -(2**63) - 1, 10**400, "1e400"])
def test_digits_that_an_open_document_would_lose_are_refused_by_row(tmp_path, number):
    rows = table_rows("float", 7, number, repeats=2)
    with pytest.raises(
        DataError, match=rf"row 4 of its sheet holds {str(number)[:30]}"
    ):
        table_cells(tmp_path, rows)


def test_numbers_that_a_float_holds_are_read_from_an_open_document(tmp_path):
    rows = table_rows("float", 7, 2**60, "-1e300")
    assert table_cells(tmp_path, rows) == [7, 2**60, -1e300]


def test_long_numbers_of_another_table_do_not_matter(tmp_path):
    other = (
        f'</table:table><table:table table:name="u">{table_rows("float", 2**53 + 1)}'
    )
    path = tmp_path / "t.ods"
    path.write_bytes(ods(table_rows("float", 7) + other))
    assert read_data(path, FileFormat(table="t")).table["c"].to_pylist() == [7]
    with pytest.raises(DataError, match="row 2 of its sheet"):
        read_data(path, FileFormat(table="u"))
