"""k-means by correlation, stopping early, given starts of any layout, and clusters that were
empty."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs

from lyceum.cluster import KMeans, sums_of_squares
from lyceum.errors import SettingError

pytestmark = pytest.mark.syllabus("12.1")

X, GROUPS = make_blobs(600, 4, centers=5, cluster_std=1.5, random_state=0)


def test_correlation_is_cosine_of_rows_about_their_means():
    Z = X - X.mean(axis=1, keepdims=True)
    found = KMeans(4, metric="correlation", init=X[:4]).fit(X)
    expected = KMeans(4, metric="cosine", init=Z[:4]).fit(Z)
    np.testing.assert_allclose(
        found.cluster_centers_, expected.cluster_centers_, atol=1e-12
    )
    assert found.inertia_ == pytest.approx(expected.inertia_)
    wanted = 1 - np.corrcoef(X, found.cluster_centers_)[: len(X), len(X) :]
    np.testing.assert_allclose(found.transform(X), wanted, atol=1e-9)
    # neither scale nor offset matters
    assert (found.predict(3 * X + 7) == found.labels_).all()
    near = np.sort(found.transform(X[:9]), axis=1)
    np.testing.assert_allclose(
        found.explain(X[:9]).contributions.sum(axis=1),
        near[:, 1] - near[:, 0],
        atol=1e-9,
    )


def test_constant_rows_have_no_correlation():
    rows = np.vstack([X[:20], np.full((2, 4), 0.1)])
    model = KMeans(3, metric="correlation", init=X[:3]).fit(rows)
    assert model.counts_.sum() == 20
    np.testing.assert_allclose(model.transform(rows[20:]), 1.0)


def test_correlation_of_sparse_rows_is_refused_with_a_remedy():
    with pytest.raises(SettingError, match=r"X\.toarray\(\)"):
        KMeans(2, metric="correlation").fit(csr_array(X))


def test_it_stops_when_few_rows_move():
    full = KMeans(5, init=X[:5], tol=0).fit(X)
    early = KMeans(5, init=X[:5], tol=0, min_moved=0.05, record=True).fit(X)
    assert early.n_iter_ < full.n_iter_
    centers = [step["centers"] for step in early.record_]
    labels = [((X[:, None] - c) ** 2).sum(axis=2).argmin(axis=1) for c in centers]
    moved = [np.mean(a != b) for a, b in pairwise(labels)]
    assert all(share > 0.05 for share in moved[: early.n_iter_ - 2])
    assert moved[early.n_iter_ - 2] <= 0.05


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_given_starts_may_be_in_columns_order(dtype):
    start = np.asfortranarray(X[:5].astype(dtype))
    found = KMeans(5, init=start).fit(X.astype(dtype))
    expected = KMeans(5, init=np.ascontiguousarray(start)).fit(X.astype(dtype))
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_empty_clusters_are_given_a_row_and_that_is_said():
    start = np.vstack([X[:3], np.full((2, 4), 1e3), np.full((1, 4), -1e3)])
    model = KMeans(6, init=start).fit(X)
    assert model.n_reseeded_ >= 3
    assert (model.counts_ > 0).all()
    assert "empty clusters given a row" in str(model.summary())
    assert KMeans(3, init=X[:3]).fit(X).n_reseeded_ == 0


@pytest.mark.parametrize(
    "init",
    ["k-means++", "random", "furthest-first", "hierarchical", "widest-apart", "space"],
)
def test_every_start_ends_near_the_best(init):
    model = KMeans(5, init=init, random_state=0).fit(X)
    assert np.diff(model.history_).max() <= 1e-9 * model.history_[0]
    assert model.inertia_ == pytest.approx(
        sums_of_squares(X, model.labels_).within, rel=1e-3
    )
    best = KMeans(5, n_init=20, random_state=1).fit(X).inertia_
    assert model.inertia_ <= 1.35 * best


def test_an_offset_takes_no_digits_of_single_precision():
    A = np.random.default_rng(0).normal(size=(90, 6))
    X = (A + 1e6).astype(np.float32)
    one, two = (
        KMeans(3, metric="correlation", random_state=0).fit(cells)
        for cells in (X, X.astype(np.float64))
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(one.inertia_, two.inertia_, rtol=1e-6)
    plain = KMeans(3, random_state=0).fit(X)
    exact = np.sqrt(
        ((X[:, None].astype(np.float64) - plain.cluster_centers_) ** 2).sum(axis=2)
    )
    assert plain.transform(X).dtype == np.float32
    np.testing.assert_allclose(plain.transform(X), exact, rtol=1e-6)
