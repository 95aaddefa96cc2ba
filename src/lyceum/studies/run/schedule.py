"""The order in which the tasks of a study are run, and how long each may take.

Without a deadline every learner is run on every fold with its settings searched, fold by fold.
Where time is short, what wins most often comes first:

1. the first fold of every learner with its defaults, in the order of `Entry.promise`. Each may
   take its share of the time; one that is cut off is tried again on fewer rows;
2. all folds of the learners that are ahead on the first one;
3. these folds again, with settings searched, as many as there is time for;
4. the other learners in the same way.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.run.deadline import Deadline
from lyceum.studies.run.store import TaskResult

_SCOUTING = 0.6  # of the time, at most, goes to the first folds of all learners
_LEADERS = 4  # learners that are run on all folds before any settings are searched,
_SEARCHED = 2  # and those of them that are searched before others are run on all folds
_FEWER = 8  # a learner that was cut off has one row in so many
_LEAST_ROWS = 200  # that are worth such a trial
_LEAST_SETTINGS = 3  # that are worth a search


@dataclass(frozen=True, slots=True)
class Job:
    """A task with the limits that it is run in."""

    task: Task
    is_searched: bool = True
    n_settings: int | None = None  # of the search; None: all
    part: int = 1  # one in so many rows is learned from
    seconds: float | None = None  # after which it is cut off

    @property
    def is_short(self) -> bool:
        """Whether the plan asks for more than this."""
        return not self.is_searched or self.n_settings is not None or self.part > 1


@dataclass(eq=False)
class Race:
    """The jobs of a study with a deadline, chosen one after the other by what is known so far.

    It is taken from like a deque: `popleft`, and `appendleft` for a job that its process lost.
    """

    plan: Plan
    deadline: Deadline  # of the folds
    n_train: int
    done: dict[Task, TaskResult] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    losses: dict[str, float] = field(default_factory=dict)  # on the first fold

    def __post_init__(self) -> None:
        assert self.deadline.end is not None
        self._order = sorted(
            self.plan.candidates, key=lambda c: (not c.is_baseline, -c.promise)
        )
        self._folds = sorted({(t.repeat, t.fold) for t in self.plan.tasks()})
        self._total = self.deadline.end - time.monotonic()
        self._taken: set[Job] = set()
        self._parts: dict[str, int] = {}  # of learners that were cut off
        self._given_up: set[str] = set()
        self._returned: deque[Job] = deque()

    def __len__(self) -> int:
        """How many jobs may still come."""
        return sum(1 for _ in self._open_tasks(self.plan.candidates))

    def popleft(self) -> Job:
        if self._returned:
            return self._returned.popleft()
        job = next(self._jobs(), None)
        if job is None:
            raise IndexError
        self._taken.add(_without_limit(job))
        return job

    def appendleft(self, job: Job) -> None:
        self._returned.appendleft(job)

    def add(self, result: TaskResult, loss: float | None) -> None:
        """Take note of a result; `loss` is that of the rows tested."""
        self.done[result.task] = result
        if result.failed:
            self.failed.add(result.task.name)
        elif loss is not None and (result.task.repeat, result.task.fold) == (0, 0):
            self.losses[result.task.name] = loss

    def cut_off(self, job: Job) -> None:
        """Take note that a job was not done in its time."""
        name = job.task.name
        if job.is_searched or job.task in self.done:
            return
        part = self._parts.get(name, 1) * _FEWER
        if self.n_train // part < _LEAST_ROWS:
            self._given_up.add(name)
        else:
            self._parts[name] = part

    # -- the stages --------------------------------------------------------------------

    def _jobs(self) -> Iterator[Job]:
        """The jobs that are not taken, best first."""
        for candidate in self._order:
            if candidate.is_baseline:
                yield from self._all_folds(candidate)
        yield from self._first_folds()
        ranked = sorted(
            (c for c in self._order if c.name in self.losses and not c.is_baseline),
            key=lambda c: self.losses[c.name],
        )
        leaders = ranked[:_LEADERS]
        for candidate in leaders:
            yield from self._all_folds(candidate)
        for candidate in leaders[:_SEARCHED]:
            yield from self._searches(candidate)
        for candidate in ranked[_LEADERS:]:
            yield from self._all_folds(candidate)
        for candidate in ranked[_SEARCHED:]:
            yield from self._searches(candidate)
        # what did not seem to fit is begun all the same: there is nothing else to do
        for candidate in ranked:
            yield from self._default_jobs(candidate)
        for task in self._open_tasks(ranked):
            yield from self._open(Job(task))

    def _first_folds(self) -> Iterator[Job]:
        total = sum(c.promise for c in self._order)
        for candidate in self._order:
            task = Task(candidate.name, 0, 0)
            if task in self.done or candidate.name in self._given_up:
                continue
            share = _SCOUTING * self._total * candidate.promise / total
            yield from self._open(self._default_job(task, seconds=share))

    def _default_job(self, task: Task, seconds: float | None = None) -> Job:
        is_searched = len(self.plan[task.name].search) < 2
        part = self._parts.get(task.name, 1)
        return Job(task, is_searched, part=part, seconds=seconds)

    def _all_folds(self, candidate: Candidate) -> Iterator[Job]:
        """The folds of a learner with its defaults, if there is time for all of them."""
        jobs = list(self._default_jobs(candidate))
        if len(jobs) * self._fit_seconds(candidate.name) <= self._time_left:
            yield from jobs

    def _default_jobs(self, candidate: Candidate) -> Iterator[Job]:
        for at in self._folds:
            task = Task(candidate.name, *at)
            if task not in self.done:
                yield from self._open(self._default_job(task))

    def _searches(self, candidate: Candidate) -> Iterator[Job]:
        """The folds of a learner with as many settings as there is time for."""
        name = candidate.name
        tasks = [Task(name, *at) for at in self._folds]
        tasks = [t for t in tasks if t not in self.done or self.done[t].in_haste]
        n_all = len(candidate.search)
        if not tasks or n_all < 2:
            return
        # a setting costs about one fit on all folds of the search: most are out after the first
        seconds = self._fit_seconds(name) * len(tasks)
        n_settings = n_all
        if seconds > 0:
            n_settings = min(n_all, math.floor(self._time_left / seconds))
        if n_settings < min(_LEAST_SETTINGS, n_all):
            return
        limit = None if n_settings == n_all else n_settings
        part = self._parts.get(name, 1)
        for task in tasks:
            if not self._is_searched(task):
                yield from self._open(Job(task, n_settings=limit, part=part))

    def _is_searched(self, task: Task) -> bool:
        """Whether a search of this fold was begun, whatever its limits."""
        return any(job.task == task and job.is_searched for job in self._taken)

    # -- what is known -----------------------------------------------------------------

    def _open(self, job: Job) -> Iterator[Job]:
        if job.task.name in self.failed or _without_limit(job) in self._taken:
            return
        yield job

    def _open_tasks(self, candidates: Iterable[Candidate]) -> Iterator[Task]:
        for candidate in candidates:
            if candidate.name in self.failed or candidate.name in self._given_up:
                continue
            for at in self._folds:
                task = Task(candidate.name, *at)
                if task not in self.done or self.done[task].in_haste:
                    yield task

    @property
    def _time_left(self) -> float:
        assert self.deadline.end is not None
        return self.deadline.end - time.monotonic()

    def _fit_seconds(self, name: str) -> float:
        """Seconds of a fit and its predictions on one fold."""
        return mean_fit_seconds(self.done, name)


def _without_limit(job: Job) -> Job:
    return Job(job.task, job.is_searched, job.n_settings, job.part)


def mean_fit_seconds(done: Mapping[Task, TaskResult], name: str) -> float:
    """The mean seconds of the fits of a learner, without its searches; 0 where there is none."""
    seconds = [
        result.seconds - result.search_seconds
        for task, result in done.items()
        if task.name == name and not result.failed
    ]
    return sum(seconds) / max(1, len(seconds))
