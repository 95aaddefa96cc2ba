"""A learner that nobody knew of obeys all laws without a line of its own about sources, threads or
Dask."""

import importlib.util
import sys
from pathlib import Path

import pytest
from tests.checks import laws

from lyceum.statistics import ClassMoments


def _documented():
    """The module docs/new_learner.py."""
    path = Path(__file__).parents[2] / "docs" / "new_learner.py"
    spec = importlib.util.spec_from_file_location("new_learner", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["new_learner"] = module  # pickling looks classes up by their module
    spec.loader.exec_module(module)
    return module


NearestMean = _documented().NearestMean


def test_all_laws_in_one_line():
    laws.check(NearestMean())


def test_a_broken_law_is_named():
    class Silent(NearestMean):
        def summary(self):
            raise RuntimeError("nothing to show")

    others = {
        law.__name__: "not asked here"
        for law in laws.LAWS
        if law is not laws.it_shows_itself
    }
    with pytest.raises(ExceptionGroup, match=r"breaks it_shows_itself"):
        laws.check(Silent(), laws.Case(without=others))


def test_a_learner_that_depends_on_the_blocks_is_found_out():
    class Miscounting(NearestMean):
        def _statistic(self):
            return _FirstBlock

        def _finish(self, statistic):
            super()._finish(statistic.first)

    with pytest.raises(
        AssertionError, match=r"from random cuts|from parquet stream|from dask"
    ):
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
            self.means_ = self.means_ + statistic.last

    with pytest.raises(AssertionError):
        laws.the_order_of_rows_does_not_matter(LastRow(), laws.Case())


class _LastBlock:
    def __init__(self, block):
        self.moments, self.last = ClassMoments.of(block), block.X[-1]

    def merge(self, other):
        self.moments, self.last = self.moments.merge(other.moments), other.last
        return self
