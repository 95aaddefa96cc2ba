"""The way of a row through a fitted model as operations, for exported models."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.base.model_parts import pipeline_steps
from lyceum._core.base.one_record import plausible_cells
from lyceum._core.data import ArraySource, Rows, Schema
from lyceum._core.types import Estimator, Operation
from lyceum.errors import ExportError, cannot_export


def model_operations(model: Estimator, schema: Schema) -> list[Operation]:
    """From the coded cells of a row to the answer of a learner, or of a pipeline that ends in one:
    posteriors or scores of its classes, or a number."""
    parts = pipeline_steps(model)
    steps = [step for step in parts if step not in (None, "passthrough")]
    learner = steps[-1]
    if not all(hasattr(step, "schema_") for step in steps):
        raise cannot_export(learner, "it does not say which columns it was fitted on")
    if not hasattr(learner, "_operations") or not hasattr(learner, "predict"):
        raise cannot_export(learner)
    return [*_preparation(steps, schema), *learner._operations()]


def decides_apart(model: Estimator) -> bool:
    """Whether the operations of a classifier give posteriors and then the scores that decide,
    which may not agree: votes of pairs, for one."""
    return getattr(pipeline_steps(model)[-1], "_decides_apart", False)


def _preparation(steps: list[Any], schema: Schema) -> list[Operation]:
    """From the cells of a record to what the learner computes with: the steps that `predict`
    itself would run."""
    rows: Any = Rows(
        ArraySource(plausible_cells(schema), None, None, schema, coded=True)
    )
    for step in steps[:-1]:
        rows = step.transform(rows)
        if not isinstance(rows, Rows):
            raise ExportError(
                f"the preparation {type(step).__name__} cannot be exported"
            )
    operations: list[Operation] = []
    for step in steps[-1].rows_to_predict(rows).steps:
        if not hasattr(step, "operations"):
            raise ExportError(f"the step {type(step).__name__} cannot be exported")
        operations += step.operations(schema)
        schema = step.schema(schema)
    return operations


def affine_operation(center: np.ndarray, scale: np.ndarray) -> Operation:
    """(x - center) / scale, cell by cell."""
    constants: dict[str, Any] = {"center": center.tolist(), "scale": scale.tolist()}
    return "affine", {
        **constants,
        "gain": None,
        "offset": None,
        "low": None,
        "high": None,
    }
