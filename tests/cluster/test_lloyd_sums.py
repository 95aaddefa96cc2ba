import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from tests.statistics.cut import block_of, cut, fold, repeated

from lyceum.cluster import KMeans
from lyceum.cluster.kmeans.bounds import LloydBounds
from lyceum.cluster.kmeans.sums import FarthestRows, LloydSums

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 3)).round(1)
W = RNG.integers(0, 4, 400).astype(float)
CENTERS = RNG.standard_normal((6, 3))
of = partial(LloydSums.of, centers=CENTERS)
far = partial(FarthestRows.of, centers=CENTERS, size=5)


def close(one, two):
    np.testing.assert_allclose(one.sums, two.sums, atol=1e-9)
    np.testing.assert_allclose(one.weights, two.weights)
    assert one.inertia == pytest.approx(two.inertia, rel=1e-12)


def brute(X, w, centers):
    squares = cdist(X, centers, "sqeuclidean")
    labels = squares.argmin(axis=1)
    sums = np.array([(w * (labels == k)) @ X for k in range(len(centers))])
    return LloydSums(
        len(X),
        sums,
        np.bincount(labels, w, len(centers)),
        float(w @ squares.min(axis=1)),
    )


@pytest.mark.parametrize(
    "as_", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)]
)
def test_sums_are_those_of_the_definition(as_):
    got, expected = of(block_of(as_(X), W)), brute(X, W, CENTERS)
    np.testing.assert_allclose(got.sums, expected.sums, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(got.weights, expected.weights)
    assert got.inertia == pytest.approx(expected.inertia, rel=1e-6)


def test_an_offset_of_a_million_changes_no_label():
    got = LloydSums.of(block_of(X + 1e6, W), centers=CENTERS + 1e6)
    expected = brute(X, W, CENTERS)
    np.testing.assert_array_equal(got.weights, expected.weights)
    assert got.inertia == pytest.approx(expected.inertia, rel=1e-7)


@given(st.lists(st.integers(1, 399), max_size=6))
def test_any_cut_gives_the_same_sums(places):
    close(fold(of, cut(X, W, places)), of(block_of(X, W)))


def test_weights_equal_repeated_rows():
    close(of(block_of(X, W)), of(block_of(repeated(X, W))))


def test_merge_is_associative_and_commutative():
    a, b, c = map(of, cut(X, W, [100, 250]))
    close(a.merge(b).merge(c), a.merge(b.merge(c)))
    close(a.merge(b), b.merge(a))


def same_rows(one, two):
    for name in ("X", "squares", "weights", "labels"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name))


def test_farthest_rows_are_those_of_the_definition():
    squares = cdist(X, CENTERS, "sqeuclidean").min(axis=1)
    kinds = np.unique(np.column_stack([squares, X])[W > 0].round(9), axis=0)
    got = far(block_of(X, W))
    np.testing.assert_allclose(got.squares, kinds[::-1][:5, 0])
    for x, weight in zip(got.X, got.weights):
        assert weight == W[(x == X).all(axis=1)].sum()


@given(st.lists(st.integers(1, 399), max_size=6))
def test_any_cut_finds_the_same_farthest_rows(places):
    same_rows(fold(far, cut(X, W, places)), far(block_of(X, W)))


def test_farthest_rows_count_repeats_as_weights():
    same_rows(far(block_of(X, W)), far(block_of(repeated(X, W))))
    same_rows(far(block_of(sparse.csr_array(X), W)), far(block_of(X, W)))


def test_rows_on_a_center_are_not_far():
    X = np.array([[0.0], [0.0], [1.0]])
    assert FarthestRows.of(block_of(X), centers=X[:1], size=3).X.tolist() == [[1.0]]
    assert len(FarthestRows.of(block_of(X), centers=X[1:], size=3)) == 0


def test_a_moved_row_leaves_its_cluster():
    block = block_of(np.array([[0.0], [1.0], [8.0]]))
    centers = np.array([[0.0], [100.0]])
    sums = LloydSums.of(block, centers)
    moved = sums.with_rows_moved(FarthestRows.of(block, centers, size=1), np.array([1]))
    assert moved.sums.ravel().tolist() == [1.0, 8.0]
    assert moved.weights.tolist() == [2.0, 1.0]


@given(
    st.integers(0, 1000),
    st.integers(1, 40),
    st.sampled_from(["euclidean", "cosine"]),
    st.sampled_from("fd"),
)
def test_bounds_change_no_bit_of_the_result(seed, k, metric, dtype):
    rng = np.random.default_rng(seed)
    # ties
    rows = (
        (rng.normal(size=(300, 2)) * 3 + rng.normal(size=2) * 100)
        .round(1)
        .astype(dtype)
    )
    settings = {
        "init": rows[rng.choice(300, k, replace=False)] + 1e-3,
        "n_init": 1,
        "metric": metric,
        "tol": 0.0,
    }
    w = rng.integers(0, 3, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows
        one, two = (
            KMeans(k, algorithm=a, **settings).fit(rows, sample_weight=w)
            for a in ("lloyd", "bounds")
        )
    assert np.array_equal(one.cluster_centers_, two.cluster_centers_)
    assert np.array_equal(one.labels_, two.labels_)
    assert one.n_iter_ == two.n_iter_
    assert one.history_ == pytest.approx(two.history_, rel=1e-13)


def test_bounds_rest_where_they_decide_nothing():
    bounds = LloydBounds(100, 3, np.dtype(np.float64))
    used = []
    for _ in range(16):
        now = bounds.begin(CENTERS[:3])
        used.append(now is not None)
        if now:
            now.end(100)  # every row had to be compared
    assert used == [i in (2, 3, 8, 9) for i in range(16)]
