"""Fit on some rows, judge on others: what all resampling here is made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import has_fit_parameter

from lyceum.errors import DataError, SourceError
from lyceum.evaluate._common import named_choice
from lyceum.evaluate._label_codes import weights_of

__all__ = ["Run", "Task"]

RowLoss = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _wrong(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y != predicted).astype(np.float64)


def _squared(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y - predicted).astype(np.float64) ** 2


def _absolute(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.abs((y - predicted).astype(np.float64))


LOSSES: dict[str, RowLoss] = {"error": _wrong, "squared": _squared, "absolute": _absolute}


def mean_loss(losses: np.ndarray, w: np.ndarray | None) -> float:
    """The weighted mean; 0 when there is no weight."""
    if w is None:
        return float(losses.mean()) if len(losses) else 0.0
    return float(losses @ w / w.sum()) if w.sum() else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One fitted model judged on its test rows."""

    test: np.ndarray
    n_train: int
    predicted: np.ndarray
    proba: np.ndarray | None
    losses: np.ndarray  # of every test row
    loss: float
    train_loss: float
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """An estimator, its table, and the loss to judge by."""

    estimator: Any
    X: Any
    y: np.ndarray
    w: np.ndarray | None
    loss: RowLoss
    loss_name: str

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, loss: Any = "auto", sample_weight: Any = None) -> Task:
        """Check the table; "auto" is the error rate for classifiers and squared error for all others."""
        if not hasattr(estimator, "fit"):
            raise TypeError(f"{estimator!r} is not an estimator: give an object with fit and predict")
        if hasattr(X, "reduce"):
            raise SourceError(
                "resampling picks rows by their number, which scanned rows cannot give: read the table into "
                "memory first, e.g. lyceum.data.read_table(path)"
            )
        target = np.asarray(y)
        X, target = indexable(X, target)
        w = weights_of(sample_weight, len(target))
        if w is not None and not has_fit_parameter(estimator, "sample_weight"):
            raise DataError(
                f"{type(estimator).__name__} takes no sample_weight: leave the weights out, or repeat rows"
            )
        if callable(loss):
            return cls(estimator, X, target, w, loss, getattr(loss, "__name__", "loss"))
        if loss == "auto":
            loss = "error" if is_classifier(estimator) else "squared"
        return cls(estimator, X, target, w, named_choice("loss", loss, LOSSES), loss)

    def fit(self, rows: np.ndarray, settings: dict[str, Any] | None = None) -> Any:
        """A fresh copy of the estimator, with other settings if asked, fitted on these rows."""
        model = clone(self.estimator).set_params(**(settings or {}))
        weights = {} if self.w is None else {"sample_weight": self.w[rows]}
        return model.fit(_safe_indexing(self.X, rows), self.y[rows], **weights)

    def judge(self, model: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictions and losses of these rows."""
        predicted = np.asarray(model.predict(_safe_indexing(self.X, rows)))
        return predicted, np.asarray(self.loss(self.y[rows], predicted), dtype=np.float64)

    def mean(self, losses: np.ndarray, rows: np.ndarray) -> float:
        return mean_loss(losses, None if self.w is None else self.w[rows])

    def loss_on(self, model: Any, rows: np.ndarray) -> float:
        return self.mean(self.judge(model, rows)[1], rows)

    def run(
        self,
        train: np.ndarray,
        test: np.ndarray,
        classes: np.ndarray | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Run:
        """Fit on `train`, judge on `test`; posteriors too, in the order of `classes`, when they are given."""
        start = time.perf_counter()
        model = self.fit(train, settings)
        fitted = time.perf_counter()
        predicted, losses = self.judge(model, test)
        proba = None if classes is None else posteriors(model, _safe_indexing(self.X, test), classes)
        done = time.perf_counter()
        times = (fitted - start, done - fitted)
        train_loss = self.loss_on(model, train)
        return Run(test, len(train), predicted, proba, losses, self.mean(losses, test), train_loss, *times)


def posteriors(model: Any, X: Any, classes: np.ndarray) -> np.ndarray | None:
    """Posteriors with a column for every class, 0 for those never seen; None when there are none."""
    if not hasattr(model, "predict_proba"):
        return None
    proba = np.asarray(model.predict_proba(X))
    own = list(np.asarray(model.classes_).tolist())
    full = np.zeros((len(proba), len(classes)))
    full[:, [classes.tolist().index(label) for label in own]] = proba
    return full


def class_labels(task: Task) -> np.ndarray | None:
    """The classes of the target when the estimator is a classifier."""
    return np.unique(task.y) if is_classifier(task.estimator) else None
