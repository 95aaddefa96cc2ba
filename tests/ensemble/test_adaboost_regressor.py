"""AdaBoost for regression: AdaBoost.R2."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.ensemble import AdaBoostRegressor as TheirAdaBoost
from sklearn.linear_model import LinearRegression as TheirLine
from sklearn.neighbors import KNeighborsRegressor

from lyceum import datasets
from lyceum.ensemble import AdaBoostRegressor
from lyceum.errors import SettingError
from lyceum.linear import LinearRegression
from lyceum.trees import DecisionTreeRegressor


def cloud(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_t(3, size=n)


class SameDraws(np.random.RandomState):
    """Draws rows for scikit-learn as Lyceum draws them from a seed, round by round."""

    ours, round = 0, -1

    def choice(self, a, size=None, replace=True, p=None):
        self.round += 1
        return np.random.default_rng((self.ours, self.round, 3)).choice(a, size, p=p)


@pytest.mark.syllabus("11.4.4")
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("base", [TheirLine(), DecisionTreeRegressor(max_depth=3)])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_on_the_same_draws_all_rounds_are_scikit_learns(loss, base, rate):
    X, y = cloud()
    ours = AdaBoostRegressor(
        base, 6, learning_rate=rate, loss=loss, method="resample", random_state=0
    )
    ours.fit(X, y)
    draws = SameDraws(0)
    draws.ours = ours.seed_
    theirs = TheirAdaBoost(
        base, n_estimators=6, learning_rate=rate, loss=loss, random_state=draws
    ).fit(X, y)
    T = len(theirs.estimators_)
    assert len(ours.estimators_) == T
    np.testing.assert_allclose(ours.errors_, theirs.estimator_errors_[:T], rtol=1e-10)
    np.testing.assert_allclose(ours.alphas_, theirs.estimator_weights_[:T], rtol=1e-10)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)
    for one, two in zip(ours.staged_predict(X), theirs.staged_predict(X)):
        np.testing.assert_allclose(one, two, rtol=1e-10)


@pytest.mark.syllabus("11.4")
def test_reweighting_is_the_loop_by_hand():
    X, y = cloud(60, 1)
    model = AdaBoostRegressor(LinearRegression(), 6, record=True).fit(X, y)
    D, said, alphas = np.full(60, 1 / 60), [], []
    design = np.column_stack([np.ones(60), X])
    for step in model.record_:
        np.testing.assert_allclose(step["weights"], D, rtol=1e-9)
        root = np.sqrt(D)
        h = design @ np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        loss = abs(y - h) / abs(y - h).max()
        error = (D * loss).sum()
        assert step["error"] == pytest.approx(error, rel=1e-9)
        if error >= 0.5:
            break
        beta = error / (1 - error)
        D = D * beta ** (1 - loss)
        D /= D.sum()
        said.append(h)
        alphas.append(np.log(1 / beta))
    for i, predicted in enumerate(model.predict(X)):
        order = np.argsort([h[i] for h in said])
        total, half = 0.0, sum(alphas) / 2
        for t in order:
            total += alphas[t]
            if total >= half:
                break
        assert predicted == pytest.approx(said[t][i], rel=1e-9)


@given(seed=st.integers(0, 10_000), a=st.floats(0.01, 100), b=st.floats(-1e3, 1e3))
def test_predictions_follow_the_units_of_the_target(seed, a, b):
    X, y = cloud(40, seed)
    one = AdaBoostRegressor(LinearRegression(), 5).fit(X, y).predict(X)
    other = AdaBoostRegressor(LinearRegression(), 5).fit(X, a * y + b).predict(X)
    np.testing.assert_allclose(other, a * one + b, rtol=1e-6, atol=1e-6 * a)


def test_a_weight_of_two_is_a_row_twice():
    X, y = cloud(50, 2)
    w = np.random.default_rng(0).integers(0, 3, 50)
    weighted = AdaBoostRegressor(n_estimators=8).fit(X, y, w.astype(float))
    repeated = AdaBoostRegressor(n_estimators=8).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    np.testing.assert_allclose(weighted.errors_, repeated.errors_, rtol=1e-9)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_a_warm_start_comes_to_the_same():
    X, y = cloud()
    for method in ("reweight", "resample"):
        model = AdaBoostRegressor(
            n_estimators=4, method=method, random_state=3, warm_start=True
        ).fit(X, y)
        model.set_params(n_estimators=9).fit(X, y)
        once = AdaBoostRegressor(n_estimators=9, method=method, random_state=3).fit(
            X, y
        )
        np.testing.assert_array_equal(model.alphas_, once.alphas_)
        np.testing.assert_array_equal(model.predict(X), once.predict(X))


def test_a_member_without_error_ends_the_rounds_and_decides():
    x = np.arange(12.0)[:, None]
    model = AdaBoostRegressor(LinearRegression(), 10).fit(x, np.full(12, 3.0))
    assert model.stopped_ == "a member without error"
    assert model.predict([[50.0]])[0] == pytest.approx(3.0)
    tree = AdaBoostRegressor(DecisionTreeRegressor(), 10).fit(x, x[:, 0] ** 2)
    np.testing.assert_array_equal(tree.predict(x), x[:, 0] ** 2)
    assert len(tree.estimators_) == 1


def test_a_first_member_no_better_than_chance_is_all_there_is():
    y = np.array([-1.0, 1.0] * 10)
    model = AdaBoostRegressor(n_estimators=10).fit(np.zeros((20, 1)), y)
    assert model.stopped_ == "no better than chance"
    assert len(model.estimators_) == 1
    np.testing.assert_allclose(model.predict([[0.0]]), 0.0, atol=1e-12)


def test_explained_predictions_are_those_of_the_median_member():
    X, y = cloud()
    for base in (None, LinearRegression()):
        model = AdaBoostRegressor(base, 7).fit(X, y)
        explained = model.explain(X)
        np.testing.assert_allclose(
            explained.scores, model.predict(X), rtol=1e-9, atol=1e-9
        )


def test_categories_and_missing_cells_reach_the_trees():
    frame = pd.read_csv(datasets.path("penguins"))
    frame = frame.dropna(subset=["body_mass_g"])
    X, y = frame.drop(columns="body_mass_g"), frame["body_mass_g"].to_numpy(dtype=float)
    model = AdaBoostRegressor().fit(X, y)
    assert model.score(X, y) > DecisionTreeRegressor(max_depth=3).fit(X, y).score(X, y)


def test_learners_without_weights_need_resampling():
    X, y = cloud()
    with pytest.raises(SettingError, match='method="resample"'):
        AdaBoostRegressor(KNeighborsRegressor()).fit(X, y)
    model = AdaBoostRegressor(
        KNeighborsRegressor(), method="resample", random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.5
