"""One step of backpropagation in a network of two inputs, two hidden nodes and one output."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.exercises.draw import Draw
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals, factor, sigmoid, signed
from lyceum.neural import MLPRegressor


@kind("backpropagation", "One step of backpropagation in a 2-2-1 network", "8.1")
def backpropagation(draw: Draw) -> Sheet:
    """Forward pass, the errors of the nodes, and the weights after one step."""
    x = draw.choice([(1, 0), (1, 1), (1, 2), (2, 1)])
    target = draw.integer(0, 2)
    rate = draw.choice([Fraction(1, 2), Fraction(1, 10)])
    tenths = [Fraction(draw.nonzero(-9, 9), 10) for _ in range(6)]
    V = [tenths[0:2], tenths[2:4]]  # from input i to hidden node j
    w = tenths[4:6]
    scores = [float(x[0] * V[0][j] + x[1] * V[1][j]) for j in (0, 1)]
    hidden = [sigmoid(score) for score in scores]
    output = float(w[0]) * hidden[0] + float(w[1]) * hidden[1]
    delta = target - output
    draw.require(abs(delta) > 0.2, "a small error")
    hidden_deltas = [delta * float(w[j]) * hidden[j] * (1 - hidden[j]) for j in (0, 1)]
    new_w = [float(w[j]) + float(rate) * delta * hidden[j] for j in (0, 1)]
    new_v = float(V[0][0]) + float(rate) * hidden_deltas[0] * x[0]
    step = _learned(x, target, rate, V, w)
    sheet = _sheet(x, target, rate, V, w)
    learned_delta = (step["w"][0] - float(w[0])) / float(rate) / hidden[0]
    sheet.ask(
        "What is the output of the network?",
        output,
        target - learned_delta,
        {
            "the hidden nodes were not passed through the sigmoid": float(w[0])
            * scores[0]
            + float(w[1]) * scores[1],
            "a sigmoid at the output": sigmoid(output),
        },
    )
    sheet.ask(
        "What is the weight $w_1$ after the step?",
        new_w[0],
        step["w"][0],
        {"a step in the wrong direction": 2 * float(w[0]) - new_w[0]},
    )
    no_slope = float(V[0][0]) + float(rate) * delta * float(w[0]) * x[0]
    late = (
        float(V[0][0])
        + float(rate) * delta * new_w[0] * hidden[0] * (1 - hidden[0]) * x[0]
    )
    sheet.ask(
        "What is the weight $v_{11}$ after the step?",
        new_v,
        step["v"],
        {
            "the slope $h (1 - h)$ of the sigmoid was forgotten": no_slope,
            "the new $w_1$ was used instead of the old one": late,
            "a step in the wrong direction": 2 * float(V[0][0]) - new_v,
        },
        decimals=4,
    )
    for j in (0, 1):
        sheet.solution.formula(
            rf"h_{j + 1} = \sigma({x[0]} \cdot {factor(float(V[0][j]))} + "
            rf"{x[1]} \cdot {factor(float(V[1][j]))}) = \sigma({decimal(scores[j])}) "
            f"{equals(hidden[j], 4)}"
        )
    sheet.solution.formula(
        rf"o = {decimal(w[0])} \cdot {decimal(hidden[0], 4)} {signed(float(w[1]))} \cdot "
        rf"{decimal(hidden[1], 4)} {equals(output, 4)}, \quad \delta = {target} - "
        rf"{factor(output, 4)} {equals(delta, 4)}"
    )
    sheet.solution.formula(
        rf"w_1 \leftarrow {decimal(w[0])} + {decimal(rate)} \cdot {factor(delta, 4)} \cdot "
        rf"{decimal(hidden[0], 4)} {equals(new_w[0], 4)}"
    )
    sheet.solution.formula(
        rf"\delta_1 = \delta w_1 h_1 (1 - h_1) {equals(hidden_deltas[0], 4)}, \quad "
        rf"v_{{11}} \leftarrow {decimal(V[0][0])} + {decimal(rate)} \cdot "
        rf"{factor(hidden_deltas[0], 4)} \cdot {x[0]} {equals(new_v, 4)}"
    )
    return sheet


def _sheet(
    x: tuple[int, int],
    target: int,
    rate: Fraction,
    V: list[list[Fraction]],
    w: list[Fraction],
) -> Sheet:
    sheet = Sheet()
    sheet.given.text(
        "A network has two inputs, two hidden nodes with the sigmoid $\\sigma(a) = 1 / (1 + "
        "e^{-a})$ and a linear output; biases are 0. Take one step of backpropagation on "
        f"$\\frac{{1}}{{2}}(y - o)^2$ with the rate $\\eta = {decimal(rate)}$ for the row "
        f"$x = ({x[0]}, {x[1]})$, $y = {target}$."
    )
    sheet.given.table(
        ["weight", "$v_{11}$", "$v_{12}$", "$v_{21}$", "$v_{22}$", "$w_1$", "$w_2$"],
        [["value", *(decimal(value) for value in (*V[0], *V[1], *w))]],
    )
    sheet.given.text("$v_{ij}$ leads from input $i$ to hidden node $j$.")
    return sheet


def _learned(
    x: tuple[int, int],
    target: int,
    rate: Fraction,
    V: list[list[Fraction]],
    w: list[Fraction],
) -> dict:
    coefs = [np.array(V, dtype=float), np.array(w, dtype=float)[:, None]]
    model = MLPRegressor(
        hidden_layer_sizes=(2,),
        activation="sigmoid",
        solver="sgd",
        learning_rate_init=float(rate),
        momentum=0.0,
        alpha=0.0,
        shuffle=False,
        standardize=False,
        batch_size=1,
        max_iter=1,
        weights_init=(coefs, [np.zeros(2), np.zeros(1)]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.array([x], dtype=float), [float(target)])
    return {
        "v": float(model.coefs_[0][0, 0]),
        "w": [float(value) for value in model.coefs_[1][:, 0]],
    }
