"""Scores of classifiers and regressors, on arrays, frames and scanned rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from lyceum._core.data import Rows, comparable_target, other_target, refuse_beside_rows
from lyceum._core.text import show_count
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.errors import DataError


def score_operations(coef: np.ndarray, intercept: np.ndarray) -> list[Operation]:
    """Linear scores, of one output for two classes, for exported models."""
    constants = {"coef": coef.tolist(), "intercept": intercept.tolist()}
    if len(coef) > 1:
        return [("linear", constants)]
    return [("linear", constants), ("sides", {})]


class Classifier(ClassifierMixin):
    """A classifier whose score is its accuracy.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, set by `fit`.
    n_classes_ : int
        K, the number of classes.

    See Also
    --------
    PosteriorClassifier : A classifier by posterior probabilities.
    Learner : What to combine it with.
    Regressor : The same for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.base import Classifier, Learner
    >>> class MostFrequent(Classifier, Learner):
    ...     def fit(self, X, y=None, sample_weight=None):
    ...         rows = self._rows(X, y, sample_weight)
    ...         self.class_ = self.classes_[np.bincount(rows.coded_y).argmax()]
    ...         return self
    ...     def predict(self, X):
    ...         return self._apply(lambda block: np.full(len(block), self.class_), X)
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "b"]
    >>> model = MostFrequent().fit(X, y)
    >>> model.n_classes_, model.score(X, y)
    (2, 0.75)
    """

    _attribute_docs: ClassVar[str] = """
    classes_ : array of shape (K,)
        The class labels, sorted.
    """

    classes_: np.ndarray

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def score(self, X: Data, y: Target = None, sample_weight: Weights = None) -> float:
        """The accuracy on test rows: the share of rows whose class is predicted right.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
            Test rows.
        y : array of shape (n_samples,), optional
            Their classes; scanned rows carry their own.
        sample_weight : array of shape (n_samples,), optional
            Their weights; scanned rows carry their own.

        Returns
        -------
        float
        """
        truth, weights = targets_to_score(self, X, y, sample_weight)
        predicted = self.predict(X)
        # scikit-learn's metric would look through what cannot be wrong here
        if weights is None and _are_alike(truth, predicted, "ibU"):
            return float(np.mean(truth == predicted))
        from sklearn.metrics import accuracy_score  # takes long to import

        return float(accuracy_score(truth, predicted, sample_weight=weights))


class Regressor(RegressorMixin):
    """A regressor whose score is its coefficient of determination, R².

    See Also
    --------
    Learner : What to combine it with.
    Classifier : The same for classes.

    Examples
    --------
    A regressor that always predicts the mean has R² = 0:

    >>> import numpy as np
    >>> from lyceum.base import Learner, Regressor
    >>> class MeanOnly(Regressor, Learner):
    ...     def fit(self, X, y=None, sample_weight=None):
    ...         self.mean_ = float(np.mean(self._rows(X, y, sample_weight).y))
    ...         return self
    ...     def predict(self, X):
    ...         return self._apply(lambda block: np.full(len(block), self.mean_), X)
    >>> X, y = [[1.0], [2.0], [3.0]], [5.0, 6.0, 10.0]
    >>> model = MeanOnly().fit(X, y)
    >>> model.predict([[9.0]]).tolist(), model.score(X, y)
    ([7.0], 0.0)
    """

    def score(self, X: Data, y: Target = None, sample_weight: Weights = None) -> float:
        """The coefficient of determination on test rows, R² = 1 - Σ(y - ŷ)² / Σ(y - ȳ)².

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
            Test rows.
        y : array of shape (n_samples,), optional
            Their targets; scanned rows carry their own.
        sample_weight : array of shape (n_samples,), optional
            Their weights; scanned rows carry their own.

        Returns
        -------
        float
        """
        truth, weights = targets_to_score(self, X, y, sample_weight)
        predicted = self.predict(X)
        is_double = getattr(truth, "dtype", None) == np.float64
        if weights is None and is_double and _are_alike(truth, predicted, "f"):
            wrong = float(((truth - predicted) ** 2).sum())
            spread = float(((truth - truth.mean()) ** 2).sum())
            if 0.0 < spread < np.inf and wrong < np.inf:
                return 1.0 - wrong / spread
        from sklearn.metrics import r2_score  # takes long to import

        return float(r2_score(truth, predicted, sample_weight=weights))


def _are_alike(truth: Any, predicted: Any, kinds: str) -> bool:
    """Whether both are arrays of one type, one cell per row, for as many rows."""
    arrays = [
        y for y in (truth, predicted) if isinstance(y, np.ndarray) and y.ndim == 1
    ]
    if len(arrays) < 2 or not 0 < len(truth) == len(predicted):
        return False
    return truth.dtype.kind in kinds and truth.dtype.kind == predicted.dtype.kind


def targets_to_score(
    learner: object, X: Data, y: Target, sample_weight: Weights
) -> tuple[Any, Any]:
    """Targets and weights of the rows to score on; scanned rows carry their own."""
    if not isinstance(X, Rows):
        if y is None:
            raise DataError(
                f"the score of {type(learner).__name__} requires y to be passed, but the target y"
                " is None"
            )
        task = "numbers" if isinstance(learner, RegressorMixin) else "classes"
        return comparable_target(y, task), sample_weight
    refuse_beside_rows(other_target(X, y), sample_weight)
    return target_of(X), X.sample_weight


def validation_parts(validation: object) -> tuple[Any, Any, Any]:
    """Cells, targets and weights of validation rows, given as (X, y), (X, y, weights) or scanned
    rows.

    >>> validation_parts(([[1.0], [2.0]], [0, 1]))
    ([[1.0], [2.0]], [0, 1], None)
    """
    if isinstance(validation, Rows):
        return validation, target_of(validation), validation.sample_weight
    if (
        not isinstance(validation, tuple | list)
        or len(validation) not in (2, 3)
        or validation[1] is None
    ):
        raise DataError(
            "validation rows need their target: give validation=(X, y), (X, y, weights) or scanned"
            " rows"
        )
    X, y, w = (*validation, None)[:3]
    return X, y, w


def target_of(rows: Rows) -> np.ndarray:
    """The target of scanned rows as it was written; refuses rows without a target or with missing
    ones.

    >>> from lyceum.data import scan
    >>> target_of(scan(np.array([[1.0, 2.5], [2.0, 3.5]]), target="x1")).tolist()
    [2.5, 3.5]
    """
    target = rows.schema.target
    y = rows.y
    if target is None or y is None:
        raise DataError("these rows have no target: name it, scan(..., target=...)")
    # a missing class has the code -1, a missing number is NaN
    codes = np.asarray(rows.coded_y)
    missing = codes < 0 if codes.dtype.kind in "iu" else np.isnan(codes)
    if missing.any():
        raise DataError(
            f"target {target.name!r} is missing in {show_count(int(missing.sum()), 'row')}, which"
            " cannot be evaluated: leave what is missing out, e.g. rows.take(places)"
        )
    return y
