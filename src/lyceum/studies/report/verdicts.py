"""A verdict on every learner: against the best, against the constant guess, and how closely it
fits."""

from __future__ import annotations

from lyceum.studies.compare.comparison import RankedLearner
from lyceum.studies.compare.difference_tests import is_shown
from lyceum.studies.report.format import (
    capitalize,
    more_is_better,
    p_text,
    percent_text,
)


def fit_word(
    learner: RankedLearner, best: RankedLearner, baseline: RankedLearner | None
) -> str:
    """Whether a learner fits its training rows too closely or too loosely, by what it does on new
    rows.

    A gap between training and new rows is no fault: boosting fits every training row and may be the
    best. Overfitting is to be better than another on training rows and, beyond chance, worse on new
    rows; the other is the best learner or the constant guess. Committees are neither: the
    predictions that they are made of are out of fold, so that they have no loss on training rows to
    compare.
    """
    if learner.is_baseline or learner.members or learner.name == best.name:
        return "balanced"
    rival = best
    if (
        baseline is not None
        and learner.loss > baseline.loss
        and is_shown(learner.p_baseline)
    ):
        rival = baseline
    elif best.is_baseline or not is_shown(learner.p_value_holm):
        return "balanced"
    if rival.members:
        return "balanced"
    if learner.train_loss < rival.train_loss:
        return "overfitting"
    if learner.train_loss > rival.train_loss:
        return "underfitting"
    return "balanced"


def verdict(
    learner: RankedLearner,
    best: RankedLearner,
    baseline: RankedLearner | None,
    criterion: str = "error rate",
) -> str:
    """One sentence on a learner."""
    if learner.is_baseline:
        return "A constant guess: what the others have to beat."
    parts = ["the best" if learner.rank == 1 else _against(learner, best)]
    if baseline is not None:
        parts.append(_against_constant(learner, baseline, criterion))
    if learner.fit_word in _FIT:
        parts.append(_FIT[learner.fit_word])
    return f"{capitalize('; '.join(parts))}."


_FIT = {
    "overfitting": "overfitting: better than others on the rows it learned from, worse on new ones",
    "underfitting": "underfitting: worse than others on the rows it learned from and on new ones",
}


def _against(learner: RankedLearner, best: RankedLearner) -> str:
    p = learner.p_value_holm
    if learner.loss == best.loss:
        return "as good as the best"
    if p is None:
        return "behind the best, by a difference that could not be tested"
    if is_shown(p):
        how = "worse than the best"
    else:
        how = "not shown to be worse than the best"
    return f"{how} ({p_text(p)})"


def _against_constant(
    learner: RankedLearner, baseline: RankedLearner, criterion: str
) -> str:
    if learner.loss >= baseline.loss:
        return "no better than a constant guess"
    gain = gain_text(learner.loss, baseline.loss, criterion)
    if gain is None:
        less = "better than a constant guess"
    else:
        less = f"{gain} below a constant guess"
    if learner.p_baseline is None:
        return f"{less}, by a difference that could not be tested"
    if is_shown(learner.p_baseline):
        return less
    return f"{less}, which chance alone could make"


def gain_text(loss: float, baseline: float, criterion: str) -> str | None:
    """How much a loss is below that of the constant guess in percent; None where that has no
    meaning.

    It has none for metrics of which more is better, and where decisions can earn something: the
    share of a cost that is negative or 0.
    """
    if more_is_better(criterion) or loss < 0.0 or baseline <= 0.0:
        return None
    return percent_text(1.0 - loss / baseline)
