"""Columns at predict time: by order and name for frames (scikit-learn's rule), by name for scans
and Dask."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.tiny import Line, MissingTaker, NearestMean

from lyceum import scan
from lyceum.errors import DataError, SchemaError

TABLE = pd.DataFrame(
    {
        "age": [20.0, 30.0, 40.0, 50.0, 60.0, 70.0],
        "town": ["Ulm", "Bonn", "Ulm", "Köln", "Bonn", "Ulm"],
        "smokes": [True, False, True, True, False, False],
    }
)
LABELS = pd.Series(["a", "b", "a", "b", "b", "a"], name="label")
MAKERS = {
    "pandas": lambda f: f,
    "polars": pl.from_pandas,
    "pyarrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
}


@pytest.fixture
def fitted():
    return NearestMean().fit(TABLE, LABELS)


def message_of(error_type, call, *arguments):
    with pytest.raises(error_type) as error:
        call(*arguments)
    return str(error.value)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_every_frame_library_gives_the_same_learner(fitted, make):
    learner = NearestMean().fit(make(TABLE), LABELS)
    np.testing.assert_array_equal(learner.mean_, fitted.mean_)
    assert learner.feature_names_in_.tolist() == ["age", "town", "smokes"]
    assert learner.design_names == (
        "age",
        "town=Bonn",
        "town=Köln",
        "town=Ulm",
        "smokes",
    )
    for other in MAKERS.values():
        assert learner.predict(other(TABLE)).tolist() == fitted.predict(TABLE).tolist()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_frames_whose_columns_do_not_match_get_scikit_learns_error(fitted, make):
    should = "The feature names should match those that were passed during fit"
    assert should in message_of(
        ValueError, fitted.predict, make(TABLE[["town", "age", "smokes"]])
    )
    assert should in message_of(
        ValueError, fitted.predict, make(TABLE.rename(columns={"age": "years"}))
    )
    assert should in message_of(
        ValueError, fitted.predict, make(TABLE[["age", "town"]])
    )
    assert should in message_of(ValueError, fitted.predict, make(TABLE.assign(more=1)))


def test_scans_go_by_name(fitted, tmp_path):
    moved = TABLE[["smokes", "town", "age"]].assign(more=1.5)
    assert fitted.predict(scan(moved)).tolist() == fitted.predict(TABLE).tolist()
    pq.write_table(
        pa.Table.from_pandas(moved), tmp_path / "t.parquet", row_group_size=2
    )
    assert (
        fitted.predict(scan(tmp_path / "t.parquet", memory=0)).tolist()
        == fitted.predict(TABLE).tolist()
    )
    message = message_of(
        SchemaError, fitted.predict, scan(TABLE.rename(columns={"age": "years"}))
    )
    assert (
        message
        == "missing column 'age': the columns here are 'years', 'town', 'smokes'"
    )


def test_dask_frames_go_by_name_and_are_refused_at_once(fitted):
    dd = pytest.importorskip("dask.dataframe")
    moved = dd.from_pandas(TABLE[["smokes", "town", "age"]], npartitions=2)
    assert fitted.predict(moved).compute().tolist() == fitted.predict(TABLE).tolist()
    assert "missing columns 'age', 'smokes'" in message_of(
        SchemaError, fitted.predict, moved[["town"]]
    )


def test_dask_arrays_of_another_width_are_refused_at_once():
    da = pytest.importorskip("dask.array")
    learner = Line().fit(np.eye(3), [1.0, 2.0, 3.0])
    message = message_of(DataError, learner.predict, da.ones((4, 2), chunks=(2, 2)))
    assert message == "X has 2 features, but Line is expecting 3 features as input"


def test_arrays_where_text_was_learned_are_refused(fitted):
    message = message_of(
        SchemaError, fitted.predict, TABLE.assign(town=1).to_numpy(dtype=float)
    )
    assert message.startswith(
        "NearestMean learned that column 'town' holds text, which an array of numbers cannot"
    )


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        (
            "age",
            ["old"] * 6,
            "column 'age' holds text such as 'old' where numbers are expected",
        ),
        (
            "town",
            [1] * 6,
            "column 'town' holds int64 where text such as 'Bonn' was learned: give it as text",
        ),
        ("town", [[1]] * 6, "column 'town' is of type list"),
        ("age", [[1]] * 6, "column 'age' is of type list"),
    ],
)
def test_a_kind_that_changed_is_named(fitted, column, cells, message):
    assert message in message_of(
        SchemaError, fitted.predict, TABLE.assign(**{column: cells})
    )


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        (
            "age",
            ["old", "young"] * 3,
            "column 'age' holds categories (text with 2 values) where numbers were learned (numb",
        ),
        (
            "town",
            [1, 2, 3] * 2,
            "column 'town' holds numbers (numbers) where categories were learned (text",
        ),
    ],
)
def test_a_kind_that_changed_in_a_scan_is_named(fitted, column, cells, message):
    assert message in message_of(
        SchemaError, fitted.predict, scan(TABLE.assign(**{column: cells}))
    )


def test_true_and_false_may_come_as_numbers(fitted):
    assert (
        fitted.predict(TABLE.assign(smokes=TABLE.smokes.astype(int))).tolist()
        == fitted.predict(TABLE).tolist()
    )


# -- unseen categories -----------------------------------------------------------------


def sources(frame, tmp_path):
    """The same rows from everywhere."""
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False),
        tmp_path / "t.parquet",
        row_group_size=2,
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    yield frame
    yield pl.from_pandas(frame)
    yield scan(frame)
    for path in ("t.parquet", "t.csv"):
        yield scan(tmp_path / path)
        yield scan(tmp_path / path, memory=0)


def test_an_unseen_category_is_minus_one_and_all_zeros(tmp_path):
    new = pd.DataFrame(
        {
            "age": [1.0, 2.0, 3.0],
            "town": ["Ulm", "Rom", None],
            "smokes": [True, False, True],
        }
    )
    codes = MissingTaker().fit(TABLE, LABELS)
    for X in sources(new, tmp_path):
        np.testing.assert_array_equal(codes.cells(X)[:, 1], [2, -1, np.nan])
    numbers = NearestMean().fit(TABLE, LABELS)
    known = new.assign(town=["Ulm", "Rom", "Bonn"])
    for X in sources(known, tmp_path):
        design = numbers._apply(lambda block: block.X.astype(float), X)
        np.testing.assert_array_equal(design[:, 1:4], [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_an_unseen_number_among_categories_is_minus_one(tmp_path):
    X = np.array([[3], [5], [5], [9]])
    learner = MissingTaker(categorical_features=[0]).fit(X, [0, 1, 0, 1])
    np.testing.assert_array_equal(
        learner.cells(np.array([[9], [4], [-7], [3]])).ravel(), [2, -1, -1, 0]
    )
    np.testing.assert_array_equal(
        learner.cells(np.array([[9.0], [np.nan], [5.5]])).ravel(), [2, np.nan, -1]
    )


def test_codes_outside_the_table_are_unknown_too():
    """Whole numbers 0..K-1 pass as they are; what is not among them must not be taken for a
    level."""
    X = np.array([[0], [1], [2], [1]])
    learner = NearestMean(categorical_features=[0]).fit(X, [0, 1, 0, 1])
    for dtype in (np.int64, np.int8, np.float64):
        design = learner._apply(
            lambda block: block.X.astype(float), np.array([[2], [7], [-1]], dtype=dtype)
        )
        np.testing.assert_array_equal(design, [[0, 0, 1], [0, 0, 0], [0, 0, 0]])


def test_a_declared_category_of_numbers_is_recognized_in_a_scan_that_does_not_declare_it():
    table = pa.table({"rooms": [1, 2, 3, 2], "label": ["a", "b", "a", "b"]})
    learner = MissingTaker().fit(scan(table, "label", kinds={"rooms": "categorical"}))
    new = scan(pa.table({"rooms": [3.0, 7.0, None, 1.0]}))
    np.testing.assert_array_equal(learner.cells(new).ravel(), [2, -1, np.nan, 0])


def test_a_text_column_of_missing_cells_alone_is_missing_at_predict_time(tmp_path):
    learner = MissingTaker().fit(TABLE, LABELS)
    for X in sources(TABLE.assign(town=pd.Series([None] * 6, dtype=object)), tmp_path):
        assert np.isnan(learner.cells(X)[:, 1]).all()


def test_one_category_at_predict_time_is_still_coded_by_the_learned_ones(tmp_path):
    learner = MissingTaker().fit(TABLE, LABELS)
    for X in sources(TABLE.iloc[:1], tmp_path):
        np.testing.assert_array_equal(learner.cells(X), [[20, 2, 1]])


# -- what y may be ---------------------------------------------------------------------

YS = {
    "list": list,
    "array of objects": lambda y: np.array(list(y), dtype=object),
    "array of text": lambda y: np.array(list(y)),
    "pandas": pd.Series,
    "pandas category": lambda y: pd.Series(pd.Categorical(list(y))),
    "pandas string": lambda y: pd.Series(list(y), dtype="string"),
    "polars": lambda y: pl.Series(list(y)),
    "polars category": lambda y: pl.Series(list(y), dtype=pl.Categorical),
    "arrow": lambda y: pa.array(list(y)),
    "arrow chunks": lambda y: pa.chunked_array([list(y)[:2], list(y)[2:]]),
}


@pytest.mark.parametrize("make", YS.values(), ids=YS)
@pytest.mark.parametrize("frame", [True, False])
def test_labels_of_every_library_are_the_same_classes(make, frame):
    X = TABLE if frame else TABLE[["age"]].to_numpy()
    learner = NearestMean().fit(X, make(LABELS))
    assert learner.classes_.tolist() == ["a", "b"]
    assert (
        learner.predict(X).tolist()
        == NearestMean().fit(X, LABELS.to_numpy()).predict(X).tolist()
    )


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([1, 2, 1, 2, 2, 1], dtype="Int64"),
        pd.Series([1, 2, 1, 2, 2, 1], dtype="float"),
        pl.Series([1, 2, 1, 2, 2, 1]),
        pa.array([1, 2, 1, 2, 2, 1]),
        np.array([1, 2, 1, 2, 2, 1], dtype=object),
        np.array([1, 2, 1, 2, 2, 1], dtype=np.uint8),
    ],
)
@pytest.mark.parametrize("frame", [True, False])
def test_numbers_of_every_library_are_the_same_target(y, frame):
    X = TABLE if frame else TABLE[["age"]].to_numpy()
    assert NearestMean().fit(X, y).classes_.tolist() == [1, 2]
    np.testing.assert_allclose(Line().fit(X, y).predict(X).mean(), 1.5)


def test_labels_of_one_byte_use_their_whole_range():
    y = np.array([-128, 127, 0, 127], dtype=np.int8)
    assert NearestMean().fit(np.eye(4), y).classes_.tolist() == [-128, 0, 127]
    assert NearestMean().fit(
        np.eye(2), np.array([0, 2**64 - 1], dtype=np.uint64)
    ).classes_.tolist() == [
        0,
        2**64 - 1,
    ]
