"""Density-based clusters against scikit-learn's DBSCAN and HDBSCAN, and brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.sparse import coo_array, csr_array
from sklearn import cluster as sklearn_cluster
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import radius_neighbors_graph

from lyceum.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    DivisiveClustering,
    KMedoids,
)
from lyceum.distances import pairwise
from lyceum.errors import DataError, SettingError

pytestmark = pytest.mark.syllabus("12.3")


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 150),
    eps=st.floats(0.05, 1.5),
    min_samples=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    metric=st.sampled_from(["euclidean", "manhattan"]),
)
def test_core_rows_and_noise_are_those_of_dbscan(n, eps, min_samples, seed, metric):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    found = DBSCAN(eps, min_samples=min_samples, metric=metric).fit(X)
    expected = sklearn_cluster.DBSCAN(
        eps=eps, min_samples=min_samples, metric=metric
    ).fit(X)
    core = expected.core_sample_indices_
    assert found.core_sample_indices_.tolist() == core.tolist()
    np.testing.assert_array_equal(
        found.components_, expected.components_.reshape(-1, 2)
    )
    assert adjusted_rand_score(found.labels_[core], expected.labels_[core]) == 1.0
    assert found.n_clusters_ == len({*expected.labels_[core]})
    # a border row may be near several clusters: it goes to the nearest core row
    assert ((found.labels_ < 0) == (expected.labels_ < 0)).all()
    D = pairwise(X, metric=metric)
    for row in np.setdiff1d(np.flatnonzero(found.labels_ >= 0), core):
        assert found.labels_[row] == found.labels_[core[D[row, core].argmin()]]
    assert (found.predict(X) == found.labels_).all()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    min_samples=st.integers(1, 2),
    smallest=st.integers(4, 12),
)
def test_the_hierarchy_has_the_clusters_and_probabilities_of_hdbscan(
    seed, min_samples, smallest
):
    # with at most two neighbors no two merges have one height, which may come in any order
    X, _ = make_blobs(120, 3, centers=4, cluster_std=1.2, random_state=seed)
    found = HDBSCAN(smallest, min_samples).fit(X)
    expected = sklearn_cluster.HDBSCAN(smallest, min_samples, copy=True).fit(X)
    assert adjusted_rand_score(found.labels_, expected.labels_) == 1.0
    np.testing.assert_allclose(found.probabilities_, expected.probabilities_)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), min_samples=st.integers(2, 8))
def test_the_tree_is_single_linkage_of_mutual_reachability(seed, min_samples):
    X, _ = make_blobs(120, 3, centers=4, cluster_std=1.2, random_state=seed)
    found = HDBSCAN(4, min_samples).fit(X)
    D = pairwise(X)
    core = np.sort(D, axis=1)[:, min_samples - 1]
    np.testing.assert_allclose(found.core_distances_, core)
    reach = np.maximum(D, np.maximum(core[:, None], core))
    expected = scipy_linkage(reach[np.triu_indices(120, 1)], "single")
    np.testing.assert_allclose(found.linkage_[:, 2], expected[:, 2])


def test_defaults_are_those_of_scikit_learn():
    X, _ = make_blobs(200, 2, centers=3, cluster_std=0.6, random_state=4)
    for ours, theirs in (
        (DBSCAN(), sklearn_cluster.DBSCAN()),
        (HDBSCAN(copy=True), sklearn_cluster.HDBSCAN(copy=True)),
    ):
        shared = ours.get_params().keys() & theirs.get_params().keys() - {"metric"}
        for name in shared:
            assert ours.get_params()[name] == theirs.get_params()[name]
        ours.fit(X)
        theirs.fit(X)
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
        assert ((ours.labels_ < 0) == (theirs.labels_ < 0)).all()


def test_leaves_are_those_of_hdbscan():
    X, _ = make_blobs(300, 2, centers=6, random_state=3)
    found = HDBSCAN(10, min_samples=5, cluster_selection_method="leaf").fit(X)
    expected = sklearn_cluster.HDBSCAN(
        min_samples=5, min_cluster_size=10, cluster_selection_method="leaf", copy=True
    ).fit(X)
    # merges of equal height may come in any order, so that a row at the rim may or may not be noise
    both = (found.labels_ >= 0) & (expected.labels_ >= 0)
    assert found.n_clusters_ == expected.labels_.max() + 1
    assert adjusted_rand_score(found.labels_[both], expected.labels_[both]) == 1.0
    assert ((found.labels_ >= 0) != (expected.labels_ >= 0)).mean() < 0.02


def test_shapes_that_no_center_describes_are_found_at_default_settings():
    X, y = make_moons(600, noise=0.05, random_state=0)
    model = HDBSCAN(min_cluster_size=30, min_samples=5).fit(X)
    inside = model.labels_ >= 0
    assert model.n_clusters_ == 2
    assert inside.mean() > 0.95
    assert adjusted_rand_score(model.labels_[inside], y[inside]) == 1.0
    assert (model.predict([[5.0, 5.0]]) == -1).all()
    assert ((model.probabilities_ > 0) == inside).all()


def test_weights_are_repeats_also_above_the_smallest_cluster():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(80, 2)).round(1), rng.integers(1, 9, 80).astype(float)
    repeats = np.repeat(np.arange(80), w.astype(int))
    for learner in (DBSCAN(0.3, min_samples=6), HDBSCAN(6)):
        weighted = clone(learner).fit(X, sample_weight=w)
        repeated = clone(learner).fit(X[repeats])
        assert adjusted_rand_score(weighted.labels_[repeats], repeated.labels_) == 1.0


def test_given_distances_are_those_of_rows():
    X, _ = make_blobs(150, 3, centers=3, random_state=2)
    for learner in (DBSCAN(1.5), HDBSCAN(8, min_samples=5)):
        rows = clone(learner).fit(X)
        matrix = clone(learner).set_params(metric="precomputed").fit(pairwise(X))
        assert adjusted_rand_score(rows.labels_, matrix.labels_) == 1.0
        new = X[:9] + 0.1
        assert (
            adjusted_rand_score(rows.predict(new), matrix.predict(pairwise(new, X)))
            == 1.0
        )


def test_mixed_tables_with_missing_cells_go_by_gowers_distance():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.append(rng.normal(20, 1, 30), rng.normal(60, 1, 30)),
            "town": ["Ulm"] * 30 + ["Bonn"] * 30,
        }
    )
    frame.loc[[3, 40], "age"] = np.nan
    frame.loc[7, "town"] = None
    labels = HDBSCAN(10, min_samples=5).fit(frame).labels_
    assert len({*labels[:30]} - {-1}) == len({*labels[30:]} - {-1}) == 1
    assert (labels >= 0).mean() > 0.9


def test_equal_rows_and_few_rows_are_no_trouble():
    assert (
        HDBSCAN(allow_single_cluster=True).fit(np.zeros((9, 2))).labels_.tolist()
        == [0] * 9
    )
    assert (
        DBSCAN(eps=0.1, min_samples=10).fit(np.zeros((9, 2))).labels_.tolist()
        == [-1] * 9
    )
    assert HDBSCAN().fit([[0.0], [1.0]]).labels_.tolist() == [-1, -1]
    with pytest.raises(DataError, match="at least 2 rows"):
        HDBSCAN().fit([[0.0]])


@pytest.mark.parametrize(("n", "smallest"), [(2, 5), (4, 5), (3, 2)])
def test_too_few_rows_for_a_cluster_are_noise_also_if_a_single_one_is_allowed(
    n, smallest
):
    X = np.random.default_rng(0).normal(size=(n, 2))
    with pytest.raises(SettingError, match=r"min_samples \(5\) must be at most"):
        HDBSCAN(smallest, min_samples=5).fit(X)
    model = HDBSCAN(smallest, min_samples=n, allow_single_cluster=True)
    model.set_params(min_cluster_size=max(smallest, n + 1)).fit(X)
    assert model.labels_.tolist() == [-1] * n
    assert model.probabilities_.tolist() == [0.0] * n
    assert HDBSCAN(2, allow_single_cluster=True).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_weights_are_repeats_in_any_unit(unit):
    rng = np.random.default_rng(0)
    X = unit * np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 6])
    w = rng.choice([1, 1, 1, 7], 40)
    weighted = HDBSCAN().fit(X, sample_weight=w)
    repeated = HDBSCAN().fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.stabilities_, repeated.stabilities_)
    np.testing.assert_allclose(
        np.repeat(weighted.probabilities_, w), repeated.probabilities_
    )


@pytest.mark.parametrize("radius", [0.6, 1.0, 30.0])
def test_dbscan_of_a_sparse_graph_is_that_of_the_rows(radius):
    X, _ = make_blobs(200, 2, centers=4, cluster_std=0.6, random_state=0)
    graph = radius_neighbors_graph(X, radius, mode="distance")
    found = DBSCAN(0.5, metric="precomputed").fit(graph)
    theirs = sklearn_cluster.DBSCAN(0.5, metric="precomputed").fit(graph)
    plain = DBSCAN(0.5, metric="euclidean").fit(X)
    assert adjusted_rand_score(found.labels_, plain.labels_) == 1.0
    np.testing.assert_array_equal(found.labels_ < 0, theirs.labels_ < 0)
    np.testing.assert_array_equal(
        found.core_sample_indices_, theirs.core_sample_indices_
    )
    np.testing.assert_array_equal(found.predict(graph), found.labels_)


def test_a_stored_zero_is_a_distance_and_an_absent_cell_is_none():
    # rows 0 and 1 at distance 0, row 2 without neighbors
    cells = ([0.0, 0.0], ([0, 1], [1, 0]))
    graph = csr_array(coo_array(cells, shape=(3, 3)))
    model = DBSCAN(0.5, min_samples=2, metric="precomputed").fit(graph)
    assert model.labels_.tolist() == [0, 0, -1]


@pytest.mark.parametrize("radius", [0.8, 1.5, 3.0, 30.0])
def test_hdbscan_of_a_sparse_graph_is_that_of_pairs_very_far_apart(radius):
    X, _ = make_blobs(200, 2, centers=4, cluster_std=0.6, random_state=0)
    graph = radius_neighbors_graph(X, radius, mode="distance")
    D = pairwise(X)
    far = np.where(radius >= D, D, 1e9)
    found = HDBSCAN(min_cluster_size=10, metric="precomputed").fit(graph)
    dense = HDBSCAN(min_cluster_size=10, metric="precomputed").fit(far)
    assert adjusted_rand_score(found.labels_, dense.labels_) == 1.0


def test_clusters_that_need_all_distances_refuse_a_sparse_graph():
    X, _ = make_blobs(60, 2, centers=3, random_state=0)
    graph = radius_neighbors_graph(X, 1.0, mode="distance")
    for learner in (
        KMedoids(3, metric="precomputed"),
        AgglomerativeClustering(3, metric="precomputed", linkage="average"),
        DivisiveClustering(3, method="diana", metric="precomputed"),
    ):
        with pytest.raises(DataError, match="leaves out pairs of rows"):
            learner.fit(graph)
        # a graph of all pairs is a matrix of all distances
        D = pairwise(X)
        whole = learner.fit(csr_array(D)).labels_
        assert adjusted_rand_score(whole, learner.fit(D).labels_) == 1.0
