"""A candidate as a pipeline over rows."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from lyceum import catalog
from lyceum._core.data import Rows
from lyceum._core.threads import one_thread
from lyceum._core.types import Estimator
from lyceum.studies.plan.candidate import Candidate

# cells; of up to so many threads wait for each other on a busy machine, boosting four times as long
# as one thread works, and other processes take whole folds
_SMALL = 1_000_000
# which are not in the catalog
_OWN_CLASSES = {
    "PriorClassifier": "lyceum.studies.run.baseline",
    "MeanRegressor": "lyceum.studies.run.baseline",
    "TargetStatistics": "lyceum.studies.run.target_statistics",
}


def seed_of(*parts: Any) -> int:
    """A seed from a hash of its parts: the study's seed, a learner, a repeat, a fold."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def learner_class(name: str) -> type:
    """The class of a candidate's learner."""
    if name in _OWN_CLASSES:
        return getattr(importlib.import_module(_OWN_CLASSES[name]), name)
    return catalog.find(name).load()


def build_pipeline(
    candidate: Candidate, settings: Mapping[str, Any], seed: int
) -> Pipeline:
    """The pipeline of a candidate with these settings."""
    *before, learner = candidate.steps
    steps = []
    for name in before:
        if name in _OWN_CLASSES:
            steps.append((name, learner_class(name)()))
        else:
            steps.append((name, catalog.find(name).build(candidate.sparse_text)))
    parameters = {**candidate.settings, **settings}
    steps.append((learner, learner_class(learner)(**parameters)))
    for _, step in steps:
        if "random_state" in step.get_params() and step.random_state is None:
            step.set_params(random_state=seed)
    return Pipeline(steps)


@contextmanager
def few_threads(rows: Rows) -> Iterator[None]:
    """One thread where rows are few: threads would wait for each other longer than they work."""
    with one_thread() if are_few(rows) else nullcontext():
        yield


def are_few(rows: Rows) -> bool:
    """Whether the rows are too few for several threads to share them."""
    return len(rows) * max(1, len(rows.schema)) <= _SMALL


def row_predictions(model: Estimator, rows: Rows) -> np.ndarray:
    """Posteriors or values of every row; raises ArithmeticError where they are not numbers.

    A classifier without posteriors gives probability 1 to the class that it predicts.
    """
    if hasattr(model, "predict_proba"):
        predicted = np.asarray(model.predict_proba(rows), dtype=np.float64)
    elif is_classifier(model):
        labels = np.asarray(model.predict(rows))
        predicted = (labels[:, None] == model.classes_).astype(np.float64)
    else:
        predicted = np.asarray(model.predict(rows), dtype=np.float64)
    is_number = np.isfinite(predicted)
    if not is_number.all():
        row = int(np.argmin(is_number.reshape(len(predicted), -1).all(axis=1)))
        raise ArithmeticError(
            f"gave a prediction that is not a number, first for test row {row}"
        )
    if predicted.ndim == 2:
        excess = np.abs(predicted.sum(axis=1) - 1.0)
        if excess.max(initial=0.0) > 1e-6:
            raise ArithmeticError("gave posteriors that do not sum to 1")
    return predicted
