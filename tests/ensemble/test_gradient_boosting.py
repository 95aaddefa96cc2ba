"""Gradient boosting: against a slow referee, scikit-learn, and the laws of every learner."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import (
    HistGradientBoostingClassifier as TheirHistGradientBoostingClassifier,
    HistGradientBoostingRegressor as TheirHistGradientBoostingRegressor,
)
from sklearn.metrics import roc_auc_score as their_roc_auc_score
from tests.checks.laws import check
from tests.ensemble.boosting_cases import friedman
from tests.ensemble.boosting_reference import Rules, boost
from threadpoolctl import threadpool_limits

from lyceum import scan
from lyceum._core.trees import LEAF
from lyceum.datasets import load
from lyceum.ensemble.boosting.hist_gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from lyceum.errors import DataError, SettingError

pytestmark = pytest.mark.syllabus("11.4")


def mixed(n=160, seed=0):
    """Numbers with ties and missing cells, and a categorical column with missing cells, as an
    array."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 9, n), rng.normal(size=n).round(1), rng.integers(0, 6, n)]
    ).astype(float)
    effect = np.array([0.0, 2.0, -1.0, 3.0, 0.5, -2.0])[X[:, 2].astype(int)]
    y = 0.5 * X[:, 0] + X[:, 1] ** 2 + effect + rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


# -- against independent answers -------------------------------------------------------


@pytest.mark.syllabus("11.4.5")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "settings",
    [{}, {"l2": 1.5, "smoothing": 2.0}, {"max_depth": 3}, {"min_samples_leaf": 9}],
)
def test_squared_error_gives_the_trees_of_the_formulas(seed, settings):
    X, y = mixed(seed=seed)
    rules = Rules(max_leaf_nodes=8, categories=(2,), **settings)
    model = HistGradientBoostingRegressor(
        max_iter=3,
        learning_rate=0.3,
        max_leaf_nodes=8,
        max_depth=settings.get("max_depth"),
        min_samples_leaf=rules.min_samples_leaf,
        l2_regularization=rules.l2,
        categorical_smoothing=rules.smoothing,
        categorical_features=[2],
    ).fit(X, y)
    staged, _ = boost(
        X, np.full(len(y), y.mean()), lambda s: (s - y, np.ones(len(y))), rules, 3, 0.3
    )
    for expected, found in zip(staged, model.staged_predict(X)):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_loss_gives_the_trees_of_the_formulas(seed):
    X, z = mixed(seed=seed)
    y, w = (
        (z > np.median(z)).astype(float),
        np.random.default_rng(seed).uniform(0.5, 2.0, len(z)),
    )
    share = np.average(y, weights=w)
    least = 1e-3 * min(1.0, w.min())
    rules = Rules(
        max_leaf_nodes=6,
        min_samples_leaf=3,
        categories=(2,),
        min_hessian=least,
        weight=w.sum(),
    )
    model = HistGradientBoostingClassifier(
        max_iter=4,
        learning_rate=0.2,
        max_leaf_nodes=6,
        min_samples_leaf=3,
        categorical_features=[2],
    ).fit(X, y, sample_weight=w)

    def gradients(s):
        return w * (expit(s) - y), w * expit(s) * expit(-s)

    start = np.full(len(y), np.log(share / (1 - share)))
    staged, _ = boost(X, start, gradients, rules, 4, 0.2)
    for expected, found in zip(staged, model.staged_decision_function(X)):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_a_column_of_many_rare_categories_costs_little():
    rng = np.random.default_rng(0)
    towns, frequent = (
        (300 * rng.random(2400) ** 3).astype(int),
        rng.integers(0, 8, 2400),
    )
    score = (
        rng.normal(size=2400) + 0.3 * rng.normal(size=300)[towns] + 0.8 * (frequent % 2)
    )
    X = np.column_stack([towns, frequent, score + rng.normal(size=2400)]).astype(float)
    y = (rng.random(2400) < expit(score)).astype(int)
    model = HistGradientBoostingClassifier(categorical_features=[0, 1]).fit(
        X[::2], y[::2]
    )
    fewer = HistGradientBoostingClassifier(categorical_features=[0]).fit(
        X[::2, 1:], y[::2]
    )
    loss, without = (
        mean_log_loss(model, X[1::2], y[1::2]),
        mean_log_loss(fewer, X[1::2, 1:], y[1::2]),
    )
    assert loss < 1.1 * without


def test_smoothing_in_rows_leaves_categories_their_say_where_classes_are_told_apart_well():
    """Hessians are near 0 where posteriors are near 0 and 1: a constant beside them would outweigh
    them."""
    rows = load("penguins")
    third = np.arange(rows.n_rows) % 3
    losses = []
    for smoothing in (0.0, 10.0):
        parts = []
        for k in range(3):
            train, test = (
                rows.take(np.flatnonzero(third != k)),
                rows.take(np.flatnonzero(third == k)),
            )
            model = HistGradientBoostingClassifier(categorical_smoothing=smoothing).fit(
                train
            )
            parts.append(
                mean_log_loss(model, test, np.searchsorted(model.classes_, test.y))
            )
        losses.append(np.mean(parts))
    assert losses[1] < 1.1 * losses[0]


def mean_log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()


def test_the_values_of_the_tree_are_those_of_its_rows():
    """Counts, weights, gains and thresholds, computed again from the rows that come to the
    nodes."""
    X, y = friedman(400)
    w = np.random.default_rng(1).uniform(0.5, 2, 400)
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=6, learning_rate=1.0
    ).fit(X, y, w)
    tree = model.trees_[0]
    g = model.baseline_[0] - y
    rows = {0: np.arange(400)}
    for i in range(tree.n_nodes):
        here = rows[i]
        assert tree.n_rows[i] == len(here)
        np.testing.assert_allclose(tree.weight[i], w[here].sum())
        np.testing.assert_allclose(
            tree.node_values[i, 0], -np.average(g[here], weights=w[here]), atol=1e-9
        )
        if tree.kind[i] == LEAF:
            continue
        left = X[here, tree.feature[i]] <= tree.threshold[i]
        first, second = tree.children(i)
        rows[first], rows[second] = here[left], here[~left]
        parts = [
            np.sum(w[r] * g[r]) ** 2 / w[r].sum()
            for r in (rows[first], rows[second], here)
        ]
        np.testing.assert_allclose(
            tree.gain[i] * tree.weight[i], 0.5 * (parts[0] + parts[1] - parts[2])
        )


@pytest.mark.parametrize("max_leaf_nodes", [2, 7, 31])
def test_regression_agrees_with_scikit_learn_where_settings_coincide(max_leaf_nodes):
    X, y = friedman(1000)
    X = (X * 60).round() / 60  # at most 61 distinct values: both have a bin for each
    shared = {
        "learning_rate": 0.1,
        "max_leaf_nodes": max_leaf_nodes,
        "min_samples_leaf": 20,
    }
    ours = HistGradientBoostingRegressor(max_iter=20, **shared).fit(X, y)
    theirs = TheirHistGradientBoostingRegressor(
        max_iter=20, early_stopping=False, **shared
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)


def test_classification_agrees_with_scikit_learn_where_settings_coincide():
    X, z = friedman(1000)
    X, y = (X * 60).round() / 60, (z > np.median(z)).astype(int)
    shared = {
        "learning_rate": 0.1,
        "max_leaf_nodes": 8,
        "min_samples_leaf": 20,
        "l2_regularization": 0.5,
    }
    ours = HistGradientBoostingClassifier(max_iter=10, **shared).fit(X, y)
    theirs = TheirHistGradientBoostingClassifier(
        max_iter=10, early_stopping=False, **shared
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4
    )


def test_many_rows_are_learned_as_well_as_by_scikit_learn():
    """Beyond 16384 rows gradients are packed: no worse than with floating-point histograms."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40_000, 8)).astype(np.float32)
    logit = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] ** 2 - 0.5
    y = (rng.random(40_000) < expit(1.5 * logit)).astype(int)
    ours = HistGradientBoostingClassifier(max_iter=30).fit(X[:20_000], y[:20_000])
    theirs = TheirHistGradientBoostingClassifier(max_iter=30, early_stopping=False).fit(
        X[:20_000], y[:20_000]
    )
    auc = [
        their_roc_auc_score(y[20_000:], m.predict_proba(X[20_000:])[:, 1])
        for m in (ours, theirs)
    ]
    assert auc[0] > auc[1] - 0.002


def test_three_classes_take_newton_steps_with_friedmans_factor():
    """One round of stumps from the priors, by hand."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 300)
    X = (y + rng.normal(0, 0.7, 300))[:, None].round(1)
    model = HistGradientBoostingClassifier(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0
    ).fit(X, y)
    prior = np.bincount(y) / 300
    np.testing.assert_allclose(model.baseline_, np.log(prior))
    scores = model.decision_function(X)
    for k in range(3):
        left = X[:, 0] <= model.trees_[k].threshold[0]
        for side in (left, ~left):
            g, h = (
                prior[k] - (y[side] == k),
                np.full(side.sum(), prior[k] * (1 - prior[k]) * 1.5),
            )
            np.testing.assert_allclose(
                scores[side, k], np.log(prior[k]) - g.sum() / h.sum(), rtol=1e-9
            )


# -- laws ------------------------------------------------------------------------------

SMALL = {"max_iter": 6, "min_samples_leaf": 1, "max_leaf_nodes": 6}


def test_other_losses_obey():
    check(HistGradientBoostingRegressor(loss="huber", **SMALL))


@pytest.mark.parametrize(
    "options", [{}, {"subsample": 0.6, "max_features": 0.5}, {"early_stopping": True}]
)
# plain and packed gradients, on several threads
@pytest.mark.parametrize("n", [8000, 50_000])
def test_threads_do_not_change_a_bit(options, n):
    X, y = friedman(n)
    X[::7, 0] = np.nan
    scores = []
    for count in (1, 2, 3):
        with threadpool_limits(count):
            model = HistGradientBoostingClassifier(
                max_iter=4, random_state=3, **options
            ).fit(X, y > 14)
            scores.append(model.decision_function(X))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile"]
)
def test_the_training_loss_falls(loss):
    X, y = friedman()
    model = HistGradientBoostingRegressor(loss=loss, max_iter=30).fit(X, y)
    assert len(model.history_) == 31
    if loss in ("squared_error", "absolute_error", "quantile"):
        assert (np.diff(model.history_) <= 1e-12).all()
    assert model.history_[-1] < 0.45 * model.history_[0]


def test_history_is_the_loss_of_staged_predictions():
    X, y = friedman()
    w = np.random.default_rng(0).uniform(0, 2, len(y))
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y, w)
    losses = [
        0.5 * np.average((y - f) ** 2, weights=w) for f in model.staged_predict(X)
    ]
    np.testing.assert_allclose(-model.train_score_[1:], losses)
    c = (y > 14).astype(int)
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, c, w)
    losses = [
        -np.average(np.log(p[np.arange(len(c)), c]), weights=w)
        for p in model.staged_predict_proba(X)
    ]
    np.testing.assert_allclose(-model.train_score_[1:], losses)


# -- options ---------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"subsample": 0.7, "max_features": 2}])
def test_partial_fit_is_fit_on_all_rows(options):
    X, y = friedman()
    whole = HistGradientBoostingRegressor(max_iter=12, random_state=5, **options).fit(
        X, y
    )
    parts = HistGradientBoostingRegressor(
        max_iter=5, warm_start=True, random_state=5, **options
    ).fit(X, y)
    parts.set_params(max_iter=12).fit(X, y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-10)
    np.testing.assert_allclose(parts.history_, whole.history_, rtol=1e-10)


def test_going_on_with_other_columns_is_refused():
    X, y = friedman()
    model = HistGradientBoostingRegressor(max_iter=2, warm_start=True).fit(X, y)
    with pytest.raises((DataError, ValueError), match=r"warm_start|features"):
        model.fit(X[:, :3], y)


def test_early_stopping_keeps_the_best_trees_where_asked():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    model = HistGradientBoostingRegressor(
        max_iter=200, early_stopping=True, n_iter_no_change=5, random_state=0
    )
    model.fit(X, y)
    rounds = len(model.validation_history_) - 1
    assert model.n_iter_ == len(model.trees_) == rounds < 60
    model.set_params(keep_best=True).fit(X, y)
    best = np.argmin(model.validation_history_)
    assert model.n_iter_ == len(model.trees_) == best < rounds


def test_automatic_early_stopping_is_for_many_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_001, 1)), rng.normal(size=10_001)
    model = HistGradientBoostingRegressor(
        max_iter=2, max_leaf_nodes=2, early_stopping="auto"
    )
    assert model.fit(X, y).do_early_stopping_
    assert not model.fit(X[:-1], y[:-1]).do_early_stopping_


def test_the_summary_says_whether_a_patience_has_an_effect():
    X, y = friedman()
    settings = {"max_iter": 2, "n_iter_no_change": 5, "random_state": 0}
    without = HistGradientBoostingRegressor(**settings).fit(X, y)
    assert without.summary().facts["early stopping"] == "off"
    stopping = HistGradientBoostingRegressor(**settings, early_stopping=True).fit(X, y)
    assert "5 rounds" in stopping.summary().facts["early stopping"]


def test_validation_rows_may_be_given():
    X, y = friedman()
    V, u = friedman(seed=9)
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y, validation=(V, u))
    losses = [0.5 * np.mean((u - f) ** 2) for f in model.staged_predict(V)]
    np.testing.assert_allclose(-model.validation_score_[1:], losses)
    rows = scan(np.column_stack([V, u]), target=f"x{V.shape[1]}")
    scanned = HistGradientBoostingRegressor(max_iter=5).fit(X, y, validation=rows)
    np.testing.assert_allclose(-scanned.validation_score_[1:], losses)


def test_rows_that_were_not_drawn_are_scored_too():
    X, y = friedman()
    model = HistGradientBoostingRegressor(
        max_iter=5, subsample=0.3, random_state=1
    ).fit(X, y)
    losses = [0.5 * np.mean((y - f) ** 2) for f in model.staged_predict(X)]
    np.testing.assert_allclose(-model.train_score_[1:], losses)
    assert all(120 < tree.n_rows[0] < 240 for tree in model.trees_)


def test_only_the_columns_that_were_drawn_are_split_on():
    X, y = friedman(d=8)
    model = HistGradientBoostingRegressor(
        max_iter=20, max_features=2, random_state=0, record=True
    ).fit(X, y)
    assert all(len(step["columns"][0]) <= 2 for step in model.record_)
    assert len({column for step in model.record_ for column in step["columns"][0]}) > 4


def test_balanced_classes_weigh_the_same():
    X, z = friedman()
    X = (X * 50).round()  # few values: weights would move the edges of bins
    y = (z > np.quantile(z, 0.9)).astype(int)
    w = np.where(y == 1, 300 / y.sum(), 300 / (len(y) - y.sum()))
    balanced = HistGradientBoostingClassifier(max_iter=5, class_weight="balanced").fit(
        X, y
    )
    weighted = HistGradientBoostingClassifier(max_iter=5).fit(X, y, w)
    np.testing.assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X))
    with pytest.raises(SettingError, match="class_weight names the class 7"):
        HistGradientBoostingClassifier(class_weight={7: 1.0}).fit(X, y)


def test_explanations_add_up_to_the_scores():
    X, y = mixed(300)
    model = HistGradientBoostingRegressor(max_iter=10, categorical_features=[2]).fit(
        X, y
    )
    np.testing.assert_allclose(model.explain(X).scores, model.predict(X))
    c = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features=[2]).fit(
        X, c
    )
    explained = model.explain(X)
    np.testing.assert_allclose(explained.scores, model.decision_function(X).max(axis=1))
    np.testing.assert_array_equal(explained.predicted, model.predict(X))


def test_what_matters_is_found_and_what_does_not_is_not():
    X, y = friedman(1000, d=6)
    importances = (
        HistGradientBoostingRegressor(max_iter=30).fit(X, y).feature_importances_
    )
    assert importances.sum() == pytest.approx(1.0)
    assert importances[:4].min() > 3 * importances[4:].max()
