"""The separable bound for many classes: above the log loss, going down, near the softmax fit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from lyceum import scan
from lyceum.linear import LogisticRegression


def rows(K=6, n=600, d=4, seed=0, strength=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(K, d)) * strength
    y = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    return centers[y] + rng.normal(size=(n, d)) + offset, y


def bound_of(Z, y, w=1.0):
    """Σ w [min over a of a + Σ log(1 + exp(z - a)) - z_y], by bisection on Σ sigmoids = 1."""
    low, high = Z.min(axis=1) - 50.0, Z.max(axis=1) + 50.0
    for _ in range(200):
        a = (low + high) / 2
        more = (1 / (1 + np.exp(a[:, None] - Z))).sum(axis=1) > 1
        low, high = np.where(more, a, low), np.where(more, high, a)
    return float(
        (
            w
            * (
                a
                + np.logaddexp(0, Z - a[:, None]).sum(axis=1)
                - Z[np.arange(len(y)), y]
            )
        ).sum()
    )


def loss_of(Z, y, w=1.0):
    return float((w * (logsumexp(Z, axis=1) - Z[np.arange(len(y)), y])).sum())


@pytest.mark.syllabus("7.5")
@given(
    st.integers(0, 10_000),
    st.integers(3, 9),
    st.floats(0.1, 30.0),
    st.floats(-20.0, 20.0),
)
def test_the_bound_is_above_the_log_sum_whatever_a(seed, K, spread, a):
    Z = np.random.default_rng(seed).normal(size=(5, K)) * spread
    y = np.zeros(5, int)
    anywhere = (a + np.logaddexp(0, Z - a).sum(axis=1) - Z[:, 0]).sum()
    assert loss_of(Z, y) <= bound_of(Z, y) * (1 + 1e-12) + 1e-9
    assert bound_of(Z, y) <= anywhere + 1e-9 * abs(anywhere)


@pytest.mark.syllabus("7.5")
@pytest.mark.parametrize("K", [3, 10, 40])
def test_every_pass_lowers_the_bound_and_it_stays_above_the_loss(K):
    X, y = rows(K)
    model = LogisticRegression(solver="sigmoid_bound", record=True).fit(X, y)
    assert (np.diff(model.history_) <= 0).all()
    assert model.converged_
    for step in model.record_:
        Z = X @ step["coef"].T + step["intercept"]
        penalty = (step["coef"] ** 2).sum() / 2
        assert_allclose(step["objective"], bound_of(Z, y) + penalty, rtol=1e-10)
        assert loss_of(Z, y) + penalty <= step["objective"]
    assert model.bound_ == model.history_[-1] >= model.objective_


@pytest.mark.syllabus("7.5")
@pytest.mark.parametrize("weighted", [False, True])
def test_the_least_bound_is_the_one_that_scipy_finds(weighted):
    X, y = rows(5, n=200, d=3)
    w = (
        np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
        if weighted
        else None
    )
    model = LogisticRegression(
        solver="sigmoid_bound", C=2.0, tol=1e-9, max_iter=500
    ).fit(X, y, w)

    def objective(theta):
        theta = theta.reshape(5, 4)
        return bound_of(
            X @ theta[:, :-1].T + theta[:, -1], y, 1.0 if w is None else w
        ) + (theta[:, :-1] ** 2).sum() / (2 * 2.0)

    theta = np.column_stack([model.coef_, model.intercept_]) / model.bound_scale_
    found = minimize(objective, theta.ravel(), method="BFGS", options={"gtol": 1e-4})
    assert_allclose(model.bound_, objective(theta.ravel()), rtol=1e-10)
    assert model.bound_ <= found.fun * (1 + 1e-8)


@pytest.mark.syllabus("7.5")
def test_its_posteriors_are_near_those_of_softmax():
    X, y = load_digits(return_X_y=True)
    X = X + 1e3
    exact = LogisticRegression(C=0.01, solver="lbfgs").fit(X, y)
    near = LogisticRegression(C=0.01, solver="sigmoid_bound").fit(X, y)
    assert (exact.predict(X) == near.predict(X)).mean() > 0.98
    assert (
        np.abs(exact.predict_proba(X) - near.predict_proba(X)).sum(axis=1).mean() < 0.06
    )
    assert exact.objective_ <= near.objective_ <= 1.1 * exact.objective_


@pytest.mark.syllabus("7.5")
def test_the_last_factor_on_the_scores_is_that_of_least_loss():
    X, y = rows(8)
    model = LogisticRegression(solver="sigmoid_bound").fit(X, y)
    Z, penalty = X @ model.coef_.T + model.intercept_, (model.coef_**2).sum() / 2
    here = loss_of(Z, y) + penalty
    assert_allclose(here, model.objective_, rtol=1e-10)
    for factor in (0.97, 1.03):
        assert loss_of(factor * Z, y) + factor**2 * penalty > here


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("reference", [None, "c3"])
def test_sources_weights_and_offsets_do_not_matter(tmp_path, fit_intercept, reference):
    X, codes = rows(6, n=300)
    y = np.array([f"c{k}" for k in range(6)])[codes]
    w = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    model = LogisticRegression(
        solver="sigmoid_bound",
        fit_intercept=fit_intercept,
        reference=reference,
        tol=1e-9,
        max_iter=500,
    )
    whole = model.fit(X, y, w).predict_proba(X)
    repeated = model.fit(
        np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))
    )
    assert_allclose(repeated.predict_proba(X), whole, atol=1e-6)
    assert_allclose(
        model.fit(sparse.csr_array(X), y, w).predict_proba(X), whole, atol=1e-8
    )
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=w)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    filed = model.fit(
        scan(str(tmp_path / "rows.parquet"), target="y", weight="w", memory=0)
    )
    assert_allclose(filed.predict_proba(frame[list("abcd")]), whole, atol=1e-6)
    if fit_intercept:
        assert_allclose(
            model.fit(X + 1e6, y, w).predict_proba(X + 1e6), whole, atol=1e-5
        )
    if reference is not None:
        assert_array_equal(model.coef_[3], 0.0)


def test_class_weights_and_warm_starts_are_heeded():
    X, y = rows(4, n=400)
    factors = {0: 3.0, 2: 0.5}
    by_class = LogisticRegression(
        solver="sigmoid_bound", class_weight=factors, tol=1e-9
    ).fit(X, y)
    by_row = LogisticRegression(solver="sigmoid_bound", tol=1e-9).fit(
        X, y, [factors.get(k, 1.0) for k in y]
    )
    assert_allclose(by_class.coef_, by_row.coef_, atol=1e-5)
    again = LogisticRegression(solver="sigmoid_bound", warm_start=True).fit(X, y)
    first = again.n_iter_
    assert again.fit(X, y).n_iter_ <= first


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"posterior": "probit"}, "need their mode"),
        ({"standard_errors": True}, "need their mode"),
        ({"l1_ratio": 0.5}, "cannot take l1_ratio"),
    ],
)
def test_what_it_cannot_do_is_said(settings, told):
    X, y = rows(3, n=60)
    with pytest.raises(ValueError, match=told):
        LogisticRegression(solver="sigmoid_bound", **settings).fit(X, y)
    with pytest.raises(ValueError, match="three classes and more"):
        LogisticRegression(solver="sigmoid_bound").fit(X, y > 0)


def test_the_summary_tells_of_the_bound_and_the_reference():
    X, y = rows(4, n=200)
    told = str(
        LogisticRegression(solver="sigmoid_bound", reference=2).fit(X, y).summary()
    )
    assert "separable bound" in told
    assert "reference class" in told
    assert "none at the least bound" in told


def test_bits_do_not_depend_on_threads():
    X, y = rows(5, n=40_000, d=3)
    coefs = []
    for count in ("1", "2"):
        with threadpool_limits(int(count)):
            coefs.append(LogisticRegression(solver="sigmoid_bound").fit(X, y).coef_)
    assert_array_equal(*coefs)
