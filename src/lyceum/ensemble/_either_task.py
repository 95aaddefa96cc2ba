"""Learners that classify or regress, as what they are made of does."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags

from lyceum.base import targets_to_score, undefined

__all__ = ["EitherTask", "has_classes"]


def has_classes(self: Any) -> bool:
    """Whether the learner classifies, for `available_if`."""
    if not isinstance(self, EitherTask):
        return is_classifier(self)
    giver = self._task_giver()  # all tags would ask every member
    return giver is None or not is_regressor(giver)


class EitherTask:
    """The score and the tags of a classifier or of a regressor: as `_task_giver()`, a learner, has them."""

    def _task_giver(self) -> Any:
        raise undefined(self, "_task_giver")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
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
        target, w = targets_to_score(self, X, y, sample_weight)
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(target, self.predict(X), sample_weight=w))  # type: ignore[attr-defined]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        giver = self._task_giver()
        if giver is not None and is_regressor(giver):
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags
