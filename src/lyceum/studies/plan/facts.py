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
        metric = None if self.metric is None else RankingMetric.of(self.metric)
        n_classes = None if self.classes is None else len(self.classes)
        return LossRule(n_classes, self.loss, self.doubt, metric, self.variance)

    def as_dict(self) -> dict[str, Any]:
        """The facts in JSON's own types."""
        values = {
            field.name: getattr(self, field.name) for field in fields(StudyPlanRecord)
        }
        target = self.schema.target
        assert target is not None
        values["schema"] = {
            "columns": [_column_as_dict(column) for column in self.schema],
            "target": _column_as_dict(target),
            "weight": self.schema.weight,
        }
        if self.loss is not None:
            values["loss"] = self.loss.to_dict()
        return plain(values)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> StudyPlanRecord:
        """The facts that `as_dict` made."""
        schema = stored["schema"]
        loss = stored["loss"]
        values = {
            **stored,
            "schema": Schema(
                tuple(_column(column) for column in schema["columns"]),
                _column(schema["target"]),
                schema["weight"],
            ),
            "loss": None if loss is None else LossMatrix.from_dict(loss),
            "candidates": tuple(
                read_record(Candidate, record) for record in stored["candidates"]
            ),
            "suspects": tuple(ColumnWarning(**record) for record in stored["suspects"]),
        }
        for name in ("classes", "notes", "left_out"):
            if values[name] is not None:
                values[name] = tuple(values[name])
        return cls(**values)


def _column_as_dict(column: Column) -> dict[str, Any]:
    values = column.categories
    if values is not None:
        values = values.tolist()
    return {
        "name": column.name,
        "kind": column.kind,
        "categories": values,
        "why": column.why,
    }


def _column(stored: Mapping[str, Any]) -> Column:
    values = stored["categories"]
    if values is not None:
        values = np.asarray(values)
    return Column(stored["name"], stored["kind"], values, stored["why"])
