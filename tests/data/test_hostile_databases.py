"""Databases opened as data: nothing else of the machine is read, nothing written, nothing
endless."""

import hashlib
import sqlite3
import time
from contextlib import closing

import pytest

from lyceum import scan
from lyceum._core.data import read_data, reading_limits
from lyceum._core.data.files import databases
from lyceum.data import FileFormat
from lyceum.errors import DataError

ENDLESS = "with recursive r(i) as (select 1 union all select i + 1 from r)"


@pytest.fixture
def sqlite_file(tmp_path):
    """A function that runs statements in an SQLite file, and gives its path."""

    def make(*statements):
        path = tmp_path / "t.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        return str(path)

    return make


@pytest.fixture
def duckdb_file(tmp_path):
    """A function that runs statements in a DuckDB file, and gives its path."""
    duckdb = pytest.importorskip("duckdb")

    def make(*statements):
        path = str(tmp_path / "t.duckdb")
        with duckdb.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        return path

    return make


def refusal(path, **limits):
    """The sentence that refuses the only table of a file."""
    with reading_limits(**limits), pytest.raises(DataError, match=r"t\.\w+") as error:
        read_data(path)
    return str(error.value)


# -- nothing but the file itself -------------------------------------------------------


def test_a_duckdb_view_cannot_read_other_files(duckdb_file, tmp_path):
    other = tmp_path / "secret.csv"
    other.write_text("a,b\n1,2\n3,4\n")
    path = duckdb_file(f"create view v as select * from read_csv('{other}')")
    assert "secret.csv" in refusal(path)
    assert "disabled by configuration" in refusal(path)


def test_a_duckdb_file_is_read_with_the_rows_that_only_its_log_has(duckdb_file):
    path = duckdb_file(
        "pragma disable_checkpoint_on_shutdown",
        "create table t as select range as i from range(7)",
    )
    assert read_data(path).table.num_rows == 7


def test_reading_leaves_a_database_as_it_was(sqlite_file, duckdb_file):
    paths = [
        sqlite_file("create table t (x)", "insert into t values (1), (2)"),
        duckdb_file("create table t as select 1 as x"),
    ]
    for path in paths:
        with open(path, "rb") as file:
            before = hashlib.file_digest(file, "sha256").digest()
        read_data(path)
        with open(path, "rb") as file:
            assert hashlib.file_digest(file, "sha256").digest() == before


@pytest.mark.parametrize(
    "expression",
    ["load_extension('/tmp/x.so')", "fts3_tokenizer('simple')", "sqlite_version(1)"],
)
def test_a_view_cannot_call_functions_of_files(sqlite_file, expression):
    path = sqlite_file(f"create view v as select {expression} as a")
    assert "t.sqlite" in refusal(path)


def test_the_connection_refuses_to_attach_and_to_write(sqlite_file, tmp_path):
    from lyceum._core.data.files.databases import _open_sqlite
    from lyceum._core.data.files.limits import Stopwatch

    path = sqlite_file("create table t (x)", "insert into t values (1)")
    statements = [
        f"attach '{tmp_path / 'other.sqlite'}' as o",
        "insert into t values (2)",
        "create temp table u (x)",
        "pragma writable_schema = on",
        "pragma trusted_schema = on",
    ]
    with closing(_open_sqlite(path, Stopwatch(path))) as connection:
        for statement in statements:
            with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                connection.execute(statement)
        assert connection.execute("select * from t").fetchall() == [(1,)]
    assert not (tmp_path / "other.sqlite").exists()


# -- nothing without an end ------------------------------------------------------------


def test_an_endless_view_ends_at_the_memory_that_is_allowed(sqlite_file):
    path = sqlite_file(f"create view v as {ENDLESS} select * from r")
    said = refusal(path, memory=8 << 20)
    assert "rows of 'v' take about 8.4 MB" in said
    assert "--memory" in said


def test_long_cells_end_at_the_memory_that_is_allowed_row_by_row(tmp_path):
    path = tmp_path / "t.sqlite"
    rows = "with recursive r(i) as (select 1 union all select i + 1 from r limit 900)"
    with closing(sqlite3.connect(path)) as connection, connection:
        cell = "hex(zeroblob(900000)) as a"
        connection.execute(f"create view v as {rows} select {cell} from r")
    refused = pytest.raises(DataError, match="the first 5 rows of 'v' take about 9 MB")
    with reading_limits(memory=8_000_000), refused:
        scan(str(path))


@pytest.mark.parametrize("what", ["count(*) as n", "*"])
def test_an_endless_view_of_sqlite_ends_at_the_time_that_is_allowed(sqlite_file, what):
    path = sqlite_file(f"create view v as {ENDLESS} select {what} from r where i < 0")
    start = time.monotonic()
    assert "not finished after 0.5 s" in refusal(path, seconds=0.5)
    assert time.monotonic() - start < 20.0


def test_an_endless_view_of_duckdb_ends_at_the_time_that_is_allowed(duckdb_file):
    path = duckdb_file(f"create view v as {ENDLESS} select count(*) as n from r")
    start = time.monotonic()
    said = refusal(path, seconds=0.5)
    assert "not finished after 0.5 s" in said
    assert "--limit" in said
    assert time.monotonic() - start < 20.0


def test_a_view_of_duckdb_that_is_stopped_before_its_first_row_is_refused(
    duckdb_file, monkeypatch
):
    # on a slow machine the time is over before Arrow has its stream
    def stopped(relation, path, name):
        time.sleep(0.02)
        raise RuntimeError("INTERRUPT Error: Interrupted!")

    monkeypatch.setattr(databases, "_fetch_arrow", stopped)
    path = duckdb_file("create table t as select 1 as i")
    assert "not finished after 0.01 s" in refusal(path, seconds=0.01)
    assert "cannot be read as a DuckDB file" in refusal(path, seconds=60)


def test_rows_of_duckdb_that_are_too_many_are_refused(duckdb_file):
    path = duckdb_file("create view v as select range as i from range(100000000000)")
    assert "rows of 'v' take about" in refusal(path, memory=100 << 20)


def test_a_cell_larger_than_memory_is_refused(sqlite_file):
    path = sqlite_file("create view v as select zeroblob(900000000) as b")
    assert "too big" in refusal(path, memory=64 << 20)


def test_scan_raises_the_limits(sqlite_file):
    path = sqlite_file(
        "create table t (x)",
        f"insert into t {ENDLESS} select i from r limit 20000",
    )
    with reading_limits(memory=1 << 20):
        with pytest.raises(DataError, match="more than the 1 MB that are allowed"):
            scan(path, memory=0)
        assert len(scan(path, memory=1 << 30)) == 20_000


# -- one sentence ----------------------------------------------------------------------


def test_a_whole_number_that_fractions_would_round_is_refused_by_row_and_column(
    sqlite_file,
):
    path = sqlite_file(
        "create table t (x)", f"insert into t values (0.5), ({2**53 + 1})"
    )
    assert f"row 2 of column 'x' holds {2**53 + 1}" in refusal(path)


def test_whole_numbers_that_floats_hold_stand_beside_fractions(sqlite_file):
    path = sqlite_file(
        "create table t (x)", f"insert into t values (0.5), ({2**60}), (3)"
    )
    assert read_data(path).table["x"].to_pylist() == [0.5, 2.0**60, 3.0]


def test_bytes_that_are_not_text_are_refused_by_row_and_column(sqlite_file):
    path = sqlite_file(
        "create table t (x, y)",
        "insert into t values ('a', 'ok'), ('b', cast(x'ff41' as text))",
    )
    assert "row 2 of column 'y' holds b'\\xffA', which is not UTF-8" in refusal(path)


def test_a_schema_that_is_not_text_is_a_sentence(sqlite_file):
    path = sqlite_file("create table abcdef (x)", "insert into abcdef values (1)")
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content.replace(b"abcdef", b"\xff\xfeab\xc3\x28"))
    assert "cannot be read as an SQLite file" in refusal(path)


def test_the_columns_of_a_table_are_chosen_by_name(sqlite_file):
    path = sqlite_file(
        "create table a (x)", "create table b (y)", "insert into b values (1)"
    )
    assert read_data(path, FileFormat(table="b")).table.column_names == ["y"]


def test_a_table_whose_name_only_begins_as_those_of_sqlite_is_there(sqlite_file):
    path = sqlite_file("create table sqlites (a)", "insert into sqlites values (3)")
    assert read_data(path).table["a"].to_pylist() == [3]


def test_tables_of_other_schemas_of_duckdb_are_named_with_them(duckdb_file):
    path = duckdb_file("create schema s", "create table s.t as select 3 as a")
    assert read_data(path).table["a"].to_pylist() == [3]
    path = duckdb_file("create table u as select 4 as a")
    assert "they are 's.t', 'u'" in refusal(path)
    file_format = FileFormat(table="s.t")
    assert read_data(path, file_format=file_format).table["a"].to_pylist() == [3]
