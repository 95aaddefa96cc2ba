"""Sums of density kernels over packed rows and over cells, against their definition."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from tests.native.draws import counts, generators

WINDOWS = {
    "parzen": lambda u: 1.0 * (np.abs(u) <= 0.5),
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "laplace": lambda u: np.exp(-2 * np.abs(u)),
    "cauchy": lambda u: 1 / (1 + u**2),
    "sinc2": lambda u: np.sinc(u / (2 * np.pi)) ** 2,
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
    "tricube": lambda u: np.maximum(1 - np.abs(u) ** 3, 0) ** 3,
    "triangular": lambda u: np.maximum(1 - np.abs(u), 0),
}


def in_leaf_order(native, Z, leaf):
    order = np.empty(len(Z), np.int64)
    native.leaf_order(Z, leaf, order)
    return order


def log_sums(native, window, Z, w, X, tolerance, own=None):
    out = np.empty(len(X))
    getattr(native.PackedRows(Z, w), window)(X, own, tolerance, out)
    return out


@pytest.mark.parametrize("window", WINDOWS)
@given(
    rng=generators,
    n=counts(1, 700),
    d=counts(1, 3),
    tolerance=st.sampled_from([0.0, 1e-4]),
)
def test_sums_are_within_the_tolerance(native, rng, window, n, d, tolerance):
    Z, w = 2 * rng.normal(size=(n, d)), rng.random(n)
    order = in_leaf_order(native, Z, native.leaf_rows)
    assert (np.sort(order) == np.arange(n)).all()
    Z, w = np.ascontiguousarray(Z[order]), w[order]
    X = 3 * rng.normal(size=(61, d))
    X = np.ascontiguousarray(X[in_leaf_order(native, X, native.query_tile)])
    wanted = (w * WINDOWS[window](X[:, None] - Z).prod(axis=2)).sum(axis=1)
    found = np.exp(log_sums(native, window, Z, w, X, tolerance))
    assert_allclose(found, wanted, rtol=max(tolerance, 1e-9), atol=1e-300)


@pytest.mark.parametrize("window", ["gaussian", "cauchy", "tricube"])
def test_a_row_may_leave_itself_out(native, rng, window):
    Z = 5 * rng.normal(size=(90, 2))
    Z = np.ascontiguousarray(Z[in_leaf_order(native, Z, native.leaf_rows)])
    K = WINDOWS[window](Z[:, None] - Z).prod(axis=2)
    np.fill_diagonal(K, 0.0)
    found = np.exp(log_sums(native, window, Z, None, Z, 1e-4, np.arange(90)))
    assert_allclose(found, K.sum(axis=1), rtol=1e-4, atol=1e-300)


def test_cells_are_certain_or_nan(native, rng):
    z, w = np.sort(4 * rng.normal(size=800)), rng.random(800)
    margin = native.cell_margin + 20
    count = int(np.ptp(z) / native.cell_width) + 2 + 2 * margin
    origin = z[0] - margin * native.cell_width
    coefficients, weight = np.zeros((native.hermite_terms, count)), np.zeros(count)
    native.gauss_cells(z, w, origin, coefficients, weight)
    assert_allclose(weight.sum(), w.sum())
    x, sums = np.linspace(-60, 60, 500), np.empty(500)
    native.gauss_cell_sums(x, None, origin, coefficients, weight, w.sum(), 1e-6, sums)
    wanted = (w * np.exp(-0.5 * (x[:, None] - z) ** 2)).sum(axis=1)
    certain = ~np.isnan(sums)
    assert certain.sum() > 100
    assert np.isnan(sums[[0, -1]]).all()
    assert_allclose(sums[certain], wanted[certain], rtol=1e-6)


def test_wrong_shapes_and_rows_out_of_place_are_refused(native, rng):
    Z = rng.normal(size=(10, 2))
    rows = native.PackedRows(Z, None)
    with pytest.raises(ValueError, match="Z has shape"):
        rows.gaussian(np.zeros((3, 1)), None, 0.0, np.empty(3))
    with pytest.raises(ValueError, match="own_rows must hold row numbers"):
        rows.gaussian(np.zeros((1, 2)), np.array([10]), 0.0, np.empty(1))
    with pytest.raises(ValueError, match="there must be rows"):
        native.PackedRows(np.zeros((0, 2)), None)
    coefficients, weight = np.zeros((native.hermite_terms, 100)), np.zeros(100)
    with pytest.raises(ValueError, match="ascending"):
        native.gauss_cells(np.array([1.0, 0.0]), None, -30.0, coefficients, weight)
