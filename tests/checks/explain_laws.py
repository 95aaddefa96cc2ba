"""Explanations name table columns, carry their cells, and sum to what the learner predicts by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from tests.checks.fits import Case
from tests.checks.shared_fits import fitted_to_mixed, fitted_to_numbers
from tests.checks.tables import CountedCuts, Data, data_for, mixed_for

from lyceum._core.probability import AGAINST_RUNNER_UP
from lyceum.data import Rows

__all__ = [
    "explanations_name_columns_and_sum_to_the_score",
    "explanations_need_one_pass",
]


def explanations_name_columns_and_sum_to_the_score(learner: Any, case: Case) -> None:
    """One contribution per column of the table, beside its cell; with the base they make the
    score."""
    learner = clone(learner).set_params(**case.mixed)
    if not hasattr(learner, "explain"):
        return
    frame, _ = mixed_for(learner)
    fitted = fitted_to_mixed(learner, case)
    found = fitted.explain(frame)
    assert list(found.names) == list(frame.columns)
    assert found.contributions.shape == frame.shape
    for name, values in zip(frame.columns, found.values.T):
        written = frame[name].to_numpy()
        if written.dtype.kind == "f":
            np.testing.assert_allclose(values.astype(float), written, rtol=1e-6)
        else:
            assert values.tolist() == written.tolist()
    _same_predictions(found.predicted, fitted, frame)
    if (
        is_clusterer(fitted)
        and not hasattr(fitted, "transform")
        and not hasattr(fitted, "predict_proba")
    ):
        return  # they have no distances to clusters; tests/cluster has their scores
    # networks have float32 weights
    tolerance = 1e-6 if "MLP" in type(learner).__name__ else 1e-8
    expected = _scores(fitted, frame, found.unit)
    known = np.isfinite(expected)
    assert (found.scores[~known] > 700).all()  # a posterior of 0 is one below exp(-745)
    largest = np.abs(expected[known]).max(initial=0.0)
    np.testing.assert_allclose(
        found.scores[known], expected[known], rtol=tolerance, atol=tolerance * largest
    )


def explanations_need_one_pass(learner: Any, case: Case) -> None:
    """Cells, contributions and predictions come from one reading of the rows."""
    if not hasattr(learner, "explain"):
        return
    some = data_for(learner).take(slice(60))
    fitted = fitted_to_numbers(learner)
    source = CountedCuts(Data(some.X, None, some.w))
    fitted.explain(Rows(source))
    assert len(source.passes) == 1


def _same_predictions(predicted: np.ndarray, fitted: Any, frame: pd.DataFrame) -> None:
    if is_classifier(fitted) or is_clusterer(fitted):
        assert predicted.tolist() == np.asarray(fitted.predict(frame)).tolist()
    elif is_regressor(fitted):
        np.testing.assert_allclose(predicted, fitted.predict(frame), rtol=1e-10)


def _scores(fitted: Any, frame: pd.DataFrame, unit: str) -> np.ndarray:
    """What the contributions are to sum to, from the learner's other methods."""
    if is_regressor(fitted):
        return fitted.predict(frame)
    if is_clusterer(fitted):
        near = np.sort(np.asarray(fitted.transform(frame)), axis=1) ** (
            2 if "squared" in unit else 1
        )
        return near[:, 1] - near[:, 0]
    if unit == AGAINST_RUNNER_UP:
        best = np.sort(fitted.predict_proba(frame), axis=1)[:, ::-1]
        # a posterior of 0 says nothing of its logarithm
        with np.errstate(divide="ignore"):
            return np.log(best[:, 0]) - np.log(best[:, 1])
    if unit == "mean depth":
        return fitted.depths(frame)
    if unit == "log density" or (unit == "score" and not is_classifier(fitted)):
        return fitted.score_samples(frame)
    if not is_classifier(fitted):
        return np.asarray(fitted.transform(frame))[:, 0]
    if "score" in unit:
        scores = np.sort(fitted.decision_function(frame), axis=1)
        return scores[:, -1] - (scores[:, -2] if "above" in unit else 0.0)
    best = np.sort(fitted.predict_proba(frame), axis=1)[:, ::-1]
    return (
        best[:, 0] if unit == "posterior" else np.log(best[:, 0]) - np.log(best[:, 1])
    )
