"""What is known of a study before its tasks are run, as the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lyceum._core.data import Column, Schema
from lyceum._core.text import plain
from lyceum.decision import LossMatrix
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.candidate import Candidate, ColumnWarning, TaskKind
from lyceum.studies.plan.ranking_metric import RankingMetric
from lyceum.studies.run.records import read_record


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyPlanRecord:
    """The question and the plan of a study; `lyceum.studies.Study` describes every field."""

    task: TaskKind
    schema: Schema
    classes: tuple[Any, ...] | None
    loss: LossMatrix | None
    doubt: float | None
    metric: str | None = None
    variance: float = 1.0
    n_rows: int
    n_studied: int
    n_without_target: int
    n_missing: int
    folds: int
    repeats: int
    candidates: tuple[Candidate, ...]
    suspects: tuple[ColumnWarning, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """What is predicted, whether it is a class or a number, and how that was decided."""
        target = self.schema.target
        assert target is not None
        if self.classes is None:
            what = "number"
            other = "classification"
        else:
            what = f"class out of {len(self.classes)}"
            other = "regression"
        settle = ""
        if target.why.endswith(("classes", "numbers")):
            settle = f"; --task {other} takes it otherwise"
        return f"{target.name!r} is predicted as a {what} ({target.why}{settle})."

    @property
    def rule(self) -> LossRule:
        """The loss of the study."""
        if self.metric is None:
            metric = None
        else:
            metric = RankingMetric.of(self.metric)
        if self.classes is None:
            n_classes = None
        else:
            n_classes = len(self.classes)
        return LossRule(n_classes, self.loss, self.doubt, metric, self.variance)

    def as_dict(self) -> dict[str, Any]:
        """The facts in JSON's own types."""
        values = {
            each.name: getattr(self, each.name) for each in fields(StudyPlanRecord)
        }
        values["schema"] = _schema_as_dict(self.schema)
        if self.loss is not None:
            values["loss"] = self.loss.to_dict()
        return plain(values)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> StudyPlanRecord:
        """The facts that `as_dict` made."""
        loss = stored["loss"]
        changed = {
            **stored,
            "schema": _schema(stored["schema"]),
            "loss": None if loss is None else LossMatrix.from_dict(loss),
            "candidates": tuple(
                read_record(Candidate, each) for each in stored["candidates"]
            ),
            "suspects": tuple(ColumnWarning(**each) for each in stored["suspects"]),
        }
        for name in ("classes", "notes", "left_out"):
            if changed[name] is not None:
                changed[name] = tuple(changed[name])
        return cls(**changed)


def _schema_as_dict(schema: Schema) -> dict[str, Any]:
    if schema.target is None:
        target = None
    else:
        target = _column_as_dict(schema.target)
    return {
        "columns": [_column_as_dict(c) for c in schema],
        "target": target,
        "weight": schema.weight,
    }


def _column_as_dict(column: Column) -> dict[str, Any]:
    if column.categories is None:
        values = None
    else:
        values = column.categories.tolist()
    return {
        "name": column.name,
        "kind": column.kind,
        "categories": values,
        "why": column.why,
    }


def _schema(stored: Mapping[str, Any]) -> Schema:
    if stored["target"] is None:
        target = None
    else:
        target = _column(stored["target"])
    return Schema(tuple(map(_column, stored["columns"])), target, stored["weight"])


def _column(stored: Mapping[str, Any]) -> Column:
    values = stored["categories"]
    return Column(
        stored["name"],
        stored["kind"],
        None if values is None else np.asarray(values),
        stored["why"],
    )
