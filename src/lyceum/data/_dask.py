"""Rows on Dask: partitions are summarised where they live and merged as a tree, one compute a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from lyceum.data._arrow import is_frame, to_arrow
from lyceum.data._block import Block
from lyceum.data._profile import TableProfile
from lyceum.data._schema import Schema
from lyceum.data._sources import ArraySource, BatchPart, Part
from lyceum.errors import DataError

__all__ = ["DaskSource", "is_dask"]

_FAN_IN = 8


def is_dask(data: Any) -> bool:
    """Whether data is a Dask array, frame or series; does not import Dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "__dask_graph__")


@dataclass(frozen=True, slots=True)
class DaskPart:
    """One partition: a frame, or arrays of cells, targets and weights."""

    X: Any
    y: Any
    w: Any
    start: int
    schema: Schema

    def blocks(self) -> Iterator[Block]:
        if is_frame(self.X):
            yield from self._frame_blocks()
            return
        for part in ArraySource(self.X, self.y, self.w, self.schema).parts():
            for block in part.blocks():
                yield replace(block, start=self.start + block.start)

    def _frame_blocks(self) -> Iterator[Block]:
        for block in BatchPart(to_arrow(self.X), self.start, self.schema).blocks():
            rows = slice(block.start - self.start, block.start - self.start + len(block))
            y = block.y if self.y is None else self.y[rows]
            w = block.w if self.w is None else self.w[rows]
            yield replace(block, y=y, w=w)


class DaskSource:
    """A Dask collection of rows. The second reduction keeps the partitions in the workers' memory."""

    def __init__(
        self,
        X: Sequence[Any],
        y: Sequence[Any] | None,
        w: Sequence[Any] | None,
        schema: Schema,
        lengths: Sequence[int],
    ):
        self.X, self.y, self.w = list(X), y and list(y), w and list(w)
        self.schema, self.lengths, self._passes = schema, tuple(lengths), 0

    @classmethod
    def of_frame(cls, frame: Any, schema_of: Callable[[TableProfile], Schema]) -> DaskSource:
        """A Dask frame whose columns are profiled in one pass."""
        import dask

        if not hasattr(frame, "columns"):
            raise DataError("scan takes a Dask frame with named columns: give arrays to fit(X, y) directly")
        partitions = frame.to_delayed()
        profiles = dask.compute(*[dask.delayed(_profile)(part) for part in partitions])
        merged = profiles[0]
        for profile in profiles[1:]:
            merged = merged.merge(profile)
        if not merged.n_rows:
            raise DataError("the Dask frame has no rows (0 samples)")
        return cls(partitions, None, None, schema_of(merged), [profile.n_rows for profile in profiles])

    @property
    def n_rows(self) -> int:
        return sum(self.lengths)

    def with_schema(self, schema: Schema) -> DaskSource:
        return DaskSource(self.X, self.y, self.w, schema, self.lengths)

    def parts(self) -> Iterator[Part]:
        """The parts brought here one at a time."""
        for part in self._delayed_parts():
            yield part.compute()

    def _delayed_parts(self) -> list[Any]:
        import dask

        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int).tolist()
        nothing = [None] * len(self.X)
        make = dask.delayed(DaskPart, pure=False)
        return [
            make(X, y, w, start, self.schema)
            for X, y, w, start in zip(self.X, self.y or nothing, self.w or nothing, starts)
        ]

    def _persist(self) -> None:
        import dask

        everything = dask.persist(*self.X, *(self.y or []), *(self.w or []))
        n = len(self.X)
        self.X = list(everything[:n])
        if self.y:
            self.y = list(everything[n : 2 * n])
        if self.w:
            self.w = list(everything[-n:])

    def reduce(self, fold: Callable[[Part], Any]) -> Any:
        """Fold every partition and merge the results in order, as a tree, in one compute."""
        import dask

        self._passes += 1
        if self._passes == 2:
            self._persist()
        level = [dask.delayed(fold, pure=False)(part) for part in self._delayed_parts()]
        merge = dask.delayed(_merged, pure=False)
        while len(level) > 1:
            level = [merge(level[i : i + _FAN_IN]) for i in range(0, len(level), _FAN_IN)]
        return level[0].compute()

    def collect(self, function: Callable[[Part], np.ndarray]) -> Any:
        """`function` of every partition as one lazy Dask array."""
        import dask
        import dask.array as da

        empty = DaskPart(np.empty((0, len(self.schema))), None, None, 0, self.schema)
        like = function(_EmptyPart(empty))
        parts = [
            da.from_delayed(dask.delayed(function, pure=False)(part), (n, *like.shape[1:]), like.dtype)
            for part, n in zip(self._delayed_parts(), self.lengths)
        ]
        return da.concatenate(parts)


@dataclass(frozen=True, slots=True)
class _EmptyPart:
    """No rows, but of the right width: asks a function for the shape of its answers."""

    part: DaskPart

    def blocks(self) -> Iterator[Block]:
        yield Block(self.part.X, None, None, 0, self.part.schema)


def _profile(frame: Any) -> TableProfile:
    return TableProfile.of(to_arrow(frame))


def _merged(summaries: Sequence[Any]) -> Any:
    total = None
    for summary in summaries:
        total = summary if total is None else total if summary is None else total.merge(summary)
    return total


def as_delayed(data: Any) -> list[Any]:
    """The row partitions of a Dask array, frame or series as delayed values."""
    if hasattr(data, "columns") or not hasattr(data, "numblocks"):
        return list(data.to_delayed())
    if data.ndim == 2 and data.numblocks[1] > 1:
        data = data.rechunk({1: -1})
    return list(data.to_delayed().ravel())


def row_counts(data: Any) -> list[int]:
    """The number of rows of every partition, computed if Dask does not know it."""
    import dask

    if hasattr(data, "chunks") and not np.isnan(data.chunks[0]).any():
        return [int(n) for n in data.chunks[0]]
    return list(dask.compute(*[dask.delayed(len)(part) for part in as_delayed(data)]))


def empty_table(frame: Any) -> pa.Table:
    """The columns of a Dask frame without rows."""
    return to_arrow(frame._meta)
