"""Information criteria and degrees of freedom against statsmodels, scikit-learn and counting."""

import math

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from statsmodels.tools import eval_measures

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import (
    criterion_weights,
    degrees_of_freedom,
    gaussian_log_likelihood,
    information_criteria,
    ridge_degrees_of_freedom,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=60)


@pytest.mark.syllabus("14.6")
def test_criteria_of_a_regression_equal_statsmodels():
    import statsmodels.api as sm  # half a second that collection need not wait for

    fit = sm.OLS(Y, sm.add_constant(X)).fit()
    ours = information_criteria(gaussian_log_likelihood(Y, fit.fittedvalues), 4, 60)
    assert ours.log_likelihood == pytest.approx(fit.llf)
    assert ours.aic == pytest.approx(fit.aic)  # statsmodels does not count the variance
    assert ours.bic == pytest.approx(fit.bic)
    k = degrees_of_freedom("linear_regression", d=3)
    assert k == 5
    assert information_criteria(fit.llf, k, 60).aicc == pytest.approx(
        eval_measures.aicc(fit.llf, 60, k)
    )


@pytest.mark.syllabus("14.6")
def test_adjusted_bic_uses_n_plus_two_over_twenty_four():
    ours = information_criteria(-50.0, 4, 100)
    assert ours.adjusted_bic == pytest.approx(100 + 4 * math.log(102 / 24))
    assert information_criteria(-50.0, 4, 22).adjusted_bic == pytest.approx(100.0)
    assert "adjusted BIC" in str(ours)


def test_corrected_aic_is_infinite_without_rows_to_spare():
    assert information_criteria(-1.0, 4, 5).aicc == math.inf
    assert information_criteria(-1.0, 4, 6).aicc == pytest.approx(2 + 8 + 40)
    assert information_criteria(-1.0, 3, 1e9).aicc == pytest.approx(8.0)


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
def test_mixture_has_the_freedom_scikit_learn_counts_and_the_same_criteria(covariance):
    model = GaussianMixture(2, covariance_type=covariance, random_state=0).fit(X)
    k = degrees_of_freedom("gaussian_mixture", d=3, K=2, covariance=covariance)
    assert k == model._n_parameters()
    ours = information_criteria(model.score(X) * 60, k, 60)
    assert (ours.aic, ours.bic) == pytest.approx((model.aic(X), model.bic(X)))


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize(
    ("model", "sizes", "free"),
    [
        ("gaussian", {"d": 3}, 3 + 6),
        ("gaussian", {"d": 3, "covariance": "diag"}, 6),
        ("linear_regression", {"d": 3, "fit_intercept": False}, 4),
        ("logistic_regression", {"d": 4}, 5),
        ("logistic_regression", {"d": 4, "K": 3}, 10),
        ("linear_discriminant", {"d": 2, "K": 3}, 2 + 6 + 3),
        ("quadratic_discriminant", {"d": 2, "K": 3}, 2 + 6 + 9),
        ("naive_bayes", {"K": 2, "numeric": 3, "levels": [2, 4]}, 1 + 2 * (6 + 1 + 3)),
        ("histogram", {"bins": 10}, 9),
        ("multinomial", {"levels": 6}, 5),
        ("bayes_net", {"levels": [2, 2, 3], "parents": [[], [0], [0, 1]]}, 1 + 2 + 8),
    ],
)
def test_degrees_of_freedom_by_counting(model, sizes, free):
    assert degrees_of_freedom(model, **sizes) == free


def test_ridge_freedom_is_the_trace_of_the_hat_matrix():
    alpha = 7.0
    centered = X - X.mean(axis=0)
    hat = centered @ np.linalg.solve(
        centered.T @ centered + alpha * np.eye(3), centered.T
    )
    assert ridge_degrees_of_freedom(X, alpha) == pytest.approx(np.trace(hat) + 1)
    assert ridge_degrees_of_freedom(X, 0.0) == pytest.approx(4)
    assert ridge_degrees_of_freedom(np.ones((5, 2)), 0.0) == 1.0  # constant columns
    with pytest.raises(SettingError, match="at least 0"):
        ridge_degrees_of_freedom(X, -1.0)


@pytest.mark.syllabus("14.6.5")
def test_weights_of_rivals_sum_to_one_and_do_not_overflow():
    share = criterion_weights([1e6, 1e6 + 2, math.inf])
    assert share.sum() == pytest.approx(1.0)
    assert share[0] / share[1] == pytest.approx(math.e)
    assert share[2] == 0.0
    with pytest.raises(DataError, match="finite"):
        criterion_weights([math.nan])


@pytest.mark.syllabus("7.1.6")
def test_gaussian_likelihood_edges():
    assert gaussian_log_likelihood([1.0, 2.0], [1.0, 2.0]) == math.inf
    twice = gaussian_log_likelihood(np.repeat(Y, 2), np.zeros(120))
    assert gaussian_log_likelihood(
        Y, np.zeros(60), sample_weight=np.full(60, 2.0)
    ) == pytest.approx(twice)
    with pytest.raises(DataError, match="no rows"):
        gaussian_log_likelihood([], [])


def test_bad_requests_say_what_to_give():
    with pytest.raises(DataError, match="not finite"):
        information_criteria(-math.inf, 1, 10)
    with pytest.raises(SettingError, match="above 0"):
        information_criteria(-1.0, 1, 0)
    with pytest.raises(SettingError, match="'gaussian_mixture'"):
        degrees_of_freedom("oracle")
    with pytest.raises(SettingError, match="'spherical'"):
        degrees_of_freedom("gaussian", d=2, covariance="round")
