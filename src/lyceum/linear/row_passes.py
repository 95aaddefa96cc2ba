"""Passes over rows that linear learners share, and columns divided by their standard deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.base import finite_sums
from lyceum._core.data import Block, CheckCells, Rows, Schema, stack_rows
from lyceum._core.statistics import Moments


def without_checks(rows: Rows) -> Rows:
    """The same rows without the search for missing cells, for passes after the first."""
    steps = (step for step in rows.steps if not isinstance(step, CheckCells))
    return replace(rows, steps=tuple(steps))


def first_pass(rows: Rows, of: Callable[[Block], Any]) -> Any:
    """`rows.reduce(of)` for a statistic with `is_finite`.

    A missing or infinite cell makes the sums so: only then is it looked for, to name its row and
    column.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = without_checks(rows).reduce(of)
        if not total.is_finite:
            return finite_sums(rows.reduce(of))
    return total


def dense_blocks(rows: Rows) -> Iterator[Block]:
    """The blocks in order, sparse ones a few dense rows at a time: for rules that go row after
    row."""
    for block in rows.blocks():
        yield from dense_parts(block)


def dense_parts(block: Block) -> Iterator[Block]:
    """The block itself, or, if it is sparse, a few dense rows at a time."""
    if not sparse.issparse(block.X):
        yield block
        return
    # 2²⁰ cells, 8 MB, at a time
    step = max(1, (1 << 20) // max(1, block.X.shape[1]))
    for first in range(0, len(block), step):
        rows = slice(first, first + step)
        yield replace(
            block,
            X=block.X[rows].toarray(),
            y=None if block.y is None else block.y[rows],
            w=None if block.w is None else block.w[rows],
            start=block.start + first,
        )


def row_windows(rows: Rows, size: int) -> Iterator[Block]:
    """Blocks of `size` rows with a weight, the last one of fewer, wherever the blocks of the source
    end."""
    gathered: list[Block] = []
    n_missing = size
    for block in rows.blocks():
        block = block.without_zero_weights()
        while len(block):
            gathered.append(block.take(slice(0, n_missing)))
            block = block.take(slice(n_missing, None))
            n_missing -= len(gathered[-1])
            if n_missing == 0:
                yield _stacked(gathered)
                gathered = []
                n_missing = size
    if gathered:
        yield _stacked(gathered)


def _stacked(blocks: list[Block]) -> Block:
    y = None
    if blocks[0].y is not None:
        y = np.concatenate([block.y for block in blocks if block.y is not None])
    w = None
    if any(block.w is not None for block in blocks):
        w = np.concatenate([block.weights for block in blocks])
    X = stack_rows([block.X for block in blocks])
    return replace(blocks[0], X=X, y=y, w=w)


@dataclass(frozen=True, slots=True)
class Residuals:
    """Sums over the residuals r = y - y₀ - (x - x₀)·b of a linear fit: Σwr², Σwr and Σwr(x -
    x₀)."""

    squares: float
    total: float
    gradient: np.ndarray

    @classmethod
    def of(cls, block: Block, coef: np.ndarray, x0: np.ndarray, y0: float) -> Residuals:
        assert block.y is not None
        # dense cells are centered first, which loses fewer digits; sparse ones would become dense
        is_sparse = sparse.issparse(block.X)
        if is_sparse:
            fitted = block.X @ coef - x0 @ coef
        else:
            Z = block.X - x0
            fitted = Z @ coef
        r = (block.y - y0) - fitted
        weighted = r if block.w is None else block.w * r
        if is_sparse:
            gradient = block.X.T @ weighted - x0 * weighted.sum()
        else:
            gradient = weighted @ Z
        return cls(float(weighted @ r), float(weighted.sum()), gradient)

    def merge(self, other: Residuals) -> Residuals:
        return Residuals(
            self.squares + other.squares,
            self.total + other.total,
            self.gradient + other.gradient,
        )


@dataclass(frozen=True, slots=True)
class ScaleColumns:
    """A step that multiplies every column by a number."""

    factors: np.ndarray  # (d,)

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if sparse.issparse(block.X):
            scaled = sparse.csr_array(block.X.multiply(self.factors[None, :]))
        else:
            scaled = block.X * self.factors
        return block.with_X(scaled, block.schema)


def inverse_deviations(scatter: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
    """1 / √(scatter / weight) of every column, 1 where a column never varies."""
    variance = scatter / weight
    ones = np.ones_like(variance)
    return np.divide(1.0, np.sqrt(variance), out=ones, where=variance > 0)


def unit_columns(rows: Rows) -> tuple[Rows, np.ndarray]:
    """The rows with columns of unit deviation, and what they were multiplied by: one pass."""
    moments = finite_sums(rows.reduce(Moments.of))
    factors = inverse_deviations(moments.scatter, np.maximum(moments.weight, 1e-300))
    return rows.then(ScaleColumns(factors)), factors
