"""All rows in memory, for methods that keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.data import Block, Rows
from lyceum.data._dask import DaskSource
from lyceum.errors import SourceError

__all__ = ["StoredRows", "gather"]


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Cells, class codes and weights, in pieces that are joined once all are there."""

    cells: tuple[np.ndarray, ...]
    codes: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray | None, ...]

    @classmethod
    def of(cls, block: Block) -> StoredRows:
        """The rows of a block that count: those of weight zero are not there."""
        if block.w is not None and not block.w.all():
            block = block.take(block.w > 0)
        return cls(
            (np.asarray(block.X, dtype=np.float64),), () if block.y is None else (block.y,), (block.w,)
        )

    def merge(self, other: StoredRows) -> StoredRows:
        return StoredRows(self.cells + other.cells, self.codes + other.codes, self.weights + other.weights)

    @property
    def X(self) -> np.ndarray:
        return np.concatenate(self.cells)

    @property
    def y(self) -> np.ndarray:
        return np.concatenate(self.codes)

    @property
    def w(self) -> np.ndarray | None:
        """The weights, or None when all are 1."""
        if all(w is None for w in self.weights):
            return None
        whole = [np.ones(len(X)) if w is None else w for X, w in zip(self.cells, self.weights)]
        return np.concatenate(whole)


def gather(rows: Rows, learner: Any, alternative: str) -> StoredRows:
    """All rows; a Dask collection is refused by naming what to use for it."""
    if isinstance(rows.source, DaskSource):
        raise SourceError(
            f"{type(learner).__name__} keeps every row in memory and cannot learn from a Dask collection: "
            f"use {alternative}, or fit on a sample that fits into memory, e.g. X.compute()"
        )
    return rows.reduce(StoredRows.of)
