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
    weighted=st.booleans(),
)
def test_no_swap_of_a_medoid_and_a_row_lowers_the_loss(
    n, k, seed, metric, init, weighted
):
    rng = np.random.default_rng(seed)
    X, k = rng.normal(size=(n, 3)), min(k, n)
    w = rng.integers(1, 5, n).astype(float) if weighted else None
    model = KMedoids(k, metric=metric, init=init, random_state=seed).fit(
        X, sample_weight=w
    )
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
        ConvergenceWarning, match="found 2 distinct clusters where n_clusters=3"
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
