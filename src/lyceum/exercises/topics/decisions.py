"""Bayes' theorem, decisions under costs, and doubt."""

from __future__ import annotations

from fractions import Fraction

from lyceum.decision import LossMatrix, minimum_risk
from lyceum.exercises.draw import Draw, clear_winner
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals, tex
from lyceum.probability import bayes_theorem

TENTH = Fraction(1, 10)


@kind("bayes-theorem", "Turn a test result into a posterior", "2.1")
def bayes_theorem_exercise(draw: Draw) -> Sheet:
    """Posterior of a rare state after a positive test, once or (level 3) twice."""
    prior = Fraction(draw.integer(1, 10 if draw.level == 1 else 5), 100)
    hit = Fraction(draw.integer(80, 99), 100)
    alarm = Fraction(draw.integer(1, 20), 100)
    repeats = 2 if draw.level == 3 else 1
    likelihood = {"ill": hit**repeats, "well": alarm**repeats}
    joint = {"ill": prior * likelihood["ill"], "well": (1 - prior) * likelihood["well"]}
    posterior = joint["ill"] / (joint["ill"] + joint["well"])
    draw.require(0.05 < posterior < 0.95, "a posterior near 0 or 1")
    update = bayes_theorem(
        {"ill": float(prior), "well": float(1 - prior)},
        {state: float(value) for state, value in likelihood.items()},
    )
    sheet = Sheet()
    twice = " Two independent tests" if repeats == 2 else " A test"
    sheet.given.text(
        f"{tex(prior * 100)} of 100 people have an illness. A test finds it in "
        f"{tex(hit * 100)} of 100 who have it, and gives a false alarm in "
        f"{tex(alarm * 100)} of 100 who have it not.{twice} came out positive."
    )
    sheet.ask(
        "How probable is the result, $P(+)$?",
        joint["ill"] + joint["well"],
        sum(update.unnormalized.values()),
        {"only the ill were counted": joint["ill"]},
        decimals=4,
    )
    sheet.ask(
        "How probable is the illness after the result, $P(\\mathrm{ill} \\mid +)$?",
        posterior,
        update.posterior["ill"],
        {
            "the prior was forgotten": likelihood["ill"] / sum(likelihood.values()),
            "not divided by the probability of the result": joint["ill"],
            "the probability of the result given the illness": likelihood["ill"],
        },
    )
    power = "^2" if repeats == 2 else ""
    names = ((r"\mathrm{ill}", prior, hit), (r"\mathrm{well}", 1 - prior, alarm))
    for state, share, rate in names:
        value = share * rate**repeats
        sheet.solution.formula(
            rf"P({state}, +) = {float(share)} \cdot {float(rate)}{power} {equals(value, 6)}"
        )
    total = joint["ill"] + joint["well"]
    ill, well = (decimal(joint[state], 6) for state in ("ill", "well"))
    sheet.solution.formula(rf"P(+) = {ill} + {well} {equals(total, 6)}")
    sheet.solution.formula(
        rf"P(\mathrm{{ill}} \mid +) = \frac{{P(\mathrm{{ill}}, +)}}{{P(+)}} = "
        rf"\frac{{{ill}}}{{{decimal(total, 6)}}} {equals(posterior)}"
    )
    return sheet


@kind("bayes-decision", "Decide under costs, or doubt", "2.2", "2.3")
def bayes_decision(draw: Draw) -> Sheet:
    """Risks of the actions under a loss matrix; the action; with doubt from level 2 on."""
    classes = ["a", "b"] if draw.level < 3 else ["a", "b", "c"]
    posteriors = draw.tenths(len(classes), least=1)
    draw.require(clear_winner(posteriors, 0.05), "two classes are most probable")
    losses = [
        [0 if row == column else draw.integer(1, 9) for column in range(len(classes))]
        for row in range(len(classes))
    ]
    risks = [
        sum((p * losses[row][action] for row, p in enumerate(posteriors)), Fraction(0))
        for action in range(len(classes))
    ]
    draw.require(clear_winner([-risk for risk in risks], 0.15), "risks too close")
    best = min(range(len(classes)), key=risks.__getitem__)
    draw.require(best != posteriors.index(max(posteriors)), "costs change nothing")
    doubt = None
    if draw.level > 1:
        doubt = Fraction(draw.integer(1, 20), 10)
        draw.require(abs(doubt - risks[best]) > TENTH, "doubt costs as much")
    loss = LossMatrix(losses, classes=classes, actions=[f"say {c}" for c in classes])
    decided = minimum_risk(
        [[float(p) for p in posteriors]], loss, None if doubt is None else float(doubt)
    )
    sheet = _decision_sheet(classes, posteriors, losses, doubt)
    for action, risk in enumerate(risks):
        right = posteriors[action]
        sheet.ask(
            f"What is the risk of the action “say {classes[action]}”?",
            risk,
            decided.risks[0, action],
            {
                "the row was taken instead of the column": sum(
                    p * losses[action][column] for column, p in enumerate(posteriors)
                ),
                "the losses were not weighted by the posteriors": Fraction(
                    sum(row[action] for row in losses)
                ),
                "the probability of an error, without costs": 1 - right,
            },
        )
        terms = " + ".join(
            rf"{float(p)} \cdot {losses[row][action]}"
            for row, p in enumerate(posteriors)
        )
        sheet.solution.formula(
            rf"R(\mathrm{{say\ {classes[action]}}}) = {terms} {equals(risk)}"
        )
    _ask_action(sheet, classes, risks, doubt, posteriors, decided.actions[0])
    return sheet


def _decision_sheet(
    classes: list[str],
    posteriors: list[Fraction],
    losses: list[list[int]],
    doubt: Fraction | None,
) -> Sheet:
    sheet = Sheet()
    known = ", ".join(
        f"$P({name} \\mid x) = {float(p)}$" for name, p in zip(classes, posteriors)
    )
    sheet.given.text(
        f"The posteriors of a row are {known}. The costs of an action (column) where a "
        "class is true (row):"
    )
    sheet.given.table(
        ["true class", *(f"say {name}" for name in classes)],
        [[name, *row] for name, row in zip(classes, losses)],
    )
    if doubt is not None:
        sheet.given.text(f"Leaving the row to a person costs {decimal(doubt)}.")
    return sheet


def _ask_action(
    sheet: Sheet,
    classes: list[str],
    risks: list[Fraction],
    doubt: Fraction | None,
    posteriors: list[Fraction],
    learner: str,
) -> None:
    actions = [f"say {name}" for name in classes]
    best = actions[min(range(len(risks)), key=risks.__getitem__)]
    choices = actions
    if doubt is not None:
        choices = [*actions, "reject"]
        if doubt < min(risks):
            best = "reject"
    probable = actions[posteriors.index(max(posteriors))]
    sheet.choose(
        "What should be done?",
        best,
        learner,
        choices,
        {"the most probable class, without regard to costs": probable},
    )
    reason = "the smallest risk"
    if best == "reject":
        reason = "every action has a larger risk than the cost of doubt"
    sheet.solution.text(f"The decision is “{best}”: {reason}.")
