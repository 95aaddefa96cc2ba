"""Members of ensembles as operations, for exported models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lyceum._core.base import (
    decides_apart,
    model_operations,
    plausible_cells,
    takes_rows,
)
from lyceum._core.data import ArraySource, Schema
from lyceum._core.members.data import MemberData
from lyceum._core.types import Operation
from lyceum.errors import cannot_export


def member_operations(
    member: Any, schema: Schema, columns: Any = None
) -> list[Operation]:
    """From the cells of the ensemble's columns to the answer of one member, which may see only
    some columns."""
    if not takes_rows(member):
        raise cannot_export(member, "it is a learner of another library")
    schema = Schema(schema.columns)
    if columns is None:
        return model_operations(member, schema)
    source = ArraySource(plausible_cells(schema), None, None, schema, coded=True)
    seen = MemberData(source).inputs(member, columns=columns).source.schema
    pick: Operation = ("pick", {"columns": np.asarray(columns).tolist()})
    return [pick, *model_operations(member, Schema(seen.columns))]


def class_operations(
    member: Any,
    classes: np.ndarray,
    schema: Schema,
    columns: Any = None,
    vote: bool = False,
) -> list[Operation]:
    """The posteriors of a member, one per class of the ensemble; its vote where it has none, or
    where votes are asked for."""
    operations = member_operations(member, schema, columns)
    if decides_apart(member):
        K = len(member.classes_)
        first = K if vote else 0
        operations.append(("pick", {"columns": list(range(first, first + K))}))
    if vote or not hasattr(member, "predict_proba"):
        operations.append(("vote", {}))
    if len(member.classes_) < len(classes):
        indices = np.searchsorted(classes, member.classes_).tolist()
        operations.append(("scatter", {"columns": indices, "size": len(classes)}))
    return operations


def weighted_sum_operations(
    branches: Sequence[list[Operation]], weights: Any, width: int
) -> list[Operation]:
    """Σ_l w_l x_l of the answers of members, each of `width` numbers."""
    weights = np.broadcast_to(weights, (len(branches),)).tolist()
    fused = {"rule": "sum", "weights": weights, "width": width}
    return [("branches", {"branches": list(branches)}), ("fuse", fused)]
