"""What follows the folds: .632 estimates, the learning curve, the holdout, the final model,
examples."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Column, Rows, time_text
from lyceum._core.types import Estimator
from lyceum.decision import MinimumRiskClassifier
from lyceum.errors import Cancelled, StudyError
from lyceum.evaluate import LearningCurve, bootstrap_632, learning_curve
from lyceum.persist import save
from lyceum.studies.compare.committees import committee_model
from lyceum.studies.compare.comparison import HoldoutResult, RankedLearner
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import decision_errors, loss_and_interval
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.fold_scheme import take_rows
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report.example import Example
from lyceum.studies.run.deadline import Deadline, OutOfTime
from lyceum.studies.run.fold_calibration import (
    calibrated_model,
    choose_map,
    usual_calibration,
)
from lyceum.studies.run.pipelines import (
    build_pipeline,
    few_threads,
    row_predictions,
    seed_of,
)
from lyceum.studies.run.problems import Problems, reason_of
from lyceum.studies.run.settings_search import search_settings
from lyceum.studies.run.store import Store
from lyceum.workflows import FittedModel, keep_profile

MODEL_FILE = "model.lyceum"

_ROUNDS = 100
_CURVE_FOLDS = 5
_CURVE_TIMES = 3
# seconds that a fit has beyond the time allowed before fewer rows are taken
_GRACE = 2.0
_GRACE_SHARE = 0.25  # but not more than this share of what is kept for the end
_FEW_ROWS = 1_000  # that are fitted whatever the time


def make_record(
    store: Store, kind: type, learner: str, n_folds: int, make: Callable[[], Any]
) -> None:
    """Store the record that `make` returns, or why it could not be made, with the seconds taken.

    A full disk or a request to stop ends the study instead.
    """
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            record = make()
        except (Cancelled, OSError, sqlite3.Error):
            raise
        except Exception as error:
            # few rows can make any learner fail, and the folds are kept
            seconds = time.perf_counter() - start
            store.put_failure(kind, learner, n_folds, reason_of(error), seconds=seconds)
            return
    store.put(record, learner, n_folds, seconds=time.perf_counter() - start)


# -- resampling with the loss of the study ---------------------------------------------


@dataclass(frozen=True, eq=False)
class _Resampling:
    """A candidate with fixed settings, as the functions of `lyceum.evaluate` take it."""

    plan: Plan
    data: StudyData
    name: str
    settings: Mapping[str, Any]
    calibration: str = ""

    @property
    def model(self) -> Any:
        seed = seed_of(self.plan.seed, self.name)
        pipeline = build_pipeline(self.plan[self.name], self.settings, seed)
        return calibrated_model(pipeline, self.calibration, seed)

    @property
    def rows(self) -> Rows:
        return self.data.rows.take(self.plan.compared)

    @property
    def options(self) -> dict[str, Any]:
        if self.plan.classes is None:
            return {"loss": "squared"}
        rule = self.plan.rule
        return {
            "predict": partial(_actions, rule),
            "loss": partial(_cost, rule, self.plan.classes),
        }


def _actions(rule: LossRule, model: Estimator, rows: Any) -> np.ndarray:
    return rule.decide(row_predictions(model, rows))


def _cost(
    rule: LossRule, classes: tuple[Any, ...], y: np.ndarray, actions: np.ndarray
) -> np.ndarray:
    # `lyceum.evaluate` hands on labels, and the rule takes codes
    present, inverse = np.unique(y, return_inverse=True)
    # every label is looked up once, not once per row
    codes = np.array([classes.index(label) for label in present.tolist()])
    return rule.cost(codes[inverse], actions)


@dataclass(frozen=True, slots=True)
class BootstrapError:
    """The .632 estimate of one learner; the root of the mean square for regression."""

    error: float


def bootstrap_error(
    plan: Plan, data: StudyData, settings: Mapping[str, Any], name: str
) -> BootstrapError:
    """The .632 estimate of one learner with fixed settings."""
    trial = _Resampling(plan, data, name, settings)
    seed = seed_of(plan.seed, name, "632")
    result = bootstrap_632(
        trial.model, trial.rows, n_rounds=_ROUNDS, random_state=seed, **trial.options
    )
    error = float(result.error)
    # from the mean of squared errors to RMSE
    if plan.classes is None:
        error = float(np.sqrt(error))
    return BootstrapError(error)


def choice_curve(
    plan: Plan, data: StudyData, choice: RankedLearner, baseline: RankedLearner | None
) -> LearningCurve:
    """The learning curve of a learner with the settings chosen most often."""
    trial = _Resampling(plan, data, choice.name, choice.params, choice.calibration)
    y = data.y[plan.compared]
    seed = seed_of(plan.seed, "curve")
    # every fold takes a row of each class
    smallest = len(y)
    if plan.classes is not None:
        smallest = int(np.bincount(y)[np.unique(y)].min())
    n_folds = max(2, min(_CURVE_FOLDS, smallest))
    scheme = plan.scheme.take(plan.compared)
    if scheme.groups is not None:
        n_folds = min(n_folds, scheme.most_folds() or n_folds)
    splits = list(scheme.splits(y, n_folds, seed))
    if scheme.times is not None:
        splits = splits[-_CURVE_TIMES:]  # the earlier ones have few rows to learn from
    curve = learning_curve(
        trial.model, trial.rows, cv=splits, random_state=seed, **trial.options
    )
    guess = baseline or choice
    if plan.classes is None:
        # in the unit of the target, as the ranking is
        return replace(
            curve,
            train_losses=np.sqrt(curve.train_losses),
            test_losses=np.sqrt(curve.test_losses),
            baseline=guess.rmse or 0.0,
            loss_name="RMSE",
        )
    # of the decisions, by whatever metric learners are ranked
    decisions = LossRule(plan.rule.n_classes, plan.rule.loss, plan.rule.doubt)
    return replace(curve, baseline=guess.cost or 0.0, loss_name=decisions.criterion)


# -- holdout and final model -----------------------------------------------------------


def measure_holdout(
    plan: Plan,
    data: StudyData,
    name: str,
    store: Store,
    settings: Mapping[str, Any] | None,
) -> HoldoutResult:
    """The choice, fitted on the rows compared on and measured on those held out."""
    held_out = plan.held_out
    y = data.y[held_out]
    if not plan.rule.can_judge(y):
        raise StudyError("all of them are of one class, and an AUC takes two")
    model = _fit(plan, name, data, store, plan.compared, settings)
    w = take_rows(data.w, held_out)
    predicted = row_predictions(model, data.rows.take(held_out))
    zeros = np.zeros(len(held_out), dtype=np.int64)
    sample = OutOfSample(
        rows=data.numbers[held_out],
        repeats=zeros,
        folds=zeros,
        y=y,
        predicted=predicted,
        weight=w,
        groups=plan.scheme.take(held_out).groups,
    )
    losses = plan.rule.losses(y, predicted, w)
    loss, interval, _ = loss_and_interval(plan.rule, sample, losses)
    errors = {}
    if plan.classes is not None:
        errors = decision_errors(plan.rule, sample)
    return HoldoutResult(len(held_out), loss, interval, **errors)


def _fit(
    plan: Plan,
    name: str,
    data: StudyData,
    store: Store,
    indices: np.ndarray | None,
    settings: Mapping[str, Any] | None,
) -> Any:
    """The candidate fitted at `indices` (None: on all rows), with settings searched there unless
    given."""
    seed = seed_of(plan.seed, name, "final")
    rows = data.rows
    scheme = plan.scheme
    if indices is not None:
        rows = rows.take(indices)
        scheme = scheme.take(indices)
    candidate = plan[name]
    if candidate.members:
        model = committee_model(plan, name, store)
    else:
        calibration: Any = None
        calibrates = plan.calibrates and not candidate.is_baseline
        if settings is None:
            search = search_settings(
                candidate, rows, plan.rule, scheme, seed, always=calibrates
            )
            settings = search.settings
            if calibrates:
                calibration = choose_map(search, plan.rule)
        elif calibrates and not (indices is None and data.is_sample):
            # without a search, by the map that most folds chose; not where all rows are streamed
            done = store.finished_tasks()
            results = (done[task] for task in done if task.name == name)
            calibration = usual_calibration(results)
        pipeline = build_pipeline(candidate, settings, seed)
        model = calibrated_model(pipeline, calibration, seed)
    # the model file decides by the costs of the study
    decides = plan.rule.loss is not None or plan.rule.doubt is not None
    if decides and hasattr(model, "predict_proba"):
        model = MinimumRiskClassifier(model, plan.rule.loss, doubt=plan.rule.doubt)
    with few_threads(rows):
        learned = data.all_rows if indices is None else rows
        model.fit(learned)
        keep_profile(model, learned)
        return model


@dataclass(frozen=True, slots=True, eq=False)
class FinalFit:
    """The choice fitted for use."""

    model: Any
    n_rows: int | None  # if these are not all
    in_time: bool  # whether there was time to search settings on all rows


def fit_choice(
    plan: Plan,
    data: StudyData,
    store: Store,
    name: str,
    usual_settings: Mapping[str, Any],
    deadline: Deadline,
    expected_seconds: float = 0.0,
    fit_seconds: float = 0.0,
) -> FinalFit:
    """Fit the choice on all rows, on fewer where there is no time for that.

    First with settings searched on all rows, if that can be expected to end in time, then with
    those chosen most often in the folds, then on ever fewer rows; the last and smallest fit is made
    whatever the time. `expected_seconds` are those of a search on all rows, `fit_seconds` those of
    a fit, 0 where they are not known.
    """
    fit = partial(_fit, plan, name, data, store)
    is_committee = bool(plan[name].members)  # which has no settings
    if deadline.allows(expected_seconds) and not is_committee:
        with suppress(OutOfTime), deadline.limit():
            return FinalFit(fit(None, None), n_rows=None, in_time=True)
    n = len(data.rows)
    # all rows, then ever fewer, each for some seconds at least; what is known to take longer is not
    # begun
    grace = min(_GRACE, _GRACE_SHARE * deadline.reserve)
    for part in (1, 2, 4, 8, 16, 32, 64) if fit_seconds else (1, 8, 64):
        n_rows = n // part
        if n_rows <= _FEW_ROWS:
            break
        limit = deadline.or_after(grace)
        if not limit.allows(fit_seconds / part):
            continue
        with suppress(OutOfTime), limit.limit():
            if part == 1:
                model = fit(None, usual_settings)
                return FinalFit(model, n_rows=None, in_time=is_committee)
            model = fit(_sample_rows(plan, data, n_rows), usual_settings)
            return FinalFit(model, n_rows, in_time=False)
    if n <= _FEW_ROWS and not data.is_sample:
        return FinalFit(fit(None, usual_settings), n_rows=None, in_time=is_committee)
    n_rows = min(n, _FEW_ROWS)
    indices = _sample_rows(plan, data, n_rows)
    return FinalFit(fit(indices, usual_settings), n_rows=n_rows, in_time=False)


def _sample_rows(plan: Plan, data: StudyData, n: int) -> np.ndarray:
    """The indices of n rows: the latest, or at random."""
    if plan.scheme.times is None:
        order = np.random.default_rng(plan.seed).permutation(len(data.rows))
    else:
        order = np.argsort(plan.scheme.times, kind="stable")
    return np.sort(order[-n:])


@dataclass(frozen=True, slots=True, eq=False)
class FinalModel:
    """What the model file of the choice was fitted on, and what it says of a few rows."""

    n_rows: int | None  # if these are not all
    examples: tuple[Example, ...]
    problems: tuple[str, ...]


def save_final_model(
    final: FinalFit,
    plan: Plan,
    data: StudyData,
    store: Store,
    sample: OutOfSample,
    deadline: Deadline,
) -> FinalModel:
    """Write the model file, and explain a few rows, as far as the time goes."""
    save(final.model, store.folder / MODEL_FILE, force=True)
    problems = Problems()
    picks = problems.attempt(
        "choice of examples", lambda: pick_rows(sample, plan.rule), []
    )
    examples = []
    for row, why in picks:
        if deadline.is_over:
            break
        explain = partial(explain_row, final.model, data, plan, row, why)
        example = problems.attempt(f"example of row {row:,}", explain)
        if example is not None:
            examples.append(example)
    return FinalModel(final.n_rows, tuple(examples), tuple(problems))


# -- rows explained --------------------------------------------------------------------


def pick_rows(sample: OutOfSample, rule: LossRule) -> list[tuple[int, str]]:
    """Row numbers that tell most, by their out-of-sample predictions, and the reason for each."""
    # one prediction of every row
    first = np.flatnonzero(sample.repeats == 0)
    y = sample.y[first]
    predicted = sample.predicted[first]
    rows = sample.rows[first]
    if rule.n_classes is None:
        error = np.abs(y - predicted)
        middle = np.argsort(predicted, kind="stable")[len(y) // 2]
        picks = [
            (int(error.argmin()), "smallest error"),
            (int(middle), "median prediction"),
            (int(error.argmax()), "largest error"),
        ]
    else:
        picks = _class_picks(y, predicted, rule)
    unique: dict[int, str] = {}
    for index, why in picks:
        unique.setdefault(int(rows[index]), why)
    return list(unique.items())


def _class_picks(
    y: np.ndarray, posteriors: np.ndarray, rule: LossRule
) -> list[tuple[int, str]]:
    """By the distance from the decision border: the second smallest risk of an action less the
    smallest."""
    costs = 1.0 - np.eye(posteriors.shape[1])
    if rule.loss is not None:
        costs = rule.loss.values
    risks = posteriors @ costs
    if rule.doubt is not None:
        risks = np.column_stack([risks, np.full(len(risks), rule.doubt)])
    best_two = np.partition(risks, 1, axis=1)[:, :2]
    margin = best_two[:, 1] - best_two[:, 0]
    right = rule.named_class(rule.decide(posteriors)) == y
    picks = []
    if right.any():
        clearest = np.where(right, margin, -1.0).argmax()
        picks.append((int(clearest), "clearest right decision"))
    if not right.all():
        clearest = np.where(right, -1.0, margin).argmax()
        picks.append((int(clearest), "clearest mistake"))
    return [*picks, (int(margin.argmin()), "nearest to the decision border")]


def explain_row(
    model: Estimator,
    data: StudyData,
    plan: Plan | StudyPlanRecord,
    row: int,
    why: str,
) -> Example:
    """A row of the data with the model's prediction and its explanation."""
    index = int(np.searchsorted(data.numbers, row))
    rows = data.rows.take(np.array([index]))
    decided = np.asarray(model.predict(rows))[0]
    if plan.classes is None:
        truth = float(data.y[index])
        posterior = None
    else:
        truth = plan.classes[int(data.y[index])]
        posterior = tuple(row_predictions(model, rows)[0].tolist())
    fitted = FittedModel(model)
    explains = hasattr(fitted.learner, "explain")
    return Example(
        row=row,
        cells=cell_values(data, row),
        truth=truth,
        decided=decided.item() if hasattr(decided, "item") else decided,
        posterior=posterior,
        explanation=fitted.explain(rows) if explains else None,
        picked=why,
    )


def cell_values(data: StudyData, row: int) -> dict[str, Any]:
    """The cells of a row of the data by column, as people read them."""
    index = np.searchsorted(data.numbers, [row])
    cells = next(data.rows.take(index).blocks()).X[0].tolist()
    return {
        column.name: _cell_value(column, cell)
        for column, cell in zip(data.schema, cells)
    }


def _cell_value(column: Column, cell: float) -> Any:
    """A cell as people read it: a label, a number, a date, or None where it is missing."""
    if np.isnan(cell):
        return None
    if not column.numeric:
        label: Any = column.categories[int(cell)] if cell >= 0 else None  # type: ignore[index]
        return label.item() if hasattr(label, "item") else label
    if column.is_time:
        return time_text(cell)
    if float(cell).is_integer() and abs(cell) < 1e15:
        return int(cell)
    return float(cell)
