"""Curves of one or several models in one picture: which ones, by name, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.base import target_of
from lyceum._core.data import Rows
from lyceum._core.text import show_count
from lyceum._core.types import Label, Target
from lyceum.errors import DataError, SettingError
from lyceum.plot.style import DOTTED, axes, downsample, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS: dict[str, Any] = {"marker": "o", "markersize": 4.5}
Result = TypeVar("Result")
Task = tuple[np.ndarray, np.ndarray]  # which rows are positive, and their scores


# -- drawing ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of a picture; `low` and `high` are a band around it, or its bars."""

    x: np.ndarray
    y: np.ndarray
    label: str
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    bars: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_scores(
        cls, x: np.ndarray, scores: np.ndarray, label: str, **options: Any
    ) -> Curve:
        """The mean of (m, S) scores, with a band of one standard deviation if S is above 1."""
        mean = scores.mean(axis=1)
        if scores.shape[1] == 1:
            return cls(x, mean, label, options=options)
        sd = scores.std(axis=1)
        return cls(x, mean, label, mean - sd, mean + sd, options=options)


def few_dots(n_points: int) -> dict[str, Any]:
    """Dots on a curve of up to 20 points; on a longer one they would run together."""
    return {"marker": "o" if n_points <= 20 else None, "markersize": 4.0}


def draw_curves(ax: Axes | None, curves: Iterable[Curve]) -> Axes:
    """Draw curves into the axes, each in the next color and dashes; new axes if there are none."""
    ax = axes(ax)
    for curve in curves:
        style = line_style(ax)
        points = downsample(curve.x, curve.y)
        ax.plot(*points, label=curve.label, **style, **curve.options)
        if curve.low is None or curve.high is None:
            continue
        ends = (curve.x, curve.low, curve.high)
        if curve.bars:
            ax.vlines(
                *ends, color=style["color"], alpha=0.35, linewidth=1.6, zorder=1.5
            )
        else:
            ax.fill_between(*ends, color=style["color"], alpha=0.15, linewidth=0)
    return ax


def mark_best(ax: Axes, x: float, name: Any) -> None:
    """A dotted line at the best value, which the legend names."""
    ax.axvline(x, label=f"best: {name}", gid="reference", zorder=1, **DOTTED)


def curve_label(name: str, figure: str) -> str:
    """The name of a curve and a figure, for the legend."""
    return "  ".join(text for text in (name, figure) if text) or "classifier"


# -- results of `evaluate` -------------------------------------------------------------


def results_by_name(
    kinds: tuple[type, ...], results: Any, label: str | None
) -> dict[str, Any]:
    """One result, or a dict of several, by name; empty if they are of other kinds."""
    named = results if isinstance(results, Mapping) else {label or "": results}
    if not all(isinstance(result, kinds) for result in named.values()):
        return {}
    return {str(name): result for name, result in named.items()}


def check_results(
    kinds: tuple[type, ...], results: Any, label: str | None
) -> dict[str, Any]:
    """One result, or a dict of several, by name; all must be of these kinds."""
    named = results_by_name(kinds, results, label)
    if not named:
        names = " or ".join(kind.__name__ for kind in kinds)
        raise SettingError(f"give a {names} from Lyceum, or a dict of name to such")
    return named


# -- labels and scores as binary tasks -------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedCurve(Generic[Result]):
    """One curve of a picture: a name and its parts, one, or one for every class to average over."""

    name: str
    parts: tuple[Result, ...]


def named_curves(
    kind: type[Result],
    of: Callable[[np.ndarray, np.ndarray], Result],
    y_true: Target,
    y_score: Target,
    *,
    labels: Sequence[Any] | None,
    pos_label: Label,
    label: str | None,
) -> list[NamedCurve[Result]]:
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
    tasks = binary_tasks(
        kind, y_true, y_score, labels=labels, pos_label=pos_label, label=label
    )
    return [
        NamedCurve(task.name, tuple(of(*part) for part in task.parts)) for task in tasks
    ]


def binary_tasks(
    kind: type,
    y_true: Target,
    y_score: Any,
    *,
    labels: Sequence[Any] | None,
    pos_label: Any,
    label: str | None,
) -> list[NamedCurve[Task]]:
    """The binary tasks that true labels and scores make, for curves of this kind.

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
    # the classes of the columns of scores, in their order
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
            NamedCurve(str(name), _tasks(kind, y, score, classes, pos_label))
            for name, score in y_score.items()
        ]
    tasks = _tasks(kind, y, y_score, classes, pos_label)
    if len(tasks) == 1:
        return [NamedCurve(label or "", tasks)]
    # classes without rows have no curve, hence no task
    present = [k for k in classes if (y == k).any()]
    prefix = f"{label}: " if label else ""
    return [
        NamedCurve(f"{prefix}{k} against the rest", (task,))
        for k, task in zip(present, tasks)
    ]


def _tasks(
    kind: type, y: np.ndarray, score: ArrayLike, classes: np.ndarray, pos_label: Label
) -> tuple[Task, ...]:
    """The tasks of one classifier: every class that has rows against the rest, or only one."""
    score = np.asarray(score, dtype=np.float64)
    if score.ndim not in (1, 2) or len(score) != len(y) or np.isnan(score).any():
        raise DataError(
            f"scores have the shape {score.shape} for {len(y)} labels, or missing values: give one"
            " number, or one column for each class, for every row"
        )
    by_class = score.ndim == 2
    if by_class and score.shape[1] != len(classes):
        raise DataError(
            f"scores have {show_count(score.shape[1], 'column')} for {len(classes)} classes: name"
            " the columns with labels=[...]"
        )
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
        if by_class:
            score = score[:, _column(classes, pos_label)]
        tasks = ((y == pos_label, score),)
    if any(positive.all() or not positive.any() for positive, _ in tasks):
        raise DataError(
            f"all rows are of one class: a {kind.__name__} needs positive and negative rows"
        )
    return tasks


def _column(classes: np.ndarray, pos_label: Label) -> int:
    columns = np.flatnonzero(classes == pos_label)
    if not len(columns):
        raise SettingError(
            f"pos_label is {pos_label!r}, but the classes are"
            f" {', '.join(map(repr, classes.tolist()))}"
        )
    return int(columns[0])
