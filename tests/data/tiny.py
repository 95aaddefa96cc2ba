"""Small learners whose answers can be checked by hand, to test the way in."""

from functools import partial

import numpy as np
from sklearn.base import RegressorMixin

from lyceum.base import OnePassClassifier, OnePassLearner
from lyceum.statistics import ClassMoments, Moments, Scatter


class NearestMean(OnePassClassifier):
    """The class whose mean is nearest; categories become columns of numbers."""

    def __init__(self, *, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def _statistic(self):
        return ClassMoments.of

    def _finish(self, statistic):
        self.mean_ = statistic.mean

    def _log_joint(self, block):
        return np.ascontiguousarray(
            -((block.X[:, None, :] - self.mean_) ** 2).sum(axis=2), dtype=np.float64
        )


class MissingTaker(NearestMean):
    """Takes missing cells, as codes, and keeps the blocks' cells apart for inspection."""

    _coding = "codes"
    _takes_missing = True

    def cells(self, X):
        """The coded cells that a method would see."""
        return self._apply(lambda block: block.X.astype(np.float64), X)


class Line(RegressorMixin, OnePassLearner):
    """Least squares on centered columns."""

    def _statistic(self):
        return partial(Scatter.of, target=True)

    def _finish(self, statistic):
        self.coef_ = np.linalg.lstsq(statistic.xx, statistic.xy, rcond=None)[0]
        self.intercept_ = statistic.y_mean - statistic.x_mean @ self.coef_

    def predict(self, X):
        return self._apply(lambda block: block.X @ self.coef_ + self.intercept_, X)


class Mean(OnePassLearner):
    """The mean of every column; no target."""

    def _statistic(self):
        return Moments.of

    def _finish(self, statistic):
        self.mean_ = statistic.mean
