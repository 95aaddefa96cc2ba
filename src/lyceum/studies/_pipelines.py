"""A candidate as a pipeline over rows, and its settings chosen by inner folds."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from lyceum import catalog
from lyceum.data import Rows
from lyceum.errors import Cancelled
from lyceum.evaluate import StratifiedFolds
from lyceum.studies._candidate import Candidate
from lyceum.studies._loss_rule import LossRule

__all__ = ["build_pipeline", "choose_settings", "row_predictions", "seed_of"]

_BASELINES = {"PriorClassifier": "lyceum.studies._baseline", "MeanRegressor": "lyceum.studies._baseline"}


def seed_of(*parts: Any) -> int:
    """A seed from a hash of its parts: the study's seed, a learner, a repeat, a fold."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:4], "big")


def learner_class(name: str) -> type:
    """The class of a candidate's learner."""
    if name in _BASELINES:
        return getattr(importlib.import_module(_BASELINES[name]), name)
    return catalog.find(name).load()


def build_pipeline(candidate: Candidate, settings: Mapping[str, Any], seed: int) -> Pipeline:
    """The pipeline of a candidate with these settings."""
    *before, learner = candidate.steps
    steps: list[tuple[str, Any]] = [(name, catalog.find(name).load()()) for name in before]
    last = learner_class(learner)(**{**candidate.settings, **settings})
    for _, step in [*steps, (learner, last)]:
        if "random_state" in step.get_params() and step.random_state is None:
            step.set_params(random_state=seed)
    return Pipeline([*steps, (learner, last)])


def row_predictions(model: Any, rows: Rows) -> np.ndarray:
    """Posteriors or values of every row; raises ArithmeticError where they are not numbers.

    A classifier without posteriors gives probability 1 to the class that it predicts.
    """
    if hasattr(model, "predict_proba"):
        predicted = np.asarray(model.predict_proba(rows), dtype=np.float64)
    elif is_classifier(model):
        predicted = (np.asarray(model.predict(rows))[:, None] == model.classes_).astype(np.float64)
    else:
        predicted = np.asarray(model.predict(rows), dtype=np.float64)
    if not np.isfinite(predicted).all():
        row = int(np.flatnonzero(~np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1))[0])
        raise ArithmeticError(f"gave a prediction that is not a number, first for test row {row}")
    if predicted.ndim == 2 and np.abs(predicted.sum(axis=1) - 1.0).max(initial=0.0) > 1e-6:
        raise ArithmeticError("gave posteriors that do not sum to 1")
    return predicted


def choose_settings(
    candidate: Candidate, rows: Rows, rule: LossRule, n_folds: int, seed: int
) -> tuple[dict[str, Any], int]:
    """The settings with the smallest inner loss (of equals the first), and how many settings failed.

    Settings that fail on some inner fold are out; if all do, the error of the last is raised.
    """
    if len(candidate.search) < 2:
        return dict(candidate.search[0]) if candidate.search else {}, 0
    splits = list(_inner_splits(rows, n_folds, seed, rule.n_classes is not None))
    best, least, failed, error = None, np.inf, 0, None
    for settings in candidate.search:
        try:
            loss = _inner_loss(candidate, settings, splits, rule, seed)
        except Cancelled:
            raise
        except Exception as problem:  # a learner may fail in any way at some of its settings
            failed, error = failed + 1, problem
            continue
        if loss < least:
            best, least = settings, loss
    if best is None:
        assert error is not None
        raise error
    return dict(best), failed


def _inner_splits(rows: Rows, n_folds: int, seed: int, classes: bool) -> Iterator[tuple[Rows, Rows]]:
    y = rows.coded_y
    assert y is not None
    folds = StratifiedFolds(min(n_folds, len(y)), stratify=classes, random_state=seed)
    for train, test in folds.split(y, y):
        yield rows.take(train), rows.take(test)


def _inner_loss(
    candidate: Candidate, settings: Mapping[str, Any], splits: list, rule: LossRule, seed: int
) -> float:
    total, weight = 0.0, 0.0
    for train, test in splits:
        model = build_pipeline(candidate, settings, seed).fit(train)
        y, w = test.coded_y, test.sample_weight
        losses = rule.inner_losses(y, row_predictions(model, test))
        w = np.ones(len(y)) if w is None else w
        total, weight = total + float(losses @ w), weight + float(w.sum())
    return total / weight if weight else np.inf
