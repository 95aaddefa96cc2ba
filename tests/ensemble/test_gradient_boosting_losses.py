"""Losses of gradient boosting: gradients by finite differences, constants and leaves by their
definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from lyceum.ensemble.boosting.hist_gradient_boosting import (
    HistGradientBoostingRegressor,
)
from lyceum.ensemble.boosting.losses import (
    Absolute,
    Huber,
    Logistic,
    Multinomial,
    Quantile,
    Squared,
)
from lyceum.statistics import weighted_quantile

pytestmark = pytest.mark.syllabus("11.4")

RNG = np.random.default_rng(0)
N = 203
NUMBERS, CLASSES = RNG.normal(size=N), RNG.integers(0, 3, N).astype(np.int32)
WEIGHTS = RNG.uniform(0.1, 3.0, N)


def losses(w):
    two = (CLASSES > 0).astype(np.int32)
    yield Squared(NUMBERS, w)
    yield Absolute(NUMBERS, w)
    yield Quantile(NUMBERS, w, 0.8)
    yield Logistic(two, w)
    yield Multinomial(CLASSES, w, 3)


@pytest.mark.parametrize("w", [None, WEIGHTS], ids=["plain", "weighted"])
def test_gradients_are_the_slopes_of_the_loss(w):
    for loss in losses(w):
        scores = RNG.normal(size=(loss.n_scores, N))
        step = 1e-6
        for k in range(loss.n_scores):
            loss.begin(scores)
            g, h = (None if a is None else a.copy() for a in loss.gradients(scores, k))
            for i in (0, 1, 57, N - 1):
                around, slopes = [], []
                for sign in (1, -1):
                    moved = scores.copy()
                    moved[k, i] += sign * step
                    around.append(loss.begin(moved))
                    slopes.append(loss.gradients(moved, k)[0][i])
                factor = (
                    2.0 if isinstance(loss, Absolute) else 1.0
                )  # |r| is twice the loss of the median
                assert (around[0] - around[1]) / (2 * step) == pytest.approx(
                    factor * g[i], abs=2e-7
                )
                curve = {Logistic: 1.0, Multinomial: 1.5, Squared: 1.0}.get(type(loss))
                if curve is not None:
                    weight = (1.0 if w is None else w[i]) if h is None else h[i]
                    assert curve * (slopes[0] - slopes[1]) / (
                        2 * step
                    ) == pytest.approx(weight, abs=1e-6)


def test_hubers_gradient_is_the_residual_cut_off():
    loss = Huber(NUMBERS, WEIGHTS, 0.7)
    scores = RNG.normal(size=(1, N))
    total = loss.begin(scores)
    r, delta = scores[0] - NUMBERS, loss.alpha
    assert delta == weighted_quantile(np.abs(r), WEIGHTS, 0.7)
    np.testing.assert_allclose(
        loss.gradients(scores, 0)[0], WEIGHTS * np.clip(r, -delta, delta)
    )
    inside = np.abs(r) <= delta
    np.testing.assert_allclose(
        total,
        np.sum(WEIGHTS * np.where(inside, r**2 / 2, delta * (np.abs(r) - delta / 2))),
    )


@pytest.mark.parametrize("w", [None, WEIGHTS], ids=["plain", "weighted"])
def test_the_baseline_is_the_best_constant(w):
    for loss in losses(w):
        best = loss.begin(np.repeat(loss.baseline()[:, None], N, axis=1))
        for k in range(loss.n_scores):
            for move in (-0.05, 0.05):
                other = loss.baseline()
                other[k] += move
                assert loss.begin(np.repeat(other[:, None], N, axis=1)) >= best - 1e-9


def test_the_multinomial_loss_is_minus_the_log_posterior():
    loss, scores = Multinomial(CLASSES, WEIGHTS, 3), RNG.normal(size=(3, N)) * 30
    expected = WEIGHTS * (logsumexp(scores, axis=0) - scores[CLASSES, np.arange(N)])
    np.testing.assert_allclose(loss.begin(scores), expected.sum())


def test_extreme_scores_have_finite_losses_and_gradients():
    y = np.array([0, 1, 0, 1], dtype=np.int32)
    loss, scores = Logistic(y, None), np.array([[800.0, -800.0, -800.0, 800.0]])
    assert loss.begin(scores) == pytest.approx(1600.0)
    g, h = loss.gradients(scores, 0)
    np.testing.assert_allclose(g, [1.0, -1.0, 0.0, 0.0], atol=1e-12)
    assert (h >= 0).all()


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_a_leaf_takes_the_best_constant_of_its_residuals(loss):
    x = np.repeat([0.0, 1.0], 50)[:, None]
    y = np.concatenate([RNG.exponential(size=50), 5 + RNG.exponential(size=50)])
    model = HistGradientBoostingRegressor(
        loss=loss, alpha=0.8, max_iter=1, max_leaf_nodes=2, learning_rate=1.0
    )
    q = 0.5 if loss == "absolute_error" else 0.8
    predicted = model.fit(x, y).predict(np.array([[0.0], [1.0]]))
    for value, part in zip(predicted, (y[:50], y[50:])):

        def objective(c, part=part):
            return np.sum(np.where(part > c, q * (part - c), (1 - q) * (c - part)))

        assert (
            objective(value)
            <= minimize_scalar(objective, bounds=(0, 10), method="bounded").fun + 1e-9
        )


def test_hubers_leaf_is_the_moved_median():
    y = np.array([0.0, 1.0, 2.0, 3.0, 50.0])
    loss = Huber(y, None, 0.8)
    scores = np.zeros((1, 5))
    loss.begin(scores)
    delta = loss.alpha
    expected = 2.0 + np.mean(np.clip(y - 2.0, -delta, delta))
    assert loss.leaf_value(np.arange(5), scores) == pytest.approx(expected)


def test_weighted_quantiles_are_those_of_repeated_values():
    values, w = RNG.normal(size=40).round(1), RNG.integers(1, 5, 40)
    for q in (0.1, 0.25, 0.5, 0.9):
        repeated = np.repeat(values, w)
        assert weighted_quantile(values, w.astype(float), q) == pytest.approx(
            weighted_quantile(repeated, None, q)
        )
