"""The statistic of naive Bayes: counts of categories and bins, moments of Gaussian columns,
values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Block
from lyceum._core.statistics import ClassMoments, Counts
from lyceum.bayes.kernel_columns import ClassValues


@dataclass(frozen=True, slots=True)
class MixedMoments:
    """Counts of the categorical columns of a mixed table and moments of the continuous ones, by
    class.

    Columns at the places `kernel` keep all their values instead of moments.

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
    values: ClassValues | None = None

    @classmethod
    def of(cls, block: Block, kernel: tuple[int, ...] = ()) -> MixedMoments:
        gaussian = np.setdiff1d(block.schema.continuous, np.asarray(kernel, dtype=np.intp))
        if kernel:
            values = ClassValues.of(block, np.asarray(kernel))
        else:
            values = None
        return cls(Counts.of(block), ClassMoments.of(block, gaussian), values)

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        return self.moments.is_finite

    @property
    def classes(self) -> np.ndarray:
        return self.counts.classes

    @property
    def class_weight(self) -> np.ndarray:
        return self.counts.class_weight

    def merge(self, other: MixedMoments) -> MixedMoments:
        values = self.values
        if values is not None and other.values is not None:
            values = values.merge(other.values)
        return MixedMoments(
            self.counts.merge(other.counts), self.moments.merge(other.moments), values
        )
