"""Backpropagation against finite differences, over architectures."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose

from lyceum.neural.architecture import ACTIVATIONS, INTEGRATIONS, LOSSES, Architecture

SMOOTH = tuple(name for name in ACTIVATIONS if name not in ("sign", "relu"))
NO_CHANCE = (0.0, 0.0, 0)


@st.composite
def architectures(draw, activations=SMOOTH):
    loss = draw(st.sampled_from(LOSSES))
    hidden = draw(st.lists(st.integers(1, 20), max_size=4))
    outputs = draw(st.integers(1, 18)) if loss in ("softmax", "sigmoid_squares") else 1
    widths = [draw(st.integers(1, 20)), *hidden, outputs]
    kinds = [
        [draw(st.sampled_from(names)) for _ in hidden]
        for names in (activations, INTEGRATIONS)
    ]
    return Architecture.of(widths, *kinds, draw(st.sampled_from([0.5, 1.0, 3.0])), loss)


def rows_for(architecture, rng, n=40):
    outputs = architecture.layers[-1].n_out
    y = rng.normal(size=n)
    if architecture.loss != "squares":
        y = rng.integers(0, max(outputs, 1 + (architecture.loss != "softmax")), n)
    return np.column_stack(
        [rng.normal(size=(n, architecture.layers[0].n_in)), y, rng.random(n) + 0.1]
    )


def loss_and_gradient(architecture, parameters, rows, chance=NO_CHANCE):
    theta = architecture.pad(parameters, np.float64)
    gradient = np.zeros(len(theta))
    loss = architecture.network.gradient(theta, rows, gradient, chance)
    return loss, architecture.compact(gradient)


def check_gradient(architecture, parameters, rows, chance=NO_CHANCE):
    _, gradient = loss_and_gradient(architecture, parameters, rows, chance)
    rng, h = np.random.default_rng(0), 1e-5
    for _ in range(6):
        direction = rng.normal(size=len(parameters))
        direction /= np.linalg.norm(direction)
        ends = [
            loss_and_gradient(
                architecture, parameters + s * h * direction, rows, chance
            )[0]
            for s in (1, -1)
        ]
        size = np.linalg.norm(gradient) + 1e-6 * abs(ends[0])
        assert_allclose(
            gradient @ direction,
            (ends[0] - ends[1]) / (2 * h),
            rtol=1e-5,
            atol=1e-5 * size + 1e-7,
        )


@pytest.mark.syllabus("8.1.1", "8.2")
@given(architectures(), st.integers(0, 99))
def test_backpropagation_is_the_derivative(architecture, seed):
    rng = np.random.default_rng(seed)
    check_gradient(architecture, architecture.start(rng), rows_for(architecture, rng))


@pytest.mark.syllabus("8.3")
@given(architectures(), st.integers(0, 99))
def test_it_is_under_dropout_and_noise_too(architecture, seed):
    rng = np.random.default_rng(seed)
    check_gradient(
        architecture,
        architecture.start(rng),
        rows_for(architecture, rng),
        (0.3, 0.2, seed),
    )


@given(architectures(("relu",)), st.integers(0, 99))
def test_relu_is_differentiable_away_from_its_corner(architecture, seed):
    """With one row the corners are rarely within h of it."""
    rng = np.random.default_rng(seed)
    check_gradient(
        architecture, architecture.start(rng) + 0.01, rows_for(architecture, rng, n=1)
    )


@given(architectures(ACTIVATIONS), st.integers(0, 99))
def test_parameters_survive_padding(architecture, seed):
    parameters = architecture.start(np.random.default_rng(seed))
    theta = architecture.pad(parameters, np.float64)
    np.testing.assert_array_equal(architecture.compact(theta), parameters)
    weights = [
        part[: layer.n_in]
        for layer, part in zip(architecture.layers, architecture.split(parameters))
    ]
    assert_allclose(
        architecture.squared_weights(theta), sum((w**2).sum() for w in weights)
    )


@given(architectures(ACTIVATIONS), st.integers(0, 99))
def test_the_gradient_of_many_rows_is_the_sum_of_those_of_each(architecture, seed):
    rng = np.random.default_rng(seed)
    rows, parameters = rows_for(architecture, rng, n=5), architecture.start(rng)
    loss, gradient = loss_and_gradient(architecture, parameters, rows)
    each = [
        loss_and_gradient(architecture, parameters, rows[i : i + 1]) for i in range(5)
    ]
    assert_allclose(loss, sum(one for one, _ in each), rtol=1e-10)
    scale = np.abs(gradient).max() + 1e-12
    assert_allclose(
        gradient, sum(one for _, one in each), rtol=1e-8, atol=1e-10 * scale
    )
