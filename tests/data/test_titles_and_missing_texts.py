"""Titles above the names of the columns, and which texts were read as missing."""

import pyarrow as pa
import pytest

from lyceum._core.data import read_data
from lyceum.data import FileFormat, inspect, scan
from lyceum.errors import DataError
from lyceum.linear import LinearRegression
from lyceum.workflows import predict_file

TABLE = "shop,year,sold\na,2023,4\nb,2024,5\nc,2024,7\nd,2024,9\n"


def written(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("title", "row"),
    [
        ("Sales of all shops\n", 2),
        ("Sales of all shops,,\n", 2),
        ("Sales of all shops\nas of May\n\n", 4),
        ("\nSales\n", 3),
    ],
)
def test_titles_are_left_out_and_said(tmp_path, title, row):
    found = inspect(written(tmp_path, title + TABLE))
    assert [c.name for c in found.columns] == ["shop", "year", "sold"]
    assert found.n_rows == 4
    [note] = found.notes
    assert f"the names of the columns are in row {row}; say --header-row" in note


def test_a_table_without_a_title_loses_no_row(tmp_path):
    for text in (TABLE, ",x\n1,2\n2,3\n3,4\n", "a,b\n1,\n,2\n3,4\n", "x\n1\n2\n3\n"):
        found = inspect(written(tmp_path, text))
        assert not any("title" in note for note in found.notes)
        assert found.n_rows == text.count("\n") - 1


def test_titles_above_semicolons_and_a_declared_separator(tmp_path):
    text = TABLE.replace(",", ";")
    for begin in ("Sales, all shops\n", "sep=;\n", "sep=;\nSales\n"):
        found = inspect(written(tmp_path, begin + text))
        assert [c.name for c in found.columns] == ["shop", "year", "sold"]


def test_the_header_row_can_be_given(tmp_path):
    path = written(tmp_path, "x,y,z\nu,v,w\n" + TABLE)
    found = inspect(path, file_format=FileFormat(header_row=3))
    assert [c.name for c in found.columns] == ["shop", "year", "sold"]
    assert not found.notes
    assert len(scan(path, target="sold", header_row=3)) == 4
    with pytest.raises(DataError, match="header row 2 cannot be"):
        FileFormat(header_row=2, header=False)


def test_titles_of_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Sales"], [], ["shop", "year", "sold"], ["a", 1, 2], ["b", 2, 3]):
        book.active.append(row)
    path = str(tmp_path / "t.xlsx")
    book.save(path)
    found = inspect(path)
    assert [c.name for c in found.columns] == ["shop", "year", "sold"]
    assert any("are in row 3" in note for note in found.notes)
    given = inspect(path, file_format=FileFormat(header_row=4))
    assert [c.name for c in given.columns] == ["a", "1", "2"]


def test_what_was_read_as_missing_is_said_by_column(tmp_path):
    text = "drink,age\nNone,3\nbeer,NA\nwine,NA\n,5\nNone,6\nNone,7\n"
    found = inspect(written(tmp_path, text))
    [note] = found.notes
    assert "'None' in 3 of 'drink', 'NA' in 2 of 'age'" in note
    assert "--missing" in note
    assert (found["drink"].n_missing, found["age"].n_missing) == (4, 2)
    kept = inspect(written(tmp_path, text), file_format=FileFormat(missing=("", "NA")))
    assert kept["drink"].n_missing == 1
    assert "'None'" not in kept.notes[0]
    assert not inspect(written(tmp_path, "a,b\n1,x\n,y\n3,\n")).notes
    assert not inspect(pa.table({"a": ["None", "x", None]})).notes


@pytest.mark.filterwarnings("ignore:.*taken for a title:lyceum.errors.DataWarning")
def test_rows_are_counted_as_in_the_spreadsheet_below_a_title(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [["a", 1, 2.0], ["b", 2, 3.0], ["c", 2, 5.0]]
    for row in (["Sales"], [], ["shop", "year", "sold"], *rows):
        book.active.append(row)
    sheet = str(tmp_path / "t.xlsx")
    book.save(sheet)
    text = written(tmp_path, "Sales\n\n" + TABLE)
    assert read_data(sheet).first_row == 4
    assert read_data(text).first_row == 4
    assert read_data(written(tmp_path, TABLE, "plain.csv")).first_row == 2
    bare = FileFormat(header=False)
    assert read_data(written(tmp_path, "1,2\n3,4\n", "bare.csv"), bare).first_row == 1
    model = LinearRegression().fit(scan(text, target="sold", ignore=["shop"]))
    predict_file(model, sheet, tmp_path / "out.csv", everything=True)
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ['"row"', "4", "5", "6"]
