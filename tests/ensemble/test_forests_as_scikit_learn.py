"""Forests and boosting as scikit-learn has them: several targets, pruning, losses and scorers."""

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.datasets import load_diabetes, load_iris

from lyceum.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from lyceum.errors import DataError
from lyceum.trees import DecisionTreeClassifier


@pytest.fixture
def diabetes():
    return load_diabetes(return_X_y=True)


def test_a_forest_of_several_classes_averages_its_trees(recwarn):
    X, y = load_iris(return_X_y=True)
    Y = np.column_stack([y, X[:, 0] > 5.8])
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, Y)
    assert [proba.shape for proba in forest.predict_proba(X)] == [(150, 3), (150, 2)]
    members = [tree.predict_proba(X) for tree in forest.estimators_]
    for output, proba in enumerate(forest.predict_proba(X)):
        mean = np.mean([member[output] for member in members], axis=0)
        np.testing.assert_allclose(proba, mean, atol=1e-12)
    assert (forest.predict(X) == Y).mean() > 0.98
    assert 0.9 < forest.oob_score_ <= 1.0


def test_extra_trees_learn_several_numbers(diabetes):
    X, y = diabetes
    Y = np.column_stack([y, -y])
    model = ExtraTreesRegressor(20, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) == pytest.approx(1.0)


def test_a_forest_shows_nodes_and_rows_of_all_trees(diabetes):
    X, y = diabetes
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)
    visits, starts = forest.decision_path(X)
    assert visits.shape == (len(X), starts[-1])
    ends = forest.apply(X)
    for tree in range(5):
        own = visits[:, starts[tree] : starts[tree + 1]].toarray()
        assert (own[np.arange(len(X)), ends[:, tree]] == 1).all()
        assert (own[:, 0] == 1).all()


def test_pruned_and_monotone_forests(diabetes):
    X, y = diabetes
    whole = RandomForestRegressor(5, random_state=0).fit(X, y)
    pruned = RandomForestRegressor(5, random_state=0, ccp_alpha=100.0).fit(X, y)
    sizes = [sum(tree.n_nodes for tree in model.trees_) for model in (pruned, whole)]
    assert sizes[0] < sizes[1] / 3
    directions = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    rising = RandomForestRegressor(20, random_state=0, monotonic_cst=directions)
    rising.fit(X, y)
    grid = np.repeat(X[:20], 10, axis=0)
    grid[:, 2] = np.tile(np.linspace(-0.1, 0.15, 10), 20)
    assert (np.diff(rising.predict(grid).reshape(20, 10), axis=1) >= -1e-9).all()


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_boosting_by_a_deviance_is_scikit_learns(diabetes, loss):
    X, y = diabetes
    X, y = X[:200], y[:200]  # few enough values for the same bins
    ours = HistGradientBoostingRegressor(loss, min_samples_leaf=20, max_iter=30)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(loss=loss, max_iter=30)
    np.testing.assert_allclose(
        ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X), rtol=1e-5
    )
    with pytest.raises(DataError, match=f"loss='{loss}' requires"):
        ours.fit(X, -y)


def test_boosting_predicts_the_quantile_that_is_asked_for(diabetes):
    X, y = diabetes
    model = HistGradientBoostingRegressor("quantile", quantile=0.2).fit(X, y)
    assert np.mean(y < model.predict(X)) == pytest.approx(0.2, abs=0.03)


def test_early_stopping_judges_by_a_scorer(diabetes):
    X, y = diabetes
    labels = np.where(y > 140, "high", "low")
    settings = {"early_stopping": True, "random_state": 0, "n_iter_no_change": 3}
    model = HistGradientBoostingClassifier(scoring="roc_auc", **settings).fit(X, labels)
    assert model.validation_score_[0] == 0.5  # a constant
    assert model.n_iter_ == len(model.validation_score_) - 1
    model.set_params(keep_best=True).fit(X, labels)
    assert model.n_iter_ == np.argmax(model.validation_score_)
    own = HistGradientBoostingClassifier(scoring=None, **settings).fit(X, labels)
    accuracy = HistGradientBoostingClassifier(scoring="accuracy", **settings)
    accuracy.fit(X, labels)
    np.testing.assert_array_equal(own.validation_score_, accuracy.validation_score_)


def test_votes_are_hard_unless_asked_and_members_can_be_dropped():
    X, y = load_iris(return_X_y=True)
    members = [
        ("stump", DecisionTreeClassifier(max_depth=1)),
        ("tree", DecisionTreeClassifier(max_depth=3)),
        ("third", DecisionTreeClassifier(max_depth=2)),
    ]
    theirs = sklearn.ensemble.VotingClassifier(members).fit(X, y)
    ours = VotingClassifier(members).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    soft = VotingClassifier(members, voting="soft").fit(X, y)
    theirs = sklearn.ensemble.VotingClassifier(members, voting="soft").fit(X, y)
    np.testing.assert_allclose(soft.predict_proba(X), theirs.predict_proba(X))
    fewer = VotingClassifier(members, weights=[1, 2, 3]).set_params(stump="drop")
    fewer.fit(X, y)
    assert fewer.weights_.tolist() == [0.4, 0.6]
    assert fewer.named_estimators_["stump"] == "drop"
    assert len(fewer.estimators_) == 2
