"""A fitted model: saved, shown, and kept when a fit is refused."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tests.checks.fits import Case, outcome, same
from tests.checks.shared_fits import (
    fitted_to_mixed,
    fitted_to_numbers,
    learned_from_mixed,
)
from tests.checks.tables import data_for, mixed_for

__all__ = [
    "a_refused_fit_changes_nothing",
    "a_saved_model_is_the_model",
    "it_shows_itself",
]


def a_saved_model_is_the_model(learner: Any, case: Case) -> None:
    """`pickle` gives identical predictions, bit for bit; model files do (tests/test_persist.py)."""
    learner = clone(learner).set_params(**case.mixed)
    frame, _ = mixed_for(learner)
    fitted = fitted_to_mixed(learner, case)
    again = pickle.loads(pickle.dumps(fitted))
    same(
        learned_from_mixed(learner, case),
        outcome(again, frame, case),
        rtol=0,
        where="after pickle",
    )


def it_shows_itself(learner: Any, case: Case) -> None:
    """A clone has the parameters and nothing learned; learner and summary print and show as
    HTML."""
    fitted = fitted_to_numbers(learner)
    fresh = clone(fitted)
    assert str(fresh.get_params()) == str(learner.get_params())
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    assert type(learner).__name__ in repr(fitted)
    assert type(learner).__name__ in fitted._repr_html_()
    summary = fitted.summary()
    target = "" if fitted.schema_.target is None else " of y"
    assert summary.title == type(learner).__name__ + target
    names = {*fitted.schema_.names, *getattr(fitted, "classes_", ())}
    assert all(
        not t.title[:1].islower() or t.title.split()[0] in names for t in summary.tables
    )
    assert summary.title in str(summary)
    json.dumps(summary.as_dict(), allow_nan=False)
    assert len(str(summary).splitlines()) > 2
    assert "<table>" in summary._repr_html_()


def a_refused_fit_changes_nothing(learner: Any, case: Case) -> None:
    """After `fit` or `partial_fit` on rows that cannot be learned from, the learner is as it
    was."""
    data = data_for(learner)
    fitted = copy.deepcopy(fitted_to_numbers(learner))
    if "warm_start" in fitted.get_params():
        fitted.set_params(warm_start=True)
    before, expected = dict(vars(fitted)), outcome(fitted, data.X, case)
    wide = np.column_stack([data.X, data.X[:, 0]])
    late = wide.copy()
    late[-1, -1] = np.inf  # found in the last block only
    if case.leaves_out:
        late[:, -1] = np.inf
    for method in ("fit", "partial_fit"):
        for X in (wide[:0], late) if hasattr(fitted, method) else ():
            with pytest.raises(ValueError, match=r"\w"):
                getattr(fitted, method)(X, None if data.y is None else data.y[: len(X)])
            assert vars(fitted).keys() == before.keys(), method
            same(
                expected,
                outcome(fitted, data.X, case),
                rtol=0,
                where=f"after a refused {method}",
            )
