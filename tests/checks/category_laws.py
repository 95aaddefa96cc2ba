"""Going on with learning from rows whose categories are others, or in another order."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.checks.fits import Case, fit, outcome, same
from tests.checks.shared_fits import fitted_to_mixed
from tests.checks.tables import N, mixed_for

from lyceum.errors import SchemaError

__all__ = [
    "a_warm_start_keeps_or_refuses_the_columns",
    "the_order_of_categories_does_not_matter_later",
]

_TOWNS = ["Ulm", "Köln", "Bonn"]  # a frame of text has them sorted


def a_warm_start_keeps_or_refuses_the_columns(learner: Any, case: Case) -> None:
    """With `warm_start`, other categories or columns are refused by name, or do not change the
    answers."""
    if "warm_start" not in learner.get_params():
        return
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    fitted = copy.deepcopy(fitted_to_mixed(learner, case))
    fitted.set_params(warm_start=True)
    for rounds in ("n_estimators", "max_iter"):
        if rounds in fitted.get_params():
            fitted.set_params(**{rounds: getattr(fitted, rounds) + 2})
    expected = outcome(fitted, frame, case)
    for column, other in _other_frames(frame):
        warm = copy.deepcopy(fitted)
        refusal = _refusal(warm, other, y)
        if refusal:
            assert f"column {column!r}" in refusal
            assert "warm_start=False" in refusal
            same(
                expected,
                outcome(warm, frame, case),
                rtol=0,
                where=f"after a refusal of {column}",
            )
        else:
            fresh = outcome(fit(learner, other, y), other, case, arrays=False)
            found = outcome(warm, other, case, arrays=False)
            same(fresh, found, max(case.rtol, 1e-6), f"with another {column}")


def _refusal(warm: Any, frame: pd.DataFrame, y: np.ndarray | None) -> str:
    """The message with which a warm start is refused; "" if it is not."""
    try:
        warm.fit(frame, **({} if y is None else {"y": y}))
    except SchemaError as error:
        return str(error)
    return ""


def _other_frames(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Tables with another column, and which one it is."""
    yield "town", frame.assign(town=pd.Categorical(frame["town"], _TOWNS))
    yield "town", frame.assign(town=frame["town"].replace("Bonn", "Wien"))
    yield "town", frame.assign(town=frame["town"].replace("Ulm", "Bonn"))
    yield "sex", frame.assign(sex=frame["sex"].replace("f", "x"))
    yield "wage", frame.rename(columns={"income": "wage"})


def the_order_of_categories_does_not_matter_later(learner: Any, case: Case) -> None:
    """`partial_fit` reads categories by their values, in whatever order later rows have them."""
    if not hasattr(learner, "partial_fit"):
        return
    learner = clone(learner).set_params(**case.mixed)
    frame, y = mixed_for(learner)
    named = case.named_classes(y)
    found = []
    for towns in (sorted(_TOWNS), _TOWNS):
        parts = clone(learner)
        for rows, names in (
            (np.arange(N // 2), sorted(_TOWNS)),
            (np.arange(N // 2, N), towns),
        ):
            more = frame.iloc[rows]
            more = more.assign(town=pd.Categorical(more["town"], names))
            with warnings.catch_warnings():
                # the first rows may be too few
                warnings.simplefilter("ignore", LinAlgWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                target = {} if y is None else {"y": y[rows]}
                parts.partial_fit(more, **target, **named)
        found.append(outcome(parts, frame, case))
    same(*found, rtol=0)
