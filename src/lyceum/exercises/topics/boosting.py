"""AdaBoost, round by round."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.ensemble import AdaBoostClassifier
from lyceum.exercises.draw import Draw
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals, tex

Stump = tuple[float, int, int]  # threshold, sign up to it, sign above it


@kind("adaboost", "Three rounds of AdaBoost", "11.4")
def adaboost(draw: Draw) -> Sheet:
    """Errors, alphas and weights of the rounds, and the vote on a row."""
    n_rows = 5 + draw.level
    labels = draw.choices([-1, 1], n_rows)
    draw.require(len(set(labels)) == 2, "only one class")
    X = np.arange(1.0, n_rows + 1)[:, None]
    n_rounds = 2 if draw.level == 1 else 3
    model = AdaBoostClassifier(n_estimators=n_rounds, record=True).fit(X, labels)
    draw.require(len(model.estimators_) == n_rounds, "it stops early")
    answers = [member.predict(X) for member in model.estimators_]
    stumps = [_stump(signs) for signs in answers]
    draw.require(None not in stumps, "a stump that says the same on both sides")
    rounds = _rounds(labels, stumps)  # type: ignore[arg-type]
    draw.require(
        all(weight.denominator <= 60 for _, weights in rounds for weight in weights),
        "weights with large denominators",
    )
    draw.require(all(0 < error < Fraction(1, 2) for error, _ in rounds), "no error")
    query = draw.integer(1, n_rows)
    score = sum(
        _alpha(error) * _says(stump, query)  # type: ignore[arg-type]
        for (error, _), stump in zip(rounds, stumps)
    )
    draw.require(abs(score) > 0.05, "a vote near 0")
    sheet = Sheet()
    sheet.given.text(
        f"AdaBoost on {n_rows} rows, with equal weights at first. Its {n_rounds} rounds "
        "found the stumps below."
    )
    sheet.given.table(["$x$", *range(1, n_rows + 1)], [["$y$", *labels]])
    sheet.given.table(
        ["round", "stump"],
        [(i, _words(stump)) for i, stump in enumerate(stumps, 1)],  # type: ignore[arg-type]
    )
    _ask_rounds(sheet, model, rounds)
    vote = model.predict(X[query - 1 : query])[0]
    sheet.choose(
        f"Which class does the committee give to $x = {query}$?",
        1 if score > 0 else -1,
        vote,
        [-1, 1],
    )
    _work(sheet, rounds, stumps, query, score)  # type: ignore[arg-type]
    return sheet


def _stump(signs: np.ndarray) -> Stump | None:
    changes = np.flatnonzero(np.diff(signs))
    if len(changes) != 1:
        return None
    return float(changes[0]) + 1.5, int(signs[0]), int(signs[-1])


def _says(stump: Stump, x: int) -> int:
    threshold, below, above = stump
    return below if x <= threshold else above


def _words(stump: Stump) -> str:
    threshold, below, above = stump
    return f"{below:+d} for $x \\leq {threshold}$, {above:+d} above"


def _alpha(error: Fraction) -> float:
    return math.log((1 - error) / error) / 2


def _rounds(
    labels: list[int], stumps: list[Stump]
) -> list[tuple[Fraction, list[Fraction]]]:
    """The error of every round, and the weights that it began with."""
    weights = [Fraction(1, len(labels))] * len(labels)
    rounds = []
    for stump in stumps:
        wrong = [_says(stump, x) != y for x, y in enumerate(labels, start=1)]
        error = sum((w for w, w_wrong in zip(weights, wrong) if w_wrong), Fraction(0))
        rounds.append((error, weights))
        if not 0 < error < 1:
            break
        # wrong rows together get half of the weight, and so do right ones
        weights = [
            weight / (2 * error) if is_wrong else weight / (2 * (1 - error))
            for weight, is_wrong in zip(weights, wrong)
        ]
    return rounds


def _ask_rounds(
    sheet: Sheet,
    model: AdaBoostClassifier,
    rounds: list[tuple[Fraction, list[Fraction]]],
) -> None:
    for number, ((error, weights), record) in enumerate(zip(rounds, model.record_), 1):
        if number == 2:
            heaviest = max(range(len(weights)), key=weights.__getitem__)
            plain = weights[heaviest]
            first = rounds[0][0]
            sheet.ask(
                f"Which weight has the row $x = {heaviest + 1}$ in round 2?",
                plain,
                float(record["weights"][heaviest]),
                {
                    "the weights were not normalized": Fraction(1, len(weights))
                    * (1 - first)
                    / first,
                    "the weight of round 1": Fraction(1, len(weights)),
                },
            )
        sheet.ask(
            f"What is the weighted error of round {number}?",
            error,
            float(record["error"]),
            {"the right rows were counted": 1 - error},
        )
        alpha = _alpha(error)
        sheet.ask(
            rf"What is $\alpha_{number} = \frac{{1}}{{2}} \ln\frac{{1 - \varepsilon}}"
            r"{\varepsilon}$?",
            alpha,
            float(record["alpha"]),
            {
                "the factor one half was forgotten": 2 * alpha,
                "the logarithm to base 2": alpha / math.log(2),
                "the other sign": -alpha,
            },
        )


def _work(
    sheet: Sheet,
    rounds: list[tuple[Fraction, list[Fraction]]],
    stumps: list[Stump],
    query: int,
    score: float,
) -> None:
    columns = ["$x$", *range(1, len(rounds[0][1]) + 1)]
    rows = [[f"weights of round {i}", *w] for i, (_, w) in enumerate(rounds, start=1)]
    sheet.solution.table(columns, rows)
    for number, (error, _) in enumerate(rounds, start=1):
        sheet.solution.formula(
            rf"\varepsilon_{number} = {tex(error)}, \quad \alpha_{number} = \frac{{1}}{{2}} "
            rf"\ln {tex((1 - error) / error)} {equals(_alpha(error))}"
        )
    sheet.solution.text(
        "Wrong rows are divided by $2\\varepsilon$, right ones by $2(1 - \\varepsilon)$: "
        "both together then have one half of the weight."
    )
    terms = " ".join(
        f"{'+' if _says(stump, query) > 0 else '-'} {decimal(_alpha(error))}"
        for (error, _), stump in zip(rounds, stumps)
    )
    sheet.solution.formula(rf"\sum_t \alpha_t h_t({query}) = {terms} {equals(score)}")
