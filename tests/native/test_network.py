"""Networks forward and back, against NumPy, in every build."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax

NO_CHANCE = (0.0, 0.0, 0)
SGD = (0, 0.1, 0.9, 0.999, 1e-8, 0.0)


def codes(*values):
    return np.array(values, dtype=np.int32)


def network(native, widths, activation, integration, loss):
    hidden = len(widths) - 2
    return native.Network(
        codes(*widths),
        codes(*[activation] * hidden, 0),
        codes(*[integration] * hidden, 0),
        2.0,
        loss,
    )


def parameters(rng, widths, integration):
    """The rows of every layer, and all of them padded to 16 columns, in one vector."""
    layers = []
    for l, (n_in, n_out) in enumerate(pairwise(widths)):
        sphere = integration == 2 and l < len(widths) - 2
        layers.append(0.5 * rng.normal(size=(n_in + 1 + sphere, n_out)))
    return layers, np.concatenate(
        [np.pad(p, ((0, 0), (0, -p.shape[1] % 16))).ravel() for p in layers]
    )


ACTIVATE = [
    lambda z: z,
    lambda z: np.maximum(z, 0),
    lambda z: expit(2 * z),
    np.tanh,
    lambda z: np.where(z >= 0, 1, -1),
]


def forward(layers, X, activation, integration):
    for l, p in enumerate(layers):
        d, last = X.shape[1], l == len(layers) - 1
        if last or integration == 0:
            X = X @ p[:d] + p[d]
        elif integration == 1:
            X = X**2 @ p[:d] + p[d]
        else:
            X = ((X[:, :, None] - p[:d]) ** 2).sum(axis=1) * p[d + 1] ** 2 + p[d]
        X = X if last else ACTIVATE[activation](X)
    return X


@pytest.mark.syllabus("8.2")
@pytest.mark.parametrize("activation", range(5))
@pytest.mark.parametrize("integration", range(3))
def test_outputs_follow_the_definition(native, dtype, rng, activation, integration):
    widths = (7, 20, 33, 3)
    net = network(native, widths, activation, integration, 0)
    layers, theta = parameters(rng, widths, integration)
    assert net.size == len(theta)
    X = rng.normal(size=(150, 7)).astype(dtype)
    out = np.empty((150, 3))
    net.forward(theta.astype(dtype), X, out)
    want = forward(layers, X.astype(np.float64), activation, integration)
    # a node near 0 may fall to the other side
    if activation == 4 and dtype == np.float32:
        assert np.mean(np.abs(out - want) > 1e-3) < 0.02
        return
    tolerance = 2e-3 if dtype == np.float32 else 1e-11
    assert_allclose(out, want, rtol=tolerance, atol=tolerance * np.abs(want).max())


@pytest.mark.syllabus("8.1")
@pytest.mark.parametrize("loss", range(3))
def test_losses_follow_the_definition(native, dtype, rng, loss):
    widths = (4, 9, 3 if loss == 0 else 1)
    net = network(native, widths, 3, 0, loss)
    layers, theta = parameters(rng, widths, 0)
    y, w = rng.integers(0, widths[-1] if loss == 0 else 2, 200), rng.random(200) + 0.1
    rows = np.column_stack([rng.normal(size=(200, 4)), y, w]).astype(dtype)
    z = forward(layers, rows[:, :4].astype(np.float64), 3, 0)
    losses = [
        lambda: -log_softmax(z, axis=1)[np.arange(200), y],
        lambda: np.logaddexp(0, z[:, 0]) - y * z[:, 0],
        lambda: (z[:, 0] - y) ** 2 / 2,
    ]
    total = net.gradient(theta.astype(dtype), rows, np.zeros(net.size), NO_CHANCE)
    assert_allclose(
        total,
        (rows[:, -1].astype(np.float64) * losses[loss]()).sum(),
        rtol=1e-5 if dtype == np.float32 else 1e-12,
    )


def test_sgd_by_hand(native):
    """y = w x + b on one row: w -= rate (w x + b - y) x, b -= rate (w x + b - y)."""
    net = network(native, (1, 1), 0, 0, 2)
    theta = np.zeros(32)
    theta[0], theta[16] = 2.0, 1.0
    loss = net.descend(
        theta,
        np.zeros((0, 32)),
        np.array([[3.0, 5.0, 1.0]]),
        None,
        1,
        SGD,
        NO_CHANCE,
        0,
    )
    assert loss == 2.0
    assert_allclose(theta[[0, 16]], [2 - 0.1 * 2 * 3, 1 - 0.1 * 2])
    assert not theta[np.r_[1:16, 17:32]].any()


def test_sign_is_trained_straight_through(native):
    """A hidden node beyond ±1 passes no gradient back; one within does, as if it were linear."""
    net = network(native, (1, 1, 1), 4, 0, 2)
    for x, passes in ((0.5, True), (2.0, False)):
        theta, gradient = np.zeros(64), np.zeros(64)
        theta[0], theta[32] = 1.0, 1.0
        net.gradient(theta, np.array([[x, 0.0, 1.0]]), gradient, NO_CHANCE)
        assert gradient[0] == (x if passes else 0.0)


def test_relu_passes_the_gradient_of_what_is_above_zero(native):
    net = network(native, (1, 1, 1), 1, 0, 2)
    for x in (-1.0, 2.0):
        theta, gradient = np.zeros(64), np.zeros(64)
        theta[0], theta[32] = 1.0, 1.0
        net.gradient(theta, np.array([[x, 0.0, 1.0]]), gradient, NO_CHANCE)
        assert gradient[0] == max(x, 0.0) * x


@pytest.mark.syllabus("8.3")
def test_dropout_keeps_the_mean_and_leaves_out_its_share(native):
    """A linear network's mean output stays, and its outputs are those of the nodes that stay,
    scaled."""
    net = network(native, (1, 100, 1), 0, 0, 2)
    theta = np.zeros(net.size)
    theta[:100] = 1.0  # every hidden node copies x
    theta[2 * 112 + 16 * np.arange(100)] = 0.01  # the output is their mean
    rows = np.ones((4000, 3))
    rows[:, 1] = 0.0
    gradient = np.zeros(net.size)
    total = net.gradient(theta, rows, gradient, (0.25, 0.0, 5))
    # z is a mean of 100 values 1/0.75 with probability 0.75: mean 1, variance 1/300
    assert_allclose(total / 4000, 0.5 * (1 + 1 / 300), rtol=0.01)
    assert_allclose(
        gradient[2 * 112 + 16 * 100] / 4000, 1.0, rtol=0.01
    )  # by the output's bias: mean z


@pytest.mark.syllabus("8.3")
def test_input_noise_has_its_standard_deviation(native):
    net = network(native, (1, 1), 0, 0, 2)
    theta = np.zeros(32)
    theta[0] = 1.0
    rows = np.tile([0.0, 0.0, 1.0], (20000, 1))
    assert_allclose(
        net.gradient(theta, rows, np.zeros(32), (0.0, 0.3, 1)) / 20000,
        0.09 / 2,
        rtol=0.03,
    )
    total = net.gradient(theta, rows, np.zeros(32), (0.0, 0.3, 2))
    assert_allclose(total / 20000, 0.09 / 2, rtol=0.03)


def test_order_is_the_order_of_the_rows(native, dtype, rng):
    net = network(native, (5, 6, 3), 1, 0, 0)
    _, theta = parameters(rng, (5, 6, 3), 0)
    rows = np.column_stack(
        [rng.normal(size=(70, 5)), rng.integers(0, 3, 70), np.ones(70)]
    ).astype(dtype)
    order = rng.permutation(70)
    one, two = theta.astype(dtype), theta.astype(dtype)
    net.descend(one, np.zeros((0, net.size), dtype), rows, order, 16, SGD, NO_CHANCE, 0)
    net.descend(
        two, np.zeros((0, net.size), dtype), rows[order], None, 16, SGD, NO_CHANCE, 0
    )
    assert_array_equal(one, two)


def test_bad_arguments_are_refused(native):
    net = network(native, (2, 3, 2), 1, 0, 0)
    theta, rows = np.zeros(net.size), np.array([[0.0, 0.0, 1.0, 1.0]])
    gradient = np.zeros(net.size)
    with pytest.raises(ValueError, match=r"theta has shape \(5,\)"):
        net.gradient(np.zeros(5), rows, gradient, NO_CHANCE)
    with pytest.raises(ValueError, match="class code is out of range"):
        net.gradient(theta, np.array([[0.0, 0.0, 2.0, 1.0]]), gradient, NO_CHANCE)
    with pytest.raises(ValueError, match="class code is out of range"):
        net.gradient(theta, np.array([[0.0, 0.0, np.nan, 1.0]]), gradient, NO_CHANCE)
    with pytest.raises(ValueError, match="weights must be above zero"):
        net.gradient(theta, np.array([[0.0, 0.0, 1.0, 0.0]]), gradient, NO_CHANCE)
    with pytest.raises(ValueError, match="order is out of range"):
        net.descend(
            theta, np.zeros((0, net.size)), rows, np.array([1]), 1, SGD, NO_CHANCE, 0
        )
    with pytest.raises(ValueError, match="memory has shape"):
        net.descend(theta, np.zeros((1, net.size)), rows, None, 1, SGD, NO_CHANCE, 0)
    with pytest.raises(ValueError, match="activation has the code 7"):
        network(native, (2, 3, 1), 7, 0, 0)
