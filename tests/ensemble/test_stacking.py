"""Stacking: no row's own label is in its level-0 answers."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SkDiscriminant
from sklearn.ensemble import StackingRegressor as SkStacking
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as SkLinear
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB as SkBayes
from sklearn.tree import DecisionTreeRegressor as SkTree

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.ensemble import StackingClassifier, StackingRegressor
from lyceum.errors import DataError
from lyceum.linear import LogisticRegression, Ridge
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the label of every row that it has seen, and says 0 of others: leaks whatever can
    leak."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = {
            row.tobytes(): label for row, label in zip(np.asarray(X, dtype=float), y)
        }
        return self

    def predict(self, X):
        return np.array(
            [self.known_.get(row.tobytes(), 0) for row in np.asarray(X, dtype=float)]
        )


class Watching(ClassifierMixin, BaseEstimator):
    """Keeps the level-1 rows that it was fitted on."""

    def fit(self, X, y):
        self.classes_, self.rows_, self.y_ = np.unique(y), np.array(X), np.array(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class NumberMemory(RegressorMixin, Memory):
    pass


@pytest.mark.syllabus("11.5")
@pytest.mark.parametrize("cv", [3, "leave_one_out", KFold(4)])
def test_no_level_0_answer_knows_its_own_label(cv):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    model = StackingClassifier(
        [("memory", Memory())], Watching(), cv=cv, random_state=0
    ).fit(X, y)
    assert (
        model.final_estimator_.rows_ == 0
    ).all()  # the memory never knew a row that it was asked about
    np.testing.assert_array_equal(model.final_estimator_.y_, y)
    # but after the refit on all rows it knows them all
    assert (model.level0(X)[:, 0] == y).all()


@pytest.mark.syllabus("11.5")
def test_it_is_stacking_as_another_library_does_it():
    X, y = load_diabetes(return_X_y=True)
    members = [("lin", SkLinear()), ("tree", SkTree(max_depth=2, random_state=0))]
    cv = KFold(5)
    ours = StackingRegressor(members, SkLinear(), cv=cv).fit(X, y)
    theirs = SkStacking(members, SkLinear(), cv=cv)
    theirs.set_params(tree__random_state=ours.estimators_[1].random_state).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)


@pytest.mark.parametrize("passthrough", [False, True])
def test_mixed_tables_with_missing_cells_reach_both_levels(passthrough):
    penguins = load("penguins")
    final = DecisionTreeClassifier(max_depth=4) if passthrough else None
    model = StackingClassifier(
        final_estimator=final, passthrough=passthrough, random_state=0
    ).fit(penguins)
    assert model.score(penguins) > 0.97
    width = len(model.final_estimator_.schema_)
    assert width == 9 + (len(penguins.schema) if passthrough else 0)
    assert "Final estimator" in str(model.summary()) or passthrough


def test_of_two_classes_one_posterior_is_enough():
    X, y = load_iris(return_X_y=True)
    model = StackingClassifier(
        [NaiveBayes(), DecisionTreeClassifier()], random_state=0
    ).fit(X[:100], y[:100])
    assert model.level0_names_ == ["naivebayes: 1", "decisiontreeclassifier: 1"]


def test_the_seed_decides_all_and_threads_nothing():
    X, y = load_iris(return_X_y=True)
    one, two = (
        StackingClassifier(random_state=3).fit(X, y).predict_proba(X) for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


def test_rows_that_no_fold_tests_are_not_learned_from_at_level_1():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    once = [(np.arange(20), np.arange(20, 25))]
    model = StackingClassifier([("memory", Memory())], Watching(), cv=once).fit(X, y)
    assert len(model.final_estimator_.rows_) == 5
    with pytest.raises(DataError, match="nothing for the final learner"):
        StackingClassifier(
            [("memory", Memory())], Watching(), cv=[(np.arange(30), np.arange(0))]
        ).fit(X, y)


def test_weights_reach_members_and_the_final_learner():
    X, y = load_diabetes(return_X_y=True)
    w = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    members = [("ridge", Ridge(alpha=1.0))]
    cv = [
        (np.arange(0, 300), np.arange(300, 442)),
        (np.arange(142, 442), np.arange(142)),
    ]
    model = StackingRegressor(members, Ridge(alpha=1e-9), cv=cv).fit(
        X, y, sample_weight=w
    )
    said, rows = np.empty(0), np.empty(0, dtype=int)
    for train, test in cv:
        said = np.append(
            said, Ridge(alpha=1.0).fit(X[train], y[train], w[train]).predict(X[test])
        )
        rows = np.append(rows, test)
    final = Ridge(alpha=1e-9).fit(said[:, None], y[rows], w[rows])
    np.testing.assert_allclose(model.final_estimator_.coef_, final.coef_, rtol=1e-9)


def test_a_stack_is_saved_and_loaded(tmp_path):
    penguins = load("penguins")
    model = StackingClassifier(
        final_estimator=LogisticRegression(), random_state=0
    ).fit(penguins)
    again = lyceum.load(lyceum.save(model, tmp_path / "stack.skops"))
    np.testing.assert_array_equal(
        again.predict_proba(penguins), model.predict_proba(penguins)
    )


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_a_stack_does_not_depend_on_the_unit_of_the_target(unit, passthrough):
    """A penalty in the target's unit left nothing but a constant of small numbers."""
    X, y = load_diabetes(return_X_y=True)

    def predictions(target):
        model = StackingRegressor(cv=3, passthrough=passthrough, random_state=0)
        return model.fit(X[:150], target[:150]).predict(X[150:])

    # the members' own penalties are on the columns of X, in the same units in both fits
    np.testing.assert_allclose(predictions(unit * y), unit * predictions(y), rtol=1e-6)


@pytest.mark.syllabus("11.5.1")
@pytest.mark.parametrize("passthrough", [False, True])
def test_the_level_0_table_is_kept_as_another_library_predicts_out_of_fold(passthrough):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    members = [("bayes", SkBayes()), ("lda", SkDiscriminant())]
    cv = StratifiedKFold(5)
    model = StackingClassifier(
        members, LogisticRegression(), cv=cv, passthrough=passthrough
    ).fit(X, labels)
    by_hand = [
        cross_val_predict(member, X, labels, cv=cv, method="predict_proba")
        for _, member in members
    ]
    np.testing.assert_allclose(model.level0_, np.hstack(by_hand), rtol=1e-12)
    assert model.level0_rows_.tolist() == list(range(150))
    table = model.level0_table()
    assert list(table.columns) == ["row", *model.level0_names_, "y"]
    assert table.rows[70][0] == 70
    assert table.rows[70][-1] == labels[70]
    np.testing.assert_allclose(table.rows[70][1:-1], np.hstack(by_hand)[70])
    assert "Level-0 table, first 5 rows" in str(model.summary())


def test_the_level_0_table_has_the_rows_that_some_fold_tests(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    once = [(np.arange(200), np.arange(200, 210))]
    members = [("ridge", Ridge(alpha=1.0))]
    model = StackingRegressor(members, Ridge(), cv=once).fit(X, y)
    assert model.level0_rows_.tolist() == list(range(200, 210))
    np.testing.assert_array_equal(model.level0_target_, y[200:210])
    expected = Ridge(alpha=1.0).fit(X[:200], y[:200]).predict(X[200:210])
    np.testing.assert_allclose(model.level0_[:, 0], expected)
    lyceum.save(model, tmp_path / "stack.lyceum")
    loaded = lyceum.load(tmp_path / "stack.lyceum")
    assert str(loaded.level0_table()) == str(model.level0_table())


def test_members_that_are_fitted_already_stay_as_they_are():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    tree = DecisionTreeClassifier(max_depth=2).fit(X[:40], y[:40])
    model = StackingClassifier([("tree", tree)], cv="prefit").fit(X[40:], y[40:])
    assert model[0] is tree
    expected = tree.predict_proba(X)[:, 1:]
    np.testing.assert_array_equal(model.transform(X), expected)
    np.testing.assert_array_equal(model.level0_, expected[40:])
    with pytest.raises(NotFittedError):
        StackingClassifier([("tree", DecisionTreeClassifier())], cv="prefit").fit(X, y)


def test_columns_for_the_final_learner():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = X[:, 0] + X[:, 1]
    members = [("tree", DecisionTreeRegressor(max_depth=2)), ("line", Ridge())]
    model = StackingRegressor(members, passthrough=True, cv=3).fit(X, y)
    answers = np.column_stack([member.predict(X) for member in model])
    np.testing.assert_array_equal(model.transform(X), np.hstack([answers, X]))
    names = ["stackingregressor_tree", "stackingregressor_line", "x0", "x1", "x2"]
    assert model.get_feature_names_out().tolist() == names
