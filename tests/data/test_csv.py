"""CSV files: separators, encodings, types that hold for the whole file, and files that are
broken."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from lyceum import scan
from lyceum._core.data import read_table
from lyceum._core.data.files import csv as _csv
from lyceum.data import inspect
from lyceum.errors import DataError, DataWarning, SchemaError

BOTH = pytest.mark.parametrize("memory", [0, 1 << 30])


@pytest.fixture
def small_batches(monkeypatch):
    """Streams of many batches out of small files."""
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 1 << 12)
    monkeypatch.setattr(_csv, "_READ_BYTES", 1 << 12)


def written(tmp_path, text, name="table.csv", encoding="utf8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return str(path)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@BOTH
def test_the_separator_is_found(tmp_path, mark, memory):
    path = written(tmp_path, f"a{mark}b{mark}c\n1{mark}2{mark}3\n4{mark}5{mark}7\n")
    assert scan(path, memory=memory).schema.names == ("a", "b", "c")


def test_a_separator_inside_quotes_does_not_count(tmp_path):
    path = written(tmp_path, '"size, in m, or so";"name, full"\n1;x\n')
    assert scan(path).schema.names == ("size, in m, or so", "name, full")


def test_a_given_separator_wins(tmp_path):
    path = written(tmp_path, "a,b;c\n1,2;3\n")
    assert scan(path, separator=",").schema.names == ("a", "b;c")


@BOTH
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, memory):
    assert scan(written(tmp_path, "\ufeffa,b\n1,2\n"), memory=memory).schema.names == (
        "a",
        "b",
    )


@BOTH
def test_missing_cells_are_what_the_user_says(tmp_path, memory):
    path = written(tmp_path, "a,b\n1,x\n-99,NA\n3,\n")
    block = next(scan(path, missing=["-99", ""], memory=memory).blocks())
    np.testing.assert_array_equal(block.X, [[1, 1], [np.nan, 0], [3, np.nan]])


@BOTH
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_an_encoding_is_read_when_named_and_named_when_wrong(
    tmp_path, encoding, memory
):
    path = written(tmp_path, "name,x\nMüller,1\nGroß,2\n", encoding=encoding)
    rows = scan(path, encoding=encoding, memory=memory)
    assert rows.schema["name"].categories.tolist() == ["Groß", "Müller"]
    if encoding == "latin-1":
        with pytest.raises(
            DataError,
            match=r"table\.csv is not UTF8 text: give its encoding, e\.g\. --enc",
        ):
            scan(path, memory=memory, encoding="utf8")


def test_names_that_are_not_utf8_are_read_and_said(tmp_path):
    path = written(tmp_path, "größe,x\n1,1\n2,2\n", encoding="latin-1")
    for memory in (0, 1 << 30):
        with pytest.warns(
            DataWarning, match=r"table\.csv: not UTF-8 text: read as cp1252"
        ):
            assert scan(path, memory=memory).schema.names == ("größe", "x")


def test_an_unknown_encoding_is_named(tmp_path):
    with pytest.raises(DataError, match="unknown encoding: klingon"):
        scan(written(tmp_path, "a\n1\n"), encoding="klingon")


# -- types over the whole file ---------------------------------------------------------

LATE = {
    "text late among numbers": ["1"] * 3000 + ["oops"],
    "a fraction late among whole numbers": ["1"] * 3000 + ["2.5", "3"],
    "a number after nothing": [""] * 3000 + ["7.5", "8", "9"],
    "text after nothing": [""] * 3000 + ["x"],
    "true late among ones": ["1"] * 3000 + ["true"],
    "true late among numbers": ["7"] * 3000 + ["true"],
    "a day after nothing": [""] * 3000 + ["2020-01-01"],
    "an hour late among days": ["2020-01-01"] * 3000 + ["2020-01-02 10:30:00"],
    "a zone late among hours": ["2020-01-01 10:00:00Z"] * 3000
    + ["2020-01-02 10:30:00.5Z"],
    "text late among days": ["2020-01-01"] * 3000 + ["yesterday"],
    "a number beyond 64 bits": ["1", "2"] * 1500 + ["99999999999999999999"],
    "a quote in late text": ["1"] * 3000 + ['"say ""hi"""'],
}


@pytest.mark.parametrize("cells", LATE.values(), ids=LATE)
def test_a_stream_settles_on_the_types_of_the_whole_file(
    tmp_path, small_batches, cells
):
    lines = "\n".join(f"{cell},{i % 7},t{i % 3}" for i, cell in enumerate(cells))
    path = written(tmp_path, f"c,i,t\n{lines}\n")
    same_rows(scan(path, memory=0), scan(path))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stream_settles_with_any_number_of_threads(tmp_path, small_batches, threads):
    """Arrow words its complaint differently where it knows the number of the row: with one
    thread."""
    path = written(tmp_path, "c,i\n" + "1,2\n" * 3000 + "2.5,3\n" + "oops,4\n")
    before = pa.cpu_count()
    try:
        pa.set_cpu_count(threads)
        same_rows(scan(path, memory=0), scan(path))
    finally:
        pa.set_cpu_count(before)


def same_rows(stream, memory):
    assert str(stream.schema) == str(memory.schema)
    assert all(map(lambda a, b: a.same_as(b), stream.schema, memory.schema))
    streamed = np.concatenate([block.X for block in stream.blocks()])
    np.testing.assert_array_equal(
        streamed, np.concatenate([block.X for block in memory.blocks()])
    )
    assert [b.start for b in stream.blocks()] == np.cumsum(
        [0] + [len(b) for b in stream.blocks()]
    )[:-1].tolist()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a,b\n1,x\n", "a,b\n2.5,y\n"),
        ("a,b\n1,x\n", "a,b\nten,y\n"),
        ("a,b\nten,x\n", "a,b\n1,y\n"),
        ("a,b\n1,x\n", "b,a\ny,ten\n"),
        ("a,b\n1,x\n", "b,a\ny,\n"),
        ("a,b\n,x\n", "a,b\n2020-01-01,x\n"),
    ],
)
def test_several_files_share_their_types_and_columns_go_by_name(
    tmp_path, first, second
):
    paths = [written(tmp_path, first, "1.csv"), written(tmp_path, second, "2.csv")]
    stream, memory = scan(paths, memory=0), scan(paths)
    same_rows(stream, memory)
    assert sum(len(block) for block in stream.blocks()) == 2
    same_rows(scan(str(tmp_path / "*.csv"), memory=0), scan(tmp_path))


def test_packed_files_are_streamed(tmp_path):
    path = str(tmp_path / "table.csv.gz")
    with gzip.open(path, "wt") as file:
        file.write("a,b\n" + "1.5,x\n2.5,y\n3.5,z\n" * 100)
    same_rows(scan(path, memory=0), scan(path))


@BOTH
def test_a_quoted_cell_may_hold_a_line_break(tmp_path, memory):
    path = written(tmp_path, 'a,b\n"x\ny",1\nz,2\n')
    assert scan(path, memory=memory).schema["a"].categories.tolist() == ["x\ny", "z"]


@BOTH
@pytest.mark.parametrize("cell", ['"line\nbreak, {}"', '"say ""{}""\n\n"', '"\r\n{}"'])
def test_quoted_line_breaks_are_read_right_across_blocks(
    tmp_path, small_batches, cell, memory
):
    rows = "".join(f"{i},{cell.format(i % 7)}\n" for i in range(3000))
    found = scan(written(tmp_path, f"number,text\n{rows}"), memory=memory)
    assert len(found) == 3000
    assert len(found.schema["text"].categories) == 7
    np.testing.assert_array_equal(
        np.concatenate([b.X[:, 0] for b in found.blocks()]), np.arange(3000)
    )


@BOTH
def test_a_row_longer_than_a_block_is_read(tmp_path, small_batches, memory):
    rows = "".join(f"{i},{'x' * 100_000 if i == 7 else 'y'}\n" for i in range(20))
    found = scan(written(tmp_path, f"number,text\n{rows}"), memory=memory)
    assert len(found) == 20
    assert sorted(map(len, found.schema["text"].categories)) == [1, 100_000]


@BOTH
@pytest.mark.parametrize("cells", [1, 2])
def test_a_first_row_longer_than_the_first_blocks_is_read(
    tmp_path, small_batches, memory, cells
):
    # the first block holds the names alone, and the second cuts off the row
    long = "x" * 70_000
    rows = [f"{i},{long},{long if cells == 2 else ''}" for i in range(3)]
    text = "\n".join(["number,text,more", *rows])
    found = scan(written(tmp_path, text), memory=memory)
    assert len(found) == 3
    assert found.schema["text"].categories == (long,)


@BOTH
def test_names_longer_than_a_block_are_read(tmp_path, small_batches, memory):
    found = scan(written(tmp_path, f"a,{'b' * 2_000_000}\n1,2\n3,4\n"), memory=memory)
    assert len(found.schema.names[1]) == 2_000_000


@BOTH
def test_a_quote_that_is_never_closed_is_refused(tmp_path, small_batches, memory):
    path = written(tmp_path, 'a,b\n1,2\n2,"3\n' + "1,2\n" * 5000)
    with pytest.raises(DataError, match="has a quote that is not closed, before '3'"):
        scan(path, memory=memory)


def test_whether_a_file_fits_in_memory_is_judged_by_its_cells(tmp_path):
    # 12 kB of text, 48 kB of cells
    path = written(tmp_path, "a,b\n" + "1,2\n3,4\n5,6\n" * 1000)
    assert type(scan(path, memory=60_000).source).__name__ == "ArraySource"
    assert type(scan(path, memory=30_000).source).__name__ == "CsvSource"


# -- broken files ----------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: it needs a line of column names and some rows"),
        ("\n\n", "is empty: it needs a line of column names and some rows"),
        ("a,b\n", "has column names but no rows"),
        (
            "a,b\n1,2\n3\n4,5\n",
            "is not a well-formed CSV file: .*Expected 2 columns, got 1: 3",
        ),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path, text, message, memory):
    with pytest.raises(DataError, match=f"table.csv {message}"):
        scan(written(tmp_path, text), memory=memory)


@BOTH
@pytest.mark.parametrize("start", ["", "\n\n", "\ufeff", "\r\n"])
def test_a_name_that_appears_twice_gets_a_number_and_a_note(tmp_path, memory, start):
    path = written(tmp_path, f"{start}a,b,a,a.1,a\n1,x,2,y,3\n4,x,5,z,6.5\n")
    with pytest.warns(
        DataWarning,
        match=r"appear twice: read as 'a\.2' \(named 'a'\), 'a\.3' \(named 'a'\)",
    ):
        rows = scan(path, memory=memory)
    assert rows.schema.names == ("a", "b", "a.2", "a.1", "a.3")
    with pytest.warns(DataWarning, match="appear twice"):
        last = scan(
            path,
            ignore=["a", "b", "a.2", "a.1"],
            memory=memory,
            kinds={"a.3": "continuous"},
        )
    [block] = last.blocks()
    assert np.ravel(block.X).tolist() == [3.0, 6.5]
    assert any("appear twice" in note for note in inspect(path, memory=memory).notes)


@BOTH
def test_files_with_names_twice_must_have_the_same(tmp_path, memory):
    first, same, other = (
        written(tmp_path, text, name)
        for name, text in {
            "1.csv": "a,a\n1,2\n",
            "2.csv": "a,a\n3,4\n",
            "3.csv": "a,c\n1,2\n",
        }.items()
    )
    with pytest.warns(DataWarning, match="appear twice"):
        assert len(scan([first, same], memory=memory)) == 2
    with pytest.raises(SchemaError, match=r"3\.csv has other column names"):
        scan([first, other], memory=memory)


@BOTH
def test_files_of_different_columns_are_refused(tmp_path, memory):
    paths = [
        written(tmp_path, "a,b\n1,2\n", "1.csv"),
        written(tmp_path, "a,c\n1,2\n", "2.csv"),
    ]
    with pytest.raises(
        SchemaError,
        match=r"1\.csv has the column 'b', which .*2\.csv lacks: give files of the same",
    ):
        scan(paths, memory=memory)


@BOTH
def test_a_missing_file_is_named(tmp_path, memory):
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.csv"):
        scan(tmp_path / "nowhere.csv", memory=memory)
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.csv"):
        scan([str(tmp_path / "nowhere.csv")], memory=memory)


def test_a_file_that_shrinks_to_nothing_between_passes_is_an_error(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n3,4\n")
    rows = scan(path, memory=0)
    written(tmp_path, "")
    with pytest.raises(DataError, match="is empty"):
        list(rows.blocks())


def test_reading_a_table_keeps_text_as_dictionaries(tmp_path):
    table = read_table(written(tmp_path, "a,b\n1,x\n2,y\n"))
    assert table.schema.types == [pa.int64(), pa.dictionary(pa.int32(), pa.string())]
