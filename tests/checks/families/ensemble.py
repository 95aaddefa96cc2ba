"""Committees and multi-class reductions, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from tests.checks.laws import Case

_FOLDS = "folds go by the numbers of rows"
_BY_FOLDS = dict.fromkeys(("weights_are_repeats", "the_order_of_rows_does_not_matter"), _FOLDS)
_CLASSES_BY_FOLDS = Case(without=_BY_FOLDS | {"a_class_may_be_missing_from_the_first_block": _FOLDS})
SETTINGS: dict[str, dict[str, Any]] = {
    "Committee": {"random_state": 0},
    "AuxiliaryTargets": {"random_state": 0},
    "CascadeClassifier": {"cv": 3, "random_state": 0},
    "MixtureOfExperts": {"n_experts": 2, "n_init": 1, "random_state": 0},
    "HierarchicalMixtureOfExperts": {"depth": 1, "n_init": 1, "random_state": 0},
    "ModelBoostingClassifier": {"n_estimators": 5, "random_state": 0},
    "ModelBoostingRegressor": {"n_estimators": 5, "random_state": 0},
    "StackingClassifier": {"cv": 3, "random_state": 0},
    "StackingRegressor": {"cv": 3, "random_state": 0},
}

CASES: dict[str, Case] = {
    "CascadeClassifier": _CLASSES_BY_FOLDS,
    "StackingClassifier": _CLASSES_BY_FOLDS,
    "StackingRegressor": Case(without=_BY_FOLDS),
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {
    "HierarchicalMixtureOfExperts": {"depth": 1, "n_init": 1, "tol": 1e-2},
    "MixtureOfExperts": {"n_experts": 2, "n_init": 1, "tol": 1e-2},
    "ModelBoostingClassifier": {"n_estimators": 5},
    "ModelBoostingRegressor": {"n_estimators": 20},
    "CascadeClassifier": {"cv": 3},
    "StackingClassifier": {"cv": 3},
    "StackingRegressor": {"cv": 3},
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
