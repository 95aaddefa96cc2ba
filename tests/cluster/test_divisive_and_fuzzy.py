"""DivisiveClustering clustering and fuzzy c-means: definitions, optimality, agreement with
others."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from lyceum.cluster import DivisiveClustering, FuzzyCMeans, KMeans, sums_of_squares
from lyceum.distances import pairwise
from lyceum.errors import SettingError

X, GROUPS = make_blobs(
    400, 3, centers=[[0, 0, 0], [8, 0, 0], [0, 8, 0], [8, 8, 8]], random_state=0
)


@pytest.mark.syllabus("12.3.4")
@pytest.mark.parametrize("method", ["bisecting", "diana"])
def test_divisions_find_groups_and_make_a_tree(method):
    model = DivisiveClustering(4, method=method).fit(X)
    assert adjusted_rand_score(model.labels_, GROUPS) > 0.98
    assert (np.diff(model.linkage_[:, 2]) >= 0).all()
    assert sorted(model.linkage_[:, :2].ravel()) == list(range(6))
    assert model.linkage_[-1, 3] == 400
    assert np.mean(model.predict(X) == model.labels_) > 0.98


def test_a_division_of_few_rows_with_many_columns_holds_no_matrix_of_columns():
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(6, 4000)) + np.repeat([0.0, 3.0], 3)[:, None]
    tracemalloc.start()
    model = DivisiveClustering(2).fit(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    # a matrix of all pairs of columns has 667 times as many
    assert peak < 60 * wide.nbytes


@pytest.mark.syllabus("12.3")
def test_the_first_splinter_group_is_that_of_its_definition():
    Z = np.random.default_rng(3).normal(size=(25, 2))
    D = pairwise(Z, metric="manhattan")
    left = [int(np.argmax(D.sum(axis=1)))]
    while True:
        stay = [i for i in range(25) if i not in left]
        gain = [
            D[i, [j for j in stay if j != i]].mean() - D[i, left].mean() for i in stay
        ]
        if max(gain) <= 0:
            break
        left.append(stay[int(np.argmax(gain))])
    labels = DivisiveClustering(2, method="diana", metric="manhattan").fit(Z).labels_
    assert {
        *map(frozenset, (np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)))
    } == {
        frozenset(left),
        frozenset(range(25)) - frozenset(left),
    }


@pytest.mark.syllabus("12.3")
def test_heights_of_bisecting_are_what_the_sum_of_squares_falls_by():
    within = [
        sums_of_squares(X, DivisiveClustering(k).fit(X).labels_).within
        for k in (1, 2, 3)
    ]
    heights = DivisiveClustering(3).fit(X).linkage_[:, 2]
    falls = np.sqrt(2 * -np.diff(within))
    np.testing.assert_allclose(heights, np.maximum.accumulate(falls[::-1]), rtol=1e-6)


@pytest.mark.syllabus("12.3")
def test_weights_are_repeats_and_equal_rows_stay_together():
    w = np.random.default_rng(1).integers(1, 4, 400).astype(float)
    repeats = np.repeat(np.arange(400), w.astype(int))
    for method in ("bisecting", "diana"):
        weighted = (
            DivisiveClustering(5, method=method)
            .fit(X, sample_weight=w)
            .labels_[repeats]
        )
        assert (
            adjusted_rand_score(
                weighted, DivisiveClustering(5, method=method).fit(X[repeats]).labels_
            )
            > 0.9
        )
    assert DivisiveClustering(3).fit(np.ones((5, 2))).n_clusters_ == 1
    frame = pd.DataFrame(
        {"town": ["Ulm", "Ulm", "Bonn", "Bonn"], "age": [20.0, None, 60.0, 61.0]}
    )
    labels = DivisiveClustering(2, method="diana").fit(frame).labels_
    assert labels[0] == labels[1] != labels[2] == labels[3]
    with pytest.raises(SettingError, match="take method='diana'"):
        DivisiveClustering(2, metric="cosine").fit(X)


@pytest.mark.syllabus("12.1.5")
def test_centers_and_memberships_satisfy_the_conditions_of_an_optimum():
    model = FuzzyCMeans(4, random_state=0, tol=0).fit(X)
    u, m = model.predict_proba(X), 2.0
    squares = pairwise(X, model.cluster_centers_, metric="squared_euclidean")
    expected = 1 / (squares[:, :, None] / squares[:, None, :]).sum(axis=2)
    np.testing.assert_allclose(u, expected, rtol=1e-9)
    np.testing.assert_allclose(u.sum(axis=1), 1.0)
    means = (u**m).T @ X / (u**m).sum(axis=0)[:, None]
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-4)
    assert model.objective_ == pytest.approx((u**m * squares).sum())
    assert np.diff(model.history_).max() <= 1e-9 * model.history_[0]
    assert adjusted_rand_score(model.labels_, GROUPS) > 0.98


@pytest.mark.syllabus("12.1")
def test_little_fuzziness_is_k_means():
    fuzzy = FuzzyCMeans(4, fuzziness=1.02, init=X[:4], tol=1e-9).fit(X)
    hard = KMeans(4, init=X[:4], tol=0).fit(X)
    np.testing.assert_allclose(fuzzy.cluster_centers_, hard.cluster_centers_, atol=0.05)


@pytest.mark.syllabus("12.1")
def test_a_row_on_a_center_belongs_to_it_alone():
    model = FuzzyCMeans(2, init=[[0.0], [10.0]], max_iter=1).fit([[0.0], [10.0]])
    assert model.predict_proba(model.cluster_centers_).tolist() == [
        [1.0, 0.0],
        [0.0, 1.0],
    ]
