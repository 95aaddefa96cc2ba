"""Classifiers that decide by linear scores without claiming posteriors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Classifier,
    Learner,
    SparseCoefficients,
    score_operations,
)
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block, Rows, Schema
from lyceum._core.probability import class_weight_factors, runner_up
from lyceum._core.report import weights_table
from lyceum._core.types import Data, Estimator, Operation
from lyceum.errors import SchemaError, SettingError
from lyceum.report import Explanation, Table

CLASS_WEIGHT = [None, StrOptions({"balanced"}), dict]


class LinearScores(SparseCoefficients, Classifier, Learner):
    """Decisions by the sign of one score, or the largest of K: the scores are margins, not
    log-odds."""

    _attribute_docs: ClassVar[str] = """
    coef_ : ndarray of shape (1, n_design_columns) or (K, n_design_columns)
        The weights of the second class, or one row per class.
    intercept_ : ndarray of shape (1,) or (K,)
        The intercepts, at x = 0.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.
    """

    _coding = "one_hot"
    _takes_sparse: ClassVar[bool] = True
    _needs_scaling = True

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    mean_: np.ndarray
    n_rows_: int
    class_weight: Any

    def _with_class_weights(self, rows: Rows, all_rows: bool = True) -> Rows:
        """The rows with weights times the factors of their classes."""
        factors = self._class_factors(rows, all_rows)
        return rows if factors is None else rows.then(_ClassWeights(factors))

    def _class_factors(self, rows: Rows, all_rows: bool = True) -> np.ndarray | None:
        """The factors of `class_weight`, (K,)."""
        if self.class_weight is None:
            return None
        weight = None
        if self.class_weight == "balanced":
            if not all_rows:
                raise SettingError(
                    "partial_fit cannot know the class shares beforehand: give class_weight as a"
                    " dict"
                )
            codes = np.asarray(rows.coded_y)
            counts = np.bincount(codes, rows.sample_weight, len(self.classes_))
            weight = counts.astype(np.float64)
        labels = self.classes_.tolist()
        return class_weight_factors(self.class_weight, labels, weight)

    def decision_function(self, X: Data) -> Any:
        """The score of the second of two classes, (n,), or the scores of K classes, (n, K)."""
        return self._apply(partial(linear_scores, self), X)

    def predict(self, X: Data) -> Any:
        """The class on whose side of the hyperplane a row lies (the second if it lies on it), or
        that of the largest score."""
        return self._apply(partial(_predict, self), X)

    def _operations(self) -> list[Operation]:
        return score_operations(self.coef_, self.intercept_)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score, coef · (x - mean), from the score at the mean.

        For two classes this is the score of the second; for more, that of the predicted class less
        that of the next best.
        """
        check_is_fitted(self)
        unit = "score above the next class"
        if len(self.coef_) == 1:
            unit = f"score of {self.classes_[-1]}"
        return self._explain(X, partial(contributions, self, on_plane=True), unit)

    def _table(self) -> Table:
        titles = [str(label) for label in self.classes_[-len(self.coef_) :]]
        return weights_table(self.design_names, self.intercept_, self.coef_, titles)

    def _fit_one_class(self, d: int) -> None:
        self.coef_ = np.zeros((1, d))
        self.intercept_ = np.zeros(1)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return score_shapes(self)


@dataclass(frozen=True, slots=True)
class _ClassWeights:
    """A step that multiplies the weight of every row by the factor of its class."""

    factors: np.ndarray  # (K,)

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        assert block.y is not None
        return replace(block, w=block.weights * self.factors[block.y])


def check_same_weights(before: Any, now: Any) -> None:
    """Refuse rows whose classes or categories have no weights; `before` is None in the first
    call."""
    if before is not None and before != now:
        raise SchemaError(
            "these rows have classes or categories that there are no weights for: name all classes"
            " in the first partial_fit, and all categories by a category type"
        )


def score_shapes(learner: Estimator) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of linear scores: of one output for two classes, else of one per
    class."""
    outputs = len(learner.classes_) if len(learner.classes_) > 2 else 1
    d = len(learner.design_names)
    return {"coef_": (outputs, d), "intercept_": (outputs,), "mean_": (d,)}


def linear_scores(learner: Estimator, block: Block) -> np.ndarray:
    """X·coefᵀ + intercept: (n,) for two classes, else (n, K)."""
    # coefficients that were set by hand may be a view of others, or flat
    coef = np.atleast_2d(np.ascontiguousarray(learner.coef_, np.float64))
    scores = block.X @ coef.T + learner.intercept_
    if len(coef) == 1:
        return scores[:, 0]
    return scores


def _predict(learner: LinearScores, block: Block) -> np.ndarray:
    scores = linear_scores(learner, block)
    if scores.ndim == 2:
        return learner.classes_[scores.argmax(axis=1)]
    # with one class there is nothing to tell apart
    is_second = (scores >= 0) & (len(learner.classes_) > 1)
    return learner.classes_[is_second.astype(int)]


def weights_at(
    origin: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
) -> np.ndarray:
    """θ = (b, b₀ + b·origin) of every output, (outputs, d + 1): the intercepts taken at `origin`.

    About the means of the columns intercepts and coefficients hardly depend on each other.
    """
    return np.column_stack([coef, intercept + coef @ origin])


def weights_at_zero(
    theta: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients, and intercepts at x = 0, of a θ with its intercepts at `origin`."""
    # a copy, as θ may go on to change
    coef = theta[:, :-1].copy()
    return coef, theta[:, -1] - coef @ origin


def class_leads(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How far the score of every row's class is above that of the best other class, (n,).

    `scores` (n, K) are overwritten; those of two classes may be (n, 1), of the second.
    """
    if scores.shape[1] == 1:
        return np.where(y == 1, scores[:, 0], -scores[:, 0])
    own_class = y[:, None]
    of_class = np.take_along_axis(scores, own_class, axis=1)[:, 0]
    np.put_along_axis(scores, own_class, -np.inf, axis=1)
    return of_class - scores.max(axis=1)


def contributions(
    learner: Estimator,
    block: Block,
    on_plane: bool = False,
) -> np.ndarray:
    """The code of the class, the base, and what every column adds to the score, (n, 2 + d).

    `on_plane` says whether a score of 0 is of the second of two classes.
    """
    X = block.dense - learner.mean_
    coef = learner.coef_
    at_mean = learner.intercept_ + learner.coef_ @ learner.mean_
    if len(coef) == 1:
        slopes = np.broadcast_to(coef, X.shape)
        base = np.full(len(X), at_mean[0])
        scores = X @ coef[0] + at_mean[0]
        is_positive = scores >= 0 if on_plane else scores > 0
        best = (is_positive & (len(learner.classes_) > 1)).astype(np.intp)
    else:
        # the difference of two linear scores is linear, with the difference of their coefficients
        best, second = runner_up(X @ coef.T + at_mean)
        slopes = coef[best] - coef[second]
        base = at_mean[best] - at_mean[second]
    return np.column_stack([best, base, X * slopes])
