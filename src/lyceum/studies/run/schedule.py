"""The order in which the tasks of a study are run, and how long each may take.

Without a deadline every learner is run on every fold with its settings searched, fold by fold.
Where time is short, what wins most often comes first:

1. the first fold of every learner with its defaults, in the order of `Entry.promise`; of many rows
   those first that have settings that take little time (`Entry.hasty`). The two most promising may
   take a quarter of the time each; if that is not enough, or by the size of the table cannot be,
   they are tried with these settings, and then on fewer rows;
   the others share two fifths, each at most a third of what those before have left of it, and those
   that are cut off wait until all else is done;
2. the other folds of the two learners that are ahead, then of the next two, then of all that take
   little time;
3. the folds of the first two again, with settings searched, as many as there is time for;
4. the other learners in the same way.

Time is kept for fitting the learner that is ahead on all rows. Where no learner was finished, a
tree on a few rows takes some of it.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.run.deadline import FINAL_SHARE, Deadline
from lyceum.studies.run.store import TaskResult

_FIRST = 2  # learners, by promise or by loss, that come before all others,
_FIRST_SHARE = 0.25  # and the share of the time that the first fold of each may take
_OTHER_SHARE = 0.4  # of the time, that the first folds of all others may take together,
_OF_REST = 1 / 3  # and of what is left of it, that one of them may take
_LEAST_SHARE = 0.02  # of the time, that is worth such a trial
_LEADERS = 4  # learners that are run on all folds before any settings are searched
_CHEAP = (
    0.1  # of the time left: a learner whose folds take less is run before any search
)
_FEWER = 8  # a promising learner that was cut off has one row in so many
_LEAST_ROWS = 200  # that are worth such a trial
_MANY_ROWS = (
    5_000  # of which boosting, in little time, is a better beginning than a forest
)
# cells times classes that boosting learns from in a second, and cells that a forest looks at to
# split them; what is more is begun in haste
_CELLS = 300_000
_LOOKS = 30_000
_FINAL_SHARE = (
    0.25  # of the time, that is kept for a final fit that cannot have all rows
)
_LEAST_SETTINGS = 3  # that are worth a search
_RESORT_ROWS = 2_000  # of the last resort
_LARGER = 1.25  # a fit on all rows takes longer than one on those of a fold


@dataclass(frozen=True, slots=True)
class Job:
    """A task with the limits that it is run in."""

    task: Task
    is_searched: bool = True
    n_settings: int | None = None  # of the search; None: all
    part: int = 1  # one in so many rows is learned from
    is_hasty: bool = False  # with the settings that take little time
    seconds: float | None = None  # after which it is cut off

    @property
    def is_short(self) -> bool:
        """Whether the plan asks for more than this."""
        is_whole = self.n_settings is None and self.part == 1 and not self.is_hasty
        return not (self.is_searched and is_whole)


@dataclass(eq=False)
class Race:
    """The jobs of a study with a deadline, chosen one after the other by what is known so far.

    It is taken from like a deque: `popleft`, and `appendleft` for a job that its process lost.
    """

    plan: Plan
    deadline: Deadline
    n_train: int
    n_columns: int = 1
    done: dict[Task, TaskResult] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    losses: dict[str, float] = field(default_factory=dict)  # on the first fold

    def __post_init__(self) -> None:
        end = self.deadline.for_folds.end
        assert end is not None
        self._end = end
        self._total = end - time.monotonic()
        self._baselines = [c for c in self.plan.candidates if c.is_baseline]
        learners = [c for c in self.plan.candidates if not c.is_baseline]
        is_large = self.n_train >= _MANY_ROWS
        self._learners = sorted(
            learners, key=lambda c: (not (is_large and c.hasty), -c.promise)
        )
        self._folds = sorted({(t.repeat, t.fold) for t in self.plan.tasks()})
        self._taken: set[Job] = set()
        self._parts: dict[str, int] = {}  # of learners that have fewer rows
        self._hasty: set[str] = set()  # learners with settings that take little time
        self._cut_off: set[str] = set()  # on their first fold
        self._spent: dict[str, float] = {}  # seconds on folds, those cut off too
        self._returned: deque[Job] = deque()
        self._hasten()

    def _hasten(self) -> None:
        """Begin in haste with what would be cut off for the size of the table."""
        seconds = _FIRST_SHARE * self._total
        n_classes = len(self.plan.classes or (None,))
        n_cells = self.n_train * self.n_columns * n_classes
        # a forest looks at the root of the number of columns
        n_looks = self.n_train * math.sqrt(self.n_columns)
        for candidate in self._learners[:_FIRST]:
            part = 1
            if candidate.hasty:
                if n_cells > _CELLS * seconds:
                    self._hasty.add(candidate.name)
                continue
            while (
                n_looks > part * _LOOKS * seconds
                and self.n_train >= part * _FEWER * _LEAST_ROWS
            ):
                part *= _FEWER
            self._parts[candidate.name] = part

    def __len__(self) -> int:
        """How many tasks are to be done, as far as is known now."""
        if not self._returned and self._next_job() is None:
            return 0
        return sum(1 for _ in self._open_tasks(self.plan.candidates))

    def popleft(self) -> Job:
        if self._returned:
            return self._returned.popleft()
        job = self._next_job()
        if job is None:
            raise IndexError
        self._taken.add(_without_limit(job))
        if job.seconds is None:
            return replace(job, seconds=max(0.0, self._time_left))
        return job

    def appendleft(self, job: Job) -> None:
        self._returned.appendleft(job)

    def add(self, result: TaskResult, loss: float | None) -> None:
        """Take note of a result; `loss` is that of the rows tested."""
        # what an earlier session has done took nothing of this time
        if self._taken and result.task not in self.done:
            self._spend(result.task.name, result.seconds)
        self.done[result.task] = result
        if result.failed:
            self.failed.add(result.task.name)
        elif loss is not None and (result.task.repeat, result.task.fold) == (0, 0):
            self.losses[result.task.name] = loss

    def last_resort(self) -> Job | None:
        """A tree on a few rows, where no learner was finished: more than a constant guess."""
        if self.losses.keys() - {c.name for c in self._baselines}:
            return None
        open_learners = [c for c in self._learners if c.name not in self.failed]
        if not open_learners:
            return None
        trees = [c for c in open_learners if c.learner.startswith("DecisionTree")]
        task = Task((trees or open_learners)[0].name, 0, 0)
        return replace(self._default_job(task), part=1 + self.n_train // _RESORT_ROWS)

    def cut_off(self, job: Job) -> None:
        """Take note that a job was not done in its time."""
        name = job.task.name
        if job.task in self.done or name in self._cut_off:
            return
        self._spend(name, job.seconds or 0.0)
        part = job.part * _FEWER
        is_first = name in [c.name for c in self._learners[:_FIRST]]
        if is_first and self.plan[name].hasty and not job.is_hasty:
            self._hasty.add(name)
        elif is_first and self.n_train // part >= _LEAST_ROWS:
            self._parts[name] = part
        else:
            self._cut_off.add(name)
            self._taken.discard(_without_limit(job))

    def _spend(self, name: str, seconds: float) -> None:
        self._spent[name] = self._spent.get(name, 0.0) + seconds

    def _next_job(self) -> Job | None:
        # the first job is run whatever the time
        if self._taken and self._time_left <= 0.0:
            return None
        return next(self._jobs(), None)

    # -- the stages --------------------------------------------------------------------

    def _jobs(self) -> Iterator[Job]:
        """The jobs that are not taken, best first."""
        for candidate in self._baselines:
            yield from self._default_jobs(candidate)
        yield from self._first_folds()
        ranked = sorted(
            (c for c in self._learners if c.name in self.losses),
            key=lambda c: self.losses[c.name],
        )
        for at in self._folds:
            for candidate in ranked[:_FIRST]:
                yield from self._fold(candidate, at)
        # others with more folds than the one that is ahead would be compared without it
        if ranked and self._has_all_folds(ranked[0]):
            for candidate in ranked[_FIRST:_LEADERS]:
                yield from self._all_folds(candidate)
            for candidate in ranked[_LEADERS:]:
                yield from self._all_folds(candidate, _CHEAP)
            for candidate in ranked[:_FIRST]:
                yield from self._searches(candidate)
            for candidate in ranked[_LEADERS:]:
                yield from self._all_folds(candidate)
            for candidate in ranked[_FIRST:]:
                yield from self._searches(candidate)
        # the first folds that were cut off or had to wait, with all the time that is left
        for candidate in self._learners:
            if candidate.name in self._cut_off:
                yield from self._open(self._default_job(Task(candidate.name, 0, 0)))
        if ranked and self._has_all_folds(ranked[0]):
            for task in self._open_tasks(ranked):
                yield from self._open(Job(task))

    def _first_folds(self) -> Iterator[Job]:
        spent = sum(self._spent.get(c.name, 0.0) for c in self._learners[_FIRST:])
        rest = max(0.0, _OTHER_SHARE * self._total - spent)
        for i, candidate in enumerate(self._learners):
            task = Task(candidate.name, 0, 0)
            if task in self.done or candidate.name in self._cut_off:
                continue
            limit = _FIRST_SHARE * self._total
            if i >= _FIRST:
                limit = _OF_REST * rest
                # what could hardly end in so little waits
                if limit < _LEAST_SHARE * self._total:
                    self._cut_off.add(candidate.name)
                    continue
            yield from self._open(self._default_job(task, limit))

    def _has_all_folds(self, candidate: Candidate) -> bool:
        return all(Task(candidate.name, *at) in self.done for at in self._folds)

    def _fold(self, candidate: Candidate, at: tuple[int, int]) -> Iterator[Job]:
        """One fold of a learner with its defaults, if there is time for it."""
        task = Task(candidate.name, *at)
        if task not in self.done and self._fit_seconds(task.name) <= self._time_left:
            yield from self._open(self._default_job(task))

    def _default_job(self, task: Task, seconds: float | None = None) -> Job:
        return Job(
            task,
            is_searched=len(self.plan[task.name].search) < 2,
            part=self._parts.get(task.name, 1),
            is_hasty=task.name in self._hasty,
            seconds=seconds,
        )

    def _all_folds(self, candidate: Candidate, share: float = 1.0) -> Iterator[Job]:
        """The folds of a learner with its defaults, if this share of the time is enough for all."""
        jobs = list(self._default_jobs(candidate))
        seconds = len(jobs) * self._fit_seconds(candidate.name)
        if seconds <= share * self._time_left:
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
        # how long a search would take is not known of a learner whose defaults were cut off
        if not tasks or n_all < 2 or name in self._hasty:
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
        # a search that was begun is not begun again with other limits
        begun = {job.task for job in self._taken if job.is_searched}
        for task in tasks:
            if task not in begun:
                yield from self._open(Job(task, n_settings=limit, part=part))

    # -- what is known -----------------------------------------------------------------

    def _open(self, job: Job) -> Iterator[Job]:
        if job.task.name in self.failed or _without_limit(job) in self._taken:
            return
        yield job

    def _open_tasks(self, candidates: Iterable[Candidate]) -> Iterator[Task]:
        for candidate in candidates:
            if candidate.name in self.failed:
                continue
            for at in self._folds:
                task = Task(candidate.name, *at)
                if task not in self.done or self.done[task].in_haste:
                    yield task

    @property
    def _time_left(self) -> float:
        """Seconds until the folds must end, so that the one ahead can be fitted on all rows."""
        kept = 0.0
        if self.losses:
            ahead = min(self.losses, key=self.losses.__getitem__)
            part = self._parts.get(ahead, 1)
            kept = _LARGER * part * self._fit_seconds(ahead)
            if part > 1:
                kept = min(kept, _FINAL_SHARE * self._total)
            kept -= FINAL_SHARE * self.deadline.reserve
        return self._end - time.monotonic() - max(0.0, kept)

    def _fit_seconds(self, name: str) -> float:
        """Seconds of a fit and its predictions on one fold."""
        return mean_fit_seconds(self.done, name)


def _without_limit(job: Job) -> Job:
    return replace(job, seconds=None)


def mean_fit_seconds(done: Mapping[Task, TaskResult], name: str) -> float:
    """The mean seconds of the fits of a learner, without its searches; 0 where there is none."""
    seconds = [
        result.seconds - result.search_seconds
        for task, result in done.items()
        if task.name == name and not result.failed
    ]
    return sum(seconds) / max(1, len(seconds))
