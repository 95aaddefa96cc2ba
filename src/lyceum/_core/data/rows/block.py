"""A block of rows: the unit that statistics summarize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data.schema.schema import Schema, with_texts_of
from lyceum._core.types import Data

# about 4 MB of float64: large against Python's cost per block, small against the cache
_CELLS = 1 << 19


def block_rows(n_columns: int) -> int:
    """Rows in a block: a power of two from 1024 to 16384 that depends on the number of columns
    alone."""
    fitting = max(1, _CELLS // max(1, n_columns))
    # rounded down to a power of two
    return min(16384, max(1024, 1 << (fitting.bit_length() - 1)))


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows: their cells, targets and weights, and the number of the first row.

    Cells of numeric columns are their numbers, cells of other categorical columns are codes into
    the categories of the schema. A missing cell is NaN, a category that the schema does not know is
    -1. `y` holds class codes (int32, -1 when missing) or numbers (float64, NaN when missing).

    Attributes
    ----------
    X : array of shape (n, d), or CSR
        The cells.
    y : array or None
        Class codes or numbers; None without a target.
    w : array or None
        Weights; None if all are 1.
    start : int
        The number of the first row.
    schema : Schema
        The columns.
    n_classes : int
        The number of classes of the target.
    weight : float
        The total weight of the rows.
    weights : array of shape (n,)
        The weight of every row, 1 where none are given.
    dense : array of shape (n, d)
        The cells as a dense array.

    See Also
    --------
    Rows : Gives blocks, by `blocks()`, `reduce(of)` and `map(function)`.
    Statistic : A summary of a block that merges.

    Examples
    --------
    >>> from lyceum import datasets
    >>> block = next(datasets.load("weather").blocks())
    >>> block.schema["outlook"].categories.tolist(), block.X[0].tolist()
    (['overcast', 'rainy', 'sunny'], [2.0, 1.0, 0.0, 0.0])
    >>> len(block), block.y[:3].tolist(), block.n_classes, block.weight
    (14, [0, 0, 1], 2, 14.0)
    """

    X: Any
    y: np.ndarray | None
    w: np.ndarray | None
    start: int
    schema: Schema

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def n_classes(self) -> int:
        target = self.schema.target
        assert target is not None
        assert target.categories is not None
        return len(target.categories)

    @property
    def weight(self) -> float:
        """The total weight of the rows."""
        if self.w is None:
            return float(len(self))
        return float(self.w.sum())

    @property
    def weights(self) -> np.ndarray:
        """The weight of every row, 1 where none are given."""
        return row_weights(self.w, len(self))

    @property
    def dense(self) -> np.ndarray:
        """The cells as a dense array."""
        return dense_cells(self.X)

    def with_X(self, X: Data, schema: Schema) -> Block:
        """The same rows with other cells; columns of free text that stay list the texts of this
        block."""
        # not by `replace`, which takes longer than the cells of a row
        listed = with_texts_of(schema, self.schema)
        return Block(X, self.y, self.w, self.start, listed)

    def take(self, keep: np.ndarray | slice) -> Block:
        """Only the rows where `keep` is true, or those at some places, in that order."""
        return replace(
            self,
            X=self.X[keep],
            y=None if self.y is None else self.y[keep],
            w=None if self.w is None else self.w[keep],
        )

    def without_zero_weights(self) -> Block:
        """The rows with a weight: those of weight zero are ignored."""
        if self.w is None or self.w.all():
            return self
        return self.take(self.w > 0)


def dense_cells(X: Any) -> Any:
    """Sparse cells as a dense array; dense ones as they are, without a copy.

    >>> dense_cells(sparse.csr_array([[0.0, 2.0]])).tolist()
    [[0.0, 2.0]]
    """
    if sparse.issparse(X):
        return X.toarray()
    return X


def as_float(X: Any) -> Any:
    """Cells of float32 or float64 as they are, others as float64; dense or sparse."""
    if X.dtype in (np.float32, np.float64):
        return X
    return X.astype(np.float64)


def row_weights(w: Any, n_rows: int) -> np.ndarray:
    """The weights as they are, or one for each of `n_rows` rows if `w` is None.

    >>> row_weights(None, 3).tolist()
    [1.0, 1.0, 1.0]
    """
    if w is None:
        return np.ones(n_rows)
    return w


def stack_rows(pieces: Sequence[Any]) -> Any:
    """Arrays, or CSR arrays, one below the other."""
    if len(pieces) == 1:
        return pieces[0]
    if sparse.issparse(pieces[0]):
        return sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)
