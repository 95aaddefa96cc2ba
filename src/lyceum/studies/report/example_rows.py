"""The rows that tell most about the final model, and why it predicts what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.data import Column, time_text
from lyceum._core.types import Estimator
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report.example import Example
from lyceum.studies.run.pipelines import row_predictions
from lyceum.workflows import FittedModel


def pick_rows(sample: OutOfSample, rule: LossRule) -> list[tuple[int, str]]:
    """Row numbers that tell most, by their out-of-sample predictions, and the reason for each."""
    first = np.flatnonzero(sample.repeats == 0)
    y = sample.y[first]
    predicted = sample.predicted[first]
    rows = sample.rows[first]
    if rule.n_classes is None:
        picks = _numeric_picks(y, predicted)
    else:
        picks = _class_picks(y, predicted, rule)
    unique: dict[int, str] = {}
    for index, why in picks:
        unique.setdefault(int(rows[index]), why)
    return list(unique.items())


def _numeric_picks(y: np.ndarray, predicted: np.ndarray) -> list[tuple[int, str]]:
    error = np.abs(y - predicted)
    middle = int(np.argsort(predicted, kind="stable")[len(y) // 2])
    return [
        (int(error.argmin()), "smallest error"),
        (middle, "median prediction"),
        (int(error.argmax()), "largest error"),
    ]


def _class_picks(
    y: np.ndarray, posteriors: np.ndarray, rule: LossRule
) -> list[tuple[int, str]]:
    """By the distance from the decision border: the second smallest risk of an action less the
    smallest."""
    risks = _risks(posteriors, rule)
    best_two = np.partition(risks, 1, axis=1)[:, :2]
    margin = best_two[:, 1] - best_two[:, 0]
    right = rule.named_class(rule.decide(posteriors)) == y
    picks = []
    if right.any():
        picks.append(
            (int(np.where(right, margin, -1.0).argmax()), "clearest right decision")
        )
    if not right.all():
        picks.append((int(np.where(right, -1.0, margin).argmax()), "clearest mistake"))
    return [*picks, (int(margin.argmin()), "nearest to the decision border")]


def _risks(posteriors: np.ndarray, rule: LossRule) -> np.ndarray:
    """The expected cost of every action, doubt last."""
    K = posteriors.shape[1]
    if rule.loss is None:
        values = 1.0 - np.eye(K)
    else:
        values = rule.loss.values
    risks = posteriors @ values
    if rule.doubt is None:
        return risks
    return np.column_stack([risks, np.full(len(risks), rule.doubt)])


def explain_row(
    model: Estimator, data: StudyData, plan: Plan, row: int, why: str
) -> Example:
    """A row of the data with the model's prediction and its explanation."""
    index = int(np.searchsorted(data.numbers, row))
    rows = data.rows.take(np.array([index]))
    cells = next(rows.blocks()).X[0].tolist()
    decided = np.asarray(model.predict(rows))[0]
    truth = data.y[index]
    fitted = FittedModel(model)
    return Example(
        row=row,
        cells={
            column.name: _cell_value(column, cell)
            for column, cell in zip(data.schema, cells)
        },
        truth=float(truth) if plan.classes is None else plan.classes[int(truth)],
        decided=decided.item() if hasattr(decided, "item") else decided,
        posterior=None
        if plan.classes is None
        else tuple(row_predictions(model, rows)[0].tolist()),
        explanation=fitted.explain(rows)
        if hasattr(fitted.learner, "explain")
        else None,
        picked=why,
    )


def _cell_value(column: Column, cell: float) -> Any:
    """A cell as people read it: a label, a number, a date, or None where it is missing."""
    if np.isnan(cell):
        return None
    if not column.numeric:
        label: Any = column.categories[int(cell)] if cell >= 0 else None  # type: ignore[index]
        if hasattr(label, "item"):
            return label.item()
        return label
    if column.is_time:
        return time_text(cell)
    if float(cell).is_integer() and abs(cell) < 1e15:
        return int(cell)
    return float(cell)
