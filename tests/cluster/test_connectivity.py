"""Clusters of neighbors in a graph: only what an edge joins is merged."""

import numpy as np
import pytest
import sklearn.cluster
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from lyceum.cluster import AgglomerativeClustering
from lyceum.errors import SettingError


def rows(n=90, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_tree_is_that_of_scikit_learn(linkage, seed):
    X = rows(seed=seed)
    graph = kneighbors_graph(X, 8, include_self=False)
    ours = AgglomerativeClustering(4, linkage=linkage, connectivity=graph).fit(X)
    theirs = sklearn.cluster.AgglomerativeClustering(
        4, linkage=linkage, connectivity=graph, compute_distances=True
    ).fit(X)
    np.testing.assert_allclose(
        np.sort(ours.distances_), np.sort(theirs.distances_), rtol=1e-9
    )
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


@pytest.mark.parametrize("linkage", ["ward", "average", "weighted", "centroid"])
def test_with_all_edges_it_is_the_tree_without_a_graph(linkage):
    X = rows(30)
    plain = AgglomerativeClustering(3, linkage=linkage).fit(X)
    joined = AgglomerativeClustering(
        3, linkage=linkage, connectivity=np.ones((30, 30))
    ).fit(X)
    np.testing.assert_allclose(joined.distances_, plain.distances_, rtol=1e-9)
    np.testing.assert_array_equal(joined.labels_, plain.labels_)


def test_clusters_of_an_image_hang_together():
    image = np.zeros((8, 8))
    image[:3] = 5.0
    image[5:] = 5.0  # the same brightness above and below
    graph = grid_to_graph(8, 8)
    model = AgglomerativeClustering(3, connectivity=graph).fit(image.reshape(-1, 1))
    above, between, below = model.labels_.reshape(8, 8)[[0, 4, 7], 0]
    assert len({above, between, below}) == 3


def test_parts_are_joined_by_their_closest_rows_and_it_is_said():
    X = np.array([[0.0], [1.0], [5.0], [6.5]])
    graph = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    with pytest.warns(UserWarning, match="connectivity matrix is 2 > 1"):
        model = AgglomerativeClustering(
            2, linkage="single", connectivity=sparse.csr_array(graph)
        ).fit(X)
    assert model.distances_.tolist() == [1.0, 1.5, 4.0]


def test_given_distances_functions_and_weights():
    X = rows(40)
    graph = kneighbors_graph(X, 6, include_self=False)
    plain = AgglomerativeClustering(3, linkage="average", connectivity=graph).fit(X)
    given = AgglomerativeClustering(
        3, linkage="average", metric="precomputed", connectivity=graph
    ).fit(cdist(X, X))
    np.testing.assert_allclose(given.distances_, plain.distances_)
    called = AgglomerativeClustering(
        3,
        linkage="average",
        connectivity=lambda X: kneighbors_graph(X, 6, include_self=False),
    ).fit(X)
    np.testing.assert_array_equal(called.labels_, plain.labels_)
    # a row of weight zero is no part of the tree
    w = np.ones(41)
    w[40] = 0.0
    wide = sparse.lil_array((41, 41))
    wide[:40, :40] = graph
    weighted = AgglomerativeClustering(3, linkage="average", connectivity=wide)
    weighted.fit(np.vstack([X, [[9.0, 9.0, 9.0]]]), sample_weight=w)
    np.testing.assert_array_equal(weighted.labels_[:40], plain.labels_)


def test_what_does_not_fit_is_refused():
    X = rows(10)
    with pytest.raises(SettingError, match="connectivity has the shape"):
        AgglomerativeClustering(connectivity=np.ones((3, 3))).fit(X)
    with pytest.raises(SettingError, match="linkage='ward' of neighbors"):
        AgglomerativeClustering(connectivity=np.ones((10, 10)), metric="manhattan").fit(
            X
        )
