"""Bins: cells in one byte, for trees that are grown on histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from lyceum._core.data import Block, Rows, Schema, as_float
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
    # uint8, the bin of every category; empty for a continuous column
    tables: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, rows: Rows, max_bins: int = 255) -> Bins:
        """The bins of a source of coded rows, found in one pass."""
        size = sample_size(len(rows.schema))
        sample = rows.reduce(
            partial(UniformRowSample.of, size=size, n_rows=rows.n_rows)
        )
        X, w = sample.cells()
        work = partial(_bin_column, X, w, max_bins, rows.schema)
        each = ordered_map if X.size > _FEW else map
        binned = list(each(work, range(len(rows.schema))))
        return cls(
            edges=tuple(edges for edges, _, _ in binned),
            n_bins=np.array([n_bins for _, n_bins, _ in binned], dtype=np.int32),
            tables=tuple(table for _, _, table in binned),
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
        X = np.ascontiguousarray(as_float(block.X))
        if X.dtype == np.float64:
            edges = self._edges
        else:
            edges = self._single_edges
        native.bin_codes(X, edges, self.n_bins, *self._categories, out, columns)
        return out

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where the cells of every column start in a table of all bins; each column's last is for
        missing."""
        sizes = self.n_bins + 1
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def with_categories(self, tree: Tree) -> Tree:
        """A tree whose branches are by bin, with branches by category; categories may share a
        bin."""
        return self._with_branches(tree, self.tables)

    def with_bins(self, tree: Tree) -> Tree:
        """The tree before `with_categories`: the branch of a bin is that of its first category."""
        first = [np.unique(table, return_index=True)[1] for table in self.tables]
        return self._with_branches(tree, first)

    def _with_branches(self, tree: Tree, indices: Sequence[np.ndarray]) -> Tree:
        """The tree with the branches of every node taken from `indices` of its table."""
        # one bin per category, in their order: the tables are the same
        sizes = np.array([len(table) for table in self.tables])
        if np.all((sizes == self.n_bins) | (sizes == 0)):
            return tree
        branches = [np.empty(0, np.int32)]
        table = tree.table.copy()
        n_codes = tree.n_codes.copy()
        start = 0
        for node in np.flatnonzero(tree.n_codes > 0):
            index = indices[tree.feature[node]].astype(np.intp)
            branches.append(tree.branches[tree.table[node] + index])
            table[node] = start
            n_codes[node] = len(index)
            start += len(index)
        return replace(
            tree, table=table, n_codes=n_codes, branches=np.concatenate(branches)
        )

    @cached_property
    def _edges(self) -> np.ndarray:
        # rows of one length, filled up by infinity, which no cell is above
        slots = np.full((len(self), _SLOTS), np.inf)
        for j, edges in enumerate(self.edges):
            slots[j, : len(edges)] = edges
        return slots

    @cached_property
    def _single_edges(self) -> np.ndarray:
        """The largest float32 that is not above the edge: it has the same float32 cells below
        it."""
        with np.errstate(over="ignore"):
            nearest = self._edges.astype(np.float32)
        below = np.nextafter(nearest, np.float32(-np.inf))
        return np.where(nearest > self._edges, below, nearest)

    @cached_property
    def _categories(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the table of every column starts, and all tables."""
        start = np.cumsum([0, *map(len, self.tables)], dtype=np.int64)
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


def _bin_column(
    X: np.ndarray, w: np.ndarray | None, max_bins: int, schema: Schema, j: int
) -> tuple[np.ndarray, int, np.ndarray]:
    """The edges of column j, its number of bins, and the bins of its categories; edges or bins are
    empty."""
    categories = schema[j].categories
    if categories is not None:
        table = _category_table(X[:, j], w, max_bins, len(categories))
        return np.empty(0), int(table.max(initial=0)) + 1, table
    values, weights = _distinct(X[:, j], w)
    if len(values) > max_bins:
        first = _cuts(weights, max_bins)
    else:
        first = np.arange(1, len(values))
    edges = midpoints(values[first - 1], values[first])
    return edges, len(edges) + 1, np.empty(0, np.uint8)


def _distinct(x: np.ndarray, w: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values that are not missing, in order, each once, with their weights."""
    if w is None:
        x = np.sort(x)
        x = x[: len(x) - np.count_nonzero(np.isnan(x))]  # which are last
    else:
        known = ~np.isnan(x)
        x = x[known]
        order = np.argsort(x, kind="stable")
        x = x[order]
        w = w[known][order]
    # where a value is another than the one before
    is_first = np.ones(len(x), dtype=bool)
    np.not_equal(x[1:], x[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    values = x[first].astype(np.float64)
    if w is None:
        counts = np.diff(np.append(first, len(x)))
        return values, counts.astype(np.float64)
    if not len(first):
        return values, w
    return values, np.add.reduceat(w, first)


def _cuts(weights: np.ndarray, max_bins: int) -> np.ndarray:
    """Where bins begin, except the first: a value counts at most as much as one bin.

    The size c of a bin solves Σ min(w, c) = max_bins · c. A value is in the bin in which its middle
    lies.
    """
    # Heavy values have a bin each; the others share the rest evenly. With fewer bins left, a bin
    # of the others is smaller, and more values may count as heavy.
    heavy = np.zeros(len(weights), dtype=bool)
    size = weights.sum() / max_bins
    while (more := (weights > size) & ~heavy).any():
        heavy |= more
        n_left = max_bins - np.count_nonzero(heavy)
        if n_left <= 0:
            break
        size = weights[~heavy].sum() / n_left
    capped = np.minimum(weights, size)
    middle = np.cumsum(capped) - capped / 2
    number = np.floor(middle / (capped.sum() / max_bins))
    number = np.minimum(number, max_bins - 1)
    return np.flatnonzero(number[1:] != number[:-1]) + 1


def _category_table(
    x: np.ndarray, w: np.ndarray | None, max_bins: int, n_categories: int
) -> np.ndarray:
    """The bin of every category; those of least weight share the last if there are too many."""
    if n_categories <= max_bins:
        return np.arange(n_categories, dtype=np.uint8)
    known = ~np.isnan(x) & (x >= 0)
    code = x[known].astype(np.intp)
    known_weight = None if w is None else w[known]
    weight = np.bincount(code, known_weight, minlength=n_categories)
    by_weight = np.argsort(-weight, kind="stable")
    heaviest = np.sort(by_weight[: max_bins - 1])
    table = np.full(n_categories, max_bins - 1, dtype=np.uint8)
    table[heaviest] = np.arange(max_bins - 1)
    return table
