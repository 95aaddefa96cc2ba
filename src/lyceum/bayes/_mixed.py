"""What naive Bayes keeps of its rows: counts of the categorical columns, moments of the continuous ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum.data import Block
from lyceum.statistics import ClassMoments, Counts

__all__ = ["MixedMoments"]


@dataclass(frozen=True, slots=True)
class MixedMoments:
    """Counts of the categorical columns of a mixed table and moments of the continuous ones, by class.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> days = pa.table({"sky": ["sun", "rain", "sun"], "heat": [29.0, 18.5, 24.0],
    ...                  "play": ["no", "yes", "yes"]})
    >>> mixed = scan(days, target="play").reduce(MixedMoments.of)
    >>> mixed.counts.table("sky").tolist(), mixed.moments.mean.tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [[29.0], [21.25]])
    """

    counts: Counts
    moments: ClassMoments

    @classmethod
    def of(cls, block: Block) -> MixedMoments:
        return cls(Counts.of(block), ClassMoments.of(block, block.schema.continuous))

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
        return MixedMoments(self.counts.merge(other.counts), self.moments.merge(other.moments))
