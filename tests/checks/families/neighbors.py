"""Instance-based learning, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from tests.checks.laws import Case

SETTINGS: dict[str, dict[str, Any]] = {}

_STORED = Case(skip=("rows_", "weights_", "targets_"))  # in the order in which they came

CASES: dict[str, Case] = {
    "KNeighborsClassifier": _STORED,
    "KNeighborsRegressor": _STORED,
    "LocallyWeightedRegression": _STORED,
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
