"""Sentences that rest on posteriors: rejecting rows, calibration, rare classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lyceum.decision import error_reject_curve, minimum_risk
from lyceum.studies._comparison import Comparison, OutOfSample, RankedLearner
from lyceum.studies._format import joined_names, loss_text, named, percent_text, subject
from lyceum.studies._loss_rule import LossRule, weighted_mean

__all__ = ["best_ranking", "calibrated", "calibration_noise", "rare_classes", "rejection"]

_SURE = 3.0  # standard errors above 0.5 from which an AUC is no luck, the best of many included
_GOOD_AUC = 0.6
_RARE = 0.2  # share of the rows, for two classes
_FOUND = 0.5  # of a rare class: below, it is mostly missed
_OFF = 0.05  # calibration error that matters
_DRAWS = 200
_BINS = 10


def _is_certain(posteriors: np.ndarray) -> bool:
    """Whether there are no posteriors, only classes."""
    return bool(((posteriors == 0.0) | (posteriors == 1.0)).all())


# -- ranking without deciding --------------------------------------------------------------------------------


def best_ranking(comparison: Comparison) -> RankedLearner | None:
    """The learner with the highest AUC, if that is good and no luck."""
    ranked = [s for s in comparison.learners if s.auc is not None and not s.is_baseline]
    best = max(ranked, key=lambda s: s.auc or 0.0, default=None)
    if best is None or best.auc is None or best.auc_error is None:
        return None
    return best if best.auc >= _GOOD_AUC and best.auc - _SURE * best.auc_error > 0.5 else None


def rare_classes(
    comparison: Comparison, sample: OutOfSample, rule: LossRule, classes: Sequence[Any] | None
) -> Iterator[str]:
    """Advice where an error rate counts a rare class for nothing."""
    if rule.n_classes is None or rule.loss is not None or classes is None:
        return
    choice, K = comparison[comparison.choice], rule.n_classes
    label = named(choice.label)
    counts = np.bincount(sample.y, sample.weight, minlength=K)
    shares = counts / counts.sum()
    found = np.diag(np.asarray(choice.confusion, dtype=np.float64)) / np.maximum(counts, 1e-300)
    limit = _RARE if K == 2 else 0.5 / K
    common = int(shares.argmax())
    missed = [k for k in np.argsort(shares) if 0 < shares[k] < limit and found[k] < _FOUND]
    ranks = best_ranking(comparison)
    if not missed:
        return
    rates = [(percent_text(float(shares[k])), percent_text(float(found[k]))) for k in missed[:3]]
    what = [
        f"{str(classes[k])!r} ({share} of the rows, {part} found)" for k, (share, part) in zip(missed, rates)
    ]
    more = len(missed) - len(what)
    what += [f"{more} more"] if more else []
    mostly = f"{subject(label)} misses most of the rare class{'es' if len(missed) > 1 else ''}"
    hardly = ": an error rate hardly counts them" if comparison.criterion == "error rate" else ""
    order = f" {subject(ranks.label)} ranks rows with an AUC of {ranks.auc:.2f}." if ranks else ""
    rarest = missed[0]
    cost = f"{max(2.0, float(f'{1.0 / shares[rarest] - 1.0:.1g}')):g}"
    yield (
        f"{mostly} {joined_names(what)}{hardly}.{order} If missing such rows is dearer than a false alarm, "
        f'say so, e.g. --loss "{classes[rarest]}:{classes[common]}={cost}", and see precision and recall.'
    )


# -- rejecting rows ------------------------------------------------------------------------------------------


def rejection(comparison: Comparison, sample: OutOfSample, rule: LossRule) -> Iterator[str]:
    """What doubt costs or gains; without doubt, what rejecting a tenth of the rows would gain."""
    if rule.n_classes is None:
        return
    choice = comparison[comparison.choice]
    if rule.doubt is not None:
        yield _with_doubt(choice, sample, rule)
        return
    if choice.is_baseline or _is_certain(sample.predicted):
        return
    loss = None if rule.loss is None else rule.loss.without_reject().values
    curve = error_reject_curve(sample.y, sample.predicted, loss, sample_weight=sample.weight)
    place = int((curve.reject_rate >= 0.1).nonzero()[0][-1])  # the point that rejects at least a tenth
    share = float(curve.reject_rate[place])
    kept, everything = float(curve.cost[place]), float(curve.cost[-1])
    if share < 0.5 and _is_gain(kept, everything, share, len(sample.y), rule):
        what = "error rate" if rule.loss is None else "mean cost"  # of decisions, whatever learners rank by
        rest, all_rows = (loss_text(what, value) for value in (kept, everything))
        which = "that it is least certain of" if rule.loss is None else "with the highest expected cost"
        yield (
            f"If {named(choice.label)} could leave to a person the {percent_text(share)} of the rows "
            f"{which}, its {what} on the rest would be {rest} instead of {all_rows} (--doubt rejects such "
            "rows)."
        )


def _is_gain(kept: float, everything: float, share: float, n: int, rule: LossRule) -> bool:
    """Whether rejected rows cost more than the others by two standard errors."""
    rejected = (everything - (1.0 - share) * kept) / share
    low, high = LossRule(rule.n_classes, rule.loss).range
    middle = (everything - low) / max(high - low, 1e-300)
    error = (high - low) * math.sqrt(max(middle * (1.0 - middle), 0.0) / n * (1 / share + 1 / (1 - share)))
    return rejected - kept > 2.0 * error and kept < everything


def _with_doubt(choice: RankedLearner, sample: OutOfSample, rule: LossRule) -> str:
    decided = minimum_risk(sample.predicted, rule.loss, None).index
    without = weighted_mean(LossRule(rule.n_classes, rule.loss).cost(sample.y, decided), sample.weight)
    cost = choice.cost if choice.cost is not None else choice.loss
    begin = f"At a cost of {rule.doubt:g} for doubt, {named(choice.label)}"
    if not choice.reject_rate:
        return f"{begin} rejects no row: deciding is always expected to cost less."
    wrong = "" if choice.error is None else f"; {percent_text(choice.error)} of the others are decided wrong"
    rejects = f"{begin} rejects {percent_text(choice.reject_rate)} of the rows{wrong}."
    both = f"{loss_text('mean cost', cost)} per row with doubt, {loss_text('mean cost', without)} without"
    if cost < without:
        return f"{rejects} Rejecting pays: {both}."
    return f"{rejects} Rejecting does not pay here: {both}."


# -- calibration ---------------------------------------------------------------------------------------------


def calibrated(comparison: Comparison, sample: OutOfSample, rule: LossRule) -> Iterator[str]:
    """Whether posteriors can be taken at their word, as far as so many rows can tell."""
    choice, K = comparison[comparison.choice], rule.n_classes
    if choice.calibration_error is None or choice.is_baseline or K is None:
        return
    if _is_certain(sample.predicted):
        yield f"All posteriors of {named(choice.label)} are 0 or 1: they do not tell how sure it is."
        return
    error, chance = choice.calibration_error, calibration_noise(sample.predicted, sample.weight)
    off, noise = percent_text(error), percent_text(chance)
    begin = (
        f"The posteriors of {named(choice.label)} are off by {off} on average (expected calibration error)"
    )
    if error <= chance:
        n = len(np.unique(sample.rows))
        yield (
            f"{begin}, no more than chance makes in {n:,} rows (up to {noise}): nothing "
            "speaks against taking them as they are."
        )
    elif error < _OFF:
        yield f"{begin}, which is more than chance makes ({noise}) but little: they can be taken as they are."
    else:
        yield f"{begin}, more than chance makes ({noise}): calibrate them before use as probabilities."


def calibration_noise(posteriors: np.ndarray, weight: np.ndarray | None, seed: int = 0) -> float:
    """The expected calibration error that right posteriors stay below in 95 % of samples of these rows.

    Outcomes are drawn from the posteriors themselves; bins are those of `lyceum.evaluate.calibration`.
    """
    stated = posteriors[:, 1] if posteriors.shape[1] == 2 else posteriors.max(axis=1)
    w = np.ones(len(stated)) if weight is None else weight
    which = np.searchsorted(np.linspace(0.0, 1.0, _BINS + 1)[1:-1], stated, side="right")
    expected = np.bincount(which, w * stated, _BINS)
    rng = np.random.default_rng(seed)
    errors = []
    for _ in range(_DRAWS if len(stated) < 20_000 else _DRAWS // 5):
        happened = rng.random(len(stated)) < stated
        errors.append(np.abs(np.bincount(which, w * happened, _BINS) - expected).sum() / w.sum())
    return float(np.quantile(errors, 0.95))
