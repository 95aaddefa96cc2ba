"""Rules that go row after row: the LMS rule and recursive least squares, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax


@pytest.mark.parametrize("n", [0, 1, 200])
@pytest.mark.parametrize("intercept", [True, False])
def test_lms_is_the_rule_in_plain_python(native, dtype, rng, n, intercept):
    X, y = rng.normal(2, 1, (n, 5)).astype(dtype), rng.normal(size=n)
    w, shift, unit = rng.uniform(0, 2, n), np.full(5, 2.0), rng.uniform(0.5, 2, 5)
    ours, theirs = np.zeros(6), np.zeros(6)
    native.lms_pass(X, y, w, shift, unit, 0.01, intercept, ours)
    for x, target, weight in zip((X.astype(float) - shift) * unit, y, w):
        z = np.append(x, float(intercept))
        theirs += 0.01 * weight * (target - theirs @ z) * z
    assert_allclose(ours, theirs, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 200])
def test_recursive_squares_end_at_the_normal_equations(native, dtype, rng, n):
    X, y, w = (
        rng.normal(size=(n, 4)).astype(dtype),
        rng.normal(size=n),
        rng.integers(0, 3, n).astype(float),
    )
    prior = np.array([1.0, 2.0, 3.0, 4.0, 0.5])
    theta, P = np.zeros(5), np.diag(1 / prior)
    native.recursive_squares(X, y, w, np.full(4, 0.5), theta, P)
    Z = np.column_stack([X.astype(float) - 0.5, np.ones(n)])
    H = (Z * w[:, None]).T @ Z + np.diag(prior)
    assert_allclose(P, np.linalg.inv(H), rtol=1e-9, atol=1e-12)
    assert_allclose(theta, np.linalg.solve(H, Z.T @ (w * y)), rtol=1e-9, atol=1e-12)
    assert_array_equal(P, P.T)


@pytest.mark.parametrize("K", [1, 3, 5])
def test_recursive_softmax_minimizes_every_rows_loss_plus_the_parabola_before_it(
    native, dtype, rng, K
):
    n, d = 40, 3
    X = rng.normal(size=(n, d)).astype(dtype)
    codes, w = (
        rng.integers(-1, max(K, 2), n).astype(np.int32),
        rng.integers(0, 3, n).astype(float),
    )
    theta, P, trace = np.zeros((K, d + 1)), np.eye(K * (d + 1)), np.empty((n, K, d + 1))
    loss = native.recursive_softmax(X, codes, w, np.full(d, 0.5), theta, P, trace)
    H, here, total = np.eye(K * (d + 1)), np.zeros((K, d + 1)), 0.0
    for x, y, weight, after in zip(X.astype(float) - 0.5, codes, w, trace):
        x = np.append(x, 1.0)
        if y >= 0:
            z = here @ x
            p = expit(z) if K == 1 else softmax(z)
            own = np.array([float(y)]) if K == 1 else np.eye(K)[y]
            total -= weight * (
                np.log(p[0] if y else 1 - p[0]) if K == 1 else np.log(p[y])
            )
            # the slope of the loss and of the parabola cancel
            p = expit(after @ x) if K == 1 else softmax(after @ x)
            pull = weight * np.kron(own - p, x)
            assert_allclose(H @ (after - here).ravel(), pull, atol=1e-7)
            V = p * (1 - p) * np.eye(1) if K == 1 else np.diag(p) - np.outer(p, p)
            H = H + weight * np.kron(V, np.outer(x, x))
        else:
            assert_array_equal(after, here)
        here = after
    assert_allclose(P, np.linalg.inv(H), rtol=1e-7, atol=1e-9)
    assert_array_equal(P, P.T)
    assert_allclose(loss, total, rtol=1e-10)


def test_a_weight_without_variance_stays_where_it_is(native, rng):
    X, codes = rng.normal(size=(30, 2)), rng.integers(0, 2, 30).astype(np.int32)
    theta, P = np.array([[0.0, 0.0, 0.7]]), np.diag([1.0, 1.0, 0.0])
    native.recursive_softmax(X, codes, None, np.zeros(2), theta, P, None)
    assert theta[0, 2] == 0.7
    assert theta[0, 0] != 0.0


def test_shapes_are_checked(native):
    X, y = np.zeros((2, 1)), np.zeros(2)
    with pytest.raises(ValueError, match="coef has shape"):
        native.lms_pass(X, y, None, np.zeros(1), np.ones(1), 0.1, True, np.zeros(1))
    with pytest.raises(ValueError, match="inverse has shape"):
        native.recursive_squares(X, y, None, np.zeros(1), np.zeros(2), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="trace has shape"):
        native.recursive_softmax(
            X,
            np.zeros(2, np.int32),
            None,
            np.zeros(1),
            np.zeros((1, 2)),
            np.eye(2),
            np.zeros((1, 1, 2)),
        )
