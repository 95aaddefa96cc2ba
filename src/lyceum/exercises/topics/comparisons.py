"""How sure an error rate is, and how two classifiers compare."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.evaluate import (
    decompose,
    error_sd,
    holdout_size,
    majority_vote_error,
    mcnemar,
)
from lyceum.exercises.draw import Draw, few_decimals
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    tex,
    with_decimal,
)


@kind("mcnemar", "Compare two classifiers by McNemar's test", "14.6")
def mcnemar_exercise(draw: Draw) -> Sheet:
    """The statistic with the correction, and whether the difference is significant."""
    largest = 20 + 20 * draw.level
    first = draw.integer(5, largest)
    second = draw.integer(5, largest)
    draw.require(first != second and first + second >= 25, "too few or equal")
    both = draw.integer(2, 30)
    neither = draw.integer(50, 300)
    value = Fraction((abs(first - second) - 1) ** 2, first + second)
    draw.require(abs(value - 3.84) > 0.2, "too near to the limit")
    test = mcnemar(
        only_first_wrong=first, only_second_wrong=second, method="chi-square"
    )
    sheet = Sheet()
    sheet.given.text("Two classifiers were tried on the same rows.")
    sheet.given.table(
        ["", "B right", "B wrong"],
        [["A right", neither, second], ["A wrong", first, both]],
    )
    plain = Fraction((first - second) ** 2, first + second)
    sheet.ask(
        "What is McNemar's statistic, with the correction for continuity?",
        value,
        test.statistic,
        {
            "without the correction": plain,
            "divided by all rows": value
            * (first + second)
            / (first + second + both + neither),
            "the rows on which both agree were compared": Fraction(
                (abs(both - neither) - 1) ** 2, both + neither
            ),
        },
    )
    answer = "yes" if value > 3.84 else "no"
    learner = "yes" if test.p_value < 0.05 else "no"
    sheet.choose(
        "Do they differ at the level of 5 % (limit 3.84)?",
        answer,
        learner,
        ["yes", "no"],
    )
    sheet.solution.text("Only rows on which one of the two is wrong count.")
    sheet.solution.formula(
        rf"\chi^2 = \frac{{(|{first} - {second}| - 1)^2}}{{{first} + {second}}} {equals(value)}"
    )
    relation = "above" if answer == "yes" else "below"
    sheet.solution.text(f"This is {relation} 3.84.")
    return sheet


@kind("holdout-size", "How many test rows are needed?", "14.7")
def holdout_exercise(draw: Draw) -> Sheet:
    """The standard deviation of an error rate, and the rows for a given precision."""
    error = Fraction(draw.choice([5, 10, 20, 25, 30]), 100)
    rows = draw.choice([50, 100, 200, 400])
    within = Fraction(draw.choice([1, 2, 4, 5]), 100)
    exact = 4 * error * (1 - error) / within**2
    needed = math.ceil(exact)
    draw.require(exact == needed, "not a whole number of rows")
    sd = math.sqrt(error * (1 - error) / rows)
    sheet = Sheet()
    sheet.given.text(
        f"A classifier is wrong on {decimal(error * 100)} of 100 new rows on average."
    )
    sheet.ask(
        f"What is the standard deviation of its error rate on {rows} test rows?",
        sd,
        error_sd(float(error), rows),
        {
            "the variance, not the standard deviation": sd**2,
            "not divided by the number of rows": math.sqrt(error * (1 - error)),
        },
        decimals=4,
    )
    sheet.ask(
        f"How many test rows are needed so that two standard deviations are "
        f"{decimal(within * 100)} percentage points?",
        needed,
        float(holdout_size(float(error), float(within))),
        {
            "one standard deviation instead of two": math.ceil(exact / 4),
            "the root was forgotten: $2 p (1 - p) / \\varepsilon$": float(
                2 * error * (1 - error) / within
            ),
        },
        decimals=0,
    )
    p = decimal(error)
    q = decimal(1 - error)
    eps = decimal(within)
    sheet.solution.formula(
        rf"\sigma = \sqrt{{\frac{{{p} \cdot {q}}}{{{rows}}}}} {equals(sd, 4)}"
    )
    sheet.solution.formula(
        rf"2 \sqrt{{\frac{{{p} \cdot {q}}}{{N}}}} = {eps} \quad\Rightarrow\quad "
        rf"N = \frac{{4 \cdot {p} \cdot {q}}}{{{eps}^2}} = {needed}"
    )
    return sheet


@kind("majority-vote", "How often is a majority of voters wrong?", "11.1")
def majority_vote(draw: Draw) -> Sheet:
    """The exact error of three or five independent voters."""
    voters = 3 if draw.level == 1 else 5
    error = Fraction(draw.integer(5, 45), 100)
    half = voters // 2 + 1
    terms = [
        math.comb(voters, wrong) * error**wrong * (1 - error) ** (voters - wrong)
        for wrong in range(half, voters + 1)
    ]
    value = sum(terms, Fraction(0))
    sheet = Sheet()
    sheet.given.text(
        f"{voters} classifiers, each wrong with probability {decimal(error)}, "
        "independently of the others, vote."
    )
    sheet.ask(
        "With which probability is the majority wrong?",
        value,
        majority_vote_error(voters, float(error)),
        {
            "all of them must be wrong": error**voters,
            "just so many wrong as make a majority, not more": terms[0],
            "the binomial coefficients were forgotten": sum(
                error**wrong * (1 - error) ** (voters - wrong)
                for wrong in range(half, voters + 1)
            ),
        },
        decimals=4,
    )
    for wrong, term in zip(range(half, voters + 1), terms):
        sheet.solution.formula(
            rf"P({wrong}\ \mathrm{{wrong}}) = {math.comb(voters, wrong)} \cdot "
            rf"{decimal(error)}^{wrong} \cdot {decimal(1 - error)}^{voters - wrong} "
            f"{equals(term, 5)}"
        )
    sheet.solution.formula(rf"P(\mathrm{{wrong}}) {equals(value, 5)}")
    return sheet


@kind("bias-variance", "Split an error into bias and variance", "14.8")
def bias_variance(draw: Draw) -> Sheet:
    """Squared bias, variance and error of predictions from several training sets."""
    n_sets = 2 + draw.level
    truth = draw.integer(0, 10)
    predictions = draw.integers(n_sets, 0, 12)
    mean = Fraction(sum(predictions), n_sets)
    draw.require(few_decimals([mean], 2) and mean != truth, "an awkward mean")
    draw.require(len(set(predictions)) > 1, "no variance")
    bias = (mean - truth) ** 2
    variance = sum(((p - mean) ** 2 for p in predictions), Fraction(0)) / n_sets
    parts = decompose([float(truth)], np.array(predictions, dtype=float)[:, None])
    sheet = Sheet()
    sheet.given.text(
        f"The same learner was trained on {n_sets} samples. For one row, whose true value "
        f"is {truth} (without noise), it predicted {', '.join(map(str, predictions))}."
    )
    sheet.ask(
        "What is the squared bias?",
        bias,
        parts.bias,
        {"the bias, not its square": abs(mean - truth)},
    )
    sheet.ask(
        "What is the variance?",
        variance,
        parts.variance,
        {
            f"divided by {n_sets - 1} instead of {n_sets}": variance
            * Fraction(n_sets, n_sets - 1),
            "about the true value instead of the mean": bias + variance,
        },
    )
    sheet.ask("What is the mean squared error?", bias + variance, parts.error)
    sheet.solution.text(f"The mean of the predictions is {with_decimal(mean)}.")
    sheet.solution.formula(
        rf"\mathrm{{bias}}^2 = ({tex(mean)} - {truth})^2 = {fraction_and_decimal(bias)}"
    )
    deviations = " + ".join(rf"({p} - {tex(mean)})^2" for p in predictions)
    sheet.solution.formula(
        rf"\mathrm{{variance}} = \frac{{1}}{{{n_sets}}} \left({deviations}\right) "
        f"{equals(variance)}"
    )
    sheet.solution.formula(rf"\mathrm{{error}} {equals(bias + variance)}")
    return sheet
