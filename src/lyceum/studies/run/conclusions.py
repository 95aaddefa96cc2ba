"""What follows the folds: .632 estimates, the learning curve, the holdout, the final model,
examples."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lyceum import progress
from lyceum._core.data import Rows
from lyceum.decision import MinimumRiskClassifier
from lyceum.errors import Cancelled, StudyError
from lyceum.evaluate import LearningCurve, bootstrap_632, learning_curve
from lyceum.persist import save
from lyceum.studies.compare.committees import committee_model
from lyceum.studies.compare.comparison import HoldoutResult, RankedLearner
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import decision_errors, loss_and_interval
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report.example_rows import explain_row, pick_rows
from lyceum.studies.run.fold_calibration import calibrated_model, choose_map, usual_calibration
from lyceum.studies.run.pipelines import build_pipeline, few_threads, row_predictions, seed_of
from lyceum.studies.run.problems import Problems, reason_of
from lyceum.studies.run.settings_search import search_settings
from lyceum.studies.run.store import Store

Settings = dict[str, Any] | None

_ROUNDS = 100
_CURVE_FOLDS = 5
_CURVE_TIMES = 3
_GRACE = 2.0  # seconds that a fit has beyond the time allowed before fewer rows are taken
_FEW_ROWS = 1_000  # that are fitted whatever the time


def stored_result(store: Store, name: str, work: Callable[[], Any]) -> Any:
    """What `work` returns, from the store if it was done before; its seconds are stored too.

    If it fails, {"failed": reason}. A full disk or a request to stop ends the study instead.
    """
    found = store.get(name)
    if found is None:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _attempt(work)
        store.put(f"seconds/{name}", time.perf_counter() - start)
        store.put(name, found)
    return found


def _attempt(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (Cancelled, OSError, sqlite3.Error):
        raise
    except (
        Exception
    ) as error:  # few rows can make any learner fail, and the folds are worth keeping
        return {"failed": reason_of(error)}


def failure_of(stored: Any) -> str | None:
    """The reason why a stored result could not be made, None if it was made."""
    if isinstance(stored, dict) and "failed" in stored:
        return stored["failed"]
    return None


# -- resampling with the loss of the study ---------------------------------------------


@dataclass(frozen=True, eq=False)
class _Resampling:
    """A candidate with fixed settings, as the functions of `lyceum.evaluate` take it."""

    plan: Plan
    data: StudyData
    name: str
    settings: dict[str, Any]
    calibration: str = ""

    @property
    def model(self) -> Any:
        seed = seed_of(self.plan.seed, self.name)
        return calibrated_model(
            build_pipeline(self.plan[self.name], self.settings, seed), self.calibration, seed
        )

    @property
    def rows(self) -> Rows:
        return self.data.rows.take(self.plan.compared)

    @property
    def options(self) -> dict[str, Any]:
        if self.plan.classes is None:
            return {"loss": "squared"}
        rule = self.plan.rule
        return {"predict": partial(_actions, rule), "loss": partial(_cost, rule, self.plan.classes)}


def _actions(rule: LossRule, model: Any, rows: Any) -> np.ndarray:
    return rule.decide(row_predictions(model, rows))


def _cost(
    rule: LossRule, classes: tuple[Any, ...], y: np.ndarray, actions: np.ndarray
) -> np.ndarray:
    present, inverse = np.unique(y, return_inverse=True)
    codes = np.array([classes.index(label) for label in present.tolist()])
    return rule.cost(codes[inverse], actions)


def bootstrap_error(plan: Plan, data: StudyData, settings: dict[str, Any], name: str) -> float:
    """The .632 estimate of one learner with fixed settings; the root of the mean square for
    regression."""
    trial = _Resampling(plan, data, name, settings)
    seed = seed_of(plan.seed, name, "632")
    result = bootstrap_632(
        trial.model, trial.rows, n_rounds=_ROUNDS, random_state=seed, **trial.options
    )
    if plan.classes is None:
        return float(np.sqrt(result.error))
    return float(result.error)


def curve_values(
    plan: Plan, data: StudyData, choice: RankedLearner, baseline: float
) -> dict[str, Any]:
    """The learning curve of a learner with the settings chosen most often, as plain lists."""
    fixed = plan[choice.name].settings
    settings = {key: value for key, value in choice.params.items() if key not in fixed}
    trial = _Resampling(plan, data, choice.name, settings, choice.calibration)
    y = data.y[plan.compared]
    seed = seed_of(plan.seed, "curve")
    if plan.classes is None:
        smallest = len(y)
    else:
        smallest = int(np.bincount(y)[np.unique(y)].min())
    n_folds = max(2, min(_CURVE_FOLDS, smallest))
    scheme = plan.scheme.take(plan.compared)
    if scheme.groups is not None:
        n_folds = min(n_folds, scheme.most_folds() or n_folds)
    splits = list(scheme.splits(y, n_folds, seed))
    if scheme.times is not None:
        splits = splits[-_CURVE_TIMES:]  # the earlier ones have few rows to learn from
    curve = learning_curve(trial.model, trial.rows, cv=splits, random_state=seed, **trial.options)
    return {
        "sizes": curve.train_sizes.tolist(),
        "train": curve.train_losses.tolist(),
        "test": curve.test_losses.tolist(),
        "baseline": baseline,
    }


def as_curve(stored: dict[str, Any] | None, criterion: str) -> LearningCurve | None:
    """The curve that `curve_values` made."""
    if not stored or failure_of(stored):
        return None
    return LearningCurve(
        np.array(stored["sizes"]),
        np.array(stored["train"]),
        np.array(stored["test"]),
        stored["baseline"],
        "squared error" if criterion == "RMSE" else criterion,
    )


# -- holdout and final model -----------------------------------------------------------


def holdout_values(
    plan: Plan, data: StudyData, name: str, store: Store, settings: Settings
) -> dict[str, Any]:
    """The choice, fitted on the rows compared on and measured on those held out."""
    places = plan.held_out
    if not plan.rule.can_judge(data.y[places]):
        raise StudyError("all of them are of one class, and an AUC takes two")
    model, _ = _fit(plan, name, data, store, plan.compared, settings)
    if data.w is None:
        w = None
    else:
        w = data.w[places]
    predicted = row_predictions(model, data.rows.take(places))
    zeros = np.zeros(len(places), dtype=np.int64)
    sample = OutOfSample(
        data.numbers[places],
        zeros,
        zeros,
        data.y[places],
        predicted,
        w,
        plan.scheme.take(places).groups,
    )
    loss, interval, _ = loss_and_interval(
        plan.rule, sample, plan.rule.losses(sample.y, predicted, w)
    )
    found = {"n_rows": len(places), "loss": loss, "interval": list(interval)}
    if plan.classes is None:
        return found
    return found | decision_errors(plan.rule, sample)


def as_holdout(stored: dict[str, Any] | None) -> HoldoutResult | None:
    """The result that `holdout_values` made."""
    if stored is None or failure_of(stored):
        return None
    return HoldoutResult(
        stored["n_rows"],
        stored["loss"],
        tuple(stored["interval"]),
        stored.get("error"),
        stored.get("reject_rate"),
    )


def _fit(
    plan: Plan,
    name: str,
    data: StudyData,
    store: Store,
    places: np.ndarray | None,
    settings: Settings,
) -> tuple[Any, dict[str, Any]]:
    """The candidate fitted at `places` (None: on all rows), with settings searched there unless
    given."""
    seed = seed_of(plan.seed, name, "final")
    if places is None:
        rows = data.rows
    else:
        rows = data.rows.take(places)
    candidate = plan[name]
    model = None
    if candidate.members:
        settings = {}
        model = committee_model(plan, name, store)
    else:
        calibration: Any = None
        calibrates = plan.calibrates and not candidate.is_baseline
        if settings is None:
            if places is None:
                scheme = plan.scheme
            else:
                scheme = plan.scheme.take(places)
            search = search_settings(candidate, rows, plan.rule, scheme, seed, calibrates)
            settings = search.settings
            if calibrates:
                calibration = choose_map(search, plan.rule)
            else:
                calibration = None
        elif calibrates and not (places is None and data.is_sample):
            done = store.finished_tasks()
            calibration = usual_calibration(done[task] for task in done if task.name == name)
        model = calibrated_model(build_pipeline(candidate, settings, seed), calibration, seed)
    decides = plan.rule.loss is not None or plan.rule.doubt is not None
    if decides and hasattr(model, "predict_proba"):
        model = MinimumRiskClassifier(model, plan.rule.loss, doubt=plan.rule.doubt)
    with few_threads(rows):
        return model.fit(data.all_rows if places is None else rows), settings


@dataclass(frozen=True, eq=False)
class FinalFit:
    """The fit of the choice on all rows, on fewer where the time allowed does not suffice.

    First with settings searched on all rows, then with those chosen most often in the folds, then
    on ever fewer rows; the last and smallest fit is made whatever the time. `hurry` is called
    before the second.
    """

    plan: Plan
    data: StudyData
    store: Store
    name: str
    settings: dict[str, Any]  # chosen most often
    deadline: float | None
    is_late: bool  # whether there is no time to search
    hurry: Callable[[], None]

    def fit(self) -> tuple[Any, dict[str, Any], int | None]:
        """The model, its settings, and the number of rows if these are not all."""
        if self.deadline is None:
            return (*self._fit(None, None), None)
        if not self.is_late:
            with suppress(_OutOfTime), self._limit(self.deadline):
                return (*self._fit(None, None), None)
        self.hurry()
        n = len(self.data.rows)
        for part in (1, 8, 64):
            if n // part <= _FEW_ROWS:
                break
            if part == 1:
                places = None
            else:
                places = self._sample(n // part)
            with suppress(_OutOfTime), self._limit(max(self.deadline, time.monotonic() + _GRACE)):
                return (*self._fit(places, self.settings), None if part == 1 else n // part)
        n_rows = min(n, _FEW_ROWS)
        if n_rows == n and not self.data.is_sample:
            places = None
        else:
            places = self._sample(n_rows)
        return (*self._fit(places, self.settings), None if places is None else n_rows)

    def _fit(self, places: np.ndarray | None, settings: Settings) -> tuple[Any, dict[str, Any]]:
        return _fit(self.plan, self.name, self.data, self.store, places, settings)

    def _sample(self, n: int) -> np.ndarray:
        """The places of some rows: the latest, or at random."""
        times = self.plan.scheme.times
        order = np.random.default_rng(self.plan.seed).permutation(len(self.data.rows))
        return np.sort((order if times is None else np.argsort(times, kind="stable"))[-n:])

    @contextmanager
    def _limit(self, end: float) -> Iterator[None]:
        try:
            with progress.watch(deadline=end):
                yield
        except Cancelled:
            if time.monotonic() < end:
                raise
            raise _OutOfTime from None


class _OutOfTime(Exception):
    """A fit was not finished in its time."""


def fit_choice(final: FinalFit, sample: OutOfSample) -> dict[str, Any]:
    """Fit the choice, write the model file, and explain a few rows; plain values."""
    model, settings, n_rows = final.fit()
    plan = final.plan
    data = final.data
    save(model, final.store.folder / "model.lyceum", force=True)
    problems = Problems()
    picks = problems.attempt("choice of examples", lambda: pick_rows(sample, plan.rule), [])
    examples = [
        problems.attempt(
            f"example of row {row:,}", partial(explain_row, model, data, plan, row, why)
        )
        for row, why in picks
    ]
    found = [example.as_dict() for example in examples if example is not None]
    if n_rows is None:
        part = {}
    else:
        part = {"n_rows": n_rows}
    return {"settings": settings, "examples": found, "problems": list(problems), **part}
