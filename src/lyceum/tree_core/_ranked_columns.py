"""Columns: the cells of a table column by column, as ranks of their values. Trees are grown on ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from lyceum._native import native
from lyceum._threads import ordered_map
from lyceum.data import Block, Rows, Schema
from lyceum.errors import DataError
from lyceum.tree_core._bins import Bins, Coded
from lyceum.tree_core._node_histograms import BinRanges
from lyceum.tree_core._tree import Tree

__all__ = ["BinnedSample", "Columns", "Sample"]


@dataclass(frozen=True)
class Columns:
    """Every cell as the rank of its value among the distinct values of its column.

    `codes[j, i]` is the rank, or for a missing cell `n_codes[j]`. The ranks of a continuous column stand for
    the values from `lower[j][code]` to `upper[j][code]`, which are one value unless columns are binned; the
    ranks of a categorical column are its category codes.
    """

    codes: np.ndarray  # (d, n) uint8, uint16 or uint32
    n_codes: np.ndarray  # int32
    is_category: np.ndarray  # bool
    lower: tuple[np.ndarray, ...]  # an empty array for a categorical column
    upper: tuple[np.ndarray, ...]

    @classmethod
    def of_cells(cls, X: np.ndarray, schema: Schema) -> Columns:
        """Exact ranks of coded cells (n, d); threads take a column each."""
        codes = np.empty((X.shape[1], len(X)), dtype=np.uint32)
        ranked = list(ordered_map(partial(_rank, X, schema, codes), range(X.shape[1])))
        n_codes = np.array([count for count, _ in ranked], dtype=np.int32)
        flat = np.concatenate([values for _, values in ranked])
        values = tuple(np.split(flat, np.cumsum([len(values) for _, values in ranked])[:-1]))
        del ranked
        is_category = np.array([column.is_categorical for column in schema], dtype=bool)
        smallest = _smallest(int(n_codes.max(initial=0)))
        return cls(codes.astype(smallest, copy=False), n_codes, is_category, values, values)

    @cached_property
    def native(self):
        """The columns as the kernels take them."""
        first = np.cumsum([0, *map(len, self.lower)][: len(self.lower)], dtype=np.int64)
        lower = _whole(list(self.lower))
        upper = lower if self.upper is self.lower else _whole(list(self.upper))
        return native.TreeColumns(
            self.codes, self.n_codes, self.is_category.view(np.uint8), first, lower, upper
        )


def _rank(X: np.ndarray, schema: Schema, codes: np.ndarray, j: int) -> tuple[int, np.ndarray]:
    """Write the ranks of column j; how many there are, and the values of a continuous column."""
    column = schema[j]
    if not column.is_categorical:
        values = native.rank_column(X, j, codes[j])
        return len(values), values
    count = len(np.asarray(column.categories))
    known = np.isfinite(X[:, j]) & (X[:, j] >= 0)  # an unknown category is as good as a missing one
    codes[j] = np.where(known, X[:, j], count)
    return count, np.empty(0)


def _smallest(count: int) -> type:
    """The smallest type that holds the ranks and the code of missing cells."""
    return np.uint8 if count < 1 << 8 else np.uint16 if count < 1 << 16 else np.uint32


@dataclass(frozen=True)
class Sample:
    """All rows in memory: what a method keeps that cannot learn from sums."""

    X: np.ndarray
    y: np.ndarray | None
    w: np.ndarray | None

    @classmethod
    def of(cls, rows: Rows) -> Sample:
        """The rows of any source."""
        return rows.reduce(_Parts.of).together()


@dataclass(frozen=True)
class _Parts:
    """Blocks kept one after the other."""

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, block: Block) -> _Parts:
        return cls((block,))

    def merge(self, other: _Parts) -> _Parts:
        return _Parts(self.blocks + other.blocks)

    def together(self) -> Sample:
        kept = [block for block in self.blocks if len(block)]
        if sum(map(len, kept)) >= 1 << 32:
            raise DataError(
                "more than 2^32 rows cannot be kept at once: set max_bins, which needs no rows in memory"
            )
        X = _whole([block.X for block in kept])
        if X.dtype.kind != "f":
            X = X.astype(np.float64)
        y = None if kept[0].y is None else np.concatenate([block.y for block in kept])
        if all(block.w is None for block in kept):
            return Sample(X, y, None)
        return Sample(X, y, np.concatenate([np.ones(len(b)) if b.w is None else b.w for b in kept]))


def _whole(parts: list[np.ndarray]) -> np.ndarray:
    """The parts in one array: that which they are views of, if they are all of it, one after the other."""
    base = parts[0].base
    if base is None or base.shape != (sum(map(len, parts)), *parts[0].shape[1:]):
        return np.concatenate(parts)
    place = base.ctypes.data
    for part in parts:
        if part.base is not base or not part.flags.c_contiguous or part.ctypes.data != place:
            return np.concatenate(parts)
        place += part.nbytes
    return base


@dataclass(frozen=True)
class BinnedSample:
    """All rows in memory, a byte a cell: the columns, the target, the weights."""

    bins: Bins
    columns: Columns
    y: np.ndarray | None
    w: np.ndarray | None

    @classmethod
    def of(cls, rows: Rows, max_bins: int) -> BinnedSample:
        """The rows of any source."""
        bins = Bins.of(rows, max_bins)
        offsets = np.concatenate([[0], np.cumsum(bins.n_bins + 1)]).astype(np.int64)
        parts = rows.reduce(partial(_BinnedParts.of, bins=bins, offsets=offsets))
        codes = np.concatenate([codes for codes, _, _ in parts.blocks], axis=1)
        y, w = (_joined([part[i] for part in parts.blocks]) for i in (1, 2))
        return cls(
            bins, Columns(codes, bins.n_bins, bins.is_category, *_ranges(bins, parts.ranges, offsets)), y, w
        )

    def with_categories(self, tree: Tree) -> Tree:
        """A tree whose branches are of bins, with the branches of categories, which may share a bin."""
        return self._renamed(tree, self.bins.tables)

    def with_bins(self, tree: Tree) -> Tree:
        """The tree before `with_categories`: the branch of a bin is that of its first category."""
        return self._renamed(tree, [np.unique(table, return_index=True)[1] for table in self.bins.tables])

    def _renamed(self, tree: Tree, places: Sequence[np.ndarray]) -> Tree:
        """The branches of every node at other places of its table."""
        if all(len(table) == count for table, count in zip(self.bins.tables, self.bins.n_bins) if len(table)):
            return tree  # a bin a category, in their order
        branches, table, n_codes = [np.empty(0, np.int32)], tree.table.copy(), tree.n_codes.copy()
        start = 0
        for node in np.flatnonzero(tree.n_codes > 0):
            at = places[tree.feature[node]].astype(np.intp)
            branches.append(tree.branches[tree.table[node] + at])
            table[node], n_codes[node] = start, len(at)
            start += len(at)
        return replace(tree, table=table, n_codes=n_codes, branches=np.concatenate(branches))


@dataclass(frozen=True)
class _BinnedParts:
    """Blocks in bins, and the smallest and largest value of every bin."""

    blocks: tuple[tuple[np.ndarray, np.ndarray | None, np.ndarray | None], ...]
    ranges: BinRanges

    @classmethod
    def of(cls, block: Block, bins: Bins, offsets: np.ndarray) -> _BinnedParts:
        codes = bins.code(block)
        ranges = BinRanges.of(block, Coded(codes), offsets)
        return cls(((np.ascontiguousarray(codes.T), block.y, block.w),), ranges)

    def merge(self, other: _BinnedParts) -> _BinnedParts:
        return _BinnedParts(self.blocks + other.blocks, self.ranges.merge(other.ranges))


def _joined(parts: list[np.ndarray | None]) -> np.ndarray | None:
    return None if parts[0] is None else np.concatenate(parts)  # type: ignore[arg-type]


def _ranges(
    bins: Bins, ranges: BinRanges, offsets: np.ndarray
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The least and the largest value of every bin of a continuous column; an empty one is as that before."""
    lower, upper = [], []
    for j, count in enumerate(bins.n_bins):
        here = slice(offsets[j], offsets[j] + (0 if bins.is_category[j] else count))
        lower.append(ranges.low[here].copy())
        upper.append(np.maximum.accumulate(ranges.high[here]))
    return tuple(lower), tuple(upper)
