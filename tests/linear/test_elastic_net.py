"""Lasso and elastic net against scikit-learn, their duality gap and the conditions of
optimality."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as Reference
from tests.checks.scikit_learn import obeys_scikit_learn
from threadpoolctl import threadpool_limits

from lyceum import scan
from lyceum.errors import DataError, SettingError
from lyceum.linear import ElasticNet, Lasso, Ridge, elastic_net_path, lasso_path

SOLVERS = ("gram", "columns")


def test_scikit_learns_checks():
    reason = "nothing is kept to go on from after a fit on columns, and this is said"
    obeys_scikit_learn(
        Lasso(alpha=0.01, solver="columns"), {"check_fit_score_takes_y": reason}
    )


def rows(seed=0, n=80, d=12, offset=0.0, correlated=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + correlated * rng.normal(size=(n, 1)) + offset
    b = np.where(np.arange(d) % 3 == 0, rng.normal(size=d), 0.0)
    return X, (X - offset) @ b + 3 + rng.normal(size=n)


def optimality(model, X, y, w=None, l1_ratio=1.0):
    """The largest violation of the conditions of optimality, from the rows themselves."""
    w = np.ones(len(y)) if w is None else w
    r = y - model.intercept_ - X @ model.coef_
    X = X - (np.average(X, axis=0, weights=w) if model.fit_intercept else 0.0)
    l1, l2 = model.alpha * l1_ratio, model.alpha * (1 - l1_ratio)
    g = X.T @ (w * r) / w.sum() - l2 * model.coef_
    on = model.coef_ != 0
    return max(
        np.abs(g[on] - l1 * np.sign(model.coef_[on])).max(initial=0.0),
        np.maximum(np.abs(g[~on]) - l1, 0.0).max(initial=0.0),
    )


@pytest.mark.syllabus("7.2.2")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(80, 12), (40, 150)])
@pytest.mark.parametrize("thin", [False, True])
def test_coefficients_are_those_of_scikit_learn(
    solver, l1_ratio, fit_intercept, shape, thin
):
    X, y = rows(n=shape[0], d=shape[1])
    X = np.where(np.abs(X) > 1, X, 0.0)
    w = np.random.default_rng(1).uniform(0, 2, len(y))
    settings = {
        "alpha": 0.1,
        "l1_ratio": l1_ratio,
        "fit_intercept": fit_intercept,
        "tol": 1e-11,
    }
    ours = ElasticNet(solver=solver, max_iter=100_000, **settings).fit(
        sparse.csr_array(X) if thin else X, y, w
    )
    theirs = Reference(max_iter=1_000_000, **settings).fit(X, y, w)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert optimality(ours, X, y, w, l1_ratio) < 1e-5


@pytest.mark.syllabus("7.2")
@pytest.mark.parametrize("solver", SOLVERS)
@given(seed=st.integers(0, 10_000), alpha=st.floats(1e-3, 1.0), d=st.integers(1, 60))
@settings(max_examples=25)
def test_the_duality_gap_bounds_the_distance_to_the_optimum(solver, seed, alpha, d):
    X, y = rows(seed, n=30, d=d)
    loose = Lasso(alpha=alpha, tol=1e-2, solver=solver).fit(X, y)
    tight = Lasso(alpha=alpha, tol=1e-9, solver=solver, max_iter=200_000).fit(X, y)
    assert loose.objective_ - tight.objective_ <= loose.dual_gap_ + 1e-9
    assert loose.dual_gap_ <= 1e-2 * y.var()
    assert_allclose(
        tight.objective_,
        np.mean((y - tight.predict(X)) ** 2) / 2 + alpha * np.abs(tight.coef_).sum(),
        rtol=1e-7,
    )


@pytest.mark.syllabus("7.2")
def test_orthonormal_columns_are_soft_thresholded():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 6)))[0] * np.sqrt(50)
    y = Q @ [3.0, -2.0, 0.4, 0.0, 0.0, 1.0]
    model = Lasso(alpha=0.5, fit_intercept=False, tol=1e-14).fit(Q, y)
    assert_allclose(model.coef_, [2.5, -1.5, 0, 0, 0, 0.5], atol=1e-6)


@pytest.mark.syllabus("7.2")
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_coefficient_is_zero_from_the_largest_alpha_on(solver):
    X, y = rows(d=40)
    most = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert not Lasso(alpha=most * (1 + 1e-9), solver=solver).fit(X, y).coef_.any()
    assert (
        np.count_nonzero(Lasso(alpha=most * 0.99, solver=solver).fit(X, y).coef_) == 1
    )


def test_no_l1_is_ridge():
    X, y = rows()
    ridge = Ridge(alpha=0.2 * len(y)).fit(X, y)
    assert_allclose(
        ElasticNet(alpha=0.2, l1_ratio=0.0).fit(X, y).coef_, ridge.coef_, rtol=1e-10
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_offset_of_a_million_and_constant_columns_change_nothing(solver):
    X, y = rows(d=8)
    plain = Lasso(alpha=0.05, solver=solver, tol=1e-9).fit(X, y)
    X = np.column_stack([X + 1e6, np.full(len(y), 1e6), np.zeros(len(y))])
    for cells in (X, sparse.csr_array(X)):
        moved = Lasso(alpha=0.05, solver=solver, tol=1e-9).fit(cells, y)
        assert_allclose(moved.coef_, [*plain.coef_, 0, 0], atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("thin", [False, True])
def test_weight_two_equals_repeated_row(solver, thin):
    X, y = rows(d=30)
    X = np.where(np.abs(X) > 1.2, X, 0.0)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    make = sparse.csr_array if thin else np.asarray
    one = Lasso(alpha=0.05, solver=solver, tol=1e-11).fit(make(X), y, w)
    two = Lasso(alpha=0.05, solver=solver, tol=1e-11).fit(
        make(np.repeat(X, w, axis=0)), np.repeat(y, w)
    )
    assert_allclose(one.coef_, two.coef_, atol=1e-6)
    assert one.n_rows_ == len(w)


def test_parts_files_and_dask_give_the_same(tmp_path):
    X, y = rows(n=500)
    whole = Lasso(alpha=0.1).fit(X, y)
    parts = Lasso(alpha=0.1).partial_fit(X[:123], y[:123]).partial_fit(X[123:], y[123:])
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    filed = Lasso(alpha=0.1).fit(
        scan(str(tmp_path / "rows.parquet"), target="y", memory=0)
    )
    spread = Lasso(alpha=0.1).fit(
        da.from_array(X, chunks=(77, -1)), da.from_array(y, chunks=77)
    )
    for other in (parts, filed, spread):
        assert_allclose(other.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_thread_and_two_give_the_same_bits(solver):
    X, y = rows(n=60, d=1000)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(Lasso(alpha=0.05, solver=solver).fit(X, y).coef_)
    assert_array_equal(*found)


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_is_computed_in_double(solver):
    X, y = rows()
    X = X.astype(np.float32)
    single = Lasso(alpha=0.1, solver=solver).fit(X, y)
    double = Lasso(alpha=0.1, solver=solver).fit(X.astype(np.float64), y)
    # rounded once, at the end
    assert_allclose(single.coef_, double.coef_, rtol=np.finfo(np.float32).eps)
    assert_allclose(single.dual_gap_, double.dual_gap_, rtol=1e-6, atol=1e-15)


# -- paths -----------------------------------------------------------------------------


@pytest.mark.syllabus("7.2.2")
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_path_is_the_single_fits(solver):
    X, y = rows(n=50, d=90)
    path = elastic_net_path(
        X, y, l1_ratio=0.8, alphas=12, eps=0.01, solver=solver, tol=1e-10
    )
    assert path.coefs.shape == (12, 90)
    assert not path.coefs[0].any()
    assert (np.diff(path.alphas) < 0).all()
    for alpha, coef, intercept in list(zip(path.alphas, path.coefs, path.intercepts))[
        3::4
    ]:
        one = ElasticNet(alpha=alpha, l1_ratio=0.8, tol=1e-10).fit(X, y)
        assert_allclose(coef, one.coef_, atol=1e-4)
        assert_allclose(intercept, one.intercept_, atol=1e-4)
    assert (path.dual_gaps <= 1e-10 * y.var()).all()


def test_a_path_takes_any_order_of_alphas_and_sparse_rows():
    X, y = rows(n=60, d=40)
    X = np.where(np.abs(X) > 1.3, X, 0.0)
    up = lasso_path(
        sparse.csc_array(X), y, alphas=[0.01, 0.1, 0.5], solver="columns", tol=1e-9
    )
    down = lasso_path(X, y, alphas=[0.5, 0.1, 0.01], solver="gram", tol=1e-9)
    assert_array_equal(up.alphas, down.alphas)
    assert_allclose(up.coefs, down.coefs, atol=1e-4)
    assert_array_equal(up.n_nonzero, np.count_nonzero(up.coefs, axis=1))


def test_more_chosen_columns_than_twice_the_rows_are_solved_on_columns(monkeypatch):
    X, y = rows(n=8, d=200)
    monkeypatch.setattr("lyceum._core.solvers.column_elastic_net._SMALL", 1)
    few = ElasticNet(
        alpha=0.5, l1_ratio=0.02, solver="columns", tol=1e-10, max_iter=100_000
    ).fit(X, y)
    assert np.count_nonzero(few.coef_) > 16
    assert optimality(few, X, y, l1_ratio=0.02) < 1e-5


# -- errors ----------------------------------------------------------------------------


def test_too_few_epochs_are_reported():
    X, y = rows(n=100, d=60, correlated=3.0)
    for solver in SOLVERS:
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            model = Lasso(alpha=1e-4, max_iter=1, tol=1e-12, solver=solver).fit(X, y)
        assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="alphas, first at"):
        lasso_path(X, y, max_iter=1, tol=1e-12, alphas=5)


def test_what_columns_cannot_do_is_refused(tmp_path):
    X, y = rows()
    with pytest.raises(SettingError, match="l1 penalty"):
        ElasticNet(l1_ratio=0.0, solver="columns").fit(X, y)
    pd.DataFrame(X).rename(columns=str).assign(y=y).to_parquet(
        tmp_path / "rows.parquet"
    )
    with pytest.raises(SettingError, match="in memory"):
        Lasso(solver="columns").fit(
            scan(str(tmp_path / "rows.parquet"), target="y", memory=0)
        )
    with pytest.raises(DataError, match="kept no statistic"):
        Lasso(solver="columns").fit(X, y).partial_fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio > 0"):
        elastic_net_path(X, y, l1_ratio=0.0)
    with pytest.raises(ValueError, match="positive"):
        lasso_path(X, y, alphas=[0.1, -1.0])


def test_a_warm_start_goes_on_from_the_last_fit():
    X, y = rows(n=200, d=50, correlated=2.0)
    cold = Lasso(alpha=0.01, tol=1e-10).fit(X, y)
    warm = (
        Lasso(alpha=0.0101, tol=1e-10, warm_start=True)
        .fit(X, y)
        .set_params(alpha=0.01)
        .fit(X, y)
    )
    assert warm.n_iter_ < cold.n_iter_
    assert_allclose(warm.coef_, cold.coef_, atol=1e-4)


def test_summary_and_explanation():
    X, y = rows()
    model = Lasso(alpha=0.2).fit(X, y)
    for word in ("duality gap", "coefficients not zero", "(intercept)", "Lasso of y"):
        assert word in str(model.summary())
    assert_allclose(model.explain(X).scores, model.predict(X), rtol=1e-9)
