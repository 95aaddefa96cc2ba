"""One learner's out-of-sample predictions, with the losses of its rows and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.statistics import weighted_mean
from lyceum.errors import StudyError
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.plan import Task
from lyceum.studies.run.store import Store, TaskResult


def pooled_predictions(store: Store, name: str, n_folds: int) -> OutOfSample:
    """The out-of-sample predictions of one learner on the first folds, by repeat, then by row."""
    tasks = sorted(
        (
            task
            for task, result in store.finished_tasks().items()
            if task.name == name and not result.failed
        ),
        key=lambda task: (task.repeat, task.fold),
    )
    if not tasks:
        raise StudyError(f"{name!r} has no out-of-sample predictions in {store.folder}")
    return concatenate([store.predictions(task) for task in tasks[:n_folds]])


def concatenate(parts: Sequence[OutOfSample]) -> OutOfSample:
    """Predictions of several folds, by repeat, then by row."""
    order = order_of(parts)
    columns: dict[str, Any] = {}
    for field in fields(OutOfSample):
        values = [getattr(part, field.name) for part in parts]
        is_there = values[0] is not None  # weights and groups may be missing
        columns[field.name] = np.concatenate(values)[order] if is_there else None
    return OutOfSample(**columns)


def order_of(parts: Sequence[OutOfSample]) -> np.ndarray:
    """The order by repeat, then by row, of the rows of several folds."""
    rows = np.concatenate([part.rows for part in parts])
    repeats = np.concatenate([part.repeats for part in parts])
    return np.lexsort((rows, repeats))


@dataclass(frozen=True, eq=False)
class Trial:
    """One learner's predictions, with the losses of its rows and folds."""

    candidate: Candidate
    sample: OutOfSample
    losses: np.ndarray  # (m,) the study's own loss of every prediction
    decided: np.ndarray | None  # (m,) actions, None for regression
    fold_losses: np.ndarray
    results: list[TaskResult]
    # (n_folds,) whether the rows of a fold can tell the loss, as one class cannot tell AUC
    known: np.ndarray

    @classmethod
    def of(
        cls, candidate: Candidate, store: Store, table: TaskTable, rule: LossRule
    ) -> Trial:
        parts = [store.predictions(Task(candidate.name, *at)) for at in table.folds]
        return cls.from_parts(candidate, parts, rule, table.results(candidate.name))

    @classmethod
    def from_parts(
        cls,
        candidate: Candidate,
        parts: Sequence[OutOfSample],
        rule: LossRule,
        results: list[TaskResult],
    ) -> Trial:
        """The trial of the predictions of every fold."""
        losses = [rule.losses(part.y, part.predicted, part.weight) for part in parts]
        known = np.array([rule.can_judge(part.y) for part in parts])
        # the others have the mean of those that can
        if known.any() and not known.all():
            indices = np.flatnonzero(known).tolist()
            w = [row_weights(parts[i].weight, len(parts[i].y)) for i in indices]
            known_losses = np.concatenate([losses[i] for i in indices])
            mean = weighted_mean(known_losses, np.concatenate(w))
            losses = [
                values if can else np.full(len(values), mean)
                for values, can in zip(losses, known)
            ]
        folds = [
            weighted_mean(values, part.weight) for values, part in zip(losses, parts)
        ]
        sample = concatenate(parts)
        decided = None if rule.n_classes is None else rule.decide(sample.predicted)
        # losses stand fold by fold, predictions by repeat and row
        values = np.concatenate(losses)[order_of(parts)]
        return cls(candidate, sample, values, decided, np.array(folds), results, known)

    @property
    def train_loss(self) -> float:
        return float(np.mean([result.train_loss for result in self.results]))

    @property
    def test_to_train(self) -> float:
        n_test = sum(result.n_test for result in self.results)
        return n_test / sum(result.n_train for result in self.results)


def by_row(sample: OutOfSample, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of every row over repeats, and the weights of the rows."""
    if (np.diff(sample.rows) > 0).all():  # every row once, in their order
        return values, row_weights(sample.weight, len(values))
    _, first, index, times = np.unique(
        sample.rows, return_index=True, return_inverse=True, return_counts=True
    )
    w = row_weights(sample.weight, len(sample.rows))[first]
    return np.bincount(index, values) / times, w


def sum_by_group(sample: OutOfSample, values: np.ndarray) -> np.ndarray:
    """The sums of the values of rows (in the order of `by_row`) over groups; the values without
    groups.

    What tests and standard errors add up: rows of a group are alike, so that groups are independent
    of each other, rows are not.
    """
    if sample.groups is None:
        return values
    _, first = np.unique(sample.rows, return_index=True)
    _, index = np.unique(sample.groups[first], return_inverse=True)
    return np.bincount(index, values)
