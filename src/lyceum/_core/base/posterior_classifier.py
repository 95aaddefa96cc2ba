"""Predictions from log posteriors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base.score import Classifier
from lyceum._core.data import Block, CheckCells
from lyceum._core.native import native
from lyceum._core.types import Data, Operation
from lyceum.errors import cannot_export, undefined

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
        check_is_fitted(self)
        rule = self._linear_rule()
        if rule is None or not self._design.is_plain:
            return self._apply(self._most_probable, X)
        rows = self.rows_to_predict(X, checked=False)
        return rows.collect(partial(self._most_probable_by_rule, *rule))

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
        codes = np.empty(len(block), dtype=np.int64)
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
