"""Explanations of kernel ridge regression, by columns and by training rows."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import Block, Schema
from lyceum._core.types import Data, Estimator
from lyceum.errors import SettingError
from lyceum.kernels.svm.report import (
    base_point,
    check_explain_by,
    column_parts,
    support_explanation,
)
from lyceum.report import Explanation


def explain_ridge(model: Estimator, X: Data, by: str, target: int) -> Explanation:
    """What every column, or every training row, adds to the prediction of one target."""
    dual = model.dual_coef_.reshape(len(model.row_weights_), -1)
    if not 0 <= target < dual.shape[1]:
        raise SettingError(
            f"explain target={target}: there are {dual.shape[1]} targets, counted from 0"
        )
    coef = np.ascontiguousarray(dual[:, target])
    b = float(np.ravel(model.intercept_)[target])
    if model.dual_coef_.ndim == 1:
        name = model.schema_.target_name
    else:
        name = f"target {target}"
    unit = name or "prediction"
    if by == "rows":
        added = np.asarray(
            model._apply(
                lambda block: (
                    np.asarray(model.kernel_.gram(block.X, model.rows_)) * coef
                ),
                X,
            )
        )
        return support_explanation(
            np.arange(len(coef)), added, b, added.sum(axis=1) + b, unit
        )
    check_explain_by(by, "rows", model._is_precomputed)
    block = Block(
        model.rows_, None, model.row_weights_, 0, Schema(model.schema_.columns)
    )
    base = base_point(block, model._keeps_categories)

    def score(rows: np.ndarray) -> np.ndarray:
        return model.kernel_.sums(model.rows_, coef, rows) + b

    def parts(block: Block) -> np.ndarray:
        return column_parts(block, base, score)

    return model._explain(X, parts, unit)
