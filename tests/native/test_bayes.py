"""Log joint densities and posteriors against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, softmax
from tests.native.draws import counts, generators


@settings(max_examples=40)
@given(
    rng=generators,
    n=counts(0, 200),
    K=counts(1, 12),
    missing=st.sampled_from([0.0, 0.3]),
)
def test_gaussian_log_joint_follows_the_definition(native, dtype, rng, n, K, missing):
    X = rng.normal(size=(n, 4)).astype(dtype)
    X[rng.random((n, 4)) < missing] = np.nan
    columns = np.array([3, 0, 1], np.int32)
    mean, half, constant = (
        rng.normal(size=(3, K)),
        rng.random((3, K)),
        rng.normal(size=(3, K)),
    )
    out = rng.normal(size=(n, K))
    want = out.copy()
    native.gaussian_log_joint(X, columns, mean, half, constant, out)
    for j, column in enumerate(columns):
        want += np.nan_to_num(
            constant[j] - half[j] * (X[:, [column]].astype(np.float64) - mean[j]) ** 2,
            nan=0.0,
        )
    assert_allclose(out, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [np.tril, np.triu, np.asarray])
@given(rng=generators, n=counts(0, 300), d=counts(1, 40))
def test_quadratic_log_density_follows_the_definition(native, dtype, rng, n, d, shape):
    K = 3
    mean = rng.normal(1e3, 1, (K, d))
    X = rng.normal(1e3, 1, (n, d)).astype(dtype)
    whiten = np.stack([shape(a) for a in rng.normal(size=(K, d, d))])
    constant, out = rng.normal(size=K), rng.normal(size=(n, K))
    want = out + constant
    native.quadratic_log_density(X, mean, whiten, constant, out)
    for k in range(K):
        want[:, k] -= 0.5 * (((X.astype(np.float64) - mean[k]) @ whiten[k].T) ** 2).sum(
            axis=1
        )
    assert_allclose(out, want, rtol=1e-12, atol=1e-11)


@settings(max_examples=60)
@given(rng=generators, n=counts(0, 300), d=counts(1, 40), K=counts(1, 20))
def test_the_largest_linear_score_is_found(native, dtype, rng, n, d, K):
    X, coef, intercept = (
        rng.normal(size=(n, d)).astype(dtype),
        rng.normal(size=(K, d)),
        rng.normal(size=K),
    )
    labels = np.full(n, -1)
    assert native.linear_argmax(X, coef, intercept, labels)
    assert_array_equal(
        labels, (X.astype(np.float64) @ coef.T + intercept).argmax(axis=1)
    )


@given(
    rng=generators,
    bad=st.sampled_from([np.nan, np.inf, -np.inf]),
    row=counts(0, 199),
    column=st.integers(0, 4),
)
def test_linear_scores_tell_of_a_cell_that_is_not_finite(
    native, dtype, rng, bad, row, column
):
    X = rng.normal(size=(200, 5)).astype(dtype)
    X[row, column] = bad
    assert not native.linear_argmax(
        X, np.zeros((3, 5)), np.zeros(3), np.empty(200, np.int64)
    )


def test_the_first_of_equal_linear_scores_wins_and_an_impossible_class_never(native):
    labels = np.empty(2, np.int64)
    X, coef = np.array([[1.0], [-1.0]]), np.array([[0.0], [1.0], [1.0]])
    native.linear_argmax(X, coef, np.zeros(3), labels)
    assert_array_equal(labels, [1, 0])
    native.linear_argmax(X, coef, np.array([-np.inf, -np.inf, 0.0]), labels)
    assert_array_equal(labels, [2, 2])
    native.linear_argmax(X, coef, np.full(3, -np.inf), labels)
    assert_array_equal(labels, [0, 0])


def test_linear_scores_refuse_shapes_that_do_not_fit(native):
    X, labels = np.zeros((4, 3)), np.empty(4, np.int64)
    for coef, intercept, text in (
        (np.zeros((2, 2)), np.zeros(2), r"coef has shape \(2, 2\)"),
        (np.zeros((2, 3)), np.zeros(3), r"intercept has shape \(3,\)"),
        (np.zeros((0, 3)), np.zeros(0), "coef has no rows"),
    ):
        with pytest.raises(ValueError, match=text):
            native.linear_argmax(X, coef, intercept, labels)


@settings(max_examples=50)
@given(
    rng=generators,
    n=counts(0, 3001),
    K=counts(1, 40),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_posteriors_are_the_softmax(native, rng, n, K, scale):
    a = rng.normal(0, scale, (n, K)) - 1e5
    p, log_p, labels = a.copy(), a.copy(), np.empty(n, np.int64)
    native.posterior(p)
    native.log_posterior(log_p)
    native.row_argmax(a, labels)
    assert_allclose(p, softmax(a, axis=1) if n else a, rtol=1e-14, atol=1e-300)
    assert_allclose(log_p, log_softmax(a, axis=1) if n else a, rtol=1e-14, atol=1e-15)
    assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-15 * max(1, K / 8))
    assert_array_equal(labels, a.argmax(axis=1))


def test_impossible_rows_become_uniform_and_impossible_classes_zero(native):
    a = np.array([[-np.inf] * 4, [-np.inf, 0.0, -np.inf, 0.0]])
    log_p = a.copy()
    native.posterior(a)
    native.log_posterior(log_p)
    assert_array_equal(a, [[0.25] * 4, [0, 0.5, 0, 0.5]])
    assert_allclose(
        log_p, [[-np.log(4)] * 4, [-np.inf, -np.log(2), -np.inf, -np.log(2)]]
    )


def test_the_first_of_equal_maxima_wins(native):
    labels = np.empty(3, np.int64)
    native.row_argmax(
        np.array([[1.0, 2.0, 2.0], [-np.inf] * 3, [np.nan, 0.0, 0.0]]), labels
    )
    assert_array_equal(labels, [1, 0, 1])


def test_exponential_is_within_two_units_in_the_last_place(native, rng):
    x = np.concatenate([rng.uniform(-700, 0, 100_000), rng.uniform(-1, 0, 100_000)])
    a = np.column_stack([np.zeros_like(x), x])
    native.posterior(a)
    odds = a[:, 1] / a[:, 0]
    assert_allclose(odds, np.exp(x), rtol=8e-16)


def test_wrong_shapes_are_named(native):
    X = np.ones((4, 3))
    table = np.ones((1, 2))
    with pytest.raises(ValueError, match=r"out has shape \(3, 2\), expected \(4, 2\)"):
        native.gaussian_log_joint(
            X, np.zeros(1, np.int32), table, table, table, np.zeros((3, 2))
        )
    with pytest.raises(ValueError, match=r"columns\[0\] is not a column of X"):
        native.gaussian_log_joint(
            X, np.full(1, 3, np.int32), table, table, table, np.zeros((4, 2))
        )
    with pytest.raises(
        ValueError, match=r"whiten has shape \(2, 2, 2\), expected \(2, 3, 3\)"
    ):
        native.quadratic_log_density(
            X, np.ones((2, 3)), np.ones((2, 2, 2)), np.ones(2), np.ones((4, 2))
        )
