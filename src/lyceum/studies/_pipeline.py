"""A candidate as a scikit-learn pipeline over rows, its settings chosen by inner folds, and its size."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from lyceum import catalog
from lyceum.apply import explain_steps
from lyceum.data import Rows
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.evaluate import StratifiedFolds
from lyceum.report import Explanation
from lyceum.studies._results import Candidate

__all__ = ["Judge", "build", "choose_settings", "explained", "last_step", "row_predictions",
           "seed_of"]  # fmt: skip

_BASELINES = {"PriorClassifier": "lyceum.studies._baseline", "MeanRegressor": "lyceum.studies._baseline"}


def seed_of(*parts: Any) -> int:
    """A seed from a hash of its parts: the study's seed, a learner, a repeat, a fold."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:4], "big")


def learner_class(name: str) -> type:
    """The class of a candidate's learner."""
    if name in _BASELINES:
        return getattr(importlib.import_module(_BASELINES[name]), name)
    return catalog.find(name).load()


def build(candidate: Candidate, settings: Mapping[str, Any], seed: int) -> Pipeline:
    """The pipeline of a candidate with these settings."""
    *before, learner = candidate.steps
    steps: list[tuple[str, Any]] = [(name, catalog.find(name).load()()) for name in before]
    last = learner_class(learner)(**{**candidate.settings, **settings})
    for _, step in [*steps, (learner, last)]:
        if "random_state" in step.get_params() and step.random_state is None:
            step.set_params(random_state=seed)
    return Pipeline([*steps, (learner, last)])


def row_predictions(model: Any, rows: Rows) -> np.ndarray:
    """Posteriors, or values; raises where they are none.

    A classifier without posteriors gives probability 1 to what it predicts.
    """
    if hasattr(model, "predict_proba"):
        predicted = np.asarray(model.predict_proba(rows), dtype=np.float64)
    elif is_classifier(model):
        predicted = (np.asarray(model.predict(rows))[:, None] == model.classes_).astype(np.float64)
    else:
        predicted = np.asarray(model.predict(rows), dtype=np.float64)
    if not np.isfinite(predicted).all():
        row = int(np.flatnonzero(~np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1))[0])
        raise ArithmeticError(f"gave a prediction that is no number, first for test row {row}")
    if predicted.ndim == 2 and np.abs(predicted.sum(axis=1) - 1.0).max(initial=0.0) > 1e-6:
        raise ArithmeticError("gave posteriors that do not sum to 1")
    return predicted


@dataclass(frozen=True, eq=False)
class Judge:
    """The study's own loss of a row, and what the inner folds choose settings by.

    Classification: the cost of the minimum-risk decision, 0/1 without a loss matrix; settings are chosen by
    the same, or without loss matrix and doubt by log loss, which sees more than right and wrong. Regression:
    squared error for both.
    """

    n_classes: int | None  # None for regression
    loss: LossMatrix | None = None
    doubt: float | None = None

    def decided(self, predicted: np.ndarray) -> np.ndarray:
        """The action of every row, -1 for doubt."""
        return minimum_risk(predicted, self.loss, self.doubt).index

    def paid(self, y: np.ndarray, decided: np.ndarray) -> np.ndarray:
        """What every decision costs."""
        if self.loss is None:
            paid = (y != decided).astype(np.float64)
        else:
            paid = self.loss.values[y, decided]
        return paid if self.doubt is None else np.where(decided < 0, self.doubt, paid)

    def losses(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The loss of every row."""
        if self.n_classes is None:
            return (y - predicted) ** 2
        return self.paid(y, self.decided(predicted))

    def inner_losses(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """What settings are chosen by, for every row."""
        if self.n_classes is None or self.loss is not None or self.doubt is not None:
            return self.losses(y, predicted)
        chosen = predicted[np.arange(len(y)), y]
        return -np.log(np.maximum(chosen, np.finfo(np.float64).eps))

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest loss of a row."""
        if self.n_classes is None:
            return 0.0, np.inf
        costs = [0.0, 1.0] if self.loss is None else [self.loss.values.min(), self.loss.values.max()]
        costs += [] if self.doubt is None else [self.doubt]
        return float(min(costs)), float(max(costs))


def weighted_mean(values: np.ndarray, w: np.ndarray | None) -> float:
    """The mean of rows of weight w."""
    return float(values.mean()) if w is None else float(values @ w / w.sum())


def choose_settings(
    candidate: Candidate, rows: Rows, judge: Judge, n_folds: int, seed: int
) -> tuple[dict[str, Any], int]:
    """The settings of least inner loss, the first of equals, and how many of them failed.

    Settings that fail on some inner fold are out; if all do, the error of the last is raised.
    """
    if len(candidate.search) < 2:
        return dict(candidate.search[0]) if candidate.search else {}, 0
    splits = list(_inner_splits(rows, n_folds, seed, judge.n_classes is not None))
    best, least, failed, error = None, np.inf, 0, None
    for settings in candidate.search:
        try:
            loss = _inner_loss(candidate, settings, splits, judge, seed)
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
    y = rows.source.y  # type: ignore[attr-defined]
    folds = StratifiedFolds(min(n_folds, len(y)), stratify=classes, random_state=seed)
    for train, test in folds.split(y, y):
        yield rows.take(train), rows.take(test)


def _inner_loss(
    candidate: Candidate, settings: Mapping[str, Any], splits: list, judge: Judge, seed: int
) -> float:
    total, weight = 0.0, 0.0
    for train, test in splits:
        model = build(candidate, settings, seed).fit(train)
        y, w = test.source.y, test.source.w
        losses = judge.inner_losses(y, row_predictions(model, test))
        w = np.ones(len(y)) if w is None else w
        total, weight = total + float(losses @ w), weight + float(w.sum())
    return total / weight if weight else np.inf


# -- what a fitted pipeline holds ----------------------------------------------------------------------------


def last_step(model: Any) -> Any:
    """The learner itself, out of the pipeline and the decisions around it."""
    model = getattr(model, "estimator_", model)
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def explained(model: Any, rows: Rows) -> Explanation | None:
    """Why the learner predicts so for these rows, or None where it does not say."""
    learner = last_step(model)
    if not hasattr(learner, "explain"):
        return None
    pipeline = getattr(model, "estimator_", model)
    return explain_steps([step for _, step in pipeline.steps], rows)
