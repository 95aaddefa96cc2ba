"""Support vectors, the kernel trick, and Lagrange multipliers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.exercises.draw import Draw, small_denominators
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    signed,
    tex,
    vector,
)
from lyceum.kernels import SVC, PolynomialKernel
from lyceum.solvers import constrained_optima

Point = tuple[int, int]


@kind("svm", "Solve a support vector machine with three points", "9.3")
def svm(draw: Draw) -> Sheet:
    """α of every point, the weights, the intercept and the margin of a hard-margin machine."""
    points = draw.points(3, -4, 5)
    labels = draw.choice([[-1, -1, 1], [1, 1, -1]])
    solution = _three_points(points, labels)
    n_support = sum(alpha > 0 for alpha in solution[0])
    draw.require(n_support == (2 if draw.level == 1 else 3), "other support vectors")
    alphas, w, b = solution
    draw.require(small_denominators([*alphas, *w, b], 32), "large denominators")
    model = SVC(kernel="linear", C=math.inf).fit(np.array(points, dtype=float), labels)
    sheet = Sheet()
    sheet.given.text(
        "Find the plane with the largest margin (hard-margin support vector machine): "
        "maximize $\\sum_i \\alpha_i - \\frac{1}{2} \\sum_{ij} \\alpha_i \\alpha_j y_i y_j "
        "x_i \\cdot x_j$ with $\\alpha_i \\geq 0$ and $\\sum_i \\alpha_i y_i = 0$."
    )
    rows = [(i, *p, y) for i, (p, y) in enumerate(zip(points, labels), start=1)]
    sheet.given.table(["point", "$x_1$", "$x_2$", "$y$"], rows)
    learned = np.ravel(model.alpha_)
    for index, alpha in enumerate(alphas):
        sheet.ask(f"What is $\\alpha_{index + 1}$?", alpha, float(learned[index]))
    for axis in (0, 1):
        sheet.ask(
            f"What is $w_{axis + 1}$?",
            w[axis],
            float(model.coef_[0, axis]),
            {
                "the labels were forgotten": sum(
                    (a * p[axis] for a, p in zip(alphas, points)), Fraction(0)
                ),
                "the other sign": -w[axis],
            },
        )
    sheet.ask(
        "What is the intercept $b$?",
        b,
        float(model.intercept_[0]),
        {"the other sign": -b},
    )
    length = math.sqrt(w[0] ** 2 + w[1] ** 2)
    sheet.ask(
        "How wide is the margin, from one side to the other?",
        2 / length,
        float(np.ravel(model.margin_width_)[0]),
        {
            "the distance to one side only": 1 / length,
            "the length of $w$": length,
            "the root was forgotten": 2 / length**2,
        },
    )
    _work_machine(sheet, points, labels, solution)
    return sheet


def _work_machine(
    sheet: Sheet,
    points: list[Point],
    labels: list[int],
    solution: tuple[list[Fraction], list[Fraction], Fraction],
) -> None:
    alphas, w, b = solution
    support = [i for i, alpha in enumerate(alphas) if alpha > 0]
    names = ", ".join(str(i + 1) for i in support)
    sheet.solution.text(
        f"Suppose that the support vectors are the points {names}: for them "
        "$y_i (w \\cdot x_i + b) = 1$, with $w = \\sum_i \\alpha_i y_i x_i$; for the others "
        "$\\alpha_i = 0$. With the inner products of the points this is"
    )
    for i in support:
        terms = " ".join(
            rf"{signed(labels[j] * _dot(points[j], points[i]))}\,\alpha_{j + 1}"
            for j in support
        )
        sheet.solution.formula(rf"{terms.removeprefix('+ ')} + b = {labels[i]}")
    balance = " ".join(
        rf"{'+' if labels[j] > 0 else '-'} \alpha_{j + 1}" for j in support
    )
    sheet.solution.formula(rf"{balance.removeprefix('+ ')} = 0")
    listed = ", ".join(rf"\alpha_{i + 1} = {tex(a)}" for i, a in enumerate(alphas))
    sheet.solution.formula(rf"{listed}, \quad b = {tex(b)}")
    # the conditions of Karush, Kuhn and Tucker, point by point
    sides = [y * (w[0] * p[0] + w[1] * p[1] + b) for p, y in zip(points, labels)]
    sheet.solution.text(
        "The choice was right, for the KKT conditions hold: no $\\alpha_i$ is negative, no point "
        "is inside the margin, $y_i (w \\cdot x_i + b) \\geq 1$, and where it is not on it, "
        "$\\alpha_i = 0$."
    )
    sheet.solution.table(
        ["point", "$y_i (w \\cdot x_i + b)$", "$\\alpha_i$"],
        [
            (i, f"${tex(side)}$", f"${tex(a)}$")
            for i, (side, a) in enumerate(zip(sides, alphas), 1)
        ],
    )
    squared = w[0] ** 2 + w[1] ** 2
    sheet.solution.formula(
        rf"w = {vector(w)}, \quad \frac{{2}}{{\|w\|}} = \frac{{2}}{{\sqrt{{{tex(squared)}}}}} "
        f"{equals(2 / math.sqrt(squared))}"
    )


def _dot(a: Point, b: Point) -> int:
    return a[0] * b[0] + a[1] * b[1]


def _three_points(
    points: list[Point], labels: list[int]
) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """The machine of two points of one class and one of the other.

    The point of the rarer class meets the segment of the other two in the nearest point
    c = (1 − t) p + t q: w = 2 (c' − c) / |c' − c|², and b from the nearest pair.
    """
    lone = next(i for i in range(3) if labels.count(labels[i]) == 1)
    first, second = (i for i in range(3) if i != lone)
    p = points[first]
    q = points[second]
    z = points[lone]
    along = (q[0] - p[0], q[1] - p[1])
    t = Fraction(_dot((z[0] - p[0], z[1] - p[1]), along), _dot(along, along))
    t = min(max(t, Fraction(0)), Fraction(1))
    nearest = (p[0] + t * along[0], p[1] + t * along[1])
    gap = (z[0] - nearest[0], z[1] - nearest[1])
    squared = gap[0] ** 2 + gap[1] ** 2
    if squared == 0:
        return [Fraction(0)] * 3, [Fraction(0)] * 2, Fraction(0)
    sign = labels[lone]
    w = [sign * 2 * g / squared for g in gap]
    b = sign - w[0] * z[0] - w[1] * z[1]
    alphas = [Fraction(0)] * 3
    alphas[lone] = 2 / squared
    alphas[first] = (1 - t) * 2 / squared
    alphas[second] = t * 2 / squared
    return alphas, w, b


@kind("kernel-trick", "Check a kernel against its feature space", "9.1")
def kernel_trick(draw: Draw) -> Sheet:
    """(1 + x·z)² without and with the features, and an entry of a Gram matrix."""
    x, z = draw.points(2, -3, 3)
    draw.require(0 not in (*x, *z), "a coordinate of 0")
    dot = _dot(x, z)
    draw.require(dot != 0, "orthogonal points")
    power = 3 if draw.level == 3 else 2
    value = (1 + dot) ** power
    kernel = PolynomialKernel(degree=power, gamma=1.0, coef0=1.0)
    gram = kernel.gram(np.array([x], dtype=float), np.array([z], dtype=float))
    sheet = Sheet()
    sheet.given.text(
        f"The kernel is $k(x, z) = (1 + x \\cdot z)^{power}$, with $x = {vector(x)}$ and "
        f"$z = {vector(z)}$."
    )
    sheet.ask(
        "What is $k(x, z)$?",
        value,
        float(gram[0, 0]),
        {
            "the 1 was forgotten": dot**power,
            "the product was not raised to the power": 1 + dot,
        },
        decimals=0,
    )
    features = [_features(point) for point in (x, z)]
    inner = sum(a * b for a, b in zip(*features))
    squared = PolynomialKernel(degree=2, gamma=1.0, coef0=1.0)
    two = squared.gram(np.array([x], dtype=float), np.array([z], dtype=float))[0, 0]
    sheet.ask(
        f"{_of_the_square(power)}With "
        r"$\varphi(x) = (1, \sqrt{2} x_1, \sqrt{2} x_2, x_1^2, x_2^2, \sqrt{2} x_1 x_2)$: "
        r"what is $\varphi(x) \cdot \varphi(z)$?",
        round(inner),
        float(two),
        {"the factors $\\sqrt{2}$ were forgotten": _plain_inner(x, z)},
        decimals=0,
    )
    distance = (1 + _dot(x, x)) ** 2 + (1 + _dot(z, z)) ** 2 - 2 * (1 + dot) ** 2
    cells = np.array([x, z], dtype=float)
    K = squared.gram(cells, cells)
    sheet.ask(
        r"What is the squared distance $\|\varphi(x) - \varphi(z)\|^2$?",
        distance,
        float(K[0, 0] + K[1, 1] - 2 * K[0, 1]),
        {
            "the squared distance of $x$ and $z$ themselves": _dot(x, x)
            + _dot(z, z)
            - 2 * dot
        },
        decimals=0,
    )
    sheet.solution.formula(
        rf"x \cdot z = {dot}, \quad k(x, z) = (1 {signed(dot)})^{power} = {value}"
    )
    products = [round(a * b) for a, b in zip(*features)]
    terms = " ".join(signed(product) for product in products).removeprefix("+ ")
    sheet.solution.formula(rf"\varphi(x) \cdot \varphi(z) = {terms} = {round(inner)}")
    sheet.solution.formula(
        rf"\|\varphi(x) - \varphi(z)\|^2 = {(1 + _dot(x, x)) ** 2} + "
        rf"{(1 + _dot(z, z)) ** 2} - 2 \cdot {(1 + dot) ** 2} = {distance}"
    )
    return sheet


def _of_the_square(power: int) -> str:
    """What the questions on features are about."""
    if power == 2:
        return ""
    return "Now the square, $(1 + x \\cdot z)^2$. "


def _features(point: Point) -> tuple[float, ...]:
    a, b = point
    root = math.sqrt(2)
    return (1.0, root * a, root * b, float(a * a), float(b * b), root * a * b)


def _plain_inner(x: Point, z: Point) -> int:
    first = x[0] * z[0]
    second = x[1] * z[1]
    return 1 + first + second + first**2 + second**2 + first * second


@kind("lagrange", "Find a constrained optimum with a multiplier", "9.2")
def lagrange(draw: Draw) -> Sheet:
    """The nearest point of a line to the origin, or the largest product, by Lagrange."""
    a = draw.integer(1, 4)
    b = draw.integer(1, 4)
    c = draw.integer(2, 12)
    is_product = draw.level > 1 and draw.integer(0, 1) == 1
    if is_product:
        x = Fraction(c, 2 * a)
        y = Fraction(c, 2 * b)
        value = x * y
        multiplier = y / a
    else:
        scale = Fraction(c, a * a + b * b)
        x = a * scale
        y = b * scale
        value = x * x + y * y
        multiplier = 2 * scale
    draw.require(small_denominators([x, y, value, multiplier], 20), "denominators")
    objective = (lambda x, y: x * y) if is_product else (lambda x, y: x * x + y * y)
    optima = constrained_optima(
        objective, {"line": lambda x, y: a * x + b * y - c}, n_starts=3
    )
    best = (optima.maxima if is_product else optima.minima)[0]
    verb, shown = ("Maximize", "x y") if is_product else ("Minimize", "x^2 + y^2")
    first = "" if a == 1 else str(a)
    second = "" if b == 1 else str(b)
    line = f"{first} x + {second} y".replace("  ", " ").strip()
    sheet = Sheet()
    sheet.given.text(f"{verb} $f(x, y) = {shown}$ subject to ${line} = {c}$.")
    swapped = (y, x)
    for name, number, learned, other in zip("xy", (x, y), _rounded(best.x), swapped):
        sheet.ask(
            f"What is ${name}$ at the optimum?",
            number,
            learned,
            {"the two coordinates were swapped": other},
        )
    sheet.ask("What is $f$ there?", value, _rounded([best.value])[0])
    sheet.ask(
        r"What is the multiplier $\lambda$, with $\nabla f = \lambda \nabla g$?",
        multiplier,
        abs(_rounded([best.multipliers["line"]])[0]),
        {"half of it": multiplier / 2, "twice of it": multiplier * 2},
    )
    parts = ("y", "x") if is_product else ("2x", "2y")
    sheet.solution.formula(
        rf"{parts[0]} = {first} \lambda, \quad {parts[1]} = {second} \lambda, \quad {line} = {c}"
    )
    sheet.solution.formula(
        rf"\lambda = {tex(multiplier)}, \quad x = {tex(x)}, \quad y = {tex(y)}, \quad "
        rf"f = {fraction_and_decimal(value)}"
    )
    slope = decimal(multiplier)
    sheet.solution.text(
        f"Raising the right side {c} by a little $\\varepsilon$ changes $f$ by about "
        f"{slope} $\\varepsilon$."
    )
    return sheet


def _rounded(values: np.ndarray | list[float]) -> list[float]:
    """Roots that a solver found to some twelve digits."""
    return [float(Fraction(float(value)).limit_denominator(10_000)) for value in values]
