"""Committees and multi-class reductions, as they are put to the laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.checks.laws import Case

from lyceum.bayes import NaiveBayes
from lyceum.linear import Ridge
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

# Two quick members: those by default are three, and one of them is a pipeline.
_CLASSIFIERS = [("bayes", NaiveBayes()), ("tree", DecisionTreeClassifier(max_depth=3))]
_REGRESSORS = [("line", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3))]

_FOLDS = "folds go by the numbers of rows"
_BY_FOLDS = dict.fromkeys(
    ("weights_are_repeats", "the_order_of_rows_does_not_matter"), _FOLDS
)
_CLASSES_BY_FOLDS = Case(
    without=_BY_FOLDS | {"a_class_may_be_missing_from_the_first_block": _FOLDS}
)
# a member of a class that comes later would not have seen the rows before
_CLASSES_NAMED = Case(names_classes=True, of_first_rows=("background_",))
SETTINGS: dict[str, dict[str, Any]] = {
    "VotingClassifier": {"estimators": _CLASSIFIERS, "random_state": 0},
    "VotingRegressor": {"estimators": _REGRESSORS, "random_state": 0},
    "AuxiliaryTargets": {"random_state": 0},
    "CascadeClassifier": {"stages": _CLASSIFIERS, "cv": 2, "random_state": 0},
    "MixtureOfExperts": {"n_experts": 2, "n_init": 1, "tol": 0.1, "random_state": 0},
    "HierarchicalMixtureOfExperts": {
        "depth": 1,
        "n_init": 1,
        "tol": 0.1,
        "random_state": 0,
    },
    "GradientBoostingClassifier": {"n_estimators": 4, "random_state": 0},
    "GradientBoostingRegressor": {"n_estimators": 4, "random_state": 0},
    "GenericBoostingClassifier": {"n_estimators": 2, "random_state": 0},
    "GenericBoostingRegressor": {"n_estimators": 2, "random_state": 0},
    "OneVsOneClassifier": {"estimator": NaiveBayes()},
    "OutputCodeClassifier": {"estimator": NaiveBayes()},
    "StackingClassifier": {"estimators": _CLASSIFIERS, "cv": 2, "random_state": 0},
    "StackingRegressor": {"estimators": _REGRESSORS, "cv": 2, "random_state": 0},
}

CASES: dict[str, Case] = {
    "CascadeClassifier": _CLASSES_BY_FOLDS,
    "OneVsOneClassifier": _CLASSES_NAMED,
    "OneVsRestClassifier": replace(
        _CLASSES_NAMED,
        without=dict.fromkeys(
            ("partial_fit_is_fit_on_all_rows", "new_categories_may_come_later"),
            "logistic regressions go on by recursion, one row at a time",
        ),
    ),
    "StackingClassifier": _CLASSES_BY_FOLDS,
    "StackingRegressor": Case(without=_BY_FOLDS),
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {
    "CascadeClassifier": {"stages": _CLASSIFIERS, "cv": 2},
    "VotingClassifier": {"estimators": _CLASSIFIERS},
    "VotingRegressor": {"estimators": _REGRESSORS},
    "HierarchicalMixtureOfExperts": {"depth": 1, "n_init": 1, "tol": 0.1},
    "MixtureOfExperts": {"n_experts": 2, "n_init": 1, "tol": 0.1},
    "GradientBoostingClassifier": {"n_estimators": 5},
    "GradientBoostingRegressor": {"n_estimators": 5, "learning_rate": 0.3},
    "GenericBoostingClassifier": {"n_estimators": 2},
    "GenericBoostingRegressor": {"n_estimators": 4, "learning_rate": 0.3},
    "OneVsOneClassifier": {"estimator": NaiveBayes()},
    "OneVsRestClassifier": {"estimator": NaiveBayes()},
    "OutputCodeClassifier": {"estimator": NaiveBayes()},
    "StackingClassifier": {"estimators": _CLASSIFIERS, "cv": 2},
    "StackingRegressor": {"estimators": _REGRESSORS, "cv": 2},
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
