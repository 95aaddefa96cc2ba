"""`record=True` keeps every step of the way, and changes nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lyceum.linear import ElasticNet, ElasticNetCV, Lasso, LassoCV, LinearRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 90)) @ (np.eye(90) + 0.3) + 3
y = X @ (rng.normal(size=90) * (rng.uniform(size=90) < 0.1)) + rng.normal(size=60)


def objective(coef, intercept, alpha, l1_ratio):
    r = y - X @ coef - intercept
    return r @ r / (2 * len(y)) + alpha * (
        l1_ratio * np.abs(coef).sum() + (1 - l1_ratio) / 2 * coef @ coef
    )


@pytest.mark.syllabus("7.2")
@pytest.mark.parametrize("solver", ["gram", "columns"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("learner", [Lasso, ElasticNet])
def test_every_round_of_coordinate_descent_is_kept(solver, fit_intercept, learner):
    settings = {
        "alpha": 0.02,
        "tol": 1e-12,
        "solver": solver,
        "fit_intercept": fit_intercept,
    }
    model, plain = (
        learner(record=True, **settings).fit(X, y),
        learner(**settings).fit(X, y),
    )
    assert_array_equal(model.coef_, plain.coef_)
    assert not hasattr(plain, "record_")
    assert len(model.record_) == len(model.history_) + 1
    share = 1.0 if learner is Lasso else 0.5
    for step in model.record_:
        here = objective(step["coef"], step["intercept"], 0.02, share)
        assert_allclose(step["objective"], here, rtol=1e-8)
        if step["step"]:
            assert here - model.objective_ <= step["dual_gap"] + 1e-9
    assert not model.record_[0]["coef"].any()
    assert_array_equal(model.record_[-1]["coef"], model.coef_)
    assert model.record_[-1]["step"] == model.n_iter_
    assert (np.diff([step["objective"] for step in model.record_]) <= 1e-12).all()


@pytest.mark.syllabus("7.2.3")
@pytest.mark.parametrize("learner", [LassoCV, ElasticNetCV])
def test_the_path_to_the_chosen_penalty_is_kept(learner):
    model = learner(alphas=20, cv=4, record=True).fit(X, y)
    alphas = [step["alpha"] for step in model.record_]
    assert_allclose(alphas, model.alphas_[: len(alphas)])
    assert alphas[-1] == model.alpha_
    assert_array_equal(model.record_[-1]["coef"], model.coef_)
    assert model.record_[-1]["intercept"] == model.intercept_
    assert not model.record_[0]["coef"].any()
    assert model.history_[-1] == model.dual_gap_


@pytest.mark.syllabus("7.1")
@pytest.mark.parametrize("solver", ["gradient_descent", "lms"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_pass_of_iterative_least_squares_is_kept(solver, fit_intercept):
    Z, rate = X[:, :3], 0.005 if solver == "lms" else None
    model = LinearRegression(
        solver=solver,
        record=True,
        fit_intercept=fit_intercept,
        tol=1e-4,
        learning_rate=rate,
    ).fit(Z, y)
    assert len(model.record_) == len(model.history_) == model.n_iter_ + 1
    for step, squares in zip(model.record_, model.history_):
        r = y - Z @ step["coef"] - step["intercept"]
        assert_allclose(r @ r, squares, rtol=1e-8)
        assert step["objective"] == squares
    assert_allclose(model.record_[-1]["coef"], model.coef_)
    assert_allclose(model.record_[-1]["intercept"], model.intercept_)
    assert LinearRegression(record=True).fit(Z, y).record_ == []
