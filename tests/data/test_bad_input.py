"""Whatever is wrong with the data, the error names it and says what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from tests.data.tiny import Line, Mean, MissingTaker, NearestMean

from lyceum import scan
from lyceum._core.data.schema import (
    distinct_values as _distinct_values,
    profile as _profile,
)
from lyceum.errors import DataError, MissingValuesError, SchemaError

BOTH = pytest.mark.parametrize("memory", [0, 1 << 30])


def message_of(error_type, call, *arguments, **options):
    with pytest.raises(error_type) as error:
        call(*arguments, **options)
    return str(error.value)


# -- files -----------------------------------------------------------------------------


@BOTH
def test_a_truncated_parquet_file_is_named(tmp_path, memory):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": np.arange(1000.0)}), path)
    path.write_bytes(path.read_bytes()[:-200])
    assert "t.parquet is damaged or not a Parquet file" in message_of(
        DataError, scan, path, memory=memory
    )
    path.write_bytes(b"")
    assert "t.parquet is damaged or not a Parquet file" in message_of(
        DataError, scan, path, memory=memory
    )


@BOTH
def test_parquet_pages_that_do_not_decode_are_named(tmp_path, memory):
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"x": np.arange(5000.0) % 1000}),
        path,
        compression="zstd",
        use_dictionary=False,
    )
    raw = bytearray(path.read_bytes())
    raw[100:1000] = bytes(900)
    path.write_bytes(raw)

    def use():
        scan(path, memory=memory).reduce(lambda block: Count(len(block)))

    assert "t.parquet is damaged" in message_of(DataError, use)


class Count(int):
    def merge(self, other):
        return Count(self + other)


@BOTH
def test_a_parquet_file_of_no_rows_is_refused(tmp_path, memory):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), path)
    assert message_of(DataError, scan, path, memory=memory).endswith(
        "t.parquet has column names but no rows (0 samples)"
    )


@BOTH
def test_an_empty_parquet_file_among_others_adds_nothing(tmp_path, memory):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1.5, 2.5, 3.5]}), tmp_path / "2.parquet")
    assert scan(tmp_path, memory=memory).reduce(lambda block: Count(len(block))) == 3


@BOTH
def test_files_that_disagree_on_a_type_are_refused(tmp_path, memory):
    pq.write_table(pa.table({"x": [1, 2], "z": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": ["a", "b"], "z": [1, 2]}), tmp_path / "2.parquet")
    message = message_of(SchemaError, scan, tmp_path, memory=memory)
    assert message.startswith("column 'x' holds")
    assert message.endswith("make it one type")


@BOTH
def test_parquet_files_of_different_columns_are_refused(tmp_path, memory):
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1, 2], "z": [1, 2]}), tmp_path / "2.parquet")
    assert "2.parquet has the column 'z', which" in message_of(
        SchemaError, scan, tmp_path, memory=memory
    )


def test_files_that_cannot_be_told_apart(tmp_path):
    for name in ("a.xyz", "b.csv", "c.parquet"):
        (tmp_path / name).write_text("a\n1\n")
    assert "cannot tell what kind of file" in message_of(
        DataError, scan, tmp_path / "a.xyz"
    )
    message = message_of(DataError, scan, [tmp_path / "b.csv", tmp_path / "c.parquet"])
    assert message.startswith("the files are of different kinds, ")
    (tmp_path / "empty").mkdir()
    assert "has no file of a known kind" in message_of(
        DataError, scan, tmp_path / "empty"
    )
    assert "there is no file" in message_of(DataError, scan, tmp_path / "nothing*.csv")


@pytest.mark.parametrize("what", [3, None, {"a": [1]}, [], [1, 2], sparse.eye(3)])
def test_what_cannot_be_scanned_is_refused(what):
    article = "an" if isinstance(what, int) else "a"
    assert message_of(DataError, scan, what).startswith(
        f"cannot read {article} {type(what).__name__}: give a path"
    )


def test_rows_cannot_be_scanned_again():
    rows = scan(pa.table({"x": [1.0]}))
    assert message_of(DataError, scan, rows).startswith("these are rows already")


# -- frames ----------------------------------------------------------------------------


def test_names_that_appear_twice_are_refused():
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    assert (
        message_of(SchemaError, scan, table)
        == "column names appear twice: 'a': rename them"
    )
    frame = pd.DataFrame([[1, "x"]], columns=["a", "a"])
    assert (
        message_of(SchemaError, scan, frame)
        == "column names appear twice: 'a': rename them"
    )
    frame = pd.DataFrame([[1, "x"]], columns=[1, "1"])
    assert (
        message_of(SchemaError, scan, frame)
        == "column names appear twice: '1': rename them"
    )


def test_a_column_of_mixed_types_is_named():
    message = message_of(
        SchemaError, scan, pd.DataFrame({"good": [1, 2], "bad": [1, "a"]})
    )
    assert "bad" in message
    assert "astype(str)" in message


@pytest.mark.parametrize("cells", [[[1, 2], [3]], [{"a": 1}, {"a": 2}], [b"x", b"y"]])
def test_nested_and_binary_columns_are_refused_unless_ignored(tmp_path, cells):
    table = pa.table({"x": [1.0, 2.0], "odd": cells})
    message = message_of(SchemaError, scan, table)
    assert message.startswith("column 'odd' is of type ")
    assert "leave it out" in message
    assert scan(table, ignore="odd").schema.names == ("x",)
    pq.write_table(table, tmp_path / "t.parquet")
    assert message_of(SchemaError, scan, tmp_path / "t.parquet", memory=0).startswith(
        "column 'odd' is of type "
    )
    assert scan(tmp_path / "t.parquet", ignore="odd", memory=0).schema.names == ("x",)
    assert message_of(SchemaError, Mean().fit, table) == message


def test_text_of_too_many_values_is_refused_by_name(monkeypatch, tmp_path):
    monkeypatch.setattr(_profile, "MANY", 50)
    monkeypatch.setattr(_distinct_values, "MANY", 50)
    table = pa.table({"x": np.arange(60.0), "id": [f"user {i}" for i in range(60)]})
    message = message_of(SchemaError, scan, table)
    assert message.startswith(
        "column 'id' has too many distinct values for a categorical column, more than 50"
    )
    assert message.endswith(
        "leave it out, e.g. ignore=['id'], or group its values first"
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=10)
    assert message_of(SchemaError, scan, tmp_path / "t.parquet", memory=0) == message
    assert message_of(
        SchemaError, scan, table, ignore="id", kinds={"x": "categorical"}
    ).startswith("column 'x' has too many")
    assert scan(table, ignore="id").schema.names == ("x",)


def test_long_text_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(_distinct_values, "_LETTERS", 1000)
    assert message_of(
        SchemaError, scan, pa.table({"note": ["a" * 999, "b", "c"]})
    ).startswith("column 'note' has too many")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_no_rows_is_refused(make):
    assert "no rows" in message_of(DataError, scan, make({"x": np.empty(0)}))
    assert "0 sample(s)" in message_of(
        ValueError, Mean().fit, make({"x": np.empty(0), "t": np.array([], dtype=str)})
    )


def test_one_row_is_enough_for_a_mean():
    learner = Mean().fit(pa.table({"x": [4.0], "t": ["a"]}))
    np.testing.assert_array_equal(learner.mean_, [4.0, 1.0])


# -- cells -----------------------------------------------------------------------------

MIXED = {"age": [20.0, 30.0, 40.0, 50.0], "town": ["Ulm", "Bonn", "Ulm", "Köln"]}
LABELS = ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        (
            "age",
            None,
            (
                "column 'age' has a missing value (NaN) in row 2, which NearestMean cannot take:"
                " fill it first, "
            ),
        ),
        (
            "town",
            None,
            (
                "column 'town' has a missing value (NaN) in row 2, which NearestMean cannot take:"
                " fill it first, "
            ),
        ),
        (
            "age",
            np.inf,
            (
                "column 'age' has an infinity (inf) in row 2, which NearestMean cannot take:"
                " replace it by a "
            ),
        ),
    ],
)
def test_missing_cells_and_infinities_are_named_by_column_and_row(
    tmp_path, column, cell, message
):
    table = {
        name: [*cells[:2], cell, cells[3]] if name == column else cells
        for name, cells in MIXED.items()
    }
    frame = pa.table(table)
    assert message_of(MissingValuesError, NearestMean().fit, frame, LABELS).startswith(
        message
    )
    path = tmp_path / "t.parquet"
    pq.write_table(
        frame.append_column("label", pa.array(LABELS)), path, row_group_size=1
    )
    assert message_of(
        MissingValuesError, NearestMean().fit, scan(path, "label", memory=0)
    ).startswith(message)
    fitted = NearestMean().fit(pa.table(MIXED), LABELS)
    assert message_of(MissingValuesError, fitted.predict, frame).startswith(message)
    if cell is None:
        MissingTaker().fit(frame, LABELS)
    else:
        assert "infinity" in message_of(
            MissingValuesError, MissingTaker().fit, frame, LABELS
        )


def test_the_row_of_a_missing_cell_is_counted_through_all_blocks():
    X = np.zeros((40_000, 2))
    X[33_333, 1] = np.nan
    assert "column 'x1' has a missing value (NaN) in row 33333" in message_of(
        MissingValuesError, Mean().fit, X
    )


# -- targets and weights ---------------------------------------------------------------

X4 = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [0.0, 1.0, np.nan, 1.0],
            "target 'y' is missing (NaN) in row 2: drop such rows first",
        ),
        (
            np.array(["a", None, "b", "a"], dtype=object),
            "target 'y' is missing (NaN) in row 1: drop such rows first",
        ),
        (
            pd.Series(["a", "b", None, "a"], name="sort"),
            "target 'sort' is missing (NaN) in row 2: drop such rows first",
        ),
        (
            pa.chunked_array([["a", "b", "a", None]]),
            "target 'y' is missing (NaN) in row 3: drop such rows first",
        ),
        (
            pl.Series("sort", [1, 2, None, 1]),
            "target 'sort' is missing (NaN) in row 2: drop such rows first",
        ),
        (np.array(["a", 1, "b", 2], dtype=object), "target 'y' mixes types"),
        ([0.5, 1.25, 2.5, 3.5], "Unknown label type: continuous"),
        (["a", "b", "a"], "inconsistent numbers of samples: [4, 3]"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_classes_that_cannot_be_learned_from_are_named(y, message):
    assert message.replace("'sort'", "'y'") in message_of(
        ValueError, NearestMean().fit, X4, y
    ).replace("'sort'", "'y'")
    assert message in message_of(ValueError, NearestMean().fit, pa.table(MIXED), y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [0.0, 1.0, np.nan, 1.0],
            "target 'y' is missing or infinite (NaN or inf) in row 2",
        ),
        (
            [0.0, 1.0, np.inf, 1.0],
            "target 'y' is missing or infinite (NaN or inf) in row 2",
        ),
        (
            ["a", "b", "c", "d"],
            "Line predicts numbers, but 'y' cannot be read as such: could not convert string",
        ),
        ([1.0, 2.0], "inconsistent numbers of samples: [4, 2]"),
    ],
)
def test_numbers_that_cannot_be_learned_from_are_named(y, message):
    assert message in message_of(ValueError, Line().fit, X4, y)
    assert message in message_of(ValueError, Line().fit, pa.table(MIXED), y)


@BOTH
def test_a_missing_target_in_a_scan_is_named_by_row(tmp_path, memory):
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"x": [1.5, 2.5, 3.5], "c": ["a", "b", None], "n": [0.5, None, 2.25]}),
        path,
    )
    message = (
        "is missing or infinite (NaN or inf) in row {}, which {} cannot learn from: drop such rows"
        " first"
    )
    learner = NearestMean()
    assert message_of(
        MissingValuesError, learner.fit, scan(path, "c", ignore="n", memory=memory)
    ) == "target 'c' " + (message.format(2, "NearestMean"))
    assert message_of(
        MissingValuesError, Line().fit, scan(path, "n", ignore="c", memory=memory)
    ) == "target 'n' " + (message.format(1, "Line"))


def test_a_target_of_the_wrong_kind_is_refused_with_the_remedy():
    table = pa.table(
        {"x": [1.5, 2.5, 3.5], "c": ["a", "b", "a"], "n": [0.5, 1.75, 2.25]}
    )
    message = message_of(SchemaError, NearestMean().fit, scan(table, "n", ignore="c"))
    assert (
        "NearestMean predicts classes, but the target 'n' is continuous (numbers, 3 distinct)"
        in message
    )
    assert "kinds={'n': 'categorical'}" in message
    message = message_of(SchemaError, Line().fit, scan(table, "c", ignore="n"))
    assert message.startswith(
        "Line predicts numbers, but the target 'c' holds categories (text with 2 values)"
    )
    assert "NearestMean needs a target: give scan(..., target=...)" in message_of(
        DataError, NearestMean().fit, scan(table)
    )
    with pytest.raises(DataError, match="rows from scan carry their target"):
        NearestMean().fit(scan(table, "c"), y=[1, 2, 3])


def test_class_numbers_are_numbers_to_a_regressor():
    rows = scan(pa.table({"x": [1.0, 2.0, 3.5] * 3, "n": [1, 2, 3] * 3}), "n")
    assert rows.schema.target.is_categorical
    learner = Line().fit(rows)
    np.testing.assert_allclose(
        learner.coef_, np.polyfit([1.0, 2.0, 3.5], [1, 2, 3], 1)[:1]
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1.0, -1.0, 1.0, 1.0],
            "Negative values in data passed to `sample_weight`, which NearestMean cannot take",
        ),
        ([0.0] * 4, "zero"),
        ([1.0, np.nan, 1.0, 1.0], "NaN"),
        ([1.0, 2.0], "sample_weight.shape == (2,), expected (4,)"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    assert message in message_of(
        ValueError, NearestMean().fit, X4, [0, 1, 0, 1], sample_weight=weights
    )
    assert message in message_of(
        ValueError, NearestMean().fit, pa.table(MIXED), LABELS, sample_weight=weights
    )


# -- which columns are categories ------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([True, False, True], "categorical_features has 3 entries for 2 columns"),
        ([5], "categorical_features names column 5, but there are 2"),
        ([-1], "categorical_features names column -1, but there are 2"),
        ([b"a"], "of bool, int or str, got: bytes8"),
        (np.array(["town", 1.5], dtype=object), "got: float, str"),
        (["twn"], "categorical_features names the column 'twn', which does not exist"),
        (None, "column 'town' holds categories, but categorical_features is None"),
    ],
)
def test_categorical_features_that_do_not_fit_are_refused(features, message):
    assert message in message_of(
        SchemaError,
        NearestMean(categorical_features=features).fit,
        pa.table(MIXED),
        LABELS,
    )


@pytest.mark.parametrize("features", [True, [0, 1], [True, True], ["age", "town"]])
def test_categorical_features_by_mask_index_or_name(features):
    learner = NearestMean(categorical_features=features).fit(
        pd.DataFrame(MIXED), LABELS
    )
    assert [len(column.categories) for column in learner.schema_] == [4, 3]


@pytest.mark.parametrize(
    "dtype",
    [
        "i1",
        "u1",
        "i2",
        "u2",
        "i4",
        "u4",
        "i8",
        "u8",
        "f2",
        "f4",
        "f8",
        "?",
        ">f8",
        ">i4",
    ],
)
def test_arrays_of_every_number_type_are_taken(dtype):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]).astype(dtype)
    plain = NearestMean().fit(X, LABELS)
    np.testing.assert_array_equal(plain.mean_, [[0.5, 1.0], [0.5, 0.0]])
    coded = MissingTaker(categorical_features=True).fit(X, LABELS)
    np.testing.assert_array_equal(coded.cells(X), X.astype(float))
    assert coded.predict(X).tolist() == plain.predict(X).tolist()
