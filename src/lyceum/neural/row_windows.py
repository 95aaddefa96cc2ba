"""Rows packed for a network: standardized inputs, target and weight side by side, in windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows, Schema, row_weights
from lyceum._core.statistics import Moments, held_out_rows
from lyceum._core.text import show_count
from lyceum._core.types import Weights
from lyceum.errors import DataError


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The rows for validation: those whose hash, a uniform of seed and row number, is at most
    `share`."""

    share: float
    seed: int

    def mask(self, block: Block) -> np.ndarray:
        return held_out_rows(block.start, len(block), self.share, self.seed)


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What must be known before training: rows that count, and are held out; moments of the columns
    and the target; and the weight of every class."""

    n_rows: int
    n_held: int
    cells: Moments
    target: Moments
    least_target: float
    weight: np.ndarray  # (K,), empty for numbers

    @classmethod
    def of(cls, block: Block, n_classes: int, held_out: HeldOut | None) -> FirstLook:
        n_held = 0
        if held_out is not None:
            held = held_out.mask(block)
            n_held = _n_weighted(block.take(held))
            block = block.take(~held)
        assert block.y is not None
        weight = np.bincount(block.y, block.w, n_classes) if n_classes else np.empty(0)
        target = replace(block, X=_as_columns(block.y))
        return cls(
            n_rows=_n_weighted(block),
            n_held=n_held,
            cells=Moments.of(block),
            target=Moments.of(target),
            least_target=float(np.min(target.X, initial=np.inf)),
            weight=weight.astype(np.float64),
        )

    def merge(self, other: FirstLook) -> FirstLook:
        return FirstLook(
            n_rows=self.n_rows + other.n_rows,
            n_held=self.n_held + other.n_held,
            cells=self.cells.merge(other.cells),
            target=self.target.merge(other.target),
            least_target=min(self.least_target, other.least_target),
            weight=self.weight + other.weight,
        )


def _as_columns(targets: np.ndarray) -> np.ndarray:
    """One target of every row as a column, several as they are."""
    columns = targets if targets.ndim == 2 else targets[:, None]
    return columns.astype(np.float64)


@dataclass(frozen=True, slots=True)
class TargetsApart:
    """A step that gives the rows their targets, which were read apart from the cells."""

    values: np.ndarray  # (n, n_targets)

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        return replace(block, y=self.values[block.start : block.start + len(block)])


def _n_weighted(block: Block) -> int:
    if block.w is None:
        return len(block)
    return int(np.count_nonzero(block.w))


def spread(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every column, 1 for a column that does not vary."""
    # a deviation of the size of the mean's rounding is none; a comparison with NaN is False
    variance = moments.variance()
    floor = (4 * np.finfo(np.float64).eps * moments.mean) ** 2
    with np.errstate(invalid="ignore"):
        varies = variance > floor
    return moments.mean, np.sqrt(np.where(varies, variance, 1.0))


@dataclass(frozen=True)
class RowPacker:
    """How a block becomes rows of d inputs, a target, or several, and a weight; rows without weight
    are left out."""

    shift: np.ndarray
    scale: np.ndarray
    dtype: Any
    # what is taken from the target, and what it is divided by
    target: tuple[Any, Any] = (0.0, 1.0)
    class_weight: np.ndarray | None = None
    held_out: HeldOut | None = None
    want: bool = False  # whether it is the held-out rows that are wanted

    def cells(self, block: Block) -> np.ndarray:
        """The inputs alone."""
        X = np.subtract(block.dense, self.shift, dtype=np.float64)
        X /= self.scale
        return X.astype(self.dtype, copy=False)

    def __call__(self, block: Block) -> np.ndarray:
        w = block.weights
        keep = w > 0
        if self.held_out is not None:
            keep &= self.held_out.mask(block) == self.want
        if self.class_weight is not None:
            w = w * self.class_weight[block.y]
            keep &= w > 0
        if not keep.all():
            block = block.take(keep)
            w = w[keep]
        assert block.y is not None
        return self._join(self.cells(block), block.y, w)

    def _join(self, cells: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        d = cells.shape[1]
        mean, scale = self.target
        targets = _as_columns((y - mean) / scale)
        packed = np.empty((len(cells), d + targets.shape[1] + 1), self.dtype)
        packed[:, :d] = cells
        packed[:, d:-1] = targets
        packed[:, -1] = w
        return packed

    def join(self, cells: np.ndarray, y: np.ndarray, w: Weights) -> np.ndarray:
        """Rows of validation, whose inputs, targets (codes or numbers) and weights are apart."""
        weights = np.asarray(row_weights(w, len(y)), dtype=np.float64)
        if not len(cells) == len(y) == len(weights):
            raise DataError(
                f"validation has {show_count(len(cells), 'row')}, {len(y)} targets and"
                f" {len(weights)} weights: give as many"
            )
        if self.class_weight is not None:
            weights = weights * self.class_weight[y]
        keep = weights > 0
        if not keep.any():
            raise DataError("no validation row has a weight above 0")
        return self._join(cells[keep], y[keep], weights[keep])


class Windows:
    """Packed rows, a window of consecutive ones at a time; all in one window if they are in memory
    or few.

    A window ends after `size` rows that count, wherever the blocks of the source end.
    """

    def __init__(self, rows: Rows, packer: RowPacker, size: int, n_rows: int):
        self._rows = rows
        self._packer = packer
        self._size = size
        self._all_rows: np.ndarray | None = None
        self._holds = rows.in_memory or n_rows <= size
        self._n_rows = n_rows

    def __iter__(self) -> Iterator[np.ndarray]:
        # rows in memory, or few, are packed once and given again in every epoch
        if not self._holds:
            return _windows(self._chunks(), self._size)
        if self._all_rows is None:
            windows = _windows(self._chunks(), max(self._n_rows, 1))
            self._all_rows = next(windows, None)
        return iter(() if self._all_rows is None else (self._all_rows,))

    def _chunks(self) -> Iterator[np.ndarray]:
        """Packed blocks; those of a stream one at a time: parts read ahead may outgrow the
        memory."""
        if self._rows.in_memory:
            return self._rows.map(self._packer)
        return map(self._packer, self._rows.blocks())

    def first(self) -> np.ndarray | None:
        """The first window, None if there are no rows."""
        return next(iter(self), None)


def _windows(chunks: Iterator[np.ndarray], size: int) -> Iterator[np.ndarray]:
    """The rows of the chunks in arrays of `size` rows, the last one shorter."""
    window = None
    filled = 0
    for chunk in chunks:
        while len(chunk):
            if window is None:
                window = np.empty((size, chunk.shape[1]), chunk.dtype)
            part = chunk[: size - filled]
            window[filled : filled + len(part)] = part
            filled += len(part)
            chunk = chunk[len(part) :]
            if filled == size:
                yield window
                window = None
                filled = 0
    if window is not None:
        yield window[:filled]


def look_beside_validation(
    rows: Rows, n_classes: int, held_out: HeldOut
) -> tuple[FirstLook, HeldOut]:
    """The first look, and which rows are held out: of few rows the hashes may hold out less than
    two, though the share of them is more; then twice the share is tried."""
    look = first_look(rows, n_classes, held_out)
    n_wanted = held_out.share * (look.n_rows + look.n_held)
    while look.n_held < 2 <= n_wanted:
        held_out = replace(held_out, share=2 * held_out.share)
        look = first_look(rows, n_classes, held_out)
    return look, held_out


def first_look(rows: Rows, n_classes: int, held_out: HeldOut | None) -> FirstLook:
    return rows.reduce(partial(FirstLook.of, n_classes=n_classes, held_out=held_out))
