"""The learner of level 1 in a stack: its fit, and its coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lyceum._core.data import ArraySource, Column, Rows
from lyceum.ensemble.members.data import takes_rows
from lyceum.report import Table


def coefficients_table(coef: np.ndarray, names: list[str]) -> Table:
    heads = [
        "level-0 answer",
        *([str(k) for k in range(len(coef))] if len(coef) > 1 else ["coefficient"]),
    ]
    return Table(
        "Final learner", heads, [[name, *map(float, part)] for name, part in zip(names, coef.T)]
    )


def fit_final(
    learner: Any,
    table: ArraySource,
    target: np.ndarray,
    classes: np.ndarray | None,
    w: Any,
    keep: Any,
) -> Any:
    """The final learner on level-1 rows; `target` has class codes, or numbers where `classes` is
    None."""
    if keep is not None:
        table = table.take(keep)
        target = target[keep]
        w = w[keep]
    if not takes_rows(learner):
        if w is None:
            weights = {}
        else:
            weights = {"sample_weight": w}
        return learner.fit(table.X, target if classes is None else classes[target], **weights)
    column = Column("y", why="y")
    if classes is not None:
        column = Column("y", "binary" if len(classes) == 2 else "categorical", classes, "y")
    return learner.fit(Rows(replace(table, y=target, w=w, schema=table.schema.with_target(column))))
