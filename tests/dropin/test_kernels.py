"""Kernels have scikit-learn's names, and functions get rows as they are."""

import numpy as np
import pytest
import sklearn.kernel_ridge as theirs
from scipy import sparse
from sklearn.metrics.pairwise import chi2_kernel, pairwise_kernels

from lyceum.errors import DataError, SettingError
from lyceum.kernels import SVC, FunctionKernel, KernelRidge, Nystroem

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(40, 4))
Y = X @ [1.0, -2.0, 0.5, 3.0]


@pytest.mark.parametrize("name", ["chi2", "cosine", "laplacian"])
def test_a_kernel_by_name_is_that_of_scikit_learn(name):
    settings = {"kernel": name, "alpha": 0.5}
    if name == "chi2":  # whose gamma of None scikit-learn's own KernelRidge cannot take
        settings["gamma"] = 1.0
    ours = KernelRidge(**settings).fit(X, Y)
    other = theirs.KernelRidge(**settings).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-8)


def test_gamma_of_such_a_kernel_is_a_number_or_its_own():
    features = Nystroem(kernel="chi2", n_components=40).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, chi2_kernel(X), atol=1e-8)
    wide = Nystroem(kernel="laplacian", gamma=3.0, n_components=40).fit_transform(X)
    K = pairwise_kernels(X, metric="laplacian", gamma=3.0)
    np.testing.assert_allclose(wide @ wide.T, K, atol=1e-8)
    # not positive definite: features of its positive part, and no ridge
    assert (
        Nystroem(kernel="additive_chi2", n_components=5).fit_transform(X).shape[1] == 5
    )
    with pytest.raises(SettingError, match="no Mercer kernel"):
        KernelRidge(kernel="additive_chi2", alpha=0.5).fit(X, Y)
    with pytest.raises(SettingError, match="does not go with kernel='chi2'"):
        KernelRidge(kernel="chi2", gamma="scale").fit(X, Y)


@pytest.mark.parametrize("name", ["chi2", "additive_chi2"])
@pytest.mark.parametrize("row", [0, 7, 39])
def test_negative_cells_have_no_such_kernel(name, row):
    rows = X.copy()
    rows[row, 2] = -0.1
    for cells in (rows, sparse.csr_array(rows)):
        with pytest.raises(DataError, match="the rows have negative cells"):
            SVC(kernel=name, gamma=1.0).fit(cells, Y > 1.0)
    machine = Nystroem(kernel=name, n_components=5).fit(X)
    with pytest.raises(DataError, match="the rows have negative cells"):
        machine.transform(rows)
    assert Nystroem(kernel="cosine", n_components=3).fit_transform(rows).shape[1] == 3


@pytest.mark.parametrize(
    "function",
    [
        lambda A, B: A @ B.T,
        lambda A, B: np.minimum(A[:, None], B).sum(axis=2),
        lambda x, y: np.minimum(x, y).sum(),
    ],
    ids=["of sparse matrices", "of dense matrices", "of rows"],
)
def test_a_function_gives_the_same_of_sparse_rows(function):
    rows = np.where(X > 0.5, X, 0.0)
    kernel = FunctionKernel(function)
    dense = kernel.gram(rows, rows[:3])
    for A, B in (
        (sparse.csr_array(rows), sparse.csr_array(rows[:3])),
        (sparse.csr_array(rows), rows[:3]),
    ):
        np.testing.assert_allclose(kernel.gram(A, B), dense)
    machine = SVC(kernel=function).fit(sparse.csr_array(rows), Y > 1.0)
    other = SVC(kernel=function).fit(rows, Y > 1.0)
    np.testing.assert_allclose(
        machine.decision_function(sparse.csr_array(rows)),
        other.decision_function(rows),
        atol=1e-6,
    )


def test_features_of_precomputed_values_and_their_rows():
    X = np.random.default_rng(0).normal(size=(12, 3))
    K = X @ X.T + 1.0
    model = Nystroem(kernel="precomputed", n_components=12).fit(K)
    features = model.transform(K)
    np.testing.assert_allclose(features @ features.T, K, atol=1e-10)
    few = Nystroem(kernel="linear", n_components=5, random_state=0).fit(X)
    np.testing.assert_array_equal(few.components_, X[few.component_indices_])
    with pytest.raises(SettingError, match="Don't pass gamma, coef0 or degree"):
        model.set_params(degree=2).fit(K)


def test_no_penalty_is_least_squares():
    X = np.random.default_rng(1).normal(size=(9, 2))
    y = X @ [1.0, -2.0] + np.random.default_rng(2).normal(size=9)
    with pytest.warns(np.exceptions.RankWarning, match="7 directions"):
        model = KernelRidge(alpha=0, kernel="linear").fit(X, y)
    least = X @ np.linalg.lstsq(X, y)[0]
    np.testing.assert_allclose(model.predict(X), least, rtol=1e-9)
