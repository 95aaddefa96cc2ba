"""Metrics of scikit-learn's names beside SciPy and scikit-learn, and learners that take them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric
from sklearn.metrics.pairwise import haversine_distances, nan_euclidean_distances

from lyceum.cluster import HDBSCAN
from lyceum.distances import metric, nearest, pairwise
from lyceum.errors import DataError, SettingError
from lyceum.neighbors import KNeighborsClassifier

RNG = np.random.default_rng(0)
A = RNG.normal(size=(9, 4))
B = RNG.normal(size=(7, 4))


@pytest.mark.parametrize("name", ["canberra", "braycurtis"])
def test_metrics_of_amounts_are_those_of_scipy(name):
    A, B = RNG.random((9, 4)), RNG.random((7, 4))
    np.testing.assert_allclose(pairwise(A, B, metric=name), cdist(A, B, name))
    zeros = np.zeros((2, 4))
    assert pairwise(zeros, metric=name).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "name", ["dice", "rogerstanimoto", "russellrao", "sokalsneath"]
)
def test_metrics_of_truth_values_are_those_of_scipy(name):
    left, right = A > 0, B > 0
    ours = pairwise(left.astype(float), right.astype(float), metric=name)
    np.testing.assert_allclose(ours, cdist(left, right, name))


def test_units_of_columns_spheres_and_missing_cells_as_scipy_and_scikit_learn():
    V = A.var(axis=0)
    np.testing.assert_allclose(
        pairwise(A, B, metric=metric("seuclidean", V=V)),
        cdist(A, B, "seuclidean", V=V),
    )
    learned = metric("seuclidean").learn(A)
    np.testing.assert_allclose(learned.V, A.var(axis=0, ddof=1))
    np.testing.assert_allclose(
        pairwise(A[:, :2], B[:, :2], metric="haversine"),
        haversine_distances(A[:, :2], B[:, :2]),
    )
    with pytest.raises(DataError, match="only valid in 2 dimensions"):
        pairwise(A, metric="haversine")
    holes = A.copy()
    holes[0, 1] = holes[3, 2] = np.nan
    np.testing.assert_allclose(
        pairwise(holes, B, metric="nan_euclidean"),
        nan_euclidean_distances(holes, B),
    )


def test_scikit_learns_names_parameters_and_objects_are_taken():
    VI = np.diag([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(
        pairwise(A, B, metric=metric("mahalanobis", VI=VI)),
        cdist(A, B, "mahalanobis", VI=VI),
    )
    for name, known in (("cityblock", "manhattan"), ("infinity", "chebyshev")):
        assert metric(name) == metric(known)
    for kind in (np.float64, np.float32):
        theirs = DistanceMetric.get_metric("manhattan", dtype=kind)
        np.testing.assert_allclose(
            pairwise(A, B, metric=theirs), cdist(A, B, "cityblock"), rtol=1e-5
        )


def test_searches_by_blocks_are_searches_by_rows():
    A = RNG.normal(size=(150, 3))
    found = nearest(A, 3, metric="canberra")
    distances = cdist(A, A, "canberra")
    np.fill_diagonal(distances, np.inf)
    assert found.rows.tolist() == np.argsort(distances, axis=1)[:, :3].tolist()


def test_neighbors_and_clusters_take_them():
    X = np.vstack([A[:, :2] * 0.01, A[:, :2] * 0.01 + [1.0, 1.0]])
    y = np.repeat([0, 1], 9)
    for name in ("haversine", "nan_euclidean", "seuclidean"):
        model = KNeighborsClassifier(3, metric=name).fit(X, y)
        assert model.score(X, y) == 1.0
    for given in ("haversine", lambda x, z: np.abs(x - z).sum()):
        labels = HDBSCAN(3, metric=given).fit(X).labels_
        assert len({*labels[:9]} - {-1}) == len({*labels[9:]} - {-1}) == 1
        assert not {*labels[:9]} & ({*labels[9:]} - {-1})
    missing = np.where(np.arange(36).reshape(18, 2) == 4, np.nan, X)
    model = KNeighborsClassifier(3, metric="nan_euclidean").fit(missing, y)
    assert model.predict(missing).tolist() == y.tolist()


def test_trees_are_refused_for_metrics_that_scikit_learns_have_not():
    with pytest.raises(SettingError, match="cosine is not a valid metric for a KDTree"):
        HDBSCAN(metric="cosine", algorithm="kd_tree").fit(A)
    assert len(HDBSCAN(2, metric="canberra", algorithm="ball_tree").fit(A).labels_) == 9
