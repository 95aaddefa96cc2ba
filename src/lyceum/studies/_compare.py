"""The learners against each other, from the study folder alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from lyceum.errors import StudyError
from lyceum.evaluate import (
    auc,
    auc_hand_till,
    calibration,
    corrected_t,
    error_interval,
    fit_verdict,
    hoeffding,
    mcnemar,
    regression_report,
)
from lyceum.studies._pipeline import Judge, weighted_mean
from lyceum.studies._plan import Turn
from lyceum.studies._problems import Problems
from lyceum.studies._results import Candidate, Comparison, OutOfSample, Span, Standing
from lyceum.studies._store import Done, Store

__all__ = ["Board", "compare", "holm", "loss_and_interval", "pooled"]

_Z = float(stats.norm.isf(0.025))


@dataclass(frozen=True, eq=False)
class Board:
    """Which learners can be compared, and on which folds: those that all of them finished."""

    candidates: tuple[Candidate, ...]
    done: Mapping[Turn, Done]
    order: tuple[tuple[int, int], ...]  # repeat and fold, as they are run
    compared: tuple[Candidate, ...]
    folds: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, candidates: Sequence[Candidate], store: Store, folds: int, repeats: int) -> Board:
        done = store.done()
        order = tuple((repeat, fold) for repeat in range(repeats) for fold in range(folds))
        failed = {turn.name for turn, task in done.items() if task.failed}
        begun = [c for c in candidates if c.name not in failed and Turn(c.name, 0, 0) in done]
        common = tuple(at for at in order if all(Turn(c.name, *at) in done for c in begun))
        return cls(tuple(candidates), done, order, tuple(begun), common)

    @property
    def failures(self) -> tuple[Done, ...]:
        return tuple(task for task in self.done.values() if task.failed)

    @property
    def skipped(self) -> tuple[str, ...]:
        """Learners that no fold was run of."""
        return tuple(c.name for c in self.candidates if Turn(c.name, 0, 0) not in self.done)

    @property
    def finished(self) -> bool:
        failed = {task.turn.name for task in self.failures}
        return all(
            c.name in failed or Turn(c.name, *at) in self.done for c in self.candidates for at in self.order
        )

    def tasks(self, name: str) -> list[Done]:
        """The tasks of one learner on the folds compared."""
        return [self.done[Turn(name, *at)] for at in self.folds]

    def params(self, candidate: Candidate) -> dict[str, Any]:
        """Its fixed settings and those chosen most often, the first of equals."""
        chosen = Counter(tuple(sorted(task.settings.items())) for task in self.tasks(candidate.name))
        most = chosen.most_common(1)
        return {**candidate.settings, **dict(most[0][0] if most else ())}


def pooled(store: Store, name: str, n_folds: int) -> OutOfSample:
    """The out-of-sample predictions of one learner on the first folds, by repeat, then by row."""
    turns = sorted(
        (turn for turn, task in store.done().items() if turn.name == name and not task.failed),
        key=lambda turn: (turn.repeat, turn.fold),
    )
    if not turns:
        raise StudyError(f"{name!r} has no out-of-sample predictions in {store.folder}")
    return joined([store.predictions(turn) for turn in turns[:n_folds]])


def joined(parts: Sequence[OutOfSample]) -> OutOfSample:
    """Predictions of several folds, by repeat, then by row."""

    def all_of(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    order = np.lexsort((all_of("rows"), all_of("repeats")))
    weight = None if parts[0].weight is None else all_of("weight")[order]
    rows, repeats, folds = (all_of(name)[order] for name in ("rows", "repeats", "folds"))
    return OutOfSample(rows, repeats, folds, all_of("y")[order], all_of("predicted")[order], weight)


# -- one learner ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Trial:
    """One learner's predictions, with the losses of its rows and folds."""

    candidate: Candidate
    sample: OutOfSample
    losses: np.ndarray  # (m,) the study's own loss of every prediction
    decided: np.ndarray | None  # (m,) actions, None for regression
    fold_losses: np.ndarray
    tasks: list[Done]

    @classmethod
    def of(cls, candidate: Candidate, store: Store, board: Board, judge: Judge) -> _Trial:
        parts = [store.predictions(Turn(candidate.name, *at)) for at in board.folds]
        folds = [weighted_mean(judge.losses(part.y, part.predicted), part.weight) for part in parts]
        sample = joined(parts)
        decided = None if judge.n_classes is None else judge.decided(sample.predicted)
        losses = (
            judge.losses(sample.y, sample.predicted) if decided is None else judge.paid(sample.y, decided)
        )
        return cls(candidate, sample, losses, decided, np.array(folds), board.tasks(candidate.name))

    @property
    def train_loss(self) -> float:
        return float(np.mean([task.train_loss for task in self.tasks]))

    @property
    def test_to_train(self) -> float:
        return sum(task.n_test for task in self.tasks) / sum(task.n_train for task in self.tasks)


def _by_row(sample: OutOfSample, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of every row over repeats, and the weights of the rows."""
    _, first, place, times = np.unique(
        sample.rows, return_index=True, return_inverse=True, return_counts=True
    )
    w = np.ones(len(first)) if sample.weight is None else sample.weight[first]
    return np.bincount(place, values) / times, w


def _mean_and_error(sample: OutOfSample, values: np.ndarray) -> tuple[float, float]:
    """Mean over rows and its standard error √(Σ w² (v - mean)²) / Σ w."""
    values, w = _by_row(sample, values)
    mean = float(values @ w / w.sum())
    return mean, float(np.sqrt((w**2) @ (values - mean) ** 2) / w.sum())


def _rate_interval(sample: OutOfSample, rate: float) -> Span:
    """Wilson's interval for the effective number of rows, (Σ w)² / Σ w²."""
    w = _by_row(sample, np.zeros(len(sample.rows)))[1]
    n = float(w.sum() ** 2 / (w @ w))
    found = error_interval(min(rate, 1.0) * n, n)  # type: ignore[arg-type]
    return found.low, found.high


def loss_and_interval(judge: Judge, sample: OutOfSample, losses: np.ndarray) -> tuple[float, Span, float]:
    """What the study ranks by, with its 95 % interval and standard error.

    An error rate has Wilson's interval. A cost has mean ± 1.96 standard errors, kept within the costs. RMSE
    has the roots of the interval of the mean square; its standard error is that of the mean square / 2 RMSE.
    """
    mean, error = _mean_and_error(sample, losses)
    low, high = judge.span
    span = (max(low, mean - _Z * error), min(high, mean + _Z * error))
    if judge.n_classes is None:
        rmse = math.sqrt(mean)
        return rmse, (math.sqrt(span[0]), math.sqrt(span[1])), error / (2.0 * rmse) if rmse else 0.0
    if judge.loss is None and judge.doubt is None:
        return mean, _rate_interval(sample, mean), error
    return mean, span, error


def _classified(trial: _Trial, judge: Judge) -> dict[str, Any]:
    """Errors, costs and the confusion table of the decisions."""
    sample, decided = trial.sample, trial.decided
    assert judge.n_classes is not None
    assert decided is not None
    y, proba, w, K = sample.y, sample.predicted, sample.weight, judge.n_classes
    error, _ = _mean_and_error(sample, (proba.argmax(axis=1) != y).astype(np.float64))
    cost, cost_interval, _ = loss_and_interval(judge, sample, trial.losses)
    actions = K if judge.loss is None else judge.loss.values.shape[1]
    columns = actions + (judge.doubt is not None)
    table = np.zeros((K, columns))
    np.add.at(table, (y, np.where(decided < 0, columns - 1, decided)), 1.0 if w is None else w)
    return {
        "error": error,
        "error_interval": _rate_interval(sample, error),
        "cost": cost,
        "cost_interval": cost_interval,
        "reject_rate": _mean_and_error(sample, (decided < 0).astype(np.float64))[0],
        "confusion": tuple(tuple(row) for row in table.tolist()),
    }


def _calibrated(trial: _Trial, K: int) -> dict[str, Any]:
    """How far posteriors can be taken at their word."""
    sample = trial.sample
    found = calibration(sample.y, sample.predicted, classes=np.arange(K), sample_weight=sample.weight)
    return {
        "log_loss": found.log_loss,
        "brier": found.brier,
        "calibration_error": found.expected_error,
    }


def _area(trial: _Trial, K: int) -> dict[str, Any]:
    """The area under the ROC curve."""
    y, proba, w = trial.sample.y, trial.sample.predicted, trial.sample.weight
    if K == 2:
        return {"auc": float(auc(y == 1, proba[:, 1], sample_weight=w))}
    return {"auc": float(auc_hand_till(y, proba, classes=np.arange(K), sample_weight=w))}


def _regressed(trial: _Trial) -> dict[str, Any]:
    report = regression_report(trial.sample.y, trial.sample.predicted, sample_weight=trial.sample.weight)
    return {"mae": report.mae, "r2": report.r2}


_NONE = dict.fromkeys(
    ("error", "error_interval", "cost", "cost_interval", "reject_rate", "log_loss", "auc", "brier",
     "calibration_error", "confusion", "rmse", "rmse_interval", "mae", "r2")
)  # fmt: skip


def _metrics(trial: _Trial, judge: Judge, problems: Problems) -> dict[str, Any]:
    """Every metric of one learner, None for those that do not apply or could not be made."""
    label, found = trial.candidate.label, dict(_NONE)
    K = judge.n_classes
    if K is None:
        loss, interval, _ = loss_and_interval(judge, trial.sample, trial.losses)
        found |= {"rmse": loss, "rmse_interval": interval}
        return found | problems.attempt(f"regression metrics of {label}", lambda: _regressed(trial), {})
    found |= _classified(trial, judge)
    found |= problems.attempt(f"calibration of {label}", lambda: _calibrated(trial, K), {})
    return found | problems.attempt(f"AUC of {label}", lambda: _area(trial, K), {})


def _standing(
    trial: _Trial, judge: Judge, board: Board, extra: Mapping[str, Any], problems: Problems
) -> Standing:
    """The numbers of one learner by itself."""
    loss, interval, error = loss_and_interval(judge, trial.sample, trial.losses)
    known = _metrics(trial, judge, problems)
    train = math.sqrt(trial.train_loss) if judge.n_classes is None else trial.train_loss
    name = trial.candidate.name
    own = [task for turn, task in board.done.items() if turn.name == name]
    return Standing(
        name=name,
        label=trial.candidate.label,
        params=board.params(trial.candidate),
        rank=0,
        loss=loss,
        interval=interval,
        standard_error=error,
        fold_losses=tuple(trial.fold_losses.tolist()),
        train_loss=train,
        seconds=sum(task.seconds for task in own),
        memory=max(task.memory for task in own),
        difference=None,
        p_corrected_t=None,
        p_corrected_t_holm=None,
        p_mcnemar=None,
        p_mcnemar_holm=None,
        error_632=extra.get(name),
        within_one_se=False,
        complexity=int(np.median([task.complexity for task in trial.tasks])),
        is_baseline=trial.candidate.is_baseline,
        fit_word="balanced",
        verdict="",
        folds_done=len(own),
        folds_planned=len(board.order),
        warnings=tuple(dict.fromkeys(text for task in own for text in task.warnings)),
        **known,
    )


# -- all of them ---------------------------------------------------------------------------------------------


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down p-values: the i-th smallest of m times m - i + 1, never below a smaller one's.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted, largest = [0.0] * len(p), 0.0
    for i, place in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - i) * p[place]))
        adjusted[place] = largest
    return adjusted


def compare(
    store: Store,
    board: Board,
    judge: Judge,
    choose: str,
    extra: Mapping[str, Any],
    problems: Problems | None = None,
) -> Comparison:
    """Standings, best first, with the choice; statements and what is run later are still empty.

    `extra` has the .632 estimates, by name; `problems` names the metrics that could not be made.
    """
    problems = Problems() if problems is None else problems
    trials = {c.name: _Trial.of(c, store, board, judge) for c in board.compared}
    if not trials or not board.folds:
        reasons = "; ".join(dict.fromkeys(f"{task.turn.name}: {task.reason}" for task in board.failures))
        raise StudyError(f"no learner got through its first fold ({reasons or 'none was run'})")
    found = [_standing(trial, judge, board, extra, problems) for trial in trials.values()]
    found.sort(key=lambda s: (s.loss, s.log_loss or 0.0, s.complexity, s.name))
    ranked = [replace(s, rank=i + 1) for i, s in enumerate(found)]
    found = _against_best(ranked, trials, judge, problems)
    choice, reason = _choice(found, choose)
    n = len(np.unique(trials[found[0].name].sample.rows))
    low, high = judge.span
    bound = None
    if judge.n_classes is not None:
        bound = (high - low) * hoeffding(n=n, alpha=0.05, n_models=len(found)).within
    return Comparison(
        criterion=_criterion(judge),
        standings=tuple(found),
        best=found[0].name,
        choice=choice,
        choice_reason=reason,
        n_rows=n,
        n_folds=len(board.folds),
        hoeffding=bound,
        learning_curve=None,
        holdout=None,
        statements=(),
    )


def _criterion(judge: Judge) -> str:
    if judge.n_classes is None:
        return "RMSE"
    return "error rate" if judge.loss is None and judge.doubt is None else "mean cost"


def _against_best(
    found: list[Standing], trials: Mapping[str, _Trial], judge: Judge, problems: Problems
) -> list[Standing]:
    best, others = found[0], found[1:]
    baseline = next((s.loss for s in found if s.is_baseline), best.loss)
    first = trials[best.name]
    pairs = [trials[s.name] for s in others]
    t = [problems.attempt("corrected t test", partial(_t_test, one, first)) for one in pairs]
    chi = [problems.attempt("McNemar test", partial(_mcnemar, one, first, judge)) for one in pairs]
    adjusted_t, adjusted_chi = _adjusted(t), _adjusted(chi)
    told = [
        replace(
            s,
            difference=float(trials[s.name].fold_losses.mean() - first.fold_losses.mean()),
            p_corrected_t=t[i],
            p_corrected_t_holm=adjusted_t[i],
            p_mcnemar=chi[i],
            p_mcnemar_holm=adjusted_chi[i],
        )
        for i, s in enumerate(others)
    ]
    limit = best.loss + best.standard_error
    near = [replace(s, within_one_se=s.loss <= limit) for s in (best, *told)]
    return [problems.attempt(f"verdict on {s.label}", partial(_judged, s, baseline), s) for s in near]


def _judged(standing: Standing, baseline: float) -> Standing:
    from lyceum.studies._words import verdict

    fit = fit_verdict(standing.train_loss, standing.loss, baseline, standing.standard_error)
    standing = replace(standing, fit_word=fit.word)
    return replace(standing, verdict=verdict(standing, baseline))


def _adjusted(p: list[float | None]) -> list[float | None]:
    known = [value for value in p if value is not None]
    adjusted = iter(holm(known))
    return [None if value is None else next(adjusted) for value in p]


def _t_test(one: _Trial, best: _Trial) -> float | None:
    if len(one.fold_losses) < 2:
        return None
    return corrected_t(one.fold_losses, best.fold_losses, test_to_train=best.test_to_train).p_value


def _mcnemar(one: _Trial, best: _Trial, judge: Judge) -> float | None:
    """On the first repeat, where every row is there once: right is an action that names the true class."""
    if judge.n_classes is None:
        return None
    b, c = _right(one, judge), _right(best, judge)
    return mcnemar(only_first_wrong=int((~b & c).sum()), only_second_wrong=int((b & ~c).sum())).p_value


def _right(trial: _Trial, judge: Judge) -> np.ndarray:
    first = trial.sample.repeats == 0
    assert trial.decided is not None
    assert judge.n_classes is not None
    names = np.arange(judge.n_classes) if judge.loss is None else judge.loss.names_class
    return np.append(names, -1)[trial.decided[first]] == trial.sample.y[first]


def _choice(found: Sequence[Standing], choose: str) -> tuple[str, str]:
    """Occam's choice among the learners, the baseline only where nothing does better, and why."""
    best = found[0]
    if best.is_baseline:
        return best.name, "no learner does better than this constant guess"
    if choose == "best":
        return best.name, "the recipe asks for the least loss"
    near = [s for s in found if s.within_one_se and not s.is_baseline]
    simplest = min(near, key=lambda s: (s.complexity, s.loss))
    if simplest.name == best.name:
        return best.name, "the least loss, and nothing simpler is within one standard error of it"
    return simplest.name, (
        f"the simplest within one standard error of the best, {best.label} ({simplest.complexity:,} numbers "
        f"to predict with against {best.complexity:,})"
    )
