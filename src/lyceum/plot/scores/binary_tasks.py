"""Scores of one or several classifiers as named binary tasks: one curve for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.base import target_of
from lyceum._core.data import Rows
from lyceum._core.text import show_count
from lyceum._core.types import Label, Target
from lyceum.errors import DataError, SettingError
from lyceum.plot.curves import results_by_name

Curve = TypeVar("Curve")
Task = tuple[np.ndarray, np.ndarray]  # which rows are positive, and their scores


@dataclass(frozen=True, slots=True)
class NamedCurve(Generic[Curve]):
    """One curve of a picture: a name and its parts, one, or one for every class to average over."""

    name: str
    parts: tuple[Curve, ...]

    def label(self, figure: str) -> str:
        """The name and a figure, for the legend."""
        return "  ".join(text for text in (self.name, figure) if text) or "classifier"


def named_curves(
    kind: type[Curve],
    of: Callable[[np.ndarray, np.ndarray], Curve],
    y_true: Target,
    y_score: Target,
    labels: Sequence[Any] | None,
    pos_label: Label,
    label: str | None,
) -> list[NamedCurve[Curve]]:
    """The curves to draw: results of `evaluate` as they are, or `of` each binary task."""
    results = results_by_name((kind,), y_true, label)
    if results:
        if y_score is not None or labels is not None or pos_label is not None:
            raise SettingError(
                f"a {kind.__name__} is complete: give no scores, labels or pos_label with it"
            )
        return [NamedCurve(name, (result,)) for name, result in results.items()]
    if isinstance(y_true, Mapping) or y_score is None:
        raise SettingError(
            f"give y_true and scores, a {kind.__name__}, or a dict of name to {kind.__name__}"
        )
    tasks = binary_tasks(y_true, y_score, labels, pos_label, label, kind.__name__)
    return [
        NamedCurve(task.name, tuple(of(*part) for part in task.parts)) for task in tasks
    ]


def binary_tasks(
    y_true: Target,
    y_score: Any,
    labels: Sequence[Any] | None,
    pos_label: Any,
    label: str | None,
    curve: str,
) -> list[NamedCurve[Task]]:
    """The binary tasks that true labels and scores make.

    Two classes make one task for each classifier. More make one for each class against the rest,
    or, with several classifiers, one curve each, the average over the classes.
    """
    if isinstance(y_true, Rows):
        y_true = target_of(y_true)
    y = np.asarray(y_true)
    if y.ndim != 1 or not y.size:
        raise DataError(
            f"y_true has the shape {y.shape}: give one true label for every row, at least one row"
        )
    classes = np.unique(y) if labels is None else np.asarray(labels)
    if isinstance(y_score, Mapping):
        if label is not None:
            raise SettingError(
                "label names one classifier; the scores of several carry their own names"
            )
        if not y_score:
            raise DataError(
                "there are no scores to draw: give those of at least one classifier"
            )
        return [
            NamedCurve(str(name), _tasks(y, score, classes, pos_label, curve))
            for name, score in y_score.items()
        ]
    tasks = _tasks(y, y_score, classes, pos_label, curve)
    if len(tasks) == 1:
        return [NamedCurve(label or "", tasks)]
    present = [k for k in classes if (y == k).any()]
    prefix = f"{label}: " if label else ""
    return [
        NamedCurve(f"{prefix}{k} against the rest", (task,))
        for k, task in zip(present, tasks)
    ]


def _tasks(
    y: np.ndarray, score: ArrayLike, classes: np.ndarray, pos_label: Label, curve: str
) -> tuple[Task, ...]:
    score = _check_scores(score, len(y), len(classes))
    by_class = score.ndim == 2
    if pos_label is None and len(classes) > 2:
        if not by_class:
            raise DataError(
                f"y_true has {len(classes)} classes: give one column of scores for each class, or"
                " pos_label=..."
            )
        columns = [j for j, k in enumerate(classes) if (y == k).any()]
        tasks = tuple((y == classes[j], score[:, j]) for j in columns)
    else:
        if pos_label is None:
            pos_label = classes[-1]
        column = score[:, _column(classes, pos_label)] if by_class else score
        tasks = ((y == pos_label, column),)
    if any(positive.all() or not positive.any() for positive, _ in tasks):
        raise DataError(
            f"all rows are of one class: a {curve} needs positive and negative rows"
        )
    return tasks


def _check_scores(score: ArrayLike, n_rows: int, n_classes: int) -> np.ndarray:
    score = np.asarray(score, dtype=np.float64)
    if score.ndim not in (1, 2) or len(score) != n_rows or np.isnan(score).any():
        raise DataError(
            f"scores have the shape {score.shape} for {n_rows} labels, or missing values: give one"
            " number, or one column for each class, for every row"
        )
    if score.ndim == 2 and score.shape[1] != n_classes:
        raise DataError(
            f"scores have {show_count(score.shape[1], 'column')} for {n_classes} classes: name"
            " the columns with labels=[...]"
        )
    return score


def _column(classes: np.ndarray, pos_label: Label) -> int:
    columns = np.flatnonzero(classes == pos_label)
    if not len(columns):
        raise SettingError(
            f"pos_label is {pos_label!r}, but the classes are"
            f" {', '.join(map(repr, classes.tolist()))}"
        )
    return int(columns[0])
