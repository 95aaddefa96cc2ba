"""Transfer: shifts that are known are recovered; another task helps."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression as SkLogistic
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from lyceum.bayes import NaiveBayes, QuadraticDiscriminantAnalysis
from lyceum.ensemble import RandomForestClassifier
from lyceum.errors import DataError, SettingError
from lyceum.linear import LinearRegression, LogisticRegression, Ridge
from lyceum.neural import MLPClassifier
from lyceum.transfer import (
    PriorShift,
    PriorTransfer,
    TrAdaBoost,
    importance_weights,
    shifted_priors,
)


@pytest.mark.syllabus("15.3")
def test_weights_are_the_ratio_of_the_densities():
    rng = np.random.default_rng(0)
    X, new = rng.normal(0, 1, (4000, 1)), rng.normal(1, 1, (4000, 1))
    w = importance_weights(X, new, clip=None)
    ratio = norm.pdf(X[:, 0], 1, 1) / norm.pdf(X[:, 0], 0, 1)
    assert np.corrcoef(np.log(w), np.log(ratio))[0, 1] > 0.999
    assert np.average(X[:, 0], weights=w) == pytest.approx(1.0, abs=0.1)
    held = importance_weights(
        X,
        new,
        estimator=RandomForestClassifier(n_estimators=10, min_samples_leaf=50),
        cv=2,
    )
    assert np.average(X[:, 0], weights=held) == pytest.approx(1.0, abs=0.25)


@pytest.mark.syllabus("15.3")
def test_a_line_fitted_for_other_rows_is_better_there():
    rng = np.random.default_rng(1)
    X, new = rng.uniform(-2, 2, (800, 1)), rng.normal(1.5, 0.2, (800, 1))
    f = lambda x: x[:, 0] ** 2  # noqa: E731
    plain = LinearRegression().fit(X, f(X))
    shifted = LinearRegression().fit(X, f(X), importance_weights(X, new))
    error = [np.mean((m.predict(new) - f(new)) ** 2) for m in (plain, shifted)]
    assert error[1] < error[0] / 5


@pytest.mark.syllabus("15.3.1")
@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_known_shifts_of_the_priors_are_recovered(share):
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 3000)
    X = rng.normal(size=(6000, 1)) + 1.5 * y[:, None]
    model = PriorShift().fit(X, y)
    n = int(4000 * share)
    truth = np.repeat([1, 0], [n, 4000 - n])
    new = rng.normal(size=(4000, 1)) + 1.5 * truth[:, None]
    before = model.score(new, truth)
    model.adapt(new)
    assert model.class_prior_[1] == pytest.approx(share, abs=0.03)
    assert model.score(new, truth) >= before - 0.003
    assert (np.diff(model.history_) >= -1e-12).all()
    known = PriorShift(priors=[1 - share, share]).fit(X, y)
    joint = np.stack([norm.pdf(new[:, 0], m, 1) for m in (0, 1.5)], axis=1) * [
        1 - share,
        share,
    ]
    exact = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(known.predict_proba(new), exact, atol=0.05)


def test_em_of_priors_reaches_the_largest_likelihood():
    rng = np.random.default_rng(3)
    proba, old = rng.dirichlet(np.ones(3), 200), np.array([0.2, 0.5, 0.3])
    new, shifted, history = shifted_priors(proba, old, tol=1e-12, max_iter=100_000)

    def loss(v):
        p = np.exp(v) / np.exp(v).sum()
        return -np.log((proba / old) @ p).mean()

    best = minimize(loss, np.zeros(3), tol=1e-14).fun
    assert -history[-1] == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(shifted.mean(axis=0), new, atol=1e-6)  # the fixed point
    with pytest.raises(DataError, match="do not go together"):
        shifted_priors(proba, old[:2])


@pytest.mark.syllabus("15.3.2")
def test_rows_of_another_task_help_and_those_that_mislead_lose_weight():
    gains, shares = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(640, 4))
        domain = np.arange(640) >= 625
        # a quarter of the source rows follow another rule
        good = np.arange(640) % 4 > 0
        rule = X[:, 0] + X[:, 1] > 0
        y = np.where(domain | good, rule, X[:, 2] > 0).astype(int)
        model = TrAdaBoost(n_estimators=20).fit(X, y, domain=domain)
        fresh = rng.normal(size=(2000, 4))
        truth = (fresh[:, 0] + fresh[:, 1] > 0).astype(int)
        alone = TrAdaBoost(n_estimators=20).fit(X[domain], y[domain])
        gains.append(model.score(fresh, truth) - alone.score(fresh, truth))
        wrong = ~domain & (y != rule)
        right = ~domain & (y == rule)
        shares.append(
            model.source_weights_[wrong].mean() / model.source_weights_[right].mean()
        )
    assert np.mean(gains) > 0.04
    assert np.mean(shares) < 0.8
    with pytest.raises(DataError, match="one truth value"):
        TrAdaBoost().fit(X, y, domain=[True])


@pytest.mark.syllabus("15.3.3")
def test_a_linear_source_is_the_mean_of_the_prior_of_the_coefficients():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 2))
    y = X @ [2.0, -1.0] + 0.1 * rng.normal(size=50)
    first = Ridge(alpha=1.0).fit(rng.normal(size=(80, 2)), rng.normal(size=80))
    model = PriorTransfer(task="regression", alpha=3.0).fit(X, y, source=first)
    Z, r = (X - X.mean(axis=0)) / X.std(axis=0), y - first.predict(X)
    v = np.linalg.solve(Z.T @ Z + 3.0 * np.eye(2), Z.T @ (r - r.mean()))
    np.testing.assert_allclose(model.coef_[0], v, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict(X), first.predict(X) + Z @ v + r.mean(), rtol=1e-9
    )


@pytest.mark.syllabus("15.3")
def test_without_rows_to_speak_of_the_source_decides_and_with_many_it_does_not():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 3))
    first = SkLogistic().fit(X, X[:, 0] > 0)
    few = rng.normal(size=(6, 3))
    near = PriorTransfer(alpha=1e9).fit(
        few, np.array([0, 1, 0, 1, 0, 1]).astype(bool), source=first
    )
    order = near.predict_proba(X)[:, 1].argsort()
    assert (
        np.corrcoef(order.argsort(), first.predict_proba(X)[:, 1].argsort().argsort())[
            0, 1
        ]
        > 0.999
    )
    y = X[:, 1] > 0
    far = PriorTransfer(alpha=1e-3).fit(X, y, source=first)
    assert far.score(X, y) > 0.97
    # without a source it is logistic regression
    plain = PriorTransfer(alpha=1.0).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # two opposite vectors share the penalty
    ridge = LogisticRegression(C=2.0, tol=1e-10).fit(Z, y)
    np.testing.assert_allclose(
        plain.predict_proba(X), ridge.predict_proba(Z), atol=1e-4
    )


def test_classes_that_the_source_does_not_know_can_be_learned():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 2))
    y = np.select([X[:, 0] > 0.5, X[:, 0] < -0.5], ["c", "a"], "b")
    known = y != "c"
    first = NaiveBayes().fit(X[known], y[known])
    model = PriorTransfer(alpha=0.01).fit(X, y, source=first)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, y) > 0.9


@pytest.mark.syllabus("15.3")
def test_hidden_layers_of_one_task_are_the_start_of_another_with_other_classes():
    gains = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(600, 4))
        ring = X[:, 0] ** 2 + X[:, 1] ** 2
        first = np.where(ring > 1.5, "out", "in")
        settings = {
            "max_iter": 100,
            "tol": None,
            "learning_rate_init": 0.05,
            "random_state": seed,
        }
        model = MLPClassifier((12,), warm_start=True, alpha=0.1, **settings).fit(
            X, first
        )
        hidden = model.coefs_[0].copy()
        second = np.digitize(ring[:40], [1.0, 2.5])  # three classes, few rows
        model.set_params(max_iter=1).fit(X[:40], second)
        assert np.abs(model.coefs_[0] - hidden).max() < 0.1  # it went on from there
        model.set_params(max_iter=30).fit(X[:40], second)
        alone = MLPClassifier((12,), alpha=0.1, **settings).fit(X[:40], second)
        fresh = rng.normal(size=(1000, 4))
        truth = np.digitize(fresh[:, 0] ** 2 + fresh[:, 1] ** 2, [1.0, 2.5])
        assert model.classes_.tolist() == [0, 1, 2]
        gains.append(model.score(fresh, truth) - alone.score(fresh, truth))
    assert np.mean(gains) > 0.05


@pytest.mark.syllabus("15.3")
@pytest.mark.parametrize(
    "learner",
    [
        NaiveBayes(),
        QuadraticDiscriminantAnalysis(),
        Ridge(alpha=0.0),
        LinearRegression(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_sums_of_one_task_are_the_prior_of_another_by_their_weight(learner):
    rng = np.random.default_rng(7)
    X, few = rng.normal(size=(80, 3)), rng.normal(size=(9, 3))
    target = lambda Z: (Z[:, 0] > 0).astype(int)  # noqa: E731
    w = np.full(80, 0.1)  # the first task counts as eight rows
    model = deepcopy(
        clone(learner).partial_fit(X, target(X), sample_weight=w)
    ).partial_fit(few, target(few))
    both = (
        np.vstack([X, few]),
        np.concatenate([target(X), target(few)]),
        np.append(w, np.ones(9)),
    )
    np.testing.assert_allclose(
        model.predict(X), clone(learner).fit(*both).predict(X), atol=1e-9
    )


@pytest.mark.syllabus("15.3")
@pytest.mark.parametrize(
    "source",
    [
        LogisticRegression(),
        NaiveBayes(),
        MLPClassifier(
            (4,), max_iter=60, tol=None, learning_rate_init=0.05, random_state=0
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_any_classifier_is_a_prior_that_helps_with_few_rows(source):
    rng = np.random.default_rng(8)
    rule = lambda Z, t: Z[:, 0] - Z[:, 1] > t  # noqa: E731
    X, fresh = rng.normal(size=(400, 5)), rng.normal(size=(1000, 5))
    first = source.fit(X, rule(X, 0.0))
    few = rng.normal(size=(15, 5))
    model = PriorTransfer().fit(few, rule(few, 0.3), source=first)
    alone = PriorTransfer().fit(few, rule(few, 0.3))
    assert (
        model.score(fresh, rule(fresh, 0.3))
        > alone.score(fresh, rule(fresh, 0.3)) + 0.03
    )


def test_a_classifier_that_needs_a_frame_is_explained_in_it():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"town": rng.choice(["Ulm", "Bonn"], 60), "x": rng.normal(size=60)}
    )
    y = ((frame["town"] == "Ulm") ^ (frame["x"] > 1)).to_numpy().astype(int)
    coded = make_column_transformer(
        (OneHotEncoder(), ["town"]), remainder="passthrough"
    )
    model = PriorShift(make_pipeline(coded, DecisionTreeClassifier(max_depth=4))).fit(
        frame, y
    )
    found = model.explain(frame)
    total = found.base + found.contributions.sum(axis=1)
    np.testing.assert_allclose(
        total, model.predict_proba(frame).max(axis=1), atol=1e-12
    )
    assert found.contributions.any(axis=0).all()


@pytest.mark.parametrize(
    ("X", "X_new", "message"),
    [
        (
            np.ones((3, 2)),
            np.ones((3, 1)),
            r"rows of shape \(2,\) and \(1,\): give the same columns",
        ),
        (np.ones((3, 2)), np.ones((0, 2)), "X has 3 and X_new has 0"),
        (
            pd.DataFrame({"a": [1.0], "b": [2.0]}),
            pd.DataFrame({"b": [1.0], "a": [2.0]}),
            "in one order",
        ),
    ],
)
def test_rows_are_weighed_by_rows_of_the_same_columns(X, X_new, message):
    with pytest.raises(DataError, match=message):
        importance_weights(X, X_new)


@pytest.mark.parametrize("cv", [0, 1, 2.5])
def test_importance_weights_need_two_folds(cv):
    with pytest.raises(
        SettingError, match="cv must be None or a number of folds from 2 on"
    ):
        importance_weights(np.ones((3, 1)), np.zeros((3, 1)), cv=cv)


@pytest.mark.parametrize(
    ("proba", "priors"), [([[-0.2, 1.2]], [0.5, 0.5]), ([[0.5, 0.5]], [0, 0])]
)
def test_priors_follow_from_probabilities(proba, priors):
    with pytest.raises(DataError, match="numbers of at least 0"):
        shifted_priors(proba, priors)


def test_what_is_boosted_takes_weights():
    model = TrAdaBoost(make_pipeline(OneHotEncoder(), SkLogistic()))
    with pytest.raises(
        SettingError, match="set estimator to a classifier that does, or to a pipeline"
    ):
        model.fit([[0.0], [1.0]], [0, 1])


@pytest.mark.syllabus("15.3")
@pytest.mark.parametrize("source_of", [LogisticRegression, SkLogistic])
def test_the_coefficients_of_a_sure_source_are_the_mean_of_the_prior(source_of):
    """min Σ log(1 + exp(-y f)) + α/2 |V|² with f = (w₀ + v)·x + b₀ + b: by SciPy."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    first = source_of().fit(X, X[:, 0] > 0)
    first.coef_ = np.array([[15.0, -6.0]])  # log-odds of up to ± 30
    first.intercept_ = np.array([1.0])
    new = rng.normal(size=(40, 2))
    y = new[:, 0] + 0.5 * new[:, 1] > 0
    model = PriorTransfer(alpha=0.1, tol=1e-10).fit(new, y, source=first)
    before = new @ [15.0, -6.0] + 1.0
    Z = (new - new.mean(axis=0)) / new.std(axis=0)
    sides = np.where(y, 1.0, -1.0)

    # two scores of opposite sign: f = 2 (v·z + b), and |V|² = 2 |v|²
    def loss(theta):
        f = before + 2.0 * (Z @ theta[:2] + theta[2])
        return np.logaddexp(0.0, -sides * f).sum() + 0.1 * theta[:2] @ theta[:2]

    best = minimize(loss, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(model.coef_[1], best[:2], atol=2e-4)
    if source_of is SkLogistic:
        return  # its 1 - p rounds where log-odds are above 30, in single rows
    f = before + 2.0 * (Z @ best[:2] + best[2])
    log_odds = np.diff(np.log(model.predict_proba(new)), axis=1)[:, 0]
    np.testing.assert_allclose(log_odds, f, atol=5e-3)
