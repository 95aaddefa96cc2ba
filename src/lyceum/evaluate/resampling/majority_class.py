"""The best constant classifier, for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from lyceum._core.data import row_weights
from lyceum._core.types import Data


class MajorityClass(ClassifierMixin, BaseEstimator):
    """Always the most frequent class, the first of equals, with a posterior of 1."""

    def __init__(self, classes: np.ndarray):
        self.classes = classes

    def fit(
        self, X: Data, y: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> MajorityClass:
        self.classes_ = self.classes
        w = row_weights(sample_weight, len(y))
        self.class_ = int(np.argmax([w[y == label].sum() for label in self.classes]))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.repeat(self.classes[[self.class_]], len(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.tile(np.eye(len(self.classes))[self.class_], (len(X), 1))
