"""Summaries that the transformers need: the gaps with the marginal counts, and several summaries at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum.data import Block, Recode
from lyceum.prepare._steps import gaps_of
from lyceum.statistics import Counts

__all__ = ["Gaps", "Together"]


@dataclass(frozen=True, slots=True)
class Together:
    """Several summaries of the same rows."""

    parts: tuple[Any, ...]

    def merge(self, other: Together) -> Together:
        return Together(tuple(one.merge(two) for one, two in zip(self.parts, other.parts)))


@dataclass(frozen=True, slots=True)
class Gaps:
    """The weight of the missing cells of every column, of the complete rows, and of every category.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> gaps = scan(pa.table({"x": [1.0, None, 3.0], "sex": ["f", "m", "f"]})).reduce(Gaps.of)
    >>> gaps.missing.tolist(), gaps.complete, gaps.mode("sex")
    ([1.0, 0.0], 2.0, 'f')
    """

    n_rows: int
    weight: float
    complete: float
    missing: np.ndarray  # (d,)
    counts: Counts  # marginal

    @classmethod
    def of(cls, block: Block) -> Gaps:
        w, d = block.weights, block.X.shape[1]
        rows, columns = np.divmod(np.flatnonzero(gaps_of(block)), d)
        whole = np.ones(len(block), dtype=bool)
        whole[rows] = False
        missing = np.bincount(columns, w[rows], d)
        counts = Counts.of(Recode()(replace(block, y=None)))
        return cls(len(block), float(w.sum()), float(w[whole].sum()), missing, counts)

    def merge(self, other: Gaps) -> Gaps:
        return Gaps(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.complete + other.complete,
            self.missing + other.missing,
            self.counts.merge(other.counts),
        )

    def mode(self, name: str) -> Any:
        """The commonest category of a column, the first of equals; None if none occurs."""
        weights = self.counts.table(name)[:, 0]
        labels = self.counts.categories[self.counts.names.index(name)]
        return labels[np.argmax(weights)].item() if weights.any() else None
