"""Gradient boosting of any regressor."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.linear_model import LinearRegression as TheirLine
from sklearn.neighbors import KNeighborsRegressor as TheirNeighbors

from lyceum import datasets
from lyceum.ensemble import GenericBoostingClassifier, GenericBoostingRegressor
from lyceum.errors import SettingError
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.neighbors import KNeighborsRegressor
from lyceum.trees import DecisionTreeRegressor


def cloud(n=120, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))


@pytest.mark.syllabus("11.4.5")
@pytest.mark.parametrize(
    "base", [TheirNeighbors(15), KNeighborsRegressor(n_neighbors=15)]
)
def test_boosted_neighbors_are_the_loop_by_hand(base):
    X, _ = cloud()
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    F = np.full(len(y), y.mean())
    model = GenericBoostingRegressor(base, 10, learning_rate=0.3).fit(X, y)
    for step in model.steps_:
        h = TheirNeighbors(15).fit(X, y - F).predict(X)
        rho = (y - F) @ h / (h @ h)
        assert step == pytest.approx(0.3 * rho, rel=1e-9)
        F = F + 0.3 * rho * h
    assert len(model.steps_) == 10
    np.testing.assert_allclose(model.predict(X), F, rtol=1e-9, atol=1e-12)
    assert model.history_[-1] == pytest.approx(((y - F) ** 2).mean() / 2)
    assert (np.diff(model.history_) < 0).all()


@pytest.mark.syllabus("11.4")
def test_exact_trees_are_scikit_learns_boosting():
    rng = np.random.default_rng(0)
    # as scikit-learn's trees have them
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=400)
    theirs = TheirBoosting(n_estimators=15, random_state=0).fit(X, y)
    ours = GenericBoostingRegressor(n_estimators=15).fit(X, y)
    np.testing.assert_allclose(ours.steps_, 0.1, rtol=1e-9)
    for one, two in zip(ours.staged_predict(X), theirs.staged_predict(X)):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


@pytest.mark.syllabus("11.4")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("base", [TheirLine(), DecisionTreeRegressor(max_depth=2)])
def test_classes_are_the_loop_by_hand(K, base):
    X, y = cloud(K=K)
    model = GenericBoostingClassifier(base, 6, learning_rate=0.5).fit(X, y)
    of = np.eye(K)[y][:, 1:] if K == 2 else np.eye(K)[y]
    F = np.tile(
        np.log(of.mean(axis=0) / (1 - of.mean(axis=0)) if K == 2 else of.mean(axis=0)),
        (len(y), 1),
    )
    for step in model.steps_:
        P = expit(F) if K == 2 else softmax(F, axis=1)
        H = np.column_stack(
            [base.fit(X, residual).predict(X) for residual in (of - P).T]
        )

        def loss(rho, H=H, F=F):
            G = F + rho * H
            G = np.column_stack([np.zeros(len(G)), G]) if K == 2 else G
            return -np.log(softmax(G, axis=1)[np.arange(len(y)), y]).sum()

        # the Newton step from differences, none of them halved here
        e = 1e-3
        rho = (
            (loss(-e) - loss(e)) / (2 * e) / ((loss(e) - 2 * loss(0) + loss(-e)) / e**2)
        )
        assert step == pytest.approx(0.5 * rho, rel=1e-4)
        assert loss(2 * step) < loss(0)
        F = F + step * H
    assert len(model.steps_) == 6
    proba = np.column_stack([1 - expit(F), expit(F)]) if K == 2 else softmax(F, axis=1)
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
def test_boosted_least_squares_comes_to_logistic_regression(K):
    """The gradient of the loss vanishes where no linear member lowers it."""
    X, y = cloud(200, K)
    model = GenericBoostingClassifier(LinearRegression(), 2000, learning_rate=1.0).fit(
        X, y
    )
    optimum = LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X), optimum.predict_proba(X), atol=1e-4
    )
    assert len(model.steps_) < 2000


def test_the_loss_never_rises_and_separable_classes_do_not_overflow():
    X, y = load_iris(return_X_y=True)
    for base, rounds in ((None, 150), (LinearRegression(), 60)):
        model = GenericBoostingClassifier(base, rounds, learning_rate=1.0).fit(X, y)
        assert (np.diff(model.history_) < 0).all()
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.score(X, y) > 0.95


@pytest.mark.parametrize("K", [2, 3])
def test_explanations_add_up(K):
    X, y = cloud(K=K)
    for base in (None, LinearRegression()):
        model = GenericBoostingClassifier(base, 8).fit(X, y)
        explained = model.explain(X)
        top = np.sort(model.predict_log_proba(X), axis=1)
        np.testing.assert_allclose(explained.scores, top[:, -1] - top[:, -2], atol=1e-9)
        assert (explained.predicted == model.predict(X)).all()
    fit = GenericBoostingRegressor(n_estimators=8).fit(X, X[:, 0] * X[:, 1])
    np.testing.assert_allclose(fit.explain(X).scores, fit.predict(X), atol=1e-9)


def test_categories_missing_cells_one_class_and_one_row():
    frame = pd.read_csv(datasets.path("penguins"))
    model = GenericBoostingClassifier(n_estimators=20).fit(
        frame.drop(columns="species"), frame["species"]
    )
    assert model.score(frame.drop(columns="species"), frame["species"]) > 0.98
    same = GenericBoostingClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert same.predict_proba([[3.0]]).tolist() == [[1.0]]
    assert GenericBoostingRegressor().fit([[1.0]], [5.0]).predict([[7.0]]).tolist() == [
        5.0
    ]


def test_a_weight_of_two_is_a_row_twice():
    X, y = cloud(60, 3)
    w = np.random.default_rng(0).integers(0, 3, 60)
    weighted = GenericBoostingClassifier(n_estimators=5).fit(X, y, w.astype(float))
    repeated = GenericBoostingClassifier(n_estimators=5).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9
    )
    with pytest.raises(SettingError, match="does not take sample_weight"):
        GenericBoostingRegressor(TheirNeighbors()).fit(X, X[:, 0], w.astype(float))
