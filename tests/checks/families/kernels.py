"""Kernel machines, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from tests.checks.laws import Case

SETTINGS: dict[str, dict[str, Any]] = {
    "LinearSVC": {"C": 0.1, "tol": 1e-9, "intercept_scaling": float("inf")},
    "SVC": {"tol": 1e-8, "gamma": 0.05, "C": 0.3},
    "SVR": {"tol": 1e-8, "gamma": 0.05, "epsilon": 0.5, "C": 0.3},
    "KernelPerceptron": {"max_iter": 20},
    "KernelPCA": {"n_components": 2, "kernel": "rbf"},
    "KernelRidge": {"kernel": "rbf"},
    "Nystroem": {"n_components": 20, "random_state": 0},
    "RBFSampler": {"n_components": 20, "random_state": 0, "gamma": "scale"},
}

# in their order
_KEEPS_ROWS = Case(skip=("rows_", "row_weights_", "dual_coef_"), many=1_000)

_BY_DRAWS = Case(
    without=dict.fromkeys(
        (
            "weights_are_repeats",
            "zero_weight_rows_are_ignored",
            "the_order_of_rows_does_not_matter",
        ),
        "rows are drawn by their numbers",
    )
)

# `alpha_` and `slack_` go row by row, and so do the support vectors
_BY_ROW = ("alpha_", "slack_", "dual_coef_", "support_vectors_", "kkt_residual_")

CASES: dict[str, Case] = {
    "LinearSVC": Case(counts_rows=("n_slack_", "n_wrong_")),
    "SVC": Case(rtol=1e-6, skip=_BY_ROW, many=1_000),
    "SVR": Case(rtol=1e-6, skip=_BY_ROW, many=1_000),
    "KernelRidge": _KEEPS_ROWS,
    "KernelPCA": Case(
        skip=("rows_", "row_weights_", "eigenvectors_", "column_means_"), many=1_000
    ),
    "KernelPerceptron": Case(
        many=1_000,
        without={
            "weights_are_repeats": "a row that comes again is looked at again",
            "the_order_of_rows_does_not_matter": "rows are learned from one after the other",
            "a_class_may_be_missing_from_the_first_block": (
                "rows are learned from one after the other"
            ),
        },
    ),
    "Nystroem": _BY_DRAWS,
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {
    "KernelPerceptron": {"max_iter": 5},
    "LinearSVC": {"tol": 1e-10},
    "SVC": {"tol": 1e-9},
    "SVR": {"tol": 1e-9},
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: {
        f"check_sample_weight_equivalence_on_{cells}_data": reason
        for cells in ("dense", "sparse")
    }
    for name, reason in {
        "KernelPerceptron": "a row that comes again is looked at again",
        "Nystroem": "rows are drawn by their numbers",
    }.items()
}
