"""Ridge against scikit-learn and its closed form."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge as Reference
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum.linear import ElasticNet, Lasso, LassoCV, LinearRegression, Ridge


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
def test_scikit_learns_checks():
    obeys_scikit_learn(Ridge(alpha=0.01, fit_intercept=False))


def rows(seed=0, n=120, d=5, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(offset, 2, (n, d))
    return X, (X - offset) @ rng.normal(size=d) + 3 + rng.normal(size=n)


@pytest.mark.syllabus("7.2.1")
@pytest.mark.parametrize("alpha", [1e-6, 0.5, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_are_those_of_scikit_learn(alpha, fit_intercept, weighted):
    X, y = rows(offset=10)
    w = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else None
    ours = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, y, w)
    theirs = Reference(alpha=alpha, fit_intercept=fit_intercept, solver="svd").fit(
        X, y, w
    )
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


@pytest.mark.syllabus("7.2")
@given(st.integers(0, 10_000), st.floats(1e-3, 1e4))
def test_gradient_vanishes(seed, alpha):
    X, y = rows(seed, n=30, offset=1e6)
    model = Ridge(alpha=alpha).fit(X, y)
    r = y - y.mean() - (X - X.mean(axis=0)) @ model.coef_
    gradient = (X - X.mean(axis=0)).T @ r - alpha * model.coef_
    assert_allclose(gradient, 0, atol=1e-9 * np.abs(y - y.mean()).sum())


@pytest.mark.syllabus("7.2")
def test_effective_degrees_are_the_trace_of_the_hat_matrix():
    X, y = rows(n=40)
    hat = np.column_stack(
        [Reference(alpha=3.0).fit(X, e).predict(X) for e in np.eye(40)]
    )
    assert_allclose(
        Ridge(alpha=3.0).fit(X, y).effective_degrees_, np.trace(hat), rtol=1e-10
    )
    assert_allclose(Ridge(alpha=0.0).fit(X, y).effective_degrees_, 6, rtol=1e-10)


def test_no_penalty_is_least_squares():
    X, y = rows()
    assert_allclose(
        Ridge(alpha=0.0).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12
    )


def test_penalty_parts_dependent_columns_without_a_warning():
    X, y = rows(d=2)
    model = Ridge(alpha=1.0).fit(np.column_stack([X, X[:, 0]]), y)
    assert_allclose(model.coef_[0], model.coef_[2], rtol=1e-12)
    assert model.rank_ == 2


def test_categories_are_one_of_c():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"color": rng.choice(["blue", "green", "red"], 90), "x": rng.normal(size=90)}
    )
    y = frame["x"] + (frame["color"] == "red")
    model = Ridge(alpha=2.0).fit(frame, y)
    dummies = pd.get_dummies(frame, dtype=float)[
        ["color_blue", "color_green", "color_red", "x"]
    ]
    assert model.design_names == ("color=blue", "color=green", "color=red", "x")
    assert_allclose(model.coef_, Reference(alpha=2.0).fit(dummies, y).coef_, rtol=1e-9)
    assert_allclose(model.explain(frame).scores, model.predict(frame), rtol=1e-9)


def test_weight_two_equals_repeated_row_in_parts_and_sparse():
    X, y = rows()
    X[np.abs(X) < 1.5] = 0
    w = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = Ridge().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    parts = (
        Ridge().partial_fit(X[:50], y[:50], w[:50]).partial_fit(X[50:], y[50:], w[50:])
    )
    thin = Ridge().fit(sparse.csr_array(X), y, w)
    for other in (Ridge().fit(X, y, w), parts, thin):
        assert_allclose(other.coef_, repeated.coef_, rtol=1e-9)
        assert_allclose(
            other.effective_degrees_, repeated.effective_degrees_, rtol=1e-9
        )


def test_summary_names_penalty_and_columns():
    X, y = rows(d=2)
    text = str(Ridge(alpha=2.5).fit(X, y).summary())
    for word in ("alpha", "2.5", "effective degrees of freedom", "(intercept)", "x1"):
        assert word in text


def test_the_penalty_may_come_first_without_its_name():
    for learner in (Ridge, Lasso, ElasticNet):
        assert learner(0.1).alpha == 0.1


def test_text_among_the_penalties_is_refused():
    with pytest.raises(ValueError, match="alphas must be a number or numbers"):
        LassoCV(alphas=(1, 1.0, "1")).fit(np.eye(12), np.arange(12.0))
