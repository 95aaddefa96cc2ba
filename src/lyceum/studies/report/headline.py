"""The answer of a study in a sentence without a technical word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum.studies.compare.comparison import RankedLearner
from lyceum.studies.compare.difference_tests import is_shown
from lyceum.studies.report.format import number_text, subject

if TYPE_CHECKING:
    from lyceum.studies.result import Study


_ROUNDING = 1e-9  # of the error of a guess: a smaller one is none


def headline(study: Study) -> str:
    """How often the choice is wrong, how far it is off, or what it costs, beside a constant
    guess."""
    choice = study.choice
    baseline = study.comparison.baseline
    target = repr(study.recipe.target)
    if choice.is_baseline:
        others = [s for s in study.comparison.learners if not s.is_baseline]
        if not others:
            return f"Nothing but a constant guess was tried to predict {target}."
        none = "None of the learners that were tried"
        return f"{none} predicts {target} better than a constant guess."
    what = _how_good(study, choice)
    guess = ""
    if baseline is not None and choice.loss >= baseline.loss:
        guess = ": no better than a constant guess"
    elif baseline is not None:
        guess = f"; {_guess(study, baseline)}"
        if not is_shown(choice.p_baseline):
            guess += ", a difference that chance could make"
        if _is_hidden(study, choice, baseline):
            guess = ": hardly better than a constant guess"
    return f"{subject(choice.label)} {what}{guess}."


def _is_hidden(study: Study, choice: RankedLearner, baseline: RankedLearner) -> bool:
    """Whether a difference from the constant guess is too small for the words of the headline."""
    if study.classes is None or study.comparison.criterion == "mean cost":
        return False
    least = _least(study)
    own = out_of(choice.error or 0.0, least)
    return choice.error is not None and own == out_of(baseline.error or 0.0, least)


def _how_good(study: Study, learner: RankedLearner) -> str:
    target = repr(study.recipe.target)
    if study.classes is None:
        off = number_text(learner.mae or 0.0)
        guess = study.comparison.baseline
        if guess is not None and (learner.mae or 0.0) < _ROUNDING * (guess.mae or 0.0):
            return f"predicts {target} exactly, but for rounding"
        return f"predicts {target} and is typically off by {off}"
    if study.comparison.criterion == "mean cost" and learner.cost is not None:
        n = study.comparison.n_rows
        all_rows = number_text(learner.cost * n)
        each = number_text(learner.cost)
        verb = "costs" if learner.cost >= 0.0 else "earns"
        return (
            f"decides on {target}, which {verb} {each.lstrip('-')} per decision,"
            f" {all_rows.lstrip('-')} for the {n:,} rows tested"
        )
    if learner.error is None:
        return f"decides on {target} in no row"
    left = ""
    if learner.reject_rate:
        left = f" that it decides, and leaves {out_of(learner.reject_rate)} to a person"
    wrong = f"{out_of(learner.error, _least(study))} rows"
    if learner.error == 0.0:  # of nine rows that says little
        wrong = f"none of the {study.comparison.n_rows:,} rows tested"
    return f"predicts {target}, wrong in {wrong}{left}"


def _guess(study: Study, baseline: RankedLearner) -> str:
    if study.classes is None:
        return f"a constant guess is off by {number_text(baseline.mae or 0.0)}"
    if study.comparison.criterion == "mean cost" and baseline.cost is not None:
        verb = "costs" if baseline.cost >= 0.0 else "earns"
        return f"a constant guess {verb} {number_text(baseline.cost).lstrip('-')} per decision"
    if baseline.error is None:
        return "a constant guess decides on no row"
    return f"a constant guess is wrong in {out_of(baseline.error, _least(study))}"


def _least(study: Study) -> int:
    """Of a hundred rows, or of a thousand where a hundred would hide a difference."""
    baseline = study.comparison.baseline
    rates = [s.error or 0.0 for s in (study.choice, baseline) if s is not None]
    is_hidden = len({out_of(rate) for rate in rates}) < len(set(rates))
    return 1_000 if is_hidden else 100


def out_of(share: float, least: int = 100) -> str:
    """A share as a number of things out of a hundred, or of as many as it takes.

    >>> out_of(0.231), out_of(0.004), out_of(0.00012), out_of(0.0), out_of(0.999)
    ('23 of 100', '4 of 1,000', '1 of 10,000', 'none of 100', '999 of 1,000')
    """
    if share <= 0.0:
        return "none of 100"
    if share >= 1.0:
        return "100 of 100"
    for n in (100, 1_000, 10_000, 1_000_000):
        if n < least:
            continue
        part = round(share * n)
        # a whole number that is near enough, and neither none nor all
        if 0 < part < n and abs(part / n - share) <= 0.2 * min(share, 1.0 - share):
            return f"{part:,} of {n:,}"
    return "fewer than 1 of 1,000,000"
