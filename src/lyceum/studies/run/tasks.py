"""Run the tasks of a plan one after another, each stored as it finishes."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum import progress
from lyceum._core.base import complexity
from lyceum._core.data import Rows
from lyceum._core.statistics import weighted_mean
from lyceum._core.threads import one_thread
from lyceum.errors import Cancelled, LyceumError
from lyceum.studies.plan.fold_scheme import take_rows
from lyceum.studies.plan.plan import Plan, RowSplit, Task
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run.deadline import Deadline, OutOfTime
from lyceum.studies.run.fold_calibration import choose_map
from lyceum.studies.run.pipelines import (
    are_few,
    build_pipeline,
    few_threads,
    row_predictions,
)
from lyceum.studies.run.settings_search import SettingsSearch, search_settings
from lyceum.studies.run.so_far import tell_followers
from lyceum.studies.run.store import Store, TaskResult, as_table
from lyceum.studies.run.workers import Workers


def run_tasks(plan: Plan, data: StudyData, store: Store, deadline: Deadline) -> None:
    """Run the tasks that are not done yet, while there is time; the first task is always run.

    With a deadline, every learner has all its folds with its defaults first, so that a short time
    has tried each of them; then the folds are run again with settings searched, which replaces the
    first. What is still running when the time is over is given up. A learner that failed once is
    not tried on further folds. Tasks on few rows are shared with other processes; on many rows each
    task has all threads.
    """
    board = _Board.of(plan, store, has_deadline=deadline.end is not None)
    runner = TaskRunner(plan, data, deadline.for_folds)
    must = not board.done  # without any result there would be nothing to report

    def is_open(job: Job) -> bool:
        task, _ = job
        return task.name not in board.failed and (must or not runner.deadline.is_over)

    tell_followers(store)
    board.report()
    with Workers(runner, deque(board.jobs), is_open) as workers:
        while True:
            for outcome in workers.outcomes():
                board.add(outcome)
            if are_few(data.rows):
                workers.start_if_worth()
            job = workers.next_job()
            if job is not None:
                # this process works beside the others, which have one thread each too
                with one_thread() if workers.are_working else nullcontext():
                    outcome = runner(job, must)
                board.add(outcome)
                must = False
            elif workers.wait(0.2):
                board.report()
            else:
                break
    if not runner.deadline.is_over:  # learners that failed were not run on all folds
        board.report_all()


Job = tuple[Task, bool]  # a task, and whether it is run with its defaults only


@dataclass(eq=False)
class _Board:
    """The jobs of a session, and what has become of them."""

    store: Store
    jobs: list[Job]
    done: dict[Task, TaskResult]
    failed: set[str]  # names of learners
    n_jobs: int  # of all sessions
    n_done: int

    @classmethod
    def of(cls, plan: Plan, store: Store, has_deadline: bool) -> _Board:
        tasks = list(plan.tasks())
        done = store.finished_tasks()
        jobs: list[Job] = []
        if has_deadline:
            jobs += [(task, True) for task in tasks if task not in done]
        for task in tasks:
            if task in done:
                is_open = done[task].is_first
            else:
                # what has nothing to search is done after its first pass
                is_open = not has_deadline or len(plan[task.name].search) > 1
            if is_open:
                jobs.append((task, False))
        failed = {task.name for task, result in done.items() if result.failed}
        n_jobs = (1 + has_deadline) * len(tasks)
        return cls(store, jobs, done, failed, n_jobs, n_jobs - len(jobs))

    def add(self, outcome: _TaskOutcome) -> None:
        """Store the outcome of a job, unless it was given up or has been replaced."""
        self.n_done += 1
        if outcome is None:
            return
        result, predictions = outcome
        before = self.done.get(result.task)
        # another process may finish the search before this one has finished the defaults
        if result.is_first and before is not None and not before.is_first:
            return
        self.store.finish(result, predictions)
        self.done[result.task] = result
        if result.failed:
            self.failed.add(result.task.name)
        tell_followers(self.store)
        self.report()

    def report(self) -> None:
        progress.report("tasks", self.n_done, self.n_jobs)

    def report_all(self) -> None:
        if self.n_done < self.n_jobs:
            progress.report("tasks", self.n_jobs, self.n_jobs)


_TaskOutcome = tuple[TaskResult, Any] | None


@dataclass(eq=False)
class TaskRunner:
    """Runs one task, in this process or in another."""

    plan: Plan
    data: StudyData
    deadline: Deadline

    def __post_init__(self) -> None:
        self.splits = self.plan.splits(self.data.y)

    def __call__(self, job: Job, must: bool = False) -> _TaskOutcome:
        """The result with its predictions; None if the time was over before it was done."""
        deadline = Deadline() if must else self.deadline
        try:
            with deadline.limit():
                return self._run(*job)
        except OutOfTime:
            return None

    def _run(self, task: Task, first: bool) -> tuple[TaskResult, Any]:
        """The task with its predictions, or with the reason why there are none."""
        start = time.perf_counter()
        split = self.splits[task.repeat, task.fold]
        reason = None
        predictions = None
        fit: dict[str, Any] = {"settings": {}, "train_loss": None, "complexity": None}
        with warnings.catch_warnings(record=True) as caught, _memory() as memory:
            warnings.simplefilter("always")
            try:
                fit, predictions = self._fit_and_predict(task, split, first)
            except Cancelled:
                raise
            except Exception as error:
                # a learner may fail in any way; the study goes on
                reason = str(error)
                if not (isinstance(error, LyceumError | ArithmeticError) and reason):
                    reason = f"{type(error).__name__}: {error}"
        messages = (" ".join(str(warning.message).split()) for warning in caught)
        result = TaskResult(
            task=task,
            reason=reason,
            n_train=len(split.train),
            n_test=len(split.test),
            warnings=tuple(dict.fromkeys(messages)),
            seconds=time.perf_counter() - start,
            memory=memory(),
            **fit,
        )
        return result, predictions

    def _fit_and_predict(
        self, task: Task, split: RowSplit, first: bool
    ) -> tuple[dict[str, Any], Any]:
        """The fields of the result that come from the fit, and the table of predictions."""
        plan = self.plan
        data = self.data
        candidate = plan[task.name]
        seed = plan.seed_of(task)
        train = data.rows.take(split.train)
        test = data.rows.take(split.test)
        search = self._search(task, train, split.train, first)
        with few_threads(train):
            model = build_pipeline(candidate, search.settings, seed).fit(train)
            predicted = row_predictions(model, test)
            seen = row_predictions(model, train)
        calibrate = choose_map(search, plan.rule) if plan.calibrates else None
        if calibrate is not None:
            predicted = calibrate(predicted)
            seen = calibrate(seen)
        assert train.coded_y is not None
        losses = plan.rule.losses(train.coded_y, seen, train.sample_weight)
        fields = {
            "settings": search.settings,
            "train_loss": weighted_mean(losses, train.sample_weight),
            "complexity": complexity(model),
            "settings_tried": search.n_tried,
            "search_seconds": search.seconds,
            "calibration": "" if calibrate is None else calibrate.method,
        }
        predictions = as_table(
            data.numbers[split.test],
            data.y[split.test],
            predicted,
            weight=take_rows(data.w, split.test),
            groups=plan.scheme.take(split.test).groups,
        )
        return fields, predictions

    def _search(
        self, task: Task, train: Rows, indices: np.ndarray, first: bool
    ) -> SettingsSearch:
        """The search of a fold; with `first` none is made, and 0 settings tried say that it is to
        come."""
        plan = self.plan
        candidate = plan[task.name]
        if first and len(candidate.search) > 1:
            return SettingsSearch(dict(candidate.search[0]), 0)
        return search_settings(
            candidate,
            train,
            plan.rule,
            plan.scheme.take(indices),
            plan.seed_of(task),
            always=plan.calibrates and not candidate.is_baseline,
        )


# -- memory ----------------------------------------------------------------------------


@contextmanager
def _memory() -> Iterator[Callable[[], int]]:
    """How far the process grew above where it was, in bytes.

    On Linux the high-water mark is set back before; elsewhere only growth above an earlier peak is
    seen.
    """
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # sets VmHWM back to VmRSS
    before = _resident("VmRSS") or _peak()
    yield lambda: max(0, (_resident("VmHWM") or _peak()) - before)


def _resident(name: str) -> int:
    try:
        with open("/proc/self/status") as file:
            return next(
                1024 * int(line.split()[1])
                for line in file
                if line.startswith(name + ":")
            )
    except (OSError, StopIteration):
        return 0


def _peak() -> int:
    try:
        import resource
        import sys
    except ImportError:  # not on Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, else KiB
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
