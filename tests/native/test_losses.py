"""Logistic and multinomial losses, gradients and Hessians against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_expit, log_softmax, logsumexp, softmax
from tests.native.draws import counts, generators, weighted


def logistic(native, X, y, w, coef, shift):
    p = len(coef)
    gradient, hessian, alone = np.zeros(p), np.zeros((p, p)), np.zeros(p)
    loss = native.logistic(X, y, w, coef, gradient, hessian, shift)
    assert native.logistic(X, y, w, coef, alone, None, shift) == loss
    assert_array_equal(alone, gradient)
    return loss, gradient, hessian


@settings(max_examples=50)
@given(
    rng=generators,
    n=counts(0, 500),
    d=counts(1, 20),
    weighted=weighted,
    offset=st.sampled_from([0, 1e6]),
)
def test_logistic_follows_the_definition(native, dtype, rng, n, d, weighted, offset):
    X = rng.normal(offset, 1, (n, d)).astype(dtype)
    y, coef, shift = rng.random(n), rng.normal(size=d + 1), np.full(d, offset - 0.5)
    w = rng.random(n) if weighted else None
    v = np.ones(n) if w is None else w
    loss, gradient, hessian = logistic(native, X, y, w, coef, shift)
    Z = np.column_stack([X.astype(np.float64) - shift, np.ones(n)])
    z = Z @ coef
    p = expit(z)
    assert_allclose(loss, (v * (np.logaddexp(0, z) - y * z)).sum(), rtol=1e-12)
    assert_allclose(gradient, Z.T @ (v * (p - y)), rtol=1e-11, atol=1e-11)
    assert_allclose(
        hessian, (Z * (v * p * (1 - p))[:, None]).T @ Z, rtol=1e-11, atol=1e-11
    )
    assert_array_equal(hessian, hessian.T)


@pytest.mark.parametrize("y", [0.0, 1.0])
@given(
    z=st.sampled_from([0.0, 1e-8, 40.0, 800.0, 1e4, -1e-8, -40.0, -800.0, -1e4])
    | st.floats(-1e4, 1e4)
)
def test_logistic_is_stable_far_out(native, z, y):
    loss, gradient, hessian = logistic(
        native, np.ones((1, 1)), np.array([y]), None, np.array([z, 0.0]), np.zeros(1)
    )
    assert_allclose(loss, np.logaddexp(0, -z if y else z), rtol=1e-14)
    assert_allclose(gradient, expit(z) - y, rtol=1e-14, atol=1e-16)
    assert_allclose(hessian, expit(z) * expit(-z), rtol=1e-14, atol=1e-300)


def multinomial(native, X, codes, w, coef, shift):
    K, p = coef.shape
    gradient, hessian, alone = (
        np.zeros((K, p)),
        np.zeros((K * p, K * p)),
        np.zeros((K, p)),
    )
    loss = native.softmax_loss(X, codes, w, coef, gradient, hessian, shift)
    assert native.softmax_loss(X, codes, w, coef, alone, None, shift) == loss
    assert_array_equal(alone, gradient)
    return loss, gradient, hessian


@settings(max_examples=50)
@given(
    rng=generators,
    n=counts(0, 300),
    d=counts(1, 20),
    K=counts(1, 10),
    weighted=weighted,
)
def test_softmax_follows_the_definition(native, dtype, rng, n, d, K, weighted):
    X, shift = rng.normal(1e6, 1, (n, d)).astype(dtype), np.full(d, 1e6)
    codes = rng.integers(-1, K, n).astype(np.int32)
    coef = rng.normal(size=(K, d + 1))
    w = rng.random(n) if weighted else None
    v = np.where(codes < 0, 0.0, np.ones(n) if w is None else w)
    loss, gradient, hessian = multinomial(native, X, codes, w, coef, shift)
    Z = np.column_stack([X.astype(np.float64) - shift, np.ones(n)])
    z = Z @ coef.T
    P = softmax(z, axis=1)
    want = -(v * log_softmax(z, axis=1)[np.arange(n), np.maximum(codes, 0)]).sum()
    assert_allclose(loss, want, rtol=1e-11, atol=1e-12)
    R = v[:, None] * (P - (codes[:, None] == np.arange(K)))
    assert_allclose(gradient, R.T @ Z, rtol=1e-10, atol=1e-10)
    H = np.einsum(
        "iab,ij,il->ajbl",
        v[:, None, None] * (P[:, :, None] * (np.eye(K) - P[:, None, :])),
        Z,
        Z,
        optimize=True,
    )
    assert_allclose(hessian, H.reshape(hessian.shape), rtol=1e-10, atol=1e-10)


def test_softmax_is_stable_far_out(native):
    coef = np.array([[1e4, 0.0], [0.0, 0.0], [-1e4, 0.0]])
    codes = np.array([0, 1, 2, 2], np.int32)
    X = np.array([[1.0], [1.0], [1.0], [-1.0]])
    loss = multinomial(native, X, codes, None, coef, np.zeros(1))[0]
    z = X @ coef[:, :1].T
    assert_allclose(
        loss, (logsumexp(z, axis=1) - z[np.arange(4), codes]).sum(), rtol=1e-14
    )


def test_wrong_arguments_are_named(native):
    X, y, shift = np.ones((4, 3)), np.ones(4), np.zeros(3)
    with pytest.raises(ValueError, match=r"coef has shape \(3,\), expected \(4,\)"):
        native.logistic(X, y, None, np.ones(3), np.zeros(4), None, shift)
    with pytest.raises(
        ValueError, match=r"hessian has shape \(4, 4\), expected \(8, 8\)"
    ):
        native.softmax_loss(
            X,
            y.astype(np.int32),
            None,
            np.ones((2, 4)),
            np.zeros((2, 4)),
            np.zeros((4, 4)),
            shift,
        )
    with pytest.raises(
        ValueError, match=r"codes\[0\] is 1, but there are only 1 classes"
    ):
        native.softmax_loss(
            X, y.astype(np.int32), None, np.ones((1, 4)), np.zeros((1, 4)), None, shift
        )


@settings(max_examples=50)
@given(
    rng=generators,
    n=counts(0, 200),
    K=counts(2, 13),
    spread=st.sampled_from([0.1, 3.0, 400.0]),
)
def test_separable_bound_is_least_over_a_with_its_gradient_and_curvatures(
    native, dtype, rng, n, K, spread
):
    X, w = rng.normal(size=(n, 4)).astype(dtype), rng.integers(0, 3, n).astype(float)
    codes, shift = rng.integers(-1, K, n).astype(np.int32), np.full(4, 0.3)
    coef = rng.normal(size=(K, 5)) * spread
    gradient, H = np.zeros((K, 5)), np.zeros((K, 5, 5))
    value = native.separable_bound(X, codes, w, coef, gradient, H, shift)
    Z = np.column_stack([X.astype(float) - shift, np.ones(n)])
    scores, on = Z @ coef.T, (codes >= 0) & (w > 0)
    low, high = (
        scores.min(axis=1, initial=0.0) - 50,
        scores.max(axis=1, initial=0.0) + 50,
    )
    ordered = np.sort(scores, axis=1)
    # the sigmoids add up to one: the rest make up for what the largest lacks
    for _ in range(70):
        a = (low + high) / 2
        rest = np.logaddexp.reduce(log_expit(ordered[:, :-1] - a[:, None]), axis=1)
        more = rest > log_expit(a - ordered[:, -1])
        low, high = np.where(more, a, low), np.where(more, high, a)
    z, own = scores - a[:, None], np.eye(K)[codes] * on[:, None]
    losses = a + np.logaddexp(0, z).sum(axis=1) - (scores * own).sum(axis=1)
    assert_allclose(value, (w * losses)[on].sum(), rtol=1e-10, atol=1e-12)
    s, v = expit(z), np.where(on, w, 0.0)
    assert_allclose(
        gradient, (v[:, None] * (s - own)).T @ Z, rtol=1e-7, atol=1e-9 * max(n, 1)
    )
    above = np.where(np.abs(z) > 1e-6, (s - 0.5) / np.where(z == 0, 1.0, z), 0.25)
    bends = v[:, None] * (s * (1 - s) + 0.01 * above)
    assert_allclose(
        H,
        [(Z * bend[:, None]).T @ Z for bend in bends.T],
        rtol=1e-6,
        atol=1e-8 * max(n, 1),
    )
