"""Other paradigms, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from tests.checks.laws import Case

SETTINGS: dict[str, dict[str, Any]] = {
    "LabelPropagation": {"tol": 1e-12},
    "LabelSpreading": {"tol": 1e-12},
    "TrAdaBoost": {"n_estimators": 2, "random_state": 0},
    "PriorTransfer": {"tol": 1e-12},
    "AnomalyDetector": {"detector": "gaussian", "random_state": 0},
    "IsolationForest": {"n_estimators": 10, "random_state": 0},
}

_GRAPH = Case(
    skip=("rows_", "label_distributions_", "gamma_"),
    without={"weights_are_repeats": "a repeated row is its own nearest neighbor"},
)
_REPEATS = {
    f"check_sample_weight_equivalence_on_{cells}_data": "a repeated row is its own nearest neighbor"
    for cells in ("dense", "sparse")
}
_BY_NUMBERS = {"the_order_of_rows_does_not_matter": "rows are drawn by their numbers"}

CASES: dict[str, Case] = {
    "TrAdaBoost": Case(skip=("source_weights_",)),  # of rows, as many as there are
    "AnomalyDetector": Case(
        skip=("scores_", "weights_"),
        without={
            **_BY_NUMBERS,
            "weights_are_repeats": "folds go by the numbers of rows",
        },
    ),
    # in the order in which they came
    "NeighborAnomalyScore": Case(skip=("rows_", "weights_")),
    "IsolationForest": Case(
        without={
            **_BY_NUMBERS,
            "weights_are_repeats": "rows are drawn by their numbers",
        }
    ),
    "LabelPropagation": _GRAPH,
    "LabelSpreading": _GRAPH,
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {
    "AnomalyDetector": {"detector": "gaussian", "cv": 2},
    "IsolationForest": {"n_estimators": 10},
    "TrAdaBoost": {"n_estimators": 4},
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "LabelPropagation": _REPEATS,
    "LabelSpreading": _REPEATS,
    "SelfTrainingClassifier": {
        "check_non_transformer_estimators_n_iter": (
            "all rows are labeled there, and no round is made: n_iter_ is 0, as in scikit-learn"
        )
    },
}
