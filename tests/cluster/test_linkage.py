"""AgglomerativeClustering clustering against SciPy, minimum spanning trees and itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage, linkage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering as SklearnClustering
from sklearn.metrics import adjusted_rand_score

from lyceum.cluster import AgglomerativeClustering
from lyceum.cluster.hierarchy.linkage import LINKAGES, link_rows, spanning_tree
from lyceum.distances import Euclidean, Gower, Manhattan, metric, pairwise
from lyceum.errors import DataError, SettingError, SourceError

pytestmark = pytest.mark.syllabus("12.3")


@pytest.mark.syllabus("12.3.1")
@pytest.mark.parametrize("method", LINKAGES)
@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 400), d=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_the_tree_is_scipys(method, n, d, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    found, expected = link_rows(X, method, Euclidean()), linkage(X, method)
    np.testing.assert_allclose(found[:, 2:], expected[:, 2:], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        cophenet(found), cophenet(expected), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("name", ["manhattan", "chebyshev", "cosine", "correlation"])
def test_the_tree_is_scipys_under_other_metrics(method, name):
    X = np.random.default_rng(3).normal(size=(150, 5))
    expected = linkage(pdist(X, {"manhattan": "cityblock"}.get(name, name)), method)
    found = link_rows(X, method, metric(name))
    np.testing.assert_allclose(found[:, 2:], expected[:, 2:], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("method", LINKAGES)
def test_ties_make_a_valid_tree_of_the_right_heights(method):
    grid = np.stack(np.meshgrid(np.arange(7.0), np.arange(5.0)), -1).reshape(-1, 2)
    X = np.vstack([grid, grid[:9], grid[:4]])
    found = link_rows(X, method, Euclidean())
    assert is_valid_linkage(found)
    assert (found[:13, 2] == 0).all()  # equal rows first
    if method == "single":
        np.testing.assert_array_equal(found[13:, 2], 1.0)


@pytest.mark.parametrize(("n", "d"), [(300, 3), (3000, 3), (2500, 2), (900, 12)])
def test_single_linkage_is_the_minimum_spanning_tree(n, d):
    X = (
        np.random.default_rng(n).normal(size=(n, d)).round(1 if d == 2 else 9)
    )  # ties in two columns
    a, b, raw = spanning_tree(X, Euclidean())
    assert len({*a, *b}) == n
    if n <= 300:
        # SciPy's graph has no edges of length zero: one is added to all
        expected = (
            np.sort(minimum_spanning_tree(csr_array(squareform(pdist(X) + 1.0))).data)
            - 1.0
        )
    else:
        expected = linkage(X, "single")[:, 2]
    np.testing.assert_allclose(np.sort(np.sqrt(raw)), expected, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(X[a] - X[b], axis=1) ** 2, raw, rtol=1e-9)


@pytest.mark.parametrize("d", [3, 10])
def test_a_spanning_tree_of_mutual_reachability_is_that_of_the_full_matrix(d):
    X = np.random.default_rng(1).normal(size=(2100, d))
    core = np.random.default_rng(2).random(2100)
    D = np.maximum(squareform(pdist(X, "sqeuclidean")), np.maximum(core[:, None], core))
    np.fill_diagonal(D, 0.0)
    raw = spanning_tree(X, Euclidean(), core)[2]
    np.testing.assert_allclose(
        np.sort(raw), linkage(squareform(D), "single")[:, 2], rtol=1e-9
    )


@pytest.mark.parametrize(
    "method", ["average", "centroid", "ward", "complete", "single"]
)
def test_a_row_of_weight_two_is_two_equal_rows(method):
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(60, 3)), rng.integers(1, 4, 60).astype(float)
    weighted = link_rows(X, method, Euclidean(), w)
    repeated = link_rows(np.repeat(X, w.astype(int), axis=0), method, Euclidean())
    extra = len(repeated) - len(weighted)
    np.testing.assert_allclose(weighted[:, 2:], repeated[extra:, 2:], rtol=1e-9)
    weighted = link_rows(X, method, Manhattan(), w)
    repeated = link_rows(np.repeat(X, w.astype(int), axis=0), method, Manhattan())
    np.testing.assert_allclose(weighted[:, 2:], repeated[extra:, 2:], rtol=1e-9)


def test_cuts_are_scipys():
    X = np.random.default_rng(5).normal(size=(200, 3))
    Z = linkage(X, "average")
    pairs = {
        "n_clusters": ({"n_clusters": 7}, fcluster(Z, 7, "maxclust")),
        "height": (
            {"n_clusters": None, "distance_threshold": 1.5},
            fcluster(Z, 1.5, "distance"),
        ),
        "inconsistency": (
            {"n_clusters": None, "inconsistency": 1.1, "inconsistency_depth": 3},
            fcluster(Z, 1.1, "inconsistent", depth=3),
        ),
    }
    for name, (cut, expected) in pairs.items():
        labels = AgglomerativeClustering(**cut, linkage="average").fit(X).labels_
        assert adjusted_rand_score(labels, expected) == 1.0, name


@pytest.mark.parametrize("linkage_", ["ward", "average", "complete", "single"])
def test_attributes_are_those_of_scikit_learn(linkage_):
    X = np.random.default_rng(7).normal(size=(60, 3))
    ours = AgglomerativeClustering(4, linkage=linkage_).fit(X)
    theirs = SklearnClustering(4, linkage=linkage_, compute_distances=True).fit(X)
    assert (
        np.sort(ours.children_, axis=1).tolist()
        == np.sort(theirs.children_, axis=1).tolist()
    )
    np.testing.assert_allclose(ours.distances_, theirs.distances_)
    assert ours.n_leaves_ == theirs.n_leaves_
    assert ours.n_clusters_ == theirs.n_clusters_
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


def test_clusters_at_the_threshold_are_not_merged_as_in_scikit_learn():
    X = [[0.0], [1.0], [3.0], [6.0]]
    cut = {"n_clusters": None, "linkage": "single", "distance_threshold": 2.0}
    ours = AgglomerativeClustering(**cut).fit(X).labels_
    assert adjusted_rand_score(ours, SklearnClustering(**cut).fit(X).labels_) == 1.0
    assert len(set(ours)) == 3


def test_given_distances_are_those_of_rows():
    X = np.random.default_rng(6).normal(size=(80, 3))
    D = pairwise(X, metric="manhattan")
    for method in LINKAGES:
        rows = AgglomerativeClustering(4, linkage=method, metric="manhattan").fit(X)
        given_ = AgglomerativeClustering(4, linkage=method, metric="precomputed").fit(D)
        assert adjusted_rand_score(rows.labels_, given_.labels_) == 1.0
        np.testing.assert_allclose(rows.linkage_[:, 2], given_.linkage_[:, 2])
    new = np.random.default_rng(7).normal(size=(9, 3))
    model = AgglomerativeClustering(4, linkage="complete", metric="precomputed").fit(D)
    rows = AgglomerativeClustering(4, linkage="complete", metric="manhattan").fit(X)
    np.testing.assert_allclose(
        np.sort(model.transform(pairwise(new, X, metric="manhattan"))),
        np.sort(rows.transform(new)),
    )


def test_rows_are_predicted_by_the_distance_of_the_linkage():
    X = np.array([[0.0], [1.0], [6.0], [10.0]])
    expected = {
        "single": [3.0, 2.0],
        "complete": [4.0, 6.0],
        "average": [3.5, 4.0],
        "centroid": [3.5, 4.0],
    }
    for method, distances in expected.items():
        model = AgglomerativeClustering(2, linkage=method).fit(X)
        assert model.transform([[4.0]])[0].tolist() == distances, method


def test_mixed_tables_with_missing_cells_go_by_gowers_distance():
    frame = pd.DataFrame(
        {
            "age": [20.0, 22.0, None, 60.0, 61.0],
            "town": ["Ulm", "Ulm", "Ulm", "Bonn", None],
        }
    )
    model = AgglomerativeClustering(2, linkage="average").fit(frame)
    assert isinstance(model.metric_, Gower)
    assert model.labels_[:3].tolist() == [model.labels_[0]] * 3
    assert model.labels_[3] == model.labels_[4] != model.labels_[0]


def test_exactly_one_cut_is_needed():
    with pytest.raises(SettingError, match="Exactly one of n_clusters"):
        AgglomerativeClustering(3, distance_threshold=1.0).fit([[0.0], [1.0], [2.0]])
    with pytest.raises(SettingError, match="given are none"):
        AgglomerativeClustering(None).fit([[0.0], [1.0], [2.0]])


def test_bad_distances_are_named():
    with pytest.raises(DataError, match="not symmetric"):
        AgglomerativeClustering(metric="precomputed").fit([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(
        DataError, match=r"should be square, got matrix of shape \(2, 3\)"
    ):
        AgglomerativeClustering(metric="precomputed").fit(
            [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]]
        )


def test_a_dask_collection_that_memory_cannot_hold_is_refused_by_naming_kmeans(
    monkeypatch,
):
    import dask.array as da

    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(SourceError, match="use KMeans"):
        AgglomerativeClustering().fit(da.ones((10, 2)))


def test_sparse_rows_are_dense_rows():
    X = np.random.default_rng(8).normal(size=(60, 8)) * (
        np.random.default_rng(9).random((60, 8)) < 0.4
    )
    for method in LINKAGES:
        dense, thin = (
            AgglomerativeClustering(3, linkage=method).fit(Z) for Z in (X, csr_array(X))
        )
        np.testing.assert_allclose(dense.linkage_[:, 2], thin.linkage_[:, 2], rtol=1e-6)
        np.testing.assert_allclose(
            np.sort(dense.transform(X)),
            np.sort(thin.transform(csr_array(X))),
            rtol=1e-6,
        )


@pytest.mark.syllabus("12.3.2")
@pytest.mark.parametrize("method", LINKAGES)
def test_members_of_merges_are_those_of_scipys_clusters(method):
    X = np.random.default_rng(5).normal(size=(40, 2))
    model = AgglomerativeClustering(3, linkage=method).fit(X)
    members = model.merge_members()
    # SciPy's clusters of the same tree, grown by their numbers
    clusters = {row: {row} for row in range(40)}
    for t, (a, b) in enumerate(linkage(X, method)[:, :2].astype(int).tolist()):
        one, other = members[t]
        assert {frozenset(one.tolist()), frozenset(other.tolist())} == {
            frozenset(clusters[a]),
            frozenset(clusters[b]),
        }
        clusters[40 + t] = clusters[a] | clusters[b]
    last = model.merge_members([38])[0]
    assert sorted([*last[0], *last[1]]) == list(range(40))


def test_the_summary_names_the_members_of_all_merges_of_few_rows():
    # by hand: 0 and 1 at 1, 3 and 4 at 2, 2 joins the first at 4, both at 9
    model = AgglomerativeClustering(2, linkage="single")
    model.fit([[0.0], [1.0], [5.0], [14.0], [16.0]])
    tables = {table.title: table for table in model.summary().tables}
    merged = [(row[1], {row[4], row[5]}) for row in tables["Merges"].rows]
    assert merged == [
        (1.0, {"0", "1"}),
        (2.0, {"3", "4"}),
        (4.0, {"2", "0, 1"}),
        (9.0, {"3, 4", "0, 1, 2"}),
    ]
    many = AgglomerativeClustering(2).fit(np.arange(300.0)[:, None])
    tables = {table.title: table for table in many.summary().tables}
    assert "and" in tables["Last merges"].rows[0][-1]


def test_weighted_and_median_linkage_by_hand():
    # 0, 2 and 7 on a line: {0, 2} at 2, then the mean of 7 and 5, or from the midpoint 1
    X = [[0.0], [2.0], [7.0], [8.0]]
    weighted = AgglomerativeClustering(1, linkage="weighted").fit(X)
    np.testing.assert_allclose(weighted.distances_, [1.0, 2.0, 6.5])
    median = AgglomerativeClustering(1, linkage="median").fit(X)
    np.testing.assert_allclose(median.distances_, [1.0, 2.0, 6.5])
    # of three rows in one cluster the two joined first count half: 0 and 1, then 10, then 100
    X = [[0.0], [1.0], [10.0], [100.0]]
    heights = AgglomerativeClustering(1, linkage="weighted").fit(X).distances_
    np.testing.assert_allclose(heights, [1.0, 9.5, (99.5 + 90.0) / 2])
    heights = AgglomerativeClustering(1, linkage="median").fit(X).distances_
    np.testing.assert_allclose(heights, [1.0, 9.5, 100.0 - 5.25])


@pytest.mark.parametrize("method", ["weighted", "median"])
def test_weighted_and_median_linkage_do_not_count_rows(method):
    # a repeated row is one part of a merge like a single row
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    repeats = rng.integers(1, 4, 30)
    w = AgglomerativeClustering(3, linkage=method).fit(X, sample_weight=repeats)
    repeated = np.repeat(X, repeats, axis=0)
    r = AgglomerativeClustering(3, linkage=method).fit(repeated)
    np.testing.assert_allclose(w.distances_, r.distances_[r.distances_ > 0])
    assert (np.repeat(w.labels_, repeats) == r.labels_).all()
    assert (w.predict(X) == r.predict(X)).all()
    assert w.explain(X[:3]).contributions.shape == (3, 2)
    frame = pd.DataFrame({"a": X[:, 0], "b": rng.choice(["u", "v"], 30)})
    assert AgglomerativeClustering(3, linkage=method).fit(frame).n_clusters_ == 3


@pytest.mark.syllabus("12.3.5")
def test_squared_correlation_clusters_rows_that_go_together_or_against_each_other():
    rng = np.random.default_rng(1)
    shapes = np.array([[0.0, 1, 2, 3, 4, 5], [3.0, 1, 0, 0, 1, 3]])
    y = np.arange(40) % 2
    X = (
        shapes[y] * rng.choice([-2.0, 1.0], 40)[:, None]
        + rng.normal(size=(40, 6)) * 0.1
    )
    model = AgglomerativeClustering(2, metric="squared_correlation", linkage="average")
    assert adjusted_rand_score(y, model.fit(X).labels_) == 1.0
    r = np.corrcoef(X)
    given = AgglomerativeClustering(2, metric="precomputed", linkage="average")
    np.testing.assert_allclose(
        model.distances_, given.fit(1 - r**2).distances_, atol=1e-9
    )


@pytest.mark.syllabus("12.3.3")
@pytest.mark.parametrize("method", LINKAGES)
def test_another_cut_is_that_of_another_fit(method):
    X = np.random.default_rng(8).normal(size=(60, 3))
    w = np.random.default_rng(9).integers(1, 3, 60)
    model = AgglomerativeClustering(4, linkage=method).fit(X, sample_weight=w)
    for settings_of_cut in (
        {"n_clusters": 1},
        {"n_clusters": 9},
        {"n_clusters": 60},
        {"n_clusters": None, "distance_threshold": float(model.distances_[40])},
        {"n_clusters": None, "inconsistency": 1.0},
    ):
        fresh = AgglomerativeClustering(linkage=method, **settings_of_cut)
        fresh.fit(X, sample_weight=w)
        np.testing.assert_array_equal(model.cut(**settings_of_cut), fresh.labels_)
    given = AgglomerativeClustering(4, linkage=method, metric="precomputed")
    given.fit(pairwise(X), sample_weight=w)
    assert adjusted_rand_score(given.cut(9), model.cut(9)) == 1.0
    np.testing.assert_array_equal(given.cut(4), given.labels_)
    for wrong in ({}, {"n_clusters": 2, "distance_threshold": 1.0}, {"n_clusters": 61}):
        with pytest.raises(SettingError, match="n_clusters"):
            model.cut(**wrong)
