import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as SklearnPCA
from tests.checks.scikit_learn import obeys_scikit_learn
from threadpoolctl import threadpool_limits

from lyceum import load, save, scan
from lyceum.decomposition import PCA
from lyceum.decomposition.projections.centered_rows import CenteredRows, scatter_or_rows
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.statistics import Scatter

RNG = np.random.default_rng(0)
MIX = RNG.standard_normal((6, 6)) * np.array([9.0, 5, 3, 1, 0.5, 0.1])[:, None]
X = RNG.standard_normal((300, 6)) @ MIX + np.arange(6)
LONG = RNG.standard_normal((30, 12)) @ RNG.standard_normal((12, 900)) + 5


def same_model(one, two, atol=1e-8):
    np.testing.assert_allclose(one.components_, two.components_, atol=atol)
    np.testing.assert_allclose(
        one.explained_variance_, two.explained_variance_, rtol=1e-8, atol=atol
    )
    np.testing.assert_allclose(one.mean_, two.mean_, atol=atol)
    assert one.noise_variance_ == pytest.approx(
        two.noise_variance_, rel=1e-6, abs=1e-12
    )


def test_scikit_learns_checks():
    obeys_scikit_learn(PCA(0.9, whiten=True))


@pytest.mark.syllabus("13.1")
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [None, 1, 3, 6, 0.5, 0.9, 0.9999])
def test_everything_is_scikit_learns(n_components, whiten, offset):
    data = X + offset
    got = PCA(n_components, whiten=whiten).fit(data)
    expected = SklearnPCA(n_components, whiten=whiten, svd_solver="full").fit(data)
    assert got.n_components_ == expected.n_components_
    signs = np.sign((got.components_ * expected.components_).sum(axis=1))
    tolerance = 1e-9 if not offset else 1e-6
    np.testing.assert_allclose(
        got.components_ * signs[:, None], expected.components_, atol=tolerance
    )
    for name in (
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "mean_",
    ):
        np.testing.assert_allclose(
            getattr(got, name), getattr(expected, name), rtol=tolerance
        )
    assert got.noise_variance_ == pytest.approx(expected.noise_variance_, rel=tolerance)
    scores = got.transform(data)
    np.testing.assert_allclose(
        scores * signs, expected.transform(data), atol=1e-5 if offset else 1e-9
    )
    np.testing.assert_allclose(
        got.inverse_transform(scores), expected.inverse_transform(scores * signs)
    )
    # scikit-learn scales its components a second time here when it whitens; the model is the same
    # without
    expected.whiten = False
    np.testing.assert_allclose(
        got.get_covariance(), expected.get_covariance(), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        got.score_samples(data), expected.score_samples(data), rtol=1e-5
    )
    assert got.score(data) == pytest.approx(expected.score(data), rel=1e-6)


@pytest.mark.syllabus("13.1")
def test_components_are_orthonormal_eigenvectors():
    pca = PCA().fit(X)
    np.testing.assert_allclose(
        pca.components_ @ pca.components_.T, np.eye(6), atol=1e-14
    )
    covariance = np.cov(X.T)
    residual = (
        covariance @ pca.components_.T - pca.components_.T * pca.explained_variance_
    )
    assert np.abs(residual).max() < 1e-12 * np.trace(covariance)


def test_the_largest_loading_is_positive():
    V = PCA().fit(-X).components_
    assert (V[np.arange(len(V)), np.abs(V).argmax(axis=1)] > 0).all()


@pytest.mark.syllabus("13.1")
def test_reconstruction_error_is_the_variance_left_out():
    pca = PCA(3).fit(X)
    error = ((X - pca.inverse_transform(pca.transform(X))) ** 2).sum() / (len(X) - 1)
    assert error == pytest.approx(3 * pca.noise_variance_)
    full = PCA(whiten=True).fit(X)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X)


@pytest.mark.syllabus("13.1.1")
@given(st.lists(st.integers(1, 299), max_size=5, unique=True))
def test_streamed_rows_give_what_one_fit_gives(places):
    pca = PCA()
    for batch in np.split(X, sorted(places)):
        pca.partial_fit(batch)
    same_model(pca, PCA().fit(X))


@given(st.lists(st.integers(1, 29), max_size=4, unique=True))
def test_streamed_long_rows_give_what_one_fit_gives(places):
    pca = PCA(5)
    for batch in np.split(LONG, sorted(places)):
        pca.partial_fit(batch)
    same_model(pca, PCA(5).fit(LONG))


def test_weights_equal_repeated_rows():
    for data in (X, LONG):
        w = np.random.default_rng(1).integers(0, 4, len(data))
        same_model(
            PCA(3).fit(data, sample_weight=w),
            PCA(3).fit(np.repeat(data, w, axis=0)),
            atol=1e-7,
        )


def test_array_file_and_dask_give_the_same_components(tmp_path):
    import dask.array as da

    pq.write_table(
        pa.table({f"x{j}": X[:, j] for j in range(6)}),
        tmp_path / "x.parquet",
        row_group_size=70,
    )
    here = PCA(4).fit(X)
    lazy = da.from_array(X, chunks=((100, 0, 199, 1), 6))
    same_model(PCA(4).fit(scan(tmp_path / "x.parquet", memory=0)), here)
    same_model(PCA(4).fit(lazy), here)
    np.testing.assert_allclose(here.transform(lazy).compute(), here.transform(X))
    np.testing.assert_allclose(
        here.inverse_transform(here.transform(lazy)).compute(),
        here.inverse_transform(here.transform(X)),
    )


def test_one_and_two_threads_give_the_same_bits():
    data = np.random.default_rng(0).standard_normal((20000, 40))
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(PCA(5).fit(data).components_)
    np.testing.assert_array_equal(*fits)


def test_float32_rows_give_the_components_of_the_same_numbers():
    single = (X + 4096).astype(np.float32)
    one, two = PCA(3).fit(single), PCA(3).fit(single.astype(float))
    same_model(one, two, atol=1e-7)
    assert one.transform(single).dtype == np.float32


def test_sparse_rows_give_the_components_of_dense_ones():
    data = X * (np.random.default_rng(2).random(X.shape) < 0.3)
    dense = PCA(3).fit(data)
    for as_ in (sparse.csr_array, sparse.csr_matrix):
        thin = PCA(3).fit(as_(data))
        same_model(thin, dense)
        np.testing.assert_allclose(
            thin.transform(as_(data)), dense.transform(data), atol=1e-9
        )
        np.testing.assert_allclose(
            thin.score_samples(as_(data)), dense.score_samples(data)
        )


@pytest.mark.syllabus("13.1")
@pytest.mark.parametrize("n_components", [12, 4, 0.8])
def test_long_rows_give_what_the_scatter_matrix_gives(n_components):
    got = PCA(n_components).fit(LONG)
    expected = SklearnPCA(n_components, svd_solver="full").fit(LONG)
    assert isinstance(got.statistic_, CenteredRows)
    signs = np.sign((got.components_ * expected.components_).sum(axis=1))
    np.testing.assert_allclose(
        got.components_ * signs[:, None], expected.components_, atol=1e-10
    )
    np.testing.assert_allclose(
        got.explained_variance_, expected.explained_variance_, rtol=1e-10
    )


def test_long_rows_never_become_a_square_matrix():
    data = np.random.default_rng(3).standard_normal((50, 20000))
    tracemalloc.start()
    pca = PCA(10).fit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * data.nbytes < 20000**2 * 8 / 10
    np.testing.assert_allclose(
        pca.components_ @ pca.components_.T, np.eye(10), atol=1e-13
    )


def test_rows_kept_turn_into_a_scatter_matrix_when_they_are_many():
    data = np.random.default_rng(4).standard_normal((400, 300))
    pca = PCA(3)
    for batch in np.split(data, [40, 80, 120, 320]):
        pca.partial_fit(batch)
    assert isinstance(pca.statistic_, Scatter)
    same_model(pca, PCA(3).fit(data))
    block = next(scan(LONG).blocks())
    np.testing.assert_allclose(
        scatter_or_rows(block).scatter, Scatter.of(block).scatter, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("data", [np.vstack([X[:3]] * 2), LONG[:3]])
def test_components_beyond_the_rank_have_no_variance(data):
    k = min(5, len(data))
    pca = PCA(k, whiten=True).fit(data)
    np.testing.assert_allclose(pca.explained_variance_[2:], 0.0)
    np.testing.assert_allclose(
        pca.components_ @ pca.components_.T, np.eye(k), atol=1e-12
    )
    scores = pca.transform(data)
    np.testing.assert_array_equal(scores[:, 2:], 0.0)
    np.testing.assert_allclose(pca.inverse_transform(scores), data, atol=1e-9)
    assert PCA().fit(data).n_components_ == min(data.shape)


def test_one_row_and_constant_columns_have_no_variance():
    one = PCA().fit([[1.0, 2.0, 1e6]])
    assert (one.n_components_, one.explained_variance_.tolist()) == (1, [0.0])
    np.testing.assert_array_equal(one.transform([[1.0, 2.0, 1e6]]), [[0.0]])
    pca = PCA().fit(np.column_stack([X, np.full(300, 0.1)]))
    assert pca.n_components_ == 7
    assert pca.explained_variance_[6] == 0.0
    assert np.abs(pca.components_[:6, 6]).max() < 1e-12


def test_singular_covariances_give_the_density_on_their_subspace():
    data = np.column_stack([X[:, :2], X[:, 0] + X[:, 1]])
    pca = PCA().fit(data)
    expected = multivariate_normal(
        pca.mean_, np.cov(data.T), allow_singular=True
    ).logpdf(data)
    np.testing.assert_allclose(pca.score_samples(data), expected)
    assert pca.score_samples(data[:1] + np.array([0.0, 0.0, 1.0]))[0] == -np.inf


def test_weights_that_do_not_count_rows_are_refused():
    with pytest.raises(DataError, match="weights sum to 1"):
        PCA().fit(X, sample_weight=np.full(300, 1 / 300))


def test_categories_are_one_of_c_columns_and_may_grow():
    color = np.array(["red", "blue"])[np.arange(300) % 2]
    later = np.array(["red", "blue", "green"])[np.arange(300) % 3]
    tables = [pa.table({"x": X[:, 0], "color": names}) for names in (color, later)]
    pca = PCA()
    for table in tables:
        pca.partial_fit(table)
    assert pca.design_names == ("x", "color=blue", "color=green", "color=red")
    same_model(pca, PCA().fit(pa.concat_tables(tables)))


def test_explanation_adds_up_to_the_score():
    for whiten in (False, True):
        pca = PCA(3, whiten=whiten).fit(X)
        explanation = pca.explain(X[:9], component=2)
        np.testing.assert_allclose(
            explanation.scores, pca.transform(X[:9])[:, 2], atol=1e-12
        )
    with pytest.raises(SettingError, match="component is 3"):
        pca.explain(X, component=3)


def test_summary_shows_cumulative_proportions_and_loadings():
    summary = (
        PCA(2)
        .fit(pa.table({"age": X[:, 0], "pay": X[:, 1], "size": X[:, 2]}))
        .summary()
    )
    cumulative = [row[3] for row in summary.tables[0].rows]
    assert cumulative == sorted(cumulative)
    for word in ("age", "pc2", "cumulative", "noise variance"):
        assert word in str(summary)


def test_bad_requests_are_refused_by_name():
    with pytest.raises(ValueError, match="n_components=7 must be between 0 and min"):
        PCA(7).fit(X)
    with pytest.raises(ValueError, match="n_components"):
        PCA(1.5).fit(X)
    with pytest.raises(MissingValuesError, match="'x1' has a missing value"):
        PCA().fit([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(DataError, match="scores have 2 columns, but there are 3"):
        PCA(3).fit(X).inverse_transform(np.ones((1, 2)))


def test_few_rows_of_many_columns_are_learned_saved_and_continued(tmp_path):
    rng = np.random.default_rng(5)
    X, more = rng.normal(5.0, 1.0, (40, 600)), rng.normal(5.0, 1.0, (300, 600))
    model = PCA(3).fit(X)
    peer = SklearnPCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(peer.transform(X)), rtol=1e-7, atol=1e-9
    )
    save(model, tmp_path / "pca.lyceum")
    loaded = load(tmp_path / "pca.lyceum")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    loaded.partial_fit(more)
    peer.fit(np.vstack([X, more]))
    np.testing.assert_allclose(
        loaded.explained_variance_, peer.explained_variance_, rtol=1e-9
    )


@pytest.mark.syllabus("13.1.1")
@pytest.mark.parametrize("solver", ["covariance_eigh", "full", "randomized"])
def test_standardized_eigenvalues_are_those_of_the_correlation_matrix(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)) * [1, 5, 100, 1e4] + 7.0
    pca = PCA(4, standardize=True, svd_solver=solver, random_state=0).fit(X)
    by_hand = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    np.testing.assert_allclose(pca.explained_variance_, by_hand, rtol=1e-10)
    assert pca.explained_variance_.sum() == pytest.approx(4.0, rel=1e-12)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    plain = PCA(4).fit(Z)
    np.testing.assert_allclose(pca.components_, plain.components_, atol=1e-9)
    np.testing.assert_allclose(pca.transform(X), plain.transform(Z), atol=1e-8)
    np.testing.assert_allclose(pca.reconstruct(X), X, rtol=1e-9)
    explained = pca.explain(X[:3]).contributions.sum(axis=1)
    np.testing.assert_allclose(explained, pca.transform(X[:3])[:, 0], atol=1e-8)


def test_a_standardized_model_is_streamed_and_its_density_is_that_of_the_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) * [1, 10, 100] + 3.0
    X = np.column_stack([X, np.full(40, 0.1)])
    whole = PCA(2, standardize=True).fit(X)
    streamed = PCA(2, standardize=True).partial_fit(X[:15]).partial_fit(X[15:])
    np.testing.assert_allclose(
        streamed.explained_variance_, whole.explained_variance_, rtol=1e-12
    )
    assert whole.scale_[3] == 1.0
    ours = PCA(2, standardize=True).fit(X[:, :3])
    gaussian = multivariate_normal(ours.mean_, ours.get_covariance())
    np.testing.assert_allclose(
        ours.score_samples(X[:, :3]), gaussian.logpdf(X[:, :3]), rtol=1e-9
    )
    np.testing.assert_allclose(
        ours.transform(sparse.csr_array(X[:, :3])), ours.transform(X[:, :3]), atol=1e-8
    )


@pytest.mark.syllabus("13.1")
def test_few_rows_of_many_columns_are_standardized_too():
    X = np.random.default_rng(2).normal(size=(20, 600)) * np.arange(1, 601)
    pca = PCA(standardize=True).fit(X)
    assert pca.explained_variance_.sum() == pytest.approx(600.0)
    by_hand = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1][:19]
    np.testing.assert_allclose(pca.explained_variance_[:19], by_hand, rtol=1e-9)


def test_components_of_single_precision_stay_in_it():
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    model = PCA(2).fit(X)
    assert model.components_.dtype == np.float32
    assert model.transform(X).dtype == np.float32
    double = PCA(2).fit(X.astype(np.float64))
    assert double.components_.dtype == np.float64
    np.testing.assert_allclose(model.components_, double.components_, atol=1e-6)
