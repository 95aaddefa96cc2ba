"""What naive Bayes keeps of its rows: counts of the categorical columns, moments of the continuous ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum.data import Block
from lyceum.statistics import ClassMoments, Counts

__all__ = ["MixedMoments"]


@dataclass(frozen=True, slots=True)
class MixedMoments:
    """Class-conditional counts and moments of the columns of a mixed table, each column in one of the two.

    A column of two numbers is counted; if later rows bring more numbers, so that the column turns out to be
    continuous, its table is turned into moments, without loss.
    """

    names: tuple[str, ...]  # all columns
    counts: Counts
    moments: ClassMoments  # of the columns that are not counted, in the order of `names`

    @classmethod
    def of(cls, block: Block) -> MixedMoments:
        return cls(block.schema.names, Counts.of(block), ClassMoments.of(block, block.schema.continuous))

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def classes(self) -> np.ndarray:
        return self.counts.classes

    @property
    def class_weight(self) -> np.ndarray:
        return self.counts.class_weight

    def merge(self, other: MixedMoments) -> MixedMoments:
        one, two = self, other
        if one.counts.names != two.counts.names:
            one, two = self._with_numbers(other.counts.names), other._with_numbers(self.counts.names)
        return MixedMoments(self.names, one.counts.merge(two.counts), one.moments.merge(two.moments))

    def _with_numbers(self, counted: tuple[str, ...]) -> MixedMoments:
        """With moments in place of tables for the columns that are not among those counted on the other side."""
        turned = [name for name in self.counts.names if name not in counted]
        if not turned:
            return self
        continuous = [name for name in self.names if name not in self.counts.names]
        parts = [(self.moments.weight, self.moments.mean, self.moments.scatter)]
        parts += [_moments(self.counts, name) for name in turned]
        weight, mean, scatter = (np.concatenate(values, axis=1) for values in zip(*parts))
        order = np.argsort([self.names.index(name) for name in [*continuous, *turned]])
        moments = ClassMoments(
            self.classes, self.n_rows, self.class_weight, weight[:, order], mean[:, order], scatter[:, order]
        )
        return MixedMoments(self.names, self.counts.without(turned), moments)


def _moments(counts: Counts, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, mean and scatter, each (K, 1), of a column of numbers that was counted."""
    table, values = counts.table(name), counts.categories[counts.names.index(name)].astype(np.float64)
    weight = table.sum(axis=0)
    mean = np.divide(values @ table, weight, out=np.zeros_like(weight), where=weight > 0)
    scatter = (table * (values[:, None] - mean) ** 2).sum(axis=0)
    return weight[:, None], mean[:, None], scatter[:, None]
