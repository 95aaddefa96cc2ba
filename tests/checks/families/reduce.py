"""Dimensionality reduction, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from tests.checks.laws import Case

SETTINGS: dict[str, dict[str, Any]] = {
    "RowSVD": {"n_components": 2},
    "DiscriminantProjection": {"n_components": 1},
    "SelectKBest": {"score_func": "information_gain", "k": 2},
    "SequentialFeatureSelector": {
        "n_features_to_select": 2,
        "criterion": "bic",
    },  # folds go by the numbers of rows
}

_EMBEDS = Case(
    skip=(
        "embedding_",
        "rows_",
        "column_means_",
        "all_eigenvalues_",
    ),  # one entry per row
    without={
        "threads_do_not_change_a_bit": "its 40,000 rows would need a matrix of all pairs"
    },
)
CASES: dict[str, Case] = {
    "TruncatedSVD": Case(
        without={
            "cells_may_be_a_million_away": "rows are not centered: the origin matters"
        }
    ),
    "RowSVD": _EMBEDS,
    "ClassicalMDS": _EMBEDS,
    "SelectKBest": Case(moves=True, far=1e-7),
    "SequentialFeatureSelector": Case(moves=True, far=1e-7),
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "SequentialFeatureSelector": {
        "check_sample_weight_equivalence_on_dense_data": (
            "fifteen rows are fitted exactly before all columns "
            "are in: which one comes next is a tie that rounding decides"
        ),
    },
}
