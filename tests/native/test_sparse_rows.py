"""Sparse designs, the losses over them, and columns packed side by side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

START, SIZE, FIRST = (np.array(v, np.int32) for v in ([0, 1, 4], [0, 3, 6], [0, 1, 0]))
WIDE = 10


def design(native, X):
    indptr, indices, data = (
        np.empty(len(X) + 1, np.int32),
        np.empty(X.size, np.int32),
        np.empty(X.size),
    )
    used = native.expand_sparse(X, START, SIZE, FIRST, indptr, indices, data)
    return sparse.csr_array((data[:used], indices[:used], indptr), shape=(len(X), WIDE))


@pytest.mark.parametrize("n", [0, 1, 700])
def test_a_sparse_design_is_the_dense_one(native, dtype, rng, n):
    X = rng.integers(-1, 7, (n, 3)).astype(dtype)
    dense = np.empty((n, WIDE))
    native.expand(X, START, SIZE, FIRST, dense)
    assert_array_equal(design(native, X).toarray(), dense)


def test_a_missing_code_stays_missing_in_a_sparse_design(native, dtype):
    assert (
        np.isnan(design(native, np.array([[1.0, np.nan, 2.0]], dtype)).data).sum() == 1
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_logistic_loss_is_the_dense_one(native, dtype, rng, weighted):
    n = 700
    X = design(native, rng.integers(0, 4, (n, 3)).astype(dtype))
    w = rng.random(n) if weighted else None
    y, coef = rng.random(n), rng.normal(size=WIDE + 1)
    g, h, G, H = (
        np.zeros(WIDE + 1),
        np.zeros((WIDE + 1,) * 2),
        np.zeros(WIDE + 1),
        np.zeros((WIDE + 1,) * 2),
    )
    loss = native.sparse_logistic(X.indptr, X.indices, X.data, y, w, coef, g, h)
    assert_allclose(
        loss, native.logistic(X.toarray(), y, w, coef, G, H, np.zeros(WIDE)), rtol=1e-13
    )
    assert_allclose(g, G, rtol=1e-11, atol=1e-11)
    assert_allclose(h, H, rtol=1e-11, atol=1e-11)
    assert_array_equal(h, h.T)


def test_sparse_gram_with_unsorted_indices(native, rng):
    X = sparse.random_array((300, 20), density=0.3, format="csr", random_state=rng)
    X.indices = X.indices.astype(np.int32)
    X.indptr = X.indptr.astype(np.int32)
    for row in range(300):
        part = slice(X.indptr[row], X.indptr[row + 1])
        X.indices[part], X.data[part] = (
            X.indices[part][::-1].copy(),
            X.data[part][::-1].copy(),
        )
    w, gram = rng.random(300), np.zeros((20, 20))
    native.sparse_gram(X.indptr, X.indices, X.data, w, gram)
    dense = X.toarray()
    assert_allclose(gram, (dense * w[:, None]).T @ dense, rtol=1e-12, atol=1e-12)


def test_indices_outside_of_the_columns_are_refused(native):
    with pytest.raises(ValueError, match=r"indices must lie in \[0, 3\)"):
        native.sparse_gram(
            np.int32([0, 1]), np.int32([3]), np.ones(1), None, np.zeros((3, 3))
        )


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_packed_columns_stand_side_by_side(native, dtype, rng, n):
    columns = [
        rng.normal(size=n),
        rng.normal(size=n).astype(np.float32),
        rng.normal(size=n),
    ]
    out = np.empty((n, 3), dtype)
    native.pack(columns, out)
    assert_array_equal(out, np.column_stack(columns).astype(dtype))


def test_packing_refuses_columns_of_another_length(native):
    with pytest.raises(ValueError, match="a column has shape"):
        native.pack([np.zeros(3)], np.empty((4, 1)))
