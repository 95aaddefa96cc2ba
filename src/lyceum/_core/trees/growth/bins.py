"""Bins: cells in one byte, for trees that are grown on histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from lyceum._core.data import Block, Rows, as_float
from lyceum._core.native import native
from lyceum._core.statistics import midpoints
from lyceum._core.threads import ordered_map
from lyceum._core.trees.tree import Tree
from lyceum._core.trees.uniform_row_sample import UniformRowSample

# of the sample that edges are found on
_ROWS = 1 << 17
_CELLS = 1 << 25
_FEWEST = 1 << 14
_FEW = 1 << 14  # cells whose bins are there before another thread has woken up
_SLOTS = 256  # edges of a column in the kernel's table


@dataclass(frozen=True)
class Bins:
    """The bin of every cell. Bin b of a continuous column holds (e_{b−1}, e_b], for its rising
    edges e.

    A column of at most `max_bins` distinct values has a bin for each, with the edges midway between
    neighbors. Any other has bins of about the same weight, except that a value heavier than a bin
    has its own. A category has the bin of its code; of more than `max_bins` categories the heaviest
    keep a bin and the others share the last. A missing cell, and a category that is unknown, is in
    bin `n_bins[j]`.

    Edges are found on a sample of 65 to 131 thousand rows where there are more, fewer where there
    are more than 256 columns. The sample goes by the numbers of the rows, not by blocks: arrays,
    files and Dask have the same bins.

    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[1.0], [2.0], [np.nan], [4.0]]))
    >>> bins = Bins.of(rows)
    >>> bins.edges[0].tolist(), bins.code(next(rows.blocks())).ravel().tolist()
    ([1.5, 3.0], [0, 1, 3, 2])
    """

    edges: tuple[np.ndarray, ...]  # float64, empty for a categorical column
    n_bins: np.ndarray  # int32 (d,), without the one of missing cells
    tables: tuple[
        np.ndarray, ...
    ]  # uint8, the bin of every category; empty for a continuous column

    @classmethod
    def of(cls, rows: Rows, max_bins: int = 255) -> Bins:
        """The bins of a source of coded rows, found in one pass."""
        size = sample_size(len(rows.schema))
        sample = rows.reduce(
            partial(UniformRowSample.of, size=size, n_rows=rows.n_rows)
        )
        X, w = sample.cells()
        columns = [
            (
                X[:, j],
                w,
                max_bins,
                len(column.categories) if column.categories is not None else None,
            )
            for j, column in enumerate(rows.schema)
        ]
        binned = list((ordered_map if X.size > _FEW else map)(_binned_column, columns))
        sizes = [
            len(edges) + 1 if table is None else _n_bins(table)
            for edges, table in binned
        ]
        tables = tuple(
            np.empty(0, np.uint8) if table is None else table for _, table in binned
        )
        return cls(
            tuple(edges for edges, _ in binned), np.array(sizes, dtype=np.int32), tables
        )

    @property
    def is_category(self) -> np.ndarray:
        """Which columns are categorical."""
        return np.array([len(table) > 0 for table in self.tables])

    def __len__(self) -> int:
        return len(self.edges)

    def code(
        self,
        block: Block,
        out: np.ndarray | None = None,
        columns: np.ndarray | None = None,
    ) -> np.ndarray:
        """The bins of a block's cells, (n, d) uint8; `out` may have any strides.

        `columns`, (d, n), is written too if it is given, column by column.
        """
        if out is None:
            out = np.empty((len(block), len(self)), dtype=np.uint8)
        X = as_float(block.X)
        if X.dtype == np.float64:
            edges = self._edges
        else:
            edges = self._single_edges
        native.bin_codes(
            np.ascontiguousarray(X), edges, self.n_bins, *self._categories, out, columns
        )
        return out

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where the cells of every column start in a table of all bins; each column's last is for
        missing."""
        return np.concatenate([[0], np.cumsum(self.n_bins + 1)]).astype(np.int64)

    def with_categories(self, tree: Tree) -> Tree:
        """A tree whose branches are by bin, with branches by category; categories may share a
        bin."""
        return self._with_branches(tree, self.tables)

    def with_bins(self, tree: Tree) -> Tree:
        """The tree before `with_categories`: the branch of a bin is that of its first category."""
        return self._with_branches(
            tree, [np.unique(table, return_index=True)[1] for table in self.tables]
        )

    def _with_branches(self, tree: Tree, indices: Sequence[np.ndarray]) -> Tree:
        """The tree with the branches of every node taken from `places` of its table."""
        if all(
            len(table) == count
            for table, count in zip(self.tables, self.n_bins)
            if len(table)
        ):
            return tree  # one bin per category, in their order
        branches = [np.empty(0, np.int32)]
        table = tree.table.copy()
        n_codes = tree.n_codes.copy()
        start = 0
        for node in np.flatnonzero(tree.n_codes > 0):
            at = indices[tree.feature[node]].astype(np.intp)
            branches.append(tree.branches[tree.table[node] + at])
            table[node] = start
            n_codes[node] = len(at)
            start += len(at)
        return replace(
            tree, table=table, n_codes=n_codes, branches=np.concatenate(branches)
        )

    @cached_property
    def _edges(self) -> np.ndarray:
        slots = np.full((len(self), _SLOTS), np.inf)
        for j, edges in enumerate(self.edges):
            slots[j, : len(edges)] = edges
        return slots

    @cached_property
    def _single_edges(self) -> np.ndarray:
        """The largest float32 that is not above the edge: it has the same float32 cells below
        it."""
        with np.errstate(over="ignore"):
            near = self._edges.astype(np.float32)
        return np.where(
            near > self._edges, np.nextafter(near, np.float32(-np.inf)), near
        )

    @cached_property
    def _categories(self) -> tuple[np.ndarray, np.ndarray]:
        start = np.concatenate(
            [[0], np.cumsum([len(table) for table in self.tables])]
        ).astype(np.int64)
        return start, np.concatenate([np.empty(0, np.uint8), *self.tables])


@dataclass(frozen=True, slots=True)
class BlockCodes:
    """The codes of one block, made once, for all that ask for them."""

    codes: np.ndarray

    def code(self, block: Block) -> np.ndarray:
        return self.codes


# -- edges -----------------------------------------------------------------------------


def sample_size(n_columns: int) -> int:
    """How many rows a sample for edges may have at most."""
    return max(_FEWEST, min(_ROWS, _CELLS // max(1, n_columns)))


def _n_bins(table: np.ndarray) -> int:
    if len(table):
        return int(table.max()) + 1
    return 1


def _binned_column(
    column: tuple[np.ndarray, np.ndarray | None, int, int | None],
) -> tuple[np.ndarray, np.ndarray | None]:
    """The edges of a continuous column, or the table of a categorical one."""
    x, w, max_bins, n_categories = column
    if n_categories is not None:
        return np.empty(0), _category_table(x, w, max_bins, n_categories)
    values, weights = _distinct(x, w)
    if len(values) > max_bins:
        indices = _cuts(weights, max_bins)
    else:
        indices = np.arange(1, len(values))
    return midpoints(values[indices - 1], values[indices]), None


def _distinct(x: np.ndarray, w: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values that are not missing, in order, each once, with their weights."""
    if w is None:
        x = np.sort(x)
        x = x[: len(x) - np.count_nonzero(np.isnan(x))]
        first = np.flatnonzero(
            np.append(np.ones(min(1, len(x)), bool), x[1:] != x[:-1])
        )
        return x[first].astype(np.float64), np.diff(np.append(first, len(x))).astype(
            np.float64
        )
    known = ~np.isnan(x)
    x = x[known]
    w = w[known]
    order = np.argsort(x, kind="stable")
    x = x[order]
    w = w[order]
    first = np.flatnonzero(np.append(np.ones(min(1, len(x)), bool), x[1:] != x[:-1]))
    return x[first].astype(np.float64), np.add.reduceat(w, first) if len(first) else w


def _cuts(weights: np.ndarray, max_bins: int) -> np.ndarray:
    """Where bins begin, except the first: a value counts at most as much as one bin.

    The size c of a bin solves Σ min(w, c) = max_bins · c. A value is in the bin in which its middle
    lies.
    """
    total = weights.sum()
    heavy = np.zeros(len(weights), dtype=bool)
    size = total / max_bins
    while (more := (weights > size) & ~heavy).any():
        heavy |= more
        left = max_bins - np.count_nonzero(heavy)
        if left <= 0:
            break
        size = weights[~heavy].sum() / left
    capped = np.minimum(weights, size)
    number = np.floor((np.cumsum(capped) - capped / 2) / (capped.sum() / max_bins))
    number = np.minimum(number, max_bins - 1)
    return np.flatnonzero(number[1:] != number[:-1]) + 1


def _category_table(
    x: np.ndarray, w: np.ndarray | None, max_bins: int, n_categories: int
) -> np.ndarray:
    if n_categories <= max_bins:
        return np.arange(n_categories, dtype=np.uint8)
    known = ~np.isnan(x) & (x >= 0)
    weight = np.bincount(
        x[known].astype(np.intp),
        None if w is None else w[known],
        minlength=n_categories,
    )
    heaviest = np.sort(np.argsort(-weight, kind="stable")[: max_bins - 1])
    table = np.full(n_categories, max_bins - 1, dtype=np.uint8)
    table[heaviest] = np.arange(max_bins - 1)
    return table
