"""Every metric of one learner's out-of-sample predictions, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

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
from lyceum.studies.run.fold_calibration import usual_calibration
from lyceum.studies.run.problems import Problems

_Z = float(stats.norm.isf(0.025))


def _mean_and_error(sample: OutOfSample, values: np.ndarray) -> tuple[float, float]:
    """Mean over rows and its standard error √(Σ r²) / Σ w, with r = w (v - mean) of a row.

    With G groups r is the sum over the rows of a group, and Σ r² is multiplied by G / (G - 1).
    """
    values, w = by_row(sample, values)
    mean = float(values @ w / w.sum())
    r = sum_by_group(sample, w * (values - mean))
    if sample.groups is not None:
        few = len(r) / max(1, len(r) - 1)
    else:
        few = 1.0
    return mean, float(np.sqrt(few * (r @ r)) / w.sum())


def _rate_interval(sample: OutOfSample, rate: float, error: float = 0.0) -> Span:
    """Wilson's interval for the effective number of rows.

    Without groups that is (Σ w)² / Σ w²; with groups it is rate (1 - rate) / error², by the
    standard error over groups, at least the effective number of groups.
    """
    w = by_row(sample, np.zeros(len(sample.rows)))[1]
    n = n_independent(sample)
    if error:
        n = min(max(n, rate * (1.0 - rate) / error**2), float(w.sum() ** 2 / (w @ w)))
    interval = wilson_interval(min(rate, 1.0) * n, n)  # type: ignore[arg-type]
    return interval.low, interval.high


def n_independent(sample: OutOfSample) -> float:
    """The effective number of rows, (Σ w)² / Σ w², with the weights of whole groups where there are
    any."""
    w = sum_by_group(sample, by_row(sample, np.zeros(len(sample.rows)))[1])
    return float(w.sum() ** 2 / (w @ w))


def loss_and_interval(
    rule: LossRule, sample: OutOfSample, losses: np.ndarray
) -> tuple[float, Span, float]:
    """What the study ranks by, with its 95 % interval and standard error.

    An error rate has Wilson's interval. A cost has mean ± 1.96 standard errors, kept within the
    costs; where every row costs the least, the upper end is that of Wilson's interval for no error,
    on the scale of the costs, and where every row costs the most, so is the lower end. RMSE has an
    interval on the scale of its logarithm, RMSE · exp(± 1.96 s / 2 MSE) with s the standard error
    of the mean square, which cannot reach below 0; its standard error is s / 2 RMSE.
    """
    mean, error = _mean_and_error(sample, losses)
    low, high = rule.range
    span = (max(low, mean - _Z * error), min(high, mean + _Z * error))
    if rule.is_root:
        rmse = math.sqrt(mean)
        if mean:
            times = math.exp(_Z * error / (2.0 * mean))
        else:
            times = 1.0
        return rmse, (rmse / times, rmse * times), error / (2.0 * rmse) if rmse else 0.0
    if rule.is_rate:
        return mean, _rate_interval(sample, mean, error), error
    if rule.n_classes is not None and math.isfinite(high) and error == 0.0:
        reach = (high - low) * _rate_interval(sample, 0.0)[1]
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
    plain = LossRule(K, rule.loss, rule.doubt)
    cost, cost_interval, _ = loss_and_interval(plain, sample, plain.cost(y, decided))
    if rule.loss is None:
        actions = K
    else:
        actions = rule.loss.values.shape[1]
    columns = actions + (rule.doubt is not None)
    table = np.zeros((K, columns))
    np.add.at(
        table, (y, np.where(decided < 0, columns - 1, decided)), 1.0 if w is None else w
    )
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
    if sample.weight is None:
        w = None
    else:
        w = sample.weight[given]
    part = OutOfSample(
        sample.rows[given],
        sample.repeats[given],
        sample.folds[given],
        sample.y[given],
        named[given],
        w,
        None if sample.groups is None else sample.groups[given],
    )
    rate, error = _mean_and_error(
        part, (named[given] != sample.y[given]).astype(np.float64)
    )
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
    for indices in _rows_by_fold(sample):
        y = sample.y[indices]
        proba = sample.predicted[indices]
        if sample.weight is None:
            w = None
        else:
            w = sample.weight[indices]
        present = np.unique(y)
        if len(present) < 2:
            continue
        if K == 2:
            areas.append(float(roc_auc_score(y == 1, proba[:, 1], sample_weight=w)))
        else:
            areas.append(
                float(
                    auc_hand_till(y, proba[:, present], labels=present, sample_weight=w)
                )
            )
        weights.append(float(len(y) if w is None else w.sum()))
    if not areas:
        return {}
    area = float(np.average(areas, weights=weights))
    return {"auc": area, "auc_error": _spread(np.array(areas), np.array(weights))}


def _rows_by_fold(sample: OutOfSample) -> list[np.ndarray]:
    folds = sample.repeats * (int(sample.folds.max()) + 1) + sample.folds
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)


def _spread(values: np.ndarray, w: np.ndarray) -> float | None:
    """The standard error of a weighted mean; None for fewer than three values."""
    if len(values) < 3:
        return None
    w = w / w.sum()
    variance = float(w @ (values - w @ values) ** 2) * len(values) / (len(values) - 1)
    return math.sqrt(variance * float(w @ w))


def _number_metrics(trial: Trial) -> dict[str, Any]:
    report = regression_report(
        trial.sample.y, trial.sample.predicted, sample_weight=trial.sample.weight
    )
    return {"mae": report.mae, "r2": report.r2}


def _metrics(trial: Trial, rule: LossRule, problems: Problems) -> dict[str, Any]:
    """Every metric of one learner that applies and could be made."""
    label = trial.candidate.label
    K = rule.n_classes
    if K is None:
        squared = (trial.sample.y - trial.sample.predicted) ** 2
        loss, interval, _ = loss_and_interval(LossRule(None), trial.sample, squared)
        metrics = {"rmse": loss, "rmse_interval": interval}
        return metrics | problems.attempt(
            f"regression metrics of {label}", lambda: _number_metrics(trial), {}
        )
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
    if rule.is_root:
        train = math.sqrt(trial.train_loss)
    else:
        train = trial.train_loss
    name = trial.candidate.name
    own = [result for task, result in table.done.items() if task.name == name]
    return RankedLearner(
        name=name,
        label=trial.candidate.label,
        params=table.params(trial.candidate),
        loss=loss,
        interval=interval,
        standard_error=error,
        fold_losses=tuple(trial.fold_losses.tolist()),
        train_loss=train,
        complexity=int(np.median([result.complexity for result in trial.results])),
        seconds=sum(result.seconds for result in own),
        memory=max(result.memory for result in own),
        folds_done=len(own),
        folds_planned=len(table.order),
        is_baseline=trial.candidate.is_baseline,
        error_632=estimates.get(name),
        settings_tried=max((result.settings_tried for result in own), default=1)
        or max(1, len(trial.candidate.search)),
        folds_searched=sum(result.settings_tried > 1 for result in own),
        search_seconds=sum(result.search_seconds for result in own),
        calibration=usual_calibration(own),
        folds_calibrated=sum(result.calibration != "" for result in own),
        warnings=tuple(
            dict.fromkeys(text for result in own for text in result.warnings)
        ),
        **_metrics(trial, rule, problems),
    )
