"""ARFF: every way that a header and a row may be written."""

import numpy as np
import pytest

from lyceum import scan
from lyceum._core.data import read_table
from lyceum.errors import DataError, DataWarning

DENSE = r"""% a comment
@RELATION 'weather at noon'
@attribute outlook {sunny, overcast, 'light rain', "heavy rain"}
@ATTRIBUTE 'air temperature' NUMERIC
@attribute humidity real [0, 100]
@attribute "the owner's note" string
@attribute day date "yyyy-MM-dd"
@attribute at date
@attribute windy{TRUE,FALSE}

@DATA
% rows follow
sunny, 85.5, 85, 'it\'s hot, and dry', 1970-01-02, 1970-01-01T00:00:10, FALSE
'light rain',?,80,plain,"1970-01-01",?,TRUE

"heavy rain", 1e2, ? , ?, ?, ?, ?
"""


def written(tmp_path, text, encoding="utf8"):
    path = tmp_path / "table.arff"
    path.write_bytes(text.encode(encoding))
    return str(path)


@pytest.mark.syllabus("1.1")
def test_dense_rows_with_quotes_dates_missing_cells_and_comments(tmp_path):
    rows = scan(written(tmp_path, DENSE), target="windy")
    assert rows.schema.names == (
        "outlook",
        "air temperature",
        "humidity",
        "the owner's note",
        "day",
        "at",
    )
    assert rows.schema["outlook"].categories.tolist() == [
        "sunny",
        "overcast",
        "light rain",
        "heavy rain",
    ]
    assert rows.schema["the owner's note"].categories.tolist() == [
        "it's hot, and dry",
        "plain",
    ]
    assert [rows.schema[name].why for name in ("day", "at")] == [
        "times, in seconds"
    ] * 2
    block = next(rows.blocks())
    nan = np.nan
    np.testing.assert_array_equal(
        block.X,
        [
            [0, 85.5, 85, 0, 86400, 10],
            [2, nan, 80, 1, 0, nan],
            [3, 100, nan, nan, nan, nan],
        ],
    )
    assert rows.schema.target.categories.tolist() == ["FALSE", "TRUE"]
    assert block.y.tolist() == [0, 1, -1]


def test_rows_without_quotes_read_the_same(tmp_path):
    header = "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@data\n"
    fast = read_table(written(tmp_path, header + "x,1\n y , ?\n?,\t3\n"))
    slow = read_table(written(tmp_path, header + "'x',1\n y , ?\n?,\t3\n"))
    assert (
        fast.to_pydict()
        == slow.to_pydict()
        == {"a": ["x", "y", None], "b": [1.0, None, 3.0]}
    )


def test_sparse_rows_stand_for_zeros_and_first_values(tmp_path):
    text = (
        "@relation r\n@attribute a numeric\n@attribute b {no, 'yes, sir'}\n@attribute c"
        " numeric\n@data\n{0 2.5, 2 ?}\n{}\n{1 'yes, sir', 2 -1}\n"
    )
    table = read_table(written(tmp_path, text))
    assert table.to_pydict() == {
        "a": [2.5, 0, 0],
        "b": ["no", "no", "yes, sir"],
        "c": [None, 0, -1],
    }


def test_another_encoding_is_read_when_named(tmp_path):
    text = "@relation r\n@attribute a {süß,sauer}\n@data\nsüß\n"
    path = written(tmp_path, text, "latin-1")
    assert scan(path, encoding="latin-1").schema["a"].categories.tolist() == [
        "süß",
        "sauer",
    ]
    with pytest.raises(
        DataError,
        match=r"is not UTF8 text: give its encoding, e\.g\. --encoding latin-1",
    ):
        scan(path, encoding="utf8")
    with pytest.warns(DataWarning, match="not UTF-8 text: read as cp1252"):
        scan(path)


HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,4\n", "declares no attributes: is it an ARFF file"),
        (HEADER, "has column names but no rows"),
        (
            HEADER + "1,z\n",
            r"attribute 'b' has the value 'z', which its declaration does not list: \{x,y\}",
        ),
        (
            HEADER + "one,x\n",
            "attribute 'a' is declared numeric but Failed to parse string: 'one'",
        ),
        (HEADER + "1,'x',7\n", "row 0 has 3 values for 2 attributes"),
        (HEADER + "1,x\n2\n", "Expected 2 columns, got 1"),
        (HEADER + "{0 1}\n{7 1}\n", "row 1 names the attribute '7': there are 0 to 1"),
        (
            "@attribute a numeric\n@attribute 'a' real\n@data\n1,2\n",
            "declares the attribute 'a' twice: rename one",
        ),
        (
            "@attribute a relational\n@data\n1\n",
            "attribute 'a' is declared 'relational', which cannot be read",
        ),
        ("@attribute\n@data\n1\n", "cannot read the declaration '@attribute'"),
    ],
)
def test_a_broken_file_says_where(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        scan(written(tmp_path, text))


def test_a_date_format_with_a_percent_sign_is_taken_literally(tmp_path):
    """A directive of C's in it once crashed the process."""
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation t\n@attribute at date '%s%C%yyyy%'\n@data\n'%s%C%2020%'\n"
    )
    assert read_table(path).column("at")[0].as_py().year == 2020


def test_arff_is_kept_in_memory_whatever_its_size(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation t\n@attribute x numeric\n@data\n" + "1.5\n2.5\n" * 500)
    rows = scan(path, memory=0)
    assert rows.in_memory
    assert "ARFF, cannot be read in parts" in scan.__doc__
