"""Gradient descent and LMS as on paper: given start and rate, on the columns as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from lyceum.linear import LinearRegression

X, Y = np.array([[1.0], [2.0], [4.0]]), np.array([3.0, 5.0, 8.0])


def fit(**settings):
    model = LinearRegression(record=True, standardize=False, **settings)
    with pytest.warns(ConvergenceWarning):
        return model.fit(X, Y)


@pytest.mark.syllabus("7.1.3")
def test_two_batch_steps_come_out_as_on_paper():
    # h = 0: residuals 3, 5, 8; step 1: b0 = .1 * 16/3, b = .1 * (3 + 10 + 32)/3
    model = fit(solver="gradient_descent", learning_rate=0.1, max_iter=2)
    assert model.record_[0]["objective"] == pytest.approx(98.0)
    assert model.record_[1]["coef"].tolist() == pytest.approx([1.5])
    assert model.record_[1]["intercept"] == pytest.approx(16 / 30)
    # residuals .96667, 1.46667, 1.46667: sums 3.9 and .96667 + 2.93333 + 5.86667
    assert model.record_[2]["coef"].tolist() == pytest.approx(
        [1.5 + 0.1 * 9.766666666666667 / 3]
    )
    assert model.record_[2]["intercept"] == pytest.approx(16 / 30 + 0.1 * 3.9 / 3)
    assert model.history_ == [step["objective"] for step in model.record_]


@pytest.mark.syllabus("7.1.3")
def test_lms_changes_the_weights_row_by_row_as_on_paper():
    model = fit(
        solver="lms", learning_rate=0.1, decay=False, coef_init=([1.0], 0.5), max_iter=1
    )
    # row 1: h = 1.5, error 1.5; row 2: h = .65 + 2.3, error 2.05; row 3: h = .855 + 6.24, error
    # .905
    expected = [[1.15, 0.65], [1.56, 0.855], [1.922, 0.9455]]
    assert_allclose(model.record_[1]["rows"], expected, rtol=1e-12)
    assert (model.coef_[0], model.intercept_) == pytest.approx((1.922, 0.9455))


@pytest.mark.parametrize("solver", ["gradient_descent", "lms"])
@pytest.mark.parametrize("standardize", [True, False])
def test_steps_of_a_given_length_come_to_the_closed_form(solver, standardize):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 3)) + np.array([0, 1, -1])
    y, w = (
        Z @ [1.0, -2.0, 0.5] + 3 + 0.01 * rng.normal(size=80),
        rng.uniform(0.5, 1.5, 80),
    )
    model = LinearRegression(
        solver=solver,
        learning_rate=0.1,
        standardize=standardize,
        max_iter=20_000,
        tol=1e-9,
    ).fit(Z, y, w)
    plain = LinearRegression().fit(Z, y, w)
    assert_allclose(model.coef_, plain.coef_, atol=2e-3)
    assert_allclose(model.intercept_, plain.intercept_, atol=2e-3)
    scaled = LinearRegression(
        solver=solver, learning_rate=0.1, coef_init=(plain.coef_, plain.intercept_)
    ).fit(Z, y, w)
    assert scaled.history_[0] == pytest.approx(plain.residual_sum_)


def test_a_rate_that_is_too_large_and_a_start_without_a_rate_are_refused():
    with pytest.raises(ValueError, match="weights diverge"):
        LinearRegression(
            solver="gradient_descent", learning_rate=10.0, standardize=False
        ).fit(X, Y)
    with pytest.raises(ValueError, match="steps of a given length"):
        LinearRegression(solver="gradient_descent", coef_init=([0.0], 0.0)).fit(X, Y)
    with pytest.raises(ValueError, match="1 coefficients"):
        LinearRegression(solver="lms", coef_init=([0.0, 1.0], 0.0)).fit(X, Y)


def test_the_rate_changes_gradient_descent():
    slow, fast = (
        fit(solver="gradient_descent", learning_rate=r, max_iter=3).coef_
        for r in (0.01, 0.02)
    )
    assert abs(slow - fast) > 0.01
