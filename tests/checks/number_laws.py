"""What the numbers are made of: precision, offsets and threads."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone
from tests.checks.fits import Case, fit, outcome, same
from tests.checks.shared_fits import fitted_to_numbers
from tests.checks.tables import data_for
from threadpoolctl import threadpool_limits

from lyceum._core.threads import n_threads

__all__ = [
    "cells_may_be_a_million_away",
    "single_precision_is_close_to_double",
    "threads_do_not_change_a_bit",
]


def single_precision_is_close_to_double(learner: Any, case: Case) -> None:
    data = data_for(learner)
    X = data.X.astype(np.float32)
    double = outcome(
        fit(learner, X.astype(np.float64), data.y, data.w), X.astype(np.float64), case
    )
    same(double, outcome(fit(learner, X, data.y, data.w), X, case), case.single)


def cells_may_be_a_million_away(learner: Any, case: Case) -> None:
    """Distances, spreads and predictions are those of the same rows about the origin."""
    data = data_for(learner)
    near = outcome(
        fitted_to_numbers(learner, weighted=True), data.X, case, arrays=False
    )
    moved = clone(learner).set_params(**case.moved)
    far = outcome(
        fit(moved, data.X + 1e6, data.y, data.w), data.X + 1e6, case, arrays=False
    )
    if case.moves:
        far = {name: result - 1e6 for name, result in far.items()}
    same(near, far, case.far)


def threads_do_not_change_a_bit(learner: Any, case: Case) -> None:
    """One thread and all that may be used, at least two, give the same bits over several blocks."""
    data = data_for(learner, n=case.many)
    results = []
    for count in (1, max(2, n_threads())):
        with (
            threadpool_limits(count),
            patch(
                "lyceum._core.data.rows.sources.block_rows", return_value=case.many // 2
            ),
        ):
            results.append(outcome(fit(learner, data.X, data.y, data.w), data.X, case))
    same(*results, rtol=0)
