"""Kinds: by types where there are types, by values in files without them; and every kind says
why."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.data.kind_cases import COLUMNS, arrow, written
from tests.data.tiny import MissingTaker

from lyceum import scan

BY_VALUES = {
    "age": ("continuous", "numbers, 3 distinct", None),
    "sex": ("binary", "text with 2 values", ["f", "m"]),
    "town": ("categorical", "text with 3 values", ["Bonn", "Köln", "Ulm"]),
    "rooms": ("continuous", "whole numbers, 3 distinct", None),
    "smokes": ("binary", "two numbers only: 0 and 1", [0, 1]),
}
BY_TYPES = BY_VALUES | dict.fromkeys(
    ["age", "rooms", "smokes"], ("continuous", "numbers", None)
)


def check(rows, reasons=BY_TYPES):
    for name, (kind, why, categories) in reasons.items():
        column = rows.schema[name]
        assert (column.kind, column.why) == (kind, why), name
        assert categories is None or column.categories.tolist() == categories
    assert rows.schema.target.kind == "binary"
    assert rows.schema.target.categories.tolist() == ["no", "yes"]
    block = next(rows.blocks())
    np.testing.assert_array_equal(block.X[:, 0], [31.5, 45.0, np.nan, 52.25])
    np.testing.assert_array_equal(block.X[:, 1], [0, 1, 0, np.nan])
    np.testing.assert_array_equal(block.X[:, 2], [2, 0, 1, 2])
    assert block.y.tolist() == [1, 0, 0, 1]
    assert block.y.dtype == np.int32


@pytest.mark.syllabus("1.1.2")
@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather", ".arrow"]
)
@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_kinds_from_files(tmp_path, suffix, memory):
    reasons = BY_VALUES if suffix in (".csv", ".csv.gz", ".tsv") else BY_TYPES
    check(scan(written(tmp_path, suffix), target="answer", memory=memory), reasons)


@pytest.mark.parametrize(
    "make",
    [
        arrow,
        lambda: pd.DataFrame(COLUMNS),
        lambda: pl.DataFrame(COLUMNS),
        lambda: arrow().to_batches()[0],
        lambda: arrow().to_reader(),
        lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
        lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    ],
)
def test_kinds_from_frames(make):
    check(scan(make(), target="answer"))


def test_kinds_from_a_duckdb_relation():
    import duckdb

    check(scan(duckdb.from_arrow(arrow()), target="answer"))


def test_kinds_from_dask():
    dd = pytest.importorskip("dask.dataframe")
    check(
        scan(
            dd.from_pandas(pd.DataFrame(COLUMNS), npartitions=1, sort=False),
            target="answer",
        )
    )


def test_kinds_from_an_array_are_those_of_its_columns():
    rows = scan(
        np.array([[1.0, 0.0, 7.0], [2.5, 1.0, 7.0], [3.0, 1.0, 7.0]]), target="x1"
    )
    assert [column.kind for column in rows.schema] == ["continuous", "continuous"]
    assert rows.schema["x2"].why == "numbers"
    assert rows.schema.target.categories.tolist() == [0, 1]


def test_an_array_of_text_has_categories():
    rows = scan(np.array([["a", "b"], ["c", "b"]]))
    assert rows.schema["x0"].categories.tolist() == ["a", "c"]
    rows = scan(np.array([["a", 1.5], [None, 2.5]], dtype=object))
    assert [column.kind for column in rows.schema] == ["categorical", "continuous"]


@pytest.mark.syllabus("1.1.1")
@pytest.mark.parametrize(
    ("cells", "kind", "why", "first"),
    [
        (pa.array([True, False, None]), "binary", "true or false", 1.0),
        (pa.array([True, True]), "binary", "true or false", 1.0),
        (
            pa.array([Decimal("1.25"), Decimal("2.5"), Decimal("9")]),
            "continuous",
            "numbers",
            1.25,
        ),
        (pa.array([5, 5, 5]), "continuous", "numbers", 5.0),
        (pa.array([None, None]), "continuous", "nothing but missing cells", np.nan),
        (
            pa.array([None, None], pa.string()),
            "continuous",
            "nothing but missing cells",
            np.nan,
        ),
        (pa.array([0, 1, 0]), "continuous", "numbers", 0.0),
        (pa.array([None, None], pa.float64()), "continuous", "numbers", np.nan),
        (pa.array([None, None], pa.bool_()), "binary", "true or false", np.nan),
        (
            pa.array([dt.date(1970, 1, 2), dt.date(1970, 1, 1)]),
            "continuous",
            "times, in seconds",
            86400.0,
        ),
        (
            pa.array([dt.datetime(1970, 1, 1, 0, 0, 1, 500000)]),
            "continuous",
            "times, in seconds",
            1.5,
        ),
        (pa.array([dt.time(0, 1)]), "continuous", "times, in seconds", 60.0),
        (pa.array([dt.timedelta(minutes=2)]), "continuous", "times, in seconds", 120.0),
        (
            pa.array([1, 2], pa.timestamp("ns", "Europe/Berlin")),
            "continuous",
            "times, in seconds",
            0.0,
        ),
        (pa.array([1.5, 2.5, 3.5], pa.float16()), "continuous", "numbers", 1.5),
        (pa.array(["x"], pa.large_string()), "categorical", "text with 1 value", 0.0),
        (pa.array(["x", "y"], pa.string_view()), "binary", "text with 2 values", 0.0),
        (
            pa.array([3, 1, 3]).dictionary_encode(),
            "categorical",
            "a category type of 2 numbers",
            0.0,
        ),
        (pa.array(["b", "a"]).dictionary_encode(), "binary", "text with 2 values", 0.0),
    ],
)
def test_every_arrow_type_has_a_kind_and_a_reason(cells, kind, why, first):
    rows = scan(pa.table({"c": cells}))
    assert (rows.schema["c"].kind, rows.schema["c"].why) == (kind, why)
    np.testing.assert_array_equal(next(rows.blocks()).X[0], [first])


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("c", ["b", "a"], dtype=pl.Enum(["a", "b", "c"])),
        pd.Categorical(["b", "a"], ["a", "b", "c"]),
    ],
)
def test_a_category_type_declares_categories_that_do_not_occur(values):
    frame = (
        pl.DataFrame({"c": values})
        if isinstance(values, pl.Series)
        else pd.DataFrame({"c": values})
    )
    assert scan(frame).schema["c"].categories.tolist() == ["a", "b", "c"]


def test_polars_categories_of_other_frames_do_not_leak_in():
    pl.DataFrame({"c": pl.Series(["other", "words"], dtype=pl.Categorical)})
    frame = pl.DataFrame({"c": pl.Series(["b", "a", None], dtype=pl.Categorical)})
    rows = scan(frame)
    assert rows.schema["c"].categories.tolist() == [
        "a",
        "b",
    ]  # Polars' Categorical has no order but this
    np.testing.assert_array_equal(next(rows.blocks()).X.ravel(), [1, 0, np.nan])


@pytest.mark.parametrize(
    "categories", [[1, 5, 9], [9, 1, 5], [0.5, 2.5], [False, True]]
)
def test_a_category_type_of_numbers_keeps_all_its_numbers(categories):
    cells = pd.Categorical([categories[1], None, categories[0]], categories)
    rows = scan(pd.DataFrame({"c": cells}))
    assert rows.schema["c"].categories.tolist() == categories
    np.testing.assert_array_equal(next(rows.blocks()).X.ravel(), [1, np.nan, 0])


LEVELS = ["low", "high", "medium"]


def levels_in(data, **options):
    return scan(data, **options).schema["c"].categories.tolist()


def test_the_levels_of_a_category_type_keep_their_order(tmp_path):
    cells = ["high", "low", None, "low"] * 50
    frame = pd.DataFrame({"c": pd.Categorical(cells, LEVELS), "x": np.arange(200.0)})
    table = pa.Table.from_pandas(frame)
    assert levels_in(frame) == levels_in(table) == LEVELS
    assert (
        levels_in(pl.DataFrame({"c": pl.Series(cells, dtype=pl.Enum(LEVELS))}))
        == LEVELS
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=30)
    assert (
        levels_in(tmp_path / "t.parquet", memory=0)
        == levels_in(tmp_path / "t.parquet")
        == LEVELS
    )
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    assert levels_in(tmp_path / "t.feather") == LEVELS
    dd = pytest.importorskip("dask.dataframe")
    assert levels_in(dd.from_pandas(frame, npartitions=3)) == LEVELS


def test_the_levels_of_an_arff_declaration_keep_their_order(tmp_path):
    lines = [
        "@relation r",
        "@attribute c {low,high,medium}",
        "@attribute x numeric",
        "@data",
        "high,1",
        "low,0",
    ]
    (tmp_path / "t.arff").write_text("\n".join(lines))
    assert levels_in(tmp_path / "t.arff") == LEVELS
    assert scan(tmp_path / "t.arff").schema["x"].kind == "continuous"


def test_text_without_a_category_type_is_sorted(tmp_path):
    table = pa.table({"c": ["high", "low", "medium"] * 30, "x": range(90)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=20)
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        assert (
            levels_in(tmp_path / name, memory=0)
            == levels_in(tmp_path / name)
            == sorted(LEVELS)
        )


def test_codes_follow_the_order_of_the_levels():
    cells = pd.Categorical(["high", "low", None], LEVELS)
    assert next(scan(pd.DataFrame({"c": cells})).blocks()).X[:2, 0].tolist() == [1, 0]
    numbers = pd.Categorical([5, 9, 1], [9, 1, 5])
    assert next(scan(pd.DataFrame({"c": numbers})).blocks()).X[:, 0].tolist() == [
        2,
        0,
        1,
    ]


def test_levels_that_come_later_stand_after_those_known():
    one, two = (
        pd.DataFrame({"c": pd.Categorical(c, c)})
        for c in (["low", "high"], ["none", "high"])
    )
    learner = MissingTaker().partial_fit(one, ["a", "b"]).partial_fit(two, ["a", "b"])
    assert learner.schema_["c"].categories.tolist() == ["low", "high", "none"]


def test_classes_are_sorted_and_occur_whatever_the_type_says():
    frame = pd.DataFrame(
        {"x": [1.0, 2.0], "c": pd.Categorical(["medium", "high"], LEVELS)}
    )
    assert scan(frame, "c").schema.target.categories.tolist() == ["high", "medium"]
    assert scan(frame, "c").schema.target.kind == "binary"
