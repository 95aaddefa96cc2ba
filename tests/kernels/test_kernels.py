"""Kernels by their definitions, their algebra, and Mercer's condition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import (
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)

from lyceum import scan
from lyceum.distances import Minkowski
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.kernels import (
    ConstantKernel,
    DistanceKernel,
    FunctionKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    RBFKernel,
    SigmoidKernel,
    as_kernel,
    closest_sigma,
    is_mercer,
    median_sigma,
)

PRODUCT_KERNELS = [
    (LinearKernel(), linear_kernel),
    (
        PolynomialKernel(degree=3, gamma=0.5),
        lambda X, Y: polynomial_kernel(X, Y, degree=3, gamma=0.5, coef0=1),
    ),
    (RBFKernel(sigma=1.5), lambda X, Y: rbf_kernel(X, Y, gamma=0.5 / 1.5**2)),
    (
        SigmoidKernel(gamma=0.2, coef0=-0.5),
        lambda X, Y: sigmoid_kernel(X, Y, gamma=0.2, coef0=-0.5),
    ),
]
KERNELS = [kernel for kernel, _ in PRODUCT_KERNELS] + [
    2 * RBFKernel(gamma=0.3) + LinearKernel() * PolynomialKernel(degree=2) + 3,
    DistanceKernel("manhattan"),
]


def rows_of(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.syllabus("9.1.1")
@given(
    st.integers(1, 150),
    st.integers(1, 150),
    st.integers(1, 40),
    st.integers(0, 3),
    st.booleans(),
)
def test_gram_matrices_are_those_of_the_definition(n, m, d, which, single):
    kernel, definition = PRODUCT_KERNELS[which]
    kind = np.float32 if single else np.float64
    X, Y = rows_of(n, d, 1).astype(kind), rows_of(m, d, 2).astype(kind)
    want = definition(X.astype(float), Y.astype(float))
    got = kernel.gram(X, Y)
    assert got.dtype == kind
    np.testing.assert_allclose(
        got, want, rtol=2e-4 if single else 1e-10, atol=2e-5 if single else 1e-13
    )
    own = kernel.gram(X)
    np.testing.assert_array_equal(own, own.T)
    np.testing.assert_allclose(
        own, kernel.gram(X, X.copy()), rtol=1e-5 if single else 1e-11, atol=1e-5
    )
    np.testing.assert_allclose(
        np.diagonal(own), kernel.diagonal(X), rtol=1e-3 if single else 1e-10
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sums_are_products_with_the_gram_matrix(kernel):
    X, Y, coef = rows_of(70, 4), rows_of(133, 4, 1), rows_of(70, 3, 2)
    np.testing.assert_allclose(
        kernel.sums(X, coef, Y), kernel.gram(Y, X) @ coef, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        kernel.sums(X, coef[:, 0], Y), kernel.gram(Y, X) @ coef[:, 0], atol=1e-9
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_rows_have_the_values_of_dense_ones(kernel):
    X = sparse.random(40, 30, 0.2, "csr", random_state=0)
    np.testing.assert_allclose(
        kernel.gram(X, X[:7]), kernel.gram(X.toarray(), X[:7].toarray()), rtol=1e-9
    )


def test_an_offset_takes_no_digits_of_rbf():
    X = rows_of(50, 3)
    np.testing.assert_allclose(
        RBFKernel().gram(X + 1e6), RBFKernel().gram((X + 1e6) - 1e6), atol=1e-12
    )


@pytest.mark.syllabus("9.1.3")
def test_sums_products_multiples_and_shifts():
    X, Y = rows_of(9, 3), rows_of(5, 3, 1)
    a, b = RBFKernel(sigma=0.7), PolynomialKernel(degree=2)
    A, B = a.gram(X, Y), b.gram(X, Y)
    np.testing.assert_allclose(
        (2 * a * b + 3 * b + 0.5).gram(X, Y), 2 * A * B + 3 * B + 0.5
    )
    np.testing.assert_allclose((1 + a).gram(X, Y), A + 1)
    assert (
        repr((a + 1) * b)
        == "(RBFKernel(sigma=0.7) + 1.0) * PolynomialKernel(degree=2, gamma=1.0, coef0=1.0)"
    )
    assert (a + 1).mercer
    assert (a + SigmoidKernel()).mercer is None
    for wrong in (lambda: -1 * a, lambda: a + -1, lambda: 0 * a, lambda: a + "b"):
        with pytest.raises(SettingError):
            wrong()


@pytest.mark.syllabus("9.1")
@pytest.mark.parametrize(
    "kernel",
    [
        LinearKernel(),
        PolynomialKernel(degree=3, gamma=0.4, coef0=0.3),
        PolynomialKernel(degree=2, coef0=0),
        2 * LinearKernel() * PolynomialKernel(degree=2) + 3,
        ConstantKernel(2.0),
    ],
    ids=repr,
)
def test_products_of_feature_maps_are_kernel_values(kernel):
    X, Y = rows_of(6, 3), rows_of(4, 3, 1)
    np.testing.assert_allclose(
        kernel.feature_map(X) @ kernel.feature_map(Y).T, kernel.gram(X, Y), atol=1e-9
    )
    assert len(kernel.feature_names("abc")) == kernel.feature_map(X).shape[1]


@pytest.mark.syllabus("9.1.5")
def test_the_feature_map_of_the_syllabus():
    x1, x2 = 2.0, 3.0
    root = np.sqrt(2)
    want = sorted([1, root * x1, root * x2, x1**2, x2**2, root * x1 * x2])
    np.testing.assert_allclose(
        sorted(PolynomialKernel(degree=2).feature_map([[x1, x2]])[0]), want
    )
    with pytest.raises(SettingError, match="no finite feature map"):
        RBFKernel().feature_map([[1.0]])


@pytest.mark.syllabus("9.1.2")
def test_a_function_of_matrices_of_rows_and_precomputed_values_are_the_same_kernel():
    X, Y = rows_of(7, 3), rows_of(4, 3, 1)
    want = RBFKernel(gamma=0.3).gram(X, Y)
    of_matrices = as_kernel(lambda A, B: np.exp(-0.3 * cdist(A, B) ** 2))
    of_rows = FunctionKernel(lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum()))
    for kernel in (of_matrices, of_rows, as_kernel("rbf", gamma=0.3)):
        np.testing.assert_allclose(kernel.gram(X, Y), want, atol=1e-12)
    np.testing.assert_array_equal(PrecomputedKernel().gram(want, Y), want)
    with pytest.raises(DataError, match="one column for each of the 7 rows"):
        PrecomputedKernel().gram(want)
    with pytest.raises(SettingError, match="there is no kernel 'rbff'"):
        as_kernel("rbff")
    with pytest.raises(SettingError, match="NaN"):
        as_kernel(lambda a, b: np.nan).gram(X)


@pytest.mark.syllabus("9.1.4")
def test_kernels_that_are_not_mercer_are_found_out():
    corners = (
        np.array(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]))
        .reshape(3, -1)
        .T
    )
    found = is_mercer(DistanceKernel("chebyshev", gamma=0.3), corners)
    assert not found
    K = DistanceKernel("chebyshev", gamma=0.3).gram(corners)
    c = found.direction
    assert c @ K @ c == pytest.approx(found.smallest)
    assert found.smallest < -1e-3
    assert f"eigenvalue {found.smallest:.4g}" in str(found)
    assert not is_mercer(DistanceKernel(Minkowski(4.0), gamma=0.1), corners)
    assert not is_mercer(SigmoidKernel(gamma=1.0, coef0=-1.0), rows_of(20, 2))
    assert not is_mercer(PolynomialKernel(degree=2, coef0=-5.0), rows_of(20, 2))
    for kernel in (
        *KERNELS[:3],
        DistanceKernel("euclidean"),
        DistanceKernel("manhattan", gamma=0.1),
    ):
        assert is_mercer(kernel, corners), kernel
        assert kernel.mercer is True
    lopsided = is_mercer([[1.0, 0.5], [0.2, 1.0]])
    assert not lopsided
    assert "not always k(y, x)" in str(lopsided)


@pytest.mark.syllabus("9.1")
def test_gower_on_mixed_columns_with_missing_cells():
    frame = pd.DataFrame(
        {"age": [20.0, 30.0, np.nan, 60.0], "sex": ["f", "m", "m", None]}
    )
    kernel = DistanceKernel("gower").learn(frame)
    K = kernel.gram(scan(frame))
    np.testing.assert_allclose(K[0], np.exp([0.0, -(0.25 + 1) / 2, -1.0, -1.0]))
    np.testing.assert_allclose(kernel.gram(frame, frame[:2]), K[:, :2])
    with pytest.raises(MissingValuesError, match="gower"):
        RBFKernel().gram(frame)
    whole = frame.dropna()
    text = RBFKernel(sigma=10.0).gram(whole)
    assert text[0, 1] == pytest.approx(np.exp(-(10**2 + 2) / 200))


@pytest.mark.syllabus("9.5.1")
@given(st.integers(4, 60), st.integers(1, 5), st.integers(2, 4))
def test_widths_are_those_of_their_definitions(n, d, K):
    X, y = rows_of(n, d), np.arange(n) % K
    D = cdist(X, X)
    assert closest_sigma(X, y) == pytest.approx(D[y[:, None] != y].min())
    assert median_sigma(X) == pytest.approx(np.median(D[np.triu_indices(n, 1)]))
    assert RBFKernel(sigma="closest").learn(X, y) == RBFKernel(
        sigma=closest_sigma(X, y)
    )
    assert RBFKernel(gamma="scale").learn(X).gamma == pytest.approx(1 / (d * X.var()))
    assert PolynomialKernel(gamma="auto").learn(X).gamma == 1 / d


def test_widths_that_cannot_be_had_are_refused():
    X = np.ones((4, 2))
    with pytest.raises(DataError, match="all rows are the same"):
        median_sigma(X)
    with pytest.raises(DataError, match="every row lies on one of another class"):
        closest_sigma(X, [0, 0, 1, 1])
    with pytest.raises(DataError, match="one class"):
        closest_sigma(X, [0, 0, 0, 0])
    with pytest.raises(SettingError, match="needs the classes"):
        RBFKernel(sigma="closest").learn(X)
    with pytest.raises(SettingError, match=r"call learn\(X, y\)"):
        RBFKernel(sigma="median").gram(X)
    with pytest.raises(SettingError, match="not both"):
        RBFKernel(sigma=1.0, gamma=1.0)
    for wrong in (
        lambda: RBFKernel(sigma=0),
        lambda: PolynomialKernel(degree=1.5),
        lambda: SigmoidKernel(gamma=-1),
    ):
        with pytest.raises(SettingError):
            wrong()
