"""Learner: what every method shares, from any source of rows to scikit-learn's contract.

A one-pass method is a subclass of `OnePassLearner` with two methods: `_statistic()`, which says how a block
is summarised, and `_finish(statistic)`, which turns the merged summary into parameters. A method of several
passes writes `fit` over `self._rows(...)` and `rows.reduce(...)`. Either way it runs in memory, from files
and on Dask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._native import native
from lyceum.data import Block, Rows, Schema, Statistic, Step
from lyceum.data._intake import Intake
from lyceum.data._redesign import redesign
from lyceum.data._steps import CheckCells, Design, Recode
from lyceum.errors import SchemaError
from lyceum.report import Summary

__all__ = ["Learner", "OnePassClassifier", "OnePassLearner", "PosteriorClassifier"]


class Learner(BaseEstimator):
    """The base of every method.

    Subclasses say what they take: `_coding` is how categories reach them ("codes" into tables, "one_of_c"
    columns, or "reference" columns without the first category), `_takes_missing` and `_takes_sparse` what
    else they can do.
    """

    _coding: ClassVar[Literal["codes", "one_of_c", "reference"]] = "one_of_c"
    _takes_missing: ClassVar[bool] = False
    _takes_sparse: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    schema_: Schema
    n_features_in_: int

    # -- rows in -------------------------------------------------------------------------------------------

    def _rows(self, X: Any, y: Any = None, sample_weight: Any = None) -> Rows:
        """The rows to fit on; learns the schema."""
        self._validate_params()
        rows = Intake(self).to_fit(X, y, sample_weight)
        return self._prepared(rows)

    def _more_rows(self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> Rows:
        """More rows for `partial_fit`; the schema grows by what is new in them."""
        self._validate_params()
        rows = Intake(self).to_go_on(X, y, sample_weight, classes)
        return self._prepared(rows)

    def _rows_to_predict(self, X: Any, checked: bool = True) -> Rows:
        """Rows coded as those of `fit` were; unless `checked`, the caller looks for gaps and infinities."""
        check_is_fitted(self)
        rows = Intake(self).to_predict(X)
        if checked:
            return self._prepared(rows)
        for step in self._steps():
            rows = rows if isinstance(step, CheckCells) else rows.then(step)
        return rows

    def _prepared(self, rows: Rows) -> Rows:
        for step in self._steps():
            rows = rows.then(step)
        return rows

    def _steps(self) -> list[Step]:
        check = CheckCells(type(self).__name__, self._takes_missing)
        if self._coding == "codes":
            return [Recode(), check]
        return [check, self._design]

    @property
    def _design(self) -> Design:
        return Design(Schema(self.schema_.columns), self._coding == "reference", sparse=self._takes_sparse)

    @property
    def _design_names(self) -> tuple[str, ...]:
        """The names of the columns that the method computes with."""
        return self.schema_.names if self._coding == "codes" else self._design.after.names

    def _apply(self, function: Callable[[Block], np.ndarray], X: Any) -> Any:
        """`function` of every block of X, one result a row (lazy on Dask)."""
        return self._rows_to_predict(X).collect(function)

    # -- what was learned ----------------------------------------------------------------------------------

    def summary(self) -> Summary:
        """What was learned, in the method's own quantities; prints as text, shows as tables in a notebook."""
        check_is_fitted(self)
        return Summary(repr(self), {"columns": self.n_features_in_})

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays that prediction indexes, with their shapes; checked when a model file is loaded."""
        return {}

    # -- tags ----------------------------------------------------------------------------------------------

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.categorical = True
        return tags


class OnePassLearner(Learner):
    """A method whose parameters follow from one mergeable statistic, kept as `statistic_`."""

    statistic_: Any

    def _statistic(self) -> Callable[[Block], Statistic]:
        """How a block of rows is summarised; must be picklable."""
        raise TypeError(f"{type(self).__name__} does not define _statistic")

    def _finish(self, statistic: Any) -> None:
        """Set the fitted attributes from the merged statistic."""
        raise TypeError(f"{type(self).__name__} does not define _finish")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn from all rows of X in one pass.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        self.statistic_ = rows.reduce(self._statistic())
        self._finish(self.statistic_)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn from more rows: the result is that of one `fit` on all rows seen."""
        return self._partial_fit(X, y, sample_weight)

    def _partial_fit(self, *data: Any):
        """Learn from more rows, or, if they cannot be learned from, stay as it was."""
        before = dict(self.__dict__)
        names = self._design_names if "statistic_" in before else None
        try:
            rows = self._more_rows(*data)
            if names is not None and names != self._design_names:
                self._grow(before["schema_"])
            return self._go_on(rows)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _grow(self, known: Schema) -> None:
        """Bring the statistic to the design columns of categories that are new."""
        if not hasattr(self.statistic_, "mapped"):
            column = next(new for old, new in zip(known, self.schema_) if not old.same_as(new))
            raise SchemaError(
                f"column {column.name!r} has new categories, which {type(self).__name__} cannot add: "
                "name all categories from the start, e.g. by a category type, or fit on all rows at once"
            )
        self.statistic_ = self.statistic_.mapped(*redesign(known, self._design))

    def _go_on(self, rows: Rows):
        more = rows.reduce(self._statistic())
        self.statistic_ = self.statistic_.merge(more) if hasattr(self, "statistic_") else more
        self._finish(self.statistic_)
        return self


class PosteriorClassifier(ClassifierMixin):
    """Predictions from an unnormalised log posterior: a subclass defines `_log_joint(block)`, (n, K)."""

    classes_: np.ndarray

    def _log_joint(self, block: Block) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} does not define _log_joint")

    def _linear_rule(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Coefficients (K, d) and intercepts (K,) of a log joint that is linear in the cells, if it is."""
        return None

    def predict(self, X: Any) -> Any:
        """The class of largest posterior: minimum 0/1 risk."""
        check_is_fitted(self)
        rule = self._linear_rule()
        if rule is None or not self._design.is_plain:
            return self._apply(partial(_most_probable, self), X)
        check = CheckCells(type(self).__name__)
        return self._rows_to_predict(X, checked=False).collect(partial(_largest, self, *rule, check))

    def predict_proba(self, X: Any) -> Any:
        """The posterior probabilities, a column a class in the order of `classes_`; rows sum to 1."""
        return self._apply(partial(_posterior, self), X)

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the posterior probabilities."""
        return self._apply(partial(_log_posterior, self), X)


class OnePassClassifier(PosteriorClassifier, OnePassLearner):
    """A classifier of one pass; `partial_fit` may be told of classes before their first row."""

    # scikit-learn puts the classes before the weights
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None):  # type: ignore[override]
        """Learn from more rows: the result is that of one `fit` on all rows seen.

        New classes may come at any time; `classes` names those that will, so that they are in `classes_` at
        once.
        """
        return self._partial_fit(X, y, sample_weight, classes)


def normalize_posteriors(proba: Any) -> Any:
    """Rows of non-negative numbers divided by their sums: posteriors in [0, 1], even where sums round up.

    No rounded sum of non-negative numbers is below one of them, so that no quotient exceeds 1. Arrays of
    NumPy and of Dask are taken; rows of NaN stay NaN.

    >>> proba = np.array([[0.01, 0.0]]).repeat(100, axis=0).sum(axis=0, keepdims=True)
    >>> float(proba[0, 0]) > 1.0, normalize_posteriors(proba).tolist()
    (True, [[1.0, 0.0]])
    """
    return proba / (proba @ np.ones(proba.shape[1]))[:, None]


def _most_probable(learner: PosteriorClassifier, block: Block) -> np.ndarray:
    labels = np.empty(len(block), dtype=np.int64)
    native.row_argmax(learner._log_joint(block), labels)
    return learner.classes_[labels]


def _largest(
    learner: PosteriorClassifier, coef: np.ndarray, intercept: np.ndarray, check: CheckCells, block: Block
) -> np.ndarray:
    """The class of the largest linear score, cells checked in the same read."""
    labels = np.empty(len(block), dtype=np.int64)
    dense = isinstance(block.X, np.ndarray) and block.X.dtype.kind == "f"
    if not dense or not native.linear_argmax(block.X, coef, intercept, labels):
        return _most_probable(learner, check(block))
    return learner.classes_[labels]


def _posterior(learner: PosteriorClassifier, block: Block) -> np.ndarray:
    joint = learner._log_joint(block)
    native.posterior(joint)
    return joint


def _log_posterior(learner: PosteriorClassifier, block: Block) -> np.ndarray:
    joint = learner._log_joint(block)
    native.log_posterior(joint)
    return joint
