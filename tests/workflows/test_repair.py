"""Repairs as steps: every step by hand, and the file as `lyceum repair` writes it."""

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from lyceum.cli import app
from lyceum.data import inspect, odd_cells
from lyceum.errors import DataError
from lyceum.workflows import repair_table

TABLE = pa.table(
    {
        "age": ["31", "3a", "45", None, "3a"],
        "club name": ["a", "A", "a", "b", "b"],
        "n": [1, 2, 3, 4, 5],
    }
)


def columns(*steps):
    return repair_table(TABLE, steps).data.table.to_pydict()


def test_a_set_cell_makes_numbers_of_a_column_once_all_are():
    assert columns("set age 1 34")["age"] == ["31", "34", "45", None, "3a"]
    assert columns("set age 1 34", "set age 4 2.5")["age"] == [31, 34, 45, None, 2.5]


def test_blank_makes_cells_missing():
    repaired = repair_table(TABLE, ["blank age 3a"])
    assert repaired.data.table["age"].to_pylist() == [31, None, 45, None, None]
    assert repaired.changes == (2,)


def test_rows_are_counted_in_the_file_as_it_is():
    dropped = columns("drop-row 0", "drop-row 1", "set n 4 9")
    assert dropped["n"] == [3, 4, 9]


def test_words_with_blanks_are_quoted():
    assert columns("replace 'club name' A a")["club name"] == ["a", "a", "a", "b", "b"]
    assert list(columns("drop-column 'club name'")) == ["age", "n"]


def test_numbers_stay_numbers_of_their_kind():
    table = repair_table(TABLE, ["set n 0 7"]).data.table
    assert table["n"].type == pa.int64()
    assert table["n"].to_pylist() == [7, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("mend age", "there is no step 'mend age': write one of set COLUMN ROW VALUE"),
        ("set age 1", "cannot read the step 'set age 1': write set COLUMN ROW VALUE"),
        ("set age 9 1", "there is no row 9: rows are counted from 0 to 4"),
        ("blank old 1", "there is no column 'old'"),
        ("drop-column old", "there is no column 'old'"),
        ("set 'age", 'cannot read the step "set \'age": No closing quotation'),
    ],
)
def test_a_step_that_cannot_be_is_named(step, message):
    with pytest.raises(DataError) as raised:
        repair_table(TABLE, [step])
    assert message in str(raised.value)


def test_the_command_writes_a_file_in_which_the_column_is_numbers(tmp_path):
    source = tmp_path / "people.csv"
    rows = [f"{20 + row % 40},{row % 3}" for row in range(60)]
    rows[17] = "3a,1"
    source.write_text("age,club\n" + "\n".join(rows) + "\n")
    before = source.read_bytes()
    (odd,) = odd_cells(source)
    assert odd.sentence == "1 of 60 cells of `age` is no number: 3a in row 17"
    out = tmp_path / "repaired.csv"
    command = ["repair", str(source), "--step", "set age 17 34", "-o", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert source.read_bytes() == before
    assert inspect(source)["age"].kind == "categorical"
    column = inspect(out)["age"]
    assert (column.kind, column.n_missing) == ("continuous", 0)
    assert odd_cells(out) == ()
    again = CliRunner().invoke(app, command)
    assert again.exit_code != 0  # the file is there
