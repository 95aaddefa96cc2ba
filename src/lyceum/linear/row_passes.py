"""Passes over rows that linear learners share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.base import finite_sums
from lyceum._core.data import Block, CheckCells, Rows


def without_checks(rows: Rows) -> Rows:
    """The same rows without the search for missing cells, for passes after the first."""
    return replace(
        rows,
        steps=tuple(step for step in rows.steps if not isinstance(step, CheckCells)),
    )


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
    step = max(1, (1 << 20) // max(1, block.X.shape[1]))
    for at in range(0, len(block), step):
        rows = slice(at, at + step)
        if block.y is None:
            y = None
        else:
            y = block.y[rows]
        if block.w is None:
            w = None
        else:
            w = block.w[rows]
        yield replace(
            block, X=block.X[rows].toarray(), y=y, w=w, start=block.start + at
        )


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
        if sparse.issparse(block.X):
            r = (block.y - y0) - (block.X @ coef - x0 @ coef)
            if block.w is None:
                weighted = r
            else:
                weighted = block.w * r
            gradient = block.X.T @ weighted - x0 * weighted.sum()
        else:
            Z = block.X - x0
            r = (block.y - y0) - Z @ coef
            if block.w is None:
                weighted = r
            else:
                weighted = block.w * r
            gradient = weighted @ Z
        return cls(float(weighted @ r), float(weighted.sum()), gradient)

    def merge(self, other: Residuals) -> Residuals:
        return Residuals(
            self.squares + other.squares,
            self.total + other.total,
            self.gradient + other.gradient,
        )
