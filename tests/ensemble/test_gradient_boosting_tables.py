"""Gradient boosting on awkward tables: missing cells, categories, one class, far targets."""

from __future__ import annotations

import multiprocessing
import os
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from tests.ensemble.boosting_cases import friedman

from lyceum import datasets
from lyceum._core.trees import GROUPS
from lyceum.ensemble.boosting.hist_gradient_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from lyceum.progress import Update, watch

pytestmark = pytest.mark.syllabus("11.4")


# -- awkward tables --------------------------------------------------------------------


def test_missing_cells_that_tell_something_are_told_apart():
    rng = np.random.default_rng(7)
    x = rng.normal(size=500)
    y = np.isnan(np.where(rng.random(500) < 0.4, np.nan, x)).astype(float)
    X = np.where(y == 1, np.nan, x)[:, None]
    model = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert model.trees_[0].threshold[0] == np.inf


def test_a_category_in_two_groups_and_one_that_is_new():
    rng = np.random.default_rng(8)
    town = rng.choice(list("abcdef"), 600)
    y = np.isin(town, ["b", "d", "e"]) * 4.0 + rng.normal(size=600)
    frame = pd.DataFrame({"town": town})
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0
    ).fit(frame, y)
    tree = model.trees_[0]
    assert tree.kind[0] == GROUPS
    assert tree.branches.tolist() == [
        1,
        0,
        1,
        0,
        0,
        1,
    ]  # the lower gradient, so the higher target, goes left
    new = model.predict(pd.DataFrame({"town": ["zz"]}))
    np.testing.assert_allclose(new, y.mean())


def test_more_categories_than_bins_share_the_last():
    rng = np.random.default_rng(9)
    code = rng.integers(0, 400, 8000)
    effect = rng.normal(size=400)
    y = effect[code] + 0.1 * rng.normal(size=8000)
    model = HistGradientBoostingRegressor(max_iter=30, categorical_features=[0]).fit(
        code[:, None].astype(float), y
    )
    assert model.score(code[:, None].astype(float), y) > 0.6


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((30, 2)), np.arange(30.0)),
        (np.full((30, 1), np.nan), np.arange(30.0)),
        (np.arange(5.0)[:, None], np.arange(5.0)),
        (np.zeros((1, 1)), np.array([3.0])),
    ],
    ids=[
        "constant columns",
        "nothing but gaps",
        "fewer rows than a leaf has",
        "one row",
    ],
)
def test_nothing_to_split_on_gives_the_mean(X, y):
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=20).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_one_class_is_certain():
    model = HistGradientBoostingClassifier(max_iter=3).fit(
        np.arange(40.0)[:, None], ["a"] * 40
    )
    assert model.predict_proba([[1.0]]).tolist() == [[1.0]]
    assert model.predict([[1.0]]).tolist() == ["a"]


def test_classes_that_can_be_told_apart_stay_finite():
    x = np.arange(200.0)[:, None]
    model = HistGradientBoostingClassifier(max_iter=400, learning_rate=1.0).fit(
        x, x[:, 0] >= 100
    )
    scores = model.decision_function(x)
    assert np.isfinite(scores).all()
    assert model.score(x, x[:, 0] >= 100) == 1.0


def test_targets_may_be_a_million_away():
    X, y = friedman()
    near = HistGradientBoostingRegressor(max_iter=10).fit(X, y).predict(X)
    far = HistGradientBoostingRegressor(max_iter=10).fit(X, y + 1e6).predict(X)
    np.testing.assert_allclose(far - 1e6, near, atol=1e-6)


def test_weights_may_be_of_any_size():
    X, z = friedman()
    y, w = z > 14, np.random.default_rng(1).uniform(0.5, 2, len(z))
    one = HistGradientBoostingClassifier(max_iter=5).fit(X, y, w)
    two = HistGradientBoostingClassifier(max_iter=5).fit(X, y, w * 2.0**-30)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


def _fitted_scores(data):
    return HistGradientBoostingRegressor(max_iter=3).fit(*data).predict(data[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_it_can_be_fitted_in_a_forked_process():
    data = friedman(20_000)
    here = _fitted_scores(data)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of fork beside threads, which is what is tested
        with multiprocessing.get_context("fork").Pool(1) as pool:
            there = pool.apply_async(_fitted_scores, (data,)).get(timeout=60)
    np.testing.assert_array_equal(here, there)


def test_progress_is_reported_after_every_round():
    X, y = friedman(100)
    seen = []
    with watch(seen.append):
        HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    assert [u for u in seen if u.stage == "rounds"] == [
        Update("rounds", k, 3) for k in (1, 2, 3)
    ]


@pytest.mark.syllabus("11.4")
def test_the_least_rows_of_a_leaf_adapt_to_small_tables():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1]
    assert HistGradientBoostingRegressor(max_iter=300).fit(X, y).score(X, y) > 0.999
    forty = HistGradientBoostingClassifier().fit(
        *make_blobs(40, centers=2, random_state=0)
    )
    assert max(tree.n_leaves for tree in forty.trees_) > 1
    assert (
        max(
            tree.n_leaves
            for tree in HistGradientBoostingRegressor(min_samples_leaf=20)
            .fit(X, y)
            .trees_
        )
        == 1
    )
    large = rng.uniform(size=(400, 2))
    auto, twenty = (
        HistGradientBoostingRegressor(min_samples_leaf=n)
        .fit(large, large[:, 0] ** 2)
        .predict(large)
        for n in ("auto", 20)
    )
    np.testing.assert_array_equal(auto, twenty)


@pytest.mark.syllabus("11.4")
def test_categories_cost_no_accuracy_at_the_defaults():
    rows = datasets.load("penguins")
    y, losses = np.asarray(rows.y), []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(
        np.zeros(len(y)), y
    ):
        model = HistGradientBoostingClassifier(random_state=0).fit(rows.take(train))
        losses.append(
            log_loss(
                y[test], model.predict_proba(rows.take(test)), labels=model.classes_
            )
        )
    assert np.mean(losses) < 0.07
