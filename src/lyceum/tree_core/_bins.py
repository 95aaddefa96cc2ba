"""Bins: cells in one byte, for trees that are grown on histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from lyceum._native import native
from lyceum._threads import ordered_map
from lyceum.data import Block, Rows

__all__ = ["BinnedRows", "Bins", "Coded", "UniformRowSample", "bin_rows"]

_ROWS, _CELLS, _FEWEST = 1 << 17, 1 << 25, 1 << 14  # of the sample that edges are found on
_SLOTS = 256  # edges of a column in the kernel's table
_SEED = 2001


@dataclass(frozen=True)
class Bins:
    """What bin a cell is in. Bin b of a continuous column holds (e_{b−1}, e_b], for its rising edges e.

    A column of at most `max_bins` distinct values has a bin for each, with the edges midway between
    neighbours. Any other has bins of about the same weight, but that a value heavier than a bin has one of
    its own. A category has the bin of its code; of more than `max_bins` categories the heaviest keep a bin
    and the others share the last. A missing cell, and a category that is unknown, is in bin `n_bins[j]`.

    Edges are found on a sample of 65 to 131 thousand rows where there are more, fewer where there are
    more than 256 columns. The sample goes by the numbers of the rows, not by blocks: arrays, files and
    Dask have the same bins.

    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[1.0], [2.0], [np.nan], [4.0]]))
    >>> bins = Bins.of(rows)
    >>> bins.edges[0].tolist(), bins.code(next(rows.blocks())).ravel().tolist()
    ([1.5, 3.0], [0, 1, 3, 2])
    """

    edges: tuple[np.ndarray, ...]  # float64, of no length for a categorical column
    n_bins: np.ndarray  # int32 (d,), without the one of missing cells
    tables: tuple[np.ndarray, ...]  # uint8, the bin of every category; of no length for a continuous column

    @classmethod
    def of(cls, rows: Rows, max_bins: int = 255) -> Bins:
        """The bins of a source of coded rows, found in one pass."""
        size = sample_size(len(rows.schema))
        sample = rows.reduce(partial(UniformRowSample.of, size=size, n_rows=rows.n_rows))
        X, w = sample.cells()
        columns = [
            (X[:, j], w, max_bins, len(column.categories) if column.categories is not None else None)
            for j, column in enumerate(rows.schema)
        ]
        found = list(ordered_map(_binned_column, columns))
        sizes = [len(edges) + 1 if table is None else _n_bins(table) for edges, table in found]
        tables = tuple(np.empty(0, np.uint8) if table is None else table for _, table in found)
        return cls(tuple(edges for edges, _ in found), np.array(sizes, dtype=np.int32), tables)

    @property
    def is_category(self) -> np.ndarray:
        """Which columns are categorical."""
        return np.array([len(table) > 0 for table in self.tables])

    def __len__(self) -> int:
        return len(self.edges)

    def code(
        self, block: Block, out: np.ndarray | None = None, columns: np.ndarray | None = None
    ) -> np.ndarray:
        """The bins of a block's cells, (n, d) uint8; `out` may have any strides.

        `columns`, (d, n), is written too if it is given, column by column.
        """
        if out is None:
            out = np.empty((len(block), len(self)), dtype=np.uint8)
        X = block.X if block.X.dtype in (np.float32, np.float64) else block.X.astype(np.float64)
        edges = self._edges if X.dtype == np.float64 else self._single_edges
        native.bin_codes(np.ascontiguousarray(X), edges, self.n_bins, *self._categories, out, columns)
        return out

    @cached_property
    def _edges(self) -> np.ndarray:
        slots = np.full((len(self), _SLOTS), np.inf)
        for j, edges in enumerate(self.edges):
            slots[j, : len(edges)] = edges
        return slots

    @cached_property
    def _single_edges(self) -> np.ndarray:
        """The largest float32 that is not above the edge: it has the same float32 cells below it."""
        with np.errstate(over="ignore"):
            near = self._edges.astype(np.float32)
        return np.where(near > self._edges, np.nextafter(near, np.float32(-np.inf)), near)

    @cached_property
    def _categories(self) -> tuple[np.ndarray, np.ndarray]:
        start = np.concatenate([[0], np.cumsum([len(table) for table in self.tables])]).astype(np.int64)
        return start, np.concatenate([np.empty(0, np.uint8), *self.tables])


@dataclass(frozen=True, slots=True)
class Coded:
    """The codes of one block, made once, for all that ask for them."""

    codes: np.ndarray

    def code(self, block: Block) -> np.ndarray:
        return self.codes


# -- edges -------------------------------------------------------------------------------------------------


def sample_size(n_columns: int) -> int:
    """How many rows a sample for edges may have at most."""
    return max(_FEWEST, min(_ROWS, _CELLS // max(1, n_columns)))


def _n_bins(table: np.ndarray) -> int:
    return int(table.max()) + 1 if len(table) else 1


def _binned_column(
    column: tuple[np.ndarray, np.ndarray | None, int, int | None],
) -> tuple[np.ndarray, np.ndarray | None]:
    """The edges of a continuous column, or the table of a categorical one."""
    x, w, max_bins, n_categories = column
    if n_categories is not None:
        return np.empty(0), _category_table(x, w, max_bins, n_categories)
    values, weights = _distinct(x, w)
    if len(values) > max_bins:
        places = _cuts(weights, max_bins)
    else:
        places = np.arange(1, len(values))
    return _between(values[places - 1], values[places]), None


def _distinct(x: np.ndarray, w: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values that are not missing, in order, each once, with their weights."""
    if w is None:
        x = np.sort(x)
        x = x[: len(x) - np.count_nonzero(np.isnan(x))]
        first = np.flatnonzero(np.append(np.ones(min(1, len(x)), bool), x[1:] != x[:-1]))
        return x[first].astype(np.float64), np.diff(np.append(first, len(x))).astype(np.float64)
    there = ~np.isnan(x)
    x, w = x[there], w[there]
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    first = np.flatnonzero(np.append(np.ones(min(1, len(x)), bool), x[1:] != x[:-1]))
    return x[first].astype(np.float64), np.add.reduceat(w, first) if len(first) else w


def _cuts(weights: np.ndarray, max_bins: int) -> np.ndarray:
    """Where bins begin, but the first: a value counts at most as a whole bin does.

    The size c of a bin solves Σ min(w, c) = max_bins · c. A value is in the bin in which its middle lies.
    """
    total, heavy = weights.sum(), np.zeros(len(weights), dtype=bool)
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


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Midway between two neighbours, or the lower one where there is no number between."""
    middle = low / 2 + high / 2
    return np.where((middle >= high) | (middle < low), low, middle)


def _category_table(x: np.ndarray, w: np.ndarray | None, max_bins: int, n_categories: int) -> np.ndarray:
    if n_categories <= max_bins:
        return np.arange(n_categories, dtype=np.uint8)
    known = ~np.isnan(x) & (x >= 0)
    weight = np.bincount(x[known].astype(np.intp), None if w is None else w[known], minlength=n_categories)
    kept = np.sort(np.argsort(-weight, kind="stable")[: max_bins - 1])
    table = np.full(n_categories, max_bins - 1, dtype=np.uint8)
    table[kept] = np.arange(max_bins - 1)
    return table


@dataclass(frozen=True, slots=True)
class UniformRowSample:
    """Cells and weights of the rows whose hash is below 2^−level, for the least level with at most `size`.

    A part of the rows has no higher a level than all of them: whatever the blocks and the order of merging,
    the same rows are left (adaptive sampling, Wegman; in Flajolet 1990). Rows of no weight are not drawn.
    """

    size: int
    level: int
    pieces: tuple[tuple[np.ndarray, np.ndarray, np.ndarray | None], ...]  # hashes, cells, weights

    @classmethod
    def of(cls, block: Block, size: int, n_rows: int | None = None) -> UniformRowSample:
        """The sample of a block; how many rows there are in all saves keeping those that will be dropped."""
        hashes = np.empty(len(block))
        native.hash_uniform(block.start, _SEED, hashes)
        # a level lower than what is likely: weights of zero may leave few rows
        level = max(0, int(np.log2(n_rows / size)) - 1) if n_rows and block.w is None else 0
        keep = hashes <= 0.5**level
        if block.w is not None:
            keep &= block.w > 0
        weights = None if block.w is None else block.w[keep]
        X = block.X if keep.all() else block.X[keep]
        return cls(size, level, ((hashes[keep], X, weights),))._sieved()

    def merge(self, other: UniformRowSample) -> UniformRowSample:
        level = max(self.level, other.level)
        pieces = self._at(level).pieces + other._at(level).pieces
        return UniformRowSample(self.size, level, pieces)._sieved()

    def _sieved(self) -> UniformRowSample:
        level, hashes = self.level, [piece[0] for piece in self.pieces]
        while sum(map(len, hashes)) > self.size:
            level += 1
            hashes = [h[h <= 0.5**level] for h in hashes]
        return self._at(level)

    def _at(self, level: int) -> UniformRowSample:
        """The rows that are left at a level."""
        if level == self.level:
            return self
        return UniformRowSample(self.size, level, tuple(_below(0.5**level, piece) for piece in self.pieces))

    def cells(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The cells, column after column in memory, and the weights."""
        _, cells, weights = zip(*self.pieces)
        X = np.empty((sum(map(len, cells)), cells[0].shape[1]), dtype=np.result_type(*cells), order="F")
        np.concatenate(cells, out=X)
        return X, None if weights[0] is None else np.concatenate(weights)


def _below(
    limit: float, piece: tuple[np.ndarray, np.ndarray, np.ndarray | None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    hashes, X, weights = piece
    keep = hashes <= limit
    return hashes[keep], X[keep], None if weights is None else weights[keep]


# -- binned rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BinnedRows:
    """All rows in bins, row by row and column by column: two bytes a cell; with targets and weights.

    Rows of no weight are left out.
    """

    codes: np.ndarray  # uint8 (n, d), the cells of a row next to each other
    columns: np.ndarray  # uint8 (d, n)
    y: np.ndarray | None
    w: np.ndarray | None

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, keep: np.ndarray) -> BinnedRows:
        """Some of the rows."""
        codes = _room(len(self.codes[keep, 0]), self.codes.shape[1])
        codes[:] = self.codes[keep]
        y, w = (None if values is None else values[keep] for values in (self.y, self.w))
        return BinnedRows(codes, np.ascontiguousarray(self.columns[:, keep]), y, w)


def bin_rows(rows: Rows, bins: Bins) -> BinnedRows:
    """Read all rows of any source as bins."""
    if rows.n_rows is None or hasattr(rows.source, "reduce"):
        binned = _joined(rows.reduce(partial(_Pieces.of, bins=bins)).pieces)
    else:
        binned = _filled(rows, bins, rows.n_rows)
    return binned if binned.w is None or binned.w.all() else binned.take(binned.w > 0)


def _room(n: int, d: int) -> np.ndarray:
    """An array of (n, d) bytes whose rows do not straddle cache lines, if that takes at most a third more."""
    step = next((size for size in (16, 32, 64) if d <= size <= d + d // 3), d)
    return np.zeros((n, step), dtype=np.uint8)[:, :d]


def _filled(rows: Rows, bins: Bins, n: int) -> BinnedRows:
    """Blocks write to their places in arrays for all rows."""
    codes, columns = _room(n, len(bins)), np.empty((len(bins), n), dtype=np.uint8)
    kept: dict[str, np.ndarray] = {}

    def fill(block: Block) -> np.ndarray:
        here = slice(block.start, block.start + len(block))
        bins.code(block, codes[here], columns[:, here])
        for name, values in (("y", block.y), ("w", block.w)):
            if values is not None:
                # one of two threads may be first: setdefault is atomic
                kept.setdefault(name, np.zeros(n, dtype=values.dtype))[here] = values
        return np.empty(0)

    for _ in rows.map(fill):
        pass
    return BinnedRows(codes, columns, kept.get("y"), kept.get("w"))


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Binned blocks one after the other."""

    pieces: tuple[BinnedRows, ...]

    @classmethod
    def of(cls, block: Block, bins: Bins) -> _Pieces:
        columns = np.empty((len(bins), len(block)), dtype=np.uint8)
        return cls((BinnedRows(bins.code(block, columns=columns), columns, block.y, block.w),))

    def merge(self, other: _Pieces) -> _Pieces:
        return _Pieces(self.pieces + other.pieces)


def _joined(pieces: Sequence[BinnedRows]) -> BinnedRows:
    codes = _room(sum(map(len, pieces)), pieces[0].codes.shape[1])
    np.concatenate([piece.codes for piece in pieces], out=codes)
    columns = np.concatenate([piece.columns for piece in pieces], axis=1)
    y, w = (
        None if values[0] is None else np.concatenate(values)
        for values in zip(*((piece.y, piece.w) for piece in pieces))
    )
    return BinnedRows(codes, columns, y, w)
