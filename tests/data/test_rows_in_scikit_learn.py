"""Scanned rows in scikit-learn's tools: what a frame gives, or a refusal, never codes in place of
numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import (
    GridSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline

from lyceum import datasets, scan
from lyceum.bayes import NaiveBayes
from lyceum.data import Rows
from lyceum.decomposition import PCA
from lyceum.errors import DataError, SchemaError, SourceError
from lyceum.linear import Ridge
from lyceum.prepare import DropMissing, OneHotEncoder, SimpleImputer
from lyceum.trees import DecisionTreeClassifier

TABLES = {"penguins": "species", "german_credit": "class"}


@pytest.fixture(params=list(TABLES), scope="module")
def table(request):
    """A frame without its target, the target, and the same rows scanned.

    Text is a category type: a part of the frame then has the categories of the whole, as a part of
    rows has.
    """
    target = TABLES[request.param]
    frame = pd.read_csv(datasets.path(request.param))
    texts = [
        name
        for name in frame
        if name != target and frame[name].dtype.kind not in "iufb"
    ]
    frame = frame.astype(dict.fromkeys(texts, "category"))
    return frame.drop(columns=target), frame[target].to_numpy(), scan(frame, target)


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss"])
def test_cross_validated_scores_are_those_of_the_frame(table, scoring):
    frame, y, rows = table
    expected = cross_val_score(NaiveBayes(), frame, y, scoring=scoring, cv=3)
    found = cross_val_score(NaiveBayes(), rows, rows.y, scoring=scoring, cv=3)
    np.testing.assert_allclose(found, expected)


def test_rows_need_no_target_beside_them(table):
    _, _, rows = table
    assert len(cross_val_score(NaiveBayes(), rows, cv=3)) == 3


def test_predictions_and_grid_searches_are_those_of_the_frame(table):
    frame, y, rows = table
    tree = DecisionTreeClassifier(random_state=0)
    predicted = cross_val_predict(tree, rows, rows.y, cv=3)
    assert (predicted == cross_val_predict(tree, frame, y, cv=3)).all()
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 20]}
    on_rows, on_frame = (
        GridSearchCV(tree, grid, cv=2).fit(*data)
        for data in ((rows, rows.y), (frame, y))
    )
    means = [search.cv_results_["mean_test_score"] for search in (on_rows, on_frame)]
    np.testing.assert_allclose(*means)
    assert on_rows.best_params_ == on_frame.best_params_
    assert (on_rows.predict(rows) == on_frame.predict(frame)).all()
    assert on_rows.score(rows, rows.y) == on_frame.score(frame, y)
    assert on_rows.best_estimator_.schema_.same_as(rows.schema)


def test_pipelines_take_rows_and_their_target(table):
    frame, y, rows = table
    model = make_pipeline(SimpleImputer(), NaiveBayes())
    found, expected = (
        cross_val_score(model, *data, cv=3) for data in ((rows, rows.y), (frame, y))
    )
    np.testing.assert_allclose(found, expected)


def test_rows_are_split_and_sliced_into_rows(table):
    _, _, rows = table
    train, test, y_train, _ = train_test_split(rows, rows.y, random_state=0)
    assert isinstance(train, Rows)
    assert len(train) + len(test) == len(rows) == rows.shape[0]
    assert (train.y == y_train).all()
    assert (rows[10:20:3].y == rows.y[10:20:3]).all()
    assert (rows[-3:].y == rows.y[-3:]).all()
    assert (rows[[4, 2, 2]].y == rows.y[[4, 2, 2]]).all()
    assert (rows[np.arange(len(rows)) % 2 == 0].y == rows.y[::2]).all()
    assert rows.shape[1] == len(rows.schema)


@pytest.mark.parametrize("key", [3, "age", (slice(None), 2), np.array([[1, 2]])])
def test_cells_and_columns_are_not_taken_by_a_key(key):
    with pytest.raises(
        DataError, match=r"rows are taken by a list of their places.*ignore="
    ):
        datasets.load("weather")[key]
    with pytest.raises(TypeError, match="not iterable"):
        list(datasets.load("weather"))


def test_a_target_that_is_not_that_of_the_rows_is_refused(table):
    _, _, rows = table
    for other in (rows.y[::-1], rows.y[:-1], np.arange(len(rows))):
        with pytest.raises(DataError, match="carry their target"):
            NaiveBayes().fit(rows, other)
    model = NaiveBayes().fit(rows, list(rows.y))
    with pytest.raises(DataError, match="carry their target"):
        model.score(rows, rows.y[::-1])
    with pytest.raises(DataError, match="carry their target"):
        make_pipeline(DropMissing(), Ridge()).fit(
            scan(pd.DataFrame({"a": [1.0, np.nan], "b": [0.0, 1.0]}), "b"), [0, 1]
        )


def test_categories_are_not_numbers_for_other_libraries(table):
    _, _, rows = table
    name = next(column.name for column in rows.schema if not column.numeric)
    for use in (
        np.asarray,
        lambda rows: Peer().fit(rows, rows.y),
        Peer().fit(np.eye(2), [0, 1]).predict,
    ):
        with pytest.raises(
            SchemaError,
            match=rf"column '{name}' holds categories .*lyceum.prepare.OneHotEncoder",
        ):
            use(rows)
    coded = OneHotEncoder().fit(rows).transform(rows)
    assert np.asarray(coded).shape == (len(rows), len(coded.schema))


def test_numbers_are_numbers_for_other_libraries():
    frame = pd.DataFrame(
        {
            "a": [0.5, 1.5, 2.5, 4.0],
            "flag": [0, 1, 1, 0],
            "on": [True, False, True, True],
        }
    )
    rows = scan(frame.assign(y=[0.0, 1.0, 2.5, 3.0]), target="y")
    np.testing.assert_array_equal(np.asarray(rows), frame.to_numpy(dtype=float))
    np.testing.assert_array_equal(
        np.asarray(PCA(2).fit(rows).transform(rows)), PCA(2).fit_transform(frame)
    )


def test_files_are_cut_in_order(tmp_path):
    path = tmp_path / "t.csv"
    pd.read_csv(datasets.path("penguins")).to_csv(path, index=False)
    memory, stream = (
        scan(path, target="species"),
        scan(path, target="species", memory=0),
    )
    assert stream.shape == memory.shape
    folds = StratifiedKFold(3)
    one, two = (
        cross_val_score(NaiveBayes(), rows, rows.y, cv=folds)
        for rows in (memory, stream)
    )
    np.testing.assert_allclose(one, two)
    with pytest.raises(SourceError, match="are read in order"):
        cross_val_score(
            NaiveBayes(),
            stream,
            cv=ShuffleSplit(2, random_state=0),
            error_score="raise",
        )
