"""Rows of files in batches: all of them, typed for the model, and not kept."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lyceum._core.files import spool
from lyceum.data import Column
from lyceum.errors import DataError, SchemaError
from lyceum.workflows.batches import Batches


@pytest.fixture
def parquet(tmp_path):
    """30 row groups of 20,000 rows: 24 MB of numbers."""
    path = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(5)])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(30):
            writer.write_table(
                pa.table({name: rng.normal(size=20_000) for name in schema.names})
            )
    return path


def test_a_parquet_file_is_read_without_keeping_it(parquet):
    columns = tuple(Column(f"x{j}") for j in range(5))
    before, most, n_rows = pa.total_allocated_bytes(), 0, 0
    for table in Batches(str(parquet), columns):
        n_rows += table.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    assert n_rows == 600_000
    assert most < 14e6


def test_rows_come_in_order_whatever_the_file(tmp_path):
    table = pa.table({"x": np.arange(1000.0), "c": [f"v{i % 7}" for i in range(1000)]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=33)
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    columns = (
        Column("x"),
        Column("c", "categorical", np.array([f"v{i}" for i in range(7)])),
    )
    for source in (str(tmp_path / "t.parquet"), str(tmp_path / "t.csv"), table):
        found = pa.concat_tables(Batches(source, columns))
        assert found.column("x").to_pylist() == table.column("x").to_pylist()
        assert (
            found.column("c").cast(pa.string()).to_pylist()
            == table.column("c").to_pylist()
        )


def test_the_number_of_rows_of_a_csv_file_is_about_right(tmp_path):
    table = pa.table({"x": np.arange(5000.0), "y": np.arange(5000.0)})
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    assert Batches(str(tmp_path / "t.csv"), (Column("x"),)).n_rows == pytest.approx(
        5000, rel=0.05
    )


def test_types_follow_the_model_and_other_columns_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,id\n1,7,007\n2,,008\n")
    columns = (Column("a"), Column("b", "categorical", np.array(["7", "8"])))
    (table,) = Batches(str(tmp_path / "t.csv"), columns, ("id",))
    assert table.column("a").to_pylist() == [1.0, 2.0]
    assert table.column("b").to_pylist() == ["7", None]
    assert table.column("id").to_pylist() == ["007", "008"]


def test_a_column_that_is_not_there_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n1,f\n")
    with pytest.raises(SchemaError, match=r"no column 'Age'.*did you mean 'age'"):
        list(Batches(str(tmp_path / "t.csv"), (Column("Age"),)))


def test_standard_input_becomes_a_file_that_goes_away():
    with spool("-", io.BytesIO(b"x\n1\n")) as path:
        assert Path(path).read_text(encoding="utf-8") == "x\n1\n"
    assert not Path(path).exists()
    with (
        pytest.raises(DataError, match="standard input is empty"),
        spool("-", io.BytesIO(b"")),
    ):
        pass
