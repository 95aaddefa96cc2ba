"""Measures of a clustering, against scikit-learn and their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from sklearn import metrics

from lyceum.cluster import (
    adjusted_rand_score,
    agreement,
    davies_bouldin_score,
    entropy,
    judged_pairs,
    match_clusters,
    mutual_info_score,
    normalized_mutual_info_score,
    pair_counts,
    proximity,
    purity,
    silhouette,
    sums_of_squares,
)
from lyceum.cluster.validity.chance import expected_information
from lyceum.distances import pairwise
from lyceum.errors import DataError, MissingValuesError, SettingError

pytestmark = pytest.mark.syllabus("12.5")


def drawn(seed, n=120, k=5, d=3):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, d)) + 1e6,
        rng.integers(0, k, n),
        rng.integers(0, 3, n).astype(float),
    )


@pytest.mark.syllabus("12.5.1")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_total_is_within_plus_between(seed):
    X, labels, w = drawn(seed)
    for weights in (None, w):
        found = sums_of_squares(X, labels, weights)
        assert found.total == pytest.approx(found.within + found.between)
        assert found.within == pytest.approx(found.within_clusters.sum())
    mean = X.mean(axis=0)
    plain = sums_of_squares(X, labels)
    assert plain.total == pytest.approx(((X - mean) ** 2).sum())
    groups = [X[labels == c] for c in np.unique(labels)]
    assert plain.within == pytest.approx(
        sum(((g - g.mean(axis=0)) ** 2).sum() for g in groups)
    )


@pytest.mark.syllabus("12.5.2")
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("euclidean", "euclidean"),
        ("manhattan", "cityblock"),
        ("cosine", "cosine"),
        ("chebyshev", "chebyshev"),
        ("squared_euclidean", "sqeuclidean"),
        ("minkowski", "minkowski"),
    ],
)
def test_silhouettes_are_scikit_learns(ours, theirs):
    X, labels, _ = drawn(1, n=173)
    X -= 1e6
    found = silhouette(X, labels, metric=ours)
    np.testing.assert_allclose(
        found.points, metrics.silhouette_samples(X, labels, metric=theirs), atol=1e-9
    )
    assert found.mean == pytest.approx(
        metrics.silhouette_score(X, labels, metric=theirs)
    )
    by_cluster = [found.points[labels == c].mean() for c in found.clusters]
    np.testing.assert_allclose(found.cluster_means, by_cluster)
    assert found.mean_of_clusters == pytest.approx(np.mean(by_cluster))


def test_silhouettes_of_sparse_rows_and_given_distances_are_those_of_rows():
    X, labels, _ = drawn(2)
    X -= 1e6
    expected = silhouette(X, labels).points
    np.testing.assert_allclose(
        silhouette(csr_array(X), labels).points, expected, atol=1e-9
    )
    np.testing.assert_allclose(
        silhouette(pairwise(X), labels, metric="precomputed").points,
        expected,
        atol=1e-9,
    )


def test_silhouette_weights_are_repeats_and_noise_is_left_out():
    X, labels, w = drawn(3)
    found = silhouette(X, labels, sample_weight=w)
    repeats = np.repeat(np.arange(len(X)), w.astype(int))
    assert found.mean == pytest.approx(silhouette(X[repeats], labels[repeats]).mean)
    noisy = np.where(np.arange(len(X)) % 4 == 0, -1, labels)
    kept = noisy >= 0
    points = silhouette(X, noisy).points
    assert np.isnan(points[~kept]).all()
    np.testing.assert_allclose(points[kept], silhouette(X[kept], labels[kept]).points)


def test_a_single_row_has_silhouette_zero():
    found = silhouette([[0.0], [1.0], [9.0]], ["a", "a", "b"])
    assert found.points[2] == 0.0
    with pytest.raises(DataError, match="at least 2"):
        silhouette([[0.0], [1.0]], [0, 0])
    with pytest.raises(SettingError, match="labels has shape"):
        silhouette([[0.0], [1.0]], [0, 0, 1])


@pytest.mark.syllabus("12.5.3")
def test_cohesion_and_separation_are_the_sums_of_edges():
    X, labels, _ = drawn(4, n=40, k=3)
    D = pairwise(X)
    found, given_ = proximity(X, labels), proximity(D, labels, metric="precomputed")
    for c in range(3):
        inside = D[np.ix_(labels == c, labels == c)]
        assert found.cohesion[c] == pytest.approx(inside.sum() / 2)
        for other in range(3):
            edges = D[np.ix_(labels == c, labels == other)].sum()
            assert found.separation[c, other] == pytest.approx(
                0.0 if c == other else edges
            )
    np.testing.assert_allclose(given_.separation, found.separation)
    similar = 1.0 / (1.0 + D)
    kept = proximity(similar, labels, metric="precomputed")
    own = similar[np.ix_(labels == 0, labels == 0)]
    assert kept.cohesion[0] == pytest.approx((own.sum() - len(own)) / 2)


@pytest.mark.syllabus("12.5.4")
@settings(max_examples=40, deadline=None)
@given(
    y=st.lists(st.integers(0, 4), min_size=2, max_size=60),
    seed=st.integers(0, 10**6),
    k=st.integers(1, 6),
)
def test_external_measures_are_scikit_learns(y, seed, k):
    labels = np.random.default_rng(seed).integers(0, k, len(y))
    measures = agreement(y, labels)
    assert measures.pairs.adjusted_rand_score == pytest.approx(
        adjusted_rand_score(y, labels)
    )
    assert measures.mutual_information * np.log(2) == pytest.approx(
        mutual_info_score(y, labels), abs=1e-12
    )
    assert measures.normalized_mutual_information == pytest.approx(
        normalized_mutual_info_score(y, labels), abs=1e-9
    )
    (apart, only_cluster), (only_class, together) = (
        metrics.cluster.pair_confusion_matrix(y, labels) / 2
    )
    found = pair_counts(y, labels)
    assert (found.apart, found.only_cluster, found.only_class, found.together) == (
        apart,
        only_cluster,
        only_class,
        together,
    )
    assert found.rand == pytest.approx(metrics.rand_score(y, labels))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 5), classes=st.integers(1, 5))
def test_the_optimal_alignment_has_the_largest_overlap_of_all(seed, k, classes):
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(0, classes, 40), rng.integers(0, k, 40)
    table = agreement(y, labels).table
    wide = np.zeros((max(table.shape),) * 2)
    wide[: table.shape[0], : table.shape[1]] = table
    best = max(
        sum(wide[i, j] for i, j in enumerate(p)) for p in permutations(range(len(wide)))
    )
    assert match_clusters(y, labels).accuracy == pytest.approx(best / 40)
    assert match_clusters(y, labels, "greedy").accuracy <= best / 40 + 1e-12
    assert match_clusters(y, labels, "largest").accuracy == pytest.approx(
        purity(y, labels)
    )
    matched = [m for m in match_clusters(y, labels, "greedy").matches if m >= 0]
    assert len(set(matched)) == len(matched) == min(table.shape)


@pytest.mark.syllabus("12.5.4")
def test_hand_solved_alignments():
    y = ["a"] * 5 + ["b"] * 5
    labels = [0] * 4 + [1] + [0] * 3 + [1] * 2
    assert match_clusters(y, labels, "largest").classes == {0: "a", 1: "b"}
    assert match_clusters(y, labels).class_f1.tolist() == pytest.approx(
        [2 * 4 / (7 + 5), 2 * 2 / (3 + 5)]
    )
    assert entropy(["a", "a", "b", "b"], [0, 0, 0, 0]) == 1.0
    assert purity(["a", "b", "b", "b"], [0, 0, 0, 1]) == 0.75
    with pytest.raises(SettingError, match="'largest', 'greedy' or 'optimal'"):
        match_clusters(y, labels, "best")


def test_the_entropy_of_pure_clusters_is_zero_and_prints_so():
    assert str(entropy(["a", "a", "b"], [0, 0, 1])) == "0.0"


@pytest.mark.parametrize("measure", [silhouette, proximity, sums_of_squares])
def test_missing_cells_are_refused_not_measured(measure):
    with pytest.raises(MissingValuesError, match="fill them first"):
        measure([[0.0], [2.0], [np.nan], [12.0]], [0, 0, 1, 1])
    with pytest.raises(
        DataError, match="numbers, but there are other cells, such as 'a'"
    ):
        measure(np.array([["a"], [1.0], [2.0], [3.0]], dtype=object), [0, 0, 1, 1])
    with pytest.raises(
        SettingError, match="sample_weight must be 4 numbers of at least 0"
    ):
        measure(
            [[0.0], [2.0], [1.0], [12.0]],
            [0, 0, 1, 1],
            sample_weight=[1.0, 1.0, -1.0, 1.0],
        )


def test_a_function_measures_silhouettes_too():
    X, labels = [[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]
    found = silhouette(X, labels, metric=lambda x, y: abs(x - y).sum())
    np.testing.assert_allclose(found.points, silhouette(X, labels).points)


def test_labels_that_cannot_be_sorted_are_named():
    with pytest.raises(
        DataError, match="labels_true holds labels that cannot be sorted together"
    ):
        agreement(np.array(["a", 1, "b"], dtype=object), [1, 2, 2])


@pytest.mark.parametrize(
    "classes",
    [
        [0.0, np.nan, 1.0, np.nan],
        ["a", None, "b", "b"],
        ["a", float("nan"), "b", "b"],
        pd.array(["a", None, "b", "b"], dtype="string"),
    ],
    ids=["number", "None", "NaN", "NA"],
)
def test_a_missing_class_is_refused_and_is_no_class(classes):
    for measure in (purity, entropy, agreement, pair_counts, match_clusters):
        with pytest.raises(
            DataError, match=r"labels_true has .* missing label.*in row 1"
        ):
            measure(classes, [0, 0, 1, 1])
        with pytest.raises(DataError, match="labels_pred has"):
            measure([0, 0, 1, 1], classes)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), k=st.integers(1, 6))
def test_adjusted_mutual_information_is_scikit_learns(seed, n, k):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, n)
    clusters = np.where(rng.random(n) < 0.4, classes, rng.integers(0, k, n))
    ours = agreement(classes, clusters).adjusted_mutual_information
    theirs = metrics.adjusted_mutual_info_score(classes, clusters)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_expected_information_is_the_mean_over_all_orders_of_the_clusters():
    classes = np.array([0, 0, 0, 1, 1, 2])
    clusters = np.array([0, 1, 1, 0, 1, 1])
    orders = {tuple(order) for order in permutations(clusters.tolist())}
    information = [agreement(classes, order).mutual_information for order in orders]
    table = agreement(classes, clusters).table
    assert expected_information(table) == pytest.approx(np.mean(information))
    measured = agreement(classes, clusters)
    expected = np.mean(information)
    bits = [
        -sum(p * np.log2(p) for p in np.bincount(labels) / 6)
        for labels in (classes, clusters)
    ]
    by_hand = (measured.mutual_information - expected) / (np.mean(bits) - expected)
    assert measured.adjusted_mutual_information == pytest.approx(by_hand)


def test_adjusted_information_of_weights_is_that_of_repeated_rows_and_undefined_of_parts():
    classes, clusters, w = [0, 0, 1, 1], [0, 1, 1, 1], [2, 1, 3, 1]
    repeated = agreement(np.repeat(classes, w), np.repeat(clusters, w))
    weighted = agreement(classes, clusters, w)
    assert weighted.adjusted_mutual_information == pytest.approx(
        repeated.adjusted_mutual_information
    )
    parts = agreement(classes, clusters, [0.5, 1, 1, 1])
    assert np.isnan(parts.adjusted_mutual_information)
    assert parts.summary().as_dict()


@pytest.mark.syllabus("12.5.3")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_davies_bouldin_is_scikit_learns_and_weights_are_repeats(seed):
    X, labels, w = drawn(seed)
    assert davies_bouldin_score(X, labels) == pytest.approx(
        metrics.davies_bouldin_score(X - 1e6, labels)
    )
    repeats = w.astype(int)
    assert davies_bouldin_score(X, labels, w) == pytest.approx(
        davies_bouldin_score(np.repeat(X, repeats, axis=0), np.repeat(labels, repeats))
    )
    noisy = np.append(labels, -1)
    more = np.vstack([X, X[:1] + 50.0])
    assert davies_bouldin_score(more, noisy) == pytest.approx(
        davies_bouldin_score(X, labels)
    )


def test_davies_bouldin_refuses_what_it_cannot_compare():
    with pytest.raises(DataError, match="at least 2"):
        davies_bouldin_score([[0.0], [1.0]], [0, 0])
    with pytest.raises(MissingValuesError, match="Davies-Bouldin"):
        davies_bouldin_score([[0.0], [np.nan]], [0, 1])
    # two clusters on the same mean are not compared, and two single rows have no width
    assert davies_bouldin_score([[0.0], [2.0], [0.0], [2.0]], [0, 0, 1, 1]) == 0.0
    assert davies_bouldin_score([[0.0], [2.0]], [0, 1]) == 0.0


@pytest.mark.syllabus("12.5.5")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_judged_pairs_are_the_measures_of_a_binary_judgment(seed):
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 4, 30)
    pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(50)])
    together = rng.random(50) < 0.5
    same_cluster = clusters[pairs[:, 0]] == clusters[pairs[:, 1]]
    judged = judged_pairs(pairs, together, clusters)
    assert judged.rand == pytest.approx(metrics.accuracy_score(together, same_cluster))
    for ours, theirs in (
        (judged.precision, metrics.precision_score),
        (judged.recall, metrics.recall_score),
        (judged.f1, metrics.f1_score),
    ):
        assert ours == pytest.approx(theirs(together, same_cluster, zero_division=1.0))
    assert judged.adjusted_rand_score == pytest.approx(
        metrics.cohen_kappa_score(together, same_cluster)
    )


def test_judgments_of_all_pairs_are_those_of_the_classes():
    _, clusters, _ = drawn(3, n=25)
    classes = np.random.default_rng(4).integers(0, 3, 25)
    pairs = np.column_stack(np.triu_indices(25, 1))
    together = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    judged = judged_pairs(pairs, together.astype(int), clusters)
    assert judged == pair_counts(classes, clusters)
    twice = judged_pairs(pairs, together, clusters, np.full(len(pairs), 2.0))
    assert twice.apart == 2 * judged.apart


def test_judged_pairs_refuses_what_is_no_pair():
    for pairs, together, message in (
        ([[0, 0]], [True], "pair 0 is"),
        ([[0, 3]], [True], "from 0 to 2"),
        ([0, 1], [True], "shape"),
        ([[0, 1]], [True, False], "1 pair"),
        ([[0, 1]], [2], "True or False"),
    ):
        with pytest.raises(SettingError, match=message):
            judged_pairs(pairs, together, [0, 0, 1])
