"""The residual checks against statsmodels and SciPy."""

import numpy as np
import pytest
from scipy import stats

from lyceum.linear import LinearRegression

sm = pytest.importorskip("statsmodels.api")
diagnostic = pytest.importorskip("statsmodels.stats.diagnostic")
tools = pytest.importorskip("statsmodels.stats.stattools")


@pytest.fixture(params=[False, True])
def rows(request):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)) + 5
    y = X @ [1.0, 2.0, -1.0] + rng.standard_t(3, 60) * X[:, 0]
    return X, y, rng.uniform(0.5, 2.0, 60) if request.param else np.ones(60)


@pytest.mark.syllabus("7.1.4")
def test_checks_are_those_of_statsmodels(rows):
    X, y, w = rows
    model = LinearRegression().fit(X, y, w)
    A = sm.add_constant(X)
    peer = sm.WLS(y, A, weights=w).fit()
    checks = model.residual_checks(X, y, w)
    r = peer.wresid
    assert checks.jarque_bera == pytest.approx(tools.jarque_bera(r)[0])
    assert checks.shapiro_wilk_p == pytest.approx(stats.shapiro(r)[1])
    assert checks.durbin_watson == pytest.approx(tools.durbin_watson(r))
    pagan = diagnostic.het_breuschpagan(r, sm.add_constant(peer.fittedvalues))
    assert checks.breusch_pagan == pytest.approx(pagan[0])
    assert checks.breusch_pagan_p == pytest.approx(pagan[1])
    root = np.sqrt(w)[:, None] * A
    hat = np.einsum("ij,jk,ik->i", root, np.linalg.inv(root.T @ root), root)
    np.testing.assert_allclose(model.leverages(X, w), hat, rtol=1e-10)
    assert hat.sum() == pytest.approx(4)
    np.testing.assert_allclose(
        checks.cook, r**2 * hat / (4 * peer.scale * (1 - hat) ** 2), rtol=1e-9
    )
    assert checks.high_leverage.tolist() == np.flatnonzero(hat > 8 / 60).tolist()
    assert "Breusch-Pagan" in str(checks)
    assert checks.as_dict()["durbin_watson"] == checks.durbin_watson


@pytest.mark.syllabus("7.1")
def test_the_intercept_has_t_and_p(rows):
    X, y, w = rows
    model, peer = (
        LinearRegression().fit(X, y, w),
        sm.WLS(y, sm.add_constant(X), weights=w).fit(),
    )
    assert model.intercept_t_ == pytest.approx(peer.tvalues[0])
    assert model.intercept_p_ == pytest.approx(peer.pvalues[0])


def test_zero_weight_rows_are_ignored_and_keep_the_numbers_of_the_others():
    X, y = (
        np.array([[9.0], [1.0], [2.0], [3.0], [4.0]]),
        np.array([0.0, 2.0, 4.0, 5.0, 8.0]),
    )
    w = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    checks = LinearRegression().fit(X, y, w).residual_checks(X, y, w)
    alone = LinearRegression().fit(X[1:], y[1:]).residual_checks(X[1:], y[1:])
    assert checks.durbin_watson == pytest.approx(alone.durbin_watson)
    np.testing.assert_allclose(checks.cook, [0.0, *alone.cook], rtol=1e-9)
    assert checks.influential.tolist() == (alone.influential + 1).tolist() == [4]


def test_leverage_needs_no_residuals():
    model = LinearRegression().fit(
        [[0.0], [1.0], [2.0], [9.0]], [1.0, 3.0, 5.0, 0.0], [1.0, 1.0, 1.0, 0.0]
    )
    np.testing.assert_allclose(
        model.leverages([[0.0], [1.0], [2.0]]), [5 / 6, 1 / 3, 5 / 6]
    )
