"""Attribute weights, learned metrics and nearest centroids."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.stats import gmean
from sklearn.neighbors import (
    NearestCentroid as ScikitCentroid,
    NeighborhoodComponentsAnalysis,
)
from sklearn.pipeline import make_pipeline

from lyceum.distances import pairwise
from lyceum.errors import DataError, SettingError
from lyceum.neighbors import (
    AttributeWeights,
    KNeighborsClassifier,
    LearnedMetric,
    NearestCentroid,
)
from lyceum.neighbors.metrics.learned_metric import _NeighborLoss


def noisy(n=240, seed=0, noise=6):
    """Two columns that matter and some of large noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2 + noise))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int), rng


@pytest.mark.syllabus("10.4.1")
def test_attribute_weights_lower_the_leave_one_out_error_and_remove_noise():
    X, y, _ = noisy()
    weights = AttributeWeights(record=True).fit(X, y)
    assert (np.diff(weights.history_) <= 0).all()
    assert weights.weights_[:2].min() > weights.weights_[2:].max()
    assert (weights.weights_[2:] == 0).sum() >= 3
    assert weights.record_[-1]["objective"] == weights.history_[-1]
    Z = weights.transform(X)
    near = np.argsort(pairwise(Z) + np.diag(np.full(len(Z), np.inf)), axis=1)[:, :5]
    expected = np.mean((1 - (y[near] == y[:, None]).mean(axis=1)) ** 2)
    assert weights.history_[-1] == pytest.approx(expected)
    plain = KNeighborsClassifier().fit(X[:160], y[:160]).score(X[160:], y[160:])
    better = make_pipeline(AttributeWeights(), KNeighborsClassifier()).fit(
        X[:160], y[:160]
    )
    assert better.score(X[160:], y[160:]) > plain + 0.1


@pytest.mark.syllabus("10.4")
def test_attribute_weights_of_numbers_and_categories():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"a": rng.normal(size=150), "town": rng.choice(["U", "B", "K"], 150)}
    )
    t = 3.0 * (frame["town"] == "U") + 0.1 * rng.normal(size=150)
    weights = AttributeWeights().fit(frame, t.to_numpy())
    assert weights.weights_[1] > weights.weights_[0]
    names = ["a", "town=B", "town=K", "town=U"]
    assert weights.get_feature_names_out().tolist() == names
    with pytest.raises(DataError, match="requires y"):
        AttributeWeights().fit(frame)


@pytest.mark.syllabus("10.4")
@pytest.mark.parametrize("classes", [True, False])
def test_the_gradient_of_the_learned_metric_is_that_of_its_loss(classes):
    rng = np.random.default_rng(2)
    Z, w = rng.normal(size=(25, 3)), rng.uniform(0.5, 2, 25)
    y = rng.integers(0, 3, 25) if classes else rng.normal(size=25)
    loss = _NeighborLoss(Z, y, w, classes, 0.1)
    L = rng.normal(size=(2, 3)).ravel()
    numeric = approx_fprime(L, lambda theta: loss(theta)[0], 1e-7)
    np.testing.assert_allclose(loss(L)[1], numeric, atol=1e-5)


def test_a_step_of_the_learned_metric_holds_no_matrix_of_columns():
    Z = np.random.default_rng(0).normal(size=(10, 4000))
    loss = _NeighborLoss(Z, np.arange(10) % 2, np.ones(10), True, 0.1)
    theta = Z[:2].ravel() / 4000
    tracemalloc.start()
    loss(theta)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # a matrix of all pairs of columns has 400 times as many
    assert peak < 20 * Z.nbytes


@pytest.mark.syllabus("10.4.2")
def test_a_learned_metric_finds_what_scikit_learns_analysis_finds():
    X, y, _ = noisy(200, 3, 4)
    ours = LearnedMetric(alpha=0.0, random_state=0).fit(X, y)
    assert (np.diff(ours.history_) <= 1e-12).all()
    theirs = NeighborhoodComponentsAnalysis(
        init="identity", max_iter=200, random_state=0
    ).fit(X, y)
    loss = _NeighborLoss(X - X.mean(axis=0), y, np.ones(200), True, 0.0)
    assert (
        loss(ours.components_.ravel())[0] <= loss(theirs.components_.ravel())[0] + 0.02
    )
    by_rows = KNeighborsClassifier().fit(ours.transform(X), y)
    by_metric = KNeighborsClassifier(metric=ours.metric()).fit(X, y)
    agree = by_rows.predict(ours.transform(X)) == by_metric.predict(X)
    assert agree.mean() > 0.99
    low = LearnedMetric(n_components=2, random_state=0).fit(X, X[:, 0] * 2.0)  # numbers
    assert low.transform(X).shape == (200, 2)
    assert np.diag(low.matrix_).argmax() == 0


@pytest.mark.syllabus("10.5")
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_nearest_centroids_are_those_of_scikit_learn(metric):
    X, y, rng = noisy()
    y = rng.integers(0, 3, len(X))
    kind = "mean" if metric == "euclidean" else "median"
    ours = NearestCentroid(metric=metric, exemplar=kind).fit(X, y)
    theirs = ScikitCentroid(metric=metric).fit(X, y)
    np.testing.assert_allclose(ours.centroids_, theirs.centroids_)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.syllabus("10.5.1")
def test_the_geometric_median_has_the_least_sum_of_distances():
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(40, 3)) ** 3, rng.uniform(0.2, 2, 40)
    model = NearestCentroid(exemplar="geometric_median").fit(
        X, np.zeros(40), sample_weight=w
    )

    def total(c):
        return w @ np.sqrt(((X - c) ** 2).sum(axis=1))

    best = minimize(
        total,
        X.mean(axis=0),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12},
    )
    assert total(model.centroids_[0]) <= best.fun * (1 + 1e-9)


@pytest.mark.syllabus("10.5.2")
def test_several_centroids_with_covariances_of_their_own():
    rng = np.random.default_rng(5)
    X = np.vstack(
        [
            rng.normal(size=(60, 2)) * s + c
            for s, c in (([3, 0.3], 0), ([0.3, 3], 0), (1, 8), (1, -8))
        ]
    )
    y = np.repeat([0, 1, 0, 1], 60)
    plain = NearestCentroid().fit(X, y)
    several = NearestCentroid(n_clusters=2, covariance="centroid", random_state=0).fit(
        X, y
    )
    assert several.centroids_.shape == (4, 2)
    assert several.score(X, y) > 0.85 > plain.score(X, y)
    by_class = NearestCentroid(covariance="class").fit(X, y)
    S = [np.cov(X[y == c].T) for c in (0, 1)]
    np.testing.assert_allclose(by_class.covariances_, S)
    delta = X[:, None] - by_class.centroids_
    squares = np.einsum("ncd,cde,nce->nc", delta, np.linalg.inv(S), delta)
    assert (by_class.predict(X) == squares.argmin(axis=1)).all()
    expected = np.exp(-squares / (2 * by_class.spread_**2))
    np.testing.assert_allclose(
        by_class.predict_proba(X), expected / expected.sum(axis=1, keepdims=True)
    )
    shared = NearestCentroid(metric="mahalanobis").fit(X, y)
    within = sum((60 * 2 - 1) * one for one in S) / (240 - 2)
    np.testing.assert_allclose(shared.metric_.covariance, within)
    with pytest.raises(SettingError, match="leave metric"):
        NearestCentroid(covariance="class", metric="cosine").fit(X, y)


@pytest.mark.syllabus("10.5.1")
@pytest.mark.parametrize("standardize", [False, True, "range"])
def test_geometric_means_are_those_of_scipy(standardize):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(60, 3)) * [1.0, 100.0, 1e6]
    y = np.arange(60) % 3
    w = rng.integers(1, 4, 60)
    model = NearestCentroid(exemplar="geometric_mean", standardize=standardize)
    model.fit(X, y, sample_weight=w)
    expected = [gmean(np.repeat(X[y == c], w[y == c], axis=0)) for c in range(3)]
    np.testing.assert_allclose(model.centroids_, expected, rtol=1e-9)
    repeated = NearestCentroid(exemplar="geometric_mean", standardize=standardize)
    repeated.fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(model.centroids_, repeated.centroids_, rtol=1e-9)


@pytest.mark.syllabus("10.5")
def test_geometric_means_of_mixed_columns_zeros_and_negative_cells():
    frame = pd.DataFrame(
        {"size": [1.0, 4.0, 0.0, 9.0], "color": pd.Categorical(["r", "g", "r", "r"])}
    )
    y = [0, 0, 1, 1]
    model = NearestCentroid(exemplar="geometric_mean").fit(frame, y)
    # sqrt(1 * 4) and sqrt(0 * 9); indicators have their shares
    assert model.design_names == ("size", "color=g", "color=r")
    np.testing.assert_allclose(
        model.centroids_, [[2.0, 0.5, 0.5], [0.0, 0.0, 1.0]], atol=1e-12
    )
    frame.loc[1, "size"] = -4.0
    with pytest.raises(DataError, match="column 'size' holds -4"):
        NearestCentroid(exemplar="geometric_mean").fit(frame, y)
