"""The separable bound: above the logarithm, monotone, and its limit is the softmax optimum."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logsumexp
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from lyceum.linear import LogisticRegression, log_bound, sigmoid_bound


@pytest.mark.syllabus("7.5")
@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_bound_is_above_the_logarithm_and_touches_it_at_the_inverse(u, slope):
    assert log_bound(u, slope) >= np.log(u) - 1e-9 * max(1.0, abs(np.log(u)))
    assert log_bound(u, 1.0 / u) == pytest.approx(np.log(u), abs=1e-9)


@pytest.mark.syllabus("7.5.2")
@given(st.floats(-30, 30), st.floats(1e-6, 1 - 1e-6))
def test_the_bound_of_the_sigmoid_is_above_it_and_touches_it(x, slope):
    assert sigmoid_bound(x, slope) >= expit(x) * (1 - 1e-12)
    assert sigmoid_bound(x, expit(-x)) == pytest.approx(expit(x), rel=1e-9)


@pytest.mark.parametrize(("bound", "slope"), [(log_bound, 0.0), (sigmoid_bound, 1.0)])
def test_a_slope_that_bounds_nothing_is_refused(bound, slope):
    with pytest.raises(ValueError, match="slope of the bound"):
        bound(1.0, slope)


@pytest.mark.syllabus("7.5")
@pytest.mark.parametrize("reference", [None, 0])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_its_limit_is_the_softmax_optimum(reference, C):
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    settings = {"C": C, "reference": reference, "tol": 1e-8, "class_weight": {1: 2.0}}
    exact = LogisticRegression(solver="irls", **settings).fit(X, y, w)
    bound = LogisticRegression(solver="bound", **settings).fit(X, y, w)
    assert bound.converged_
    assert (np.diff(bound.history_) <= 0).all()
    assert_allclose(bound.objective_, exact.objective_, rtol=1e-10)
    assert_allclose(bound.predict_proba(X), exact.predict_proba(X), atol=1e-6)
    assert_allclose(bound.standard_errors_, exact.standard_errors_, rtol=1e-4)


@pytest.mark.syllabus("7.5.1")
def test_the_first_turn_is_a_least_squares_problem_per_class_at_the_best_slopes():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(solver="bound", record=True, max_iter=1, reference=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    before, after = model.record_
    A = np.column_stack([X, np.ones(len(X))])
    theta = np.column_stack([before["coef"], before["intercept"]])
    Z = A @ theta.T
    # 1 / (1 + sum over the classes beside the reference)
    lam = np.exp(-logsumexp(Z, axis=1))
    steps = []
    for k in (1, 2):
        expected = lam * np.exp(Z[:, k])
        inner = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
        gradient = A.T @ (expected - (y == k)) + inner @ theta[k]
        steps.append(-np.linalg.solve((A * expected[:, None]).T @ A + inner, gradient))
    moved = np.column_stack([after["coef"], after["intercept"]])[1:] - theta[1:]
    share = (moved * steps).sum() / np.square(steps).sum()
    assert 0 < share <= 1 + 1e-9
    assert_allclose(moved, share * np.array(steps), rtol=1e-6, atol=1e-9)
    assert before["coef"][0].tolist() == [0, 0, 0, 0]


def test_many_classes_and_two_are_taken():
    X, y = load_digits(return_X_y=True)
    X, y = X[::3] + 1e3, y[::3]
    exact = LogisticRegression(C=0.01, solver="lbfgs", max_iter=500).fit(X, y)
    bound = LogisticRegression(C=0.01, solver="bound").fit(X, y)
    assert_allclose(bound.predict_proba(X), exact.predict_proba(X), atol=1e-3)
    two = LogisticRegression(solver="bound").fit(X, y > 4)
    assert_allclose(
        two.objective_, LogisticRegression().fit(X, y > 4).objective_, rtol=1e-6
    )


def test_bits_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3))
    y = (X @ rng.normal(size=(3, 5)) + rng.gumbel(size=(40_000, 5))).argmax(axis=1)
    coefs = []
    for count in (1, 2):
        with threadpool_limits(count):
            coefs.append(LogisticRegression(solver="bound").fit(X, y).coef_)
    assert_array_equal(*coefs)
