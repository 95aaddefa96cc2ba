"""Posteriors are probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from tests.checks.fits import Case, fit
from tests.checks.shared_fits import fitted_to_mixed, fitted_to_numbers
from tests.checks.tables import data_for, mixed_for

__all__ = ["check_posteriors", "posteriors_are_probabilities"]


def posteriors_are_probabilities(learner: Any, case: Case) -> None:
    """From 0 to 1, and the rows sum to 1 within 1e-12: near, far away, weighted, and for a mixed
    table.

    Ensembles have 100 members once, because (1/100 + ... + 1/100) exceeds 1 in floating point.
    """
    if not is_classifier(learner) or not hasattr(learner, "predict_proba"):
        return
    X, some = data_for(learner).X, data_for(learner, 60)
    check_posteriors(
        fitted_to_numbers(learner, weighted=True).predict_proba(
            np.vstack([X, 100.0 * X])
        )
    )
    if "n_estimators" in learner.get_params():
        many = clone(learner).set_params(n_estimators=100)
        check_posteriors(fit(many, some.X, some.y, some.w).predict_proba(some.X))
    if get_tags(learner).input_tags.allow_nan:
        X = np.where(
            np.random.default_rng(0).random(some.X.shape) < 0.4, np.nan, some.X
        )
        check_posteriors(fit(learner, X, some.y).predict_proba(X))
    learner = clone(learner).set_params(**case.mixed)
    frame, _ = mixed_for(learner)
    check_posteriors(fitted_to_mixed(learner, case).predict_proba(frame))


def check_posteriors(proba: np.ndarray) -> None:
    assert proba.min() >= 0.0, f"a posterior is {proba.min()!r}"
    assert proba.max() <= 1.0, f"a posterior is {proba.max()!r}"
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
