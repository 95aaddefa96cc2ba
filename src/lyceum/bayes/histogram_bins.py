"""Continuous columns cut into bins, for histogram densities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from lyceum._core.data import Block, Column, Rows, Schema
from lyceum.errors import SettingError


@dataclass(frozen=True, slots=True)
class BinColumns:
    """A step that replaces the cells of some columns by the numbers of their bins.

    Bin b holds edges[b] <= x < edges[b + 1]. The first and the last bin are open: they also
    hold what lies beyond the edges. A missing cell stays missing.

    >>> block = Block(np.array([[-9.0], [0.2], [1.0], [7.0]]), None, None, 0, Schema.of_numbers(["x"]))
    >>> BinColumns({"x": np.array([0.0, 0.5, 1.0, 2.0])})(block).X[:, 0].tolist()
    [0.0, 0.0, 2.0, 2.0]
    """

    edges: Mapping[str, np.ndarray]

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=tuple(map(self._column, schema)))

    def _column(self, column: Column) -> Column:
        edges = self.edges.get(column.name)
        if edges is None:
            return column
        return Column(column.name, "categorical", np.arange(len(edges) - 1))

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


def bin_edges(
    rows: Rows, columns: list[str], bins: Any, may_scan: bool = True
) -> dict[str, np.ndarray]:
    """The edges of every column; one pass over the rows where `n_bins` gives only a number of bins.

    Between the smallest and the largest cell lie bins of equal width: as many as wanted, or by
    Sturges' rule ⌈log2 n⌉ + 1, with n the weight of the cells. With `may_scan` false such a pass is
    refused.
    """
    wanted = {
        name: bins.get(name, "sturges") if isinstance(bins, Mapping) else bins for name in columns
    }
    undecided = [name for name in columns if isinstance(wanted[name], str | Integral)]
    if undecided and not may_scan:
        raise SettingError(
            f"partial_fit needs the edges of the bins of column {undecided[0]!r}, as later rows "
            f"may lie anywhere: give n_bins={{{undecided[0]!r}: [...]}}, or fit on all rows at once"
        )
    found = {name: _check_edges(name, wanted[name]) for name in columns if name not in undecided}
    if undecided:
        places = [rows.schema.names.index(name) for name in undecided]
        ranges = rows.reduce(partial(ColumnRanges.of, columns=places))
        found |= {name: ranges.edges(i, wanted[name]) for i, name in enumerate(undecided)}
    return {name: found[name] for name in columns}


def _check_edges(name: str, edges: Any) -> np.ndarray:
    edges = np.asarray(edges, dtype=np.float64)
    if (
        edges.ndim != 1
        or len(edges) < 2
        or not np.isfinite(edges).all()
        or not (np.diff(edges) > 0).all()
    ):
        raise SettingError(
            f"the edges of the bins of column {name!r} must be at least two ascending numbers"
        )
    return edges


@dataclass(frozen=True, slots=True)
class ColumnRanges:
    """The smallest and largest cell of columns and the weight of their cells, over rows that have
    weight."""

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, block: Block, columns: list[int]) -> ColumnRanges:
        X = np.asarray(block.X[:, columns], dtype=np.float64)
        w = block.w
        if w is not None:
            X = X[w > 0]
            w = w[w > 0]
        present = ~np.isnan(X)
        if w is None:
            weight = present.sum(axis=0).astype(np.float64)
        else:
            weight = w @ present
        low = np.min(X, axis=0, initial=np.inf, where=present)
        high = np.max(X, axis=0, initial=-np.inf, where=present)
        return cls(low, high, weight)

    def merge(self, other: ColumnRanges) -> ColumnRanges:
        low = np.minimum(self.low, other.low)
        high = np.maximum(self.high, other.high)
        return ColumnRanges(low, high, self.weight + other.weight)

    def edges(self, column: int, bins: str | int) -> np.ndarray:
        low = self.low[column]
        high = self.high[column]
        n = self.weight[column]
        if not low < high:
            return np.array([-0.5, 0.5]) + (low if low == high else 0.0)
        if isinstance(bins, str):
            count = int(np.ceil(np.log2(max(n, 1.0)))) + 1
        else:
            count = int(bins)
        edges = np.linspace(low, high, count + 1)
        return edges[np.append(True, np.diff(edges) > 0)]
