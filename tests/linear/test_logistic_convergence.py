"""Logistic regression: separable classes, convergence, and what it tells."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from tests.linear.logistic_cases import objective, rows

from lyceum.errors import MissingValuesError
from lyceum.linear import LogisticRegression

# -- separation, one class, convergence ------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_separable_classes_are_reported_when_nothing_holds_the_coefficients(K, solver):
    x = np.linspace(0, 1, 60)
    y = np.minimum((x * K).astype(int), K - 1)
    with pytest.warns(ConvergenceWarning, match="separated .* give a finite C"):
        model = LogisticRegression(C=np.inf, solver=solver).fit(x[:, None], y)
    assert model.separated_
    assert_array_equal(model.predict(x[:, None]), y)
    assert "separated" in str(model.summary())
    assert not LogisticRegression(C=1e3, max_iter=1000).fit(x[:, None], y).separated_


def test_partly_separable_classes_are_reported():
    X, y = rows(n=300)
    flag = np.zeros(300)
    flag[np.flatnonzero(y)[:10]] = 1.0  # a flag that only ones have
    with pytest.warns(ConvergenceWarning, match="separated"):
        model = LogisticRegression(C=np.inf).fit(np.column_stack([X, flag]), y)
    assert model.separated_
    assert not LogisticRegression(C=np.inf).fit(X, y).separated_


def test_dependent_columns_are_named_without_a_penalty():
    X, y = rows()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(
        np.exceptions.RankWarning, match=r"columns 'x0', 'x1', 'x4' depend linearly"
    ):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(
        model.predict_proba(X),
        LogisticRegression(C=np.inf).fit(X[:, :4], y).predict_proba(X[:, :4]),
        atol=1e-6,
    )


def test_one_class_has_probability_one():
    model = LogisticRegression().fit([[0.0], [1.0]], ["only", "only"])
    assert model.predict([[5.0]]) == ["only"]
    assert model.predict_proba([[5.0]]) == [[1.0]]
    str(model.summary())


@pytest.mark.parametrize("K", [2, 3])
def test_class_without_weight_is_never_predicted(K):
    X, y = rows(K)
    model = LogisticRegression().fit(X, y, (y != 0).astype(float))
    assert model.predict_proba(X)[:, 0].max() < 1e-6


@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_stopping_early_is_reported_with_a_remedy(solver):
    X, y = rows(3, strength=5.0)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=1 iterations .* raise max_iter"
    ):
        model = LogisticRegression(max_iter=1, solver=solver).fit(X, y)
    assert not model.converged_


def test_constant_columns_get_no_coefficient():
    X, y = rows()
    model = LogisticRegression().fit(np.column_stack([X, np.full(len(y), 1e6)]), y)
    assert_allclose(
        model.coef_[0], [*LogisticRegression().fit(X, y).coef_[0], 0.0], atol=1e-7
    )


# -- what it tells ---------------------------------------------------------------------


def test_history_falls_and_the_record_holds_every_step():
    X, y = rows(3)
    model = LogisticRegression(solver="lbfgs", record=True).fit(X, y)
    assert (np.diff(model.history_) <= 0).all()
    assert len(model.record_) == len(model.history_) == model.n_iter_ + 1
    last = model.record_[-1]
    assert_array_equal(last["coef"], model.coef_)
    assert last["gradient"] <= model.tol
    for step in model.record_:
        assert_allclose(
            objective(step["coef"], step["intercept"], X, y),
            step["objective"],
            rtol=1e-10,
        )


def test_warm_start_goes_on_from_the_optimum():
    X, y = rows(3)
    model = LogisticRegression(warm_start=True, solver="lbfgs").fit(X, y)
    cold = model.n_iter_
    assert cold > 3
    assert model.fit(X, y).n_iter_ == 1
    assert model.fit(X[:, :2], y).coef_.shape == (3, 2)


@pytest.mark.parametrize("K", [2, 3])
def test_contributions_and_base_add_up_to_the_log_odds(K):
    X, y = rows(K)
    model = LogisticRegression().fit(X, y)
    told = model.explain(X[:20])
    scores = np.sort(np.atleast_2d(model.decision_function(X[:20]).T).T, axis=1)
    want = scores[:, 0] if K == 2 else scores[:, -1] - scores[:, -2]
    assert_allclose(told.scores, want, rtol=1e-9, atol=1e-12)
    assert_array_equal(told.predicted, model.predict(X[:20]))


def test_mixed_columns_and_summary():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {"color": rng.choice(list("abc"), 500), "x": rng.normal(size=500)}
    )
    y = np.where(
        frame["x"] + (frame["color"] == "b") + rng.logistic(size=500) > 0, "yes", "no"
    )
    model = LogisticRegression(C=np.inf).fit(frame, pd.Series(y, name="bought"))
    design = pd.get_dummies(frame, drop_first=True, dtype=float)[
        ["color_b", "color_c", "x"]
    ]
    theirs = sm.Logit((y == "yes").astype(float), sm.add_constant(design)).fit(disp=0)
    assert_allclose(model.coef_[0], theirs.params.iloc[1:], rtol=1e-5)
    text = str(model.summary())
    for word in (
        "LogisticRegression of bought",
        "odds ratio",
        "std. error",
        "color=b",
        "likelihood ratio",
        "log-odds of yes",
    ):
        assert word in text
    assert "not computed" in str(
        LogisticRegression(standard_errors=False).fit(frame, y).summary()
    )


def test_many_categories_take_the_sparse_way_to_the_same_place():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "town": rng.choice([f"t{i}" for i in range(30)], 2000),
            "x": 1e4 + rng.normal(size=2000),
        }
    )
    y = rng.random(2000) < 0.3 + 0.4 * (frame["x"] > 1e4)
    model = LogisticRegression(tol=1e-9).fit(frame, y)
    design = pd.get_dummies(frame, dtype=float).set_axis(
        ["x", *sorted(frame["town"].unique())], axis=1
    )
    dense = design[[*sorted(frame["town"].unique())[1:], "x"]].to_numpy()
    want = LogisticRegression(tol=1e-9).fit(dense, y)
    assert_allclose(model.coef_, want.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(model.standard_errors_, want.standard_errors_, rtol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_bad_cell_is_named(K):
    X, y = rows(K)
    X[31, 1] = np.nan
    with pytest.raises(
        MissingValuesError, match=r"column 'x1' has a missing value \(NaN\) in row 31"
    ):
        LogisticRegression().fit(X, y)


@pytest.mark.syllabus("7.4")
def test_the_cost_per_row_is_minus_the_mean_of_the_log_posteriors():
    X, y = rows(n=50)
    model = LogisticRegression(C=np.inf).fit(X, y)
    h = 1 / (1 + np.exp(-model.decision_function(X)))
    cost = -(y * np.log(h) + (1 - y) * np.log(1 - h)).mean()
    assert cost > 0
    assert_allclose(cost, -model.log_likelihood_ / len(y), rtol=1e-10)
    assert_allclose(cost, model.objective_ / len(y), rtol=1e-10)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("solver", ["irls", "lbfgs", "bound"])
def test_separable_rows_and_a_large_C_are_followed_to_the_optimum(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(57, 4))
    y = (X @ [1.0, 2.0, -1.0, 0.5] > 0.1).astype(int)
    model = LogisticRegression(solver=solver, C=1e8).fit(X, y)
    sign, A = 2 * y - 1, np.column_stack([X, np.ones(57)])
    theta = np.append(model.coef_[0], model.intercept_)
    p = 1 / (1 + np.exp(sign * (A @ theta)))
    gradient = -A.T @ (sign * p) + np.append(model.coef_[0], 0.0) / 1e8
    H = (A * (p * (1 - p))[:, None]).T @ A + np.diag([1e-8] * 4 + [0.0])
    loss = (
        np.logaddexp(0, -sign * (A @ theta)).sum() + 0.5 * (model.coef_**2).sum() / 1e8
    )
    assert model.objective_ == pytest.approx(loss, rel=1e-6)
    assert (
        gradient @ np.linalg.solve(H, gradient) < 1e-5 * loss
    )  # what one more Newton step would gain
    for scale in (0.98, 1.02):
        other = scale * theta
        assert (
            np.logaddexp(0, -sign * (A @ other)).sum()
            + 0.5 * (other[:-1] ** 2).sum() / 1e8
            > loss
        )


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize("distance", [0.3, 2.0, 4.0])
def test_newton_needs_few_steps_however_far_classes_are_apart(K, distance):
    """From the discriminant of classes far apart, whole steps overshoot: it once took 54 short
    ones."""
    rng = np.random.default_rng(K)
    y = rng.integers(0, K, 300)
    X = (
        rng.normal(size=(300, 5)) @ rng.normal(size=(5, 5))
        + distance * rng.normal(size=(K, 5))[y]
    )
    model = LogisticRegression(solver="irls").fit(X, y)
    assert model.n_iter_ <= 13
    assert np.all(np.diff(model.history_) <= 0)


@pytest.mark.parametrize("solver", ["irls", "lbfgs"])
def test_a_column_in_large_units_gives_the_classes_no_part_in_common(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [1e-6, 1.0, 1e7] + [1.0, 0.0, 1e9]
    y = np.digitize(X[:, 1] + rng.normal(size=120), [-0.5, 0.5])
    model = LogisticRegression(solver=solver).fit(X, y)
    common = model.coef_.sum(axis=0)
    assert (np.abs(common) <= 1e-9 * np.abs(model.coef_).max(axis=0)).all()
