"""Priors and shrunken centroids, and predictions of the stored rows by the others."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors
from sklearn.datasets import load_iris

from lyceum.errors import DataError, SettingError
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("threshold", [None, 0.3, 5.0])
def test_shrunken_centroids_are_those_of_scikit_learn(metric, threshold):
    rows = np.r_[0:50, 60:90, 100:145]
    settings = {"metric": metric, "shrink_threshold": threshold}
    ours = NearestCentroid(**settings).fit(X[rows], Y[rows])
    theirs = neighbors.NearestCentroid(**settings).fit(X[rows], Y[rows])
    np.testing.assert_allclose(ours.centroids_, theirs.centroids_, rtol=1e-9)
    np.testing.assert_allclose(ours.deviations_, theirs.deviations_, atol=1e-9)
    np.testing.assert_allclose(ours.within_class_std_dev_, theirs.within_class_std_dev_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_scales_do_not_change_the_deviations():
    plain = NearestCentroid(shrink_threshold=0.3).fit(X, Y)
    scaled = NearestCentroid(shrink_threshold=0.3, standardize=True).fit(X, Y)
    np.testing.assert_allclose(scaled.centroids_, plain.centroids_)


def test_weight_two_equals_a_repeated_row():
    w = np.where(np.arange(150) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(150), w.astype(int))
    settings = {"shrink_threshold": 0.3, "priors": "empirical"}
    one = NearestCentroid(**settings).fit(X, Y, sample_weight=w)
    other = NearestCentroid(**settings).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(one.centroids_, other.centroids_)
    np.testing.assert_allclose(one.class_prior_, other.class_prior_)


def test_log_odds_move_by_those_of_the_priors():
    even = NearestCentroid().fit(X, Y)
    priors = np.array([0.5, 0.3, 0.2])
    given = NearestCentroid(priors=priors).fit(X, Y)
    expected = even.predict_proba(X) * priors
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(given.predict_proba(X), expected, atol=1e-12)
    found = given.explain(X[100:110])
    top = np.sort(np.log(expected[100:110]), axis=1)
    odds = top[:, -1] - top[:, -2]
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), odds)


def test_priors_are_checked():
    with pytest.raises(SettingError, match="priors must be non-negative"):
        NearestCentroid(priors=[-1, 1, 1]).fit(X, Y)
    with pytest.raises(SettingError, match=r"priors has the shape \(2,\)"):
        NearestCentroid(priors=[0.5, 0.5]).fit(X, Y)
    with pytest.warns(UserWarning, match="The priors do not sum to 1"):
        model = NearestCentroid(priors=[2, 1, 1]).fit(X, Y)
    np.testing.assert_allclose(model.class_prior_, [0.5, 0.25, 0.25])


def test_what_cannot_be_shrunk_is_refused():
    with pytest.raises(SettingError, match="needs n_clusters=1"):
        NearestCentroid(shrink_threshold=0.1, n_clusters=2).fit(X, Y)
    with pytest.raises(DataError, match="zero variance"):
        NearestCentroid(shrink_threshold=0.1).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])


def test_sparse_rows_are_dense_rows():
    dense = NearestCentroid(metric="manhattan").fit(X, Y)
    found = NearestCentroid(metric="manhattan").fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(found.centroids_, dense.centroids_)
    np.testing.assert_array_equal(found.predict(sparse.csr_array(X)), dense.predict(X))


@pytest.mark.parametrize("weights", [None, "uniform", "distance"])
def test_without_x_every_stored_row_is_predicted_by_the_others(weights):
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = (x[:, 0] > 0).astype(int)
    for ours, theirs in (
        (KNeighborsClassifier, neighbors.KNeighborsClassifier),
        (KNeighborsRegressor, neighbors.KNeighborsRegressor),
    ):
        model = ours(3, weights=weights).fit(x, y)
        expected = theirs(3, weights=weights).fit(x, y)
        np.testing.assert_allclose(model.predict(None), expected.predict(None))
        assert model.score(None, y) == pytest.approx(expected.score(None, y))
    model = KNeighborsClassifier(3).fit(x, y)
    expected = neighbors.KNeighborsClassifier(3).fit(x, y)
    np.testing.assert_allclose(model.predict_proba(None), expected.predict_proba(None))
    with pytest.raises(SettingError, match="X=None"):
        KNeighborsClassifier("all").fit(x, y).predict(None)


def test_without_x_a_radius_leaves_every_row_out():
    x = np.random.default_rng(1).normal(size=(30, 2))
    x[7] = (50.0, 50.0)  # alone in its radius: the nearest row decides
    y = x[:, 0] - x[:, 1]
    found = KNeighborsRegressor(radius=0.8).fit(x, y).predict(None)
    for i in range(30):
        others = np.delete(np.arange(30), i)
        model = KNeighborsRegressor(radius=0.8).fit(x[others], y[others])
        assert found[i] == pytest.approx(model.predict(x[i : i + 1])[0])
