"""Semi-supervised EM: a generative classifier of labeled and unlabeled rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    Learner,
    OnePassClassifier,
    complexity,
)
from lyceum._core.constraints import HasMethods, Interval
from lyceum._core.data import Block, Inputs, Rows, Schema, Step
from lyceum._core.types import Categories, Data, Estimator, Target, Weights
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.report import Explanation, Summary

_ROUNDING = 1e-10


class SemiSupervisedEM(Classifier, Learner):
    """EM over labeled and unlabeled rows with naive Bayes or Gaussian classes.

    .. math:: L = \\sum_{labeled} w_i \\log p(x_i, y_i)
        + \\lambda \\sum_{unlabeled} w_i \\log \\sum_k p(x_i, k)

    The E-step finds the posteriors of unlabeled rows, the M-step fits the classifier with every
    such row as a row of each class, weighted by its posterior. It runs in passes: from memory, from
    files, and on Dask.

    An unlabeled row has the class None or NaN, or a missing target cell in scanned rows; among
    whole numbers -1 is unlabeled too, as in scikit-learn, unless only one other class occurs.

    Parameters
    ----------
    estimator : classifier, default=None
        A generative classifier of `lyceum.bayes`: `NaiveBayes` (the default), `BernoulliNB`,
        `MultinomialNB`, or `QuadraticDiscriminantAnalysis` and its kin for Gaussian classes.
    unlabeled_weight : float, default=1.0
        The weight λ of unlabeled rows; less than 1 where the model is in doubt.
    tol : float, default=1e-4
        Stop when an iteration gains at most this much L per unit of weight.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; "from_dtype" leaves it to the estimator's own setting.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    history_ : list of float
        L of the fit on labeled rows alone, and after every iteration. An estimator that smooths
        does not maximize L itself: iterations end when L no longer rises.
    n_iter_ : int
        How often the classifier was fitted.
    labeled_weight_, unlabeled_weight_ : float
        The weight of the rows with and without a class.

    See Also
    --------
    SelfTrainingClassifier : For any classifier.
    LabelPropagation : Labels that spread to neighbors.

    References
    ----------
    Nigam, McCallum, Thrun and Mitchell (2000), Text classification from labeled and unlabeled
    documents using EM, Machine Learning 39.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [0.4], [0.1], [5.0], [5.3], [5.1], [4.9]])
    >>> y = ["a", "a", None, None, "b", "b", None, None]
    >>> SemiSupervisedEM().fit(X, y).predict([[0.3], [5.2]]).tolist()
    ['a', 'b']
    """

    _coding = "codes"
    _takes_unlabeled: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "unlabeled_weight": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes: ClassVar[tuple[str, str]] = ("iteration", "log-likelihood")

    classes_: np.ndarray
    estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        *,
        unlabeled_weight: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-4,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.unlabeled_weight = unlabeled_weight
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features

    def _base(self) -> Any:
        if self.estimator is None:
            return NaiveBayes()
        return self.estimator

    def _steps(self) -> list[Step]:
        return []  # the classifier has its own

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return bool(self._base()._takes_missing)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return bool(self._base()._takes_sparse)

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit on labeled rows, then by EM on all rows.

        Parameters
        ----------
        X : array, frame, or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan; some may be missing
        sample_weight : array of shape (n_samples,), optional
        """
        self._validate_params()
        base = self._base()
        is_generative = isinstance(base, OnePassClassifier)
        if not is_generative or isinstance(base, LinearDiscriminantAnalysis):
            raise SettingError(
                f"{type(base).__name__} gives no density of rows and classes together: use"
                " NaiveBayes, or QuadraticDiscriminantAnalysis for Gaussian classes"
            )
        rows = Inputs(self).for_fit(X, y, sample_weight)
        self.labeled_weight_, self.unlabeled_weight_ = rows.reduce(_Weights.of).sums
        if not self.labeled_weight_ > 0:
            raise DataError(
                "no row has a label: SemiSupervisedEM needs at least one row of every class"
            )
        model = clone(base).fit(rows.then(_OnlyLabeled()))
        self._iterate(rows, model)
        if not hasattr(self, "feature_names_in_"):
            self.estimator_.__dict__.pop("feature_names_in_", None)
        return self

    def _iterate(self, rows: Rows, model: Estimator) -> None:
        unlabeled_weight = self.unlabeled_weight * self.unlabeled_weight_
        weight = self.labeled_weight_ + unlabeled_weight
        self.history_ = [self._objective(rows, model)]
        self.estimator_ = model
        self.n_iter_ = 1
        if not unlabeled_weight > 0:
            return
        for step in range(1, self.max_iter + 1):
            report("iterations", step - 1, self.max_iter)
            # the E-step is part of the rows: soft labels by the model of the step before
            soft_labels = _SoftLabels(self.estimator_, self.unlabeled_weight)
            model = clone(self._base()).fit(rows.then(soft_labels))
            objective = self._objective(rows, model)
            gain = objective - self.history_[-1]
            # from the first step on: the fit on labeled rows does not maximize L
            if step > 1 and gain < -_ROUNDING * max(abs(objective), weight):
                break
            self.history_.append(objective)
            self.estimator_ = model
            self.n_iter_ = step + 1
            if step > 1 and gain <= self.tol * weight:
                break

    def _objective(self, rows: Rows, model: Estimator) -> float:
        likelihood = partial(_Likelihood.of, model=model, share=self.unlabeled_weight)
        return model._prepare_rows(rows).reduce(likelihood).value

    # -- predict -----------------------------------------------------------------------

    def _rows_of(self, X: Data) -> Any:
        check_is_fitted(self)
        return self.rows_to_predict(X)

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior."""
        rows = self._rows_of(X)  # refuses before `estimator_` is asked for
        return self.estimator_.predict(rows)

    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the classifier; rows sum to 1."""
        rows = self._rows_of(X)
        return self.estimator_.predict_proba(rows)

    def explain(self, X: Data) -> Explanation:
        """What every column adds, as the classifier explains it."""
        rows = self._rows_of(X)
        return self.estimator_.explain(rows)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """How EM went, and what the classifier learned."""
        check_is_fitted(self)
        inner = self.estimator_.summary()
        facts = {
            "classifier": type(self.estimator_).__name__,
            "weight of labeled rows": self.labeled_weight_,
            "weight of unlabeled rows": self.unlabeled_weight_,
            "fits": self.n_iter_,
            "log-likelihood": self.history_[-1],
        }
        return Summary(self._title(), {**facts, **inner.facts}, inner.tables)

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the classifier."""
        check_is_fitted(self)
        return complexity(self.estimator_)


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weight of labeled and of unlabeled rows."""

    sums: tuple[float, float]

    @classmethod
    def of(cls, block: Block) -> _Weights:
        assert block.y is not None
        labeled = block.y >= 0
        w = block.weights
        return cls((float(w[labeled].sum()), float(w[~labeled].sum())))

    def merge(self, other: _Weights) -> _Weights:
        return _Weights((self.sums[0] + other.sums[0], self.sums[1] + other.sums[1]))


@dataclass(frozen=True, slots=True)
class _OnlyLabeled:
    """Rows with a label and a weight."""

    drops_rows: ClassVar[bool] = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        assert block.y is not None
        if (block.y >= 0).all():
            return block
        return block.take(block.y >= 0)


@dataclass(frozen=True, slots=True)
class _SoftLabels:
    """Labeled rows as they are; every other one as a row of each class, weighted by its
    posterior."""

    model: Any
    share: float
    drops_rows: ClassVar[bool] = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        y = block.y
        w = block.weights
        assert y is not None
        unlabeled = np.flatnonzero(y < 0)
        if not len(unlabeled):
            return block
        part = block.take(unlabeled)
        for step in self.model._steps():
            part = step(part)
        joint = self.model._log_joint(part)
        proba = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        # labeled rows, then every other one K times, with the classes 0 to K − 1
        K = proba.shape[1]
        labeled = np.flatnonzero(y >= 0)
        rows = np.concatenate([labeled, np.repeat(unlabeled, K)])
        classes = np.tile(np.arange(K, dtype=y.dtype), len(unlabeled))
        soft_weights = self.share * w[unlabeled, None] * proba
        return replace(
            block.take(rows),
            y=np.concatenate([y[labeled], classes]),
            w=np.concatenate([w[labeled], soft_weights.ravel()]),
        )


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """The log-likelihood of labeled and unlabeled rows."""

    value: float

    @classmethod
    def of(
        cls,
        block: Block,
        model: Any,
        share: float,
    ) -> _Likelihood:
        joint = model._log_joint(block)
        y = block.y
        w = block.weights
        assert y is not None
        # log p(x, y) of labeled rows, and log p(x) = log Σ_k p(x, k) of the others
        at_label = joint[np.arange(len(y)), np.maximum(y, 0)]
        terms = np.where(y >= 0, at_label, share * logsumexp(joint, axis=1))
        # a row of weight 0 may have the density 0
        return cls(float(w[w > 0] @ terms[w > 0]))

    def merge(self, other: _Likelihood) -> _Likelihood:
        return _Likelihood(self.value + other.value)
