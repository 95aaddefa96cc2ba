"""Penalties that do not depend on units, and cross-validation by given splits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import linear_model
from sklearn.model_selection import KFold, ShuffleSplit

from lyceum.evaluate import degrees_of_freedom, ridge_degrees_of_freedom
from lyceum.linear import ElasticNet, ElasticNetCV, Lasso, LassoCV, Ridge, RidgeCV

RNG = np.random.default_rng(8)
X = RNG.normal(5.0, 1.0, (60, 6)) * [1.0, 1e3, 1e-3, 10.0, 0.1, 1.0]
Y = X @ [1.0, 2e-3, 300.0, 0.0, 5.0, 0.0] + RNG.normal(size=60)
W = RNG.integers(0, 3, 60).astype(float)
PENALIZED = [
    Ridge(3.0),
    Ridge(3.0, solver="recursive"),
    Lasso(0.05, tol=1e-12),
    Lasso(0.05, tol=1e-12, solver="columns"),
    ElasticNet(0.05, l1_ratio=0.4, tol=1e-12),
    RidgeCV(alphas=[0.1, 1.0, 10.0], random_state=0),
    LassoCV(alphas=[0.01, 0.1], random_state=0, tol=1e-12),
    ElasticNetCV(alphas=[0.01, 0.1], random_state=0, tol=1e-12, solver="columns"),
]


def deviations(weights):
    mean = np.average(X, axis=0, weights=weights)
    return np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))


@pytest.mark.parametrize("weights", [None, W])
@pytest.mark.parametrize("learner", PENALIZED, ids=lambda one: str(one)[:30])
def test_standardize_is_the_fit_on_columns_of_unit_deviation(learner, weights):
    scale = deviations(weights)
    by_hand = type(learner)(**learner.get_params()).fit(X / scale, Y, weights)
    found = (
        type(learner)(**learner.get_params())
        .set_params(standardize=True)
        .fit(X, Y, weights)
    )
    assert_allclose(found.coef_ * scale, by_hand.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(found.intercept_, by_hand.intercept_, rtol=1e-6)
    assert_allclose(found.predict(X), by_hand.predict(X / scale), rtol=1e-8)
    assert_allclose(
        found.explain(X[:2]).contributions.sum(),
        by_hand.explain(X[:2] / scale).contributions.sum(),
    )
    if hasattr(found, "effective_degrees_"):
        assert_allclose(found.effective_degrees_, by_hand.effective_degrees_, rtol=1e-9)


def test_standardized_fits_go_on_with_more_rows():
    for learner in (
        Ridge(2.0, standardize=True),
        Lasso(0.1, standardize=True, tol=1e-12),
    ):
        whole = type(learner)(**learner.get_params()).fit(X, Y).coef_
        learner.partial_fit(X[:25], Y[:25]).partial_fit(X[25:], Y[25:])
        assert_allclose(learner.coef_, whole, rtol=1e-7)


def test_columns_that_never_vary_are_left_as_they_are():
    constant = np.column_stack([X, np.full(60, 4.0)])
    for learner in (Ridge, Lasso):
        model = learner(0.1, standardize=True).fit(constant, Y)
        assert model.coef_[-1] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(
        Ridge(0.1, standardize=True, fit_intercept=False).fit(constant, Y).coef_
    ).all()


def test_few_rows_with_many_columns_may_be_standardized():
    wide = np.random.default_rng(1).normal(size=(12, 1500)) * np.linspace(
        0.1, 9.0, 1500
    )
    y, scale = wide[:, 0] + wide[:, 9], wide.std(axis=0)
    model, by_hand = (
        Ridge(2.0, standardize=True).fit(wide, y),
        Ridge(2.0).fit(wide / scale, y),
    )
    assert_allclose(model.coef_ * scale, by_hand.coef_, rtol=1e-7, atol=1e-12)
    assert_allclose(model.effective_degrees_, by_hand.effective_degrees_, rtol=1e-9)


@pytest.mark.parametrize(
    "cv", [KFold(5, shuffle=True, random_state=0), ShuffleSplit(4, random_state=0)]
)
@pytest.mark.parametrize("solver", ["gram", "columns"])
def test_given_splits_are_those_of_scikit_learn(cv, solver):
    alphas = [0.5, 0.1, 0.02]
    Z = X / X.std(axis=0)
    theirs = linear_model.LassoCV(alphas=alphas, cv=cv, tol=1e-10).fit(Z, Y)
    ours = LassoCV(alphas=alphas, cv=cv, tol=1e-12, solver=solver).fit(Z, Y)
    assert ours.alpha_ == theirs.alpha_
    assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-6)
    as_pairs = LassoCV(
        alphas=alphas, cv=list(cv.split(Z)), tol=1e-12, solver=solver
    ).fit(Z, Y)
    assert_allclose(as_pairs.mse_path_, ours.mse_path_, rtol=1e-12)


def test_ridge_takes_splitters_and_weights():
    cv, Z = KFold(4), X / X.std(axis=0)
    ours = RidgeCV([100.0, 1.0], cv=cv).fit(Z, Y, W)
    for k, (train, test) in enumerate(cv.split(Z)):
        model = linear_model.Ridge(1.0).fit(Z[train], Y[train], W[train])
        error = np.average((Y[test] - model.predict(Z[test])) ** 2, weights=W[test])
        assert_allclose(ours.mse_path_[1, k], error, rtol=1e-8)


@pytest.mark.parametrize("learner", [RidgeCV, LassoCV, ElasticNetCV])
def test_sparse_rows_may_leave_a_fold_empty(learner):
    few = sparse.csr_array(np.where(np.abs(X[:6] - 5) < 1, 0.0, X[:6]))
    assert np.isfinite(
        learner(alphas=[0.1, 1.0], cv=10, random_state=0).fit(few, Y[:6]).coef_
    ).all()


def test_penalized_models_count_their_effective_parameters():
    ridge = Ridge(3.0).fit(X, Y)
    assert degrees_of_freedom(ridge) == pytest.approx(
        ridge_degrees_of_freedom(X, 3.0) + 1
    )
    lasso = Lasso(0.3).fit(X, Y)
    assert degrees_of_freedom(lasso) == np.count_nonzero(lasso.coef_) + 2
