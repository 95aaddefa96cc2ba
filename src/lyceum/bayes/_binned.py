"""Continuous columns in bins: what a histogram conditional counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from lyceum.data import Block, Column, Rows, Schema
from lyceum.errors import DataError

__all__ = ["Binned", "edges_of"]


@dataclass(frozen=True, slots=True)
class Binned:
    """A step that puts the numbers of a bin in the place of the cells of some columns.

    Bin b holds edges[b] <= x < edges[b + 1]. The first and the last bin are open: they hold what lies beyond.
    A missing cell stays missing.

    >>> block = Block(np.array([[-9.0], [0.2], [1.0], [7.0]]), None, None, 0, Schema.of_numbers(["x"]))
    >>> Binned({"x": np.array([0.0, 0.5, 1.0, 2.0])})(block).X[:, 0].tolist()
    [0.0, 0.0, 2.0, 2.0]
    """

    edges: Mapping[str, np.ndarray]

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=tuple(map(self._column, schema)))

    def _column(self, column: Column) -> Column:
        edges = self.edges.get(column.name)
        return column if edges is None else Column(column.name, "categorical", np.arange(len(edges) - 1))

    def __call__(self, block: Block) -> Block:
        if not self.edges:
            return block
        X = block.X.astype(block.X.dtype if block.X.dtype.kind == "f" else np.float64)
        for j, column in enumerate(block.schema):
            if column.name in self.edges:
                x = X[:, j].copy()
                X[:, j] = np.searchsorted(self.edges[column.name][1:-1], x, side="right")
                X[np.isnan(x), j] = np.nan
        return block.with_X(X, self.schema(block.schema))


def edges_of(rows: Rows, columns: list[str], bins: Any, look: bool = True) -> dict[str, np.ndarray]:
    """The edges of every column by what `bins` says; a pass over the rows if it gives only numbers of bins.

    Between the smallest and the largest cell lie bins of equal width: as many as said, or by Sturges' rule
    ⌈log2 n⌉ + 1, with n the weight of the cells. With `look` false such a pass is refused.
    """
    said = {name: bins.get(name, "sturges") if isinstance(bins, Mapping) else bins for name in columns}
    open_ = [name for name in columns if isinstance(said[name], str | Integral)]
    if open_ and not look:
        raise DataError(
            f"partial_fit needs the edges of the bins of column {open_[0]!r} beforehand, as later rows may "
            f"lie anywhere: give bins={{{open_[0]!r}: [...]}}, or fit on all rows at once"
        )
    found = {name: _checked(name, said[name]) for name in columns if name not in open_}
    if open_:
        places = [rows.schema.names.index(name) for name in open_]
        ranges = rows.reduce(partial(Ranges.of, columns=places))
        found |= {name: ranges.edges(i, said[name]) for i, name in enumerate(open_)}
    return {name: found[name] for name in columns}


def _checked(name: str, edges: Any) -> np.ndarray:
    edges = np.asarray(edges, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
        raise DataError(f"the edges of the bins of column {name!r} must be at least two ascending numbers")
    return edges


@dataclass(frozen=True, slots=True)
class Ranges:
    """The smallest and largest cell of columns and the weight of their cells, over rows that have weight."""

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, block: Block, columns: list[int]) -> Ranges:
        X, w = np.asarray(block.X[:, columns], dtype=np.float64), block.w
        if w is not None:
            X, w = X[w > 0], w[w > 0]
        there = ~np.isnan(X)
        weight = there.sum(axis=0).astype(np.float64) if w is None else w @ there
        low = np.min(X, axis=0, initial=np.inf, where=there)
        high = np.max(X, axis=0, initial=-np.inf, where=there)
        return cls(low, high, weight)

    def merge(self, other: Ranges) -> Ranges:
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Ranges(low, high, self.weight + other.weight)

    def edges(self, column: int, bins: str | int) -> np.ndarray:
        low, high, n = self.low[column], self.high[column], self.weight[column]
        if not low < high:
            return np.array([-0.5, 0.5]) + (low if low == high else 0.0)
        count = int(np.ceil(np.log2(max(n, 1.0)))) + 1 if isinstance(bins, str) else int(bins)
        edges = np.linspace(low, high, count + 1)
        return edges[np.append(True, np.diff(edges) > 0)]
