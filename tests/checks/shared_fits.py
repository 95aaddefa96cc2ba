"""Fits that several laws of a learner start from: made once, and not to be changed."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from tests.checks.fits import Case, fit, outcome
from tests.checks.tables import data_for, mixed_for

__all__ = [
    "fitted_to_mixed",
    "fitted_to_numbers",
    "learned_from_mixed",
    "learned_from_numbers",
]

_LATEST: dict[tuple[Any, ...], Any] = {}  # of one learner at a time


def fitted_to_numbers(learner: Any, weighted: bool = False) -> Any:
    """A learner fitted to `data_for(learner)`; one that changes it takes a copy."""
    return _once(
        learner, ("numbers", weighted), lambda: _fit_numbers(learner, weighted)
    )


def fitted_to_mixed(learner: Any, case: Case) -> Any:
    """A learner with the parameters for mixed tables, fitted to `mixed_for(learner)`."""
    learner = clone(learner).set_params(**case.mixed)
    return _once(learner, ("mixed",), lambda: fit(learner, *mixed_for(learner)))


def learned_from_numbers(learner: Any, case: Case) -> dict[str, Any]:
    """The outcome of the fit to weighted rows."""
    fitted = fitted_to_numbers(learner, weighted=True)
    X = data_for(learner).X
    return _once(learner, ("outcome", case.skip), lambda: outcome(fitted, X, case))


def learned_from_mixed(learner: Any, case: Case) -> dict[str, Any]:
    """The outcome of the fit to the mixed table."""
    learner = clone(learner).set_params(**case.mixed)
    fitted = fitted_to_mixed(learner, case)
    return _once(
        learner,
        ("mixed outcome", case.skip),
        lambda: outcome(fitted, mixed_for(learner)[0], case),
    )


def _fit_numbers(learner: Any, weighted: bool) -> Any:
    data = data_for(learner)
    return fit(learner, data.X, data.y, data.w if weighted else None)


def _once(learner: Any, what: tuple[Any, ...], compute: Any) -> Any:
    of = (type(learner), str(learner.get_params()))
    if _LATEST and next(iter(_LATEST))[0] is not type(learner):
        _LATEST.clear()
    if (*of, *what) not in _LATEST:
        _LATEST[(*of, *what)] = compute()
    return _LATEST[(*of, *what)]
