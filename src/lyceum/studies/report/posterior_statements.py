"""Sentences that rest on posteriors: rejecting rows, calibration, rare classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import stats

from lyceum._core.data import row_weights
from lyceum._core.statistics import log_losses, weighted_mean
from lyceum.decision import error_reject_curve, minimum_risk
from lyceum.studies.compare.comparison import Comparison, RankedLearner
from lyceum.studies.compare.difference_tests import is_shown, sign_flip
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import n_independent
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.trials import by_row, sum_by_group
from lyceum.studies.report.format import (
    by_count,
    in_sentence,
    join_names,
    loss_text,
    percent_text,
    score_text,
    subject,
)

# standard errors above 0.5 from which an AUC is no luck, the best of many included
_SURE = 3.0
_GOOD_AUC = 0.6
_RARE = 0.2  # share of the rows, for two classes
_FOUND = 0.5  # of a rare class: below, it is mostly missed
_OFF = 0.05  # calibration error that matters
_SURE_LEVELS = (0.999, 0.99, 0.95)  # posteriors that claim to be almost never wrong
_TIMES = 2.0  # as often wrong as claimed, before it matters
_FAR = 0.25  # of the lowest log loss: a log loss above it by more is of bad posteriors
_DRAWS = 200
_BINS = 10


def _is_certain(posteriors: np.ndarray) -> bool:
    """Whether there are no posteriors, only classes."""
    return bool(((posteriors == 0.0) | (posteriors == 1.0)).all())


# -- ranking without deciding ----------------------------------------------------------


def best_ranking(comparison: Comparison) -> RankedLearner | None:
    """The learner with the highest AUC, if that is more than guessing and no luck."""
    ranked = [s for s in comparison.learners if s.auc is not None and not s.is_baseline]
    best = max(ranked, key=lambda s: s.auc or 0.0, default=None)
    if best is None or best.auc is None or best.auc_error is None:
        return None
    error = max(best.auc_error, _guessing_error(comparison, best))
    if best.auc >= _GOOD_AUC and best.auc - _SURE * error > 0.5:
        return best
    return None


def _guessing_error(comparison: Comparison, learner: RankedLearner) -> float:
    """The standard error of the AUC of a guess, √((a + b + F) / 12 a b) for a and b rows in F
    folds.

    Few folds may agree by luck; this does not depend on them. More than two classes are taken as
    equally frequent.
    """
    n = comparison.n_rows
    counts = np.asarray(learner.confusion, dtype=np.float64).sum(axis=1)
    shares = counts / counts.sum()
    if len(shares) > 2:
        shares = np.full(2, 1.0 / len(shares))
    a, b = n * shares
    return math.sqrt((a + b + comparison.n_folds) / (12.0 * max(a, 1.0) * max(b, 1.0)))


def rare_classes(
    comparison: Comparison,
    sample: OutOfSample,
    rule: LossRule,
    classes: Sequence[Any] | None,
) -> Iterator[str]:
    """Advice where an error rate counts a rare class for nothing."""
    if rule.n_classes is None or rule.loss is not None or classes is None:
        return
    choice = comparison[comparison.choice]
    K = rule.n_classes
    counts = np.bincount(sample.y, sample.weight, minlength=K)
    shares = counts / counts.sum()
    right = np.diag(np.asarray(choice.confusion, dtype=np.float64))
    recalls = right / np.maximum(counts, 1e-300)
    # of more than two classes, half of an equal share
    limit = _RARE if K == 2 else 0.5 / K
    missed = [
        k for k in np.argsort(shares) if 0 < shares[k] < limit and recalls[k] < _FOUND
    ]
    if missed:
        yield _rare_class_advice(comparison, classes, shares, recalls, missed)


def _rare_class_advice(
    comparison: Comparison,
    classes: Sequence[Any],
    shares: np.ndarray,
    recalls: np.ndarray,
    missed: Sequence[int],
) -> str:
    """Which rare classes are `missed`, who ranks rows well, and the costs that would find them."""
    choice = comparison[comparison.choice]
    what = []
    for k in missed[:3]:
        share = percent_text(float(shares[k]))
        recall = percent_text(float(recalls[k]))
        what.append(f"{str(classes[k])!r} ({share} of the rows, {recall} found)")
    more = len(missed) - len(what)
    if more:
        what.append(f"{more} more")
    rare = by_count(len(missed), "rare class", "rare classes")
    mostly = f"{subject(choice.label)} misses most of the {rare}"
    hardly = ""
    if comparison.criterion == "error rate":
        hardly = ": an error rate hardly counts such rows"
    order = ""
    ranks = best_ranking(comparison)
    if ranks is not None and ranks.auc is not None:
        order = f" {subject(ranks.label)} ranks rows with an AUC of {score_text(ranks.auc)}."
    rarest = missed[0]
    common = int(shares.argmax())
    # the odds against the rarest class: missing all of it costs as much as an alarm for every
    # other row
    cost = f"{max(2.0, float(f'{1.0 / shares[rarest] - 1.0:.1g}')):g}"
    return (
        f"{mostly} {join_names(what)}{hardly}.{order} If missing them is dearer than a false"
        " alarm, "
        f'say so, e.g. --loss "{classes[rarest]}:{classes[common]}={cost}", and see precision and'
        " recall."
    )


# -- rejecting rows --------------------------------------------------------------------


def rejection(
    comparison: Comparison, sample: OutOfSample, rule: LossRule
) -> Iterator[str]:
    """What doubt costs or gains; without doubt, what rejecting a tenth of the rows would gain."""
    if rule.n_classes is None:
        return
    choice = comparison[comparison.choice]
    if rule.doubt is not None:
        yield _with_doubt(choice, sample, rule)
        return
    if choice.is_baseline or _is_certain(sample.predicted):
        return
    loss = None
    if rule.loss is not None:
        loss = rule.loss.without_reject().values
    curve = error_reject_curve(
        sample.y, sample.predicted, loss, sample_weight=sample.weight
    )
    # the last point of the curve that rejects at least a tenth
    index = int((curve.reject_rate >= 0.1).nonzero()[0][-1])
    share = float(curve.reject_rate[index])
    cost_of_rest = float(curve.cost[index])
    cost_of_all = float(curve.cost[-1])
    n = n_independent(sample)
    if share < 0.5 and _is_gain(cost_of_rest, cost_of_all, share, n, rule):
        # the loss of decisions, whatever learners are ranked by
        if rule.loss is None:
            what = "error rate"
            which = "that it is least certain of"
        else:
            what = "mean cost"
            which = "with the highest expected cost"
        rest = loss_text(what, cost_of_rest)
        all_rows = loss_text(what, cost_of_all)
        yield (
            f"If {in_sentence(choice.label)} could leave to a person the {percent_text(share)} of"
            f" the rows {which}, its {what} on the rest would be {rest} instead of {all_rows}"
            " (--doubt rejects such rows)."
        )


def _is_gain(
    cost_of_rest: float, cost_of_all: float, share: float, n: float, rule: LossRule
) -> bool:
    """Whether rejected rows cost more than the others by two standard errors."""
    # cost_of_all = share · rejected + (1 − share) · cost_of_rest
    rejected = (cost_of_all - (1.0 - share) * cost_of_rest) / share
    # costs between low and high with this mean have at most the variance (high − low)² m (1 − m)
    low, high = LossRule(rule.n_classes, rule.loss).range
    m = (cost_of_all - low) / max(high - low, 1e-300)
    variance = max(m * (1.0 - m), 0.0)
    error = (high - low) * math.sqrt(variance / n * (1 / share + 1 / (1 - share)))
    return rejected - cost_of_rest > 2.0 * error and cost_of_rest < cost_of_all


def _with_doubt(choice: RankedLearner, sample: OutOfSample, rule: LossRule) -> str:
    begin = f"At a cost of {rule.doubt:g} for doubt, {in_sentence(choice.label)}"
    if not choice.reject_rate:
        return f"{begin} rejects no row: deciding is never expected to cost more."
    wrong = ""
    if choice.error is not None:
        wrong = f"; {percent_text(choice.error)} of the others are decided wrong"
    rejects = f"{begin} rejects {percent_text(choice.reject_rate)} of the rows{wrong}."
    costs = LossRule(rule.n_classes, rule.loss, rule.doubt)
    with_doubt = costs.cost(sample.y, costs.decide(sample.predicted))
    decided = minimum_risk(sample.predicted, rule.loss, None).index
    without = costs.cost(sample.y, decided)
    cost = weighted_mean(with_doubt, sample.weight)
    other = weighted_mean(without, sample.weight)
    both = (
        f"{loss_text('mean cost', cost)} per row with doubt, {loss_text('mean cost', other)}"
        " without"
    )
    # row by row, as both kinds of decisions are on the same rows
    gain, w = by_row(sample, without - with_doubt)
    if not is_shown(sign_flip(sum_by_group(sample, gain * w))):
        return f"{rejects} What rejecting gains is within chance: {both}."
    pays = "pays" if cost < other else "does not pay here"
    return f"{rejects} Rejecting {pays}: {both}."


# -- calibration -----------------------------------------------------------------------


def calibration_quality(
    comparison: Comparison, sample: OutOfSample, rule: LossRule
) -> Iterator[str]:
    """Whether posteriors can be taken at their word, as far as this number of rows can tell."""
    choice = comparison[comparison.choice]
    if choice.calibration_error is None or choice.is_baseline or rule.n_classes is None:
        return
    if _is_certain(sample.predicted):
        yield (
            f"All posteriors of {in_sentence(choice.label)} are 0 or 1: they do not tell how sure"
            " it is."
        )
        return
    error = choice.calibration_error
    chance = calibration_noise(sample)
    off = percent_text(error)
    noise = percent_text(chance)
    label = in_sentence(choice.label)
    begin = f"The posteriors of {label} are off by {off} on average (expected calibration error)"
    remedy = ": calibrate them before use as probabilities (--calibrate)"
    if choice.folds_calibrated:
        remedy = ", though they were calibrated: do not rely on them"
    # the mean hides posteriors near 1, which most rows may have
    hidden = _too_sure(sample) or _behind_in_log_loss(comparison, sample)
    if hidden:
        # a small mean error would speak for them, a large one against them too
        join = "but" if error < max(chance, _OFF) else "and"
        yield f"{begin}, {join} {hidden}{remedy}."
    elif error <= chance:
        n = len(np.unique(sample.rows))
        yield (
            f"{begin}, no more than chance makes in {n:,} rows (up to {noise}): nothing "
            "speaks against taking them as they are."
        )
    elif error < _OFF:
        yield (
            f"{begin}, which is more than chance makes ({noise}) but little: they can be taken as"
            " they are."
        )
    else:
        yield f"{begin}, more than chance makes ({noise}){remedy}."


def _too_sure(sample: OutOfSample) -> str:
    """Posteriors near 1 of which more are wrong than they allow for; nothing where there are
    none."""
    first = sample.repeats == 0
    predicted = sample.predicted[first]
    named = predicted.argmax(axis=1)
    stated = predicted.max(axis=1)
    is_wrong = named != sample.y[first]
    units = sample.rows if sample.groups is None else sample.groups
    for least in _SURE_LEVELS:
        sure = stated > least
        # what posteriors of `least` at the least would allow for, in whole rows
        expected = float((1.0 - stated[sure]).sum())
        n_wrong = int(is_wrong[sure].sum())
        # the rows of a group err together
        n_apart = len(np.unique(units[first][sure & is_wrong]))
        if min(n_wrong, n_apart) <= max(1.0, _TIMES * expected):
            continue
        most = float(stats.poisson.ppf(0.99, expected))
        if min(n_wrong, n_apart) > most:
            rows = by_count(int(sure.sum()), "row", "rows")
            would = "none" if most == 0.0 else f"at most {most:.0f}"
            return (
                f"of the {sure.sum():,} {rows} that it gives a class with more than"
                f" {100 * least:g} %, {n_wrong:,} are wrong, where {would} would be by chance"
            )
    return ""


def _behind_in_log_loss(comparison: Comparison, sample: OutOfSample) -> str:
    """Whether another learner has far better posteriors by their log loss."""
    choice = comparison[comparison.choice]
    others = [s for s in comparison.learners if s.log_loss is not None]
    best = min(others, key=lambda s: s.log_loss or 0.0, default=choice)
    if choice.log_loss is None or best.log_loss is None:
        return ""
    losses, w = by_row(sample, log_losses(sample.y, sample.predicted))
    spread = sum_by_group(sample, (losses - np.average(losses, weights=w)) * w)
    error = float(np.sqrt(spread @ spread)) / float(w.sum())
    gap = choice.log_loss - best.log_loss
    if gap < _FAR * best.log_loss or gap < 2.0 * error:
        return ""
    return (
        f"their log loss, {choice.log_loss:.3f}, is far above the {best.log_loss:.3f} of"
        f" {in_sentence(best.label)}"
    )


def calibration_noise(sample: OutOfSample, seed: int = 0) -> float:
    """The expected calibration error that right posteriors stay below in 95 % of samples of these
    rows.

    Outcomes are drawn from the posteriors themselves, one for every row, whatever the number of
    repeats; the bins are ten of `lyceum.evaluate.calibration_curve`. With groups, whose rows share
    their luck, the differences that were observed change their sign, group by group, at random.
    """
    posteriors = sample.predicted
    if posteriors.shape[1] == 2:
        named_class = np.ones(len(posteriors))
        stated = posteriors[:, 1]
    else:
        named_class = posteriors.argmax(axis=1)
        stated = posteriors.max(axis=1)
    w = row_weights(sample.weight, len(stated))
    # the bin of every posterior, a bin with its upper end
    which = np.searchsorted(np.linspace(0.0, 1.0, _BINS + 1)[1:-1], stated, side="left")
    # rows, or groups, are drawn: all predictions of one have the same luck
    drawn = sample.rows if sample.groups is None else sample.groups
    units, unit = np.unique(drawn, return_inverse=True)
    n_units = len(units)
    observed = w * ((sample.y == named_class) - stated)
    rng = np.random.default_rng(seed)
    errors = []
    n_draws = _DRAWS if len(stated) < 20_000 else _DRAWS // 5
    for _ in range(n_draws):
        if sample.groups is None:
            off = w * ((rng.random(n_units)[unit] < stated) - stated)
        else:
            off = observed * rng.choice([-1.0, 1.0], n_units)[unit]
        errors.append(np.abs(np.bincount(which, off, _BINS)).sum() / w.sum())
    return float(np.quantile(errors, 0.95))
