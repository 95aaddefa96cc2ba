"""Numbers and dates as people write them, encodings and headers: found out, said, and the same
either way."""

import numpy as np
import pyarrow as pa
import pytest

from lyceum import scan
from lyceum._core.data import read_data
from lyceum._core.data.files import csv as _csv, csv_errors as _csv_errors
from lyceum._core.data.files.text_formats import text_format_of
from lyceum.data import FileFormat, inspect
from lyceum.errors import DataError, DataWarning

BOTH = pytest.mark.parametrize("memory", [0, 1 << 30])


def written(tmp_path, text, name="table.csv", encoding="utf8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return str(path)


def cells(rows):
    return np.concatenate([block.X for block in rows.blocks()])


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1.234,50 €", "7 €"], [1234.5, 7]),
        (["$1,200.50", "($3.00)", "5"], [1200.5, -3, 5]),
        (["12 %", "3,5 %"], [12, 3.5]),
        (["1'000", "2'000.5"], [1000, 2000.5]),
        (["1 234,5", "\u22123", "1\u00a0000"], [1234.5, -3, 1000]),
        (["EUR 1.5", "EUR 2e3"], [1.5, 2000]),
        (["-$1.50", "$-2", "+ 3"], [-1.5, -2, 3]),
        (["1,234", "2,345"], [1234, 2345]),
    ],
)
def test_numbers_are_read_as_written(texts, numbers):
    assert text_format_of(pa.array(texts)).parse(pa.array(texts)).to_pylist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["12%", "3"],
        ["$5", "€5"],
        ["007", "008"],
        ["1.2.10", "3.4.12"],
        ["030 123 456"],
        ["a", "1"],
        ["12 kg"],
        ["1", "--1"],
    ],
)
def test_what_is_no_number_in_one_style_stays_text(texts):
    assert text_format_of(pa.array(texts)) is None


@pytest.mark.parametrize(
    ("texts", "first", "doubtful"),
    [
        (["31.12.2024", "1.2.2025"], "2024-12-31", False),
        (["01/02/2024", "03/04/2024"], "2024-01-02", True),
        (["13/02/2024", "03/04/2024"], "2024-02-13", False),
        (["12 Jan 2024", "3 Feb 2023"], "2024-01-12", False),
        (["1/31/2024 3:45 PM", "1/3/2024 11:05 AM"], "2024-01-31 15:45:00", False),
    ],
)
def test_dates_are_read_as_written(texts, first, doubtful):
    style = text_format_of(pa.array(texts))
    assert str(style.parse(pa.array(texts))[0].as_py()) == first
    assert style.doubtful == doubtful


@BOTH
def test_decimal_commas_are_found_and_said(tmp_path, memory):
    path = written(tmp_path, "a;b;c\n1,5;x;1.234,5\n2,25;y;7,0\n-3,0;x;12.000,25\n")
    with pytest.warns(DataWarning) as said:
        rows = scan(path, memory=memory)
    np.testing.assert_array_equal(
        cells(rows), [[1.5, 0, 1234.5], [2.25, 1, 7], [-3, 0, 12000.25]]
    )
    assert "numbers are written with decimal commas" in str(said[0].message)
    assert "'c' ('1.234,5' as 1234.5)" in str(said[1].message)


@BOTH
@pytest.mark.parametrize(
    ("mark", "number"), [(";", 1.234), (",", 1234.0), ("\t", 1234.0)]
)
def test_one_comma_before_three_digits_goes_by_separator_or_option(
    tmp_path, memory, mark, number
):
    path = written(
        tmp_path, f'a{mark}b\n"1,234"{mark}1\n"5,678"{mark}2\n"9,000"{mark}3\n'
    )
    with pytest.warns(DataWarning):
        assert cells(scan(path, memory=memory))[0, 0] == number
    for decimal, value in ((",", 1.234), (".", 1234.0)):
        with (
            pytest.warns(DataWarning)
            if not (decimal == "," and mark != ",")
            else _nothing()
        ):
            assert cells(scan(path, memory=memory, decimal=decimal))[0, 0] == value


class _nothing:
    def __enter__(self):
        return None

    def __exit__(self, *error):
        return False


def test_a_stream_finds_late_thousands_and_late_text(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 1 << 10)
    monkeypatch.setattr(_csv_errors, "HEAD_BYTES", 1 << 10)
    plain = "".join(f"{i},{i}\n" for i in range(900))
    path = written(tmp_path, f'a,b\n{plain}"1,000","2,000"\n"1,001",none\n')
    for memory in (0, 1 << 30):
        with pytest.warns(DataWarning) as said:
            rows = scan(path, memory=memory)
        assert "text read as numbers: 'a'" in str(said[0].message)
        assert rows.schema["a"].kind == "continuous"
        assert rows.schema["b"].kind == "categorical"
        assert cells(rows)[-2:, 0].tolist() == [1000, 1001]


@BOTH
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-8-sig"])
def test_an_encoding_is_found(tmp_path, encoding, memory):
    path = written(tmp_path, "größe,x\nMüller,1\nGroß,2\n" * 1, encoding=encoding)
    with (
        pytest.warns(DataWarning, match="not UTF-8 text")
        if "8" not in encoding
        else _nothing()
    ):
        rows = scan(path, memory=memory)
    assert rows.schema.names == ("größe", "x")
    assert rows.schema["größe"].categories.tolist() == ["Groß", "Müller"]


@BOTH
def test_a_late_byte_of_another_encoding_is_read(tmp_path, memory, monkeypatch):
    monkeypatch.setattr(_csv_errors, "HEAD_BYTES", 1 << 10)
    path = written(
        tmp_path, "name,x\n" + "plain,1\n" * 200_000 + "Müller,2\n", encoding="latin-1"
    )
    with pytest.warns(DataWarning, match="read as cp1252"):
        rows = scan(path, memory=memory)
    assert "Müller" in rows.schema["name"].categories


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "picture.csv"
    path.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(DataError, match="is not a text file"):
        scan(path)


@BOTH
def test_a_file_without_a_header_is_said_and_read(tmp_path, memory):
    path = written(tmp_path, "1,2.5,a\n3,4.5,b\n5,6.5,a\n")
    assert scan(path, header=False, memory=memory).schema.names == ("x0", "x1", "x2")
    assert len(scan(path, header=False, memory=memory)) == 3
    numbers = written(tmp_path, "1,2.5\n3,4.5\n5,6.5\n", "numbers.csv")
    with pytest.warns(
        DataWarning, match=r"the first row holds numbers \(1, 2.5\).*--no-header"
    ):
        scan(numbers, memory=memory)


@BOTH
def test_separators_between_decimal_commas_are_found_without_a_header(tmp_path, memory):
    path = written(tmp_path, "1,5;2,5\n3,5;4,5\n7,0;8,5\n")
    with pytest.warns(DataWarning, match="decimal commas"):
        assert cells(scan(path, header=False, memory=memory)).tolist() == [
            [1.5, 2.5],
            [3.5, 4.5],
            [7, 8.5],
        ]


def test_an_inspection_says_what_was_found_out(tmp_path):
    path = written(
        tmp_path,
        "preis;wann\n1.200,00 €;31.12.2024\n3,50 €;1.1.2025\n",
        encoding="cp1252",
    )
    found = inspect(path)
    assert found.notes == (
        "not UTF-8 text: read as cp1252",
        "numbers are written with decimal commas",
        "text read as numbers: 'preis' ('1.200,00 €' as 1200)",
        "text read as dates: 'wann' ('31.12.2024' as 2024-12-31)",
    )
    assert inspect(path, memory=0).notes == found.notes
    assert inspect(read_data(path)).notes == found.notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, r"the decimal mark ';' cannot be: give '\.' or ','"),
        ({"separator": ",,"}, "the separator ',,' cannot be: give one character"),
    ],
)
def test_what_cannot_be_said_of_a_file_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        FileFormat(**options)


@BOTH
def test_whole_numbers_beyond_floats_keep_their_value(tmp_path, memory):
    numbers = [2**53 + 1, 2**53 + 3, 2**62 + 1, 2**62 + 3]
    path = written(
        tmp_path, "id,y\n" + "".join(f"{n},{i}\n" for i, n in enumerate(numbers))
    )
    rows = scan(path, kinds={"id": "categorical"}, memory=memory)
    assert rows.schema["id"].categories.tolist() == numbers
    huge = [10**20 + 1, 10**20 + 3, 10**20 + 5]
    path = written(
        tmp_path,
        "id,y\n" + "".join(f"{n},{i}\n" for i, n in enumerate(huge)),
        "huge.csv",
    )
    rows = scan(path, memory=memory)
    assert rows.schema["id"].categories.tolist() == list(map(str, huge))
