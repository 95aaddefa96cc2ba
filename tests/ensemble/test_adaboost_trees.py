"""AdaBoost of Lyceum's own trees: the quick ways give what the trees' own `fit` gives."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from tests.ensemble.adaboost_cases import cloud
from threadpoolctl import threadpool_limits

from lyceum._core.trees import ARRAYS
from lyceum.ensemble import AdaBoostClassifier
from lyceum.ensemble.boosting import adaboost as _adaboost
from lyceum.ensemble.boosting.adaboost_members import (
    LearnerFitter,
    StumpFitter,
    TreeFitter,
    member_fitter,
)
from lyceum.trees import DecisionTreeClassifier


def used(monkeypatch, teachers):
    """Keeps what `member_fitter` chose."""

    def spy(*arguments):
        teachers.append(member_fitter(*arguments))
        return teachers[-1]

    monkeypatch.setattr(_adaboost, "member_fitter", spy)


def fitted_by(monkeypatch, kind, model, *data):
    with monkeypatch.context() as patch:
        patch.setattr(_adaboost, "member_fitter", kind)
        return model.fit(*data)


def same_trees(one, two):
    assert len(one.estimators_) == len(two.estimators_)
    for a, b in zip(one.estimators_, two.estimators_):
        assert vars(a).keys() == vars(b).keys()
        assert a.random_state == b.random_state
        np.testing.assert_allclose(a.feature_importances_, b.feature_importances_)
        for name in ARRAYS:
            x, y = getattr(a.tree_, name), getattr(b.tree_, name)
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(one.alphas_, two.alphas_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:AdaBoostClassifier gets")
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_quick_stumps_are_the_trees_own(monkeypatch, K, weighted):
    X, y = cloud(K=K, d=7)
    w = (
        np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
        if weighted
        else None
    )
    teachers = []
    used(monkeypatch, teachers)
    quick = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y, w)
    assert isinstance(teachers[0], StumpFitter)
    for kind in (LearnerFitter, TreeFitter):
        plain = AdaBoostClassifier(n_estimators=10, random_state=0)
        same_trees(quick, fitted_by(monkeypatch, kind, plain, X, y, w))


@given(
    cells=st.lists(st.integers(0, 4), min_size=4, max_size=30),
    seed=st.integers(0, 1000),
    K=st.sampled_from([2, 3]),
)
def test_quick_stumps_break_ties_as_the_trees_do(cells, seed, K):
    rng = np.random.default_rng(seed)
    X = np.c_[cells, rng.permutation(cells), rng.integers(0, 3, len(cells))].astype(
        float
    )
    y = rng.integers(0, K, len(cells))
    model = AdaBoostClassifier(n_estimators=1, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        slow = fitted_by(
            patch,
            LearnerFitter,
            AdaBoostClassifier(n_estimators=1, random_state=0),
            X,
            y,
        )
    same_trees(model.fit(X, y), slow)


@pytest.mark.parametrize("method", ["reweight", "resample"])
@pytest.mark.parametrize(
    "tree",
    [
        DecisionTreeClassifier(max_depth=3),
        DecisionTreeClassifier(max_depth=1, criterion="entropy"),
        DecisionTreeClassifier(max_depth=2, splitter="random"),
        DecisionTreeClassifier(max_leaf_nodes=5, missing="fractions"),
    ],
    ids=["three levels", "entropy", "random", "fractions"],
)
def test_ranking_columns_once_changes_nothing(monkeypatch, tree, method):
    rng = np.random.default_rng(0)
    X, y = cloud(300, K=3)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        town=rng.choice(["Ulm", "Bonn", "Köln"], 300), smokes=rng.random(300) < 0.5
    )
    frame.loc[::5, "a"] = np.nan
    frame.loc[::9, "town"] = None
    settings = {"n_estimators": 6, "method": method, "random_state": 3}
    teachers = []
    used(monkeypatch, teachers)
    quick = AdaBoostClassifier(tree, **settings).fit(frame, y)
    assert isinstance(teachers[0], TreeFitter)
    slow = fitted_by(
        monkeypatch, LearnerFitter, AdaBoostClassifier(tree, **settings), frame, y
    )
    same_trees(quick, slow)
    np.testing.assert_allclose(
        quick.predict_proba(frame), slow.predict_proba(frame), rtol=1e-9
    )


@pytest.mark.parametrize(
    "tree",
    [
        DecisionTreeClassifier(max_depth=1, class_weight="balanced"),
        DecisionTreeClassifier(max_depth=4, pruning="pessimistic"),
        DecisionTreeClassifier(max_depth=2, loss_matrix=[[0, 1], [5, 0]]),
        DecisionTreeClassifier(max_depth=1, max_bins=8),
    ],
    ids=["class_weight", "pruning", "loss", "bins"],
)
def test_trees_that_do_more_than_grow_are_fitted_as_they_are(monkeypatch, tree):
    X, y = cloud()
    teachers = []
    used(monkeypatch, teachers)
    model = AdaBoostClassifier(tree, 4, random_state=0).fit(X, y)
    assert type(teachers[0]) is LearnerFitter
    said = np.array([member.predict(X) for member in model.estimators_])
    np.testing.assert_allclose(
        model.decision_function(X), model.alphas_ @ (2.0 * said - 1.0), atol=1e-12
    )


@pytest.mark.syllabus("11.4")
@pytest.mark.parametrize("K", [2, 3])
def test_boosted_stumps_from_their_definition(K):
    """Every threshold of every column tried, Gini impurity, weights multiplied by e^(2α) where it
    errs."""
    X, y = cloud(80, K=K, d=3)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    D = np.full(80, 1 / 80)
    for member, error, alpha in zip(model.estimators_, model.errors_, model.alphas_):
        best = (np.inf,)
        for j in range(3):
            values = np.sort(X[:, j])
            for a, b in pairwise(values):
                left = X[:, j] <= (a + b) / 2
                sides = [
                    [D[side & (y == k)].sum() for k in range(K)]
                    for side in (left, ~left)
                ]
                impurity = sum(sum(s) - sum(v * v for v in s) / sum(s) for s in sides)
                if impurity < best[0] - 1e-12:
                    best = (
                        impurity,
                        j,
                        (a + b) / 2,
                        np.where(left, *np.argmax(sides, axis=1)),
                    )
        assert member.tree_.feature[0] == best[1]
        assert member.tree_.threshold[0] == pytest.approx(best[2])
        wrong = best[3] != y
        assert error == pytest.approx(D[wrong].sum())
        assert alpha == pytest.approx(
            0.5 * (np.log((1 - error) / error) + np.log(K - 1))
        )
        D = D * np.exp(2 * alpha * wrong)
        D /= D.sum()


@pytest.mark.parametrize("K", [2, 4])
def test_boosted_stumps_are_scikit_learns(K):
    X, y = cloud(1000, K=K, d=6)
    theirs = TheirAdaBoost(n_estimators=15, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(n_estimators=15).fit(X, y)
    np.testing.assert_allclose(ours.errors_, theirs.estimator_errors_, rtol=1e-8)
    np.testing.assert_allclose(2.0 * ours.alphas_, theirs.estimator_weights_, rtol=1e-8)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_rounds_on_many_rows_stay_sound():
    """Weights differ by many orders of magnitude after some rounds, and rounding must not look like
    gain."""
    X, y = cloud(20_000, K=3, d=5)
    model = AdaBoostClassifier(n_estimators=60).fit(X, y)
    assert len(model.estimators_) == 60
    for member in model.estimators_:
        assert (member.tree_.n_rows[1:] > 0).all()
        assert 1e-8 < member.tree_.gain[0] < 1.0
    assert (np.diff(model.history_) < 0).all()


def test_columns_without_anything_to_learn_are_left_to_the_tree():
    X = np.c_[np.ones(8), [0, 0, 0, 0, 1, 1, 1, 1.0]]
    # nothing to gain anywhere
    model = AdaBoostClassifier(n_estimators=5).fit(X, [0, 0, 1, 1] * 2)
    assert model.stopped_ == "no better than chance"
    perfect = AdaBoostClassifier(n_estimators=5).fit(X, [0] * 4 + [1] * 4)
    assert perfect.stopped_ == "a member without error"
    assert perfect.estimators_[0].tree_.threshold[0] == 0.5
    one = AdaBoostClassifier(n_estimators=5).fit(X, [1] * 8)
    assert one.predict(X).tolist() == [1] * 8


def test_stumps_of_neighboring_floats_part_them():
    a = 1.0
    b = np.nextafter(a, 2.0)
    X, y = np.array([[a], [a], [b], [b]]), [0, 0, 1, 1]
    assert AdaBoostClassifier(n_estimators=1).fit(X, y).predict(X).tolist() == y


def test_threads_do_not_change_a_bit():
    X, y = cloud(20_000, K=2, d=9)
    results = []
    for count in (1, 2):
        with threadpool_limits(count):
            model = AdaBoostClassifier(n_estimators=20).fit(X, y)
            results.append((model.alphas_, model.history_, model.predict_proba(X)))
    for one, two in zip(*results):
        np.testing.assert_array_equal(one, two)


def test_a_warm_start_goes_on_with_quick_stumps():
    X, y = cloud()
    parts = AdaBoostClassifier(n_estimators=7, warm_start=True, random_state=0).fit(
        X, y
    )
    parts.set_params(n_estimators=19).fit(X, y)
    whole = AdaBoostClassifier(n_estimators=19, random_state=0).fit(X, y)
    np.testing.assert_array_equal(parts.alphas_, whole.alphas_)
    same_trees(parts, whole)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("depth", [1, 3])
def test_explanations_sum_to_the_log_odds_against_the_runner_up(K, depth):
    X, y = cloud(K=K)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), 8).fit(X, y)
    explained = model.explain(X[:50])
    log_proba = np.sort(model.predict_log_proba(X[:50]), axis=1)
    np.testing.assert_allclose(
        explained.scores, log_proba[:, -1] - log_proba[:, -2], atol=1e-9
    )
    assert (explained.predicted == model.predict(X[:50])).all()
    assert explained.unit == "log-odds against the runner-up"


def test_contributions_of_stumps_are_functions_of_one_column():
    X, y = cloud()
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    moved = X.copy()
    moved[:, 0] += 5.0
    sign = (
        np.where(model.predict(X) == 1, 1.0, -1.0)[:, None],
        np.where(model.predict(moved) == 1, 1.0, -1.0)[:, None],
    )
    before, after = (
        model.explain(X).contributions * sign[0],
        model.explain(moved).contributions * sign[1],
    )
    np.testing.assert_allclose(before[:, 1:], after[:, 1:], atol=1e-9)


def test_a_pickle_of_many_stumps_is_small_and_the_same():
    X, y = cloud()
    model = AdaBoostClassifier(n_estimators=60, random_state=0).fit(X, y)
    data = pickle.dumps(model)
    assert len(data) < 60_000
    again = pickle.loads(data)
    same_trees(model, again)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert (
        again.estimators_[3].predict(X).tolist()
        == model.estimators_[3].predict(X).tolist()
    )
    again.set_params(n_estimators=65, warm_start=True).fit(X, y)
    assert len(again.estimators_) == 65
