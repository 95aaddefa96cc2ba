"""Which tasks are finished, and which learners and folds can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lyceum.studies.plan.candidate import Candidate, Failure
from lyceum.studies.plan.plan import Task
from lyceum.studies.run.store import Store, TaskResult


@dataclass(frozen=True, eq=False)
class TaskTable:
    """Which learners can be compared, and on which folds: those that all of them finished."""

    candidates: tuple[Candidate, ...]
    done: Mapping[Task, TaskResult]
    order: tuple[tuple[int, int], ...]  # repeat and fold, as they are run
    compared: tuple[Candidate, ...]
    folds: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls, candidates: Sequence[Candidate], store: Store, folds: int, repeats: int
    ) -> TaskTable:
        done = store.finished_tasks()
        order = tuple(
            (repeat, fold) for repeat in range(repeats) for fold in range(folds)
        )
        # a learner that failed once is out; one that was not reached yet, or has less than half of
        # the folds that another has, does not limit the folds
        failed = {task.name for task, result in done.items() if result.failed}
        n_done = {
            c.name: sum(Task(c.name, *at) in done for at in order)
            for c in candidates
            if c.name not in failed and Task(c.name, 0, 0) in done
        }
        learners = [
            n_done[c.name] for c in candidates if c.name in n_done and not c.is_baseline
        ]
        most = max(learners, default=0)
        compared = [
            c for c in candidates if c.name in n_done and 2 * n_done[c.name] >= most
        ]
        common = tuple(
            at for at in order if all(Task(c.name, *at) in done for c in compared)
        )
        return cls(tuple(candidates), done, order, tuple(compared), common)

    @property
    def failures(self) -> tuple[Failure, ...]:
        labels = {candidate.name: candidate.label for candidate in self.candidates}
        return tuple(
            Failure(task.name, labels[task.name], task.repeat, task.fold, result.reason)
            for task, result in self.done.items()
            if result.reason is not None
        )

    @property
    def skipped(self) -> tuple[str, ...]:
        """Learners that can be run, but had no time for enough folds to be compared."""
        compared = {c.name for c in self.compared}
        return tuple(c.name for c in self._possible if c.name not in compared)

    @property
    def _possible(self) -> list[Candidate]:
        """All but those that failed, and committees of which fewer than two members are left."""
        failed = {failure.name for failure in self.failures}
        return [
            c
            for c in self.candidates
            if c.name not in failed
            and (not c.members or len(set(c.members) - failed) > 1)
        ]

    @property
    def finished(self) -> bool:
        tasks = [Task(c.name, *at) for c in self._possible for at in self.order]
        return all(task in self.done and not self.done[task].in_haste for task in tasks)

    def results(self, name: str) -> list[TaskResult]:
        """The tasks of one learner on the folds compared."""
        return [self.done[Task(name, *at)] for at in self.folds]

    def params(self, candidate: Candidate) -> dict[str, Any]:
        """Its fixed settings and those chosen most often, the first of equals."""
        chosen = Counter(
            tuple(sorted(result.settings.items()))
            for result in self.results(candidate.name)
        )
        if not chosen:
            return dict(candidate.settings)
        ((most_chosen, _),) = chosen.most_common(1)
        return {**candidate.settings, **dict(most_chosen)}
