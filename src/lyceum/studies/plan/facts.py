"""What is known of a study before its tasks are run, as the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lyceum._core.data import Column, Schema
from lyceum.decision import LossMatrix
from lyceum.report import plain
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.candidate import Candidate, ColumnWarning, TaskKind
from lyceum.studies.plan.ranking_metric import RankingMetric


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyPlanRecord:
    """The question and the plan of a study.

    Attributes
    ----------
    task : {"classification", "regression"}
        What the target asks for.
    schema : Schema
        The columns that the learners saw, with the target.
    classes : tuple of labels, or None
        None for regression.
    loss : LossMatrix or None
        The requested costs, rows in the order of `classes`; None is the error rate.
    doubt : float or None
        The cost of rejecting a row.
    metric : str or None
        What learners are ranked by, if the recipe says so.
    variance : float
        Of the target, by which R² is measured; 1 without it.
    n_rows : int
        Rows of the data with a target.
    n_studied : int
        Rows compared on; fewer than `n_rows` when the file is larger than memory or rows are held
        out.
    n_without_target : int
        Rows that were left out because their target is missing.
    n_missing : int
        Missing cells in the columns studied.
    folds, repeats : int
        Outer folds, and how often they are drawn.
    candidates : tuple of Candidate
        The learners, the baseline first.
    suspects : tuple of Suspect
        Columns that look wrong.
    notes : tuple of str
        Sentences about the data and the plan.
    left_out : tuple of str
        Sentences on learners that were not tried, because there are too many rows for them.
    versions : dict of str to str
        Versions of Lyceum, Python and the packages that results depend on.
    """

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
        else:
            what = f"class out of {len(self.classes)}"
        if self.classes is None:
            other = "classification"
        else:
            other = "regression"
        if target.why.endswith(("classes", "numbers")):
            settle = f"; --task {other} takes it otherwise"
        else:
            settle = ""
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
        found = {each.name: getattr(self, each.name) for each in fields(StudyPlanRecord)}
        if self.loss is None:
            loss = None
        else:
            loss = self.loss.to_dict()
        return plain({**found, "schema": _schema_as_dict(self.schema), "loss": loss})

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> StudyPlanRecord:
        """The facts that `as_dict` made."""
        return cls(
            **{
                **{
                    each.name: stored[each.name]
                    for each in fields(StudyPlanRecord)
                    if each.name in stored
                },
                "schema": _schema(stored["schema"]),
                "classes": None if stored["classes"] is None else tuple(stored["classes"]),
                "loss": None if stored["loss"] is None else LossMatrix.from_dict(stored["loss"]),
                "candidates": tuple(map(Candidate.from_dict, stored["candidates"])),
                "suspects": tuple(ColumnWarning(**each) for each in stored["suspects"]),
                "notes": tuple(stored["notes"]),
                "left_out": tuple(stored.get("left_out", ())),
            }
        )


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
    return {"name": column.name, "kind": column.kind, "categories": values, "why": column.why}


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
