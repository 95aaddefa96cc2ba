"""Bayesian networks, as they are put to the laws."""

from __future__ import annotations

from typing import Any

from tests.checks.laws import Case

SETTINGS: dict[str, dict[str, Any]] = {}

CASES: dict[str, Case] = {
    "KBinsDiscretizer": Case(
        without={
            "the_source_does_not_matter": "arrays hold the codes of intervals, frames their names"
        }
    ),
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
