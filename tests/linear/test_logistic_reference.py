"""Softmax regression with a reference class."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax

from lyceum.errors import SettingError
from lyceum.linear import LogisticRegression


def rows(K=4, n=500, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 5
    return X, ((X - 5) @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(
        axis=1
    )


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize(
    "solver", ["irls", "levenberg_marquardt", "lbfgs", "conjugate_gradient"]
)
def test_coefficients_and_errors_are_those_of_statsmodels(solver):
    X, y = rows()
    model = LogisticRegression(C=np.inf, reference=0, solver=solver, tol=1e-9).fit(X, y)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0)
    assert_array_equal(model.coef_[0], 0.0)
    assert_array_equal(model.standard_errors_[0], 0.0)
    assert_allclose(model.coef_[1:], theirs.params[1:].T, atol=1e-6)
    assert_allclose(model.intercept_[1:], theirs.params[0], atol=1e-5)
    assert_allclose(model.standard_errors_[1:], theirs.bse[1:].T, rtol=1e-5)
    assert_allclose(model.log_likelihood_, theirs.llf, rtol=1e-10)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("reference", [0, 2, 3])
def test_without_a_penalty_posteriors_are_those_of_the_symmetric_form(reference):
    X, y = rows()
    symmetric = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    model = LogisticRegression(C=np.inf, reference=reference, tol=1e-10).fit(X, y)
    assert_allclose(model.predict_proba(X), symmetric.predict_proba(X), atol=1e-9)
    assert_allclose(
        model.coef_, symmetric.coef_ - symmetric.coef_[reference], atol=1e-7
    )
    table = symmetric.log_odds(reference).rows
    assert_allclose(
        [row[2] for row in table],
        [row[2] for row in model.log_odds(reference).rows],
        atol=1e-6,
    )
    assert_allclose(
        [row[3] for row in table],
        [row[3] for row in model.log_odds(reference).rows],
        rtol=1e-5,
    )


@pytest.mark.syllabus("7.4.4")
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_penalty_is_on_the_log_odds_against_the_reference(l1_ratio, fit_intercept):
    X, y = rows(n=200)
    X = X - 5
    model = LogisticRegression(
        C=0.2, l1_ratio=l1_ratio, reference=1, fit_intercept=fit_intercept, tol=1e-10
    ).fit(X, y)

    def objective(theta):
        theta = np.insert(theta.reshape(3, -1), 1, 0.0, axis=0)
        b = theta[:, :3]
        scores = X @ b.T + (theta[:, 3] if fit_intercept else 0.0)
        penalty = (1 - l1_ratio) / 2 * (b**2).sum() + l1_ratio * np.abs(b).sum()
        return -log_softmax(scores, axis=1)[np.arange(len(y)), y].sum() + penalty / 0.2

    theta = np.delete(np.column_stack([model.coef_, model.intercept_]), 1, axis=0)
    assert_allclose(model.objective_, objective(theta), rtol=1e-12)
    found = minimize(
        objective, theta.ravel(), method="Powell", options={"xtol": 1e-9, "maxiter": 20}
    )
    assert model.objective_ <= found.fun + 1e-6
    symmetric = LogisticRegression(
        C=0.2, l1_ratio=l1_ratio, fit_intercept=fit_intercept
    ).fit(X, y)
    assert np.abs(symmetric.predict_proba(X) - model.predict_proba(X)).max() > 1e-4


def test_laplace_posteriors_work_with_a_reference_and_a_wrong_label_is_refused():
    X, y = rows()
    for posterior in ("probit", "monte_carlo"):
        model = LogisticRegression(reference=2, posterior=posterior).fit(X, y)
        assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        plain = LogisticRegression(reference=2).fit(X, y).predict_proba(X)
        assert np.abs(model.predict_proba(X) - plain).max() < 0.1
    with pytest.raises(SettingError, match="is not a class"):
        LogisticRegression(reference="none").fit(X, y)


def test_of_two_classes_the_reference_changes_nothing():
    X, y = rows(K=2)
    plain = LogisticRegression().fit(X, y)
    for reference in (0, 1):
        assert_array_equal(
            LogisticRegression(reference=reference).fit(X, y).coef_, plain.coef_
        )
