"""Trees of forests and of boosting as learners, with what they were grown on, as scikit-learn shows
them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as TheirLogistic

from lyceum.datasets import load
from lyceum.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from lyceum.linear import LogisticRegression
from lyceum.plot import tree as draw_tree

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "target", "K"),
    [
        (HistGradientBoostingClassifier(max_iter=4), y, 3),
        (HistGradientBoostingClassifier(max_iter=4), y > 0, 1),
        (HistGradientBoostingRegressor(max_iter=4), X[:, 0], 1),
    ],
)
def test_the_trees_of_boosting_add_up_to_its_scores(model, target, K):
    model.fit(X, target)
    assert len(model) == 4
    assert model.estimators_.shape == (4, K)
    assert model[0].shape == (K,)
    total = np.tile(model.baseline_, (len(X), 1))
    for trees in model:
        total += np.column_stack([tree.predict(X) for tree in trees])
    scores = (
        model.decision_function(X)
        if hasattr(model, "decision_function")
        else model.predict(X)
    )
    np.testing.assert_allclose(total, scores.reshape(len(X), -1), atol=1e-12)


def leaf_values(nodes, cells):
    """The value of the node where every row ends, by scikit-learn's fields."""
    place = np.zeros(len(cells), dtype=int)
    for _ in range(int(nodes["depth"].max())):
        node = nodes[place]
        known = cells[np.arange(len(cells)), node["feature_idx"]]
        left = np.where(
            np.isnan(known),
            node["missing_go_to_left"] == 1,
            known <= node["num_threshold"],
        )
        below = np.where(left, node["left"], node["right"])
        place = np.where(node["is_leaf"] == 1, place, below)
    return nodes["value"][place]


@pytest.mark.parametrize("target", [y, y > 0])
def test_the_nodes_that_shap_reads_add_up_to_the_scores(target):
    cells = X.copy()
    cells[::5, 2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=4).fit(cells, target)
    total = np.repeat(model._baseline_prediction, len(X), axis=0)
    for trees in model._predictors:
        total += np.column_stack([leaf_values(tree.nodes, cells) for tree in trees])
    scores = model.decision_function(cells).reshape(len(X), -1)
    np.testing.assert_allclose(total, scores, atol=1e-12)


def test_splits_by_categories_have_no_thresholds_to_read():
    model = HistGradientBoostingClassifier(max_iter=2).fit(load("heart_disease"))
    with pytest.raises(AttributeError, match="groups of categories"):
        model._predictors  # noqa: B018


def test_boosting_starts_from_a_dummy_of_its_constant():
    numbers = GradientBoostingRegressor(n_estimators=2).fit(X, X[:, 0])
    np.testing.assert_allclose(numbers.init_.constant_[0], numbers.baseline_)
    quantiles = GradientBoostingRegressor(loss="quantile", n_estimators=2)
    quantiles.fit(X, X[:, 0])
    assert quantiles.init_.quantile == 0.9
    np.testing.assert_allclose(quantiles.init_.predict(X[:1]), quantiles.baseline_)
    classes = GradientBoostingClassifier(n_estimators=2).fit(X, y > 0)
    np.testing.assert_allclose(classes.init_.class_prior_, [1 / 3, 2 / 3])
    zero = GradientBoostingClassifier(n_estimators=2, init="zero").fit(X, y)
    assert zero.init_ == "zero"


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesClassifier])
def test_a_tree_grows_again_from_its_rows_and_random_state(kind, bootstrap):
    cells = np.random.default_rng(0).normal(size=(80, 4))
    target = cells[:, 0] ** 2 + cells[:, 1]
    if kind is ExtraTreesClassifier:
        target = target > 1.0
    forest = kind(3, max_features=0.5, bootstrap=bootstrap, random_state=1)
    forest.fit(cells, target)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        again = clone(tree).fit(cells[rows], target[rows])
        np.testing.assert_allclose(again.tree_.value, tree.tree_.value)
        np.testing.assert_allclose(again.tree_.threshold, tree.tree_.threshold)


def test_a_tree_of_boosting_can_be_read_and_drawn():
    model = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3).fit(
        load("heart_disease")
    )
    tree = model[0, 0]
    assert tree.text().startswith(
        "log-odds of 1  [n 303]\nthal in {fixed defect, reversable defect}"
    )
    assert "impurity" not in tree.summary().facts
    assert draw_tree(tree) is not None


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_rows_of_every_tree_are_those_it_was_grown_on(forest):
    w = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)
    model = forest(6, bootstrap=True, max_samples=60, random_state=0).fit(
        X, y, sample_weight=w
    )
    samples = model.estimators_samples_
    assert [len(rows) for rows in samples] == [60] * 6
    for tree, rows in zip(model, samples):
        assert (w[rows] > 0).all()
        np.testing.assert_array_equal(
            tree.tree_.node_values[0], np.bincount(y[rows], minlength=3)
        )


def test_without_bootstrap_every_tree_has_all_rows():
    model = ExtraTreesClassifier(2, random_state=0).fit(X, y)
    assert all((rows == np.arange(150)).all() for rows in model.estimators_samples_)


def test_out_of_bag_predictions_are_of_trees_without_the_row():
    model = RandomForestRegressor(20, oob_score=True, random_state=0).fit(
        X[:, 1:], X[:, 0]
    )
    unseen = [
        [tree for tree, rows in zip(model, model.estimators_samples_) if i not in rows]
        for i in (3, 70)
    ]
    expected = [
        np.mean([tree.predict(X[i : i + 1, 1:])[0] for tree in trees])
        for i, trees in zip((3, 70), unseen)
    ]
    np.testing.assert_allclose(model.oob_prediction_[[3, 70]], expected)


def test_bagging_names_all_columns_where_it_draws_none():
    model = BaggingClassifier(n_estimators=2, random_state=0).fit(X, y)
    assert [columns.tolist() for columns in model.estimators_features_] == [
        [0, 1, 2, 3]
    ] * 2


def test_balanced_subsamples_give_every_class_the_same_weight_in_every_tree():
    few = np.r_[0:50, 50:60, 100:105]
    model = RandomForestClassifier(
        5, class_weight="balanced_subsample", random_state=0
    ).fit(X[few], y[few])
    for tree in model:
        present = tree.tree_.node_values[0][tree.tree_.node_values[0] > 0]
        np.testing.assert_allclose(present, present[0])
    whole = [
        RandomForestClassifier(5, class_weight=w, bootstrap=False, random_state=0).fit(
            X[few], y[few]
        )
        for w in ("balanced", "balanced_subsample")
    ]
    np.testing.assert_array_equal(whole[0].predict_proba(X), whole[1].predict_proba(X))


@pytest.mark.parametrize("target", [y, y > 0], ids=["three classes", "two"])
def test_scores_of_bagged_members_are_averaged(target):
    model = BaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0).fit(
        X, target
    )
    expected = np.mean([member.decision_function(X) for member in model], axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)
    assert not hasattr(BaggingClassifier(), "decision_function")  # trees have none


class Unweighted(ClassifierMixin, BaseEstimator):
    """A classifier whose `fit` takes no weights: it is given the rows that were drawn."""

    def __init__(self, inner):
        self.inner = inner

    def fit(self, X, y):
        self.inner_ = clone(self.inner).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def decision_function(self, X):
        return self.inner_.decision_function(X)


def test_a_bagged_member_that_missed_a_class_gives_it_its_least_score():
    inner = Unweighted(TheirLogistic())
    model = BaggingClassifier(inner, max_samples=4, n_estimators=9, random_state=2)
    model.fit(X, y)
    few = [member for member in model if len(member.classes_) == 2]
    assert few
    scores = model.decision_function(X)
    assert scores.shape == (150, 3)
    assert np.isfinite(scores).all()


def test_stages_of_adaboost_have_scores():
    model = AdaBoostRegressor(n_estimators=4, random_state=0).fit(X[:, 1:], X[:, 0])
    assert list(model.staged_score(X[:, 1:], X[:, 0]))[-1] == pytest.approx(
        model.score(X[:, 1:], X[:, 0])
    )
