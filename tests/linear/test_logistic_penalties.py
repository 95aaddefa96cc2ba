"""Logistic regression: L1 and elastic net, first-order solvers, and posteriors of the weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression as Reference
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum.linear import LogisticRegression


@pytest.mark.parametrize(
    "settings",
    [
        {"l1_ratio": 0.7},
        {"posterior": "probit"},
        {"posterior": "monte_carlo", "n_draws": 100, "random_state": 0},
        {"solver": "conjugate_gradient"},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks(settings):
    obeys_scikit_learn(LogisticRegression(**settings))


def rows(K=2, n=300, d=6, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    W = rng.normal(size=(d, K)) * (np.arange(d) < 3)[:, None]
    return X + offset, (X @ W + rng.gumbel(size=(n, K))).argmax(axis=1)


def gradient(model, X, y):
    P = model.predict_proba(X)
    P[np.arange(len(y)), y] -= 1
    g = P.T @ np.column_stack([X, np.ones(len(y))])
    return g[1:] if len(g) == 2 else g


@pytest.mark.syllabus("7.4.3")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_subgradients_hold_at_the_l1_optimum(K, l1_ratio, fit_intercept):
    X, y = rows(K, offset=2.0)
    model = LogisticRegression(
        C=0.1, l1_ratio=l1_ratio, fit_intercept=fit_intercept, tol=1e-9
    ).fit(X, y)
    l1, l2 = l1_ratio / 0.1, (1 - l1_ratio) / 0.1
    g, b = gradient(model, X, y), model.coef_
    inner = g[:, :-1] + l2 * b
    assert_allclose(inner[b != 0], -l1 * np.sign(b[b != 0]), atol=1e-4)
    assert (np.abs(inner[b == 0]) <= l1 + 1e-4).all()
    if fit_intercept:
        assert_allclose(g[:, -1], 0, atol=1e-4)
    assert (b == 0).any() or l1_ratio < 1
    assert model.converged_
    assert (np.diff(model.history_) <= 1e-9).all()


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize(
    ("l1_ratio", "reference"), [(1.0, None), (0.5, None), (1.0, 2)]
)
def test_subgradients_hold_where_coefficients_enter_a_few_at_a_time(
    l1_ratio, reference
):
    # 240 coefficients, most of which end at zero
    X, y = rows(6, n=240, d=40, seed=3, offset=1e3)
    model = LogisticRegression(
        l1_ratio=l1_ratio, tol=1e-8, C=0.5, reference=reference
    ).fit(X, y)
    l1, l2 = l1_ratio / 0.5, (1 - l1_ratio) / 0.5
    P, b = model.predict_proba(X), model.coef_
    P[np.arange(len(y)), y] -= 1
    g = P.T @ (X - X.mean(axis=0)) + l2 * b
    free = np.arange(6) != (-1 if reference is None else reference)
    g, b = g[free], b[free]
    assert (b == 0).sum() > 40
    assert_allclose(g[b != 0], -l1 * np.sign(b[b != 0]), atol=1e-4)
    assert (np.abs(g[b == 0]) <= l1 + 1e-4).all()
    assert_allclose(P.sum(axis=0), 0, atol=1e-4)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("K", [2, 3])
def test_the_l1_objective_is_at_most_that_of_scikit_learn(K):
    X, y = rows(K)
    ours = LogisticRegression(C=0.2, l1_ratio=1.0, tol=1e-9).fit(X, y)
    theirs = Reference(
        C=0.2, l1_ratio=1.0, solver="saga", tol=1e-10, max_iter=100_000
    ).fit(X, y)
    log_p = np.log(theirs.predict_proba(X))[np.arange(len(y)), y]
    assert ours.objective_ <= -log_p.sum() + np.abs(theirs.coef_).sum() / 0.2 + 1e-6
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert_allclose(
        ours.objective_,
        -ours.log_likelihood_ + np.abs(ours.coef_).sum() / 0.2,
        rtol=1e-12,
    )


def test_weight_two_equals_repeated_row_and_sparse_equals_dense_under_l1():
    X, y = rows(3)
    X[np.abs(X) < 0.6] = 0
    w = np.random.default_rng(1).integers(0, 3, len(y))
    one = LogisticRegression(C=0.3, l1_ratio=1.0, tol=1e-9).fit(X, y, w)
    two = LogisticRegression(C=0.3, l1_ratio=1.0, tol=1e-9).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    thin = LogisticRegression(C=0.3, l1_ratio=1.0, tol=1e-9).fit(
        sparse.csr_array(X), y, w
    )
    assert_allclose(one.coef_, two.coef_, atol=1e-6)
    assert_allclose(one.coef_, thin.coef_, atol=1e-6)


def test_what_l1_cannot_have_is_refused():
    X, y = rows()
    for settings in (
        {"solver": "lbfgs"},
        {"standard_errors": True},
        {"posterior": "probit"},
    ):
        with pytest.raises(ValueError, match="l1_ratio"):
            LogisticRegression(l1_ratio=0.5, **settings).fit(X, y)
    text = str(LogisticRegression(l1_ratio=1.0).fit(X, y).summary())
    assert "L1, C = 1" in text
    assert "none under an L1 penalty" in text


@pytest.mark.syllabus("7.4.2")
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("solver", ["conjugate_gradient", "gradient_descent"])
def test_first_order_solvers_end_where_newton_does(K, solver):
    X, y = rows(K)
    newton = LogisticRegression(solver="irls", tol=1e-10).fit(X, y)
    other = LogisticRegression(solver=solver, tol=1e-8, max_iter=20_000).fit(X, y)
    assert other.converged_
    assert_allclose(other.coef_, newton.coef_, atol=1e-5)
    assert other.n_iter_ >= newton.n_iter_


# -- the Laplace posterior -------------------------------------------------------------


def score_spread(model, X):
    Z = np.column_stack([X, np.ones(len(X))])
    return np.sqrt(np.einsum("ij,jk,ik->i", Z, model.covariance_, Z))


@pytest.mark.syllabus("7.6.1")
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_probit_shrinks_the_score_by_its_variance(offset):
    X, y = rows(n=60, offset=offset)
    model = LogisticRegression(posterior="probit").fit(X, y)
    plain = LogisticRegression().fit(X - offset, y)
    a, s = plain.decision_function(X - offset), score_spread(plain, X - offset)
    want = expit(a / np.sqrt(1 + np.pi * s**2 / 8))
    assert_allclose(model.predict_proba(X)[:, 1], want, rtol=1e-5)
    assert_array_equal(model.predict(X), plain.predict(X - offset))


@pytest.mark.syllabus("7.6.1")
def test_monte_carlo_is_the_integral_over_the_score():
    X, y = rows(n=60)
    model = LogisticRegression(
        posterior="monte_carlo", n_draws=20_000, C=10.0, random_state=0
    ).fit(X, y)
    a, s = model.decision_function(X), score_spread(model, X)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    integral = expit(a[:, None] + s[:, None] * nodes) @ (weights / weights.sum())
    assert_allclose(model.predict_proba(X)[:, 1], integral, atol=0.01)
    probit = (
        LogisticRegression(posterior="probit", C=10.0).fit(X, y).predict_proba(X)[:, 1]
    )
    assert_allclose(probit, integral, atol=0.02)


@pytest.mark.syllabus("7.6")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("posterior", ["probit", "monte_carlo"])
def test_averaging_is_less_sure_far_from_the_rows(K, posterior):
    X, y = rows(K, n=50)
    plain, mean = (
        LogisticRegression().fit(X, y),
        LogisticRegression(posterior=posterior).fit(X, y),
    )
    far = 10 * X
    assert (
        mean.predict_proba(far).max(axis=1).mean()
        < plain.predict_proba(far).max(axis=1).mean() - 0.01
    )
    assert_allclose(mean.predict_proba(far).sum(axis=1), 1)
    assert_allclose(
        np.exp(mean.predict_log_proba(far)), mean.predict_proba(far), rtol=1e-9
    )


@pytest.mark.syllabus("7.6")
def test_monte_carlo_of_three_classes_averages_softmax_over_draws_of_the_weights():
    X, y = rows(3, n=80)
    model = LogisticRegression(posterior="monte_carlo", n_draws=50, random_state=4).fit(
        X, y
    )
    Z = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])
    draws = model._weight_posterior().draws(model.n_draws, model.seed_)
    want = np.mean([softmax(Z @ theta.T, axis=1) for theta in draws], axis=0)
    assert_allclose(model.predict_proba(X), want, rtol=1e-9)
    many = (
        LogisticRegression(posterior="monte_carlo", n_draws=40_000, random_state=0)
        .fit(X, y)
        ._weight_posterior()
        .draws(40_000, 0)
        .reshape(40_000, -1)
    )
    assert_allclose(
        np.cov(many.T),
        model.posterior_covariance_,
        atol=0.02 * model.posterior_covariance_.max(),
    )
    other = LogisticRegression(posterior="monte_carlo", n_draws=50, random_state=5).fit(
        X, y
    )
    assert not np.array_equal(other.predict_proba(X), model.predict_proba(X))
