"""Run the tasks of a plan one after another, each stored as it finishes."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum import progress
from lyceum._core.base import complexity
from lyceum._core.data import Rows
from lyceum._core.statistics import weighted_mean
from lyceum._core.threads import one_thread
from lyceum.errors import Cancelled, LyceumError
from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.plan import Plan, RowSplit, Task
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run.fold_calibration import choose_map
from lyceum.studies.run.helpers import Helpers
from lyceum.studies.run.pipelines import are_few, build_pipeline, few_threads, row_predictions
from lyceum.studies.run.settings_search import SettingsSearch, search_settings
from lyceum.studies.run.store import Store, TaskResult, as_table

_RESERVE, _MOST_RESERVE = (
    0.2,
    60.0,
)  # the share of the time that is kept for what follows the folds; seconds


@dataclass(frozen=True, slots=True)
class Budget:
    """When no more folds are started, and when all is to be done."""

    tasks_end: float | None
    deadline: float | None

    @classmethod
    def of(cls, minutes: float | None) -> Budget:
        if minutes is None:
            return cls(None, None)
        end = time.monotonic() + 60.0 * minutes
        return cls(end - min(_RESERVE * 60.0 * minutes, _MOST_RESERVE), end)

    @property
    def is_spent(self) -> bool:
        """Whether no fold is to be started."""
        return self.tasks_end is not None and time.monotonic() >= self.tasks_end

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be started that can be left out."""
        return self.deadline is not None and time.monotonic() >= self.deadline


def run_tasks(plan: Plan, data: StudyData, store: Store, budget: Budget) -> None:
    """Run the tasks that are not done yet, while the budget lasts; the first task is always run.

    With a budget, every learner has all its folds with its defaults first, so that a short time has
    tried each of them; then the folds are run again with settings searched, which replaces the
    first. What is still running when the time is over is given up. A learner that failed once is
    not tried on further folds. Tasks on few rows are shared with other processes; on many rows each
    task has all threads.
    """
    tasks = list(plan.tasks())
    done = store.finished_tasks()
    failed = {task.name for task, result in done.items() if result.failed}
    passes = (True, False) if budget.deadline is not None else (False,)
    todo = [
        (task, first) for first in passes for task in tasks if _is_open(plan, task, first, done)
    ]
    if len(passes) > 1:  # what has nothing to search is done after its first pass
        todo = [(task, first) for task, first in todo if first or len(plan[task.name].search) > 1]
    n_tasks = len(passes) * len(tasks)
    n_done = n_tasks - len(todo)

    def keep(outcome: _TaskOutcome) -> None:
        """Store the outcome of a task, unless it was given up or has been replaced."""
        nonlocal n_done
        n_done += 1
        if outcome is None:
            return
        result, predictions = outcome
        before = done.get(result.task)
        if result.is_first and before is not None and not before.is_first:
            return
        store.finish(result, predictions)
        done[result.task] = result
        if result.failed:
            failed.add(result.task.name)
        progress.report("tasks", n_done, n_tasks)

    attempt = _Attempt(plan, data, budget.tasks_end)
    must = not done
    progress.report("tasks", n_done, n_tasks)

    def is_open(job: tuple[Task, bool]) -> bool:
        return job[0].name not in failed and (must or not budget.is_spent)

    with Helpers(attempt, deque(todo), is_open) as helpers:
        while True:
            for outcome in helpers.outcomes():
                keep(outcome)
            if are_few(data.rows):
                helpers.start_if_worth()
            job = helpers.next_job()
            if job is not None:
                with one_thread() if helpers.are_working else nullcontext():
                    outcome = attempt(job, must)
                keep(outcome)
                must = False
            elif not helpers.wait(0.2):
                break
            else:
                progress.report("tasks", n_done, n_tasks)
    if n_done < n_tasks and not budget.is_spent:  # learners that failed were not run on all folds
        progress.report("tasks", n_tasks, n_tasks)


_TaskOutcome = tuple[TaskResult, Any] | None


@dataclass(eq=False)
class _Attempt:
    """Runs one task, in this process or in a helper."""

    plan: Plan
    data: StudyData
    end: float | None  # on the clock of time.monotonic, which all processes share

    def __post_init__(self) -> None:
        self.splits = self.plan.splits(self.data.y)

    def __call__(self, job: tuple[Task, bool], must: bool = False) -> _TaskOutcome:
        """The result with its predictions; None if the time was over before it was done."""
        task, first = job
        try:
            with progress.watch(deadline=None if must else self.end):
                return _attempt(
                    self.plan, task, self.data, self.splits[task.repeat, task.fold], first
                )
        except Cancelled:
            if self.end is not None and time.monotonic() >= self.end:
                return None
            raise


def _is_open(plan: Plan, task: Task, first: bool, done: Mapping[Task, TaskResult]) -> bool:
    """Whether a task is to be run, with its defaults only (`first`) or as it is to be."""
    if first:
        return task not in done
    return task not in done or done[task].is_first


def _attempt(
    plan: Plan, task: Task, data: StudyData, split: RowSplit, first: bool
) -> tuple[TaskResult, Any]:
    """The task with its predictions, or with the reason why there are none."""
    start = time.perf_counter()
    reason = None
    outcome = None
    with warnings.catch_warnings(record=True) as caught, _memory() as memory:
        warnings.simplefilter("always")
        try:
            outcome = _fit_and_predict(plan, task, data, split, first)
        except Cancelled:
            raise
        except Exception as error:  # a learner may fail in any way; the study goes on
            if _is_clear(error):
                reason = str(error)
            else:
                reason = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    messages = tuple(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    sizes = (len(split.train), len(split.test))
    if outcome is None:
        return (
            TaskResult(
                task, reason or "failed", {}, None, *sizes, None, messages, seconds, memory()
            ),
            None,
        )
    search = outcome.search
    done = TaskResult(
        task, None, search.settings, outcome.train_loss, *sizes, outcome.complexity, messages, seconds,
        memory(), search.n_tried, search.seconds, outcome.calibration,
    )  # fmt: skip
    return done, outcome.predictions


def _is_clear(error: Exception) -> bool:
    """Whether the message says all without the type of the error."""
    return isinstance(error, LyceumError | ArithmeticError) and bool(str(error))


@dataclass(frozen=True, slots=True, eq=False)
class _TaskFit:
    search: SettingsSearch
    train_loss: float
    complexity: int
    predictions: Any
    calibration: str


def _fit_and_predict(
    plan: Plan, task: Task, data: StudyData, split: RowSplit, first: bool
) -> _TaskFit:
    candidate = plan[task.name]
    seed = plan.seed_of(task)
    train = data.rows.take(split.train)
    test = data.rows.take(split.test)
    search = _search(plan, candidate, train, split.train, seed, first)
    with few_threads(train):
        model = build_pipeline(candidate, search.settings, seed).fit(train)
        predicted = row_predictions(model, test)
        seen = row_predictions(model, train)
    if plan.calibrates:
        calibrate = choose_map(search, plan.rule)
    else:
        calibrate = None
    if calibrate is not None:
        predicted = calibrate(predicted)
        seen = calibrate(seen)
    if data.w is None:
        w = None
    else:
        w = data.w[split.test]
    table = as_table(
        data.numbers[split.test],
        data.y[split.test],
        predicted,
        w,
        plan.scheme.take(split.test).groups,
    )
    if calibrate is None:
        method = ""
    else:
        method = calibrate.method
    return _TaskFit(search, _mean_loss(plan, seen, train), complexity(model), table, method)


def _search(
    plan: Plan, candidate: Candidate, train: Rows, places: np.ndarray, seed: int, first: bool
) -> SettingsSearch:
    """The search of a fold; with `first` none is made, and 0 settings say that it is still to
    come."""
    if first and len(candidate.search) > 1:
        return SettingsSearch(dict(candidate.search[0]), 0)
    always = plan.calibrates and not candidate.is_baseline
    return search_settings(candidate, train, plan.rule, plan.scheme.take(places), seed, always)


def _mean_loss(plan: Plan, predicted: np.ndarray, rows: Rows) -> float:
    y = rows.coded_y
    w = rows.sample_weight
    assert y is not None
    return weighted_mean(plan.rule.losses(y, predicted, w), w)


# -- memory ----------------------------------------------------------------------------


@contextmanager
def _memory() -> Iterator[Callable[[], int]]:
    """How far the process grew above where it was, in bytes.

    On Linux the high-water mark is set back before; elsewhere only growth above an earlier peak is
    seen.
    """
    _reset_peak()
    before = _resident("VmRSS") or _peak()
    yield lambda: max(0, (_resident("VmHWM") or _peak()) - before)


def _reset_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def _resident(name: str) -> int:
    try:
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith(name + ":"))
    except (OSError, StopIteration):
        return 0


def _peak() -> int:
    try:
        import resource
        import sys
    except ImportError:  # not on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )
