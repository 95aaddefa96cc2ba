"""Learners that classify or predict numbers, as the learners they are made of."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import ClassifierTags, RegressorTags

from lyceum._core.base import targets_to_score, undefined


def has_classes(self: Any) -> bool:
    """Whether the learner classifies, for `available_if`."""
    if not isinstance(self, EitherTask):
        return is_classifier(self)
    giver = self._task_giver()  # all tags would ask every member
    return giver is None or not is_regressor(giver)


class EitherTask:
    """Score and tags of a learner whose task is that of another learner, given by `_task_giver()`.

    A base class: `_task_giver()` returns a learner (None counts as a classifier), and `score` and
    the tags are then those of a classifier or of a regressor.

    See Also
    --------
    has_classes : Whether such a learner classifies.
    lyceum.ensemble.MixtureOfExperts, lyceum.ensemble.AuxiliaryTargets : Learners of this kind.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator, clone, is_classifier
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.linear import LinearRegression
    >>> class Wrapper(EitherTask, BaseEstimator):
    ...     def __init__(self, learner):
    ...         self.learner = learner
    ...     def fit(self, X, y):
    ...         self.learner_ = clone(self.learner).fit(X, y)
    ...         return self
    ...     def predict(self, X):
    ...         return self.learner_.predict(X)
    ...     def _task_giver(self):
    ...         return self.learner
    >>> is_classifier(Wrapper(NaiveBayes())), is_classifier(Wrapper(LinearRegression()))
    (True, False)
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0.0, 1.0, 1.0, 2.0]
    >>> round(Wrapper(LinearRegression()).fit(X, y).score(X, y), 4)  # R² = 5² / (17 · 2)
    0.7353
    """

    def _task_giver(self) -> Any:
        raise undefined(self, "_task_giver")

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The accuracy of a classifier, R² of a regressor, on test rows.

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
        from sklearn.metrics import accuracy_score, r2_score  # takes long to import

        target, w = targets_to_score(self, X, y, sample_weight)
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(target, self.predict(X), sample_weight=w))  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        giver = self._task_giver()
        if giver is not None and is_regressor(giver):
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        else:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        return tags
