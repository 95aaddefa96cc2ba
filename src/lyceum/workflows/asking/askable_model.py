"""A fitted model as people and programs ask it: its columns, a typical record, and decisions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lyceum._core.base import Decision, RecordModel
from lyceum._core.data import ArraySource, Column, Rows, Schema, time_text
from lyceum._core.text import plain
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.errors import DataError
from lyceum.report import Explanation
from lyceum.workflows.asking.cell_steps import CellSteps
from lyceum.workflows.fitted_model import FittedModel
from lyceum.workflows.profile import TrainingProfile

_MEDIAN = 10  # of the 21 quantiles of a training profile


@dataclass(frozen=True)
class AskableModel:
    """A fitted model, compiled for single records, with what its training rows were like.

    Parameters
    ----------
    model : fitted learner, pipeline or MinimumRiskClassifier
        As `lyceum.load` returns it.

    Attributes
    ----------
    fitted : FittedModel
        Its steps, columns and classes.
    records : RecordModel
        The way of one record through the model.
    profile : TrainingProfile or None
        What the training rows were like, if the model says so.
    bounds : list of (low, high) or None
        The range of every column of numbers in the training rows.

    See Also
    --------
    ask_model : Asks it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import AskableModel, fit_file
    >>> model = AskableModel(fit_file(datasets.path("penguins"), "species", "NaiveBayes"))
    >>> model.columns()[5]
    {'name': 'sex', 'kind': 'binary', 'categories': ['female', 'male']}
    >>> model.example()["island"], model.example()["body_mass_g"]
    ('Biscoe', 4050.0)
    """

    model: Any

    @cached_property
    def fitted(self) -> FittedModel:
        return FittedModel(self.model)

    @cached_property
    def records(self) -> RecordModel:
        """The way of one record through the model."""
        return RecordModel(self.model)

    @cached_property
    def profile(self) -> TrainingProfile | None:
        """What the training rows were like, if the model says so."""
        return TrainingProfile.of_model(self.model)

    @cached_property
    def bounds(self) -> list[tuple[float, float] | None]:
        """The range of every column of numbers in the training rows."""
        if self.profile is None:
            return [None] * len(self.fitted.schema)
        return [self.profile.range(column.name) for column in self.fitted.schema]

    @cached_property
    def cell_steps(self) -> CellSteps:
        """The cells that a record may step to."""
        return CellSteps(self.fitted.schema, self.profile)

    # -- what it takes -----------------------------------------------------------------

    def columns(self) -> list[dict[str, Any]]:
        """The kind of every column and what it may hold."""
        listed = []
        for column, bounds in zip(self.fitted.schema, self.bounds):
            facts: dict[str, Any] = {"name": column.name, "kind": column.kind}
            if column.is_time:
                facts["kind"] = "time"
            elif column.is_free_text:
                facts["kind"] = "text"
            if column.categories is not None and not column.is_free_text:
                facts["categories"] = plain(column.categories)
            if bounds is not None:
                shown = time_text if column.is_time else float
                facts["range"] = [shown(bound) for bound in bounds]
            listed.append(facts)
        return listed

    def example(self) -> dict[str, Any]:
        """A typical record: medians, and the most frequent categories."""
        return dict(self._example)

    @cached_property
    def _example(self) -> dict[str, Any]:
        return {
            column.name: _typical_cell(column, self.profile)
            for column in self.fitted.schema
        }

    def record(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        """The typical record with these cells."""
        for name in cells:
            if name not in self.fitted.schema.names:
                near = difflib.get_close_matches(name, self.fitted.schema.names, 1)
                listed = ", ".join(self.fitted.schema.names)
                hint = f"did you mean {near[0]!r}?" if near else f"it reads {listed}"
                raise DataError(f"the model has no column {name!r}: {hint}")
        return {**self.example(), **cells}

    def as_dict(self) -> dict[str, Any]:
        """Columns, a typical record, steps, costs and summary, in JSON's own types."""
        fitted = self.fitted
        target = getattr(fitted.learner, "schema_", fitted.schema).target
        loss, doubt = fitted.costs(None, None)
        facts: dict[str, Any] = {
            "learner": fitted.name,
            "target": None if target is None else target.name,
            "columns": self.columns(),
            "example": self.example(),
            "steps": [type(step).__name__ for step in fitted.steps],
            "training_rows": None if self.profile is None else self.profile.n_rows,
            "doubt": doubt,
            "summary": fitted.learner.summary().as_dict(),
        }
        if fitted.classes is not None:
            facts["classes"] = plain(fitted.classes)
        if loss is not None:
            facts["loss"] = {
                str(label): dict(zip(map(str, loss.actions), costs))
                for label, costs in zip(loss.classes, loss.values.tolist())
            }
        return facts

    # -- decisions ---------------------------------------------------------------------

    def decide_cells(
        self,
        X: np.ndarray,
        schema: Schema,
        loss: LossMatrix | None = None,
        doubt: float | None = None,
    ) -> Decision:
        """The decision for the cells of one record; a loss or doubt replaces the model's."""
        decision = self.records.decide_cells(X, schema)
        if loss is None and doubt is None:
            return decision
        if decision.probabilities is None:
            raise DataError("costs need posteriors, and this model has none")
        posterior = np.array([list(decision.probabilities.values())])
        labels = list(decision.probabilities)
        decided = minimum_risk(posterior, loss, doubt, classes=labels)
        return replace(
            decision,
            action=plain(decided.actions[0]),
            risk=float(decided.risk[0]),
            rejected=bool(decided.rejected[0]),
        )

    def explain_cells(self, X: np.ndarray, schema: Schema) -> Explanation | None:
        """What every column adds to the prediction for the cells of one record; None if the learner
        cannot tell."""
        fitted = self.fitted
        if not hasattr(fitted.learner, "explain"):
            return None
        explanation = self.records.explain_cells(X, schema)
        if explanation is None:
            return fitted.explain(Rows(ArraySource(X, None, None, schema, coded=True)))
        return fitted.in_columns(explanation)

    def warnings(self, cells: list[float]) -> list[dict[str, Any]]:
        """What is unusual in the coded cells of one record."""
        warnings: list[dict[str, Any]] = []
        for column, bounds, cell in zip(self.fitted.schema, self.bounds, cells):
            warning: dict[str, Any] = {"column": column.name}
            if cell != cell:
                warning["warning"] = "missing"
            elif bounds is not None and not bounds[0] <= cell <= bounds[1]:
                warning["warning"] = "outside the range of the training rows"
                warning["range"] = list(bounds)
            elif cell == -1.0 and not column.numeric and not column.is_free_text:
                warning["warning"] = "unknown category"
            if "warning" in warning:
                warnings.append(warning)
        return warnings


def _typical_cell(column: Column, profile: TrainingProfile | None) -> Any:
    name = column.name
    if column.is_free_text:
        return "some text"
    if profile is not None and name in profile.quantiles:
        median = float(profile.quantiles[name][_MEDIAN])
        if column.categories is not None:
            values = column.categories
            nearest = np.abs(values.astype(np.float64) - median).argmin()
            return plain(values[nearest])
        return time_text(median) if column.is_time else median
    if column.categories is not None and len(column.categories):
        counts = np.zeros(1)
        if profile is not None:
            counts = profile.counts.get(name, counts)
        return plain(column.categories[int(np.argmax(counts))])
    return None if column.is_time else 0.0
