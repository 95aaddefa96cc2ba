"""A target of several columns: read apart from the cells, and answered column by column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from lyceum._core.base.posterior_classifier import PosteriorClassifier
from lyceum._core.data import Block, Inputs, Rows, class_codes, labels
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, SettingError


@dataclass(frozen=True, slots=True)
class Outputs:
    """Several targets of every row: class codes (n, Q) with the classes of each, or numbers."""

    values: np.ndarray
    classes: list[np.ndarray] | None

    @property
    def n_classes(self) -> tuple[int, ...]:
        """The number of classes of every output; none for numbers."""
        return tuple(len(classes) for classes in self.classes or ())


def several_outputs(learner: Any, y: Target) -> Outputs | None:
    """The columns of a target that has more than one; None of any other.

    >>> from lyceum.trees import DecisionTreeClassifier
    >>> outputs = several_outputs(DecisionTreeClassifier(), [[1, "a"], [2, "b"], [1, "b"]])
    >>> outputs.values.tolist(), [classes.tolist() for classes in outputs.classes]
    ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [['1', '2'], ['a', 'b']])
    """
    if y is None or isinstance(y, Rows) or getattr(y, "ndim", 2) != 2:
        return None
    if sparse.issparse(y):
        raise DataError(
            "sparse multilabel-indicator for y is not supported: give y.toarray()"
        )
    if not hasattr(y, "shape") and not isinstance(next(iter(y), None), list | tuple):
        return None
    cells = np.asarray(y)
    if cells.ndim != 2 or cells.shape[1] < 2:
        return None
    if not is_classifier(learner):
        numbers = np.ascontiguousarray(cells, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise DataError("Input y contains NaN or infinity: drop such rows first")
        return Outputs(numbers, None)
    coded = [class_codes(labels(column.copy(), "y")) for column in cells.T]
    codes = np.column_stack([codes for _, codes in coded])
    values = np.ascontiguousarray(codes, dtype=np.float64)
    return Outputs(values, [classes for classes, _ in coded])


class _CellsAlone(Inputs):
    """The way in without a target, which is read apart."""

    task = None  # type: ignore[assignment]


def rows_of_outputs(
    learner: Any, X: Data, outputs: Outputs, sample_weight: Weights
) -> Rows:
    """The rows of `fit` for several outputs; sets classes and the number of outputs."""
    rows = _CellsAlone(learner).for_fit(X, None, sample_weight)
    if rows.n_rows is not None and rows.n_rows != len(outputs.values):
        raise DataError(
            "Found input variables with inconsistent numbers of samples:"
            f" {[rows.n_rows, len(outputs.values)]}"
        )
    learner.n_outputs_ = outputs.values.shape[1]
    if outputs.classes is not None:
        learner.classes_ = outputs.classes
    return learner._prepare_rows(rows)


def check_one_output(learner: Any, action: str) -> None:
    """Raise SettingError where a fitted learner has several outputs and `action` is for one."""
    n_outputs = getattr(learner, "n_outputs_", 1)
    if n_outputs > 1:
        raise SettingError(
            f"{action} of a {type(learner).__name__} is for one target, and it was fitted on"
            f" {n_outputs}: fit one learner per column of y"
        )


class OutputsClassifier(PosteriorClassifier):
    """Posteriors of one target, or of several: lists and columns as scikit-learn has them."""

    n_outputs_: int
    classes_: Any

    @property
    def n_classes_(self) -> Any:  # type: ignore[override]
        """The number of classes; of several outputs, of each."""
        if self.n_outputs_ > 1:
            return [len(classes) for classes in self.classes_]
        return len(self.classes_)

    def predict_proba(self, X: Data) -> Any:
        """The posterior probabilities, one column per class in the order of `classes_`; rows sum to
        1. Of several outputs, a list with an array for each."""
        if getattr(self, "n_outputs_", 1) == 1:
            return super().predict_proba(X)
        return self._by_output(self._apply(self._posteriors, X))

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of the posterior probabilities; of several outputs, a list."""
        if getattr(self, "n_outputs_", 1) == 1:
            return super().predict_log_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(proba) for proba in self.predict_proba(X)]

    def _by_output(self, proba: np.ndarray) -> list[np.ndarray]:
        """Posteriors of all outputs side by side as one array per output."""
        ends = np.cumsum(self.n_classes_)[:-1]
        return np.split(proba, ends, axis=1)

    def _most_probable_classes(self, block: Block) -> np.ndarray:
        """The most probable class of every output, (n, Q)."""
        parts = zip(self.classes_, self._by_output(self._posteriors(block)))
        columns = [classes[proba.argmax(axis=1)] for classes, proba in parts]
        return np.column_stack(columns)

    def _predict_classes(self, X: Data, one_output: Any) -> Any:
        """Predictions of `one_output`, a function of a block, or of all outputs."""
        if getattr(self, "n_outputs_", 1) == 1:
            return self._apply(partial(one_output), X)
        return self._apply(self._most_probable_classes, X)
