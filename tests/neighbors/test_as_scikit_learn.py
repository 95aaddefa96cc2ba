"""Neighbors as scikit-learn has them: several targets, given distances, graphs, its parameters."""

import numpy as np
import pytest
import sklearn.neighbors
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import cross_val_score

from lyceum.errors import DataError, SettingError
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor


@pytest.fixture
def flowers():
    X, y = load_iris(return_X_y=True)
    return X + np.random.default_rng(0).normal(scale=0.01, size=X.shape), y


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weights": "distance"},
        {"p": 1},
        {"p": 3},
        {"metric": "cityblock", "algorithm": "kd_tree", "leaf_size": 3},
    ],
)
def test_several_targets_are_answered_as_in_scikit_learn(flowers, settings):
    X, y = flowers
    Y = np.column_stack([y, X[:, 0] > 5.8])
    ours = KNeighborsClassifier(**settings).fit(X, Y)
    theirs = sklearn.neighbors.KNeighborsClassifier(**settings).fit(X, Y)
    for mine, other in zip(ours.predict_proba(X), theirs.predict_proba(X)):
        np.testing.assert_allclose(mine, other, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    numbers = KNeighborsRegressor(**settings).fit(X, Y)
    theirs = sklearn.neighbors.KNeighborsRegressor(**settings).fit(X, Y)
    np.testing.assert_allclose(numbers.predict(X), theirs.predict(X), atol=1e-12)
    graph = numbers.kneighbors_graph(mode="distance")
    assert abs(graph - theirs.kneighbors_graph(mode="distance")).max() < 1e-12


def test_given_distances_are_taken_as_they_are(flowers):
    X, y = flowers
    D = pairwise_distances(X)
    ours = KNeighborsClassifier(metric="precomputed").fit(D, y)
    plain = KNeighborsClassifier().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(D), plain.predict_proba(X))
    np.testing.assert_array_equal(ours.kneighbors()[1], plain.kneighbors()[1])
    assert cross_val_score(ours, D, y).tolist() == cross_val_score(plain, X, y).tolist()
    with pytest.raises(DataError, match="must be square"):
        ours.fit(D[:, :5], y)


def test_cells_that_a_graph_does_not_store_are_far(flowers):
    X, y = flowers
    graph = sklearn.neighbors.kneighbors_graph(X, 10, mode="distance")
    graph.setdiag(0.0)
    graph = sparse.csr_matrix(graph)
    near = KNeighborsClassifier(3, metric="precomputed").fit(graph, y)
    plain = KNeighborsClassifier(3).fit(X, y)
    np.testing.assert_array_equal(near.predict(graph), plain.predict(X))
    many = KNeighborsClassifier(30, metric="precomputed").fit(graph, y)
    with pytest.raises(
        DataError, match="30 neighbors are required per sample, but row 0"
    ):
        many.predict(graph)


def test_what_scikit_learn_refuses_is_refused(flowers):
    X, y = flowers
    model = KNeighborsClassifier().fit(X, y)
    with pytest.raises(SettingError, match=r"Expected n_neighbors > 0. Got -1"):
        model.kneighbors(X, -1)
    with pytest.raises(SettingError, match="n_neighbors does not take"):
        model.kneighbors(X, 2.5)
    with pytest.raises(SettingError, match="Expected n_neighbors <= n_samples_fit"):
        model.kneighbors(X, 151)
    with pytest.raises(SettingError, match="does not support 0 < p < 1"):
        KNeighborsClassifier(p=0.5, algorithm="kd_tree").fit(X, y)
    with pytest.warns(UserWarning, match="not distance metrics"):
        KNeighborsClassifier(p=0.5).fit(X, y)
