"""Statistics that the transformers need: missing cells with marginal counts, and several at
once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data import Block, Recode, without_texts
from lyceum._core.statistics import Counts
from lyceum.prepare.steps import missing_cells


def of_weighted_rows(block: Block, statistic: Any) -> Any:
    """A statistic of the rows with a positive weight, for `reduce`."""
    return statistic.of(block.without_zero_weights())


@dataclass(frozen=True, slots=True)
class Stats:
    """Several statistics of the same rows."""

    parts: tuple[Any, ...]

    def merge(self, other: Stats) -> Stats:
        return Stats(tuple(one.merge(two) for one, two in zip(self.parts, other.parts)))


@dataclass(frozen=True, slots=True)
class MissingCounts:
    """The weight of the missing cells of every column, of the complete rows, and of every category.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> rows = scan(pa.table({"x": [1.0, None, 3.0], "sex": ["f", "m", "f"]}))
    >>> counts = rows.reduce(MissingCounts.of)
    >>> counts.missing.tolist(), counts.complete, counts.mode("sex")
    ([1.0, 0.0], 2.0, 'f')
    """

    n_rows: int
    weight: float
    complete: float
    missing: np.ndarray  # (d,)
    counts: Counts  # marginal

    @classmethod
    def of(cls, block: Block) -> MissingCounts:
        w = block.weights
        d = block.X.shape[1]
        rows, columns = np.divmod(np.flatnonzero(missing_cells(block)), d)
        whole = np.ones(len(block), dtype=bool)
        whole[rows] = False
        missing = np.bincount(columns, w[rows], d)
        # of categories alone: free text has none, and numbers that are categories get codes
        without = replace(block, y=None, schema=without_texts(block.schema))
        return cls(
            n_rows=len(block),
            weight=float(w.sum()),
            complete=float(w[whole].sum()),
            missing=missing,
            counts=Counts.of(Recode()(without)),
        )

    def merge(self, other: MissingCounts) -> MissingCounts:
        return MissingCounts(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.complete + other.complete,
            self.missing + other.missing,
            self.counts.merge(other.counts),
        )

    def mode(self, name: str) -> Any:
        """The commonest category of a column, the first of equals; None if none occurs."""
        weights = self.counts.table(name)[:, 0]
        if not weights.any():
            return None
        labels = self.counts.categories[self.counts.names.index(name)]
        return labels[np.argmax(weights)].item()
