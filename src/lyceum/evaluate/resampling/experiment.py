"""Fit on some rows and measure the loss on others: the step that all resampling repeats."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from lyceum import progress
from lyceum._core.base import takes_rows, target_of
from lyceum._core.data import Rows, other_target, refuse_beside_rows
from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator, Loss, Target, Weights
from lyceum.errors import DataError, SettingError, SourceError
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.label_codes import weights_of

RowLoss = Callable[[np.ndarray, np.ndarray], np.ndarray]
Predict = Callable[[Any, Any], Any]


def _mistakes(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y != predicted).astype(np.float64)


def _squared_errors(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y - predicted).astype(np.float64) ** 2


def _absolute_errors(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.abs((y - predicted).astype(np.float64))


LOSSES: dict[str, RowLoss] = {
    "error": _mistakes,
    "squared": _squared_errors,
    "absolute": _absolute_errors,
}


@dataclass(frozen=True, slots=True, eq=False)
class SplitResult:
    """One model fitted on the training rows of a split and measured on its test rows."""

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
class Subset:
    """Some rows of a table: their indices, the rows themselves, and how to put results back in
    order."""

    indices: np.ndarray
    X: Any
    order: np.ndarray | None = None  # None: the rows are in the order of their indices

    def in_order(self, results: np.ndarray) -> np.ndarray:
        """Results of the rows, in the order of their indices."""
        if self.order is None:
            return results
        return results[self.order]


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """An estimator, its table, and the loss to measure.

    The table is an array, a frame, or scanned rows; rows of files stay there and are read again for
    every fit and every prediction.
    """

    estimator: Any
    X: Any
    y: np.ndarray
    w: np.ndarray | None
    loss: RowLoss
    loss_name: str
    predict: Predict | None = None
    # class codes, where the loss takes them instead of labels
    codes: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        loss: Any = "auto",
        sample_weight: Any = None,
        predict: Predict | None = None,
        coded_y: bool = False,
    ) -> Experiment:
        """Check the table; "auto" is the error rate for classifiers and squared error for all
        others."""
        if not hasattr(estimator, "fit"):
            raise TypeError(
                f"{estimator!r} is not an estimator: give an object with fit and predict"
            )
        check = _from_rows if isinstance(X, Rows) else _table
        X, target, w = check(estimator, X, y, sample_weight)
        codes = None
        if coded_y:
            codes = _class_codes(estimator, X, target, loss, predict)
        if loss == "auto":
            loss = "error" if is_classifier(estimator) else "squared"
        if loss in ("squared", "absolute") and target.dtype.kind not in "biuf":
            word = target[:1].tolist()[0]
            raise SettingError(
                f"loss={loss!r} is of numbers, and the target holds {word!r}: give loss='error'"
            )
        if callable(loss):
            name = getattr(loss, "__name__", "loss")
        else:
            name = loss
            loss = named_choice("loss", loss, LOSSES)
        return cls(estimator, X, target, w, loss, name, predict, codes)

    @property
    def target(self) -> np.ndarray:
        """What the loss compares predictions with: class codes where they were asked for, else
        y."""
        if self.codes is None:
            return self.y
        return self.codes

    @property
    def classes(self) -> np.ndarray | None:
        """The classes of the target when the estimator is a classifier, in the order of their
        codes."""
        if not is_classifier(self.estimator):
            return None
        if isinstance(self.X, Rows) and self.X.schema.target:
            categories = self.X.schema.target.categories
            if categories is not None:
                return np.asarray(categories)
        return np.unique(self.y)

    @property
    def splitter_input(self) -> Any:
        """The table that a splitter gets: row numbers in place of scanned rows."""
        if isinstance(self.X, Rows):
            return np.arange(len(self.y))[:, None]
        return self.X

    def subset(self, indices: np.ndarray) -> Subset:
        """The rows at these indices; rows of files are read in ascending order."""
        if not isinstance(self.X, Rows):
            return Subset(indices, _safe_indexing(self.X, indices))
        if self.X.in_memory or (np.diff(indices) >= 0).all():
            return Subset(indices, self.X.take(indices))
        # a file is read from its start to its end; the inverse permutation restores the order
        order = np.argsort(indices, kind="stable")
        inverse = np.argsort(order, kind="stable")
        return Subset(indices, self.X.take(indices[order]), inverse)

    def fit(self, rows: Subset, settings: dict[str, Any] | None = None) -> Any:
        """A fresh copy of the estimator with these settings, fitted on the rows."""
        model = clone(self.estimator).set_params(**(settings or {}))
        if isinstance(self.X, Rows):
            return model.fit(rows.X)
        y = self.y[rows.indices]
        if self.w is None:
            return model.fit(rows.X, y)
        return model.fit(rows.X, y, sample_weight=self.w[rows.indices])

    def predictions(self, model: Estimator, rows: Subset) -> np.ndarray:
        """The predictions for the rows, in the order of their indices."""
        if self.predict is None:
            predicted = model.predict(rows.X)
        else:
            predicted = self.predict(model, rows.X)
        return rows.in_order(np.asarray(predicted))

    def posteriors(
        self, model: Estimator, rows: Subset, classes: np.ndarray
    ) -> np.ndarray | None:
        """Posteriors with one column per class, 0 for classes not learned; None if the model has
        none."""
        if not hasattr(model, "predict_proba"):
            return None
        proba = rows.in_order(np.asarray(model.predict_proba(rows.X)))
        labels = classes.tolist()
        learned = np.asarray(model.classes_).tolist()
        if learned == labels:
            return proba
        # a training part may lack a class: its posterior is 0
        full = np.zeros((len(proba), len(labels)))
        full[:, [labels.index(label) for label in learned]] = proba
        return full

    def losses(self, predicted: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """The loss of every row at `indices`."""
        losses = self.loss(self.target[indices], predicted)
        values = np.asarray(losses, dtype=np.float64)
        if values.shape != indices.shape:
            raise SettingError(
                f"the loss function gave the shape {values.shape} for"
                f" {show_count(len(indices), 'row')}: it must give one loss per row, not their mean"
            )
        return values

    def mean(self, losses: np.ndarray, indices: np.ndarray) -> float:
        """The weighted mean of the losses of the rows at `indices`; 0 when the weights sum to 0."""
        if self.w is None:
            if len(losses):
                return float(losses.mean())
            return 0.0
        w = self.w[indices]
        if w.sum():
            return float(losses @ w / w.sum())
        return 0.0

    def run(
        self,
        train: np.ndarray,
        test: np.ndarray,
        classes: np.ndarray | None = None,
        settings: dict[str, Any] | None = None,
    ) -> SplitResult:
        """Fit on `train` and measure on `test`; with `classes`, posteriors too, in their order."""
        # reading the rows of a file is part of the time of a fit
        start = time.perf_counter()
        train_rows = self.subset(train)
        model = self.fit(train_rows, settings)
        fitted = time.perf_counter()
        test_rows = self.subset(test)
        predicted = self.predictions(model, test_rows)
        proba = None
        if classes is not None:
            proba = self.posteriors(model, test_rows, classes)
        finished = time.perf_counter()
        losses = self.losses(predicted, test)
        train_losses = self.losses(self.predictions(model, train_rows), train)
        return SplitResult(
            test=test,
            n_train=len(train),
            predicted=predicted,
            proba=proba,
            losses=losses,
            loss=self.mean(losses, test),
            train_loss=self.mean(train_losses, train),
            fit_seconds=fitted - start,
            predict_seconds=finished - fitted,
        )


def run_all(
    work: Callable[..., Any],
    jobs: Iterable[tuple],
    n_jobs: int | None,
    stage: str,
) -> list[Any]:
    """The results of `work(*job)` for all jobs, in order; reports how many are done."""
    jobs = list(jobs)
    results: list[Any] = []
    run = Parallel(n_jobs=n_jobs, return_as="generator")
    for result in run(delayed(work)(*job) for job in jobs):
        results.append(result)
        progress.report(stage, len(results), len(jobs))
    return results


def _table(
    estimator: Estimator, X: Data, y: Target, sample_weight: Weights
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    if y is None:
        raise DataError(
            "give y, the target of every row of X; only scanned rows carry their own"
        )
    # the same number of rows, and rows that can be taken by number
    X, target = indexable(X, np.asarray(y))
    w = weights_of(sample_weight, len(target))
    if w is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise SettingError(
            f"{type(estimator).__name__} takes no sample_weight: leave the weights out, or repeat"
            " rows"
        )
    return X, target, w


def _from_rows(
    estimator: Estimator, rows: Rows, y: Target, sample_weight: Weights
) -> tuple[Rows, np.ndarray, np.ndarray | None]:
    refuse_beside_rows(other_target(rows, y), sample_weight)
    # learners of other libraries may take rows without saying so
    if type(estimator).__module__.startswith("sklearn.") and not takes_rows(estimator):
        raise SourceError(
            f"{_name_with_step(estimator)} of scikit-learn takes no scanned rows: give a frame and"
            " y, or a learner of Lyceum"
        )
    return rows, target_of(rows), rows.sample_weight


def _name_with_step(estimator: Estimator) -> str:
    """The name of an estimator; of a pipeline, with the first step that takes no rows."""
    name = type(estimator).__name__
    for _, step in getattr(estimator, "steps", ()):
        if step not in (None, "passthrough") and not takes_rows(step):
            return f"{name} with {_name_with_step(step)}"
    return name


def _class_codes(
    estimator: Estimator,
    X: Data,
    y: np.ndarray,
    loss: Loss,
    predict: Predict | None,
) -> np.ndarray:
    """The place of every row's class among all classes."""
    if predict is None or not callable(loss) or not is_classifier(estimator):
        raise SettingError(
            "coded_y is for a classifier with a loss and a predict of your own"
        )
    if isinstance(X, Rows):
        codes = X.coded_y
    else:
        codes = None
    if codes is None:
        return np.unique(y, return_inverse=True)[1]
    return codes
