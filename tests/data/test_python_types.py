"""Columns, targets and weights in the less common types of pandas and Python: used as they are, or
named."""

import datetime as dt
from decimal import Decimal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from tests.data.tiny import Line, NearestMean

from lyceum import scan
from lyceum._core.data.files.column_names import unique_names
from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, MissingValuesError, SchemaError
from lyceum.linear import LinearRegression
from lyceum.semi_supervised import SelfTrainingClassifier

N = 40
X = np.random.default_rng(5).normal(size=N)
CLASSES = np.where(X > 0, "up", "down")
DAYS = pd.Series(pd.date_range("2020", periods=N, freq="h"), name="t")


def two_models(column, learner=NaiveBayes):
    """The same frame given to `fit`, and through `scan`."""
    frame = pd.DataFrame({"x": X, "odd": column})
    return learner().fit(frame, CLASSES), learner().fit(
        scan(frame.assign(c=CLASSES), target="c")
    )


def assert_same_model(column):
    one, two = two_models(column)
    frame = pd.DataFrame({"x": X, "odd": column})
    np.testing.assert_array_equal(one.predict_proba(frame), two.predict_proba(frame))
    return one.schema_["odd"]


# -- columns ---------------------------------------------------------------------------


def test_the_intervals_of_a_cut_are_categories_in_their_order():
    column = assert_same_model(pd.cut(X, [-9, -1, 0, 9]))
    assert column.kind == "categorical"
    assert column.categories.tolist() == ["(-9, -1]", "(-1, 0]", "(0, 9]"]


def test_levels_of_several_types_are_text_in_their_order():
    levels = pd.Categorical(["a", 1, 2.5, 1] * 10, categories=["a", 2.5, 1])
    assert assert_same_model(levels).categories.tolist() == ["a", "2.5", "1"]


def test_levels_that_are_the_same_as_text_are_refused():
    frame = pd.DataFrame({"odd": pd.Categorical([1, "1"] * 20)})
    with pytest.raises(
        SchemaError, match="column 'odd' has levels that are the same as text"
    ):
        scan(frame)


@pytest.mark.parametrize(
    "many", [1, 1000]
)  # few cells, and more than are converted one column at a time
def test_sparse_columns_and_long_floats_are_numbers(many):
    cells = np.tile(np.where(X > 1, X, 0.0), many)
    frame = pd.DataFrame(
        {
            "a": pd.arrays.SparseArray(cells),
            "b": cells.astype(np.longdouble),
            "c": "text",
        }
    )
    block = scan(frame).in_one_block("the test")
    np.testing.assert_array_equal(block.X[:, :2], np.column_stack([cells, cells]))


def test_a_frame_of_sparse_columns_is_learned_from():
    frame = pd.DataFrame(
        {"a": pd.arrays.SparseArray(X), "b": pd.arrays.SparseArray(X > 0)}
    )
    np.testing.assert_array_equal(
        NaiveBayes().fit(frame, CLASSES).predict(frame),
        NaiveBayes()
        .fit(frame.sparse.to_dense(), CLASSES)
        .predict(frame.sparse.to_dense()),
    )


@pytest.mark.parametrize("many", [1, 5000])
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", 1, None, 2.5], r"column 'odd' mixes types \(float, int, str\)"),
        ([True, 1, pd.NA, 2], r"column 'odd' mixes types \(bool, int\)"),
        (
            [1j, 2j, 3j, 4j],
            "column 'odd' holds values of type complex, which cannot be used",
        ),
        (
            [10**30, 1, 2, 3],
            "column 'odd' holds whole numbers beyond 64 bits, such as 1000000000",
        ),
        ([[1], [2], [3], [4]], "column 'odd' is of type list<item: int64>"),
    ],
)
def test_cells_that_no_table_holds_are_named_by_their_column(cells, message, many):
    frame = pd.DataFrame(
        {"x": 1.0, "odd": pd.Series(cells * many, dtype=object), "z": "text"}
    )
    for use in (
        lambda: scan(frame),
        lambda: NearestMean().fit(frame, ["a", "b", "a", "b"] * many),
    ):
        with pytest.raises(SchemaError, match=message):
            use()


def test_cells_of_an_array_are_named_by_their_column():
    with pytest.raises(
        SchemaError, match=r"column 1 of the array mixes types \(int, str\)"
    ):
        scan(np.array([[1.0, "a"], [2.0, 3]], dtype=object))


# -- targets ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        DAYS.dt.tz_localize("Europe/Berlin"),
        DAYS.astype(object),
        DAYS.dt.date,
        DAYS - DAYS[0],
        pd.Series([dt.time(hour % 24) for hour in range(N)], name="t"),
    ],
    ids=["datetime", "with a zone", "objects", "dates", "durations", "times of day"],
)
def test_a_target_of_times_is_in_seconds_however_it_is_given(times):
    frame = pd.DataFrame({"x": X})
    one = LinearRegression().fit(frame, times)
    two = LinearRegression().fit(scan(frame.assign(t=times), target="t"))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-12)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=1e-12)


@pytest.mark.parametrize(
    "times", [DAYS, DAYS.dt.tz_localize("UTC"), DAYS - DAYS[0], DAYS.to_numpy()]
)
def test_predictions_of_times_are_scored_in_seconds(times):
    frame = pd.DataFrame({"x": X})
    model = LinearRegression().fit(frame, times)
    rows = scan(frame.assign(t=times), target="t")
    assert model.score(frame, times) == pytest.approx(model.score(rows), abs=1e-9)
    assert 0 <= model.score(rows) <= 1


def test_classes_of_intervals_are_scored_as_text():
    bins = pd.Series(pd.cut(X, [-9, 0, 9]))
    assert NaiveBayes().fit(X[:, None], bins).score(X[:, None], bins) > 0.9


def test_a_target_of_times_on_dask_is_in_seconds():
    frame = dd.from_pandas(pd.DataFrame({"x": X, "t": DAYS}), npartitions=2)
    one = LinearRegression().fit(frame[["x"]], frame["t"])
    np.testing.assert_allclose(
        one.coef_, LinearRegression().fit(pd.DataFrame({"x": X}), DAYS).coef_
    )


@pytest.mark.parametrize(
    "target",
    [
        DAYS.where(DAYS.index != 7),
        pd.Series([None if i == 7 else i > 9 for i in range(N)], dtype="boolean"),
    ],
)
def test_a_missing_time_or_truth_value_in_the_target_is_named_by_row(target):
    with pytest.raises(
        MissingValuesError,
        match=r"target '\w' is missing or infinite \(NaN or inf\) in row 7",
    ):
        Line().fit(X[:, None], target)


def test_decimals_are_classes_and_numbers():
    decimals = pd.Series([Decimal(i % 2) for i in range(N)], name="t")
    assert NearestMean().fit(X[:, None], decimals).classes_.tolist() == [0.0, 1.0]
    np.testing.assert_array_equal(
        LinearRegression().fit(X[:, None], decimals).coef_,
        LinearRegression().fit(X[:, None], decimals.astype(float)).coef_,
    )


def test_times_are_no_classes():
    with pytest.raises(
        SchemaError,
        match="target 'y' holds times where classes are expected: give them as text",
    ):
        NearestMean().fit(X[:, None], DAYS.dt.date)


def test_classes_of_intervals_are_text():
    bins = pd.Series(pd.cut(X, [-9, 0, 9]), name="t")
    one = NaiveBayes().fit(X[:, None], bins)
    two = NaiveBayes().fit(scan(pd.DataFrame({"x0": X, "t": bins}), target="t"))
    assert one.classes_.tolist() == two.classes_.tolist() == ["(-9, 0]", "(0, 9]"]


def test_classes_of_a_category_type_of_whole_numbers_are_integers():
    rows = scan(
        pd.DataFrame({"x": X, "t": pd.Categorical(np.arange(N) % 3)}), target="t"
    )
    assert NaiveBayes().fit(rows).classes_.dtype.kind == "i"


def test_classes_beyond_signed_integers_are_kept():
    labels = np.array([2**63 + 1, 2**63 + 3] * (N // 2), dtype=np.uint64)
    rows = scan(pd.DataFrame({"x": X, "t": labels}), target="t", task="classification")
    model = NaiveBayes().fit(rows)
    assert model.classes_.tolist() == [2**63 + 1, 2**63 + 3]
    assert rows.y.tolist() == labels.tolist()


@pytest.mark.parametrize(
    "some",
    [
        lambda labels: pd.Series(labels, dtype="string"),
        lambda labels: pd.Series(labels, dtype=object).where(
            lambda cells: cells.notna(), pd.NA
        ),
        lambda labels: pd.Series(
            [None if one is None else one == "up" for one in labels], dtype="boolean"
        ),
        lambda labels: pd.Series(
            pd.cut(
                [{None: np.nan, "up": 2.0}.get(one, 1.0) for one in labels], [0, 1, 2]
            )
        ),
    ],
    ids=["string", "objects", "boolean", "intervals"],
)
def test_labels_may_be_missing_in_any_type_where_rows_need_none(some):
    labels = some(
        [None if i % 4 == 0 else one for i, one in enumerate(CLASSES.tolist())]
    )
    frame = pd.DataFrame({"x": X})
    one = SelfTrainingClassifier().fit(frame, labels)
    two = SelfTrainingClassifier().fit(scan(frame.assign(t=labels), target="t"))
    assert len(one.classes_) == 2
    np.testing.assert_array_equal(one.predict(frame), two.predict(frame))


# -- weights ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", [["much"] * N, DAYS, [None] * N, [[1, 2]] * N, [dt.date(2020, 1, 1)] * N]
)
def test_weights_that_are_no_numbers_are_named(weights):
    with pytest.raises(ValueError, match=r"[Ss]ample_weight"):
        NearestMean().fit(X[:, None], CLASSES, sample_weight=weights)


def test_weights_of_text_are_an_error_of_lyceum():
    with pytest.raises(
        DataError, match="sample_weight cannot be read as numbers: could not convert"
    ):
        NearestMean().fit(X[:, None], CLASSES, sample_weight=["much"] * N)


# -- names -----------------------------------------------------------------------------


def test_many_columns_of_one_name_are_numbered():
    names = unique_names(["a"] * 30_000)
    assert names[:2] == ["a", "a.1"]
    assert names[-1] == "a.29999"


@pytest.mark.parametrize("n", [4, 10_000])
@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("a", ["\ud800", "b"], r"column 'a' holds '\\ud800', half a character"),
        ("a", ["1", "\ud800"], r"column 'a' holds '\\ud800', half a character"),
        ("\ud800", ["a", "b"], r"the name of a column holds '\\ud800', half a"),
    ],
)
def test_half_a_character_is_refused_by_column(name, cells, words, n):
    # an index of objects: pandas' own type of text refuses it
    columns = pd.Index([name], dtype=object)
    values = np.array(cells * (n // 2), dtype=object)[:, None]
    frame = pd.DataFrame(values, columns=columns, dtype=object)
    with pytest.raises(SchemaError, match=words):
        scan(frame)
