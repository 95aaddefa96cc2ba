"""Explanations of support vector classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.data import Block
from lyceum.errors import SettingError
from lyceum.kernels.functions.other import PrecomputedKernel
from lyceum.kernels.svm.report import check_explain_by, column_parts, support_explanation
from lyceum.report import Explanation


def explain_by_columns(learner: Any, X: Any) -> Explanation:
    """What every column adds to the score of the predicted class."""
    check_explain_by("columns", "support_vectors", isinstance(learner.kernel_, PrecomputedKernel))
    if len(learner.classes_) <= 2:
        unit = f"score of {learner.classes_[-1]}"
    else:
        unit = "score above the next class"
    return learner._explain(X, lambda block: _column_parts(learner, block), unit)


def _column_parts(learner: Any, block: Block) -> np.ndarray:
    def score(rows: np.ndarray) -> np.ndarray:
        found = learner._class_scores(rows)
        if found.shape[1] <= 2:
            return found[:, -1]
        return found

    parts = column_parts(block, learner.base_point_, score)
    if len(learner.classes_) <= 2:
        parts[:, 0] = parts[:, 0] > 0
    return parts


def explain_by_support_vectors(learner: Any, X: Any, by: str) -> Explanation:
    """What every support vector adds to f, for two classes."""
    check_explain_by(by, "support_vectors", False)
    if len(learner.machines_) != 1:
        raise SettingError(
            "contributions of support vectors are those of one machine, but there are "
            f"{len(learner.machines_)}: explain(X, by='columns'), or fit two classes"
        )
    coef = learner.dual_coef_[0]

    def parts(block: Block) -> np.ndarray:
        return learner._support_values(block.X) * coef

    added = np.asarray(learner._apply(parts, X))
    scores = added.sum(axis=1) + learner.intercept_[0]
    predicted = learner.classes_[(scores > 0).astype(int)]
    unit = f"score of {learner.classes_[-1]}"
    return support_explanation(learner.support_, added, learner.intercept_[0], predicted, unit)
