"""One table, however it comes: the same schema and the same coded cells."""

import datetime as dt
import tempfile
from pathlib import Path

import dask
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from lyceum import scan
from lyceum._core.data.files import csv as _csv
from lyceum._core.data.rows import file_sources as _sources

dd = pytest.importorskip("dask.dataframe")

CELLS = {
    "real": (st.floats(allow_nan=False, width=64, allow_subnormal=False), pa.float64()),
    "single": (st.floats(allow_nan=False, width=32), pa.float32()),
    "whole": (st.integers(-3, 3), pa.int64()),
    "two": (st.sampled_from([0, 7]), pa.int32()),
    "constant": (st.just(5), pa.int64()),
    "text": (st.sampled_from(["a", "b", "ä b", "a,b", 'say "x"', "é"]), pa.string()),
    "any text": (st.text("xyz ", max_size=3), pa.string()),
    "truth": (st.booleans(), pa.bool_()),
    "day": (st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), pa.date32()),
    "moment": (
        st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
        pa.timestamp("us"),
    ),
    "nothing": (st.none(), pa.null()),
}


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=5))
    columns = {
        "label": pa.array(
            draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
        )
    }
    for j, kind in enumerate(kinds):
        cells, type_ = CELLS[kind]
        gaps = draw(st.booleans())
        drawn = st.one_of(st.none(), cells) if gaps else cells
        columns[f"{kind} {j}"] = pa.array(
            draw(st.lists(drawn, min_size=n, max_size=n)), type_
        )
    return pa.table(columns)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(_sources, "_PART_ROWS", 8)
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 256)


def same(one, two):
    """Same columns for the same reasons, same cells, same classes, rows numbered through."""
    assert str(one.schema) == str(two.schema)
    for a, b in zip([*one.schema, one.schema.target], [*two.schema, two.schema.target]):
        assert a.same_as(b), (a, b)
    first, second = list(one.blocks()), list(two.blocks())
    for blocks in (first, second):
        assert [block.start for block in blocks] == np.cumsum([0, *map(len, blocks)])[
            :-1
        ].tolist()
    np.testing.assert_array_equal(
        *(np.concatenate([block.X for block in blocks]) for blocks in (first, second))
    )
    np.testing.assert_array_equal(
        *(np.concatenate([block.y for block in blocks]) for blocks in (first, second))
    )


@pytest.mark.syllabus("1.1")
@given(tables(), st.integers(1, 12))
def test_a_parquet_stream_is_the_table_in_memory(table, group):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(table, path, row_group_size=group)
        stream, memory = scan(path, "label", memory=0), scan(path, "label")
        same(stream, memory)
        same(memory, scan(table, "label"))
        assert stream.n_rows == memory.n_rows == table.num_rows


@given(tables(), st.integers(1, 5))
def test_several_parquet_files_are_one_table(table, n_files):
    with tempfile.TemporaryDirectory() as folder:
        step = -(-table.num_rows // n_files)
        for i, start in enumerate(range(0, table.num_rows, step)):
            names = table.column_names if i % 2 == 0 else table.column_names[::-1]
            pq.write_table(
                table.select(names).slice(start, step), Path(folder) / f"{i}.parquet"
            )
        same(scan(folder, "label", memory=0), scan(table, "label"))
        same(scan(f"{folder}/*.parquet", "label"), scan(table, "label"))


@given(tables())
def test_a_csv_stream_is_the_table_in_memory(table):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pc.write_csv(table, path)
        same(scan(path, "label", memory=0), scan(path, "label"))


@given(tables())
def test_polars_and_pandas_hold_the_same_table(table):
    same(scan(pl.from_arrow(table), "label"), scan(table, "label"))
    if not any(map(_pandas_changes, table.columns)):
        same(scan(table.to_pandas(), "label"), scan(table, "label"))


def _pandas_changes(column):
    """Missing cells make pandas' floats NaN, not null; truths and days that all miss lose their
    type."""
    of_objects = pa.types.is_boolean(column.type) or pa.types.is_date(column.type)
    return pa.types.is_float32(column.type) or (
        of_objects and column.null_count == len(column)
    )


@settings(max_examples=15)
@given(tables(), st.integers(1, 5))
def test_a_dask_frame_is_the_table_in_memory(table, n_partitions):
    frame = table.to_pandas()
    with dask.config.set(
        {"dataframe.convert-string": False}
    ):  # else Dask writes objects such as True out as text
        parts = dd.from_pandas(frame, npartitions=n_partitions, sort=False)
        same(scan(parts, "label"), scan(frame, "label"))


@given(tables(), st.data())
def test_declared_categories_are_the_same_from_everywhere(table, data):
    numbers = [
        name
        for name in table.column_names
        if name.startswith(("real", "whole", "two", "constant"))
    ]
    kinds = dict.fromkeys(
        data.draw(st.lists(st.sampled_from(numbers), unique=True)) if numbers else [],
        "categorical",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(table, path, row_group_size=5)
        same(
            scan(path, "label", kinds=kinds, memory=0),
            scan(table, "label", kinds=kinds),
        )


def test_category_types_survive_a_parquet_stream(tmp_path):
    text = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 0, 1]), pa.array(["q", "p", "unused"])
    )
    numbers = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 0, 1]), pa.array([5, 3, 8])
    )
    table = pa.table({"t": text, "n": numbers, "label": ["a", "b", "a", "b"]})
    path = tmp_path / "table.parquet"
    pq.write_table(table, path, row_group_size=2)
    same(scan(path, "label", memory=0), scan(path, "label"))
    assert scan(path, memory=0).schema["t"].is_categorical


def test_a_column_that_changes_kind_late_in_a_stream(tmp_path):
    """Two distinct numbers at the start, many at the end: only the whole file says continuous."""
    n = 5000
    table = pa.table(
        {
            "x": np.r_[np.arange(n) % 2, np.arange(40)],
            "label": ["a", "b"] * (n // 2 + 20),
        }
    )
    path = tmp_path / "table.csv"
    csv.write_csv(table, path)
    assert (
        scan(path, "label", memory=0).schema["x"].why
        == "numbers, more than 32 distinct"
    )
    same(scan(path, "label", memory=0), scan(path, "label"))


def test_a_class_that_comes_late_in_a_stream(tmp_path):
    table = pa.table(
        {"x": np.random.default_rng(0).normal(size=500), "label": ["a"] * 499 + ["b"]}
    )
    path = tmp_path / "table.parquet"
    pq.write_table(table, path, row_group_size=100)
    assert scan(path, "label", memory=0).schema.target.categories.tolist() == ["a", "b"]
