"""Logistic gradient descent as on paper: given start and rate, on the columns as they are."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from lyceum.errors import DataError, SettingError
from lyceum.linear import LogisticRegression

pytestmark = pytest.mark.syllabus("7.4")

X, Y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1])


def descend(X, y, w=None, max_iter=2, **settings):
    model = LogisticRegression(
        solver="gradient_descent",
        record=True,
        max_iter=max_iter,
        standard_errors=False,
        **settings,
    )
    with pytest.warns(ConvergenceWarning):
        return model.fit(X, y, w)


def by_hand(X, y, w, rate, steps, start, C=np.inf):
    """θ ← θ - η/m Σ (h - y) x, with the share of a penalty on b alone."""
    b, b0 = np.array(start[0], float), float(start[1])
    for _ in range(steps):
        r = w * (expit(X @ b + b0) - y)
        b, b0 = b - rate / w.sum() * (X.T @ r + b / C), b0 - rate / w.sum() * r.sum()
    return b, b0


def test_the_first_step_from_zero_is_a_fraction():
    # h = 1/2: errors 1/2, -1/2, -1/2; b0 = .1 * (1/2)/3, b = .1 * (-1/2 + 1 + 2)/3
    model = descend(X, Y, C=np.inf, learning_rate=0.1, max_iter=1)
    assert model.record_[0]["objective"] == pytest.approx(3 * np.log(2))
    assert model.record_[1]["coef"].ravel() == pytest.approx([0.25 / 3])
    assert model.record_[1]["intercept"] == pytest.approx([0.05 / 3])


@pytest.mark.syllabus("7.4.1")
@pytest.mark.parametrize("C", [2.0, np.inf])
@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_steps_are_those_made_by_hand(C, offset):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 3)) + offset
    y = rng.integers(0, 2, 30)
    w = rng.uniform(0.5, 2.0, 30)
    start = ([0.3, -0.2, 0.1], 0.5)
    rate = 0.2 / (1.0 + offset) ** 2
    model = descend(Z, y, w, max_iter=7, C=C, learning_rate=rate, coef_init=start)
    b, b0 = by_hand(Z, y, w, rate, 7, start, C)
    np.testing.assert_allclose(model.coef_[0], b, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, [b0], atol=1e-8)


def test_three_classes_and_no_intercept():
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(20, 2)), rng.integers(0, 3, 20)
    model = descend(Z, y, C=np.inf, learning_rate=0.5, fit_intercept=False, max_iter=3)
    W = np.zeros((3, 2))
    for _ in range(3):
        P = np.exp(Z @ W.T)
        P /= P.sum(axis=1, keepdims=True)
        W -= 0.5 / 20 * (P - np.eye(3)[y]).T @ Z
    np.testing.assert_allclose(model.coef_, W - W.mean(axis=0), atol=1e-9)
    assert (model.intercept_ == 0).all()


def test_many_steps_come_to_the_optimum():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(60, 2))
    y = rng.random(60) < expit(Z[:, 0])
    model = LogisticRegression(
        solver="gradient_descent", learning_rate=1.0, max_iter=5000
    ).fit(Z, y)
    np.testing.assert_allclose(
        model.coef_, LogisticRegression().fit(Z, y).coef_, atol=1e-4
    )


def test_a_rate_without_descent_and_a_start_without_a_rate_are_refused():
    with pytest.raises(SettingError, match="step of solver='gradient_descent'"):
        LogisticRegression(learning_rate=0.1).fit(X, Y)
    with pytest.raises(SettingError, match="steps of a given length"):
        LogisticRegression(coef_init=([0.0], 0.0)).fit(X, Y)
    with pytest.raises(SettingError, match=r"give \(1, 1\)"):
        LogisticRegression(
            solver="gradient_descent", learning_rate=0.1, coef_init=([0.0, 1.0], 0.0)
        ).fit(X, Y)
    with pytest.raises(DataError, match="weights diverge"):
        LogisticRegression(
            solver="gradient_descent", learning_rate=1e300, max_iter=500
        ).fit(1e10 * X, [1, 0, 1])
