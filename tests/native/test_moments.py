"""class_moments, scatter and class_scatter against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.native.draws import counts, generators, weighted


def moments(native, X, codes, w, K):
    out = [np.zeros((K, X.shape[1])) for _ in range(3)]
    native.class_moments(X, codes, w, *out)
    return out


def defined_moments(X, codes, w, K):
    X = X.astype(np.float64)
    w = np.ones(len(X)) if w is None else w
    out = [np.zeros((K, X.shape[1])) for _ in range(3)]
    for k in range(K):
        rows = (codes == k) & (w > 0)
        for j in range(X.shape[1]):
            here = rows & ~np.isnan(X[:, j])
            if here.any():
                x, v = X[here, j], w[here]
                mean = x[0] + np.average(x - x[0], weights=v)
                for array, value in zip(
                    out, (v.sum(), mean, (v * (x - mean) ** 2).sum())
                ):
                    array[k, j] = value
    return out


@given(
    rng=generators,
    n=counts(1, 1000),
    d=counts(1, 50),
    weighted=weighted,
    missing=st.sampled_from([0.0, 0.2]),
)
def test_class_moments_follow_the_definition(
    native, dtype, rng, n, d, weighted, missing
):
    X = rng.normal(3, 2, (n, d)).astype(dtype)
    X[rng.random((n, d)) < missing] = np.nan
    codes = rng.integers(-1, 3, n).astype(np.int32)
    w = rng.integers(0, 3, n).astype(np.float64) if weighted else None
    for got, want in zip(
        moments(native, X, codes, w, 4), defined_moments(X, codes, w, 4)
    ):
        assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_an_offset_costs_no_accuracy(native, rng, offset):
    X = rng.normal(offset, 1, (8192, 5))
    X[0] = np.nan
    codes = np.zeros(8192, np.int32)
    got, want = moments(native, X, None, None, 1), defined_moments(X, codes, None, 1)
    assert_allclose(got[1], want[1], rtol=1e-15)
    assert_allclose(got[2], want[2], rtol=1e-12)


def test_an_outlier_in_the_first_row_costs_no_accuracy(native, rng):
    X = rng.normal(1e6, 1, (8192, 3))
    X[0] = -1e9
    w = np.ones(8192)
    w[0] = 1e-15
    got = moments(native, X, None, w, 1)
    assert_allclose(got[2], defined_moments(X, np.zeros(8192), w, 1)[2], rtol=1e-9)


def test_a_constant_column_has_no_scatter(native, dtype):
    X = np.full((1000, 2), 1e6 + 0.1, dtype)
    mean, S = np.zeros(2), np.ones((2, 2))
    native.scatter(X, None, None, mean, S)
    assert_array_equal(S, 0)
    assert_array_equal(mean, X[0].astype(np.float64))
    assert_array_equal(moments(native, X, None, None, 1)[2], 0)


def test_no_rows_have_no_weight(native, dtype):
    X, codes = np.empty((0, 3), dtype), np.empty(0, np.int32)
    for got in moments(native, X, codes, None, 2):
        assert_array_equal(got, 0)
    mean, S, weight = np.zeros((2, 3)), np.zeros((2, 3, 3)), np.zeros(2)
    assert native.scatter(X, None, None, mean[0], S[0]) == 0
    native.class_scatter(X, codes, None, weight, mean, S, False)
    for got in (mean, S, weight):
        assert_array_equal(got, 0)


def defined_scatter(Z, w):
    mean = Z[0] + np.average(Z - Z[0], axis=0, weights=w)
    return mean, ((Z - mean) * w[:, None]).T @ (Z - mean)


@settings(max_examples=50)
@given(
    rng=generators,
    n=counts(1, 1000),
    d=counts(1, 130),
    targets=counts(0, 9),
    weighted=weighted,
    offset=st.sampled_from([0, 1e6]),
)
def test_scatter_follows_the_definition(
    native, dtype, rng, n, d, targets, weighted, offset
):
    X = rng.normal(offset, 1, (n, d)).astype(dtype)
    Y = rng.normal(offset, 1, (n, targets)) if targets else None
    w = rng.random(n) + 0.1 if weighted else None
    mean, S = np.zeros(d + targets), np.zeros((d + targets, d + targets))
    total = native.scatter(X, Y, w, mean, S)
    Z = X.astype(np.float64) if Y is None else np.hstack([X.astype(np.float64), Y])
    v = np.ones(n) if w is None else w
    want_mean, want = defined_scatter(Z, v)
    assert_allclose(total, v.sum(), rtol=1e-13)
    assert_allclose(mean, want_mean, rtol=1e-13, atol=1e-13)
    assert_allclose(S, want, rtol=1e-9, atol=1e-11 * n)
    assert_array_equal(S, S.T)


def test_scatter_survives_a_useless_first_tile(native, rng):
    X = rng.normal(1e9, 1, (5000, 4))
    X[:200] = 0
    w = np.ones(5000)
    w[:200] = 1e-24
    mean, S = np.zeros(4), np.zeros((4, 4))
    native.scatter(X, None, w, mean, S)
    assert_allclose(S, defined_scatter(X[200:], w[200:])[1], rtol=1e-6, atol=1e-2)


@given(
    rng=generators,
    n=counts(1, 1000),
    d=counts(1, 50),
    pooled=st.booleans(),
    weighted=weighted,
)
def test_class_scatter_follows_the_definition(
    native, dtype, rng, n, d, pooled, weighted
):
    X = rng.normal(1e3, 1, (n, d)).astype(dtype)
    codes = rng.integers(-1, 3, n).astype(np.int32)
    w = rng.random(n) + 0.1 if weighted else None
    v = np.ones(n) if w is None else w
    weight, mean, S = (
        np.zeros(4),
        np.zeros((4, d)),
        np.zeros((1 if pooled else 4, d, d)),
    )
    native.class_scatter(X, codes, w, weight, mean, S, pooled)
    want = np.zeros((4, d, d))
    for k in range(3):
        if (codes == k).any():
            want_mean, want[k] = defined_scatter(
                X[codes == k].astype(np.float64), v[codes == k]
            )
            assert_allclose(mean[k], want_mean, rtol=1e-13)
        assert_allclose(weight[k], v[codes == k].sum(), rtol=1e-13)
    assert_allclose(
        S,
        want.sum(axis=0, keepdims=True) if pooled else want,
        rtol=1e-10,
        atol=1e-10 * n,
    )


def test_the_same_block_gives_the_same_bits(native, dtype, rng):
    X = rng.normal(size=(3000, 11)).astype(dtype)
    results = []
    for _ in range(2):
        mean, S = np.zeros(11), np.zeros((11, 11))
        native.scatter(X, None, None, mean, S)
        results.append(S)
    assert_array_equal(*results)


def test_wrong_shapes_are_named(native):
    X, codes = np.ones((4, 3)), np.zeros(4, np.int32)
    with pytest.raises(ValueError, match=r"S has shape \(2, 2\), expected \(3, 3\)"):
        native.scatter(X, None, None, np.zeros(3), np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"w has shape \(5,\), expected \(4,\)"):
        native.scatter(X, None, np.ones(5), np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"codes is None"):
        moments(native, X, None, None, 2)
    codes[2] = 2
    with pytest.raises(
        ValueError, match=r"codes\[2\] is 2, but there are only 2 classes"
    ):
        moments(native, X, codes, None, 2)
    with pytest.raises(ValueError, match=r"codes\[2\] is 2"):
        native.class_scatter(
            X, codes, None, np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3, 3)), False
        )
