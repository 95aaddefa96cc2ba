"""Distances of all pairs against SciPy, and as laws."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from threadpoolctl import threadpool_limits

from lyceum._core.distances import nearest_center, pairwise_blocks, unit_rows
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
    SquaredCorrelation,
    SquaredEuclidean,
    metric,
    nearest,
    pairwise,
)
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.neighbors import KNeighborsClassifier
from lyceum.persist import load, save

NUMERIC = {
    "euclidean": (Euclidean(), {}),
    "sqeuclidean": (SquaredEuclidean(), {}),
    "cityblock": (Manhattan(), {}),
    "chebyshev": (Chebyshev(), {}),
    "minkowski": (Minkowski(3), {"p": 3}),
    "cosine": (Cosine(), {}),
    "correlation": (Correlation(), {}),
}
METRICS = [
    *(one for one, _ in NUMERIC.values()),
    SquaredCorrelation(),
    Minkowski(1),
    Minkowski(2),
    Minkowski(np.inf),
    Hamming(),
    Jaccard(),
]
SPARSE = [one for one in METRICS if one.takes_sparse]
cells = st.floats(-100, 100, width=32)
matrices = hnp.arrays(
    np.float64, st.tuples(st.integers(3, 9), st.integers(1, 5)), elements=cells
)


def label(one):
    return repr(one)


@pytest.mark.syllabus("10.1.2")
@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("size", [(1, 1, 2), (5, 13, 3), (97, 50, 20), (30, 400, 70)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numeric_metrics_are_scipys(name, size, dtype):
    n, m, d = size
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    one, options = NUMERIC[name]
    found = pairwise(X, Y, metric=one)
    assert found.dtype == dtype
    rtol = 2e-7 if dtype == np.float32 else 1e-10
    assert_allclose(
        found,
        cdist(X.astype(float), Y.astype(float), name, **options),
        rtol=rtol,
        atol=1e-15,
    )


@pytest.mark.parametrize("name", ["hamming", "jaccard"])
def test_matching_metrics_are_scipys(name):
    rng = np.random.default_rng(1)
    X, Y = rng.integers(0, 2, (40, 9)), rng.integers(0, 2, (31, 9))
    X[3] = Y[4] = 0
    assert_array_equal(
        pairwise(X, Y, metric=name), cdist(X.astype(bool), Y.astype(bool), name)
    )


def test_hamming_compares_categories():
    assert pairwise(
        [[2.0, 1.0, 5.0]], [[2.0, 3.0, 4.0]], metric="hamming"
    ) == pytest.approx(2 / 3)


def test_an_offset_takes_no_digits():
    rng = np.random.default_rng(2)
    X = rng.integers(-50, 50, (60, 7)).astype(float)
    for one in (Euclidean(), Manhattan(), Chebyshev(), SquaredEuclidean()):
        assert_array_equal(pairwise(X + 1e6, metric=one), pairwise(X, metric=one))


def test_nearly_parallel_rows_keep_their_cosine():
    small = 1e-6
    assert Cosine()([1.0, 0.0], [1.0, small]) == pytest.approx(small**2 / 2, rel=1e-9)


def test_rows_of_zeros_have_a_direction_of_their_own():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [-3.0, 0.0]])
    assert_array_equal(pairwise(X, metric="cosine")[0], [0, 0, 1, 1])
    assert_array_equal(pairwise(sparse.csr_array(X), metric="cosine")[0], [0, 0, 1, 1])
    constant = np.array([[0.1, 0.1, 0.1], [7.0, 7.0, 7.0], [1.0, 2.0, 3.0]])
    assert_allclose(pairwise(constant, metric="correlation")[0], [0, 0, 1], rtol=1e-15)


def test_mahalanobis_is_scipys_and_learns_from_rows(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4)) + 1e5
    learned = Mahalanobis().learn(scan(X))
    S = np.cov(X.T)
    assert_allclose(learned.covariance, S, rtol=1e-9)
    want = cdist(X[:50], X[50:90], "mahalanobis", VI=np.linalg.inv(S))
    assert_allclose(pairwise(X[:50], X[50:90], metric=learned), want, rtol=1e-6)
    assert_allclose(pairwise(X[:50], X[50:90], metric=Mahalanobis(S)), want, rtol=1e-6)


@pytest.mark.parametrize("one", METRICS, ids=label)
def test_condensed_is_the_upper_triangle(one):
    X = np.random.default_rng(4).integers(0, 4, (30, 5)).astype(float)
    whole = pairwise(X, metric=one)
    assert_array_equal(
        pairwise(X, metric=one, condensed=True), whole[np.triu_indices(30, 1)]
    )


def test_condensed_is_scipys():
    X = np.random.default_rng(4).normal(size=(41, 5))
    assert_allclose(pairwise(X, condensed=True), pdist(X), rtol=1e-12)


@pytest.mark.parametrize("one", METRICS, ids=label)
def test_blocks_and_threads_do_not_change_a_bit(one, monkeypatch):
    monkeypatch.setattr(
        "lyceum._core.distances.pairs._FEW", 0
    )  # so that these are not too few for two threads
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(101, 6)), rng.normal(size=(57, 6))
    whole = pairwise(X, Y, metric=one)
    for n_rows in (1, 7, 64, 200):
        parts = [block for _, block in pairwise_blocks(X, Y, metric=one, n_rows=n_rows)]
        assert_array_equal(np.concatenate(parts), whole)
    with threadpool_limits(1):
        assert_array_equal(pairwise(X, Y, metric=one), whole)


@pytest.mark.parametrize("one", SPARSE, ids=label)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_dense_rows(one, dtype):
    rng = np.random.default_rng(6)
    X = sparse.random_array(
        (40, 30), density=0.2, random_state=rng, format="csr", dtype=dtype
    )
    Y = sparse.random_array(
        (25, 30), density=0.1, random_state=rng, format="csc", dtype=dtype
    )
    dense = pairwise(X.toarray(), Y.toarray(), metric=one)
    assert_allclose(pairwise(X, Y, metric=one), dense, rtol=1e-6, atol=1e-7)
    assert_allclose(pairwise(X, Y.toarray(), metric=one), dense, rtol=1e-6, atol=1e-7)
    if dtype == np.float64 and one.name not in ("cosine",):
        assert_array_equal(pairwise(X, Y, metric=one), dense)


@given(X=matrices)
def test_distances_are_symmetric_and_zero_to_oneself(X):
    for one in METRICS:
        D = pairwise(X, metric=one)
        assert_array_equal(D, D.T, err_msg=label(one))
        assert_array_equal(np.diag(D), 0, err_msg=label(one))
        assert (D >= 0).all(), one


@given(X=matrices)
def test_a_way_round_is_not_shorter(X):
    for one in METRICS:
        if one.is_metric:
            D = pairwise(X, metric=one)
            assert (
                D[:, None] <= (D[:, :, None] + D[None]) * (1 + 1e-12) + 1e-300
            ).all(), one


def test_those_that_are_not_metrics_say_so():
    assert not SquaredEuclidean().is_metric
    assert not Cosine().is_metric
    assert not Minkowski(0.5).is_metric
    assert SquaredEuclidean()([0], [2]) > SquaredEuclidean()(
        [0], [1]
    ) + SquaredEuclidean()([1], [2])


def test_metrics_are_found_by_name():
    assert metric("manhattan") == Manhattan()
    assert metric("minkowski", p=4) == Minkowski(4)
    assert metric(Manhattan()) == Manhattan()
    with pytest.raises(
        SettingError, match="no metric 'taxi': choose one of braycurtis, canberra, cheb"
    ):
        metric("taxi")


def test_rows_give_their_cells(tmp_path):
    X = np.random.default_rng(7).normal(size=(3000, 200))
    assert_array_equal(pairwise(scan(X), X[:5]), pairwise(X, X[:5]))


def test_bad_input_is_named():
    with pytest.raises(
        MissingValuesError, match="'euclidean' cannot take missing cells"
    ):
        pairwise([[np.nan]])
    with pytest.raises(MissingValuesError, match="infinities"):
        pairwise([[np.inf]])
    with pytest.raises(
        SettingError, match=r"2 columns cannot be compared with rows of 1 column$"
    ):
        pairwise([[1.0, 2.0]], [[1.0]])
    with pytest.raises(SettingError, match="'correlation' cannot take sparse rows"):
        pairwise(sparse.csr_array(np.eye(3)), metric="correlation")
    with pytest.raises(SettingError, match="no covariance yet"):
        pairwise([[1.0]], metric="mahalanobis")
    with pytest.raises(DataError, match="not positive definite"):
        pairwise([[1.0, 1.0]], metric=Mahalanobis(np.ones((2, 2))))
    with pytest.raises(SettingError, match="above 0"):
        Minkowski(0)
    with pytest.raises(DataError, match="1 dimensions"):
        pairwise([1.0, 2.0])
    for rounding in (-1e-16, 0.0, 2e-16):  # whatever rounding makes of a singular one
        with pytest.raises(DataError, match="not positive definite"):
            pairwise(
                [[0.0, 1.0]], metric=Mahalanobis([[4.0, 2.0], [2.0, 1.0 + rounding]])
            )


def test_no_rows_are_no_distances():
    assert pairwise(np.empty((0, 3)), np.ones((4, 3))).shape == (0, 4)
    assert pairwise(np.ones((4, 3)), np.empty((0, 3))).shape == (4, 0)
    assert pairwise(np.ones((1, 3)), condensed=True).shape == (0,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1e-25, 1.0, 1e25])
def test_the_cosine_of_sparse_rows_stands_any_scale(scale, dtype):
    X = (scale * np.array([[1, 0], [0, 3], [2, 2], [0, 0]])).astype(dtype)
    assert_array_equal(
        pairwise(sparse.csr_array(X), metric="cosine"), pairwise(X, metric="cosine")
    )


def test_unit_rows_of_whole_numbers_are_floats():
    X = np.array([[3, 4], [0, 0]])
    for cells in (X, sparse.csr_array(X)):
        units, zero = unit_rows(cells)
        assert_allclose(
            units.toarray() if sparse.issparse(units) else units, [[0.6, 0.8], [0, 0]]
        )
        assert_array_equal(zero, [False, True])


@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.coo_array]
)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_the_nearest_center_is_the_nearest_row(form, dtype):
    rng = np.random.default_rng(4)
    X, centers = rng.integers(0, 3, size=(40, 5)), rng.normal(size=(4, 5))
    X[7] = X[39] = 0  # rows without a stored cell
    labels, squares = nearest_center(form(X.astype(dtype)), centers)
    found = nearest(X.astype(float), 1, among=centers)
    assert_array_equal(labels, found.rows[:, 0])
    assert_allclose(
        squares, found.distances[:, 0] ** 2, rtol=1e-5 if dtype == np.float32 else 1e-12
    )


def test_a_cell_stored_twice_is_their_sum():
    twice = sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    assert nearest_center(twice, np.zeros((1, 1)))[1].tolist() == [9.0]
    assert twice.nnz == 2  # the user's own rows stay as they are


def test_a_metric_is_found_by_its_class_and_refuses_parameters_of_others():
    assert metric(Minkowski, p=3) == Minkowski(3.0)
    with pytest.raises(
        SettingError,
        match="'q' is no parameter of the metric 'minkowski': choose among 'p'",
    ):
        metric("minkowski", q=3)
    with pytest.raises(
        SettingError, match="'p' is no parameter of the metric 'euclidean': it has none"
    ):
        metric("euclidean", p=3)
    with pytest.raises(SettingError, match="give 'p' to it"):
        metric(Minkowski(3), p=4)
    with pytest.raises(SettingError, match="there is no metric \\['a'\\]"):
        metric(["a"])
    with pytest.raises(SettingError, match="must be above 0, but it is 'three'"):
        Minkowski("three")


def test_settings_of_pairs_that_mean_nothing_are_refused():
    X = np.eye(2)
    with pytest.raises(SettingError, match="leave Y out"):
        pairwise(X, np.ones((1, 2)), condensed=True)
    for n_rows in (0, -1, 1.5):
        with pytest.raises(
            SettingError, match="n_rows must be a whole number of at least 1"
        ):
            list(pairwise_blocks(X, n_rows=n_rows))
    with pytest.raises(
        SettingError,
        match="rows of 2 columns cannot be compared with centers of 3 columns",
    ):
        nearest_center(X, np.ones((1, 3)))


def test_infinities_are_not_sent_to_gower():
    with pytest.raises(
        MissingValuesError,
        match="infinities: replace them by numbers, or leave their rows",
    ):
        pairwise([[np.inf, 1.0]])


def test_mahalanobis_names_what_does_not_fit():
    with pytest.raises(DataError, match="column 'x1' has missing or infinite cells"):
        Mahalanobis().learn(np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]]))
    with pytest.raises(SettingError, match="the mean has the shape"):
        pairwise(np.eye(2), metric=Mahalanobis(np.eye(2), np.zeros(3)))
    with pytest.raises(SettingError, match="symmetric"):
        pairwise(
            np.eye(2), metric=Mahalanobis(1e-10 * np.array([[1.0, 0.5], [0.0, 1.0]]))
        )


@pytest.mark.syllabus("10.1.3")
def test_mahalanobis_by_ones_own_matrix_is_its_quadratic_form():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    L = rng.normal(size=(2, 3))
    for M in (L.T @ L, np.diag([2.0, 0.0, 1.0]), np.zeros((3, 3)), np.eye(3)):
        delta = X[:, None] - Y
        want = np.sqrt(np.einsum("ijk,kl,ijl->ij", delta, M, delta).clip(0))
        distance = Mahalanobis(precision=M)
        assert_allclose(pairwise(X, Y, metric=distance), want, atol=1e-7)
        assert_allclose(distance.matrix, M, atol=1e-12)
        assert distance.learn(X) is distance
    S = np.cov(X.T)
    assert_allclose(
        pairwise(X, Y, metric=Mahalanobis(precision=np.linalg.inv(S))),
        pairwise(X, Y, metric=Mahalanobis(S)),
        rtol=1e-6,
    )


def test_a_matrix_that_gives_no_distance_is_refused():
    with pytest.raises(DataError, match="eigenvalue -1 below 0"):
        pairwise(np.eye(2), metric=Mahalanobis(precision=np.diag([1.0, -1.0])))
    with pytest.raises(SettingError, match="not both"):
        pairwise(np.eye(2), metric=Mahalanobis(np.eye(2), precision=np.eye(2)))
    with pytest.raises(
        SettingError, match="precision of Mahalanobis must be a symmetric"
    ):
        pairwise(np.eye(2), metric=Mahalanobis(precision=[[1.0, 2.0], [0.0, 1.0]]))


@pytest.mark.syllabus("10.1")
def test_neighbors_by_a_singular_matrix_are_those_of_the_columns_it_keeps(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = rng.integers(0, 3, 60)
    M = np.diag([1.0, 4.0, 0.0])
    model = KNeighborsClassifier(
        5, metric="mahalanobis", metric_params={"precision": M}
    ).fit(X, y)
    kept = KNeighborsClassifier(5).fit(X[:, :2] * [1.0, 2.0], y)
    Q = rng.normal(size=(30, 3))
    assert_allclose(model.predict_proba(Q), kept.predict_proba(Q[:, :2] * [1.0, 2.0]))
    found = model.explain(Q)
    assert (found.differences[:, :, 2] == 0).all()
    save(model, tmp_path / "model.lyceum")
    assert_allclose(
        load(tmp_path / "model.lyceum").predict_proba(Q), model.predict_proba(Q)
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_squared_correlation_is_that_of_numpy(offset):
    X = np.random.default_rng(2).normal(size=(40, 7))
    X[1] = -3.0 * X[0] + 5.0  # against each other: as near as can be
    X[2] = 4.0
    X[3] = -1.0
    D = pairwise(X + offset, metric="squared_correlation")
    rest = np.delete(np.arange(40), [2, 3])
    r = np.corrcoef(X[rest])
    assert_allclose(D[np.ix_(rest, rest)], 1 - r**2, atol=1e-9)
    assert D[0, 1] == pytest.approx(0.0, abs=1e-12)
    # constant rows have no correlation: far from all others, and like each other
    assert_allclose(D[2, rest], 1.0)
    assert D[2, 3] == 0.0
