"""Explanations of support vector classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum.data import Block
from lyceum.errors import SettingError
from lyceum.kernels._other_kernels import Precomputed
from lyceum.kernels._svm_report import column_contributions, support_explanation
from lyceum.report import Explanation

__all__ = ["explain_by_columns", "explain_by_support_vectors"]


def explain_by_columns(learner: Any, X: Any) -> Explanation:
    """What every column adds to the score of the predicted class."""
    if isinstance(learner.kernel_, Precomputed):
        raise SettingError(
            "a precomputed kernel has no columns to explain: explain(X, by='support_vectors') does"
        )
    unit = f"score of {learner.classes_[-1]}" if len(learner.classes_) <= 2 else "score above the next class"
    return learner._explain(X, lambda block: _column_parts(learner, block), unit)


def _column_parts(learner: Any, block: Block) -> np.ndarray:
    X = block.X.toarray() if sparse.issparse(block.X) else block.X
    scores = learner._class_scores(X)
    first, second = _compared(scores)

    def score(rows: np.ndarray, i: np.ndarray) -> np.ndarray:
        found = learner._class_scores(rows.astype(X.dtype if X.dtype.kind == "f" else np.float64, copy=False))
        if found.shape[1] <= 2:
            return found[:, -1]
        each = np.arange(len(found))
        return found[each, first[i]] - found[each, second[i]]

    base, added = column_contributions(X, learner.base_point_, score)
    return np.column_stack([scores.argmax(axis=1), base, added])


def _compared(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best class and the next of every row."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return order[:, 0], order[:, min(1, scores.shape[1] - 1)]


def explain_by_support_vectors(learner: Any, X: Any, by: str) -> Explanation:
    """What every support vector adds to f, for two classes."""
    if by != "support_vectors":
        raise SettingError(f"explain by={by!r}: choose 'columns' or 'support_vectors'")
    if len(learner.machines_) != 1:
        raise SettingError(
            "contributions of support vectors are those of one machine, but there are "
            f"{len(learner.machines_)}: explain(X, by='columns'), or fit two classes"
        )
    coef = learner.dual_coef_[:, 0]

    def parts(block: Block) -> np.ndarray:
        return learner._support_values(block.X) * coef

    added = np.asarray(learner._apply(parts, X))
    scores = added.sum(axis=1) + learner.intercept_[0]
    predicted = learner.classes_[(scores > 0).astype(int)]
    unit = f"score of {learner.classes_[-1]}"
    return support_explanation(learner.support_, added, learner.intercept_[0], predicted, unit)
