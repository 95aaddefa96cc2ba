"""Coordinate descent on Gram matrices and on columns: one solution, with a gap that certifies
it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import ElasticNet

from lyceum._core.solvers import SparseColumns


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(60, 9)) * (rng.random((60, 9)) < 0.4)
    return X / np.sqrt(60), (X @ rng.normal(size=9) + rng.normal(size=60)) / np.sqrt(60)


def reference(X, y, l1, l2):
    alpha = l1 + l2
    model = ElasticNet(
        alpha=alpha,
        l1_ratio=l1 / alpha,
        fit_intercept=False,
        tol=1e-13,
        max_iter=100_000,
    )
    return model.fit(X * np.sqrt(len(y)), y * np.sqrt(len(y))).coef_


@pytest.mark.parametrize("l2", [0.0, 0.2])
def test_gram_and_columns_solve_the_elastic_net(native, problem, l2):
    (X, y), l1 = problem, 0.1
    want = reference(X, y, l1, l2)
    d = X.shape[1]
    Q, q, yy = X.T @ X, X.T @ y, float(y @ y)
    b, g = np.zeros(d), q.copy()
    epochs, gap = native.gram_descent(Q, q, g, b, l1, l2, yy, 1e-14, 10_000)
    assert 0 < epochs < 10_000
    assert gap <= 1e-14
    assert_allclose(b, want, atol=1e-6)
    assert_allclose(g, q - Q @ b, atol=1e-12)
    everything, zeros, norms = (
        np.arange(d, dtype=np.int32),
        np.zeros(d),
        np.diagonal(Q).copy(),
    )
    how = (l1, l2, 1e-14, 10_000)
    b, u = np.zeros(d), y.copy()
    native.dense_column_descent(
        np.ascontiguousarray(X.T), zeros, norms, y, everything, u, 0.0, b, *how
    )
    assert_allclose(b, want, atol=1e-6)
    assert_allclose(u, y - X @ b, atol=1e-12)
    thin, b, u = sparse.csc_array(X), np.zeros(d), y.copy()
    cells = (thin.indptr.astype(np.int32), thin.indices.astype(np.int32), thin.data)
    native.sparse_column_descent(*cells, zeros, norms, y, everything, u, 0.0, b, *how)
    assert_allclose(b, want, atol=1e-6)
    out = np.empty(2)
    native.sparse_column_products(*cells, zeros, everything[3:5], u, 0.0, out)
    assert_allclose(out, (X.T @ u)[3:5], atol=1e-14)


def test_a_corner_of_a_larger_matrix_is_solved_alone(native, problem):
    X, y = problem
    Q = np.ascontiguousarray(X.T @ X)
    b, q = np.zeros(4), (X.T @ y)[:4]
    native.gram_descent(Q, q, q.copy(), b, 0.05, 0.0, float(y @ y), 1e-14, 1000)
    assert_allclose(b, reference(X[:, :4], y, 0.05, 0.0), atol=1e-6)


def test_without_y_the_decrease_of_an_epoch_is_the_tolerance(native, problem):
    X, y = problem
    b, q = np.zeros(9), X.T @ y
    native.gram_descent(X.T @ X, q, q.copy(), b, 0.05, 0.1, np.nan, 1e-20, 1000)
    assert_allclose(b, reference(X, y, 0.05, 0.1), atol=1e-6)


def test_wrong_shapes_and_columns_are_refused(native, problem):
    X, y = problem
    q = X.T @ y
    with pytest.raises(ValueError, match="coef has shape"):
        native.gram_descent(X.T @ X, q, q.copy(), np.zeros(3), 0.1, 0.0, 1.0, 1e-9, 10)
    with pytest.raises(ValueError, match="Q is smaller"):
        native.gram_descent(
            np.eye(2), q, q.copy(), np.zeros(9), 0.1, 0.0, 1.0, 1e-9, 10
        )
    with pytest.raises(ValueError, match="chosen must lie"):
        native.dense_column_products(
            np.ascontiguousarray(X.T),
            np.zeros(9),
            np.array([9], np.int32),
            y,
            0.0,
            np.empty(1),
        )


@pytest.mark.parametrize("row", [-1, 4, 1_000_000])
def test_stored_cells_of_rows_that_do_not_exist_are_refused(row):
    start, index = np.array([0, 1, 2], np.int32), np.array([0, row], np.int32)
    with pytest.raises(ValueError, match=f"{row}, but there are 4 rows|from {row} to"):
        SparseColumns(
            start, index, np.ones(2), np.full(4, 0.5), np.zeros(2), np.ones(2)
        )
