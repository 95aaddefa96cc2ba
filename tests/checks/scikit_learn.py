"""scikit-learn's own checks, all on one learner in one test: sixty cases of their own would cost
more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

__all__ = ["obeys_scikit_learn"]


def obeys_scikit_learn(
    learner: Any, expected_failures: Mapping[str, str] | None = None
) -> None:
    """Raise every check that fails, and name those that were expected to fail and do not."""
    expected = dict(expected_failures or {})
    results = check_estimator(
        learner,
        expected_failed_checks=expected,
        on_fail=None,
        on_skip=None,
        callback=None,
    )
    broken = [result for result in results if result["status"] == "failed"]
    for result in broken:
        result["exception"].add_note(f"in scikit-learn's {result['check_name']}")
    if broken:
        names = ", ".join(result["check_name"] for result in broken)
        raise ExceptionGroup(
            f"{learner} fails {names}", [result["exception"] for result in broken]
        )
    passed = [
        result["check_name"] for result in results if result["status"] == "passed"
    ]
    assert expected.keys().isdisjoint(passed), (
        f"expected to fail, but pass: {expected.keys() & set(passed)}"
    )
    assert len(passed) > 30
