"""Importances against scikit-learn's, and of columns that are known to matter or not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance as theirs
from sklearn.linear_model import LogisticRegression as SparseLearner
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.table_builders import from_scikit

from lyceum._core.trees import impurity_importances
from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.errors import DataError, SettingError, SourceError
from lyceum.linear import LinearRegression
from lyceum.trees.permutation import permutation_importance


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_impurity_importances_are_those_of_scikit_learn(criterion):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(120, 5)), rng.uniform(0.5, 2, 120)
    y = X[:, 1] + rng.normal(size=120)
    if criterion == "squared_error":
        model = DecisionTreeRegressor(max_depth=5).fit(X, y, w)
    else:
        model = DecisionTreeClassifier(criterion=criterion, max_depth=5).fit(
            X, y > 0, w
        )
    tree = from_scikit(model)
    assert_allclose(
        impurity_importances(tree, 5), model.feature_importances_, rtol=1e-9, atol=1e-12
    )
    fall = model.tree_.compute_feature_importances(normalize=False)
    assert_allclose(
        impurity_importances(tree, 5, normalize=False), fall, rtol=1e-9, atol=1e-12
    )


def test_importances_of_a_forest_are_the_mean_of_its_trees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.normal(size=80)
    model = RandomForestRegressor(6, random_state=0, max_depth=3).fit(X, y)
    trees = [from_scikit(member) for member in model.estimators_]
    assert_allclose(
        impurity_importances(trees, 4), model.feature_importances_, rtol=1e-9
    )


def test_a_tree_of_one_node_has_no_importances():
    tree = from_scikit(DecisionTreeClassifier().fit([[0.0], [0.0]], [0, 1]))
    assert impurity_importances(tree, 3).tolist() == [0.0, 0.0, 0.0]
    assert impurity_importances([tree, tree], 3, normalize=False).tolist() == [
        0.0,
        0.0,
        0.0,
    ]


def mixed(n=120):
    rng = np.random.default_rng(0)
    sky, heat, idle = rng.integers(0, 3, n), rng.normal(size=n), rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "sky": pd.Categorical.from_codes(sky, ["sun", "rain", "snow"]),
            "heat": heat,
            "idle": pd.Categorical.from_codes(idle, ["no", "yes"]),
        }
    )
    return (
        frame,
        np.where((sky > 0) ^ (heat > 1.0), "in", "out"),
        rng.uniform(0.5, 2, n),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_shuffling_falls_are_those_of_scikit_learn_within_their_spread(weighted):
    frame, y, w = mixed()
    w = w if weighted else None
    model = NaiveBayes().fit(frame, y)
    ours = permutation_importance(model, frame, y, n_repeats=15, sample_weight=w)
    other = theirs(model, frame, y, n_repeats=15, sample_weight=w, random_state=1)
    se = np.sqrt((ours.sd**2 + other.importances_std**2) / 15)
    assert (np.abs(ours.mean - other.importances_mean) <= 4 * se + 1e-12).all()
    assert ours.score == pytest.approx(model.score(frame, y, w))
    assert np.argmax(ours.mean) == 0


def test_every_kind_of_frame_gives_the_same_falls():
    frame, y, _ = mixed()
    model = NaiveBayes().fit(frame, y)
    first = permutation_importance(model, frame, y, random_state=3)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        again = permutation_importance(model, table, y, random_state=3)
        assert_allclose(again.drops, first.drops)
        assert list(again.names) == ["sky", "heat", "idle"]


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_scanned_rows_carry_their_target_and_weights(scoring):
    frame, y, w = mixed()
    rows = scan(frame.assign(y=y, w=w), target="y", weight="w")
    model = NaiveBayes().fit(rows)
    given = permutation_importance(
        model, frame, y, sample_weight=w, scoring=scoring, random_state=3
    )
    for own in ({}, {"y": rows.y}):
        found = permutation_importance(
            model, rows, **own, scoring=scoring, random_state=3
        )
        assert_allclose(found.drops, given.drops, rtol=1e-10, atol=1e-12)
        assert found.score == pytest.approx(given.score)
    with pytest.raises(DataError, match="carry their target"):
        permutation_importance(model, rows, np.roll(y, 1))
    with pytest.raises(DataError, match="give y, the target of every row of X"):
        permutation_importance(model, frame)


def test_an_array_dense_or_sparse_gives_the_same_falls():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)) * (rng.uniform(size=(60, 3)) < 0.5)
    y = (X[:, 0] > 0).astype(int)
    model = SparseLearner().fit(X, y)
    dense = permutation_importance(model, X, y, random_state=1)
    thin = permutation_importance(model, sparse.csr_array(X), y, random_state=1)
    assert_allclose(thin.drops, dense.drops)
    assert dense.mean[0] > 0.1 > abs(dense.mean[1])


def test_a_column_that_is_not_used_has_no_importance_and_X_is_left_alone():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    X.flags.writeable = False
    frame = pd.DataFrame(X, columns=list("abc"))
    copy = frame.copy()
    y = 2 * X[:, 0] - X[:, 1]
    model = LinearRegression().fit(frame, y)
    result = permutation_importance(
        model, frame, y, scoring="neg_mean_squared_error", n_repeats=1
    )
    many = permutation_importance(
        model, frame, y, scoring="neg_mean_squared_error", n_repeats=40
    )
    assert result.mean[2] == pytest.approx(0.0, abs=1e-9)
    assert result.sd.tolist() == [0.0, 0.0, 0.0]
    # shuffled apart, E (x − x')² = 2 Var x, so that the falls are about 2 β² Var x
    assert many.mean[:2] == pytest.approx(
        2 * np.array([4.0, 1.0]) * X[:, :2].var(axis=0), rel=0.05
    )
    pd.testing.assert_frame_equal(frame, copy)


def test_missing_cells_are_shuffled_with_their_column():
    X = np.array([[np.nan, 1.0], [0.0, 2.0], [1.0, 3.0], [np.nan, 4.0]])

    class Gaps(BaseEstimator):
        def fit(self, X, y):
            self.fitted_ = True
            return self

        def predict(self, X):
            assert np.isnan(X[:, 0]).sum() == 2
            return np.isnan(X[:, 0]).astype(int)

        def score(self, X, y):
            return float(np.mean(self.predict(X) == y))

    result = permutation_importance(Gaps().fit(X, None), X, [1, 0, 0, 1], n_repeats=20)
    assert result.score == 1.0
    assert result.mean[0] > 0.2
    assert result.mean[1] == 0.0


def test_the_table_puts_the_most_important_column_first():
    frame, y, _ = mixed()
    result = permutation_importance(NaiveBayes().fit(frame, y), frame, y)
    assert result.table().rows[0][0] == "sky"
    assert "fall of the score" in str(result)
    assert "<table>" in result._repr_html_()


def test_a_seed_repeats_its_falls():
    frame, y, _ = mixed()
    model = NaiveBayes().fit(frame, y)
    one, two, other = (
        permutation_importance(model, frame, y, random_state=s).drops for s in (5, 5, 6)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_rows_that_are_not_in_memory_are_refused():
    frame, y, _ = mixed()
    model = NaiveBayes().fit(frame, y)
    with pytest.raises(SourceError, match="a table in memory"):
        permutation_importance(model, iter(()), y)


@pytest.mark.parametrize("n_repeats", [0, -1, 2.5, "many"])
def test_columns_are_shuffled_at_least_once(n_repeats):
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(
        SettingError, match="n_repeats must be a whole number of at least 1"
    ):
        permutation_importance(model, [[0.0], [1.0]], [0, 1], n_repeats=n_repeats)
