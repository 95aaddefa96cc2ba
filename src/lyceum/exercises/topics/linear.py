"""Two columns of numbers: their statistics, the line, a gradient step, and LMS."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lyceum.exercises.draw import Draw, few_decimals, small_denominators
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    factor,
    signed,
    tex,
    with_decimal,
)
from lyceum.linear import LinearRegression, simple_regression
from lyceum.prepare import MinMaxScaler, StandardScaler
from lyceum.statistics import describe


def _line_sheet(xs: list[int], ys: list[int], task: str) -> Sheet:
    sheet = Sheet()
    sheet.given.text(task)
    sheet.given.table(["$x$", "$y$"], zip(xs, ys))
    return sheet


@kind("sample-statistics", "Describe two columns and scale one", "1.2", "1.4")
def sample_statistics(draw: Draw) -> Sheet:
    """Variance and correlation of a sample; a value scaled by range and by deviation."""
    n_rows = 3 + draw.level
    xs = draw.sample(range(10), n_rows)
    ys = draw.integers(n_rows, 0, 12)
    mean_x = Fraction(sum(xs), n_rows)
    mean_y = Fraction(sum(ys), n_rows)
    draw.require(few_decimals([mean_x, mean_y], 1), "means with many decimals")
    xx = sum(((x - mean_x) ** 2 for x in xs), Fraction(0))
    xy = sum(((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)), Fraction(0))
    yy = sum(((y - mean_y) ** 2 for y in ys), Fraction(0))
    draw.require(yy > 0 and xy != 0, "no correlation")
    draw.require(xs[0] not in (min(xs), max(xs), mean_x), "a value that is trivial")
    cells = np.column_stack([xs, ys]).astype(float)
    sample = describe(cells)
    variance = xx / (n_rows - 1)
    sheet = _line_sheet(xs, ys, "A sample of two columns.")
    sheet.ask(
        "What is the variance of $x$, as that of a sample?",
        variance,
        float(sample.variance[0]),
        {
            "divided by $N$": xx / n_rows,
            "the standard deviation": float(variance) ** 0.5,
        },
    )
    r = float(xy) / float(xx * yy) ** 0.5
    sheet.ask(
        "What is the correlation of $x$ and $y$?",
        r,
        float(sample.correlation[0, 1]),
        {"its square": r**2, "the covariance": xy / (n_rows - 1)},
    )
    spread = max(xs) - min(xs)
    sheet.ask(
        "Scale $x$ to [0, 1]. What does the first row become?",
        Fraction(xs[0] - min(xs), spread),
        float(MinMaxScaler().fit_transform(cells)[0, 0]),
        {"the least value was not subtracted": Fraction(xs[0], spread)},
    )
    deviation = float(variance) ** 0.5
    sheet.ask(
        "Standardize $x$ by its mean and its standard deviation as that of a sample. What does "
        "the first row become?",
        float(xs[0] - mean_x) / deviation,
        float(StandardScaler(ddof=1).fit_transform(cells)[0, 0]),
        {
            "divided by the variance": float(xs[0] - mean_x) / float(variance),
            "with the deviation that divides by $N$": float(xs[0] - mean_x)
            / (float(xx) / n_rows) ** 0.5,
        },
    )
    sheet.solution.text(
        f"$\\bar x$ is {with_decimal(mean_x)}, $\\bar y$ {with_decimal(mean_y)}; the squares of "
        f"$x - \\bar x$ sum to {decimal(xx)}, those of $y$ to {decimal(yy)}, the products to "
        f"{decimal(xy)}."
    )
    sheet.solution.formula(
        rf"s^2 = \frac{{{decimal(xx)}}}{{{n_rows - 1}}} {equals(variance)}, \quad "
        rf"r = \frac{{{decimal(xy)}}}{{\sqrt{{{decimal(xx)} \cdot {decimal(yy)}}}}} {equals(r)}"
    )
    sheet.solution.formula(
        rf"\frac{{{xs[0]} - {min(xs)}}}{{{spread}}} "
        rf"{equals(Fraction(xs[0] - min(xs), spread))}, \quad "
        rf"\frac{{{xs[0]} - {decimal(mean_x)}}}{{{decimal(deviation)}}} "
        rf"{equals(float(xs[0] - mean_x) / deviation)}"
    )
    return sheet


@kind("least-squares", "Fit a line by covariance and variance", "7.1")
def least_squares(draw: Draw) -> Sheet:
    """Slope, intercept and R² of a simple regression."""
    n_rows = 3 + draw.level
    xs = sorted(draw.sample(range(10), n_rows))
    ys = draw.integers(n_rows, 0, 12)
    mean_x = Fraction(sum(xs), n_rows)
    mean_y = Fraction(sum(ys), n_rows)
    draw.require(few_decimals([mean_x, mean_y], 1), "means with many decimals")
    xx = sum(((x - mean_x) ** 2 for x in xs), Fraction(0))
    xy = sum(((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)), Fraction(0))
    yy = sum(((y - mean_y) ** 2 for y in ys), Fraction(0))
    draw.require(yy > 0 and xy != 0, "no slope")
    slope = xy / xx
    draw.require(small_denominators([slope], 30), "a slope with a large denominator")
    intercept = mean_y - slope * mean_x
    model = simple_regression(np.array(xs, dtype=float), np.array(ys, dtype=float))
    sheet = _line_sheet(xs, ys, "Fit a line $y = a + b x$ by least squares.")
    sheet.ask(
        "What is the slope $b$?",
        slope,
        float(model.slope),
        {
            "covariance divided by the variance of $y$": xy / yy,
            "the means were not subtracted": Fraction(
                sum(x * y for x, y in zip(xs, ys)), sum(x * x for x in xs)
            ),
        },
    )
    sheet.ask(
        "What is the intercept $a$?",
        intercept,
        float(model.intercept),
        {
            "the mean of $y$": mean_y,
            "added instead of subtracted": mean_y + slope * mean_x,
        },
    )
    sheet.ask(
        "What share of the variance is explained, $R^2$?",
        xy**2 / (xx * yy),
        float(model.r2),
        {"the correlation, not its square": float(xy) / float(xx * yy) ** 0.5},
    )
    sheet.solution.text(
        f"$\\bar x$ is {with_decimal(mean_x)}, $\\bar y$ {with_decimal(mean_y)}."
    )
    rows = [
        (x, y, x - mean_x, y - mean_y, (x - mean_x) ** 2, (x - mean_x) * (y - mean_y))
        for x, y in zip(xs, ys)
    ]
    columns = (r"x - \bar x", r"y - \bar y", r"(x - \bar x)^2")
    product = r"$(x - \bar x)(y - \bar y)$"
    sheet.solution.table(["$x$", "$y$", *(f"${c}$" for c in columns), product], rows)
    sheet.solution.formula(
        rf"b = \frac{{{decimal(xy)}}}{{{decimal(xx)}}} = {tex(slope)}, \quad "
        rf"a = {tex(mean_y)} - {factor(slope)} \cdot {tex(mean_x)} = {tex(intercept)}"
    )
    sheet.solution.formula(
        rf"R^2 = \frac{{{factor(float(xy))}^2}}{{{decimal(xx)} \cdot {decimal(yy)}}} "
        f"{equals(xy**2 / (xx * yy))}"
    )
    return sheet


def _draw_start(draw: Draw) -> tuple[list[int], list[int], Fraction, int, int]:
    n_rows = 2 + draw.level
    xs = draw.sample(range(-3, 5), n_rows)
    ys = draw.integers(n_rows, -4, 6)
    rate = Fraction(1, draw.choice([5, 10]))
    return xs, ys, rate, draw.integer(-1, 2), draw.integer(-1, 2)


@kind("gradient-step", "Take a step of gradient descent", "7.1")
def gradient_step(draw: Draw) -> Sheet:
    """The errors, the gradient, and the weights after one step."""
    xs, ys, rate, a, b = _draw_start(draw)
    n_rows = len(xs)
    errors = [y - (a + b * x) for x, y in zip(xs, ys)]
    down_a = Fraction(sum(errors), n_rows)
    down_b = Fraction(sum(e * x for e, x in zip(errors, xs)), n_rows)
    draw.require(down_a != 0 and down_b != 0, "a gradient of zero")
    new_a = a + rate * down_a
    new_b = b + rate * down_b
    model = LinearRegression(
        solver="gradient_descent",
        learning_rate=float(rate),
        standardize=False,
        coef_init=([float(b)], float(a)),
        max_iter=1,
        tol=0.0,
        record=True,
    )
    step = _one_step(model, xs, ys)
    sheet = _line_sheet(
        xs,
        ys,
        f"A line $h(x) = a + b x$ begins at $a = {a}$, $b = {b}$. Take one step of batch "
        rf"gradient descent on $J = \frac{{1}}{{2N}} \sum (y - h(x))^2$ with the rate "
        f"$\\eta = {decimal(rate)}$.",
    )
    for name, value, learned, down, old in (
        ("a", new_a, step["intercept"], down_a, a),
        ("b", new_b, step["coef"][0], down_b, b),
    ):
        sheet.ask(
            f"What is ${name}$ after the step?",
            value,
            float(learned),
            {
                "a step up instead of down": old - rate * down,
                "the gradient was not divided by the number of rows": old
                + rate * down * n_rows,
                "a factor of 2 from the square was kept": old + 2 * rate * down,
            },
        )
    rows = [(x, y, a + b * x, e, e * x) for x, y, e in zip(xs, ys, errors)]
    columns = ("x", "y", "h(x)", "y - h(x)", "(y - h(x)) x")
    sheet.solution.table([f"${c}$" for c in columns], rows)
    for name, old, down, value in (("a", a, down_a, new_a), ("b", b, down_b, new_b)):
        sheet.solution.formula(
            rf"{name} \leftarrow {old} + {decimal(rate)} \cdot \frac{{1}}{{{n_rows}}} "
            rf"\cdot ({decimal(down * n_rows)}) {equals(value)}"
        )
    return sheet


def _one_step(model: LinearRegression, xs: list[int], ys: list[int]) -> dict:
    """The record after one pass, which is not meant to converge."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.array(xs, dtype=float)[:, None], np.array(ys, dtype=float))
    return model.record_[-1]


@kind("lms", "Go through the rows once with LMS", "7.1")
def lms(draw: Draw) -> Sheet:
    """The weights after every row of one pass of least mean squares."""
    xs, ys, rate, a, b = _draw_start(draw)
    model = LinearRegression(
        solver="lms",
        learning_rate=float(rate),
        decay=False,
        standardize=False,
        coef_init=([float(b)], float(a)),
        max_iter=1,
        tol=0.0,
        record=True,
    )
    step = _one_step(model, xs, ys)
    sheet = _line_sheet(
        xs,
        ys,
        f"A line $h(x) = a + b x$ begins at $a = {a}$, $b = {b}$. Go through the rows once, "
        "in their order, with least mean squares (LMS): after every row $a \\leftarrow a + "
        "\\eta (y - h(x))$ and $b \\leftarrow b + \\eta (y - h(x)) x$ with "
        f"$\\eta = {decimal(rate)}$.",
    )
    weights = [(Fraction(a), Fraction(b))]
    for x, y in zip(xs, ys):
        error = y - (weights[-1][0] + weights[-1][1] * x)
        weights.append(
            (weights[-1][0] + rate * error, weights[-1][1] + rate * error * x)
        )
        sheet.solution.text(
            f"Row $({x}, {y})$: the error is {with_decimal(error, 4)}, so that "
            f"$a {equals(weights[-1][0], 4)}$ and $b {equals(weights[-1][1], 4)}$."
        )
    batch = [y - (a + b * x) for x, y in zip(xs, ys)]
    batch_step = (sum(batch), sum(e * x for e, x in zip(batch, xs)))
    names = (("a", step["intercept"], a), ("b", step["coef"][0], b))
    for index, (name, learned, start) in enumerate(names):
        sheet.ask(
            f"What is ${name}$ after the pass?",
            weights[-1][index],
            float(learned),
            {
                "all errors at the start were taken: a batch step": start
                + rate * batch_step[index],
                "the value after the first row": weights[1][index],
            },
        )
    final = weights[-1]
    sheet.solution.formula(
        rf"h(x) \approx {decimal(final[0])} {signed(float(final[1]))}\, x"
    )
    return sheet
