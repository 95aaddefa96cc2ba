"""Logistic regression against scikit-learn, statsmodels, finite differences, and the laws of
rows."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Reference
from tests.checks.scikit_learn import obeys_scikit_learn
from tests.linear.logistic_cases import objective, rows

from lyceum import scan
from lyceum.errors import MissingValuesError, SettingError
from lyceum.linear import LogisticRegression


def test_scikit_learns_checks():
    obeys_scikit_learn(LogisticRegression(solver="lbfgs", class_weight="balanced"))


@cache
def reference(K, fit_intercept, C):
    """Rows, their weights, and the fit of scikit-learn."""
    X, y = rows(K, offset=2.0)
    w = np.random.default_rng(1).uniform(0, 2, len(y))
    model = Reference(
        solver="newton-cholesky", fit_intercept=fit_intercept, C=C, tol=1e-10
    )
    return X, y, w, model.fit(X, y, w)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("solver", ["irls", "levenberg_marquardt", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_objective_is_at_most_that_of_scikit_learn(K, solver, fit_intercept, C):
    X, y, w, theirs = reference(K, fit_intercept, C)
    ours = LogisticRegression(solver=solver, fit_intercept=fit_intercept, C=C).fit(
        X, y, w
    )
    best = objective(theirs.coef_, theirs.intercept_, X, y, C, w)
    assert objective(ours.coef_, ours.intercept_, X, y, C, w) <= best * (1 + 1e-8)
    assert_allclose(ours.objective_, best, rtol=1e-8)
    assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert_allclose(
        ours.decision_function(X),
        X @ ours.coef_.T.squeeze() + ours.intercept_,
        rtol=1e-12,
    )


@pytest.mark.syllabus("7.4")
@given(
    st.integers(0, 10_000),
    st.sampled_from([2, 3, 4]),
    st.sampled_from(["irls", "lbfgs"]),
    st.booleans(),
)
def test_slope_in_every_direction_is_zero_at_the_optimum(
    seed, K, solver, fit_intercept
):
    X, y = rows(K, n=80, d=3, seed=seed)
    if len(np.unique(y)) < K:
        return
    model = LogisticRegression(
        solver=solver, fit_intercept=fit_intercept, tol=1e-10
    ).fit(X, y)
    rng = np.random.default_rng(seed)
    a, b = (
        rng.normal(size=model.coef_.shape),
        rng.normal(size=model.intercept_.shape) * fit_intercept,
    )
    h = 1e-4
    up = objective(model.coef_ + h * a, model.intercept_ + h * b, X, y)
    down = objective(model.coef_ - h * a, model.intercept_ - h * b, X, y)
    assert abs(up - down) / (2 * h) < 1e-5 * len(y)
    assert up + down >= 2 * model.objective_ - 1e-9


@pytest.mark.syllabus("7.4")
def test_maximum_likelihood_and_errors_are_those_of_statsmodels():
    X, y = rows(offset=5.0)
    ours = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    assert_allclose(ours.coef_[0], theirs.params[1:], rtol=1e-8)
    assert_allclose(ours.intercept_[0], theirs.params[0], rtol=1e-8)
    assert_allclose(ours.standard_errors_[0], theirs.bse[1:], rtol=1e-7)
    assert_allclose(ours.intercept_standard_error_[0], theirs.bse[0], rtol=1e-7)
    assert_allclose(ours.z_[0], theirs.tvalues[1:], rtol=1e-7)
    assert_allclose(ours.p_[0], theirs.pvalues[1:], rtol=1e-5)
    assert_allclose(
        ours.confidence_interval(0.9)[0], theirs.conf_int(0.1)[1:], rtol=1e-7
    )
    assert_allclose(
        [ours.log_likelihood_, ours.null_log_likelihood_],
        [theirs.llf, theirs.llnull],
        rtol=1e-10,
    )


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_softmax_against_a_reference_class_is_that_of_statsmodels(solver):
    X, y = rows(3, offset=5.0)
    ours = LogisticRegression(C=np.inf, tol=1e-9, solver=solver).fit(X, y)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12, method="newton")
    table = pd.DataFrame(ours.log_odds(0).rows, columns=ours.log_odds(0).columns)
    for k in (1, 2):
        mine = table[table["class"] == str(k)]
        order = [4, 0, 1, 2, 3]  # statsmodels has the constant first
        assert_allclose(
            mine["log-odds"].to_numpy()[order], theirs.params[:, k - 1], rtol=1e-6
        )
        assert_allclose(
            mine["std. error"].to_numpy()[order], theirs.bse[:, k - 1], rtol=1e-6
        )
    assert_allclose(ours.coef_.sum(axis=0), 0, atol=1e-9)
    assert_allclose(ours.log_likelihood_, theirs.llf, rtol=1e-10)


@pytest.mark.parametrize("K", [2, 3])
def test_covariance_is_the_inverse_of_the_curvature(K):
    X, y = rows(K, d=2)
    model = LogisticRegression(C=0.5, tol=1e-9).fit(X, y)
    theta = np.column_stack([model.coef_, model.intercept_])
    f = lambda t: objective(t[:, :-1], t[:, -1], X, y, 0.5)  # noqa: E731
    size, h = theta.size, 1e-3
    steps = [h * e.reshape(theta.shape) for e in np.eye(size)]
    H = np.array(
        [
            [
                f(theta + a + b)
                - f(theta + a - b)
                - f(theta - a + b)
                + f(theta - a - b)
                for a in steps
            ]
            for b in steps
        ]
    )
    H /= 4 * h * h
    basis = np.eye(size)
    if K == 3:  # stay where the classes sum to zero
        basis = np.kron(
            np.linalg.qr(np.array([[1.0, 1], [-1, 1], [0, -2]]))[0], np.eye(3)
        )
    want = basis @ np.linalg.inv(basis.T @ H @ basis) @ basis.T
    assert_allclose(model.covariance_, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_offset_of_a_million_costs_no_digits(K, dtype):
    X, y = rows(K)
    X = np.round(X * 8)
    near = LogisticRegression(tol=1e-9).fit(X, y)
    far = LogisticRegression(tol=1e-9).fit((X + 1e6).astype(dtype), y)
    assert_allclose(far.coef_, near.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(far.standard_errors_, near.standard_errors_, rtol=1e-7)
    assert_allclose(
        far.predict_proba((X + 1e6).astype(dtype)), near.predict_proba(X), atol=1e-6
    )


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_units_of_columns_do_not_matter_without_a_penalty(K, solver):
    X, y = rows(K)
    units = 10.0 ** np.array([-6, 0, 3, 8])
    one = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    other = LogisticRegression(C=np.inf, solver=solver).fit(X * units, y)
    assert one.n_iter_ == other.n_iter_ < 40
    assert_allclose(other.coef_ * units, one.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}])
def test_weight_two_equals_repeated_row(K, class_weight):
    X, y = rows(K, n=150)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = LogisticRegression(class_weight=class_weight, tol=1e-9).fit(X, y, w)
    repeated = LogisticRegression(class_weight=class_weight, tol=1e-9).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(weighted.standard_errors_, repeated.standard_errors_, rtol=1e-7)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_class_weights_are_those_of_scikit_learn(class_weight):
    X, y = rows(3)
    ours = LogisticRegression(class_weight=class_weight, tol=1e-8).fit(X, y)
    theirs = Reference(
        class_weight=class_weight, tol=1e-10, solver="newton-cholesky"
    ).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_unknown_class_in_class_weight_is_refused():
    X, y = rows()
    with pytest.raises(
        SettingError, match=r"class_weight names the class 7; the classes are \[0, 1\]"
    ):
        LogisticRegression(class_weight={7: 2.0}).fit(X, y)


@pytest.mark.parametrize("K", [2, 3])
def test_any_chunking_file_and_dask_give_the_same(K, tmp_path):
    da = pytest.importorskip("dask.array")
    X, y = rows(K, n=20_000, offset=100)
    whole = LogisticRegression(tol=1e-9).fit(X, y)
    table = pa.table({**dict(zip("abcd", X.T)), "y": pa.array(y).cast(pa.string())})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=7000)
    streamed = LogisticRegression(tol=1e-9).fit(
        scan(tmp_path / "rows.parquet", target="y", memory=0)
    )
    dasked = LogisticRegression(tol=1e-9).fit(
        da.from_array(X, chunks=(6500, 4)), da.from_array(y, chunks=6500)
    )
    for other in (streamed, dasked):
        assert_allclose(other.coef_, whole.coef_, rtol=1e-7, atol=1e-9)
        assert_allclose(other.standard_errors_, whole.standard_errors_, rtol=1e-7)


def test_threads_do_not_change_a_bit():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    for K in (2, 3):
        X, y = rows(K, n=40_000)
        two = LogisticRegression().fit(X, y)
        with threadpoolctl.threadpool_limits(1):
            one = clone(two).fit(X, y)
        assert_array_equal(one.coef_, two.coef_)
        assert_array_equal(one.standard_errors_, two.standard_errors_)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_equals_dense(K, solver, fit_intercept):
    X, y = rows(K)
    X[:, :3][np.abs(X[:, :3]) < 1.0] = 0
    X[:, 3] += 1e3 * fit_intercept  # a column without a gap
    w = np.random.default_rng(3).uniform(0, 2, len(y))
    model = LogisticRegression(solver=solver, fit_intercept=fit_intercept, tol=1e-9)
    dense, thin = clone(model).fit(X, y, w), clone(model).fit(sparse.csr_array(X), y, w)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(thin.standard_errors_, dense.standard_errors_, rtol=1e-6)
    assert_allclose(
        thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-7
    )
    assert_allclose(
        thin.explain(sparse.csr_array(X)).scores, dense.explain(X).scores, atol=1e-6
    )


@pytest.mark.parametrize("K", [2, 3])
def test_wide_sparse_rows_need_no_square_matrix(K):
    rng = np.random.default_rng(5)
    X = sparse.random_array((300, 3000), density=0.01, random_state=rng, format="csr")
    y = (X[:, :K].toarray() + 0.1 * rng.normal(size=(300, K))).argmax(axis=1)
    ours = LogisticRegression().fit(X, y)
    theirs = Reference(tol=1e-8, max_iter=1000).fit(X, y)
    assert not hasattr(ours, "standard_errors_")
    assert ours.objective_ <= objective(theirs.coef_, theirs.intercept_, X, y) * (
        1 + 1e-8
    )
    X.data[77] = np.nan
    with pytest.raises(MissingValuesError, match="missing value"):
        LogisticRegression().fit(X, y)
