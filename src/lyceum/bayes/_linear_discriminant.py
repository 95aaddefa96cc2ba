"""Gaussian classes with one covariance: a linear rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from lyceum.base import OnePassClassifier
from lyceum.data import Block
from lyceum.statistics import ClassScatter

__all__ = ["LinearDiscriminant"]


class LinearDiscriminant(OnePassClassifier):
    """x"""
    _parameter_constraints: ClassVar[dict] = {}

    def _statistic(self):
        return partial(ClassScatter.of, pooled=True)

    def _finish(self, s):
        total = s.weight.sum()
        self.cov_ = s.scatter[0] / total
        self.coef_ = np.linalg.lstsq(self.cov_, s.mean.T, rcond=None)[0].T
        with np.errstate(divide="ignore"):
            self.intercept_ = np.log(s.weight/total) - 0.5*(self.coef_*s.mean).sum(1)

    def _log_joint(self, block):
        return block.X @ self.coef_.T + self.intercept_
