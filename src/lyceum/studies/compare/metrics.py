"""Every metric of one learner's out-of-sample predictions, and the rates of every class, with
intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import special

from lyceum._core.data import row_weights
from lyceum._core.text import plain
from lyceum.evaluate import (
    auc_hand_till,
    calibration_curve,
    error_interval as wilson_interval,
    regression_report,
    roc_auc_score,
)
from lyceum.studies.compare.comparison import RankedLearner, Span
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import Trial, by_row, sum_by_group
from lyceum.studies.plan.fold_scheme import take_rows
from lyceum.studies.run.fold_calibration import usual_calibration
from lyceum.studies.run.problems import Problems


def _mean_and_error(sample: OutOfSample, values: np.ndarray) -> tuple[float, float]:
    """Mean over rows and its standard error √(Σ r²) / Σ w, with r = w (v - mean) of a row.

    With G groups r is the sum over the rows of a group, and Σ r² is multiplied by G / (G - 1).
    """
    values, w = by_row(sample, values)
    mean = float(values @ w / w.sum())
    r = sum_by_group(sample, w * (values - mean))
    few = 1.0 if sample.groups is None else len(r) / max(1, len(r) - 1)
    return mean, float(np.sqrt(few * (r @ r)) / w.sum())


def _rate_interval(
    sample: OutOfSample, rate: float, error: float = 0.0, confidence: float = 0.95
) -> Span:
    """Wilson's interval for the effective number of rows.

    Without groups that is (Σ w)² / Σ w²; with groups it is rate (1 - rate) / error², by the
    standard error over groups, at least the effective number of groups.
    """
    w = by_row(sample, np.zeros(len(sample.rows)))[1]
    n = n_independent(sample)
    if error:
        n_rows = float(w.sum() ** 2 / (w @ w))
        n = min(max(n, rate * (1.0 - rate) / error**2), n_rows)
    wrong: Any = min(rate, 1.0) * n  # effective numbers need not be whole
    size: Any = n
    interval = wilson_interval(wrong, size, confidence=confidence)
    return interval.low, interval.high


def n_independent(sample: OutOfSample) -> float:
    """The effective number of rows, (Σ w)² / Σ w², with the weights of whole groups where there are
    any."""
    w = sum_by_group(sample, by_row(sample, np.zeros(len(sample.rows)))[1])
    return float(w.sum() ** 2 / (w @ w))


def loss_and_interval(
    rule: LossRule, sample: OutOfSample, losses: np.ndarray, confidence: float = 0.95
) -> tuple[float, Span, float]:
    """What the study ranks by, with its interval, of 95 % by default, and standard error.

    An error rate has Wilson's interval. A cost has mean ± 1.96 standard errors, kept within the
    costs; where every row costs the least, the upper end is that of Wilson's interval for no error,
    on the scale of the costs, and where every row costs the most, so is the lower end. RMSE has an
    interval on the scale of its logarithm, RMSE · exp(± 1.96 s / 2 MSE) with s the standard error
    of the mean square, which cannot reach below 0; its standard error is s / 2 RMSE.
    """
    mean, error = _mean_and_error(sample, losses)
    low, high = rule.range
    z = -float(special.ndtri((1.0 - confidence) / 2.0))
    span = (max(low, mean - z * error), min(high, mean + z * error))
    if rule.is_root:
        rmse = math.sqrt(mean)
        if rmse == 0.0:
            return 0.0, (0.0, 0.0), 0.0
        # the delta method: log RMSE = log(MSE) / 2 has the standard error s / 2 MSE
        times = math.exp(z * error / (2.0 * mean))
        return rmse, (rmse / times, rmse * times), error / (2.0 * rmse)
    if rule.is_rate:
        return mean, _rate_interval(sample, mean, error, confidence), error
    # all rows cost the same: no spread to make an interval of
    if rule.n_classes is not None and math.isfinite(high) and error == 0.0:
        reach = (high - low) * _rate_interval(sample, 0.0, 0.0, confidence)[1]
        if mean <= low:
            return mean, (low, low + reach), error
        # rejecting every row is no matter of chance
        if mean >= high and rule.doubt is None:
            return mean, (high - reach, high), error
    return mean, span, error


def _class_metrics(trial: Trial, rule: LossRule) -> dict[str, Any]:
    """Errors, costs and the confusion table of the decisions."""
    sample = trial.sample
    decided = trial.decided
    assert rule.n_classes is not None
    assert decided is not None
    y = sample.y
    w = sample.weight
    K = rule.n_classes
    named = rule.named_class(decided)
    error, error_interval = _decided_error(sample, named)
    # the cost of the decisions, by whatever metric learners are ranked
    plain = LossRule(K, rule.loss, rule.doubt)
    cost, cost_interval, _ = loss_and_interval(plain, sample, plain.cost(y, decided))
    # one column per action, and a last one for doubt, whose index is -1
    actions = K if rule.loss is None else rule.loss.values.shape[1]
    columns = actions + (rule.doubt is not None)
    table = np.zeros((K, columns))
    np.add.at(table, (y, decided % columns), 1.0 if w is None else w)
    return {
        "error": error,
        "error_interval": error_interval,
        "cost": cost,
        "cost_interval": cost_interval,
        "reject_rate": _mean_and_error(sample, (decided < 0).astype(np.float64))[0],
        "confusion": tuple(tuple(row) for row in table.tolist()),
    }


def decision_errors(rule: LossRule, sample: OutOfSample) -> dict[str, float | None]:
    """The error of the decisions made, and the share of rows rejected."""
    decided = rule.decide(sample.predicted)
    error, _ = _decided_error(sample, rule.named_class(decided))
    rejected, _ = _mean_and_error(sample, (decided < 0).astype(np.float64))
    return {"error": error, "reject_rate": rejected}


def _decided_error(
    sample: OutOfSample, named: np.ndarray
) -> tuple[float | None, Span | None]:
    """The share of wrong classes among the rows that were given one; None where there are none."""
    given = named >= 0
    if not given.any():
        return None, None
    part = OutOfSample(
        rows=sample.rows[given],
        repeats=sample.repeats[given],
        folds=sample.folds[given],
        y=sample.y[given],
        predicted=named[given],
        weight=take_rows(sample.weight, given),
        groups=take_rows(sample.groups, given),
    )
    rate, error = _mean_and_error(part, (part.predicted != part.y).astype(np.float64))
    return rate, _rate_interval(part, rate, error)


def _calibration_metrics(trial: Trial, K: int) -> dict[str, Any]:
    """How far posteriors can be taken at their word."""
    sample = trial.sample
    curve = calibration_curve(
        sample.y,
        sample.predicted,
        n_bins=10,
        labels=np.arange(K),
        sample_weight=sample.weight,
    )
    return {
        "log_loss": curve.log_loss,
        "brier": curve.brier,
        "calibration_error": curve.expected_error,
    }


def _auc_metrics(trial: Trial, K: int) -> dict[str, Any]:
    """The area under the ROC curve: the mean over folds, by their rows, as where learners are
    ranked by it.

    Only rows of one fold are compared: scores of different models are not, and a constant guess has
    0.5.
    """
    sample = trial.sample
    areas = []
    weights = []
    folds = sample.repeats * (int(sample.folds.max()) + 1) + sample.folds
    order = np.argsort(folds, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(folds[order])) + 1):
        y = sample.y[rows]
        proba = sample.predicted[rows]
        w = take_rows(sample.weight, rows)
        present = np.unique(y)
        if len(present) < 2:
            continue
        if K == 2:
            area = roc_auc_score(y == 1, proba[:, 1], sample_weight=w)
        else:
            area = auc_hand_till(y, proba[:, present], labels=present, sample_weight=w)
        areas.append(float(area))
        weights.append(float(row_weights(w, len(y)).sum()))
    if not areas:
        return {}
    n = len(areas)
    error = None
    if n > 2:
        # Var(Σ w a) = σ² Σ w² for Σ w = 1, and σ² is estimated by n / (n − 1) times the weighted
        # variance of the areas
        w = np.array(weights) / np.sum(weights)
        variance = float(w @ (np.array(areas) - w @ areas) ** 2) * n / (n - 1)
        error = math.sqrt(variance * float(w @ w))
    return {"auc": float(np.average(areas, weights=weights)), "auc_error": error}


def _metrics(trial: Trial, rule: LossRule, problems: Problems) -> dict[str, Any]:
    """Every metric of one learner that applies and could be made."""
    label = trial.candidate.label
    K = rule.n_classes
    if K is None:
        y, predicted = trial.sample
        squared = (y - predicted) ** 2
        loss, interval, _ = loss_and_interval(LossRule(None), trial.sample, squared)
        metrics: dict[str, Any] = {"rmse": loss, "rmse_interval": interval}
        report = problems.attempt(
            f"regression metrics of {label}",
            lambda: regression_report(y, predicted, sample_weight=trial.sample.weight),
        )
        if report is not None:
            metrics |= {"mae": report.mae, "r2": report.r2}
        return metrics
    metrics = _class_metrics(trial, rule)
    metrics |= problems.attempt(
        f"calibration of {label}", lambda: _calibration_metrics(trial, K), {}
    )
    return metrics | problems.attempt(
        f"AUC of {label}", lambda: _auc_metrics(trial, K), {}
    )


def ranked_learner(
    trial: Trial,
    rule: LossRule,
    table: TaskTable,
    estimates: Mapping[str, float],
    problems: Problems,
) -> RankedLearner:
    """The numbers of one learner by itself."""
    loss, interval, error = loss_and_interval(rule, trial.sample, trial.losses)
    train = trial.train_loss
    name = trial.candidate.name
    # all its finished folds, also those that not all learners have finished
    results = [result for task, result in table.done.items() if task.name == name]
    tried = max((result.settings_tried for result in results), default=1)
    warnings = (text for result in results for text in result.warnings)
    return RankedLearner(
        name=name,
        label=trial.candidate.label,
        params=table.params(trial.candidate),
        loss=loss,
        interval=interval,
        standard_error=error,
        fold_losses=tuple(trial.fold_losses.tolist()),
        train_loss=math.sqrt(train) if rule.is_root else train,
        complexity=int(np.median([result.complexity for result in trial.results])),
        seconds=sum(result.seconds for result in results),
        memory=max(result.memory for result in results),
        folds_done=len(results),
        folds_planned=len(table.order),
        is_baseline=trial.candidate.is_baseline,
        error_632=estimates.get(name),
        settings_tried=tried or max(1, len(trial.candidate.search)),
        folds_searched=sum(result.settings_tried > 1 for result in results),
        search_seconds=sum(result.search_seconds for result in results),
        calibration=usual_calibration(results),
        folds_calibrated=sum(result.calibration != "" for result in results),
        warnings=tuple(dict.fromkeys(warnings)),
        **_metrics(trial, rule, problems),
    )


# -- the classes -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassRates:
    """How well one class is found, and how often it is named rightly.

    Attributes
    ----------
    label : label
        The class.
    n_rows : float
        Rows of the class, or their weight.
    n_named : float
        Rows that were given to the class.
    recall, precision, f1 : float or None
        The share of the class that was found; the share of the rows named that are of the class;
        their harmonic mean. None where there are no such rows.
    recall_interval, precision_interval : (float, float) or None
        Wilson's 95 % intervals.
    """

    label: Any
    n_rows: float
    n_named: float
    recall: float | None
    recall_interval: Span | None
    precision: float | None
    precision_interval: Span | None
    f1: float | None

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


def class_rates(
    confusion: Any,
    classes: Sequence[Any],
    named: Sequence[int],
    independent: float = 1.0,
) -> list[ClassRates]:
    """The rates of every class.

    Parameters
    ----------
    confusion : array-like of shape (K, A)
        Rows = true class, columns = action.
    classes : sequence of K labels
        The classes.
    named : sequence of A int
        For every action the class that it names, -1 for none: a rejected row is not found.
    independent : float, default=1.0
        How many independent rows a row (or a weight of 1) stands for: fewer than one with groups or
        uneven weights, so that intervals are wider.

    Returns
    -------
    list of ClassRates

    Examples
    --------
    >>> rates = class_rates([[8, 2], [0, 10]], "ab", [0, 1])
    >>> [(rate.label, rate.recall, rate.precision) for rate in rates]
    [('a', 0.8, 1.0), ('b', 1.0, 0.8333333333333334)]
    """
    table = np.asarray(confusion, dtype=np.float64)
    rates = []
    for k, label in enumerate(classes):
        columns = np.flatnonzero(np.asarray(named) == k)
        correct = table[k, columns].sum()
        n_rows = table[k].sum()
        n_named = table[:, columns].sum()
        recall = _share(correct, n_rows, independent)
        precision = _share(correct, n_named, independent)
        f1 = None
        if n_rows + n_named > 0:
            f1 = float(2.0 * correct / (n_rows + n_named))
        rates.append(
            ClassRates(label, float(n_rows), float(n_named), *recall, *precision, f1)
        )
    return rates


def _share(
    part: float, whole: float, independent: float
) -> tuple[float | None, Span | None]:
    if whole <= 0:
        return None, None
    n_correct = float(part * independent)
    n = float(whole * independent)
    # a class that has rows counts as one at least
    if n < 1.0:
        n_correct = float(part / whole)
        n = 1.0
    span = wilson_interval(n_correct, n)  # type: ignore[arg-type]
    return float(part / whole), (span.low, span.high)
