"""What support vector machines say of themselves: contributions of columns and of support vectors, tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lyceum.data import Block, Schema
from lyceum.report import Explanation, Summary, Table

__all__ = ["base_point", "column_contributions", "replaced_columns", "support_explanation", "svc_summary"]

_MACHINE_COLUMNS = (
    "machine",
    "on the margin",
    "at the bound",
    "ξ > 0",
    "ξ > 1",
    "margin width",
    "primal",
    "dual",
    "gap",
    "KKT residual",
)

_CELLS = 1 << 24  # of replaced rows at once


def base_point(X: Any, w: np.ndarray, schema: Schema | None = None) -> np.ndarray:
    """Where explanations start: the mean of every column of numbers, the most frequent category of others.

    The schema is that of rows whose categories are codes.
    """
    if sparse.issparse(X):
        return np.asarray(X.T @ w).ravel() / w.sum()
    if schema is None:
        return w @ X.astype(np.float64) / w.sum()
    point = np.zeros(X.shape[1])
    for j, column in enumerate(schema):
        cells = np.asarray(X[:, j], dtype=np.float64)
        known = ~np.isnan(cells)
        if not known.any():
            point[j] = np.nan
        elif column.is_categorical:
            values, place = np.unique(cells[known], return_inverse=True)
            point[j] = values[np.bincount(place, w[known]).argmax()]
        else:
            point[j] = np.average(cells[known], weights=w[known])
    return point


def column_contributions(
    X: np.ndarray, base: np.ndarray, score: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The score at the base, and what every column adds on the way from there to the row.

    The columns are replaced one after the other, once from the first to the last and once the other way
    round; what a column adds is the mean of both, and all add up to the score of the row exactly. For a
    linear score that is coef · (x - base). `score(rows, i)` is that of rows that stand for row i of X.
    """
    n, d = X.shape
    base = base.astype(np.float64)
    start, added = np.empty(n), np.zeros((n, d))
    step = max(1, _CELLS // max(1, d * (d + 1)))
    for at in range(0, n, step):
        some = X[at : at + step]
        numbers = np.arange(at, at + len(some))
        for columns in (np.arange(d), np.arange(d)[::-1]):
            rows = np.tile(base, (d + 1, len(some), 1))
            for k, j in enumerate(columns):
                rows[k + 1 :, :, j] = some[:, j]
            found = score(rows.reshape(-1, d), np.tile(numbers, d + 1)).reshape(d + 1, len(some))
            start[at : at + len(some)] = found[0]
            added[at : at + len(some), columns] += np.diff(found, axis=0).T / 2
    return start, added


def replaced_columns(block: Block, base: np.ndarray, score: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The score of every row, that of the base, and what every column adds, (n, 2 + d)."""
    X = block.X.toarray() if sparse.issparse(block.X) else block.X
    kind = X.dtype if X.dtype.kind == "f" else np.float64
    start, added = column_contributions(X, base, lambda rows, i: score(rows.astype(kind, copy=False)))
    return np.column_stack([score(X), start, added])


def support_explanation(
    rows: np.ndarray, contributions: np.ndarray, base: Any, predicted: np.ndarray, unit: str
) -> Explanation:
    """What every support vector adds to a score, by the number of its row in `fit`."""
    return Explanation(
        [f"row {number}" for number in rows],
        contributions,
        np.broadcast_to(base, len(predicted)),
        predicted,
        unit,
    )


def _machine_rows(learner: Any) -> list[tuple[Any, ...]]:
    """One line per machine: the counts and values of its optimum."""
    labels = [str(label) for label in learner.classes_]
    found = []
    for m, (against, favoured) in enumerate(learner.machines_):
        other = "others" if against < 0 else labels[against]
        found.append(
            (
                f"{labels[favoured]} / {other}",
                int(learner.n_on_margin_[m]),
                int(learner.n_at_bound_[m]),
                int(learner.n_slack_[m]),
                int(learner.n_wrong_[m]),
                float(learner.margin_width_[m]),
                float(learner.primal_objective_[m]),
                float(learner.dual_objective_[m]),
                float(learner.primal_objective_[m] - learner.dual_objective_[m]),
                float(learner.kkt_residual_[m]),
            )
        )
    return found


def svc_summary(learner: Any, head: Summary) -> Summary:
    """Facts, one line per machine, and the weights of linear machines."""
    facts = {
        "rows": len(learner.alpha_),
        "classes": learner.classes_.tolist(),
        "kernel": repr(learner.kernel_),
        "C": float(learner.C),
        "intercept": str(learner.intercept),
        "support vectors": len(learner.support_),
        "of every class": learner.n_support_.tolist(),
        "working sets": f"{learner.n_iter_:,}{'' if learner.converged_ else ', not converged'}",
    }
    lines = _machine_rows(learner)
    tables = [Table("Machines", _MACHINE_COLUMNS, lines)] if lines else []
    if hasattr(learner, "coef_") and lines and len(learner._design_names) <= 200:
        values = np.column_stack([learner.intercept_, learner.coef_]).T
        weights = [
            (name, *map(float, row)) for name, row in zip(("(intercept)", *learner._design_names), values)
        ]
        tables.append(Table("Weights", ("column", *(line[0] for line in lines)), weights))
    return Summary(head.title, {**head.facts, **facts}, tables)
