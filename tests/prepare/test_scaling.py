"""Standardization and min-max, against scikit-learn's scalers and the definitions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import (
    MinMaxScaler as TheirMinMaxScaler,
    StandardScaler as TheirStandardScaler,
)
from tests.prepare.tables import mixed, numbers

from lyceum.decomposition import PCA
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.prepare import MinMaxScaler, StandardScaler
from lyceum.workflows import reduce_table


@pytest.mark.syllabus("1.2.2")
@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
def test_standardize_is_scikit_learns_scaler(with_mean, with_std):
    X, w = numbers(), np.random.default_rng(0).integers(0, 4, 300).astype(float)
    far = np.array([1e6, 0, 0, 0])
    ours = StandardScaler(with_mean=with_mean, with_std=with_std).fit(
        X, sample_weight=w
    )
    theirs = TheirStandardScaler(with_mean=with_mean, with_std=with_std).fit(
        X - far, sample_weight=w
    )
    shift = 0.0 if with_mean else far / (theirs.scale_ if with_std else 1.0)
    expected = theirs.transform(X - far) + shift
    assert_allclose(ours.transform(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.syllabus("1.2")
def test_standardized_columns_have_mean_0_and_sd_1_about_1e6():
    Z = StandardScaler().fit_transform(numbers())
    assert_allclose(np.nanmean(Z, axis=0), 0, atol=1e-10)  # the rounding of 1e6
    assert_allclose(np.nanstd(Z, axis=0), 1, rtol=1e-12)


@pytest.mark.syllabus("1.2.1")
@pytest.mark.parametrize("feature_range", [(0, 1), (-1, 1), (5.5, 7)])
@pytest.mark.parametrize("clip", [True, False])
def test_min_max_is_scikit_learns_scaler(feature_range, clip):
    X, new = numbers(), numbers(seed=2) * 1.5
    ours = MinMaxScaler(feature_range=feature_range, clip=clip).fit(X)
    theirs = TheirMinMaxScaler(feature_range=feature_range, clip=clip).fit(X)
    for rows in (X, new):
        assert_allclose(
            ours.transform(rows), theirs.transform(rows), rtol=1e-6, atol=1e-9
        )


def test_min_max_reaches_both_ends_exactly():
    Z = MinMaxScaler(feature_range=(-1, 1)).fit_transform(numbers())
    assert_array_equal(np.nanmin(Z, axis=0), -1)
    assert_array_equal(np.nanmax(Z, axis=0), 1)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.1, -3e-9])
def test_constant_columns_become_0_and_the_new_minimum(value):
    X = np.full((1000, 1), value)
    assert_array_equal(StandardScaler().fit_transform(X), 0)
    assert_array_equal(MinMaxScaler(feature_range=(2, 3)).fit_transform(X), 2)
    weights = np.ones(1000)
    weights[0] = 0
    X[0] = value + 5  # weighs nothing, so the column is constant
    assert_allclose(StandardScaler().fit(X, sample_weight=weights).scale_, 1)
    assert_allclose(MinMaxScaler().fit(X, sample_weight=weights).data_max_, value)


@pytest.mark.parametrize(
    "transformer",
    [
        StandardScaler(),
        MinMaxScaler(feature_range=(-2, 5)),
        StandardScaler(with_mean=False),
    ],
)
def test_inverse_transform_goes_back(transformer):
    X = numbers()
    Z = transformer.fit_transform(X)
    assert_allclose(transformer.inverse_transform(Z), X, rtol=1e-12)
    frame = mixed().drop(columns="ill")
    back = transformer.fit(frame).inverse_transform(transformer.transform(frame))
    assert_allclose(back[["age", "income"]], frame[["age", "income"]], rtol=1e-12)
    assert back["city"].isna().equals(frame["city"].isna())
    assert (back["city"].dropna() == frame["city"].dropna()).all()


@pytest.mark.parametrize("transformer", [StandardScaler(), MinMaxScaler()])
def test_only_continuous_columns_move(transformer):
    frame = mixed()
    out = transformer.fit_transform(frame)
    for name in ("city", "sex", "ill"):
        assert out[name].equals(frame[name])
    assert out["smokes"].isna().equals(frame["smokes"].isna())
    assert set(out["smokes"].dropna()) == {True, False}
    assert_array_equal(
        transformer.fit(np.c_[[0.0, 1, 2], [5.0, 7, 7]]).transform([[2, 6]]).shape,
        (1, 2),
    )
    left = transformer.set_params(categorical_features=[1]).fit_transform(
        np.c_[[0.0, 1, 2], [5.0, 7, 7]]
    )
    assert_array_equal(left[:, 1], [5, 7, 7])


def test_partial_fit_is_fit_on_all_rows():
    X = numbers()
    for transformer in (StandardScaler(), MinMaxScaler()):
        whole = transformer.fit(X).transform(X)
        parts = type(transformer)()
        for start in range(0, 300, 70):
            parts.partial_fit(X[start : start + 70])
        assert_allclose(parts.transform(X), whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array]
)
def test_sparse_is_scaled_as_dense(container):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.2)
    w = rng.integers(1, 4, 200).astype(float)
    ours = StandardScaler(with_mean=False).fit(container(X), sample_weight=w)
    Z = ours.transform(container(X))
    assert sparse.issparse(Z)
    assert_allclose(
        Z.toarray(),
        TheirStandardScaler(with_mean=False).fit(X, sample_weight=w).transform(X),
        rtol=1e-12,
    )
    assert_allclose(ours.inverse_transform(Z).toarray(), X, atol=1e-12)


def test_sparse_with_a_mean_is_refused_and_missing_cells_are_left_out():
    X = sparse.csr_array([[1.0, 0.0], [0.0, 2.0], [5.0, 1.0]])
    with pytest.raises(DataError, match="Cannot center sparse matrices"):
        StandardScaler().fit(X)
    X.data[0] = np.nan
    ours = StandardScaler(with_mean=False).fit(X)
    theirs = TheirStandardScaler(with_mean=False).fit(X)
    assert_allclose(ours.var_, theirs.var_)
    assert_array_equal(ours.n_samples_seen_, [2, 3])


def test_float32_stays_float32_and_is_as_exact_as_it_can_be():
    X = numbers(offset=1e5).astype(np.float32)
    for transformer in (StandardScaler(), MinMaxScaler()):
        Z = transformer.fit_transform(X)
        assert Z.dtype == np.float32
        assert_allclose(
            Z,
            transformer.fit(X.astype(float)).transform(X.astype(float)),
            rtol=1e-6,
            atol=1e-7,
        )
    frame = pd.DataFrame({"a": X[:, 0], "city": "Ulm"})
    assert StandardScaler().fit_transform(frame)["a"].dtype == np.float32


def test_a_column_of_missing_cells_alone_is_left_alone():
    X = np.c_[[1.0, 2.0, 3.0], [np.nan] * 3]
    for transformer in (StandardScaler(), MinMaxScaler()):
        assert np.isnan(transformer.fit_transform(X)[:, 1]).all()
        assert transformer.transform([[1.0, 8.0]])[0, 1] == 8.0


def test_bad_requests_are_refused():
    with pytest.raises(SettingError, match="minimum must be smaller"):
        MinMaxScaler(feature_range=(1, 1)).fit([[1.0]])
    with pytest.raises(MissingValuesError, match="'x0' has an infinity"):
        StandardScaler().fit([[np.inf], [1.0]])


@pytest.mark.syllabus("13.1")
def test_standardized_principal_components_have_the_eigenvalues_of_the_correlations():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3)) @ rng.normal(size=(3, 3)) + 5.0
    Z = StandardScaler(ddof=1).fit_transform(X)
    np.testing.assert_allclose(Z.std(axis=0, ddof=1), 1.0)
    by_hand = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    np.testing.assert_allclose(PCA().fit(Z).explained_variance_, by_hand)
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_allclose(reduce_table(frame).model.explained_variance_, by_hand)
    assert StandardScaler(ddof=1).fit_transform([[3.0]]).tolist() == [[0.0]]
