"""Covariances of classes by an estimator of the user's, or shrunk as the rows themselves say."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum.errors import DataError, SettingError

SHRINKAGE = [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None]


def needs_rows(learner: Any) -> bool:
    """Whether the covariances of a discriminant are found from its rows, not from their sums."""
    is_auto = isinstance(learner.shrinkage, str)
    return is_auto or learner.covariance_estimator is not None


def check_estimator(learner: Any) -> None:
    """Refuse settings that contradict each other, in scikit-learn's words."""
    if not needs_rows(learner):
        return
    if learner.shrinkage is not None and learner.covariance_estimator is not None:
        raise SettingError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two can"
            " be set."
        )
    if learner.solver == "svd" and learner.covariance_estimator is not None:
        raise SettingError(
            "covariance estimator is not supported with svd solver (covariance_estimator is not"
            " supported with solver='svd'). Try solver='eigen' instead."
        )
    if learner.solver == "svd":
        raise NotImplementedError(
            "shrinkage not supported with 'svd' solver: give solver='eigen' with"
            " shrinkage='auto'"
        )
    if learner.covariance != "full":
        raise SettingError(
            "shrinkage='auto' and covariance_estimator are for covariance='full'"
        )


def class_covariances(learner: Any, rows: Rows) -> np.ndarray:
    """The covariance of every class, (K, d, d), from rows in memory."""
    block = rows.in_one_block(type(learner).__name__)
    if block.w is not None and (block.w != block.w[0]).any():
        raise DataError(
            f"{type(learner).__name__} with shrinkage='auto' or a covariance_estimator takes no"
            " sample_weight: leave it out"
        )
    classes = range(len(learner.classes_))
    return np.stack([_covariance(learner, _cells(block, k)) for k in classes])


def _cells(block: Block, k: int) -> np.ndarray:
    assert block.y is not None
    return np.asarray(block.dense[block.y == k], dtype=np.float64)


def _covariance(learner: Any, X: np.ndarray) -> np.ndarray:
    if learner.covariance_estimator is None:
        from sklearn.covariance import ledoit_wolf  # which imports much of scikit-learn

        # Ledoit and Wolf shrink toward equal variances, which standardized columns have
        spread = X.std(axis=0)
        spread[spread == 0] = 1.0
        shrunk = ledoit_wolf((X - X.mean(axis=0)) / spread)[0]
        return shrunk * spread[:, None] * spread
    estimator = clone(learner.covariance_estimator, safe=False)
    estimator.fit(X)
    if not hasattr(estimator, "covariance_"):
        raise SettingError(
            f"{type(estimator).__name__} does not have a covariance_ attribute"
        )
    return np.asarray(estimator.covariance_, dtype=np.float64)


def shrink(covariance: np.ndarray, share: Any) -> np.ndarray:
    """(1 - s) Σ + s σ²I, with σ² the mean of the variances; of a diagonal too."""
    if not share or isinstance(share, str):
        return covariance
    s = float(share)
    if covariance.ndim == 1:
        return (1 - s) * covariance + s * covariance.mean()
    d = len(covariance)
    return (1 - s) * covariance + s * np.trace(covariance) / d * np.eye(d)
