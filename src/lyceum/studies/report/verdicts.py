"""A verdict on every learner: against the best, against the constant guess, how closely it fits,
and what more rows would do."""

from __future__ import annotations

import numpy as np
from scipy import special

from lyceum.evaluate import LearningCurve
from lyceum.studies.compare.comparison import RankedLearner
from lyceum.studies.compare.difference_tests import is_shown
from lyceum.studies.report.format import (
    capitalize,
    more_is_better,
    percent_text,
)

_LITTLE = 0.05  # of the loss: a gain that hardly matters


def fit_word(
    learner: RankedLearner, best: RankedLearner, baseline: RankedLearner | None
) -> str:
    """Whether a learner fits its training rows too closely or too loosely, by what it does on new
    rows.

    A gap between training and new rows is no fault: boosting fits every training row and may be the
    best. Overfitting is to be better than another on training rows and, beyond chance, worse on new
    rows; the other is the best learner or the constant guess. A learner that is level with the best
    is not worse, though a test by absolute errors may tell them apart. Committees are neither: the
    predictions that they are made of are out of fold, so that they have no loss on training rows to
    compare.
    """
    if learner.is_baseline or learner.members or learner.name == best.name:
        return "balanced"
    rival = best
    is_far_from_guess = is_shown(learner.p_baseline)
    if baseline is not None and learner.loss > baseline.loss and is_far_from_guess:
        rival = baseline
    elif best.is_baseline or learner.is_level or not is_shown(learner.p_adjusted):
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
    p = learner.p_adjusted
    if learner.rank == 1:
        parts = ["the best"]
    elif learner.loss == best.loss:
        parts = ["as good as the best"]
    elif learner.is_level:
        parts = ["level with the best"]
    elif p is None:
        parts = ["behind the best, by a difference that could not be tested"]
    elif is_shown(p):
        parts = ["worse than the best"]
    else:
        parts = ["behind the best, by a difference that chance alone could make"]
    if baseline is not None:
        parts.append(_against_constant(learner, baseline, criterion))
    if learner.fit_word in _FIT:
        parts.append(_FIT[learner.fit_word])
    return f"{capitalize('; '.join(parts))}."


_FIT = {
    "overfitting": "overfitting: better than others on the rows it learned from, worse on new ones",
    "underfitting": "underfitting: worse than others on the rows it learned from and on new ones",
}


def _against_constant(
    learner: RankedLearner, baseline: RankedLearner, criterion: str
) -> str:
    if learner.loss >= baseline.loss:
        return "no better than a constant guess"
    gain = gain_text(learner.loss, baseline.loss, criterion)
    less = "better than" if gain is None else f"{gain} below"
    less = f"{less} a constant guess"
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


def learning_trend(curve: LearningCurve) -> str:
    """The trend of the last half of the curve: "helps" (more rows do), "flat", or "open" (too
    uncertain).

    The gain is the loss on unseen rows at the size nearest to half of all rows, less that at all
    rows, in the same splits. It helps if its 95 % interval is above 0, and is flat if it is surely
    below a twentieth of the loss.

    >>> losses = np.array([[0.40, 0.42, 0.41], [0.30, 0.31, 0.29], [0.20, 0.22, 0.21]])
    >>> learning_trend(LearningCurve(np.array([10, 50, 100]), losses, losses, 0.5, "error rate"))
    'helps'
    """
    sizes = curve.train_sizes
    losses = curve.test_losses
    if len(sizes) < 2 or losses.shape[1] < 2:
        return "open"
    # the splits are the same at both sizes, so that the gain has the error of a paired difference
    half = int(np.abs(sizes[:-1] - sizes[-1] / 2).argmin())
    gain = losses[half] - losses[-1]
    error = float(gain.std(ddof=1)) / np.sqrt(len(gain))
    reach = -float(special.stdtrit(len(gain) - 1, 0.025)) * error
    if gain.mean() - reach > 0.0:
        return "helps"
    if gain.mean() + reach < _LITTLE * abs(losses[-1].mean()):
        return "flat"
    return "open"
