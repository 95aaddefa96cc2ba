import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from tests.checks.scikit_learn import obeys_scikit_learn
from threadpoolctl import threadpool_limits

from lyceum import scan
from lyceum.cluster import KMeans
from lyceum.errors import DataError, MissingValuesError, SettingError

X, GROUPS = make_blobs(900, 4, centers=6, cluster_std=1.5, random_state=0)
STARTS = [
    "k-means++",
    "random",
    "furthest-first",
    "hierarchical",
    "widest-apart",
    "space",
]


# The checks round their rows to a few categories, of which there may be fewer than clusters.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize(
    "settings", [{"metric": "cosine"}, *({"init": start} for start in STARTS[1:4])]
)
def test_scikit_learns_checks(settings):
    obeys_scikit_learn(KMeans(3, **settings))


@pytest.mark.syllabus("12.1")
@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_same_start_ends_where_scikit_learns_lloyd_ends(k, offset):
    data = X + offset
    init = data[np.random.default_rng(k).choice(len(data), k, replace=False)]
    got = KMeans(k, init=init, tol=0, max_iter=25).fit(data)
    expected = SklearnKMeans(k, init=init, n_init=1, tol=0, max_iter=25).fit(data)
    assert got.inertia_ == pytest.approx(expected.inertia_, rel=1e-8)
    np.testing.assert_allclose(
        got.cluster_centers_ - offset, expected.cluster_centers_ - offset, atol=1e-8
    )
    np.testing.assert_array_equal(got.labels_, expected.labels_)
    assert got.n_iter_ == expected.n_iter_


def test_the_same_weighted_start_ends_where_scikit_learn_ends():
    w, init = np.random.default_rng(0).exponential(size=len(X)), X[:5]
    got = KMeans(5, init=init, tol=0).fit(X, sample_weight=w)
    expected = SklearnKMeans(5, init=init, n_init=1, tol=0).fit(X, sample_weight=w)
    assert got.inertia_ == pytest.approx(expected.inertia_)
    assert got.score(X, sample_weight=w) == pytest.approx(-expected.inertia_)
    np.testing.assert_allclose(got.counts_, np.bincount(got.labels_, w, 5))


def test_tolerance_stops_where_scikit_learn_stops():
    init = X[:30]
    got = KMeans(30, init=init, tol=1e-2).fit(X)
    expected = SklearnKMeans(30, init=init, n_init=1, tol=1e-2).fit(X)
    assert 1 < got.n_iter_ == expected.n_iter_


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_fitted_centers_labels_and_inertia_agree(init, metric):
    kmeans = KMeans(6, init=init, metric=metric, random_state=0, tol=0).fit(X)
    np.testing.assert_array_equal(kmeans.labels_, kmeans.predict(X))
    distances = kmeans.transform(X)
    np.testing.assert_array_equal(kmeans.labels_, distances.argmin(axis=1))
    objective = (
        distances.min(axis=1) if metric == "cosine" else distances.min(axis=1) ** 2
    )
    assert kmeans.inertia_ == pytest.approx(objective.sum())
    assert kmeans.score(X) == pytest.approx(-kmeans.inertia_)
    assert kmeans.history_[-1] == kmeans.inertia_
    # every center is the mean (the mean direction) of its rows
    rows = X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X
    means = np.array([rows[kmeans.labels_ == k].mean(axis=0) for k in range(6)])
    if metric == "cosine":
        means /= np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(kmeans.cluster_centers_, means, atol=1e-10)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_objective_never_rises(metric):
    kmeans = KMeans(
        12, init="random", n_init=1, metric=metric, random_state=1, record=True
    ).fit(X)
    assert len(kmeans.history_) - kmeans.n_iter_ in (0, 1)
    assert (np.diff(kmeans.history_) <= 1e-9 * kmeans.inertia_).all()
    np.testing.assert_array_equal(
        kmeans.record_[-1]["centers"], kmeans.cluster_centers_
    )
    assert [step["step"] for step in kmeans.record_] == list(
        range(len(kmeans.history_))
    )
    assert [step["objective"] for step in kmeans.record_] == kmeans.history_
    assert kmeans.history_axes == ("pass", "inertia")


@pytest.mark.parametrize("init", STARTS)
def test_weights_equal_repeated_rows_in_any_order(init):
    w = np.random.default_rng(3).integers(0, 4, len(X))
    repeats = np.random.default_rng(4).permutation(np.repeat(X, w, axis=0))
    one = KMeans(9, init=init, random_state=7).fit(X, sample_weight=w)
    two = KMeans(9, init=init, random_state=7).fit(repeats)
    np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_, atol=1e-9)
    assert one.inertia_ == pytest.approx(two.inertia_)


@pytest.mark.parametrize("init", ["k-means++", "hierarchical"])
def test_array_file_and_dask_give_the_same_clusters(init, tmp_path):
    import dask.array as da

    pq.write_table(
        pa.table({f"x{j}": X[:, j] for j in range(4)}),
        tmp_path / "x.parquet",
        row_group_size=170,
    )
    kmeans = KMeans(6, init=init, random_state=2)
    here = clone(kmeans).fit(X)
    streamed = clone(kmeans).fit(scan(tmp_path / "x.parquet", memory=0))
    lazy = clone(kmeans).fit(da.from_array(X, chunks=((200, 0, 1, 699), 4)))
    for other in (streamed, lazy):
        np.testing.assert_allclose(
            other.cluster_centers_, here.cluster_centers_, atol=1e-9
        )
        np.testing.assert_array_equal(np.asarray(other.labels_), here.labels_)
    assert isinstance(lazy.labels_, da.Array)


def test_one_and_two_threads_give_the_same_bits():
    data = np.random.default_rng(0).standard_normal((40000, 8))
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(KMeans(16, random_state=0, max_iter=5).fit(data))
    np.testing.assert_array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    assert fits[0].inertia_ == fits[1].inertia_


def test_starts_on_a_sample_of_many_rows_find_the_groups():
    data, _ = make_blobs(15000, 3, centers=10, cluster_std=0.3, random_state=1)
    for init in STARTS:
        kmeans = KMeans(10, init=init, random_state=0).fit(data)
        # within a group: three columns of variance 0.09
        assert kmeans.inertia_ / len(data) < (
            2.0 if init in ("random", "space") else 0.3
        )


def test_float32_rows_end_close_to_float64_rows():
    for offset in (0.0, 4096.0):
        single = (X + offset).astype(np.float32)
        one = KMeans(6, random_state=0).fit(single)
        two = KMeans(6, random_state=0).fit(single.astype(float))
        assert one.inertia_ == pytest.approx(two.inertia_, rel=1e-5)
        assert one.transform(single).dtype == np.float32


def test_a_million_away_in_float32_the_groups_are_still_found():
    data, groups = make_blobs(
        500, 2, centers=[[0, 0], [30, 0], [0, 30]], random_state=5
    )
    kmeans = KMeans(3, random_state=0).fit((data + 1e6).astype(np.float32))
    assert len(np.unique(np.column_stack([kmeans.labels_, groups]), axis=0)) == 3


def test_sparse_rows_cluster_as_dense_ones():
    data = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    for metric in ("euclidean", "cosine"):
        dense = KMeans(5, init=data[10:15], metric=metric).fit(data)
        for as_ in (sparse.csr_array, sparse.csr_matrix):
            thin = KMeans(5, init=data[10:15], metric=metric).fit(as_(data))
            np.testing.assert_allclose(
                thin.cluster_centers_, dense.cluster_centers_, atol=1e-10
            )
            np.testing.assert_allclose(
                thin.transform(as_(data)), dense.transform(data), atol=1e-7
            )
            assert thin.inertia_ == pytest.approx(dense.inertia_)


@pytest.mark.parametrize("init", STARTS)
def test_sparse_starts_are_the_dense_ones(init):
    data = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    thin = KMeans(5, init=init, random_state=0).fit(sparse.csr_array(data))
    assert thin.inertia_ < 1.4 * KMeans(5, init=init, random_state=0).fit(data).inertia_


@pytest.mark.syllabus("12.1.3")
def test_empty_clusters_take_the_farthest_rows():
    data = np.array([[0.0], [1.0], [2.0], [30.0], [50.0]])
    init = np.array([[1.0], [1000.0], [2000.0]])
    got = KMeans(3, init=init).fit(data)
    expected = SklearnKMeans(3, init=init, n_init=1).fit(data)
    assert (
        sorted(got.cluster_centers_.ravel())
        == sorted(expected.cluster_centers_.ravel())
        == [1.0, 30.0, 50.0]
    )
    assert got.inertia_ == 2.0


def test_equal_farthest_rows_fill_only_one_empty_cluster():
    data = np.array([[0.0], [1.0], [30.0], [50.0], [50.0]])
    kmeans = KMeans(3, init=np.array([[1.0], [1000.0], [2000.0]])).fit(data)
    assert sorted(kmeans.cluster_centers_.ravel()) == [0.5, 30.0, 50.0]


def test_more_clusters_than_distinct_rows_warns():
    data = np.array([[0.0, 0.0]] * 5 + [[1.0, 1.0]] * 5)
    for init in (*STARTS, data[:3]):
        with pytest.warns(
            ConvergenceWarning,
            match=r"distinct clusters \(2\) found smaller than n_clusters \(3\)",
        ):
            kmeans = KMeans(3, init=init, random_state=0).fit(data)
        assert kmeans.inertia_ == 0.0


@pytest.mark.parametrize("init", STARTS)
def test_as_many_clusters_as_rows_gives_every_row_its_own(init):
    data = X[:20]
    kmeans = KMeans(20, init=init, random_state=0).fit(data)
    assert kmeans.inertia_ == pytest.approx(0.0, abs=1e-20)
    assert len(set(kmeans.labels_)) == 20


@pytest.mark.parametrize("init", STARTS)
def test_one_row_and_constant_columns(init):
    one = KMeans(1, init=init).fit([[3.0, 1e6]])
    assert (one.cluster_centers_.tolist(), one.inertia_) == ([[3.0, 1e6]], 0.0)
    data = np.column_stack([X[:, 0], np.full(len(X), 1e6)])
    kmeans = KMeans(4, init=init, random_state=0).fit(data)
    assert (kmeans.cluster_centers_[:, 1] == 1e6).all()


@pytest.mark.syllabus("12.1.2")
def test_cosine_clusters_do_not_see_lengths():
    lengths = np.random.default_rng(0).uniform(1e-6, 1e6, (len(X), 1))
    one = KMeans(4, metric="cosine", init=X[:4]).fit(X)
    two = KMeans(4, metric="cosine", init=X[:4]).fit(X * lengths)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(np.linalg.norm(one.cluster_centers_, axis=1), 1.0)


def test_cosine_rows_of_zeros_move_nothing_and_are_labeled_zero():
    padded = np.vstack([X, np.zeros((50, 4))])
    for as_ in (np.asarray, sparse.csr_array):
        one = KMeans(4, metric="cosine", init=X[:4]).fit(as_(X))
        two = KMeans(4, metric="cosine", init=X[:4]).fit(as_(padded))
        np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_)
        assert one.inertia_ == pytest.approx(two.inertia_)
        assert (two.labels_[-50:] == 0).all()
        np.testing.assert_array_equal(two.predict(as_(padded)), two.labels_)
        np.testing.assert_array_equal(
            two.transform(as_(np.zeros((1, 4)))), np.ones((1, 4))
        )
    for init in ("k-means++", np.eye(2, 3)):
        with pytest.raises(DataError, match="every row is zero"):
            KMeans(2, metric="cosine", init=init).fit(np.zeros((5, 3)))


@pytest.mark.syllabus("12.1.4")
def test_streaming_centers_are_the_means_of_all_rows_they_were_given():
    kmeans = KMeans(3, init=X[:3])
    given = [[] for _ in range(3)]
    centers = X[:3]
    for batch in np.array_split(X, 9):
        for x, k in zip(batch, cdist(batch, centers).argmin(axis=1)):
            given[k].append(x)
        centers = np.array([np.mean(rows, axis=0) for rows in given])
        kmeans.partial_fit(batch)
        np.testing.assert_allclose(kmeans.cluster_centers_, centers, atol=1e-9)
    assert kmeans.counts_.tolist() == [len(rows) for rows in given]
    assert len(kmeans.history_) == 9


def test_streaming_goes_on_from_fit():
    data, _ = make_blobs(4000, 2, centers=4, cluster_std=0.5, random_state=3)
    kmeans = KMeans(4, random_state=0).fit(data[:1000])
    for batch in np.array_split(data[1000:], 6):
        kmeans.partial_fit(batch)
    assert kmeans.counts_.sum() == 4000
    assert -kmeans.score(data) < 1.01 * KMeans(4, random_state=0).fit(data).inertia_


def test_a_batch_that_cannot_be_learned_from_changes_nothing():
    kmeans = KMeans(2, random_state=0).partial_fit(X[:, :2])
    before = kmeans.cluster_centers_
    with pytest.raises(MissingValuesError):
        kmeans.partial_fit([[np.nan, 1.0]])
    assert kmeans.cluster_centers_ is before
    with pytest.raises(ValueError, match="n_samples=1"):
        (fresh := KMeans(2)).partial_fit(X[:1])
    assert not hasattr(fresh, "schema_")


@pytest.mark.syllabus("12.1.2")
def test_best_of_many_runs_is_the_lowest():
    many = KMeans(12, init="random", n_init=8, random_state=0).fit(X)
    single = KMeans(12, init="random", n_init=1, random_state=0).fit(X)
    assert many.inertia_ <= single.inertia_


def test_a_callable_start_sees_rows_in_their_order():
    got = KMeans(4, init=lambda rows, k, random_state: rows[:k], n_init=1).fit(X)
    np.testing.assert_array_equal(
        got.cluster_centers_, KMeans(4, init=X[:4]).fit(X).cluster_centers_
    )


def test_categories_are_clustered_in_one_of_c_columns_and_may_grow():
    table = pa.table({"x": [0.0, 0.1, 5.0, 5.1], "c": ["a", "a", "b", "b"]})
    kmeans = KMeans(2, random_state=0).fit(table)
    assert sorted(kmeans.cluster_centers_.round(2).tolist()) == [
        [0.05, 1.0, 0.0],
        [5.05, 0.0, 1.0],
    ]
    kmeans.partial_fit(pa.table({"x": [0.05, 5.0], "c": ["a", "z"]}))
    order = np.argsort(kmeans.cluster_centers_[:, 0])
    # columns x, c=a, c=b, c=z
    np.testing.assert_allclose(kmeans.cluster_centers_[order][0], [0.05, 1, 0, 0])
    np.testing.assert_allclose(
        kmeans.cluster_centers_[order][1], [15.1 / 3, 0, 2 / 3, 1 / 3]
    )


def test_explanation_adds_up_to_the_margin():
    for metric in ("euclidean", "cosine"):
        kmeans = KMeans(5, metric=metric, random_state=0).fit(X)
        explanation = kmeans.explain(X[:20])
        nearest = np.sort(kmeans.transform(X[:20]), axis=1)[:, :2] ** (
            1 if metric == "cosine" else 2
        )
        np.testing.assert_allclose(
            explanation.scores, nearest[:, 1] - nearest[:, 0], atol=1e-9
        )
        np.testing.assert_array_equal(explanation.predicted, kmeans.predict(X[:20]))
    assert (KMeans(1).fit(X).explain(X[:2]).contributions == 0).all()


def test_summary_names_clusters_and_columns():
    text = str(
        KMeans(2, random_state=0)
        .fit(pa.table({"age": X[:, 0], "pay": X[:, 1]}))
        .summary()
    )
    for word in ("inertia", "cluster 1", "age", "nearest other", "share"):
        assert word in text
    assert "cluster 0" in str(KMeans(1).fit(X).summary())


def test_bad_requests_are_refused_by_name():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=5"):
        KMeans(5).fit(X[:3])
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=5"):
        KMeans(5, init=X[:5], tol=0).fit(X[:3])
    with pytest.raises(
        SettingError, match=r"centers \(2, 4\) does not match the number"
    ):
        KMeans(3, init=X[:2]).fit(X)
    with pytest.raises(SettingError, match="NaN"):
        KMeans(1, init=np.full((1, 4), np.nan)).fit(X)
    with pytest.raises(MissingValuesError, match="'x1' has a missing value"):
        KMeans(1).fit([[1.0, np.nan]])


def test_ordinary_data_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KMeans(6, random_state=0).fit(X)


def test_attributes_are_those_of_scikit_learn():
    X, _ = make_blobs(300, 5, centers=3, cluster_std=2.5, random_state=3)
    settings = {"n_clusters": 3, "init": X[:3], "n_init": 1, "tol": 0.0}
    ours = KMeans(**settings).fit(X)
    theirs = SklearnKMeans(**settings).fit(X)
    assert ours.labels_.tolist() == theirs.labels_.tolist()
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
