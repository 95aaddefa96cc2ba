"""The perceptron, with weights and in its dual form."""

from __future__ import annotations

import numpy as np

from lyceum.exercises.draw import Draw, between
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, vector
from lyceum.kernels import KernelPerceptron
from lyceum.linear import Perceptron

Points = list[tuple[int, int]]


def _draw_points(draw: Draw) -> tuple[Points, list[int]]:
    points = draw.points(3 + (draw.level > 1), -3, 3)
    labels = draw.choices([-1, 1], len(points))
    draw.require(len(set(labels)) == 2, "only one class")
    return points, labels


def _train(points: Points, labels: list[int]) -> list[tuple[int, int, list[int]]]:
    """Pass, row and weights (two, then the intercept) after every update."""
    weights = [0, 0, 0]
    updates = []
    for round_number in range(1, 11):
        mistakes = 0
        for row, ((x1, x2), label) in enumerate(zip(points, labels)):
            score = weights[0] * x1 + weights[1] * x2 + weights[2]
            if label * score <= 0:
                mistakes += 1
                step = (label * x1, label * x2, label)
                weights = [w + s for w, s in zip(weights, step)]
                updates.append((round_number, row, weights))
        if not mistakes:
            return updates
    return []


def _start(points: Points, labels: list[int], task: str) -> Sheet:
    sheet = Sheet()
    sheet.given.text(task)
    rows = [
        (i, *point, label) for i, (point, label) in enumerate(zip(points, labels), 1)
    ]
    sheet.given.table(["row", "$x_1$", "$x_2$", "$y$"], rows)
    return sheet


@kind("perceptron", "Train a perceptron by hand", "7.7")
def perceptron(draw: Draw) -> Sheet:
    """Every update from weights of zero; the plane that separates the classes."""
    points, labels = _draw_points(draw)
    updates = _train(points, labels)
    draw.require(between(len(updates), 2 + draw.level, 4 + draw.level), "length")
    model = Perceptron(shuffle=False, tol=None)
    model.fit(np.array(points, dtype=float), labels)
    sheet = _start(
        points,
        labels,
        "Train a perceptron with learning rate 1 from weights and intercept 0. Go through "
        "the rows in their order, again and again; a row with $y (w \\cdot x + b) \\leq 0$ "
        "is a mistake: $w \\leftarrow w + y x$, $b \\leftarrow b + y$.",
    )
    final = updates[-1][2]
    first_pass = [weights for number, _, weights in updates if number == 1][-1]
    n_mistakes = len(updates)
    sheet.ask(
        "How many updates are made in all?",
        n_mistakes,
        float(model.mistakes_),
        {"the updates of the first pass only": sum(n == 1 for n, _, _ in updates)},
        decimals=0,
    )
    learned = [*model.coef_[0], model.intercept_[0]]
    for name, value, other, early in zip(
        ("$w_1$", "$w_2$", "$b$"), final, learned, first_pass
    ):
        sheet.ask(
            f"What is {name} at the end?",
            value,
            float(other),
            {"the value after the first pass": early, "the other sign": -value},
            decimals=0,
        )
    rows = [
        (number, row + 1, labels[row], f"${vector(weights[:2])}$", weights[2])
        for number, row, weights in updates
    ]
    sheet.solution.table(["pass", "row", "$y$", "$w$", "$b$"], rows)
    sheet.solution.text("The next pass has no mistake: the classes are separated.")
    return sheet


@kind("dual-perceptron", "Train a perceptron in its dual form", "9.2")
def dual_perceptron(draw: Draw) -> Sheet:
    """The Gram matrix, the number of mistakes of every row, and the weights they make."""
    points, labels = _draw_points(draw)
    mistakes = _dual_mistakes(points, labels)
    draw.require(between(sum(mistakes), 2, 3 + draw.level), "too short or too long")
    X = np.array(points, dtype=float)
    model = KernelPerceptron(kernel="linear", record=True).fit(X, labels)
    learned = model.record_[-1]["row_mistakes"]
    sheet = _start(
        points,
        labels,
        "Train a perceptron in its dual form: $\\alpha_i$ counts the mistakes of row $i$, "
        "from 0. Go through the rows in their order, again and again; row $i$ is a mistake "
        "if $y_i \\sum_j \\alpha_j y_j (x_j \\cdot x_i + 1) \\leq 0$ (the 1 is the "
        "intercept).",
    )
    gram = [[a[0] * b[0] + a[1] * b[1] for b in points] for a in points]
    sheet.ask(
        "What is the Gram matrix's entry $x_1 \\cdot x_2$?",
        gram[0][1],
        float(X[0] @ X[1]),
        decimals=0,
    )
    for row, (value, other) in enumerate(zip(mistakes, learned), start=1):
        sheet.ask(
            f"What is $\\alpha_{row}$ at the end?", value, float(other), decimals=0
        )
    weights = [
        sum(
            count * label * point[axis]
            for count, label, point in zip(mistakes, labels, points)
        )
        for axis in (0, 1)
    ]
    sheet.ask(
        "Which $w_1$ do the $\\alpha$ make, $w = \\sum_i \\alpha_i y_i x_i$?",
        weights[0],
        float((learned * np.array(labels)) @ X[:, 0]),
        {
            "the labels were forgotten": sum(
                count * point[0] for count, point in zip(mistakes, points)
            )
        },
        decimals=0,
    )
    numbers = range(1, len(points) + 1)
    sheet.solution.table(
        ["$x_i \\cdot x_j$", *numbers], [[i, *row] for i, row in zip(numbers, gram)]
    )
    rows = _dual_rows(points, labels)
    sheet.solution.table(["pass", "row", r"$y \cdot$ score", r"$\alpha$ after"], rows)
    sheet.solution.formula(rf"w = \sum_i \alpha_i y_i x_i = {vector(weights)}")
    return sheet


def _dual_steps(
    points: Points, labels: list[int]
) -> list[tuple[int, int, int, list[int]]]:
    """Pass, row, y · score and the counts of mistakes after every row, until none is wrong."""
    counts = [0] * len(points)
    steps = []
    for round_number in range(1, 11):
        before = sum(counts)
        for row, (point, label) in enumerate(zip(points, labels)):
            score = sum(
                count * other * (p[0] * point[0] + p[1] * point[1] + 1)
                for count, other, p in zip(counts, labels, points)
            )
            if label * score <= 0:
                counts = [*counts[:row], counts[row] + 1, *counts[row + 1 :]]
            steps.append((round_number, row, label * score, counts))
        if sum(counts) == before:
            return steps
    return []


def _dual_mistakes(points: Points, labels: list[int]) -> list[int]:
    steps = _dual_steps(points, labels)
    return steps[-1][3] if steps else []


def _dual_rows(points: Points, labels: list[int]) -> list[tuple[int, int, int, str]]:
    return [
        (number, row + 1, score, f"${vector(counts)}$")
        for number, row, score, counts in _dual_steps(points, labels)
    ]
