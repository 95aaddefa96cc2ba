"""Reports of support vector machines: contributions of columns and of support vectors, tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.base import parts_by_replacement, typical_row
from lyceum._core.data import Block, dense_cells
from lyceum._core.report import weights_table
from lyceum._core.types import Data, Estimator
from lyceum.errors import SettingError
from lyceum.kernels.functions.other import PrecomputedKernel
from lyceum.report import Explanation, Summary, Table

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


def base_point(block: Block, keeps_categories: bool) -> np.ndarray:
    """Where explanations start: the mean of every column, the most frequent category where these
    are kept."""
    if keeps_categories or sparse.issparse(block.X):
        return typical_row(block)
    return block.weights @ block.X.astype(np.float64) / block.weights.sum()


def check_explain_by(by: str, rows: str, is_precomputed: bool) -> None:
    """Raise SettingError unless `by` is "columns", which the kernel has, or `rows`."""
    if by not in ("columns", rows):
        raise SettingError(f"explain by={by!r}: choose 'columns' or {rows!r}")
    if by == "columns" and is_precomputed:
        raise SettingError(
            f"a precomputed kernel has no columns to explain: explain(X, by={rows!r}) does"
        )


def column_parts(
    block: Block,
    base: np.ndarray,
    score: Callable[[Any], np.ndarray],
) -> np.ndarray:
    """The prediction for every row, the score of the base, and what every column adds, (n, 2 + d).

    `score(rows)` gives numbers, or scores of classes, of which the largest less the next is
    explained. For a linear score a column adds coef · (x - base).
    """
    X = block.dense
    kind = X.dtype if X.dtype.kind == "f" else np.float64
    return parts_by_replacement(
        X,
        base.astype(np.float64),
        lambda rows: score(rows.astype(kind, copy=False)),
        against_runner_up=True,
    )


def support_explanation(
    rows: np.ndarray,
    contributions: np.ndarray,
    base: Any,
    predicted: np.ndarray,
    unit: str,
) -> Explanation:
    """What every support vector adds to a score, by the number of its row in `fit`."""
    return Explanation(
        [f"row {number}" for number in rows],
        contributions,
        np.broadcast_to(base, len(predicted)),
        predicted,
        unit,
    )


def explain_by_columns(learner: Estimator, X: Data) -> Explanation:
    """What every column adds to the score of the predicted class."""
    is_precomputed = isinstance(learner.kernel_, PrecomputedKernel)
    check_explain_by("columns", "support_vectors", is_precomputed)
    is_single = len(learner.classes_) <= 2
    unit = "score above the next class"
    if is_single:
        unit = f"score of {learner.classes_[-1]}"

    def score(rows: np.ndarray) -> np.ndarray:
        scores = learner._class_scores(rows)
        return scores[:, -1] if is_single else scores

    def parts(block: Block) -> np.ndarray:
        parts = column_parts(block, learner.base_point_, score)
        if is_single:
            # one class has the code 0 whatever its score is
            is_second = (parts[:, 0] >= 0) & (len(learner.classes_) == 2)
            parts[:, 0] = is_second
        return parts

    return learner._explain(X, parts, unit)


def explain_by_support_vectors(learner: Estimator, X: Data, by: str) -> Explanation:
    """What every support vector adds to f, for two classes."""
    check_explain_by(by, "support_vectors", False)
    if len(learner.machines_) != 1:
        raise SettingError(
            "contributions of support vectors are those of one machine, but there are "
            f"{len(learner.machines_)}: explain(X, by='columns'), or fit two classes"
        )
    added = learner._support_contributions(X)
    b = learner.intercept_[0]
    scores = added.sum(axis=1) + b
    predicted = learner.classes_[(scores >= 0).astype(int)]
    unit = f"score of {learner.classes_[-1]}"
    return support_explanation(learner.support_, added, b, predicted, unit)


def intercept_fact(learner: Estimator) -> str:
    """What the objective does to the intercept."""
    if not learner.fit_intercept:
        return "none"
    if np.isinf(learner.intercept_scaling):
        return "free"
    return f"penalized, scaling {learner.intercept_scaling:g}"


def _machine_rows(learner: Estimator) -> list[tuple[Any, ...]]:
    """One line per machine: the counts and values of its optimum."""
    labels = [str(label) for label in learner.classes_]
    rows = []
    for m, (against, favored) in enumerate(learner.machines_):
        other = "others" if against < 0 else labels[against]
        rows.append(
            (
                f"{labels[favored]} / {other}",
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
    return rows


def svc_summary(learner: Estimator, head: Summary) -> Summary:
    """Facts, one line per machine, and the weights of linear machines."""
    facts = {
        "rows": len(learner.alpha_),
        "classes": learner.classes_.tolist(),
        "kernel": repr(learner.kernel_),
        "C": float(learner.C),
        "intercept": intercept_fact(learner),
        "support vectors": len(learner.support_),
        "of every class": learner.n_support_.tolist(),
        "steps": f"{np.max(learner.n_iter_):,}"
        + ("" if learner.converged_ else ", not converged"),
    }
    lines = _machine_rows(learner)
    tables = [Table("Machines", _MACHINE_COLUMNS, lines)] if lines else []
    if hasattr(learner, "coef_") and lines and len(learner.design_names) <= 200:
        names = learner.design_names
        titles = [line[0] for line in lines]
        coef = dense_cells(learner.coef_)
        tables.append(weights_table(names, learner.intercept_, coef, titles))
    return Summary(head.title, {**head.facts, **facts}, tables)
