"""BinnedRows: all rows in memory, one byte per cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.trees.growth.bins import Bins, BlockCodes
from lyceum._core.trees.growth.node_histograms import BinRanges
from lyceum._core.trees.ranked_columns import Columns


@dataclass(frozen=True, slots=True)
class BinnedRows:
    """All rows in memory as bins, one byte per cell, with targets and weights.

    Trees and forests search splits column by column. Boosting also deals rows out to nodes, for
    which `by_row` holds the same bins a second time, row by row.

    Unlike `Rows.in_one_block`, which holds cells as they are, this never holds more than a block of
    them: a file or a Dask collection eight times as large fits.
    """

    bins: Bins
    columns: np.ndarray  # uint8 (d, n)
    y: np.ndarray | None
    w: np.ndarray | None
    # uint8 (n, d), the cells of a row next to each other
    by_row: np.ndarray | None = None
    ranges: BinRanges | None = None

    @classmethod
    def of(
        cls, rows: Rows, bins: Bins, *, by_row: bool = False, ranges: bool = False
    ) -> BinnedRows:
        """Read all rows of any source.

        Parameters
        ----------
        rows : Rows
        bins : Bins
        by_row : bool, default=False
            Whether to hold the bins row by row too.
        ranges : bool, default=False
            Whether to find the smallest and the largest value of every bin, which `ranked_columns`
            needs.
        """
        if rows.n_rows is None or rows.on_dask:
            of = partial(_Pieces.of, bins=bins, by_row=by_row, ranges=ranges)
            return rows.reduce(of).binned_rows()
        return _fill(rows, bins, rows.n_rows, by_row, ranges)

    def __len__(self) -> int:
        return self.columns.shape[1]

    def take(self, keep: np.ndarray) -> BinnedRows:
        """Some of the rows."""
        columns = np.ascontiguousarray(self.columns[:, keep])
        codes = None
        if self.by_row is not None:
            codes = _aligned_array(columns.shape[1], len(columns))
            codes[:] = self.by_row[keep]
        return replace(
            self,
            columns=columns,
            y=None if self.y is None else self.y[keep],
            w=None if self.w is None else self.w[keep],
            by_row=codes,
        )

    def positive(self) -> BinnedRows:
        """The rows whose weight is above zero."""
        if self.w is None or self.w.all():
            return self
        return self.take(self.w > 0)

    @property
    def ranked_columns(self) -> Columns:
        """The bins as ranks, whose values are the ranges of the bins; an empty bin is as the one
        before."""
        assert self.ranges is not None
        bins = self.bins
        lower = []
        upper = []
        n_ranges = np.where(bins.is_category, 0, bins.n_bins)
        for start, n in zip(bins.offsets, n_ranges):
            column = slice(start, start + n)
            lower.append(self.ranges.low[column].copy())
            upper.append(np.maximum.accumulate(self.ranges.high[column]))
        return Columns(
            codes=self.columns,
            n_codes=bins.n_bins,
            is_category=bins.is_category,
            lower=tuple(lower),
            upper=tuple(upper),
        )


def _aligned_array(n: int, d: int) -> np.ndarray:
    """An array of (n, d) bytes whose rows do not straddle cache lines, if that takes at most a
    third more."""
    sizes = [size for size in (16, 32, 64) if d <= size <= d + d // 3]
    step = sizes[0] if sizes else d
    return np.zeros((n, step), dtype=np.uint8)[:, :d]


def _fill(rows: Rows, bins: Bins, n: int, by_row: bool, ranges: bool) -> BinnedRows:
    """Blocks write to their places in arrays for all rows."""
    columns = np.empty((len(bins), n), dtype=np.uint8)
    codes = None
    if by_row:
        codes = _aligned_array(n, len(bins))
    targets: dict[str, np.ndarray] = {}

    def fill(block: Block) -> np.ndarray:
        rows_of_block = slice(block.start, block.start + len(block))
        out = None if codes is None else codes[rows_of_block]
        cell_codes = bins.code(block, out, columns[:, rows_of_block])
        for name, values in (("y", block.y), ("w", block.w)):
            if values is not None:
                # one of two threads may be first: setdefault is atomic
                array = targets.setdefault(name, np.zeros(n, dtype=values.dtype))
                array[rows_of_block] = values
        if ranges:
            return _range_array(block, cell_codes, bins)
        return np.empty(0)

    parts = list(rows.map(fill))
    limits: list[BinRanges] = []
    if ranges:
        # a part of a file is several blocks, each with its own low and high
        limits = [BinRanges(*low_high) for part in parts for low_high in part]
    return BinnedRows(
        bins=bins,
        columns=columns,
        y=targets.get("y"),
        w=targets.get("w"),
        by_row=codes,
        ranges=reduce(BinRanges.merge, limits) if limits else None,
    )


def _range_array(block: Block, codes: np.ndarray, bins: Bins) -> np.ndarray:
    ranges = BinRanges.of(block, BlockCodes(np.ascontiguousarray(codes)), bins.offsets)
    return np.stack([ranges.low, ranges.high])[None]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Binned blocks one after the other, of a source whose number of rows is not known."""

    pieces: tuple[BinnedRows, ...]

    @classmethod
    def of(cls, block: Block, bins: Bins, by_row: bool, ranges: bool) -> _Pieces:
        columns = np.empty((len(bins), len(block)), dtype=np.uint8)
        codes = bins.code(block, columns=columns)
        limits = None
        if ranges:
            limits = BinRanges(*_range_array(block, codes, bins)[0])
        piece = BinnedRows(
            bins=bins,
            columns=columns,
            y=block.y,
            w=block.w,
            by_row=codes if by_row else None,
            ranges=limits,
        )
        return cls((piece,))

    def merge(self, other: _Pieces) -> _Pieces:
        return _Pieces(self.pieces + other.pieces)

    def binned_rows(self) -> BinnedRows:
        pieces = self.pieces
        columns = np.concatenate([piece.columns for piece in pieces], axis=1)
        codes = None
        code_parts = [piece.by_row for piece in pieces if piece.by_row is not None]
        if code_parts:
            codes = _aligned_array(columns.shape[1], len(columns))
            np.concatenate(code_parts, out=codes)
        limits = [piece.ranges for piece in pieces if piece.ranges is not None]
        return BinnedRows(
            bins=pieces[0].bins,
            columns=columns,
            y=_concatenate([piece.y for piece in pieces]),
            w=_concatenate([piece.w for piece in pieces]),
            by_row=codes,
            ranges=reduce(BinRanges.merge, limits) if limits else None,
        )


def _concatenate(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    if parts[0] is None:
        return None
    return np.concatenate(parts)  # type: ignore[arg-type]
