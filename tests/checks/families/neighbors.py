"""Instance-based learning, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from tests.checks.laws import Case
from tests.checks.tables import data_for

# Centers on fixed rows: where clusters start depends on the order and number of rows.
_CENTERS = data_for(BaseEstimator()).X[:5].copy()

SETTINGS: dict[str, dict[str, Any]] = {
    "RBFNetworkClassifier": {"centers": _CENTERS, "n_centers": 4, "random_state": 0},
    "RBFNetworkRegressor": {"centers": _CENTERS, "n_centers": 4, "random_state": 0},
    "AttributeWeights": {"max_samples": 400, "max_iter": 2, "random_state": 0},
    "LearnedMetric": {"max_samples": 400, "max_iter": 5, "random_state": 0},
}

# in the order in which they came
_STORED = Case(skip=("rows_", "weights_", "targets_"))

_UNITS = Case(mixed={"centers": "uniform"}, moved={"centers": _CENTERS + 1e6})

CASES: dict[str, Case] = {
    "RBFNetworkClassifier": _UNITS,
    "RBFNetworkRegressor": _UNITS,
    "KNeighborsClassifier": _STORED,
    "KNeighborsRegressor": _STORED,
    "LocallyWeightedRegression": _STORED,
    "KNNImputer": Case(moves=True, far=1e-7, skip=("rows_", "weights_")),
    "RestrictedCoulombClassifier": Case(
        without={
            "the_order_of_rows_does_not_matter": (
                "the first row that is not covered becomes a center"
            ),
            "a_class_may_be_missing_from_the_first_block": (
                "the first row not covered becomes a center"
            ),
            "partial_fit_is_fit_on_all_rows": (
                "spheres grow by the rows that come, in the units of the first"
            ),
            "new_categories_may_come_later": (
                "spheres grow by the rows that come, in the units of the first"
            ),
        },
        skip=("mean_", "scale_"),
    ),
    "AttributeWeights": Case(
        without={"weights_are_repeats": "a row's own repeats are its nearest neighbors"}
    ),
    "LearnedMetric": Case(
        without={"weights_are_repeats": "a row's own repeats are its nearest neighbors"}
    ),
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: {
        "check_sample_weight_equivalence_on_dense_data": (
            "a row's own repeats are its nearest neighbors"
        )
    }
    for name in ("AttributeWeights", "LearnedMetric")
} | {
    "RestrictedCoulombClassifier": {
        "check_sample_weight_equivalence_on_dense_data": (
            "the first row that is not covered becomes a "
            "center, and the check changes the order of the rows"
        ),
    },
}
