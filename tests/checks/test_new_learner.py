"""A learner that nobody knew of obeys all laws without a line of its own about sources, threads or Dask."""

from typing import Any, ClassVar

import numpy as np
import pytest
from tests.checks import laws

from lyceum.base import OnePassClassifier
from lyceum.statistics import ClassMoments


class NearestMean(OnePassClassifier):
    """The class whose mean is nearest in units of the pooled standard deviation.

    P(k | x) is proportional to exp(-½ Σ_j (x_j - m_kj)² / s_j²).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"categorical_features": "no_validation"}

    def __init__(self, *, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    def _statistic(self):
        return ClassMoments.of

    def _finish(self, statistic):
        self.mean_ = statistic.mean
        scatter, weight = statistic.scatter.sum(axis=0), statistic.weight.sum(axis=0)
        self.scale_ = np.sqrt(np.where(scatter > 0, scatter / weight, 1.0))

    def _log_joint(self, block):
        z = (block.X[:, None, :] - self.mean_) / self.scale_
        return -0.5 * np.einsum("nkd,nkd->nk", z, z)


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_new_learner_obeys_every_law(law):
    law(NearestMean(), laws.Case())


def test_all_laws_in_one_line():
    laws.check(NearestMean())


def test_a_learner_that_depends_on_the_blocks_is_found_out():
    class Miscounting(NearestMean):
        def _statistic(self):
            return _FirstBlock

        def _finish(self, statistic):
            super()._finish(statistic.first)

    with pytest.raises(AssertionError, match=r"from random cuts|from parquet stream|from dask"):
        laws.the_source_does_not_matter(Miscounting(), laws.Case())


class _FirstBlock:
    def __init__(self, block):
        self.first = ClassMoments.of(block)

    def merge(self, other):
        return self


def test_a_learner_whose_result_depends_on_order_is_found_out():
    class LastRow(NearestMean):
        def _statistic(self):
            return _LastBlock

        def _finish(self, statistic):
            super()._finish(statistic.moments)
            self.mean_ = self.mean_ + statistic.last

    with pytest.raises(AssertionError):
        laws.the_order_of_rows_does_not_matter(LastRow(), laws.Case())


class _LastBlock:
    def __init__(self, block):
        self.moments, self.last = ClassMoments.of(block), block.X[-1]

    def merge(self, other):
        self.moments, self.last = self.moments.merge(other.moments), other.last
        return self
