"""HDBSCAN's options: which clusters stay together, how large they may be, and their centers."""

import numpy as np
import pytest
import sklearn.cluster
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist, squareform

from lyceum.cluster import HDBSCAN
from lyceum.errors import SettingError

# four groups of three: two pairs, 0.8 apart within a pair, and 19 between the pairs
GROUPS = np.array([0, 0.1, 0.2, 1, 1.1, 1.2, 20, 20.1, 20.2, 21, 21.1, 21.2])[:, None]


def partition(model):
    labels = model.fit(GROUPS).labels_
    return [np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1)]


FOUR = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
PAIRS = [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize(
    ("epsilon", "clusters"), [(0.0, FOUR), (0.5, FOUR), (2.0, PAIRS), (100.0, PAIRS)]
)
def test_what_is_split_below_a_distance_stays_together(method, epsilon, clusters):
    model = HDBSCAN(
        3,
        2,
        cluster_selection_method=method,
        cluster_selection_epsilon=epsilon,
    )
    assert partition(model) == clusters


def test_all_rows_are_one_cluster_only_where_that_is_allowed():
    model = HDBSCAN(3, 2, cluster_selection_epsilon=100.0, allow_single_cluster=True)
    assert partition(model) == [list(range(12))]


def test_a_cluster_that_is_too_heavy_gives_way_to_those_inside_of_it():
    # groups that are 0.15 apart: the pairs persist longer than what is inside of them
    near = GROUPS - np.repeat([0.0, 0.65, 0.0, 0.65], 3)[:, None]
    assert HDBSCAN(3, 2).fit(near).labels_.tolist() == [0] * 6 + [1] * 6
    small = HDBSCAN(3, 2, max_cluster_size=5).fit(near)
    assert small.labels_.tolist() == np.repeat([0, 1, 2, 3], 3).tolist()
    assert (HDBSCAN(3, 2, max_cluster_size=2).fit(near).labels_ == -1).all()


def test_alpha_divides_distances_but_not_core_distances():
    X = np.random.default_rng(0).normal(size=(40, 2))
    D = cdist(X, X)
    core = np.sort(D, axis=1)[:, 4]
    reach = np.maximum(D / 1.4, np.maximum(core[:, None], core))
    np.fill_diagonal(reach, 0.0)
    heights = linkage(squareform(reach, checks=False), "single")[:, 2]
    model = HDBSCAN(alpha=1.4).fit(X)
    np.testing.assert_allclose(np.sort(model.linkage_[:, 2]), heights, rtol=1e-12)
    np.testing.assert_allclose(model.core_distances_, core, rtol=1e-12)


def test_centers_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(40, 2)) + 12])
    ours = HDBSCAN(store_centers="both").fit(X)
    theirs = sklearn.cluster.HDBSCAN(store_centers="both", copy=True).fit(X)
    order = np.argsort(ours.centroids_[:, 0])
    other = np.argsort(theirs.centroids_[:, 0])
    np.testing.assert_allclose(ours.centroids_[order], theirs.centroids_[other])
    np.testing.assert_allclose(ours.medoids_[order], theirs.medoids_[other])
    assert not hasattr(HDBSCAN(store_centers="medoid").fit(X), "centroids_")


def test_distances_alone_have_no_centers():
    D = cdist(GROUPS, GROUPS)
    with pytest.raises(
        SettingError, match="store_centers='both' needs rows and a metric"
    ):
        HDBSCAN(3, 2, metric="precomputed", store_centers="both").fit(D)
