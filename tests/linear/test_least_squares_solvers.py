"""QR, gradient descent and the LMS rule against the closed form."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum import scan
from lyceum.linear import LinearRegression


@pytest.mark.parametrize(
    "settings",
    [{"solver": "qr"}, {"solver": "gradient_descent", "max_iter": 20_000, "tol": 1e-9}],
)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
def test_scikit_learns_checks(settings):
    obeys_scikit_learn(LinearRegression(**settings))


def rows(n=200, d=4, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 3][:d] + offset
    return X, X @ rng.normal(size=d) + 2 + rng.normal(size=n)


@pytest.mark.syllabus("7.1.2")
@pytest.mark.parametrize("solver", ["qr", "gradient_descent"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("thin", [False, True])
def test_all_ways_end_at_the_normal_equations(solver, fit_intercept, weighted, thin):
    X, y = rows(offset=1.0)
    w = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else None
    cells = sparse.csr_array(X) if thin else X
    plain = LinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    other = LinearRegression(
        solver=solver, fit_intercept=fit_intercept, max_iter=20_000, tol=1e-10
    )
    other.fit(cells, y, w)
    for name in ("coef_", "intercept_", "standard_errors_", "sigma_", "r2_"):
        assert_allclose(
            getattr(other, name), getattr(plain, name), rtol=1e-6, err_msg=name
        )
    assert other.converged_


@pytest.mark.syllabus("7.1")
def test_qr_keeps_the_digits_that_squaring_loses():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = np.column_stack([x, x + 1e-6 * rng.normal(size=300)])
    y = X @ [1.0, 2.0]
    by_qr = LinearRegression(solver="qr").fit(X, y)
    assert_allclose(by_qr.coef_, [1.0, 2.0], atol=1e-8)


@pytest.mark.syllabus("7.1")
def test_the_lms_rule_comes_near_the_closed_form_row_by_row():
    X, y = rows(n=2000)
    plain = LinearRegression().fit(X, y)
    lms = LinearRegression(solver="lms", learning_rate=0.02, max_iter=60, tol=1e-6).fit(
        X, y
    )
    assert_allclose(lms.predict(X), plain.predict(X), atol=0.1)
    assert lms.residual_sum_ <= plain.residual_sum_ * 1.001
    assert len(lms.history_) == lms.n_iter_ + 1
    u, z = np.zeros(2), np.column_stack([[-1.0, 1.0], [1.0, 1.0]])
    for row, target in zip(z, (-3.0, 3.0)):
        u = u + 0.1 * (target - u @ row) * row
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        one = LinearRegression(solver="lms", learning_rate=0.1, max_iter=1).fit(
            [[0.0], [2.0]], [1.0, 7.0]
        )
    assert_allclose(one.coef_, u[:1])
    assert_allclose(one.intercept_, 4.0 + u[1] - u[0])


def test_gradient_descent_goes_down_and_too_few_passes_are_reported():
    X, y = rows()
    model = LinearRegression(solver="gradient_descent").fit(X, y)
    assert (np.diff(model.history_) <= 0).all()
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        LinearRegression(solver="gradient_descent", max_iter=1, tol=1e-12).fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        LinearRegression(solver="lms", learning_rate=10.0).fit(X, y)


@pytest.mark.syllabus("7.1")
def test_the_slope_of_simple_regression_is_covariance_over_variance():
    X, y = rows(d=1)
    slope = np.cov(X[:, 0], y)[0, 1] / X[:, 0].var(ddof=1)
    for solver in ("normal", "qr", "gradient_descent"):
        model = LinearRegression(solver=solver, tol=1e-12).fit(X, y)
        assert_allclose(model.coef_, [slope], rtol=1e-8)
        assert_allclose(model.intercept_, y.mean() - slope * X.mean(), rtol=1e-7)


def test_triangles_of_parts_are_the_triangle_of_the_whole(tmp_path):
    X, y = rows(n=500)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=60)
    filed = LinearRegression(solver="qr").fit(
        scan(str(tmp_path / "rows.parquet"), target="y", memory=0)
    )
    whole = LinearRegression(solver="qr").fit(X, y)
    assert_allclose(filed.coef_, whole.coef_, rtol=1e-11)
    assert_allclose(filed.residual_sum_, whole.residual_sum_, rtol=1e-11)


@pytest.mark.parametrize(
    ("solver", "taken"),
    [("normal", "of least norm"), ("qr", "of least norm"), ("lms", "nearest to zero")],
)
def test_which_of_many_solutions_is_taken_is_said(solver, taken):
    X, y = rows(d=2)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(len(X), 4.0)])
    with pytest.warns(
        np.exceptions.RankWarning, match=f"'x3' never varies .* The solution {taken}"
    ):
        model = LinearRegression(solver=solver, tol=1e-4).fit(X, y)
    assert model.rank_ == 2
