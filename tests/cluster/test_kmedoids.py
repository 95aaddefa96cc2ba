"""k-medoids: local optima, any distance, samples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from lyceum.cluster import KMedoids
from lyceum.data import scan
from lyceum.distances import pairwise
from lyceum.errors import DataError, SettingError

pytestmark = pytest.mark.syllabus("12.2")


def loss(D, medoids, w=None):
    near = D[list(medoids)].min(axis=0)
    return float(near.sum() if w is None else w @ near)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(3, 60),
    k=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    metric=st.sampled_from(["euclidean", "manhattan", "cosine", "chebyshev"]),
    init=st.sampled_from(["build", "random", "k-medoids++"]),
    swap=st.sampled_from(["first", "best"]),
    weighted=st.booleans(),
)
def test_no_swap_of_a_medoid_and_a_row_lowers_the_loss(
    n, k, seed, metric, init, swap, weighted
):
    rng = np.random.default_rng(seed)
    X, k = rng.normal(size=(n, 3)), min(k, n)
    w = rng.integers(1, 5, n).astype(float) if weighted else None
    model = KMedoids(k, metric=metric, init=init, swap=swap, random_state=seed)
    model.fit(X, sample_weight=w)
    D, medoids = pairwise(X, metric=metric), model.medoid_indices_.tolist()
    reached = loss(D, medoids, w)
    assert model.inertia_ == pytest.approx(reached)
    assert (model.labels_ == D[medoids].argmin(axis=0)).all()
    assert np.diff(model.history_).max(initial=0) <= 1e-9
    for m in range(k):
        for row in range(n):
            swapped = [*medoids[:m], row, *medoids[m + 1 :]]
            assert loss(D, swapped, w) >= reached * (1 - 1e-9)


def test_small_data_are_solved_exactly():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.5, size=(6, 2)) for c in ((0, 0), (5, 0), (0, 5))])
    D = pairwise(X)
    best = min(loss(D, some) for some in combinations(range(len(X)), 3))
    assert KMedoids(3).fit(X).inertia_ == pytest.approx(best)


def test_given_distances_are_those_of_rows():
    X = np.random.default_rng(1).normal(size=(90, 3))
    rows, given_ = (
        KMedoids(4).fit(X),
        KMedoids(4, metric="precomputed").fit(pairwise(X)),
    )
    assert given_.inertia_ == pytest.approx(rows.inertia_, rel=0.05)
    start = np.array([3, 14, 15, 65])
    rows = KMedoids(4, init=start).fit(X)
    assert KMedoids(4, init=start.tolist()).fit(X).inertia_ == rows.inertia_
    given_ = KMedoids(4, init=start, metric="precomputed").fit(pairwise(X))
    assert {*rows.medoid_indices_.tolist()} <= {*range(90)}
    new = np.random.default_rng(2).normal(size=(7, 3))
    assert given_.predict(pairwise(new, X)).tolist() == (
        pairwise(new, X)[:, given_.medoid_indices_].argmin(axis=1).tolist()
    )


def test_samples_come_close_to_all_rows():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(c, 1.0, size=(700, 3)) for c in (0, 6, 12)])
    whole = KMedoids(3, max_samples=3000).fit(X)
    sampled = KMedoids(3, max_samples=300, random_state=0).fit(X)
    assert whole.inertia_ <= sampled.inertia_ <= 1.03 * whole.inertia_
    np.testing.assert_allclose(X[sampled.medoid_indices_], sampled.cluster_centers_)
    losses = [
        step["objective"]
        for step in KMedoids(3, max_samples=300, random_state=0, record=True)
        .fit(X)
        .record_
    ]
    assert len(losses) == 5
    assert min(losses) == pytest.approx(sampled.inertia_)


def test_medoids_of_a_mixed_table_are_its_rows(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [20.0, 22.0, None, 60.0, 61.0, 59.0],
            "town": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn", None],
            "smokes": [True, False, True, True, True, True],
        }
    )
    model = KMedoids(2).fit(frame)
    assert model.labels_[:3].tolist() == [model.labels_[0]] * 3
    assert model.labels_[3:].tolist() == [model.labels_[3]] * 3
    assert "Ulm" in str(model.summary())
    found = model.explain(frame)
    near = np.sort(model.transform(frame), axis=1)
    np.testing.assert_allclose(
        found.contributions.sum(axis=1), near[:, 1] - near[:, 0], atol=1e-12
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert (KMedoids(2).fit(scan(tmp_path / "t.csv")).labels_ == model.labels_).all()


def test_sparse_rows_are_dense_rows():
    X = np.random.default_rng(8).normal(size=(60, 8)) * (
        np.random.default_rng(9).random((60, 8)) < 0.4
    )
    dense, thin = (KMedoids(3, metric="cosine").fit(Z) for Z in (X, csr_array(X)))
    near = np.sort(thin.transform(csr_array(X)))
    np.testing.assert_allclose(near, np.sort(dense.transform(X)), atol=1e-9)


def test_fewer_distinct_rows_than_clusters_are_said():
    with pytest.warns(
        ConvergenceWarning,
        match=r"distinct clusters \(2\) found smaller than n_clusters \(3\)",
    ):
        model = KMedoids(3).fit([[0.0], [0.0], [1.0], [1.0]])
    assert model.transform([[0.5]]).shape == (1, 2)


def test_bad_requests_are_named():
    with pytest.raises(DataError, match="n_samples=2 should be >= n_clusters=3"):
        KMedoids(3).fit([[0.0], [1.0]])
    with pytest.raises(SettingError, match="init must be 2 row numbers"):
        KMedoids(2, init=[0.5, 1.0]).fit([[0.0], [1.0], [2.0]])
    with pytest.raises(SettingError, match="must name different rows"):
        KMedoids(2, init=[1, 1]).fit([[0.0], [1.0], [2.0]])


# E. H. Ruspini (1970), Numerical methods for fuzzy clustering: 75 points, x and y in turn
RUSPINI = """
4 53 5 63 10 59 9 77 13 49 13 69 12 88 15 75 18 61 19 65 22 74 27 72 28 76 24 58 27 55 28 60
30 52 31 60 32 61 36 72 28 147 32 149 35 153 33 154 38 151 41 150 38 145 38 143 32 143 34 141
44 156 44 149 44 143 46 142 47 149 49 152 50 142 53 144 52 152 55 155 54 124 60 136 63 139
86 132 85 115 85 96 78 94 74 96 97 122 98 116 98 124 99 119 99 128 101 115 108 111 110 111
108 116 111 126 115 117 117 115 70 4 77 12 83 21 61 15 69 15 78 16 66 18 58 13 64 20 69 21
66 23 61 25 76 27 72 31 64 30
"""
POINTS = np.array(RUSPINI.split(), dtype=float).reshape(-1, 2)


def plain_pam(D, k):
    """PAM by its definition: a greedy start, then the best of all swaps, all in plain loops."""
    medoids: list[int] = []
    for _ in range(k):
        others = [row for row in range(len(D)) if row not in medoids]
        medoids.append(min(others, key=lambda row: loss(D, [*medoids, row])))
    while True:
        swaps = [
            [*medoids[:m], row, *medoids[m + 1 :]]
            for m in range(k)
            for row in range(len(D))
            if row not in medoids
        ]
        best = min(swaps, key=lambda some: loss(D, some))
        if loss(D, best) >= loss(D, medoids) * (1 - 1e-12):
            return loss(D, medoids)
        medoids = best


@pytest.mark.syllabus("12.2.1")
@pytest.mark.parametrize("k", range(2, 8))
def test_the_best_swap_ends_where_pam_does_on_ruspini(k):
    model = KMedoids(k, swap="best").fit(POINTS)
    assert model.inertia_ == pytest.approx(plain_pam(pairwise(POINTS), k))


def test_four_medoids_of_ruspini_are_those_of_r():
    # cluster::pam(ruspini, 4): medoids 10, 32, 52 and 70, objective 17.22898 by build and 11.48637
    # after swaps, both per row
    model = KMedoids(4, swap="best").fit(POINTS)
    assert sorted(model.medoid_indices_ + 1) == [10, 32, 52, 70]
    assert model.history_[0] / 75 == pytest.approx(17.22898, abs=5e-6)
    assert model.inertia_ / 75 == pytest.approx(11.48637, abs=5e-6)


def test_three_medoids_of_ruspini_are_the_best_of_all():
    D = pairwise(POINTS)
    # the loss of all 67,525 triples, pair by pair
    least = min(
        np.minimum(np.minimum(D[i], D[j]), D[j + 1 :]).sum(axis=1).min(initial=np.inf)
        for i, j in combinations(range(75), 2)
    )
    for model in (KMedoids(3, swap="best"), KMedoids(3, n_init=10, random_state=0)):
        assert model.fit(POINTS).inertia_ == pytest.approx(least)
    # where the first swap alone stays above
    assert KMedoids(3).fit(POINTS).inertia_ > least + 10


@pytest.mark.syllabus("12.2.1")
def test_several_starts_are_tried_after_the_greedy_one():
    model = KMedoids(5, n_init=4, random_state=0, record=True).fit(POINTS)
    assert len(model.record_) == 4
    once = KMedoids(5, record=True).fit(POINTS)
    assert model.record_[0]["objective"] == once.inertia_
    assert model.inertia_ == min(step["objective"] for step in model.record_)
    given = KMedoids(5, init=np.arange(5), n_init=4, record=True).fit(POINTS)
    assert len(given.record_) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_best_swap_takes_weights_and_an_offset(dtype):
    repeats = np.random.default_rng(0).integers(0, 4, len(POINTS))
    weighted = KMedoids(4, swap="best").fit(
        (POINTS + 1e6).astype(dtype), sample_weight=repeats
    )
    repeated = KMedoids(4, swap="best").fit(
        np.repeat((POINTS + 1e6).astype(dtype), repeats, axis=0)
    )
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-6)
