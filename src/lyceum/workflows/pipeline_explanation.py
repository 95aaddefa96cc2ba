"""The explanation of a pipeline in the columns of its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lyceum._core.data import Rows
from lyceum.report import Explanation


def explain_steps(steps: Sequence[Any], rows: Rows) -> Explanation:
    """The explanation of some rows by the last step, in the columns that the first step reads.

    One-of-C columns that a preparation made are added up to the column that they come from. Columns
    that are made of several, as principal components, keep their own names.
    """
    first = made = steps[0].schema_.names
    sources = np.arange(len(first))
    for step in steps[:-1]:
        rows = step.transform(rows)
        made = step.get_feature_names_out()
        sources = _sources_after(step, sources)
    explanation = steps[-1].explain(rows)
    groups: dict[str, list[int]] = {}
    for j, source in enumerate(sources.tolist()):
        groups.setdefault(first[source] if source >= 0 else str(made[j]), []).append(j)
    added = [
        explanation.contributions[:, indices].sum(axis=1) for indices in groups.values()
    ]
    cells = [
        _cells_of(explanation.values, made, indices) for indices in groups.values()
    ]
    return replace(
        explanation,
        names=tuple(groups),
        contributions=np.column_stack(added),
        values=np.column_stack(cells),
    )


def _sources_after(step: Any, sources: np.ndarray) -> np.ndarray:
    """The column of the first step of every column after this step, -1 for columns made of
    several."""
    if not hasattr(step, "column_sources"):
        return np.full(len(step.get_feature_names_out()), -1)
    before = step.column_sources()
    return np.where(before < 0, -1, sources[before])


def _cells_of(values: Any, names: Sequence[str], indices: list[int]) -> np.ndarray:
    """The cells of one column; of several one-of-C columns the name of the one that is 1.

    Of the parts of a date those that have names are given: "November, Saturday".
    """
    cells = values[:, indices]
    if len(indices) == 1:
        return cells[:, 0]
    if any("=" not in names[j] for j in indices):
        joined = [
            ", ".join(cell for cell in row if isinstance(cell, str)) for row in cells
        ]
        return np.array(joined, dtype=object)
    labels = np.array([names[j].split("=", 1)[-1] for j in indices], dtype=object)
    ones = cells.astype(np.float64) == 1.0
    return np.where(ones.any(axis=1), labels[ones.argmax(axis=1)], "")
