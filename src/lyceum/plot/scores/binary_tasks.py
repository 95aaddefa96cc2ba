"""Scores of one or several classifiers as named binary tasks: one curve for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from lyceum._core.base import target_of
from lyceum._core.data import Rows
from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError

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
    y: Any,
    score: Any,
    classes: Sequence[Any] | None,
    pos_label: Any,
    label: str | None,
) -> list[NamedCurve[Curve]]:
    """The curves to draw: results of `evaluate` as they are, or `of` each binary task."""
    if isinstance(y, Mapping):
        results = y
    else:
        results = {label or "": y}
    if results and all(isinstance(result, kind) for result in results.values()):
        if score is not None or classes is not None or pos_label is not None:
            raise SettingError(
                f"a {kind.__name__} is complete: give no score, classes or pos_label with it"
            )
        return [NamedCurve(str(name), (result,)) for name, result in results.items()]
    if isinstance(y, Mapping) or score is None:
        raise SettingError(
            f"give y and score, a {kind.__name__}, or a dict of name to {kind.__name__}"
        )
    tasks = binary_tasks(y, score, classes, pos_label, label, kind.__name__)
    return [NamedCurve(task.name, tuple(of(*part) for part in task.parts)) for task in tasks]


def binary_tasks(
    y: Any, score: Any, classes: Sequence[Any] | None, pos_label: Any, label: str | None, curve: str
) -> list[NamedCurve[Task]]:
    """The binary tasks that true labels and scores make.

    Two classes make one task for each classifier. More make one for each class against the rest,
    or, with several classifiers, one curve each, the average over the classes.
    """
    y = np.asarray(target_of(y) if isinstance(y, Rows) else y)
    if y.ndim != 1 or not y.size:
        raise DataError(
            f"y has the shape {y.shape}: give one true label for every row, at least one row"
        )
    if classes is None:
        labels = np.unique(y)
    else:
        labels = np.asarray(classes)
    if isinstance(score, Mapping):
        if label is not None:
            raise SettingError(
                "label names one classifier; the scores of several carry their own names"
            )
        if not score:
            raise DataError("there are no scores to draw: give those of at least one classifier")
        return [
            NamedCurve(str(name), _tasks(y, s, labels, pos_label, curve))
            for name, s in score.items()
        ]
    tasks = _tasks(y, score, labels, pos_label, curve)
    if len(tasks) == 1:
        return [NamedCurve(label or "", tasks)]
    present = [k for k in labels if (y == k).any()]
    if label:
        prefix = f"{label}: "
    else:
        prefix = ""
    return [NamedCurve(f"{prefix}{k} against the rest", (task,)) for k, task in zip(present, tasks)]


def _tasks(
    y: np.ndarray, score: Any, labels: np.ndarray, pos_label: Any, curve: str
) -> tuple[Task, ...]:
    score = np.asarray(score, dtype=np.float64)
    if score.ndim not in (1, 2) or len(score) != len(y) or np.isnan(score).any():
        raise DataError(
            f"scores have the shape {score.shape} for {len(y)} labels, or missing values: give one"
            " number, or one column for each class, for every row"
        )
    if score.ndim == 2 and score.shape[1] != len(labels):
        raise DataError(
            f"scores have {show_count(score.shape[1], 'column')} for {len(labels)} classes: name"
            " the columns with classes=[...]"
        )
    if score.ndim == 2 and score.shape[1] > 2:
        if pos_label is None:
            pairs = [(y == k, score[:, i]) for i, k in enumerate(labels) if (y == k).any()]
            return tuple(_both_classes(positive, s, curve) for positive, s in pairs)
        return (_both_classes(y == pos_label, score[:, _column(labels, pos_label)], curve),)
    if len(labels) > 2 and pos_label is None:
        raise DataError(
            f"y has {len(labels)} classes: give one column of scores for each class, or"
            " pos_label=..."
        )
    if pos_label is None:
        pos_label = labels[-1]
    if score.ndim == 2:
        score = score[:, _column(labels, pos_label)]
    return (_both_classes(y == pos_label, score, curve),)


def _column(labels: np.ndarray, pos_label: Any) -> int:
    found = np.flatnonzero(labels == pos_label)
    if not len(found):
        raise SettingError(
            f"pos_label is {pos_label!r}, but the classes are"
            f" {', '.join(map(repr, labels.tolist()))}"
        )
    return int(found[0])


def _both_classes(positive: np.ndarray, score: np.ndarray, curve: str) -> Task:
    if positive.all() or not positive.any():
        raise DataError(f"all rows are of one class: a {curve} needs positive and negative rows")
    return positive, score
