"""Scores of one or several classifiers as binary tasks to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.errors import DataError

__all__ = ["Scored", "scored"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A curve to draw: its name and its binary tasks, one, or one a class to average over."""

    name: str
    tasks: tuple[tuple[np.ndarray, np.ndarray], ...]  # (positive, score)


def scored(
    y: Any, score: Any, classes: Sequence[Any] | None, pos_label: Any, label: str | None, what: str
) -> list[Scored]:
    """The curves of `what` that true labels and scores make.

    Two classes make one curve a classifier. More make one curve a class, that class against the rest, or with
    several classifiers one curve each, the average over the classes.
    """
    y = np.asarray(y)
    if y.ndim != 1 or not y.size:
        raise DataError(f"y has the shape {y.shape}: give one true label a row, at least one row")
    labels = np.unique(y) if classes is None else np.asarray(classes)
    if isinstance(score, Mapping):
        if label is not None:
            raise DataError("label names one classifier; the scores of several carry their names themselves")
        if not score:
            raise DataError("there are no scores to draw: give at least one classifier's")
        return [Scored(str(name), _tasks(y, s, labels, pos_label, what)) for name, s in score.items()]
    tasks = _tasks(y, score, labels, pos_label, what)
    if len(tasks) == 1:
        return [Scored(label or "", tasks)]
    present = [k for k in labels if (y == k).any()]
    prefix = f"{label}: " if label else ""
    return [Scored(f"{prefix}{k} against the rest", (task,)) for k, task in zip(present, tasks)]


def _tasks(
    y: np.ndarray, score: Any, labels: np.ndarray, pos_label: Any, what: str
) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    score = np.asarray(score, dtype=np.float64)
    if score.ndim not in (1, 2) or len(score) != len(y) or np.isnan(score).any():
        raise DataError(
            f"scores have the shape {score.shape} for {len(y)} labels, or holes: give a number, or a column "
            "a class, for every row"
        )
    if score.ndim == 2 and score.shape[1] != len(labels):
        raise DataError(
            f"scores have {score.shape[1]} columns for {len(labels)} classes: say which they are with "
            "classes=[...]"
        )
    if score.ndim == 2 and score.shape[1] > 2:
        if pos_label is None:
            pairs = [(y == k, score[:, i]) for i, k in enumerate(labels) if (y == k).any()]
            return tuple(_both_kinds(positive, s, what) for positive, s in pairs)
        return (_both_kinds(y == pos_label, score[:, _column(labels, pos_label)], what),)
    if len(labels) > 2 and pos_label is None:
        raise DataError(f"y has {len(labels)} classes: give a column of scores a class, or pos_label=...")
    pos_label = labels[-1] if pos_label is None else pos_label
    if score.ndim == 2:
        score = score[:, _column(labels, pos_label)]
    return (_both_kinds(y == pos_label, score, what),)


def _column(labels: np.ndarray, pos_label: Any) -> int:
    found = np.flatnonzero(labels == pos_label)
    if not len(found):
        raise DataError(
            f"pos_label is {pos_label!r}, but the classes are {', '.join(map(repr, labels.tolist()))}"
        )
    return int(found[0])


def _both_kinds(positive: np.ndarray, score: np.ndarray, what: str) -> tuple[np.ndarray, np.ndarray]:
    if positive.all() or not positive.any():
        raise DataError(
            f"all rows are of one kind, so there is no {what}: it needs positive and negative rows"
        )
    return positive, score
