"""Linear regressions have scikit-learn's parameters, with their effect."""

import pickle

import numpy as np
import pytest
import sklearn
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose
from packaging.version import Version
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils import get_tags

import lyceum.linear as ours
from lyceum.bayes import LinearDiscriminantAnalysis
from lyceum.errors import SettingError
from lyceum.kernels import LinearSVC

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


@pytest.mark.parametrize(
    "model",
    [
        ours.LinearRegression(),
        ours.Ridge(),
        ours.Lasso(alpha=0.01),
        ours.ElasticNetCV(cv=3),
        ours.LogisticRegression(),
        LinearDiscriminantAnalysis(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_of_float32_give_coefficients_of_float32(model):
    y = (Y[:, 0] > 0).astype(int) if is_classifier(model) else Y[:, 0]
    single = clone(model).fit(X.astype(np.float32), y)
    double = clone(model).fit(X, y)
    assert double.coef_.dtype == np.float64
    for rows in (X.astype(np.float32), sparse.csr_array(X.astype(np.float32))):
        if sparse.issparse(rows) and not get_tags(model).input_tags.sparse:
            continue
        single = clone(model).fit(rows, y)
        assert single.coef_.dtype == single.intercept_.dtype == np.float32
        assert_allclose(single.coef_, double.coef_, rtol=1e-4, atol=1e-5)
        if is_classifier(model):
            assert (single.predict(rows) == double.predict(X)).mean() > 0.98
            assert_allclose(
                single.predict_proba(rows), double.predict_proba(X), atol=1e-4
            )
        else:
            assert single.predict(rows).dtype == np.float32
    reason = "liblinear computes in doubles there too"
    if isinstance(model, ours.LogisticRegression):
        model = clone(model).set_params(solver="liblinear")
        assert model.fit(X.astype(np.float32), y).coef_.dtype == np.float64, reason


def test_no_iteration_leaves_the_coefficients_at_zero():
    y = Y[:, 0] > 0
    with pytest.warns(ConvergenceWarning):
        model = ours.LogisticRegression(max_iter=0).fit(X, y)
    assert model.n_iter_.tolist() == [0]
    assert not model.coef_.any()
    assert_allclose(model.predict_proba(X), 0.5)


@pytest.mark.parametrize(
    "model",
    [ours.LogisticRegression(C=0.1, l1_ratio=1), ours.MarginClassifier(), LinearSVC()],
    ids=lambda model: type(model).__name__,
)
def test_sparse_coefficients_answer_as_dense_ones(model):
    y = np.digitize(Y[:, 0], [-1.0, 1.0])
    model.fit(X, y)
    coef = model.coef_
    scores = model.decision_function(X)
    text = str(model.summary())
    record = model.decide(X[0].tolist()).predicted
    assert model.sparsify() is model.sparsify() is model
    for _ in range(2):
        assert sparse.issparse(model.coef_)
        assert_allclose(model.decision_function(sparse.csr_array(X)), scores, atol=1e-9)
        assert str(model.summary()) == text
        assert model.decide(X[0].tolist()).predicted == record
        model = pickle.loads(pickle.dumps(model))
    assert_allclose(model.densify().coef_, coef)
    assert isinstance(model.densify().coef_, np.ndarray)
    assert isinstance(model.sparsify().fit(X, y).coef_, np.ndarray)


def test_a_score_of_several_targets_chooses_one_penalty():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 5))
    Y = X @ rng.normal(size=(5, 2)) + rng.normal(size=(30, 2)) * [0.1, 9.0]

    def heavy(model, X, Y):
        errors = ((Y - model.predict(X)) ** 2).mean(axis=0)
        return -errors @ [100.0, 1.0]

    settings = {"alphas": [100.0, 0.01, 1.0], "scoring": heavy}
    one = ours.RidgeCV(**settings).fit(X, Y)
    other = theirs.RidgeCV(**settings).fit(X, Y)
    assert one.alpha_ == other.alpha_
    assert_allclose(one.best_score_, other.best_score_)


def test_priors_that_do_not_sum_to_one_are_divided_by_their_sum():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = LinearDiscriminantAnalysis(priors=[0.5, 0.7])
    with pytest.warns(UserWarning, match="Renormalizing"):
        model.fit(X, np.arange(20) % 2)
    assert_allclose(model.priors_, np.array([5.0, 7.0]) / 12)


def test_one_penalty_in_a_list_is_that_of_every_target():
    X = np.random.default_rng(0).normal(size=(30, 3))
    Y = X[:, ::-1] + 1.0
    for y in (Y, Y[:, 0]):
        listed = ours.Ridge(alpha=[2.0]).fit(X, y)
        assert_allclose(listed.coef_, ours.Ridge(alpha=2.0).fit(X, y).coef_)
    with pytest.raises(SettingError, match="do not correspond: 1 != 2"):
        ours.Ridge(alpha=[1.0, 2.0]).fit(X, Y[:, 0])
