"""Linear regressions have scikit-learn's parameters, with their effect."""

import numpy as np
import pytest
import sklearn
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose
from packaging.version import Version
from sklearn.model_selection import KFold

import lyceum.linear as ours
from lyceum.errors import SettingError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = X @ RNG.normal(size=(5, 3)) + RNG.normal(size=(60, 3))
W = RNG.uniform(size=60)


@pytest.mark.parametrize("name", ["Ridge", "LinearRegression"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one", "several"])
def test_several_targets_are_single_fits_side_by_side(name, fit_intercept, y):
    model = getattr(ours, name)(fit_intercept=fit_intercept).fit(X, y, W)
    other = getattr(theirs, name)(fit_intercept=fit_intercept).fit(X, y, W)
    assert_allclose(model.coef_, other.coef_, atol=1e-12)
    assert_allclose(model.intercept_, other.intercept_, atol=1e-12)
    assert_allclose(model.predict(X), other.predict(X), atol=1e-12)
    assert_allclose(model.score(X, y), other.score(X, y), atol=1e-12)


def test_every_target_of_a_ridge_may_have_its_own_penalty():
    alphas = np.array([0.1, 1.0, 10.0])
    model = ours.Ridge(alpha=alphas).fit(X, Y)
    assert_allclose(model.coef_, theirs.Ridge(alpha=alphas).fit(X, Y).coef_, atol=1e-12)
    with pytest.raises(ValueError, match="penalties do not correspond"):
        ours.Ridge(alpha=alphas[:2]).fit(X, Y)


@pytest.mark.parametrize("solver", ["svd", "cholesky", "lsqr", "sparse_cg", "sag"])
def test_solvers_of_scikit_learn_lead_to_the_one_minimum(solver):
    model = ours.Ridge(solver=solver).fit(X, Y[:, 0])
    assert_allclose(model.coef_, ours.Ridge().fit(X, Y[:, 0]).coef_, atol=1e-14)


@pytest.mark.parametrize(
    "model",
    [
        ours.LinearRegression(positive=True),
        ours.Ridge(positive=True),
        ours.Lasso(alpha=0.1, positive=True),
        ours.ElasticNet(alpha=0.1, positive=True, fit_intercept=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_positive_coefficients_satisfy_their_optimality_conditions(model):
    model.fit(X, Y[:, 0])
    alpha = getattr(model, "alpha", 0.0)
    share = {"Lasso": 1.0, "ElasticNet": 0.5}.get(type(model).__name__)
    Z = X - X.mean(axis=0) if model.fit_intercept else X
    y = Y[:, 0] - Y[:, 0].mean() if model.fit_intercept else Y[:, 0]
    gradient = Z.T @ (Z @ model.coef_ - y)
    if share is None:
        gradient = gradient + alpha * model.coef_
    else:
        gradient = gradient / len(X) + alpha * (share + (1 - share) * model.coef_)
    is_used = model.coef_ > 0
    assert 0 < is_used.sum() < 5
    assert (model.coef_ >= 0).all()
    assert_allclose(gradient[is_used], 0.0, atol=1e-9)
    assert (gradient[~is_used] >= -1e-9).all()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"store_cv_results": True},
        {"scoring": "neg_mean_absolute_error"},
        {"cv": 5},
        {"cv": 4, "scoring": "r2"},
        {"alpha_per_target": True},
        {"fit_intercept": False, "gcv_mode": "svd"},
    ],
    ids=str,
)
@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one", "several"])
def test_ridge_chooses_the_penalty_that_scikit_learn_chooses(settings, y):
    model = ours.RidgeCV(**settings).fit(X, y)
    other = theirs.RidgeCV(**settings).fit(X, y)
    assert_allclose(model.alpha_, other.alpha_)
    assert_allclose(model.coef_, other.coef_, atol=1e-10)
    assert_allclose(model.best_score_, other.best_score_, rtol=1e-10)
    if "store_cv_results" in settings:
        assert_allclose(model.cv_results_, other.cv_results_, atol=1e-10)


def test_a_score_that_scikit_learn_has_not_is_refused():
    with pytest.raises(SettingError, match="scoring='accurate' is no score"):
        ours.RidgeCV(scoring="accurate").fit(X, Y[:, 0])


# the largest penalty of a path without negative coefficients
SINCE_1_9 = pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.9"),
    reason="scikit-learn took it from negative products, too, before 1.9",
)


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"cv": 4}, pytest.param({"positive": True}, marks=SINCE_1_9)],
    ids=str,
)
def test_the_folds_are_those_of_scikit_learn_in_every_fit(name, settings):
    y = Y[:, 0]
    model = getattr(ours, name)(tol=1e-9, **settings).fit(X, y)
    other = getattr(theirs, name)(tol=1e-9, **settings).fit(X, y)
    assert_allclose(model.alpha_, other.alpha_)
    assert_allclose(model.mse_path_, other.mse_path_, rtol=1e-4)
    again = getattr(ours, name)(tol=1e-9, **settings).fit(X, y)
    assert again.alpha_ == model.alpha_


def test_explanations_are_of_one_target():
    model = ours.Ridge().fit(X, Y)
    with pytest.raises(SettingError, match="fit it on one column of y"):
        model.explain(X)
    with pytest.raises(SettingError, match="fit it on one column of y"):
        model.summary()


def test_singular_values_are_those_of_the_rows():
    model = ours.LinearRegression().fit(X, Y[:, 0])
    other = theirs.LinearRegression().fit(X, Y[:, 0])
    assert_allclose(model.singular_, other.singular_, rtol=1e-10)


def test_penalties_of_ridge_are_numbers_and_splits_may_be_read_once():
    assert ours.RidgeCV(alphas=1).fit(X, Y[:, 0]).alpha_ == 1.0
    assert len(ours.RidgeCV(n_alphas=7).fit(X, Y[:, 0]).alphas_) == 7
    splits = KFold(4).split(X)
    model = ours.RidgeCV(alphas=[0.1, 1.0, 10.0], cv=splits).fit(X, Y)
    other = theirs.RidgeCV(alphas=[0.1, 1.0, 10.0], cv=KFold(4)).fit(X, Y)
    assert model.alpha_ == other.alpha_
    assert_allclose(model.coef_, other.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match=r"alphas\[1\] == -1, must be > 0.0"):
        ours.RidgeCV(alphas=(1, -1)).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="not supported for l1_ratio=0"):
        ours.ElasticNetCV(l1_ratio=0.0).fit(X, Y[:, 0])
