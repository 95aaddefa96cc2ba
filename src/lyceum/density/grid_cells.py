"""The weight of the rows in every cell of an infinite grid; only cells that hold rows are
stored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Block
from lyceum.errors import DataError

_FARTHEST = float(1 << 53)  # beyond it float64 cannot tell neighboring cells apart


@dataclass(frozen=True, slots=True)
class CellWeights:
    """The weight of the rows in every cell that holds rows.

    Cell c holds origin + c width <= x < origin + (c + 1) width in every column.
    """

    cells: np.ndarray  # (m, d) of int64, distinct, in lexicographic order
    weight: np.ndarray  # (m,)
    n_rows: int

    @classmethod
    def of(cls, block: Block, origin: np.ndarray, width: np.ndarray) -> CellWeights:
        n_rows = len(block)
        block = block.without_zero_weights()
        X = np.asarray(block.X, dtype=np.float64)
        return cls(
            *sum_by_cell(cells_of(X, origin, width, block.schema.names), block.weights), n_rows
        )

    def merge(self, other: CellWeights) -> CellWeights:
        cells = np.concatenate([self.cells, other.cells])
        weight = np.concatenate([self.weight, other.weight])
        return CellWeights(*sum_by_cell(cells, weight), self.n_rows + other.n_rows)


def cells_of(
    X: np.ndarray, origin: np.ndarray, width: np.ndarray, names: tuple[str, ...]
) -> np.ndarray:
    """The cell of every row."""
    numbers = np.floor((X - origin) / width)
    far = np.abs(numbers) >= _FARTHEST
    if far.any():
        j = int(far.any(axis=0).argmax())
        raise DataError(
            f"column {names[j]!r} has cells farther than 2^53 bin widths from the origin: "
            "give a larger bin_width, or an origin near the rows"
        )
    return numbers.astype(np.int64)


def find_cells(known: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The position of every cell among the known ones, which are sorted; -1 for other cells."""
    low = known.min(axis=0)
    high = known.max(axis=0)
    inside = ((cells >= low) & (cells <= high)).all(axis=1)
    keys = _keys(known, low, high)
    wanted = _keys(cells[inside], low, high)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = np.full(len(cells), -1)
    found[inside] = np.where(keys[position] == wanted, position, -1)
    return found


def sum_by_cell(cells: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct cells in order, with the summed weights of their rows."""
    if not len(cells):
        return cells, w
    keys = _keys(cells, cells.min(axis=0), cells.max(axis=0))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return cells[first], np.bincount(which, w, len(first))


def _keys(cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """One sortable number or byte string per cell, in lexicographic order of the columns."""
    spans = [int(b) - int(a) + 1 for a, b in zip(low, high)]
    size = 1
    for span in spans:
        size *= span
    shifted = cells - low
    if size < 1 << 62:
        key = np.zeros(len(cells), dtype=np.int64)
        for j, span in enumerate(spans):
            key = key * span + shifted[:, j]
        return key
    # big-endian bytes compare as the numbers do
    return np.ascontiguousarray(shifted.astype(">u8")).view(f"S{8 * cells.shape[1]}")[:, 0]
