"""Linear regression against statsmodels, NumPy's SVD, closed forms, and the laws of the
statistic."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone

from lyceum import scan
from lyceum.errors import MissingValuesError
from lyceum.evaluate import degrees_of_freedom, information_criteria
from lyceum.linear import LinearRegression

RankWarning = np.exceptions.RankWarning


def rows(seed=0, n=200, d=4, offset=0.0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(offset, 1, (n, d)) * 10.0 ** np.arange(d)
    return X, (X - offset) @ (
        np.arange(1, d + 1) / 10.0 ** np.arange(d)
    ) + 3 + noise * rng.normal(size=n)


@pytest.mark.syllabus("7.1.5")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_inference_is_that_of_statsmodels(fit_intercept, weighted):
    X, y = rows()
    w = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    design = sm.add_constant(X) if fit_intercept else X
    theirs = (sm.OLS(y, design) if w is None else sm.WLS(y, design, w)).fit()
    first = int(fit_intercept)
    assert_allclose(ours.coef_, theirs.params[first:], rtol=1e-10)
    assert_allclose(ours.standard_errors_, theirs.bse[first:], rtol=1e-9)
    assert_allclose(ours.t_, theirs.tvalues[first:], rtol=1e-8)
    assert_allclose(ours.p_, theirs.pvalues[first:], rtol=1e-6, atol=1e-300)
    assert_allclose(
        ours.covariance_, theirs.cov_params()[first:, first:], rtol=1e-7, atol=1e-16
    )
    assert_allclose(
        ours.confidence_interval(0.9), theirs.conf_int(0.1)[first:], rtol=1e-8
    )
    assert_allclose(
        [ours.r2_, ours.adjusted_r2_],
        [theirs.rsquared, theirs.rsquared_adj],
        rtol=1e-10,
    )
    assert_allclose([ours.f_, ours.sigma_**2], [theirs.fvalue, theirs.scale], rtol=1e-9)
    assert_allclose(ours.f_p_, theirs.f_pvalue, rtol=1e-6, atol=1e-300)
    assert (ours.df_model_, ours.df_residual_) == (theirs.df_model, theirs.df_resid)
    shift = 0.0 if w is None else 0.5 * np.log(w).sum()
    assert_allclose(ours.log_likelihood_ + shift, theirs.llf, rtol=1e-10)
    if fit_intercept:
        assert_allclose(ours.intercept_, theirs.params[0], rtol=1e-9)
        assert_allclose(ours.intercept_standard_error_, theirs.bse[0], rtol=1e-9)


@pytest.mark.syllabus("7.1")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_prediction_intervals_are_those_of_statsmodels(fit_intercept):
    X, y = rows()
    new = X[:7] * 1.3
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    design = (
        partial(sm.add_constant, has_constant="add") if fit_intercept else np.asarray
    )
    frame = (
        sm.OLS(y, design(X)).fit().get_prediction(design(new)).summary_frame(alpha=0.2)
    )
    assert_allclose(
        ours.predict_interval(new, 0.8),
        frame[["obs_ci_lower", "obs_ci_upper"]],
        rtol=1e-9,
    )
    assert_allclose(
        ours.predict_interval(new, 0.8, of="mean"),
        frame[["mean_ci_lower", "mean_ci_upper"]],
        rtol=1e-9,
    )


@pytest.mark.syllabus("7.1")
def test_simple_regression_is_covariance_over_variance():
    x, y = np.random.default_rng(3).normal(size=(2, 50))
    model = LinearRegression().fit(x[:, None], y)
    slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    assert_allclose(model.coef_, [slope], rtol=1e-13)
    assert_allclose(model.intercept_, y.mean() - slope * x.mean(), rtol=1e-12)
    assert_allclose(model.p_[0], stats.linregress(x, y).pvalue, rtol=1e-10)


@given(st.integers(0, 10_000), st.integers(1, 6), st.booleans())
def test_residuals_are_orthogonal_to_every_column(seed, d, fit_intercept):
    X, y = rows(seed, n=40, d=d)
    w = np.random.default_rng(seed).uniform(0, 2, len(y))
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    r = w * (y - model.predict(X))
    scale = np.abs(y).max() * w.sum()
    assert_allclose(r @ X / np.abs(X).max(axis=0), 0, atol=1e-11 * scale)
    if fit_intercept:
        assert abs(r.sum()) < 1e-11 * scale
    assert_allclose(model.residual_sum_, r @ (y - model.predict(X)), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_offset_of_a_million_costs_no_digits(dtype):
    rng = np.random.default_rng(5)
    X = (1e6 + rng.integers(-50, 50, (3000, 5))).astype(dtype)
    centered = X.astype(np.float64) - 1e6
    y = 1e6 + centered @ [1.0, -2, 3, 0.5, 0] + rng.normal(size=3000)
    want = np.linalg.lstsq(
        np.column_stack([centered, np.ones(3000)]), y - 1e6, rcond=None
    )[0]
    model = LinearRegression().fit(X, y)
    assert_allclose(model.coef_, want[:-1], rtol=1e-10, atol=1e-11)
    assert_allclose(
        model.predict(X[:50]), centered[:50] @ want[:-1] + want[-1] + 1e6, rtol=1e-12
    )


@pytest.mark.parametrize("condition", [1e3, 1e5, 1e6])
def test_ill_conditioned_columns_keep_the_digits_that_qr_keeps(condition):
    rng = np.random.default_rng(6)
    base = rng.normal(size=(1500, 3))
    X = np.column_stack(
        [base, base[:, 0] + base[:, 1] + rng.normal(size=1500) / condition]
    )
    truth = np.array([1.0, 2.0, 3.0, 4.0])
    y = X @ truth + 0.5
    model = LinearRegression().fit(X, y)
    assert model.rank_ == 4
    assert_allclose(model.coef_, truth, rtol=1e-14 * condition**1.2)
    noisy = y + rng.normal(size=1500)
    want = np.linalg.lstsq(np.column_stack([X, np.ones(1500)]), noisy, rcond=None)[0][
        :-1
    ]
    assert_allclose(
        LinearRegression().fit(X, noisy).coef_, want, rtol=1e-14 * condition**1.2
    )


def test_dependent_columns_are_named_and_the_norm_is_least():
    X, y = rows(d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["sum"] = frame["a"] + 2 * frame["b"]
    with pytest.warns(
        RankWarning, match=r"columns 'a', 'b', 'sum' depend linearly .*rank 3 of 4"
    ):
        model = LinearRegression().fit(frame, y)
    centered = frame.to_numpy() - frame.to_numpy().mean(axis=0)
    assert_allclose(model.coef_, np.linalg.pinv(centered) @ (y - y.mean()), rtol=1e-9)
    assert_allclose(
        model.predict(frame), LinearRegression().fit(X, y).predict(X), rtol=1e-9
    )
    assert model.df_residual_ == len(y) - 4
    assert "1 of 4 coefficients; the solution of least norm" in str(model.summary())


@pytest.mark.parametrize("value", [0.0, 7.0, 1e6 / 3])
def test_constant_column_is_named_and_has_no_part(value):
    X, y = rows(d=2)
    with pytest.warns(RankWarning, match=r"column 'x2' never varies"):
        model = LinearRegression().fit(np.column_stack([X, np.full(len(y), value)]), y)
    assert_allclose(model.coef_, [*LinearRegression().fit(X, y).coef_, 0.0], rtol=1e-10)


def test_more_columns_than_rows_gives_the_solution_of_least_norm():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(6, 15)), rng.normal(size=6)
    with pytest.warns(
        RankWarning, match="6 rows cannot determine the coefficients of 15 columns"
    ):
        model = LinearRegression().fit(X, y)
    assert_allclose(model.predict(X), y, atol=1e-10)
    assert_allclose(
        model.coef_,
        np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean()),
        rtol=1e-8,
        atol=1e-12,
    )


def test_one_row_predicts_its_target():
    with pytest.warns(RankWarning):
        model = LinearRegression().fit([[1.0, 2.0]], [5.0])
    assert model.predict([[9.0, 9.0]]) == [5.0]
    assert np.isnan(model.standard_errors_).all()
    str(model.summary())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weight_two_equals_repeated_row_but_not_twice_the_evidence(fit_intercept):
    X, y = rows(n=60)
    w = np.random.default_rng(2).integers(0, 4, 60)
    weighted = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    repeated = LinearRegression(fit_intercept=fit_intercept).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    dropped = LinearRegression(fit_intercept=fit_intercept).fit(
        X[w > 0], y[w > 0], w[w > 0]
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    assert_allclose(weighted.r2_, repeated.r2_, rtol=1e-10)
    assert_allclose(weighted.standard_errors_, dropped.standard_errors_, rtol=1e-10)


def test_any_chunking_file_and_dask_give_the_same(tmp_path):
    da = pytest.importorskip("dask.array")
    X, y = rows(n=30_000, offset=1e3)
    whole = LinearRegression().fit(X, y)
    parts = LinearRegression()
    for part in np.array_split(np.arange(len(y)), [1, 700, 9000]):
        parts.partial_fit(X[part], y[part])
    names = ["a", "b", "c", "d"]
    table = pa.table({**dict(zip(names, X.T)), "y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=7000)
    streamed = LinearRegression().fit(
        scan(tmp_path / "rows.parquet", target="y", memory=0)
    )
    dasked = LinearRegression().fit(
        da.from_array(X, chunks=(8000, 4)), da.from_array(y, chunks=8000)
    )
    for other in (parts, streamed, dasked):
        assert_allclose(other.coef_, whole.coef_, rtol=1e-11)
        assert_allclose(other.intercept_, whole.intercept_, rtol=1e-10)
        assert_allclose(other.standard_errors_, whole.standard_errors_, rtol=1e-10)


@pytest.mark.parametrize("density", [0.05, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_equals_dense(density, weighted):
    rng = np.random.default_rng(9)
    X = sparse.random_array((400, 6), density=density, random_state=rng, format="csr")
    X = sparse.hstack([X, 1e6 + rng.normal(size=(400, 1))], format="csr")
    y = 1e5 + X @ np.arange(7.0) + rng.normal(size=400)
    w = rng.uniform(0.1, 1, 400) if weighted else None
    here, there = (
        LinearRegression().fit(X, y, w),
        LinearRegression().fit(X.toarray(), y, w),
    )
    assert_allclose(here.coef_, there.coef_, rtol=1e-7)
    assert_allclose(here.standard_errors_, there.standard_errors_, rtol=1e-8)
    assert_allclose(here.predict(X), there.predict(X.toarray()), rtol=1e-11)
    assert_allclose(
        here.predict_interval(X), there.predict_interval(X.toarray()), rtol=1e-9
    )
    assert_allclose(
        here.explain(X).contributions,
        there.explain(X.toarray()).contributions,
        rtol=1e-6,
        atol=1e-9,
    )


def mixed(seed=0, n=300):
    rng = np.random.default_rng(seed)
    color = rng.choice(["blue", "green", "red"], n)
    x = rng.normal(size=n)
    y = (
        2 * x
        + np.select([color == "green", color == "red"], [1.0, -3.0])
        + 0.1 * rng.normal(size=n)
    )
    return pd.DataFrame({"color": pd.Categorical(color), "x": x}), y


def test_categories_enter_against_their_first():
    frame, y = mixed()
    model = LinearRegression().fit(frame, y)
    dummies = pd.get_dummies(frame, drop_first=True, dtype=float)[
        ["color_green", "color_red", "x"]
    ]
    assert model.design_names == ("color=green", "color=red", "x")
    assert_allclose(
        model.coef_, LinearRegression().fit(dummies.to_numpy(), y).coef_, rtol=1e-10
    )


def test_categories_may_come_later():
    frame, y = mixed()
    frame["color"] = frame["color"].astype(str)
    order = np.argsort(frame["color"].to_numpy() == "blue", kind="stable")
    first, rest = order[:120], order[120:]  # blue, the reference, comes last
    parts = (
        LinearRegression()
        .partial_fit(frame.iloc[first], y[first])
        .partial_fit(frame.iloc[rest], y[rest])
    )
    assert_allclose(parts.coef_, LinearRegression().fit(frame, y).coef_, rtol=1e-9)


def test_contributions_and_base_add_up_to_the_prediction():
    frame, y = mixed()
    model = LinearRegression().fit(frame, y)
    told = model.explain(frame.head(9))
    assert list(told.names) == ["color", "x"]
    assert_allclose(told.scores, model.predict(frame.head(9)), rtol=1e-10)
    assert_allclose(told.base, y.mean(), rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_cell_is_named(bad):
    X, y = rows()
    X[17, 2] = bad
    with pytest.raises(
        MissingValuesError,
        match=r"column 'x2' has .* in row 17, which LinearRegression cannot take",
    ):
        LinearRegression().fit(X, y)


def test_threads_do_not_change_a_bit():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    X, y = rows(n=40_000)
    two = LinearRegression().fit(X, y)
    with threadpoolctl.threadpool_limits(1):
        one = clone(two).fit(X, y)
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.standard_errors_, two.standard_errors_)


def test_summary_reads_like_a_coefficient_table():
    frame, y = mixed()
    text = str(LinearRegression().fit(frame, pd.Series(y, name="price")).summary())
    for word in (
        "LinearRegression of price",
        "adjusted R²",
        "std. error",
        "(intercept)",
        "color=red",
        "95% from",
    ):
        assert word in text


def test_bad_level_is_refused():
    model = LinearRegression().fit(*rows())
    with pytest.raises(ValueError, match="probability between 0 and 1"):
        model.confidence_interval(95)
    with pytest.raises(ValueError, match="choose 'row' or 'mean'"):
        model.predict_interval([[0.0] * 4], of="all")


@pytest.mark.syllabus("7.1")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_standardized_residuals_are_those_of_statsmodels(fit_intercept):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3)) + 5
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=40)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    theirs = sm.OLS(y, sm.add_constant(X) if fit_intercept else X).fit()
    assert_allclose(model.residuals(X, y), theirs.resid, atol=1e-9)
    ours = model.residuals(X, y, standardized=True)
    assert_allclose(ours, theirs.get_influence().resid_studentized_internal, rtol=1e-8)
    twice = LinearRegression(fit_intercept=fit_intercept).fit(X, y, np.full(40, 2.0))
    assert_allclose(
        twice.residuals(X, y, np.full(40, 2.0), standardized=True), ours, rtol=1e-8
    )


def test_the_criteria_of_the_summary_count_the_variance_as_evaluate_does():
    X, y = rows(n=30, d=2)
    model = LinearRegression().fit(X, y)
    known = information_criteria(model.log_likelihood_, degrees_of_freedom(model), 30)
    assert model.summary().facts["AIC, BIC"] == pytest.approx((known.aic, known.bic))


def test_a_summary_without_degrees_of_freedom_says_so():
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    assert "no degrees of freedom are left" in str(model.summary())
    assert "nan" not in str(model.summary())
