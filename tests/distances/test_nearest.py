"""Nearest rows: brute force by definition, scikit-learn, and what must not change them."""

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from lyceum._core.distances import NearestLists
from lyceum._core.distances.metrics import points_of
from lyceum._core.distances.native_comparisons import raw_pairwise
from lyceum.data import scan
from lyceum.distances import (
    Chebyshev,
    Correlation,
    Cosine,
    Euclidean,
    Hamming,
    Jaccard,
    Mahalanobis,
    Manhattan,
    Minkowski,
    NeighborIndex,
    SquaredCorrelation,
    SquaredEuclidean,
    metric as as_metric,
    nearest,
    pairwise,
    within_radius,
)
from lyceum.errors import SettingError

METRICS = [
    Euclidean(),
    SquaredEuclidean(),
    Manhattan(),
    Chebyshev(),
    Minkowski(3),
    Mahalanobis(np.diag([1.0, 4.0, 9.0])),
    Cosine(),
    Correlation(),
    SquaredCorrelation(),
    Hamming(),
    Jaccard(),
]
TREES = METRICS[:9]


def label(one):
    return repr(one)


def by_definition(X, Y, k, metric):
    """Sorted by the values before a root is taken, which may make equal what was not."""
    metric = as_metric(metric)
    raw = np.empty((len(X), len(Y)))
    raw_pairwise(metric.space, points_of(metric, X), points_of(metric, Y), raw)
    rows = np.lexsort((np.broadcast_to(np.arange(len(Y)), raw.shape), raw), axis=1)[
        :, :k
    ]
    return np.take_along_axis(pairwise(X, Y, metric=metric), rows, axis=1), rows


@pytest.mark.parametrize("metric", METRICS, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 6, 40])
def test_nearest_rows_are_those_of_brute_force(metric, dtype, k):
    rng = np.random.default_rng(0)
    X, Y = (
        rng.integers(0, 6, (61, 3)).astype(dtype),
        rng.integers(0, 6, (500, 3)).astype(dtype),
    )
    found = nearest(X, k, among=Y, metric=metric)
    distances, rows = by_definition(X.astype(float), Y.astype(float), k, metric)
    assert_array_equal(found.rows, rows)
    assert_array_equal(found.distances, distances)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(50, 3000, 1), (200, 5000, 3), (97, 4001, 20), (30, 2500, 65)]
)
@pytest.mark.parametrize("offset", [0, 1e4])
def test_the_filter_changes_nothing(dtype, shape, offset):
    n, m, d = shape
    rng = np.random.default_rng(1)
    X, Y = ((rng.normal(size=(size, d)) + offset).astype(dtype) for size in (n, m))
    found = NeighborIndex(Y, algorithm="all pairs").nearest(X, 5)
    distances, rows = by_definition(X.astype(float), Y.astype(float), 5, "euclidean")
    assert_array_equal(found.rows, rows)
    assert_array_equal(found.distances, distances)


@pytest.mark.parametrize("scale", [1e-200, 1e-170, 1e-30, 1e30, 1e140])
def test_the_filter_stands_any_scale(scale):
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(3000, 4)) * scale
    X = Y[:40] * 1.01
    found = NeighborIndex(Y, algorithm="all pairs").nearest(X, 4)
    assert_array_equal(found.rows, by_definition(X, Y, 4, "euclidean")[1])


def test_the_filter_stands_clusters_far_apart():
    rng = np.random.default_rng(3)
    Y = np.concatenate(
        [rng.normal(size=(3000, 3)) + middle for middle in (0, 1e8, -1e12)]
    )
    X = np.concatenate([Y[::90], [[1e30, -1e30, 0.0]], [[0.0, 1e200, 0.0]]])
    index = NeighborIndex(Y, algorithm="all pairs")
    assert_array_equal(index.nearest(X, 7).rows, by_definition(X, Y, 7, "euclidean")[1])


def test_the_filter_stands_an_outlier():
    rng = np.random.default_rng(4)
    Y = rng.normal(size=(6000, 3))
    Y[5000] = 1e300
    index = NeighborIndex(Y, algorithm="all pairs")
    assert_array_equal(
        index.nearest(Y[:50], 7).rows, by_definition(Y[:50], Y, 7, "euclidean")[1]
    )


small = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 30), st.just(2)),
    elements=st.sampled_from([0.0, 1.0, -2.0, 0.1, 1e6, 1e-9]),
)


@given(X=small, k=st.integers(1, 6))
def test_ties_go_to_the_lowest_rows_however_it_is_searched(X, k):
    k = min(k, len(X))
    want = by_definition(X, X, k, "euclidean")
    for algorithm in ("tree", "all pairs"):
        found = NeighborIndex(X, algorithm=algorithm).nearest(X, k)
        assert_array_equal(found.rows, want[1])
        assert_array_equal(found.distances, want[0])


@pytest.mark.parametrize("metric", TREES, ids=label)
@pytest.mark.parametrize("rows", ["spread", "on a grid"])
def test_the_tree_changes_nothing(metric, rows):
    rng = np.random.default_rng(5)
    draw = (
        rng.normal
        if rows == "spread"
        else lambda size: rng.integers(0, 5, size).astype(float)
    )
    Y, X = draw(size=(2000, 3)) + 1e3, draw(size=(150, 3)) + 1e3
    tree, pairs = (
        NeighborIndex(Y, metric=metric, algorithm=one) for one in ("tree", "all pairs")
    )
    for k in (1, 5, 33):
        one, two = tree.nearest(X, k), pairs.nearest(X, k)
        assert_array_equal(one.rows, two.rows)
        assert_array_equal(one.distances, two.distances)
    radius = float(np.median(pairs.nearest(X, 20).distances[:, -1]))
    one, two = tree.within(X, radius), pairs.within(X, radius)
    assert_array_equal(one.offsets, two.offsets)
    assert_array_equal(one.rows, two.rows)
    assert_array_equal(one.distances, two.distances)


@pytest.mark.parametrize("algorithm", ["tree", "all pairs"])
def test_neighbors_are_scikit_learns(algorithm):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(900, 4))
    index, other = (
        NeighborIndex(X, algorithm=algorithm),
        NearestNeighbors(algorithm="brute").fit(X),
    )
    found = index.nearest(None, 5)
    distances, rows = other.kneighbors(None, 5)
    assert_array_equal(found.rows, rows)
    assert_allclose(found.distances, distances, rtol=1e-6)
    balls = index.within(None, 0.8)
    _, within = other.radius_neighbors(None, 0.8)
    assert_array_equal(balls.counts, [len(rows) for rows in within])
    assert all(
        np.array_equal(np.sort(ball.rows), np.sort(rows))
        for ball, rows in zip(balls, within)
    )


def test_a_row_is_no_neighbor_of_itself():
    X = np.array([[0.0], [0.0], [3.0], [0.0]])
    assert nearest(X, 2).rows.tolist() == [[1, 3], [0, 3], [0, 1], [0, 1]]
    assert [ball.rows.tolist() for ball in within_radius(X, 0.0)] == [
        [1, 3],
        [0, 3],
        [],
        [0, 1],
    ]


@pytest.mark.parametrize(
    "metric", [Euclidean(), Manhattan(), Cosine(), Jaccard(), Hamming()], ids=label
)
def test_sparse_rows_have_the_same_neighbors(metric):
    rng = np.random.default_rng(7)
    X, Y = (
        (rng.random((size, 12)) < 0.3) * rng.integers(1, 4, (size, 12))
        for size in (40, 300)
    )
    found = nearest(
        sparse.csr_array(X.astype(float)),
        5,
        among=sparse.csr_array(Y.astype(float)),
        metric=metric,
    )
    dense = nearest(X, 5, among=Y, metric=metric)
    assert_allclose(found.distances, dense.distances, rtol=1e-12, atol=1e-12)
    if metric.name != "cosine":
        assert_array_equal(found.rows, dense.rows)


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_threads_do_not_change_a_bit(metric):
    rng = np.random.default_rng(8)
    X, Y = rng.normal(size=(500, 3)), rng.normal(size=(700, 3))
    found = nearest(X, 9, among=Y, metric=metric)
    with threadpool_limits(1):
        alone = nearest(X, 9, among=Y, metric=metric)
    assert_array_equal(found.rows, alone.rows)
    assert_array_equal(found.distances, alone.distances)


# -- rows that stream by ---------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", [Euclidean(), Manhattan(), Cosine(), Hamming()], ids=label
)
def test_rows_from_a_file_give_what_memory_gives(metric, tmp_path):
    rng = np.random.default_rng(9)
    X, Y = (
        rng.integers(0, 9, (33, 3)).astype(float),
        rng.integers(0, 9, (4000, 3)).astype(float),
    )
    pq.write_table(
        pa.table({f"x{j}": Y[:, j] for j in range(3)}),
        tmp_path / "rows.parquet",
        row_group_size=300,
    )
    kinds = {f"x{j}": "continuous" for j in range(3)}
    want = nearest(X, 6, among=Y, metric=metric)
    for memory in (0, 1 << 30):
        rows = scan(tmp_path / "rows.parquet", kinds=kinds, memory=memory)
        found = nearest(X, 6, among=rows, metric=metric)
        assert_array_equal(found.rows, want.rows)
        assert_array_equal(found.distances, want.distances)


def test_rows_of_dask_give_what_memory_gives():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(10)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(1000, 3))
    frame = dd.from_pandas(pd.DataFrame(Y, columns=["a", "b", "c"]), npartitions=6)
    found = nearest(X, 4, among=scan(frame))
    assert_array_equal(found.rows, nearest(X, 4, among=Y).rows)


@given(data=st.data())
def test_merged_lists_are_those_of_all_rows_at_once(data):
    Y = data.draw(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(2, 40), st.just(2)),
            elements=st.sampled_from([0.0, 1.0, 2.5]),
        )
    )
    cut, k = data.draw(st.integers(1, len(Y) - 1)), data.draw(st.integers(1, 5))
    block = next(scan(Y).blocks())
    X = np.array([[0.0, 0.0], [1.0, 2.0]])

    def lists(rows, start):
        part = block.take(np.isin(np.arange(len(Y)), rows))
        return NearestLists.of(
            replace(part, start=start), points=X, metric=Euclidean(), k=k
        )

    one, two = lists(range(cut), 0), lists(range(cut, len(Y)), cut)
    whole = lists(range(len(Y)), 0)
    for merged in (one.merge(two), two.merge(one)):
        assert_array_equal(merged.rows, whole.rows)
        assert_array_equal(merged.raw, whole.raw)
        assert merged.n_rows == len(Y)


def test_an_index_can_be_sent_elsewhere():
    X = np.random.default_rng(13).normal(size=(1000, 3))
    index = NeighborIndex(X)
    before = index.nearest(X[:5], 3)
    assert_array_equal(
        pickle.loads(pickle.dumps(index)).nearest(X[:5], 3).rows, before.rows
    )


def test_bad_questions_are_named():
    X = np.random.default_rng(11).normal(size=(5, 2))
    with pytest.raises(SettingError, match="k is 6, but the search is among 5 rows"):
        nearest(X, 6, among=X)
    with pytest.raises(SettingError, match="k is 5, but the search is among 4 rows"):
        nearest(X, 5)
    with pytest.raises(SettingError, match="k is 9, but the search is among 5 rows"):
        nearest(X, 9, among=scan(X))
    for k in (0, 1.5, "2"):
        for among in (X, scan(X)):
            with pytest.raises(
                SettingError, match="k must be a whole number of at least 1"
            ):
                nearest(X, k, among=among)
    for radius in (-1.0, "far"):
        with pytest.raises(SettingError, match="radius must be at least 0"):
            within_radius(X, radius)
    with pytest.raises(SettingError, match="'hamming' is not"):
        NeighborIndex(X, metric="hamming", algorithm="tree")
    with pytest.raises(SettingError, match="algorithm must be"):
        NeighborIndex(X, algorithm="ball")


def test_the_shape_decides_how_it_is_searched():
    rng = np.random.default_rng(12)
    assert NeighborIndex(rng.normal(size=(2000, 3))).algorithm == "tree"
    assert NeighborIndex(rng.normal(size=(2000, 30))).algorithm == "all pairs"
    assert NeighborIndex(rng.normal(size=(20, 3))).algorithm == "all pairs"
    assert (
        NeighborIndex(rng.normal(size=(2000, 3)), metric="jaccard").algorithm
        == "all pairs"
    )
    assert "2,000 rows of 3 columns" in repr(NeighborIndex(rng.normal(size=(2000, 3))))
