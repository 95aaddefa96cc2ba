"""Margin losses and the classifiers trained with them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Logistic, Ridge
from sklearn.svm import SVC, LinearSVC

from lyceum.data import Rows
from lyceum.linear import MarginClassifier, margin_loss
from lyceum.linear.margin.losses import LOSSES, SmoothHinge

TRAINED = ("hinge", "squared_hinge", "logistic", "exponential", "squared")


def rows(seed=0, n=120, d=4, classes=2, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))).argmax(
        axis=1
    )
    return X + offset, y


@pytest.mark.syllabus("7.8.1")
def test_the_six_losses_by_hand():
    m = [-1.0, 0.0, 0.5, 2.0]
    assert margin_loss(m, "zero_one").tolist() == [1, 1, 0, 0]
    assert margin_loss(m, "hinge").tolist() == [2, 1, 0.5, 0]
    assert margin_loss(m, "squared_hinge").tolist() == [4, 1, 0.25, 0]
    assert margin_loss(m, "squared").tolist() == [4, 1, 0.25, 1]
    assert_allclose(margin_loss(m, "exponential"), np.exp(-np.array(m)))
    assert_allclose(margin_loss(m, "logistic"), np.log(1 + np.exp(-np.array(m))))
    with pytest.raises(ValueError, match="choose one of"):
        margin_loss(m, "cubic")


@pytest.mark.syllabus("7.8")
@given(st.floats(-30, 30))
def test_every_trained_loss_lies_above_zero_one(m):
    for name in ("hinge", "squared_hinge", "exponential", "squared"):
        assert margin_loss(m, name) >= margin_loss(m, "zero_one")
    assert margin_loss(m, "logistic") / np.log(2) >= margin_loss(m, "zero_one")


@pytest.mark.parametrize(
    "loss",
    [*(LOSSES[name] for name in TRAINED[1:]), SmoothHinge(0.3)],
    ids=[*TRAINED[1:], "smooth hinge"],
)
def test_derivatives_are_those_of_finite_differences(loss):
    m, h = np.array([-2.0, -0.3, 0.4, 0.83, 1.7]), 1e-5
    assert_allclose(
        loss.slope(m), (loss.value(m + h) - loss.value(m - h)) / (2 * h), atol=1e-8
    )
    assert_allclose(
        loss.curvature(m), (loss.slope(m + h) - loss.slope(m - h)) / (2 * h), atol=1e-8
    )


@pytest.mark.syllabus("7.8.2")
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_squared_hinge_is_scikit_learns(C):
    """Its intercept is the coefficient of a constant column: penalized, the less the larger that
    is."""
    X, y = rows(offset=1)
    model = MarginClassifier(loss="squared_hinge", C=C, tol=1e-10).fit(X, y)
    options = {
        "tol": 1e-12,
        "max_iter": 100_000,
        "dual": False,
        "intercept_scaling": 1e4,
    }
    theirs = LinearSVC(loss="squared_hinge", C=C, **options).fit(X, y)
    assert_allclose(model.coef_, theirs.coef_, rtol=1e-4)
    assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-4)


@pytest.mark.syllabus("7.8")
def test_logistic_is_scikit_learns_logistic_regression():
    X, y = rows(offset=5)
    model = MarginClassifier(loss="logistic", C=2.0, tol=1e-10).fit(X, y)
    reference = Logistic(C=2.0, tol=1e-10, solver="newton-cholesky").fit(X, y)
    assert_allclose(model.coef_, reference.coef_, rtol=1e-6)
    assert_allclose(model.intercept_, reference.intercept_, rtol=1e-6)


@pytest.mark.syllabus("7.8")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squared_is_ridge_on_minus_one_and_one(fit_intercept):
    X, y = rows(classes=3)
    model = MarginClassifier(loss="squared", C=0.5, fit_intercept=fit_intercept).fit(
        X, y
    )
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    # Σ (1 - m)² + 1/(2C) |b|²
    reference = Ridge(alpha=1.0, fit_intercept=fit_intercept).fit(X, Y)
    assert_allclose(model.coef_, reference.coef_, rtol=1e-8)
    assert_allclose(model.predict(X), reference.predict(X).argmax(axis=1))


@pytest.mark.syllabus("7.8")
def test_hinge_is_the_support_vector_machine():
    X, y = rows(n=80)
    model = MarginClassifier(loss="hinge", C=1.0, smoothing=1e-4).fit(X, y)
    reference = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    margins = np.where(y == 1, 1, -1) * reference.decision_function(X)
    optimum = np.maximum(0, 1 - margins).sum() + 0.5 * (reference.coef_**2).sum()
    assert optimum - 1e-6 <= model.objective_ <= optimum + len(y) * 1e-4 / 2 + 1e-6
    assert_allclose(model.coef_, reference.coef_, atol=2e-2)


@pytest.mark.parametrize("loss", TRAINED)
@pytest.mark.parametrize("wide", [False, True])
def test_the_gradient_vanishes_by_newton_and_by_quasi_newton(loss, wide, monkeypatch):
    X, y = rows(n=200, classes=3)
    if wide:
        monkeypatch.setattr("lyceum.linear.margin.margin_classifier._SMALL", 1)
    model = MarginClassifier(loss=loss, C=0.7, smoothing=0.1, tol=1e-7).fit(X, y)
    kind = SmoothHinge(0.1) if loss == "hinge" else LOSSES[loss]
    for k in range(3):
        Y = np.where(y == k, 1.0, -1.0)
        pull = Y * kind.slope(Y * model.decision_function(X)[:, k])
        assert_allclose(pull @ X + model.coef_[k] / 0.7, 0, atol=1e-4)
        assert_allclose(pull.sum(), 0, atol=1e-4)


def test_losses_are_means_over_the_rows():
    X, y = rows()
    model = MarginClassifier(loss="exponential").fit(X, y)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    for name, value in model.losses_.items():
        assert_allclose(value, margin_loss(margins, name).mean(), rtol=1e-12)
    assert_allclose(model.losses_["zero_one"], 1 - model.score(X, y), atol=1e-12)


@pytest.mark.parametrize("loss", TRAINED)
def test_weight_two_equals_repeated_row_and_sparse_equals_dense(loss):
    X, y = rows()
    X[np.abs(X) < 0.7] = 0
    w = np.random.default_rng(1).integers(0, 3, len(y))
    one = MarginClassifier(loss=loss, smoothing=0.1).fit(X, y, w)
    two = MarginClassifier(loss=loss, smoothing=0.1).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    thin = MarginClassifier(loss=loss, smoothing=0.1).fit(sparse.csr_array(X), y, w)
    assert_allclose(one.coef_, two.coef_, atol=1e-5)
    assert_allclose(one.coef_, thin.coef_, atol=1e-5)


def test_the_losses_and_the_curvature_are_one_pass_over_the_rows(monkeypatch):
    X, y = rows()
    reduce, passes = Rows.reduce, []
    monkeypatch.setattr(
        Rows, "reduce", lambda self, of: passes.append(of) or reduce(self, of)
    )
    model = MarginClassifier(loss="squared", record=True).fit(X, y)
    solving = 1 + len(
        model.record_
    )  # the means, then one pass per point (the line search takes the full step)
    assert len(passes) == solving + 1
    assert model.seen_["curvature"].shape == (1, 5, 5)


def test_zero_one_is_not_trained_with():
    with pytest.raises(ValueError, match="'loss' parameter"):
        MarginClassifier(loss="zero_one").fit(*rows())


def test_too_few_iterations_are_reported():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MarginClassifier(loss="exponential", max_iter=1, C=100).fit(*rows())


def test_history_falls_and_the_record_ends_at_the_solution():
    X, y = rows()
    model = MarginClassifier(loss="logistic", record=True).fit(X, y)
    assert (np.diff(model.history_) <= 1e-9).all()
    assert_array_equal(model.record_[-1]["coef"], model.coef_)
    for word in ("exp(-m)", "zero_one", "(intercept)"):
        assert word in str(model.summary())
    assert_allclose(model.explain(X).scores, model.decision_function(X), rtol=1e-9)
