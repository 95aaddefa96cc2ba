"""Rows: a replayable source of blocks with one verb, `reduce`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from lyceum._threads import ordered_map, single_threaded_blas
from lyceum.data._block import Block
from lyceum.data._schema import Schema
from lyceum.data._sources import ArraySource, Part, Source
from lyceum.errors import DataError, SourceError

__all__ = ["Progress", "Rows", "Statistic", "Step"]

Summary = TypeVar("Summary", bound="Statistic")
Progress = Callable[[int, int | None], None]  # rows done, rows in all if known


class Statistic(Protocol):
    """What a reduction folds: anything with `merge`."""

    def merge(self, other: Any) -> Any: ...


class Step(Protocol):
    """A change to every block on its way to the learner."""

    def schema(self, schema: Schema) -> Schema:
        """The schema after the step."""

    def __call__(self, block: Block) -> Block: ...


@dataclass(frozen=True)
class Rows:
    """Rows from a source, after some steps, in blocks whose size does not depend on the number of threads.

    `reduce(of)` summarises every block by `of(block)` and merges the summaries in order. Blocks of arrays and
    files are spread over threads; Dask partitions are reduced where they live.
    """

    source: Source
    steps: tuple[Step, ...] = ()
    progress: Progress | None = field(default=None, compare=False)

    @property
    def schema(self) -> Schema:
        schema = self.source.schema
        for step in self.steps:
            schema = step.schema(schema)
        return schema

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known without reading them all."""
        return None if self._drops_rows else self.source.n_rows

    @property
    def _drops_rows(self) -> bool:
        return any(getattr(step, "drops_rows", False) for step in self.steps)

    def then(self, step: Step) -> Rows:
        """The same rows after one more step."""
        return replace(self, steps=(*self.steps, step))

    def take(self, places: np.ndarray) -> Rows:
        """Some of the rows, by their places and in that order; the rows have to be in memory.

        >>> from lyceum.data import scan
        >>> rows = scan(np.arange(10.0)[:, None]).take(np.array([7, 2, 2]))
        >>> next(rows.blocks()).X[:, 0].tolist()
        [7.0, 2.0, 2.0]
        """
        if self._drops_rows or not isinstance(self.source, ArraySource):
            raise SourceError(
                "rows can be taken by their places only from memory and before a step drops some: "
                "give scan(...) more memory"
            )
        return replace(self, source=self.source.take(places))

    def blocks(self) -> Iterator[Block]:
        """The blocks in order, one at a time."""
        for part in self.source.parts():
            for block in part.blocks():
                yield _after(block, self.steps)

    def reduce(self, of: Callable[[Block], Summary]) -> Summary:
        """Summarise every block by `of` and merge the summaries in order."""
        if hasattr(self.source, "reduce"):
            total = self.source.reduce(partial(fold_part, of=of, steps=self.steps), self.progress)
        else:
            total = self._reduce_here(of)
        if total is None:
            raise DataError("there are no rows (0 samples): check the file, or the step that drops rows")
        return total

    def _reduce_here(self, of: Callable[[Block], Summary]) -> Summary | None:
        total = None
        fold = partial(_fold, of=of, steps=self.steps)
        with single_threaded_blas():
            for summary in self._over_parts(fold):
                total = summary if total is None else total if summary is None else total.merge(summary)
        return total

    def map(self, function: Callable[[Block], np.ndarray]) -> Iterator[np.ndarray]:
        """`function` of every part's blocks, in order, over threads; what is kept is up to the caller."""
        with single_threaded_blas():
            for result in self._over_parts(partial(_map_part, function=function, steps=self.steps)):
                if result is not None:
                    yield result

    def _over_parts(self, work: Callable[[Part], tuple[int, Any]]) -> Iterator[Any]:
        """The results of `work` on every part, in order; reports the rows done."""
        done, n_rows = 0, self.n_rows if self.progress else None
        for n, result in ordered_map(work, self.source.parts()):
            yield result
            done += n
            if self.progress:
                self.progress(done, n_rows)

    def collect(self, function: Callable[[Block], np.ndarray]) -> Any:
        """`function` of all blocks in one array (a lazy one on Dask, unless a step drops rows)."""
        if hasattr(self.source, "collect") and not self._drops_rows:
            return self.source.collect(partial(_map_part, function=function, steps=self.steps))
        results = list(self.map(function))
        if not results:
            raise DataError("there are no rows (0 samples): check the file, or the step that drops rows")
        return _stacked(results)


def _after(block: Block, steps: tuple[Step, ...]) -> Block:
    for step in steps:
        block = step(block)
    return block


def _fold(part: Part, of: Callable[[Block], Summary], steps: tuple[Step, ...]) -> tuple[int, Summary | None]:
    """The number of rows read and their merged summary, None if none are left after the steps."""
    total, n_rows = None, 0
    for given in part.blocks():
        n_rows += len(given)
        block = _after(given, steps)
        if len(block):
            summary = of(block)
            total = summary if total is None else total.merge(summary)
    return n_rows, total


def fold_part(part: Part, of: Callable[[Block], Summary], steps: tuple[Step, ...]) -> Summary | None:
    """The merged summary of one part, None if it has no rows."""
    with single_threaded_blas():
        return _fold(part, of, steps)[1]


def _map_part(
    part: Part, function: Callable[[Block], np.ndarray], steps: tuple[Step, ...]
) -> tuple[int, np.ndarray | None]:
    results, n_rows = [], 0
    for given in part.blocks():
        n_rows += len(given)
        results.append(function(_after(given, steps)))
    return n_rows, _stacked(results) if results else None


def _stacked(results: list[Any]) -> Any:
    if len(results) == 1:
        return results[0]
    return sparse.vstack(results, format="csr") if sparse.issparse(results[0]) else np.concatenate(results)
