"""Histograms of a target over the bins of every column, node by node: what binned trees are grown
from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from lyceum._core.data import Block, as_float, row_weights
from lyceum._core.native import native

EVERY_CHILD = -2  # a branch that leads to all children, by their shares
_ADDITIONS = 4  # to a cell, on the average, that are worth a new table


class Coder(Protocol):
    """Codes a block: one bin or category per cell, the code after a column's last where it is
    missing."""

    def code(self, block: Block) -> np.ndarray: ...


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """A tree so far, in codes, and those of its nodes whose rows are to be summed: the ones with a
    slot.

    Children come after their parent and follow each other. The branches of a split are a table over
    the codes of its column, the missing code last: the node that a code leads to, −1 where a row
    stays, −2 where it goes to every child with the child's `share` of its weight.
    """

    # int64 (d + 1,), where the cells of every column start; the last cell is for missing
    offsets: np.ndarray
    feature: np.ndarray  # int32 (n_nodes,), −1 where there is no split
    table: np.ndarray  # int64, where the branches of a node start
    branches: np.ndarray  # int32
    child: np.ndarray  # int32, the first child
    n_children: np.ndarray  # int32
    share: np.ndarray  # float64, of a node among its siblings
    slot: np.ndarray  # int32, −1 where rows are not summed

    @classmethod
    def of_root(cls, n_cells: Sequence[int] | np.ndarray) -> Frontier:
        """The root alone; `n_cells` are the codes of every column, with the missing one."""
        none = np.full(1, -1, dtype=np.int32)
        return cls(
            offsets=np.concatenate([[0], np.cumsum(n_cells)]).astype(np.int64),
            feature=none,
            table=np.zeros(1, np.int64),
            branches=np.zeros(0, np.int32),
            child=none,
            n_children=none,
            share=np.ones(1),
            slot=np.zeros(1, np.int32),
        )

    @property
    def n_slots(self) -> int:
        return int(self.slot.max()) + 1

    @property
    def n_cells(self) -> int:
        return int(self.offsets[-1])

    @property
    def divides(self) -> bool:
        """Whether a row can reach several nodes, with a share of its weight in each."""
        return bool((self.branches == EVERY_CHILD).any())

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays in the order of the kernels."""
        return tuple(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows in codes that are yet to be summed."""

    codes: np.ndarray  # (n, d) uint8 or uint16
    y: np.ndarray
    w: np.ndarray | None

    @classmethod
    def concatenate(cls, parts: Sequence[CodedRows]) -> CodedRows:
        if len(parts) == 1:
            return parts[0]
        w = None
        if any(part.w is not None for part in parts):
            w = np.concatenate([row_weights(part.w, len(part.y)) for part in parts])
        return cls(
            codes=np.concatenate([part.codes for part in parts]),
            y=np.concatenate([part.y for part in parts]),
            w=w,
        )


@dataclass(frozen=True, slots=True, eq=False)
class NodeHistograms:
    """For every slot of a frontier and every bin of every column: the sums of the target of the
    rows there.

    Of K classes (`n_classes`) a cell holds the weight of every class; of a number it holds Σw, Σwz
    and Σwz² with z = y − c for the slot's `center` c, so that a large mean costs no digits. The
    last channel counts the rows, divided rows too; it is left out for classes whose weights are
    counts already.

    Tables of many nodes are larger than the rows of one block, so rows wait in codes, one byte per
    cell, until they are worth a pass over the tables. Sums of integer weights are exact for any
    blocks.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> class Whole:
    ...     def code(self, block):
    ...         return block.X.astype(np.uint8)
    >>> rows = scan(pa.table({"x": [0.0, 1.0, 2.0, 1.0], "y": ["a", "b", "b", "a"]}), target="y")
    >>> root = Frontier.of_root([3 + 1])
    >>> sums = rows.reduce(lambda block: NodeHistograms.of(block, Whole(), root, n_classes=2))
    >>> sums.tables[0].tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    """

    frontier: Frontier
    n_classes: int | None
    center: np.ndarray  # (slots,)
    counted: bool
    summed: np.ndarray | None  # (slots, cells, channels)
    waiting: tuple[CodedRows, ...]

    @classmethod
    def of(
        cls,
        block: Block,
        coder: Coder,
        frontier: Frontier,
        n_classes: int | None = None,
        center: np.ndarray | None = None,
    ) -> NodeHistograms:
        """`coder` gives the codes of the block; `n_classes` is None where the target is a number.

        Unless the centers of the slots are given, they are the mean of the first block.
        """
        assert block.y is not None
        y = block.y
        middle = 0.0
        if n_classes is None:
            y = np.ascontiguousarray(y, dtype=np.float64)
            middle = block.y.mean()
        if center is None:
            center = np.full(frontier.n_slots, middle)
        rows = CodedRows(coder.code(block), y, block.w)
        # without a channel of counts, the sums of the classes are numbers of rows
        counted = n_classes is None or block.w is not None or frontier.divides
        return cls(frontier, n_classes, center, counted, None, (rows,))._sum_if_worth()

    def merge(self, other: NodeHistograms) -> NodeHistograms:
        # tables of both about the same centers, with the same channels
        counted = self.counted or other.counted
        summed = self._table(counted, self.center)
        more = other._table(counted, self.center)
        if summed is None:
            summed = more
        elif more is not None:
            summed = summed + more
        both = replace(
            self, counted=counted, summed=summed, waiting=self.waiting + other.waiting
        )
        return both._sum_if_worth()

    @property
    def tables(self) -> np.ndarray:
        """The sums of all rows, (slots, cells, channels)."""
        if self.summed is None or self.waiting:
            return self._sum_waiting().tables
        return self.summed

    @property
    def n_channels(self) -> int:
        if self.n_classes is None:
            return 4
        return self.n_classes + self.counted

    @property
    def _size(self) -> int:
        return self.frontier.n_slots * self.frontier.n_cells * self.n_channels

    def _table(self, counted: bool, center: np.ndarray) -> np.ndarray | None:
        """The sums about other centers, with the channel of counts if it is wanted."""
        if self.summed is not None and counted > self.counted:
            counts = self.summed.sum(axis=2, keepdims=True)
            return np.append(self.summed, counts, axis=2)
        if (
            self.summed is None
            or self.n_classes is not None
            or np.array_equal(self.center, center)
        ):
            return self.summed
        return recenter(self.summed, (self.center - center)[:, None])

    def _sum_if_worth(self) -> NodeHistograms:
        """Sum the waiting rows once their additions outnumber the cells of the tables."""
        # tables of many nodes are large: rows of small blocks wait until summing them is worth it
        additions = sum(rows.codes.size for rows in self.waiting)
        if additions >= _ADDITIONS * self._size:
            return self._sum_waiting()
        return self

    def _sum_waiting(self) -> NodeHistograms:
        if self.summed is None:
            frontier = self.frontier
            out = np.zeros((frontier.n_slots, frontier.n_cells, self.n_channels))
        else:
            out = self.summed.copy()
        if self.waiting:
            rows = CodedRows.concatenate(self.waiting)
            add: Any = native.class_histograms
            option: Any = self.counted
            if self.n_classes is None:
                add = native.number_histograms
                option = self.center
            add(rows.codes, *self.frontier.arrays, rows.y, rows.w, option, out)
        return replace(self, summed=out, waiting=())


def recenter(sums: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Sums (…, 4) of w, wz and wz² as those of z + shift."""
    # Σ w (z + s)² = Σ w z² + s (Σ w z + Σ w (z + s))
    moved = sums.copy()
    moved[..., 1] += shift * sums[..., 0]
    moved[..., 2] += shift * (sums[..., 1] + moved[..., 1])
    return moved


@dataclass(frozen=True, slots=True, eq=False)
class BinRanges:
    """The smallest and the largest value in every bin of every column; inf and −inf where there is
    none."""

    low: np.ndarray  # (cells,)
    high: np.ndarray

    @classmethod
    def of(cls, block: Block, coder: Coder, offsets: np.ndarray) -> BinRanges:
        low = np.full(offsets[-1], np.inf)
        high = np.full(offsets[-1], -np.inf)
        X = block.X
        codes = coder.code(block)
        if block.w is not None:
            X = X[block.w > 0]
            codes = codes[block.w > 0]
        X = np.ascontiguousarray(as_float(X))
        native.bin_ranges(X, codes, offsets, low, high)
        return cls(low, high)

    def merge(self, other: BinRanges) -> BinRanges:
        return BinRanges(
            np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        )
