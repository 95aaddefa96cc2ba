"""Fusion of answers, votes of bags, AdaBoost, and one class against the rest."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lyceum.ensemble import AdaBoostClassifier, BaggingClassifier, fuse
from lyceum.exercises.draw import Draw, clear_winner
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals, tex
from lyceum.trees import DecisionTreeClassifier

Stump = tuple[float, int, int]  # threshold, sign up to it, sign above it


RULES = {
    "average": ("sum", "the mean of a column"),
    "median": ("median", "the middle value of a column"),
    "minimum": ("minimum", "the smallest value of a column"),
    "maximum": ("maximum", "the largest value of a column"),
    "product": ("product", "the product of a column"),
}


@kind("fusion", "Fuse the posteriors of several classifiers", "11.2")
def fusion(draw: Draw) -> Sheet:
    """Average, median, minimum, maximum and product of posteriors; the class of each."""
    answers = [draw.tenths(3) for _ in range(3)]
    fused = {name: _fuse(answers, name) for name in RULES}
    names = list(RULES)[: 2 + draw.level]
    draw.require(
        all(clear_winner(fused[name], 0.01) for name in names), "rules with ties"
    )
    winners = {name: values.index(max(values)) + 1 for name, values in fused.items()}
    draw.require(
        draw.level < 3 or len({winners[name] for name in names}) > 1, "all rules agree"
    )
    sheet = Sheet()
    sheet.given.text(
        "Three classifiers give these posteriors to the classes 1, 2 and 3."
    )
    sheet.given.table(
        ["classifier", "1", "2", "3"],
        [(name, *map(float, row)) for name, row in zip("ABC", answers)],
    )
    cells = np.array(answers, dtype=float)
    for name in names:
        rule, words = RULES[name]
        learned = fuse(cells, rule)
        values = fused[name]
        sheet.ask(
            f"Which value gives the rule of the {name} to class 2?",
            values[1],
            float(learned[1]),
            {f"the {other}": fused[other][1] for other in RULES if other != name},
        )
        sheet.choose(
            f"Which class does the rule of the {name} choose?",
            winners[name],
            int(learned.argmax()) + 1,
            [1, 2, 3],
        )
        listed = ", ".join(decimal(value) for value in values)
        sheet.solution.text(
            f"{name.capitalize()} ({words}): {listed}; class {winners[name]}."
        )
    return sheet


def _fuse(answers: list[list[Fraction]], name: str) -> list[Fraction]:
    columns = [sorted(column) for column in zip(*answers)]
    match name:
        case "average":
            return [sum(column, Fraction(0)) / len(column) for column in columns]
        case "median":
            return [column[len(column) // 2] for column in columns]
        case "minimum":
            return [column[0] for column in columns]
        case "maximum":
            return [column[-1] for column in columns]
    return [math.prod(column) for column in columns]


@kind("bagging-votes", "Add up the votes of bagged stumps", "11.3")
def bagging_votes(draw: Draw) -> Sheet:
    """The votes of stumps fitted to given bags, their sum, and the errors of the committee."""
    n_rows = 5 + draw.level
    n_bags = 3 if draw.level == 1 else 5
    labels = draw.choices([-1, 1], n_rows)
    draw.require(abs(sum(labels)) <= n_rows - 4, "almost one class")
    bags = [sorted(draw.integers(n_rows, 0, n_rows - 1)) for _ in range(n_bags)]
    draw.require(
        all(len({labels[row] for row in bag}) == 2 for bag in bags),
        "a bag of one class",
    )
    X = np.arange(1.0, n_rows + 1)[:, None]
    stump = DecisionTreeClassifier(max_depth=1, require_gain=True)
    model = BaggingClassifier(stump, bags=bags, voting="hard", random_state=0)
    model.fit(X, labels)
    answers = np.array([member.predict(X) for member in model.estimators_], dtype=int)
    draw.require(
        bool((np.ptp(answers, axis=1) > 0).all()), "a stump says one thing only"
    )
    stumps = [(int(np.flatnonzero(np.diff(row))[0]) + 1, row[0]) for row in answers]
    draw.require(len(set(stumps)) > 1, "all stumps are the same")
    sheet = Sheet()
    sheet.given.text(
        f"Stumps were fitted to {n_bags} bags drawn from {n_rows} rows; each says "
        "$+1$ or $-1$."
    )
    sheet.given.table(["$x$", *range(1, n_rows + 1)], [["$y$", *labels]])
    sheet.given.table(
        ["bag", "stump"],
        [
            (i, f"{sign:+d} for $x \\leq {cut}.5$, {-sign:+d} above")
            for i, (cut, sign) in enumerate(stumps, start=1)
        ],
    )
    _ask_votes(sheet, draw, labels, stumps, model, X)
    return sheet


def _ask_votes(
    sheet: Sheet,
    draw: Draw,
    labels: list[int],
    stumps: list[tuple[int, int]],
    model: BaggingClassifier,
    X: np.ndarray,
) -> None:
    numbers = range(1, len(labels) + 1)
    votes = [
        [int(sign if x <= cut else -sign) for x in numbers] for cut, sign in stumps
    ]
    sums = [sum(column) for column in zip(*votes)]
    predicted = model.predict(X)
    learned = [
        sum(int(member.predict(X[i : i + 1])[0]) for member in model.estimators_)
        for i in range(len(labels))
    ]
    row = draw.integer(0, len(labels) - 1)
    sheet.ask(
        f"What is the sum of the votes at $x = {row + 1}$?",
        sums[row],
        float(learned[row]),
        decimals=0,
    )
    sheet.choose(
        f"Which class has $x = {row + 1}$?",
        1 if sums[row] > 0 else -1,
        predicted[row],
        [-1, 1],
    )
    wrong = sum((s > 0) != (y > 0) for s, y in zip(sums, labels))
    sheet.ask(
        "How many of the rows does the committee get wrong?",
        wrong,
        float((predicted != np.array(labels)).sum()),
        {"how many it gets right": len(labels) - wrong},
        decimals=0,
    )
    rows = [[f"bag {i}", *row] for i, row in enumerate(votes, start=1)]
    sheet.solution.table(["$x$", *numbers], [*rows, ["sum", *sums], ["$y$", *labels]])


@kind("one-vs-rest", "Join binary classifiers to several classes", "9.6")
def one_vs_rest(draw: Draw) -> Sheet:
    """The class of the highest score, and the class of most votes of pairs."""
    n_classes = 3 + (draw.level > 1)
    names = [str(number) for number in range(1, n_classes + 1)]
    scores = [Fraction(draw.integer(-30, 60), 10) for _ in names]
    draw.require(clear_winner(scores, 0.3), "scores too close")
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    winners = [draw.choice(pair) for pair in pairs]
    votes = [winners.count(name) for name in names]
    draw.require(clear_winner(votes, 1), "votes with a tie")
    best_score = names[scores.index(max(scores))]
    best_votes = names[votes.index(max(votes))]
    draw.require(best_score != best_votes, "both ways agree")
    sheet = Sheet()
    sheet.given.text(
        "A row gets these scores from classifiers of one class against the rest, and the "
        "classifiers of pairs of classes decide as follows."
    )
    sheet.given.table(["class", *names], [["score", *map(float, scores)]])
    sheet.given.table(
        ["pair", *(f"{a} or {b}" for a, b in pairs)], [["decides for", *winners]]
    )
    highest = int(np.argmax([float(score) for score in scores]))
    sheet.choose(
        "Which class does one against the rest choose?",
        best_score,
        names[highest],
        names,
        {"the pairs were counted": best_votes},
    )
    for name, count in zip(names, votes):
        tally = np.zeros(n_classes, dtype=int)
        np.add.at(tally, [names.index(winner) for winner in winners], 1)
        sheet.ask(
            f"How many votes of pairs has class {name}?",
            count,
            float(tally[names.index(name)]),
            decimals=0,
        )
    sheet.choose(
        "Which class do the pairs choose?",
        best_votes,
        names[int(np.argmax(votes))],
        names,
        {"the highest score was taken": best_score},
    )
    sheet.solution.text(
        f"The highest score is {equals(max(scores))[2:]}, of class {best_score}."
    )
    sheet.solution.table(["class", *names], [["votes", *votes]])
    sheet.solution.text(f"Class {best_votes} has the most votes.")
    return sheet


@kind("adaboost", "Follow the rounds of AdaBoost", "11.4")
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
    _work(sheet, labels, rounds, stumps, query, score)  # type: ignore[arg-type]
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
    labels: list[int],
    rounds: list[tuple[Fraction, list[Fraction]]],
    stumps: list[Stump],
    query: int,
    score: float,
) -> None:
    columns = ["$x$", *range(1, len(rounds[0][1]) + 1)]
    rows = [[f"weights of round {i}", *w] for i, (_, w) in enumerate(rounds, start=1)]
    sheet.solution.table(columns, rows)
    for number, (error, weights) in enumerate(rounds, start=1):
        stump = stumps[number - 1]
        wrong = [x for x, y in enumerate(labels, 1) if _says(stump, x) != y]
        numbers = ", ".join(map(str, wrong))
        sheet.solution.text(
            f"Round {number} is wrong where $x$ is {numbers}. The weights of these rows add up "
            "to the error:"
        )
        terms = " + ".join(tex(weights[x - 1]) for x in wrong)
        if len(wrong) > 1:
            terms += f" = {tex(error)}"
        sheet.solution.formula(
            rf"\varepsilon_{number} = {terms}, \quad \alpha_{number} = \frac{{1}}{{2}} "
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
