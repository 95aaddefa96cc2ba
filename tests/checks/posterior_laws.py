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
    """From 0 to 1, and the rows sum to 1 within 1e-12: near, far away, weighted, and for a mixed table.

    Ensembles have 100 members once, because (1/100 + ... + 1/100) exceeds 1 in floating point.
    """
    if not is_classifier(learner) or not hasattr(learner, "predict_proba"):
        return
    many = {"n_estimators": 100} if "n_estimators" in learner.get_params() else {}
    data = data_for(learner)
    fitted = fitted_to_numbers(clone(learner).set_params(**many), weighted=True)
    for factor in (1.0, 100.0):
        check_posteriors(fitted.predict_proba(data.X * factor))
    if get_tags(learner).input_tags.allow_nan:
        X = np.where(np.random.default_rng(0).random(data.X.shape) < 0.4, np.nan, data.X)
        check_posteriors(fit(learner, X, data.y).predict_proba(X))
    learner = clone(learner).set_params(**case.mixed)
    frame, _ = mixed_for(learner)
    check_posteriors(fitted_to_mixed(learner, case).predict_proba(frame))


def check_posteriors(proba: np.ndarray) -> None:
    assert proba.min() >= 0.0, f"a posterior is {proba.min()!r}"
    assert proba.max() <= 1.0, f"a posterior is {proba.max()!r}"
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
