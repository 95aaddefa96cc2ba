"""Arrays with text in them, predicted by a model that was fitted to a table, where Arrow is not
installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import get_tags
from tests.checks.fits import METHODS, Case, columns_of, quiet, same
from tests.checks.shared_fits import fitted_to_mixed, fitted_to_numbers
from tests.checks.tables import data_for, mixed_for

from lyceum._core import lazy_arrow as _lazy_arrow
from lyceum.errors import MissingPackageError

__all__ = ["arrays_need_no_arrow"]

FEW = 40  # rows that are looked at


def arrays_need_no_arrow(learner: Any, case: Case) -> None:
    """Arrays and lists, one row or many, are what the table is; Arrow is not imported for them."""
    numbers = data_for(learner).X[:FEW]
    _compare(fitted_to_numbers(learner), numbers, numbers)
    mixed = clone(learner).set_params(**case.mixed)
    frame = mixed_for(mixed)[0][:FEW]
    frame = frame.assign(
        town=frame["town"].where(np.arange(FEW) % 9 > 0, "Rom")
    )  # an unseen category
    if get_tags(mixed).input_tags.allow_nan:
        for place, name in enumerate(("age", "sex", "town")):
            frame[name] = frame[name].where(np.arange(FEW) % 7 != place, None)
    _compare(fitted_to_mixed(mixed, case), frame, frame.to_numpy(dtype=object))


def _compare(fitted: Any, table: Any, cells: np.ndarray) -> None:
    expected = _answers(fitted, table)
    with quiet(), without_arrow():
        same(expected, _answers(fitted, cells), 0, "from an array")
        same(expected, _answers(fitted, cells.tolist()), 0, "from a list")
        row = cells[3:4].tolist()  # no cell is missing
        for name in expected:
            if not name.startswith("explain"):
                assert len(columns_of(getattr(fitted, name)(row))[0]) == 1, name


def _answers(fitted: Any, X: Any) -> dict[str, Any]:
    answers = {
        name: getattr(fitted, name)(X) for name in METHODS if hasattr(fitted, name)
    }
    if isinstance(X, pd.DataFrame) and "transform" in answers:
        answers["transform"] = _array(answers["transform"])
    if hasattr(fitted, "explain"):
        found = fitted.explain(X)
        answers |= {
            "explain contributions": found.contributions,
            "explain base": found.base,
        }
        answers |= {"explain predicted": found.predicted, "explain cells": found.values}
    return answers


def _array(result: Any) -> Any:
    return result.to_numpy() if hasattr(result, "to_numpy") else result


@contextmanager
def without_arrow() -> Iterator[None]:
    """As where Arrow is not installed: every use of it by Lyceum raises MissingPackageError."""
    refusal = MissingPackageError("Arrow was asked for")
    modules = [
        _lazy_arrow.pa,
        _lazy_arrow.pc,
        _lazy_arrow.csv,
        _lazy_arrow.feather,
        _lazy_arrow.json,
        _lazy_arrow.pq,
        _lazy_arrow.pt,
    ]
    known = [vars(module).copy() for module in modules]
    for module in modules:
        for name in vars(module).keys() - {"__name__"}:
            delattr(module, name)
    try:
        with patch.object(_lazy_arrow, "check_installed", side_effect=refusal):
            yield
    finally:
        for module, names in zip(modules, known, strict=True):
            vars(module).update(names)
