"""Some rows of a source that is read in order, by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data.rows.block import Block
from lyceum._core.data.rows.sources import Part, Source
from lyceum._core.data.schema.schema import Schema
from lyceum._core.text import show_count
from lyceum.errors import DataError, SourceError


def row_numbers(indices: Any, n_rows: int | None) -> np.ndarray:
    """Places as row numbers; a truth value per row gives the numbers of the true ones."""
    indices = np.asarray(indices)
    if indices.dtype.kind == "b":
        if n_rows is not None and len(indices) != n_rows:
            raise DataError(
                f"there are {len(indices):,} truth values for {show_count(n_rows, 'row')}"
            )
        return np.flatnonzero(indices)
    if indices.size and indices.dtype.kind not in "iu":
        raise DataError(
            f"places are row numbers from 0, not values of type {indices.dtype}"
        )
    indices = indices.astype(np.intp).reshape(-1)
    if len(indices):
        low = int(indices.min())
        high = int(indices.max())
        if low < 0 or (n_rows is not None and high >= n_rows):
            odd = low if low < 0 else high
            count = ""
            if n_rows is not None:
                count = f" of {n_rows:,}"
            raise DataError(f"there is no row {odd}{count}: places are counted from 0")
    return indices


def key_places(key: Any, n_rows: int) -> Any:
    """The places that the key of `rows[key]` names: a slice, row numbers, or a truth value per row.

    >>> key_places(slice(None, None, 2), 5).tolist(), key_places(([4, 1], ...), 5)
    ([0, 2, 4], [4, 1])
    """
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # all columns
        key = key[0]
    if isinstance(key, slice):
        return np.arange(n_rows)[key]
    if isinstance(key, tuple | str) or np.ndim(key) != 1:
        raise DataError(
            "rows are taken by a list of their places, e.g. rows[[0, 5]] or rows[10:20], not by"
            f" {key!r}: choose columns in scan(..., ignore=...)"
        )
    return key


def check_ascending(indices: np.ndarray) -> None:
    """Raise unless rows that are read in order can be taken in this order."""
    falls = np.flatnonzero(np.diff(indices) < 0)
    if len(falls):
        before = indices[falls[0]]
        after = indices[falls[0] + 1]
        raise SourceError(
            f"rows of files and Dask collections are read in order, but place {after} comes after"
            f" {before}: sort the places, or hold the rows in memory, e.g. scan(..., memory=8 <<"
            " 30)"
        )


@dataclass(frozen=True, slots=True)
class TakenSource:
    """The rows of another source at some ascending places, read by their numbers."""

    source: Source
    indices: np.ndarray

    @classmethod
    def of(cls, source: Source, indices: np.ndarray) -> TakenSource:
        check_ascending(indices)
        return cls(source, indices)

    @property
    def schema(self) -> Schema:
        return self.source.schema

    @property
    def n_rows(self) -> int:
        return len(self.indices)

    def take(self, indices: np.ndarray) -> TakenSource:
        check_ascending(indices)
        return TakenSource(self.source, self.indices[indices])

    def without_features(self) -> TakenSource:
        """The same rows with targets and weights alone, where the source can read them alone."""
        if not hasattr(self.source, "without_features"):
            return self
        return replace(self, source=self.source.without_features())

    def parts(self) -> Iterator[Part]:
        for part in self.source.parts():
            start = getattr(part, "start", None)
            n_rows = getattr(part, "n_rows", None)
            # a part that is known to have none of the rows is not read
            if (
                start is None
                or n_rows is None
                or self._between(start, start + n_rows).size
            ):
                yield _TakenPart(part, self)

    def _between(self, start: int, stop: int) -> np.ndarray:
        """The places in `indices` of the rows from start to stop; a row may be taken twice."""
        return np.arange(*np.searchsorted(self.indices, [start, stop]))

    def blocks_of(self, part: Part) -> Iterator[Block]:
        """The taken rows of a part of the source."""
        for block in part.blocks():
            rows = self._between(block.start, block.start + len(block))
            if len(rows):
                taken = block.take(self.indices[rows] - block.start)
                yield replace(taken, start=int(rows[0]))


@dataclass(frozen=True, slots=True)
class _TakenPart:
    part: Part
    taken: TakenSource

    def blocks(self) -> Iterator[Block]:
        return self.taken.blocks_of(self.part)


@dataclass(frozen=True, slots=True)
class BlockSource:
    """Blocks in order, their rows numbered anew: what is left after a step dropped some."""

    blocks: Callable[[], Iterator[Block]]
    schema: Schema
    n_rows: int | None = None

    def parts(self) -> Iterator[Part]:
        start = 0
        for block in self.blocks():
            yield _OneBlock(replace(block, start=start))
            start += len(block)


@dataclass(frozen=True, slots=True)
class _OneBlock:
    block: Block

    def blocks(self) -> Iterator[Block]:
        yield self.block
