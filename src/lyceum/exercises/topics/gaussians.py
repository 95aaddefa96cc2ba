"""Gaussians: two classes on a line, and what is known of a mean."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.bayes import (
    LinearDiscriminantAnalysis,
    NormalMean,
    QuadraticDiscriminantAnalysis,
)
from lyceum.exercises.draw import Draw, few_decimals
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    listed,
    tex,
    with_decimal,
)


def _mean(values: list[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def _variance(values: list[int]) -> Fraction:
    """Maximum likelihood: divided by the number of rows."""
    return _mean([(value - _mean(values)) ** 2 for value in values])  # type: ignore[misc]


def _density(x: float, mean: float, variance: float) -> float:
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(
        2 * math.pi * variance
    )


@kind("two-gaussians", "Classify by two Gaussians", "3.3")
def two_gaussians(draw: Draw) -> Sheet:
    """Means and variances of two classes, the densities at x, the posterior."""
    sizes = (3 + (draw.level > 1), 3)
    groups = [
        sorted(draw.integers(size, low, low + 6)) for size, low in zip(sizes, (0, 5))
    ]
    variances = [_variance(group) for group in groups]
    draw.require(all(variance > 0 for variance in variances), "a class with one value")
    means = [_mean(group) for group in groups]
    draw.require(few_decimals([*means, *variances], 2), "many decimals")
    x = draw.integer(3, 8)
    shared = draw.level == 3
    pooled = _mean_variance(groups, variances)
    used = [pooled, pooled] if shared else variances
    joint = [
        len(group) / sum(sizes) * _density(x, float(mean), float(variance))
        for group, mean, variance in zip(groups, means, used)
    ]
    posterior = joint[1] / sum(joint)
    draw.require(0.05 < posterior < 0.95, "a posterior near 0 or 1")
    X = np.array([*groups[0], *groups[1]], dtype=float)[:, None]
    y = [0] * sizes[0] + [1] * sizes[1]
    if shared:
        model = LinearDiscriminantAnalysis(unbiased=False).fit(X, y)
    else:
        model = QuadraticDiscriminantAnalysis(unbiased=False).fit(X, y)
    learned = model.predict_proba([[float(x)]])[0, 1]
    sheet = Sheet()
    covariance = "one shared variance" if shared else "a variance for each class"
    sheet.given.text(
        f"Two classes on a line: class 0 at {listed(groups[0])}, class 1 at "
        f"{listed(groups[1])}. Fit a Gaussian to each by maximum likelihood (divide by "
        f"$N$), with {covariance} and the shares of rows as priors, and classify "
        f"$x = {x}$."
    )
    _ask_mean_and_variance(sheet, groups[1], means[1], used[1], model, shared)
    _work_moments(sheet, groups, means, pooled if shared else None)
    _work_densities(sheet, x, means, used, sizes, joint)
    ratio = [value / size for value, size in zip(joint, sizes)]
    unbiased = [
        size * _density(x, float(m), float(v) * _correction(sizes, size, shared))
        for size, m, v in zip(sizes, means, used)
    ]
    sheet.ask(
        f"What is the posterior of class 1 at $x = {x}$?",
        posterior,
        learned,
        {
            "the priors were forgotten": ratio[1] / sum(ratio),
            "the variances were divided by $N - 1$": unbiased[1] / sum(unbiased),
            "the posterior of class 0": joint[0] / sum(joint),
        },
    )
    sheet.solution.formula(
        rf"P(1 \mid x) = \frac{{{joint[1]:.5f}}}{{{joint[0]:.5f} + {joint[1]:.5f}}} "
        f"{equals(posterior)}"
    )
    return sheet


def _mean_variance(groups: list[list[int]], variances: list[Fraction]) -> Fraction:
    """Within-class variance: Σ n_k σ_k² / N."""
    total = sum(map(len, groups))
    weighted = [len(group) * v for group, v in zip(groups, variances)]
    return sum(weighted, Fraction(0)) / total


def _correction(sizes: tuple[int, int], size: int, shared: bool) -> float:
    return sum(sizes) / (sum(sizes) - 2) if shared else size / (size - 1)


def _ask_mean_and_variance(
    sheet: Sheet,
    group: list[int],
    mean: Fraction,
    variance: Fraction,
    model: LinearDiscriminantAnalysis | QuadraticDiscriminantAnalysis,
    shared: bool,
) -> None:
    sheet.ask("What is the mean of class 1?", mean, float(model.means_[1, 0]))
    covariance = np.asarray(model.covariance_).reshape(-1)
    which = "the shared variance" if shared else "the variance of class 1"
    size = len(group)
    sheet.ask(
        f"What is {which}?",
        variance,
        float(covariance[-1]),
        {
            "divided by $N - 1$": variance * size / (size - 1),
            "the standard deviation, not the variance": math.sqrt(variance),
        },
    )


def _work_moments(
    sheet: Sheet,
    groups: list[list[int]],
    means: list[Fraction],
    shared: Fraction | None,
) -> None:
    """Sums and squares of both classes; a shared variance joins the squares."""
    squares = []
    for label, (group, m) in enumerate(zip(groups, means)):
        size = len(group)
        deviations = " + ".join(f"({value} - {decimal(m)})^2" for value in group)
        squares.append(_variance(group) * size)
        sheet.solution.formula(
            rf"\mu_{label} = \frac{{{' + '.join(map(str, group))}}}{{{size}}} {equals(m)}"
        )
        if shared is None:
            sheet.solution.formula(
                rf"\sigma_{label}^2 = \frac{{{deviations}}}{{{size}}} "
                f"{equals(_variance(group))}"
            )
        else:
            sheet.solution.formula(rf"{deviations} {equals(squares[-1])}")
    if shared is not None:
        sheet.solution.formula(
            rf"\sigma^2 = \frac{{{' + '.join(map(decimal, squares))}}}"
            rf"{{{sum(map(len, groups))}}} {equals(shared)}"
        )


def _work_densities(
    sheet: Sheet,
    x: int,
    means: list[Fraction],
    variances: list[Fraction],
    sizes: tuple[int, int],
    joint: list[float],
) -> None:
    total = sum(sizes)
    for label in (0, 1):
        m = means[label]
        v = variances[label]
        size = sizes[label]
        sheet.solution.text(
            f"Class {label}: mean {with_decimal(m)}, variance {with_decimal(v)}, prior "
            f"${tex(Fraction(size, total))}$."
        )
        sheet.solution.formula(
            rf"{tex(Fraction(size, total))} \cdot \frac{{1}}{{\sqrt{{2\pi \cdot "
            rf"{decimal(v)}}}}} \exp\left(-\frac{{({x} - {decimal(m)})^2}}{{2 \cdot "
            rf"{decimal(v)}}}\right) {equals(joint[label], 5)}"
        )


@kind("bayesian-mean", "Learn a mean with prior knowledge", "3.6")
def bayesian_mean(draw: Draw) -> Sheet:
    """Posterior mean and variance of a mean with known noise."""
    prior_mean = draw.integer(0, 10)
    prior_variance = draw.choice([1, 2, 4])
    noise = draw.choice([2, 4, 8])
    values = draw.integers(1 + draw.level, 0, 20)
    precision = Fraction(1, prior_variance) + Fraction(len(values), noise)
    variance = 1 / precision
    weighted = Fraction(prior_mean, prior_variance) + Fraction(sum(values), noise)
    mean = weighted / precision
    draw.require(mean.denominator <= 12, "a large denominator")
    draw.require(abs(mean - _mean(values)) > 0.5, "the prior changes nothing")
    learned = NormalMean(float(prior_mean), float(prior_variance), float(noise)).update(
        np.array(values, dtype=float)
    )
    sheet = Sheet()
    sheet.given.text(
        f"Before measuring, a quantity is believed to be $N({prior_mean}, "
        f"{prior_variance})$ (mean, variance). Measurements have the known variance "
        f"{noise} about it; they were {listed(values)}."
    )
    plain = _mean(values)
    sheet.ask(
        "What is the mean of the posterior?",
        mean,
        float(learned.mean),
        {
            "the mean of the measurements, without the prior": plain,
            "the plain mean of prior and measurements": (prior_mean + plain) / 2,
            "the weights of prior and measurements were swapped": (
                prior_mean * Fraction(len(values), noise) + plain / prior_variance
            )
            / precision,
        },
    )
    sheet.ask(
        "What is the variance of the posterior?",
        variance,
        float(learned.variance),
        {
            "the precision, not the variance": precision,
            "the variances were added": Fraction(prior_variance)
            + Fraction(noise, len(values)),
        },
    )
    sheet.solution.text("Precisions (1 / variance) add up:")
    sheet.solution.formula(
        rf"\frac{{1}}{{\sigma_n^2}} = {tex(Fraction(1, prior_variance))} + "
        rf"{tex(Fraction(len(values), noise))} = {tex(precision)}, \quad "
        rf"\sigma_n^2 = {tex(variance)}"
    )
    sheet.solution.text("The mean weighs what is known by its precision:")
    sheet.solution.formula(
        rf"\mu_n = {tex(variance)} \left({tex(Fraction(prior_mean, prior_variance))} + "
        rf"{tex(Fraction(sum(values), noise))}\right) = {fraction_and_decimal(mean)}"
    )
    return sheet
