"""Run the tasks of a plan one after another, each stored as it finishes."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum import progress
from lyceum._core.base import complexity
from lyceum._core.data import Rows
from lyceum._core.statistics import weighted_mean
from lyceum._core.threads import one_thread
from lyceum.errors import Cancelled, LyceumError
from lyceum.studies.compare.loss_rule import LossRule
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
from lyceum.studies.run.schedule import Job, Race
from lyceum.studies.run.settings_search import SettingsSearch, search_settings
from lyceum.studies.run.so_far import tell_followers
from lyceum.studies.run.store import Store, TaskResult, as_table
from lyceum.studies.run.workers import Workers

_WORTH = 8.0  # seconds that must be left for other processes, which take two of them to start


def run_tasks(plan: Plan, data: StudyData, store: Store, deadline: Deadline) -> None:
    """Run the tasks that are not done yet, while there is time; the first task is always run.

    With a deadline, `Race` says in which order, and what is still running when the time is over is
    given up. A learner that failed once is not tried on further folds. Tasks on few rows are shared
    with other processes; on many rows each task has all threads.
    """
    board = _Board.of(plan, store, deadline, len(data.schema))
    runner = TaskRunner(plan, data, deadline.for_folds)
    must = not board.done  # without any result there would be nothing to report

    def is_open(job: Job) -> bool:
        is_in_time = must or not runner.deadline.is_over
        return job.task.name not in board.failed and is_in_time

    tell_followers(store)
    board.report()
    with Workers(runner, board.jobs, is_open) as workers:
        while True:
            for outcome in workers.outcomes():
                board.add(outcome)
            if are_few(data.rows) and runner.deadline.allows(_WORTH):
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
    if isinstance(board.jobs, Race):
        job = board.jobs.last_resort()
        if job is not None:
            # a second, whatever the time: it is the only learner
            limit = deadline.for_report.or_after(deadline.slowness)
            board.add(TaskRunner(plan, data, limit)(job))
    if not runner.deadline.is_over:  # learners that failed were not run on all folds
        board.report_all()


@dataclass(eq=False)
class _Board:
    """The jobs of a session, and what has become of them."""

    store: Store
    rule: LossRule
    jobs: deque[Job] | Race
    done: dict[Task, TaskResult]
    failed: set[str]  # names of learners
    n_tasks: int

    @classmethod
    def of(cls, plan: Plan, store: Store, deadline: Deadline, n_columns: int) -> _Board:
        done = store.finished_tasks()
        tasks = list(plan.tasks())
        failed = {task.name for task, result in done.items() if result.failed}
        jobs: deque[Job] | Race
        if deadline.end is None:
            jobs = deque(
                Job(task) for task in tasks if task not in done or done[task].in_haste
            )
        else:
            n_train = len(plan.compared) - len(plan.compared) // plan.folds
            jobs = Race(plan, deadline, n_train, n_columns)
            for result in done.values():
                loss = None
                if not result.failed and result.task in tasks:
                    loss = _test_loss(plan.rule, store, result.task)
                jobs.add(result, loss)
        return cls(store, plan.rule, jobs, done, failed, len(tasks))

    def add(self, outcome: _TaskOutcome) -> None:
        """Store the outcome of a job, unless it was given up or has been replaced."""
        if isinstance(outcome, Job):
            if isinstance(self.jobs, Race):
                self.jobs.cut_off(outcome)
            return
        result, predictions = outcome
        before = self.done.get(result.task)
        # another process may finish the search before this one has finished the defaults
        if result.in_haste and before is not None and not before.in_haste:
            return
        self.store.finish(result, predictions)
        self.done[result.task] = result
        if result.failed:
            self.failed.add(result.task.name)
        if isinstance(self.jobs, Race):
            loss = None
            if not result.failed:
                loss = _test_loss(self.rule, self.store, result.task)
            self.jobs.add(result, loss)
        tell_followers(self.store)
        self.report()

    @property
    def _n_done(self) -> int:
        return sum(not result.in_haste for result in self.done.values())

    def report(self) -> None:
        progress.report("tasks", self._n_done, self.n_tasks)

    def report_all(self) -> None:
        if self._n_done < self.n_tasks:
            progress.report("tasks", self.n_tasks, self.n_tasks)


def _test_loss(rule: LossRule, store: Store, task: Task) -> float:
    """The mean loss of the rows tested, by which learners are told apart soonest."""
    sample = store.predictions(task)
    losses = rule.inner_losses(sample.y, sample.predicted)
    return float(weighted_mean(losses, sample.weight))


# the job itself where it was given up
_TaskOutcome = tuple[TaskResult, Any] | Job


@dataclass(eq=False)
class TaskRunner:
    """Runs one task, in this process or in another."""

    plan: Plan
    data: StudyData
    deadline: Deadline

    def __post_init__(self) -> None:
        self.splits = self.plan.splits(self.data.y)

    def __call__(self, job: Job, must: bool = False) -> _TaskOutcome:
        """The result with its predictions; the job if the time was over before it was done."""
        deadline = Deadline() if must else self.deadline.or_before(job.seconds)
        try:
            with deadline.limit():
                return self._run(job)
        except OutOfTime:
            return job

    def _run(self, job: Job) -> tuple[TaskResult, Any]:
        """The task with its predictions, or with the reason why there are none."""
        start = time.perf_counter()
        task = job.task
        split = self._split(job)
        reason = None
        predictions = None
        fit: dict[str, Any] = {"settings": {}, "train_loss": None, "complexity": None}
        with warnings.catch_warnings(record=True) as caught, _memory() as memory:
            warnings.simplefilter("always")
            try:
                fit, predictions = self._fit_and_predict(job, split)
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
            in_haste=job.is_short,
            **fit,
        )
        return result, predictions

    def _split(self, job: Job) -> RowSplit:
        """The rows to learn from and to test; of the first fewer where the job says so."""
        split = self.splits[job.task.repeat, job.task.fold]
        if job.part == 1:
            return split
        train = split.train
        times = self.plan.scheme.take(train).times
        if times is None:
            order = np.random.default_rng(self.plan.seed).permutation(len(train))
        else:
            order = np.argsort(times, kind="stable")  # the latest are taken
        return RowSplit(np.sort(train[order[-(len(train) // job.part) :]]), split.test)

    def _fit_and_predict(self, job: Job, split: RowSplit) -> tuple[dict[str, Any], Any]:
        """The fields of the result that come from the fit, and the table of predictions."""
        plan = self.plan
        data = self.data
        task = job.task
        candidate = plan[task.name]
        seed = plan.seed_of(task)
        train = data.rows.take(split.train)
        test = data.rows.take(split.test)
        search = self._search(job, train, split.train)
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

    def _search(self, job: Job, train: Rows, indices: np.ndarray) -> SettingsSearch:
        """The search of a fold; where none is made, 0 settings tried say so."""
        plan = self.plan
        candidate = plan[job.task.name]
        if job.is_hasty:
            return SettingsSearch(dict(candidate.hasty), 0)
        if not job.is_searched and len(candidate.search) > 1:
            return SettingsSearch(dict(candidate.search[0]), 0)
        if job.n_settings is not None:
            candidate = replace(candidate, search=candidate.search[: job.n_settings])
        return search_settings(
            candidate,
            train,
            plan.rule,
            plan.scheme.take(indices),
            plan.seed_of(job.task),
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
