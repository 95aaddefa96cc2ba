"""Regression on one column against SciPy, the hand's formulas and `LinearRegression`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import linregress

from lyceum.errors import DataError
from lyceum.linear import LinearRegression, simple_regression


@pytest.mark.syllabus("7.1.1")
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_all_numbers_are_those_of_linregress(offset):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80) + offset
    y = 3 * (x - offset) + 2 + rng.normal(size=80)
    ours, theirs = simple_regression(x, y), linregress(x, y)
    assert_allclose(ours.slope, theirs.slope, rtol=1e-8)
    assert_allclose(ours.intercept, theirs.intercept, rtol=1e-8)
    assert_allclose(ours.r, theirs.rvalue, rtol=1e-8)
    assert_allclose(ours.slope_error, theirs.stderr, rtol=1e-8)
    assert_allclose(ours.intercept_error, theirs.intercept_stderr, rtol=1e-8)
    assert_allclose(ours.p, theirs.pvalue, rtol=1e-6)
    assert_allclose(ours.predict(x), theirs.intercept + theirs.slope * x, rtol=1e-6)


@pytest.mark.syllabus("7.1")
def test_the_slope_is_covariance_over_variance():
    x, y = np.array([1.0, 2, 3, 4]), np.array([2.0, 4, 5, 8])
    line = simple_regression(x, y)
    assert_allclose(line.slope, np.cov(x, y)[0, 1] / x.var(ddof=1))
    assert_allclose(
        [line.slope, line.intercept, line.r2],
        [1.9, 0.0, 9.5**2 / (5 * 18.75)],
        atol=1e-12,
    )


@pytest.mark.syllabus("7.1")
def test_it_is_linear_regression_on_one_column_weights_included():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=50), rng.integers(0, 3, 50).astype(float)
    y = x + rng.normal(size=50)
    line, model = simple_regression(x, y, w), LinearRegression().fit(x[:, None], y, w)
    assert_allclose(line.slope, model.coef_[0])
    assert_allclose(line.slope_error, model.standard_errors_[0])
    assert_allclose(line.intercept_error, model.intercept_standard_error_)
    assert_allclose(
        [line.sigma, line.t, line.p, line.r2],
        [model.sigma_, model.t_[0], model.p_[0], model.r2_],
    )
    assert line.n_rows == model.statistic_.n_rows


@pytest.mark.parametrize(
    ("x", "y", "w", "told"),
    [
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], None, "never varies"),
        ([1.0], [1.0], None, "two rows"),
        ([1.0, 2.0], [1.0], None, "shapes"),
        ([1.0, np.nan], [1.0, 2.0], None, "missing"),
        ([1.0, 2.0], [1.0, 2.0], [1.0, -1.0], "negative"),
    ],
)
def test_bad_input_is_told(x, y, w, told):
    with pytest.raises(DataError, match=told):
        simple_regression(x, y, w)


def test_two_rows_have_a_line_but_no_errors():
    line = simple_regression([0.0, 1.0], [1.0, 3.0])
    assert (line.slope, line.intercept) == (2.0, 1.0)
    assert np.isnan(line.slope_error)
    assert np.isnan(line.p)
