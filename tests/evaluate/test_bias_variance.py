"""Error splits exactly into bias and variance, and they go the way they should."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import bias_variance, decompose


@pytest.mark.syllabus("14.8.1")
@settings(max_examples=60, deadline=None)
@given(
    arrays(float, (4, 5), elements=st.floats(-100, 100)),
    arrays(float, 5, elements=st.floats(-100, 100)),
)
def test_squared_error_is_bias_plus_variance(predictions, y):
    parts = decompose(y, predictions)
    assert parts.error == pytest.approx(parts.bias + parts.variance, abs=1e-9)
    assert parts.variance == pytest.approx(predictions.var(axis=0).mean(), abs=1e-9)
    assert parts.main == pytest.approx(predictions.mean(axis=0))


@pytest.mark.syllabus("14.8")
@settings(max_examples=100, deadline=None)
@given(
    arrays(int, (5, 4), elements=st.integers(0, 3)),
    arrays(int, 4, elements=st.integers(0, 3)),
)
def test_zero_one_error_is_bias_plus_net_variance_for_any_number_of_classes(
    predictions, y
):
    parts = decompose(y, predictions, loss="error")
    assert parts.error == pytest.approx((predictions != y).mean())
    assert parts.error == pytest.approx(parts.bias + parts.net_variance)
    assert 0.0 <= parts.variance <= 1.0


@pytest.mark.syllabus("14.8.1")
def test_zero_one_parts_by_hand():
    # row 1: main a, right, varies 1/3; row 2: main b, wrong, right once by luck
    parts = decompose(["a", "a"], [["a", "b"], ["a", "b"], ["b", "a"]], loss="error")
    assert parts.main.tolist() == ["a", "b"]
    assert parts.bias == 0.5
    assert parts.variance == pytest.approx(1 / 3)
    assert parts.net_variance == pytest.approx((1 / 3 - 1 / 3) / 2)
    assert parts.error == pytest.approx(0.5)
    assert "3 training samples" in str(parts)


def test_with_the_noise_free_truth_noise_is_set_apart():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=4000)
    y = truth + rng.normal(scale=0.5, size=4000)
    predictions = truth + 0.3 + rng.normal(scale=0.2, size=(30, 4000))
    parts = decompose(y, predictions, truth=truth)
    assert parts.noise == pytest.approx(0.25, rel=0.1)
    assert parts.bias == pytest.approx(0.09, rel=0.1)
    assert parts.variance == pytest.approx(0.04, rel=0.1)
    assert parts.error == pytest.approx(
        parts.noise + parts.bias + parts.variance, rel=0.05
    )
    assert decompose([1, 0], [[1, 1]], truth=[1, 1], loss="error").noise == 0.5


@pytest.mark.syllabus("14.8")
def test_variance_of_least_squares_is_its_closed_form():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=2000)
    parts = bias_variance(LinearRegression(), X, y, X[:500], y[:500], n_rounds=100)
    assert parts.variance == pytest.approx(3 / 2000, rel=0.3)  # sigma^2 (d + 1) / N
    assert parts.loss == "squared"


@pytest.mark.syllabus("14.8")
def test_deep_trees_vary_and_stumps_are_biased():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    y = np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(400) < 0.1), "in", "out")
    halves = X[:200], y[:200], X[200:], y[200:]
    deep = bias_variance(DecisionTreeClassifier(random_state=0), *halves, n_rounds=25)
    stump = bias_variance(
        DecisionTreeClassifier(max_depth=1, random_state=0), *halves, n_rounds=25
    )
    assert stump.bias > 2 * deep.bias
    constant = bias_variance(
        DummyClassifier(strategy="constant", constant="in"), *halves, n_rounds=5
    )
    assert constant.variance == 0.0
    assert constant.error == pytest.approx((y[200:] != "in").mean())


def test_samples_are_the_same_for_a_seed_and_hold_two_classes():
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    first, second = (
        bias_variance(
            KNeighborsClassifier(1),
            X,
            y,
            X,
            y,
            n_rounds=8,
            train_size=0.5,
            replace=False,
        )
        for _ in range(2)
    )
    assert first.error == second.error
    assert first.error < 1.0


def test_shapes_and_settings_are_checked():
    with pytest.raises(DataError, match="shape"):
        decompose([1.0, 2.0], [[1.0]])
    with pytest.raises(DataError, match="truth has 1 row,"):
        decompose([1.0, 2.0], [[1.0, 2.0]], truth=[1.0])
    with pytest.raises(SettingError, match="'squared', 'error'"):
        decompose([1.0], [[1.0]], loss="hinge")
    with pytest.raises(SettingError, match="train_size=2"):
        bias_variance(
            LinearRegression(), [[1.0]], [1.0], [[1.0]], [1.0], train_size=2.0
        )


def test_variance_that_helps_as_much_as_it_hurts_is_exactly_zero():
    # main prediction "a", two of three: right for the first row, wrong for the second
    parts = decompose(["a", "b"], [["a", "a"], ["a", "b"], ["b", "a"]], loss="error")
    assert parts.net_variance == 0.0
    assert parts.error == parts.bias == 0.5
