"""GradientBoostingClassifier and GradientBoostingRegressor beside scikit-learn's, and by hand."""

import numpy as np
import pytest
from sklearn import ensemble as theirs
from sklearn.neighbors import KNeighborsClassifier

from lyceum.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from lyceum.errors import DataError, SettingError
from lyceum.linear import LinearRegression
from lyceum.persist import load, save

# leaves of several rows: single rows are parted equally well by many columns, and scikit-learn
# chooses among them by chance
SETTINGS = {"min_samples_leaf": 12, "n_estimators": 15, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    chance = np.random.default_rng(0)
    X = chance.normal(size=(300, 5)).astype(np.float32).astype(float)
    signal = 2.0 * X[:, 0] + np.sin(3.0 * X[:, 1]) + X[:, 2] * X[:, 3]
    w = chance.uniform(0.2, 3.0, 300)
    w[::17] = 0.0
    return X, signal + chance.normal(size=300), w


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "huber", "alpha": 0.8},
        {"max_leaf_nodes": 5, "max_depth": None},
        {"ccp_alpha": 0.02},
        {"init": "zero", "learning_rate": 0.5},
        {"n_iter_no_change": 2, "tol": 0.01, "validation_fraction": 0.2},
        {"min_weight_fraction_leaf": 0.1},
    ],
    ids=str,
)
def test_numbers_are_scikit_learns(rows, settings, weighted):
    X, y, w = rows
    weights = w if weighted else None
    given = SETTINGS | settings
    ours = GradientBoostingRegressor(**given).fit(X, y, weights)
    other = theirs.GradientBoostingRegressor(**given).fit(X, y, weights)
    np.testing.assert_allclose(ours.train_score_, other.train_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        ours.feature_importances_, other.feature_importances_, atol=1e-9
    )
    assert ours.n_estimators_ == other.n_estimators_
    assert ours.estimators_.shape == other.estimators_.shape
    assert ours.apply(X).shape == other.apply(X).shape


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_the_first_step_of_quantiles_is_scikit_learns(rows, loss):
    # their gradients have two values, so that later splits tie
    X, y, w = rows
    given = {"loss": loss, "alpha": 0.7, "n_estimators": 1, "max_depth": 1}
    for weights in (None, w):
        ours = GradientBoostingRegressor(**given).fit(X, y, weights)
        other = theirs.GradientBoostingRegressor(**given).fit(X, y, weights)
        np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"init": "zero"}, {"loss": "exponential"}])
def test_classes_are_scikit_learns(rows, settings, n_classes, weighted):
    X, signal, w = rows
    if settings.get("loss") and n_classes > 2:
        with pytest.raises(SettingError, match="only suitable for a binary"):
            GradientBoostingClassifier(**settings).fit(X, np.arange(300) % 3)
        return
    y = np.digitize(signal, [0.0] if n_classes == 2 else [-1.5, 1.5])
    weights = w if weighted else None
    given = SETTINGS | settings
    ours = GradientBoostingClassifier(**given).fit(X, y, weights)
    other = theirs.GradientBoostingClassifier(**given).fit(X, y, weights)
    for method in ("decision_function", "predict_proba"):
        answer = getattr(other, method)(X)
        np.testing.assert_allclose(getattr(ours, method)(X), answer, atol=1e-9)
    stages = zip(ours.staged_predict_proba(X), other.staged_predict_proba(X))
    for stage, expected in stages:
        np.testing.assert_allclose(stage, expected, atol=1e-9)
    np.testing.assert_allclose(ours.train_score_, other.train_score_, rtol=1e-9)


def test_one_round_by_hand():
    # mean 4; residuals -3, -1, 1, 3 in two leaves: means -2 and 2, of which a half is taken
    model = GradientBoostingRegressor(n_estimators=1, max_depth=1, learning_rate=0.5)
    model.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    assert model.predict([[0.0], [3.0]]).tolist() == [3.0, 5.0]
    assert model.history_ == [2.5, 1.0]
    assert model.train_score_.tolist() == [2.0]


def test_a_warm_start_goes_on_where_it_stopped(rows, tmp_path):
    X, y, _ = rows
    at_once = GradientBoostingRegressor(n_estimators=6, subsample=0.5, random_state=1)
    at_once.fit(X, y)
    model = GradientBoostingRegressor(
        n_estimators=3, subsample=0.5, random_state=1, warm_start=True
    ).fit(X, y)
    model.set_params(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(model.predict(X), at_once.predict(X), rtol=1e-12)
    np.testing.assert_allclose(model.oob_improvement_, at_once.oob_improvement_)
    assert model.oob_score_ == model.oob_scores_[-1]
    with pytest.raises(SettingError, match="n_estimators=2 must be larger or equal"):
        model.set_params(n_estimators=2).fit(X, y)
    save(model, tmp_path / "model.lyceum")
    again = load(tmp_path / "model.lyceum")
    np.testing.assert_array_equal(again.predict(X), at_once.predict(X))


@pytest.mark.parametrize(
    "init", [KNeighborsClassifier(9), GradientBoostingClassifier()]
)
def test_rounds_start_from_an_estimator(rows, init):
    X, signal, _ = rows
    y = np.digitize(signal, [-1.5, 1.5])
    model = GradientBoostingClassifier(init=init, n_estimators=1, learning_rate=0.0)
    model.fit(X, y)
    expected = model.init_.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    explained = model.set_params(learning_rate=0.1).fit(X, y).explain(X[:5])
    total = explained.base + explained.contributions.sum(axis=1)
    best = model.predict_proba(X[:5]).max(axis=1)
    np.testing.assert_allclose(total, best, atol=1e-12)


def test_a_monitor_ends_the_rounds(rows):
    X, y, _ = rows
    seen = []

    def monitor(number, model, facts):
        seen.append((number, len(model), facts["raw_predictions"].shape))
        return number == 2

    model = GradientBoostingRegressor().fit(X, y, monitor=monitor)
    assert model.n_estimators_ == 3
    assert seen == [(0, 1, (300, 1)), (1, 2, (300, 1)), (2, 3, (300, 1))]


def test_what_is_refused(rows):
    X, y, w = rows
    with pytest.raises(DataError, match="y contains 1 class"):
        GradientBoostingClassifier().fit(X, np.ones(300, dtype=int))
    model = GradientBoostingClassifier(init=KNeighborsClassifier())
    with pytest.raises(DataError, match="does not support sample weights"):
        model.fit(X, y > 0, w)
    with pytest.warns(FutureWarning, match="`criterion` is deprecated"):
        GradientBoostingRegressor(criterion="friedman_mse", n_estimators=1).fit(X, y)


def test_a_line_as_start_leaves_the_rest_to_trees(rows):
    X, y, w = rows
    model = GradientBoostingRegressor(init=LinearRegression(), n_estimators=5)
    line = LinearRegression().fit(X, y, w).predict(X)
    added = sum(model.fit(X, y, w).estimators_[t, 0].predict(X) for t in range(5))
    np.testing.assert_allclose(model.predict(X), line + 0.1 * added, rtol=1e-9)
