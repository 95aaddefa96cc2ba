"""`partial_fit`, `class_weight` and `standardize` of linear classifiers."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.preprocessing import scale

from lyceum.errors import SchemaError, SettingError
from lyceum.linear import LogisticRegression, MarginClassifier, Perceptron, margin_loss

IRIS = load_iris(return_X_y=True)
BREAST = load_breast_cancer(return_X_y=True)
LOSSES = ["hinge", "squared_hinge", "logistic", "exponential", "squared"]


def shuffled(table):
    X, y = table
    order = np.random.default_rng(0).permutation(len(y))
    return scale(X)[order], y[order]


def in_parts(model, X, y, parts=5):
    for rows in np.array_split(np.arange(len(y)), parts):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return model


def objective(model, X, y):
    scores = model.decision_function(X).reshape(len(y), -1)
    sides = np.where(
        y[:, None] == (np.unique(y) if scores.shape[1] > 1 else [1]), 1.0, -1.0
    )
    return (
        margin_loss(sides * scores, model.loss).sum()
        + 0.5 / model.C * (model.coef_**2).sum()
    )


@pytest.mark.parametrize("table", [IRIS, BREAST], ids=["three classes", "two"])
def test_squared_losses_in_parts_are_those_of_one_fit(table):
    X, y = shuffled(table)
    X = 1e3 + 5.0 * X
    whole, parts = (MarginClassifier(loss="squared") for _ in range(2))
    whole.fit(X, y)
    in_parts(parts, X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-6)
    np.testing.assert_allclose(parts.mean_, X.mean(axis=0))
    assert parts.n_rows_ == len(y)


@pytest.mark.parametrize("loss", LOSSES)
def test_parts_come_near_the_minimum_over_all_rows(loss):
    X, y = shuffled(IRIS)
    whole = MarginClassifier(loss=loss).fit(X, y)
    first = MarginClassifier(loss=loss).fit(X[:30], y[:30])
    parts = in_parts(MarginClassifier(loss=loss), X, y)
    least, reached, before = (objective(model, X, y) for model in (whole, parts, first))
    assert least <= reached * (1 + 1e-6)
    assert reached - least < 0.12 * (before - least)
    assert parts.score(X, y) >= whole.score(X, y) - 0.02


def test_a_fit_can_be_gone_on_from():
    X, y = shuffled(IRIS)
    model = (
        MarginClassifier(loss="squared")
        .fit(X[:100], y[:100])
        .partial_fit(X[100:], y[100:])
    )
    np.testing.assert_allclose(
        model.coef_, MarginClassifier(loss="squared").fit(X, y).coef_, rtol=1e-6
    )


def test_one_class_first_and_the_others_later():
    X, y = BREAST
    X, order = scale(X), np.argsort(y, kind="stable")
    model = MarginClassifier(loss="squared").partial_fit(X[order[:100]], y[order[:100]])
    assert (model.predict(X) == 0).all()
    model = MarginClassifier().partial_fit(
        X[order[:100]], y[order[:100]], classes=[0, 1]
    )
    model.partial_fit(X[order[100:]], y[order[100:]])
    assert model.score(X, y) > 0.9


def test_classes_without_weights_are_refused():
    X, y = IRIS
    model = MarginClassifier().partial_fit(X[:100], y[:100])
    with pytest.raises(SchemaError, match="name all classes"):
        model.partial_fit(X[100:], y[100:])


# -- class weights ---------------------------------------------------------------------


@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(multi_class="joint", max_iter=5),
        MarginClassifier(loss="logistic"),
    ],
)
def test_class_weights_are_factors_of_row_weights(learner):
    X, y = shuffled(IRIS)
    factors = {0: 1.0, 1: 3.0, 2: 0.5}
    w = np.array([factors[label] for label in y])
    weighted = learner.set_params(class_weight=None).fit(X, y, sample_weight=w).coef_
    np.testing.assert_array_equal(
        learner.set_params(class_weight=factors).fit(X, y).coef_, weighted
    )
    plain = learner.set_params(class_weight=None).fit(X, y).coef_
    np.testing.assert_array_equal(
        learner.set_params(class_weight="balanced").fit(X, y).coef_, plain
    )
    with pytest.raises(SettingError, match="class_weight as a dict"):
        learner.partial_fit(X, y)


# -- standardize -----------------------------------------------------------------------

UNITS = np.array([1.0, 10.0, 0.1, 100.0])


@pytest.mark.parametrize(
    "settings", [{}, {"l1_ratio": 0.7}, {"solver": "lbfgs"}, {"fit_intercept": False}]
)
@pytest.mark.parametrize("K", [2, 3])
def test_a_standardized_penalty_is_that_of_columns_of_unit_deviation(settings, K):
    X, y = IRIS
    X, y = X[y < K] * UNITS + 7.0, y[y < K]
    s = X.std(axis=0)
    model = LogisticRegression(C=0.5, standardize=True, **settings).fit(X, y)
    units = LogisticRegression(C=0.5, **settings).fit(X / s, y)
    np.testing.assert_allclose(model.coef_, units.coef_ / s, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, units.intercept_, rtol=1e-9)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    np.testing.assert_allclose(model.log_likelihood_, units.log_likelihood_)
    if "l1_ratio" not in settings:
        np.testing.assert_allclose(model.standard_errors_ * s, units.standard_errors_)


def test_a_standardized_penalty_does_not_depend_on_units_and_agrees_with_scikit_learn():
    X, y = IRIS
    one, two = (
        LogisticRegression(standardize=True, tol=1e-10).fit(Z, y)
        for Z in (X, X * UNITS)
    )
    np.testing.assert_allclose(
        one.predict_proba(X), two.predict_proba(X * UNITS), rtol=1e-8, atol=1e-12
    )
    theirs = TheirLogisticRegression(tol=1e-8, max_iter=1000).fit(scale(X), y)
    np.testing.assert_allclose(
        one.predict_proba(X), theirs.predict_proba(scale(X)), atol=1e-5
    )


def test_a_recursion_cannot_standardize():
    X, y = IRIS
    with pytest.raises(SettingError, match="deviations"):
        LogisticRegression(solver="recursive", standardize=True).fit(X, y)
    with pytest.raises(SettingError, match="deviations"):
        LogisticRegression(standardize=True).partial_fit(X, y)
