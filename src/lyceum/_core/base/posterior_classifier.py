"""Predictions from log posteriors, of one target or of several columns of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from lyceum._core.base.score import Classifier
from lyceum._core.data import Block, CheckCells, Inputs, Rows, class_codes, labels
from lyceum._core.native import native
from lyceum._core.types import Data, Operation, Weights
from lyceum.errors import DataError, SettingError, cannot_export, undefined

_ROUNDING = 1e-13  # how far from 1 a sum of posteriors may be by rounding alone


class PosteriorClassifier(Classifier):
    """Predictions from posteriors: a subclass defines `_log_joint(block)` or `_posteriors(block)`,
    (n, K).

    `_log_joint` gives log posteriors up to a constant per row; `_posteriors` the posteriors
    themselves, for methods that have shares of rows or votes and need no logarithms. A subclass
    whose log joint is linear in the cells may give its coefficients by `_linear_rule()`, for faster
    predictions.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        K, the number of classes.

    See Also
    --------
    OnePassClassifier : With a `fit` of one pass.
    Classifier : A classifier without posteriors.

    Examples
    --------
    A classifier that knows the class shares alone:

    >>> import numpy as np
    >>> from lyceum.base import Learner, PosteriorClassifier
    >>> class SharesOnly(PosteriorClassifier, Learner):
    ...     def fit(self, X, y=None, sample_weight=None):
    ...         rows = self._rows(X, y, sample_weight)
    ...         self.shares_ = np.bincount(rows.coded_y) / len(rows)
    ...         return self
    ...     def _log_joint(self, block):
    ...         return np.tile(np.log(self.shares_), (len(block), 1))
    >>> model = SharesOnly().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "b"])
    >>> model.predict([[9.0]]).tolist(), model.predict_proba([[9.0]]).round(12).tolist()
    (['b'], [[0.25, 0.75]])
    """

    classes_: np.ndarray

    def _log_joint(self, block: Block) -> np.ndarray:
        """ln P(k | x) up to a constant per row."""
        if not self._has_posteriors:
            raise undefined(self, "_log_joint or _posteriors")
        with np.errstate(divide="ignore"):
            return np.log(self._posteriors(block))

    def _posteriors(self, block: Block) -> np.ndarray:
        """P(k | x)."""
        joint = self._log_joint(block)
        native.posterior(joint)
        return joint

    @property
    def _has_posteriors(self) -> bool:
        """Whether the subclass gives posteriors rather than a log joint."""
        return type(self)._posteriors is not PosteriorClassifier._posteriors

    def _linear_rule(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Coefficients (K, d) and intercepts (K,) of a log joint that is linear in the cells, if it
        is."""
        return None

    def _operations(self) -> list[Operation]:
        """From the prepared cells of a row to posteriors, for exported models."""
        rule = self._linear_rule()
        if rule is None:
            raise cannot_export(self)
        coef, intercept = rule
        constants = {"coef": coef.tolist(), "intercept": intercept.tolist()}
        return [("linear", constants), ("softmax", {})]

    def predict(self, X: Data) -> Any:
        """The class of largest posterior: minimum 0/1 risk."""
        self._check_fitted()
        rule = self._linear_rule()
        if rule is None or not self._design.is_plain:
            return self._apply(self._most_probable, X)
        rows = self.rows_to_predict(X, checked=False)
        coef, intercept = (np.ascontiguousarray(part, np.float64) for part in rule)
        return rows.collect(partial(self._most_probable_by_rule, coef, intercept))

    def predict_proba(self, X: Data) -> Any:
        """The posterior probabilities, one column per class in the order of `classes_`; rows sum to
        1."""
        return self._apply(self._posteriors, X)

    def log_joint(self, X: Data) -> Any:
        """ln P(k) p(x | k), up to a term that all classes share: what predictions come from, (n,
        K)."""
        return self._apply(self._log_joint, X)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of the posterior probabilities."""
        return self._apply(self._log_posteriors, X)

    def _most_probable(self, block: Block) -> np.ndarray:
        if self._has_posteriors:
            scores = np.ascontiguousarray(self._posteriors(block))
        else:
            scores = self._log_joint(block)
        codes = np.empty(len(scores), dtype=np.int64)
        native.row_argmax(scores, codes)
        return self.classes_[codes]

    def _most_probable_by_rule(
        self, coef: np.ndarray, intercept: np.ndarray, block: Block
    ) -> np.ndarray:
        """The class of the largest linear score, cells checked in the same read."""
        codes = np.empty(len(block), dtype=np.int64)
        is_dense = isinstance(block.X, np.ndarray) and block.X.dtype.kind == "f"
        if is_dense and native.linear_argmax(block.X, coef, intercept, codes):
            return self.classes_[codes]
        # some cell is missing or infinite, which the check refuses in words
        check = CheckCells(type(self).__name__)
        return self._most_probable(check(block))

    def _log_posteriors(self, block: Block) -> np.ndarray:
        joint = self._log_joint(block)
        if not self._has_posteriors:
            native.log_posterior(joint)
        return joint


def normalize_posteriors(proba: Any) -> Any:
    """Rows of non-negative numbers divided by their sums: posteriors in [0, 1], even where sums
    round up.

    A row that sums to 1 but for rounding is left as it is, only cut at 1. Arrays of NumPy and of
    Dask are taken; rows of NaN stay NaN.

    >>> proba = np.array([[0.01, 0.0]]).repeat(100, axis=0).sum(axis=0, keepdims=True)
    >>> float(proba[0, 0]) > 1.0, normalize_posteriors(proba).tolist()
    (True, [[1.0, 0.0]])
    """
    total = proba @ np.ones(proba.shape[1])
    if isinstance(total, np.ndarray) and len(total):
        # the extremes first: most posteriors sum to 1 already, and need not be copied
        sums_to_one = total.max() <= 1.0 + _ROUNDING and total.min() >= 1.0 - _ROUNDING
        if sums_to_one and proba.max() <= 1.0:
            return proba
        if sums_to_one:
            return np.minimum(proba, 1.0)
    total = np.where(np.abs(total - 1.0) <= _ROUNDING, 1.0, total)
    return np.minimum(proba / total[:, None], 1.0)


# -- a target of several columns: read apart from the cells, answered column by column ------


@dataclass(frozen=True, slots=True)
class Outputs:
    """Several targets of every row: class codes (n, Q) with the classes of each, or numbers."""

    values: np.ndarray
    classes: list[np.ndarray] | None

    @property
    def n_classes(self) -> tuple[int, ...]:
        """The number of classes of every output; none for numbers."""
        return tuple(len(classes) for classes in self.classes or ())


def several_outputs(learner: Any, y: Any) -> Outputs | None:
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
    if isinstance(y, list | tuple):
        if not y or not isinstance(y[0], list | tuple | np.ndarray):
            return None
    elif not hasattr(y, "shape"):
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

    task = None


def rows_of_outputs(
    learner: Any, X: Data, outputs: Outputs, sample_weight: Weights
) -> Rows:
    """The rows of `fit` for several outputs; sets classes and the number of outputs."""
    rows = rows_apart(learner, X, len(outputs.values), sample_weight)
    learner.n_outputs_ = outputs.values.shape[1]
    if outputs.classes is not None:
        learner.classes_ = outputs.classes
    return rows


def rows_apart(
    learner: Any,
    X: Data,
    n_targets: int,
    sample_weight: Weights,
    more: bool = False,
) -> Rows:
    """The rows of `fit`, or with `more` of `partial_fit`, without the targets of their rows, which
    were read apart."""
    inputs = _CellsAlone(learner)
    if more:
        rows = inputs.for_partial_fit(X, None, sample_weight)
    else:
        rows = inputs.for_fit(X, None, sample_weight)
    n_rows = rows.n_rows
    if n_rows is not None and n_rows != n_targets:
        raise DataError(
            "Found input variables with inconsistent numbers of samples:"
            f" {[n_rows, n_targets]}"
        )
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
    def n_classes_(self) -> Any:
        """The number of classes; of several outputs, of each."""
        if getattr(self, "n_outputs_", 1) > 1:
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
            return self._apply(one_output, X)
        return self._apply(self._most_probable_classes, X)
