"""Logistic regression: one gradient step, one Newton step."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum.exercises.draw import Draw, small_denominators
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals, sigmoid, tex, vector
from lyceum.linear import LogisticRegression
from lyceum.solvers import Newton, Point, Problem


def _draw_rows(draw: Draw) -> tuple[list[int], list[int]]:
    n_rows = 3 + draw.level
    xs = sorted(draw.sample(range(-4, 6), n_rows))
    ys = draw.choices([0, 1], n_rows)
    draw.require(0 < sum(ys) < n_rows, "only one class")
    return xs, ys


@kind("logistic-gradient", "Take a gradient step of logistic regression", "7.4")
def logistic_gradient(draw: Draw) -> Sheet:
    """Posteriors at the start, the cost, and the weights after one step."""
    xs, ys = _draw_rows(draw)
    n_rows = len(xs)
    b = 0 if draw.level == 1 else draw.choice([-1, 1])
    rate = draw.choice([Fraction(1, 2), Fraction(1, 5), Fraction(1)])
    posteriors = [sigmoid(b * x) for x in xs]
    errors = [y - p for y, p in zip(ys, posteriors)]
    down_a = sum(errors) / n_rows
    down_b = sum(e * x for e, x in zip(errors, xs)) / n_rows
    draw.require(abs(down_b) > 0.05, "hardly a step")
    model = LogisticRegression(
        C=math.inf,
        solver="gradient_descent",
        learning_rate=float(rate),
        coef_init=([float(b)], 0.0),
        max_iter=1,
        record=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.array(xs, dtype=float)[:, None], ys)
    start = model.record_[0]
    step = model.record_[-1]
    cost = -sum(math.log(p if y else 1 - p) for y, p in zip(ys, posteriors)) / n_rows
    sheet = Sheet()
    sheet.given.text(
        rf"Logistic regression $h(x) = 1 / (1 + e^{{-(a + b x)}})$ begins at $a = 0$, "
        f"$b = {b}$. Take one step of gradient descent with the rate "
        rf"$\eta = {decimal(rate)}$ on $J = -\frac{{1}}{{N}} \sum [y \ln h + (1 - y) "
        r"\ln(1 - h)]$."
    )
    sheet.given.table(["$x$", "$y$"], zip(xs, ys))
    sheet.ask(
        "What is $J$ at the start?",
        cost,
        float(start["objective"]) / n_rows,
        {
            "the logarithm to base 2": cost / math.log(2),
            "not divided by the number of rows": cost * n_rows,
        },
    )
    for name, old, down, learned in (
        ("a", 0, down_a, step["intercept"][0]),
        ("b", b, down_b, step["coef"][0, 0]),
    ):
        sheet.ask(
            f"What is ${name}$ after the step?",
            old + float(rate) * down,
            float(learned),
            {
                "a step up instead of down": old - float(rate) * down,
                "the gradient was not divided by the number of rows": old
                + float(rate) * down * n_rows,
            },
        )
    losses = [-math.log(p if y else 1 - p) for y, p in zip(ys, posteriors)]
    pushes = [e * x for e, x in zip(errors, xs)]
    cells = zip(posteriors, losses, errors, pushes)
    rows = [(x, y, *map(decimal, parts)) for x, y, parts in zip(xs, ys, cells)]
    rows.append(("sum", "", "", *map(decimal, map(sum, (losses, errors, pushes)))))
    sheet.solution.text(
        "The loss of a row is $-\\ln h$ if $y = 1$, else $-\\ln(1 - h)$."
    )
    sheet.solution.table(
        ["$x$", "$y$", "$h(x)$", "loss", "$y - h(x)$", "$(y - h(x)) x$"], rows
    )
    sheet.solution.formula(
        rf"J = \frac{{{decimal(sum(losses))}}}{{{n_rows}}} {equals(cost)}"
    )
    for name, old, down in (("a", 0, down_a), ("b", b, down_b)):
        sheet.solution.formula(
            rf"{name} \leftarrow {old} + {decimal(rate)} \cdot "
            rf"\frac{{{decimal(down * n_rows)}}}{{{n_rows}}} "
            f"{equals(old + float(rate) * down)}"
        )
    return sheet


class _LogLoss(Problem):
    """−Σ [y ln h + (1 − y) ln(1 − h)] of a line."""

    def __init__(self, xs: list[int], ys: list[int]) -> None:
        self.design = np.column_stack([np.ones(len(xs)), np.array(xs, dtype=float)])
        self.y = np.array(ys, dtype=float)

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        scores = self.design @ theta
        h = 1 / (1 + np.exp(-scores))
        value = float(np.logaddexp(0, scores).sum() - self.y @ scores)
        curvature = self.design.T @ (self.design * (h * (1 - h))[:, None])
        return Point(theta, value, self.design.T @ (h - self.y), curvature)


@kind("newton-step", "Take a Newton step of logistic regression", "7.4")
def newton_step(draw: Draw) -> Sheet:
    """Gradient and Hessian at weights of zero, and the step."""
    xs, ys = _draw_rows(draw)
    half = Fraction(1, 2)
    gradient = (
        sum((half - y for y in ys), Fraction(0)),
        sum(((half - y) * x for x, y in zip(xs, ys)), Fraction(0)),
    )
    hessian = (
        Fraction(len(xs), 4),
        Fraction(sum(xs), 4),
        Fraction(sum(x * x for x in xs), 4),
    )
    a, b, c = hessian
    determinant = a * c - b * b
    step = (
        -(c * gradient[0] - b * gradient[1]) / determinant,
        -(a * gradient[1] - b * gradient[0]) / determinant,
    )
    draw.require(step[1] != 0, "no slope")
    draw.require(small_denominators(step, 60), "large denominators")
    problem = _LogLoss(xs, ys)
    start = problem.evaluate(np.zeros(2), hessian=True)
    outcome = Newton().minimize(problem, start, max_iter=1, tol=0.0)
    learned = outcome.point.theta
    sheet = Sheet()
    sheet.given.text(
        r"Logistic regression $h(x) = 1 / (1 + e^{-(a + b x)})$ begins at $a = b = 0$. Take "
        r"one Newton step on $J = -\sum [y \ln h + (1 - y) \ln(1 - h)]$."
    )
    sheet.given.table(["$x$", "$y$"], zip(xs, ys))
    sheet.ask(
        "What is $\\partial J / \\partial b$ at the start?",
        gradient[1],
        float(start.gradient[1]),
        {"the other sign": -gradient[1]},
    )
    sheet.ask(
        "What is $\\partial^2 J / \\partial b^2$ at the start?",
        c,
        float(np.asarray(start.hessian)[1, 1]),
        {"the factor $h (1 - h)$ was forgotten": 4 * c},
    )
    for index, name in enumerate("ab"):
        sheet.ask(
            f"What is ${name}$ after the step?",
            step[index],
            float(learned[index]),
            {
                "a step up instead of down": -step[index],
                "a gradient step, without the Hessian": -gradient[index],
            },
        )
    sheet.solution.text("At the start $h(x) = 0.5$ for every row.")
    sheet.solution.formula(
        rf"g = \sum (h - y) (1, x) = {vector(gradient)}, \quad H = \frac{{1}}{{4}} "
        rf"\sum (1, x)(1, x)^T = \begin{{pmatrix}} {tex(a)} & {tex(b)} \\ {tex(b)} & {tex(c)} "
        r"\end{pmatrix}"
    )
    sheet.solution.formula(
        rf"(a, b) \leftarrow (0, 0) - H^{{-1}} g = {vector(step)} "
        rf"\approx ({decimal(step[0])}, {decimal(step[1])})"
    )
    return sheet
