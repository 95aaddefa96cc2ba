"""Fewer rows than columns: the dual or low-rank form gives what the matrix of all columns gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lyceum import load, save
from lyceum._core.probability import LowRankCovariance
from lyceum._core.statistics import ClassRowScatter, RowScatter, RowSpace
from lyceum._core.statistics.moments import row_scatter as _row_scatter
from lyceum.bayes import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminant,
)
from lyceum.data import scan
from lyceum.errors import SettingError
from lyceum.linear import LinearRegression, Ridge, RidgeCV

pytestmark = [
    pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning"),
    pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning"),
]
RNG = np.random.default_rng(4)
N, D = 18, 40
X = RNG.normal(3.0, 1.0, (N, D)) * RNG.uniform(0.5, 20.0, D)
X[:, 7] = 2.5  # a column that never varies
Y = X[:, 0] - 0.1 * X[:, 3] + RNG.normal(size=N)
LABELS = np.where(RNG.random(N) < 0.5, "a", "b")
LABELS[:3] = ["a", "b", "b"]
WEIGHTS = RNG.integers(0, 4, N).astype(float)


@pytest.fixture
def few(monkeypatch):
    """Any table with fewer rows than columns is wide."""

    def fit(learner, *data, **named):
        monkeypatch.setattr(_row_scatter, "_MANY_COLUMNS", 0)
        fitted = learner.fit(*data, **named)
        monkeypatch.undo()
        return fitted

    return fit


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("learner", [LinearRegression(), Ridge(0.5), Ridge(100.0)])
def test_least_squares_in_the_dual_is_that_of_all_columns(
    few, learner, fit_intercept, weights
):
    learner = learner.set_params(fit_intercept=fit_intercept)
    one = few(type(learner)(**learner.get_params()), X, Y, weights)
    two = type(learner)(**learner.get_params()).fit(X, Y, weights)
    assert isinstance(one.statistic_, RowScatter)
    assert_allclose(one.coef_, two.coef_, rtol=1e-6, atol=1e-9)
    for name in ("intercept_", "rank_", "residual_sum_"):
        assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-6, atol=1e-6)
    if hasattr(two, "effective_degrees_"):
        assert_allclose(one.effective_degrees_, two.effective_degrees_, rtol=1e-8)
    assert_allclose(one.predict(X), two.predict(X), rtol=1e-8)
    assert str(one.summary()).splitlines()[0] == str(two.summary()).splitlines()[0]


def test_least_norm_is_that_of_the_pseudo_inverse(few):
    centered = X - X.mean(axis=0)
    coef = np.linalg.pinv(centered) @ (Y - Y.mean())
    assert_allclose(few(LinearRegression(), X, Y).coef_, coef, rtol=1e-7, atol=1e-10)


def test_inference_of_rows_that_repeat_is_that_of_all_columns(few):
    twice, y = (
        np.vstack([X[:6], X[:6]]),
        np.concatenate([Y[:6], Y[:6] + RNG.normal(size=6)]),
    )
    one, two = few(LinearRegression(), twice, y), LinearRegression().fit(twice, y)
    assert one.df_residual_ == two.df_residual_ == 6
    assert not hasattr(one, "covariance_")
    assert_allclose(one.standard_errors_, two.standard_errors_, rtol=1e-6, atol=1e-12)
    assert_allclose(
        one.intercept_standard_error_, two.intercept_standard_error_, rtol=1e-6
    )
    assert_allclose(one.leverages(twice), two.leverages(twice), rtol=1e-6)
    assert_allclose(one.predict_interval(twice), two.predict_interval(twice), rtol=1e-6)


def test_more_rows_may_follow_and_the_model_is_kept(few, tmp_path):
    model = few(Ridge(2.0), X[:10], Y[:10]).partial_fit(X[10:], Y[10:])
    assert_allclose(model.coef_, Ridge(2.0).fit(X, Y).coef_, rtol=1e-8, atol=1e-12)
    save(model, tmp_path / "model.lyceum")
    assert_allclose(
        load(tmp_path / "model.lyceum").predict(X), model.predict(X), rtol=0
    )


def test_sparse_rows_and_scanned_rows_are_the_same(few):
    holes = np.where(RNG.random(X.shape) < 0.8, 0.0, X)
    one = few(Ridge(1.0), holes, Y)
    assert_allclose(
        few(Ridge(1.0), sparse.csr_array(holes), Y).coef_,
        one.coef_,
        rtol=1e-9,
        atol=1e-12,
    )
    table = scan(np.column_stack([holes, Y]), target=f"x{D}")
    assert_allclose(few(Ridge(1.0), table).coef_, one.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_cross_validated_ridge_in_the_space_of_the_rows_is_that_of_all_columns(
    few, fit_intercept, weights
):
    settings = {
        "alphas": [1e-2, 1.0, 1e2, 1e4],
        "fit_intercept": fit_intercept,
        "random_state": 0,
        "cv": 4,
    }
    one, two = (
        few(RidgeCV(**settings), X, Y, weights),
        RidgeCV(**settings).fit(X, Y, weights),
    )
    assert one.alpha_ == two.alpha_
    assert_allclose(one.mse_path_, two.mse_path_, rtol=1e-6)
    assert_allclose(one.coef_, two.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose([one.intercept_, one.r2_], [two.intercept_, two.r2_], rtol=1e-6)
    assert_allclose(one.mean_, two.mean_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    "learner",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(unbiased=True, priors="uniform"),
        QuadraticDiscriminantAnalysis(),
        RegularizedDiscriminant(alpha=0.3, gamma=0.2),
        RegularizedDiscriminant(alpha=0.0, gamma=0.0),
        RegularizedDiscriminant(alpha=1.0, gamma=1.0, pooling="convex"),
        RegularizedDiscriminant(
            alpha=0.4, gamma=0.3, pooling="convex", shrinkage="diagonal", unbiased=True
        ),
    ],
)
def test_discriminants_of_few_rows_are_those_of_all_columns(
    few, learner, weights, tmp_path
):
    settings, new = learner.get_params(), X + RNG.normal(0, 0.3, X.shape)
    one = few(type(learner)(**settings), X, LABELS, weights)
    two = type(learner)(**settings).fit(X, LABELS, weights)
    assert isinstance(one.statistic_, ClassRowScatter)
    assert_allclose(
        one.predict_joint_log_proba(new), two.predict_joint_log_proba(new), rtol=2e-5
    )
    assert_allclose(
        one.decision_function(new), two.decision_function(new), rtol=1e-4, atol=1e-3
    )
    parts = one.explain(new[:3])
    assert_allclose(
        parts.contributions, two.explain(new[:3]).contributions, rtol=1e-3, atol=1e-2
    )
    save(one, tmp_path / "model.lyceum")
    kept = load(tmp_path / "model.lyceum")
    assert_allclose(kept.predict_proba(new), one.predict_proba(new), rtol=0)


def test_shrinkage_is_cross_validated_in_the_space_of_the_rows(few):
    settings = {
        "alpha": [0.0, 0.5, 1.0],
        "gamma": [0.0, 0.3, 1.0],
        "cv": 3,
        "random_state": 1,
    }
    live = np.delete(X, 7, axis=1)
    one = few(RegularizedDiscriminant(**settings), live, LABELS)
    two = RegularizedDiscriminant(**settings).fit(live, LABELS)
    assert_allclose(one.scores_, two.scores_, rtol=1e-5)
    assert (one.alpha_, one.gamma_) == (two.alpha_, two.gamma_)
    with pytest.raises(SettingError, match="give numbers for both"):
        few(RegularizedDiscriminant(shrinkage="diagonal"), X, LABELS)


def test_more_rows_of_more_classes_may_follow(few):
    model = few(LinearDiscriminantAnalysis(), X[:12], LABELS[:12])
    model.partial_fit(X[12:], np.where(LABELS[12:] == "a", "a", "c"))
    labels = np.concatenate([LABELS[:12], np.where(LABELS[12:] == "a", "a", "c")])
    whole = LinearDiscriminantAnalysis().fit(X, labels)
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-6)


def test_a_low_rank_covariance_solves_what_its_matrix_solves():
    covariance = LowRankCovariance.of(RNG.uniform(0.5, 2.0, D), RNG.normal(size=(6, D)))
    dense, Z = covariance.toarray(), RNG.normal(size=(5, D))
    assert_allclose(covariance.solve(Z), np.linalg.solve(dense, Z.T).T, rtol=1e-9)
    assert_allclose(
        covariance.squared_distances(Z),
        (Z * np.linalg.solve(dense, Z.T).T).sum(axis=1),
        rtol=1e-9,
    )
    assert_allclose(covariance.log_det, np.linalg.slogdet(dense)[1], rtol=1e-12)


def test_the_space_of_the_rows_keeps_distances():
    space = RowSpace.of(scan(X), "a test")
    T = space.rows.in_one_block("a test", "").X
    assert_allclose(T @ T.T, (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T, atol=1e-8)
    assert_allclose(space.mean + space.columns_of(T), X, rtol=1e-9)
    assert space.beyond == D - 1 - (N - 1)


def test_wide_tables_need_no_matrix_of_all_columns():
    wide = np.random.default_rng(0).normal(size=(30, 20_000)).astype(np.float32)
    wide[:15, :40] += 1.0
    y = np.arange(30) < 15
    assert LinearDiscriminantAnalysis().fit(wide, y).score(wide, y) == 1.0
    assert QuadraticDiscriminantAnalysis().fit(wide, y).score(wide, y) == 1.0
    assert (
        RegularizedDiscriminant(alpha=0.5, gamma=0.5).fit(wide, y).score(wide, y) == 1.0
    )
    assert Ridge(1.0).fit(wide, y.astype(float)).r2_ > 0.99
    assert LinearRegression().fit(wide, y.astype(float)).r2_ > 1 - 1e-9
