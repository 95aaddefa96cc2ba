"""Histograms over given bins: column by column, or of all columns jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.data import Block
from lyceum._core.text import show_count
from lyceum.errors import SettingError

Edges = Sequence[float] | np.ndarray | Sequence[np.ndarray]


@dataclass(frozen=True, slots=True)
class Histogram:
    """The weight in every bin of every column, and the weight below, above and missing.

    Bin b holds edges[b] <= x < edges[b + 1]; the last one holds its upper edge too, as in NumPy.

    Attributes
    ----------
    edges : tuple of array
        One ascending array per column.
    counts : tuple of array
        The weight in every bin, one array per column.
    below : array of shape (d,)
        The weight of the cells below the first edge.
    above : array of shape (d,)
        The weight of the cells above the last edge.
    missing : array of shape (d,)
        The weight of missing cells.
    n_rows : int
        The number of rows.

    See Also
    --------
    JointHistogram : Of all columns jointly.
    Quantiles : Needs no bins.
    lyceum.density.HistogramDensity : A density from bins.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import Histogram
    >>> rows = scan(pa.table({"x": [0.1, 0.6, 0.7, 5.0, None]}))
    >>> h = rows.reduce(lambda block: Histogram.of(block, edges=[0.0, 0.5, 1.0]))
    >>> h.counts[0].tolist(), h.above.tolist(), h.missing.tolist()
    ([1.0, 2.0], [1.0], [1.0])
    >>> h.density(0).round(3).tolist()
    [0.667, 1.333]
    """

    edges: tuple[np.ndarray, ...]
    counts: tuple[np.ndarray, ...]
    below: np.ndarray
    above: np.ndarray
    missing: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, block: Block, edges: Edges) -> Histogram:
        """`edges` is one array for all columns, or one array per column."""
        X = block.dense
        column_edges = checked_edges(edges, X.shape[1])
        # one count per column: below, the bins, above, missing
        tables = [
            _weight_per_bin(bins_of(x, ends), block.w, len(ends) + 2)
            for x, ends in zip(X.T, column_edges)
        ]
        return cls(
            edges=column_edges,
            counts=tuple(table[1:-2] for table in tables),
            below=np.array([table[0] for table in tables]),
            above=np.array([table[-2] for table in tables]),
            missing=np.array([table[-1] for table in tables]),
            n_rows=len(block),
        )

    def merge(self, other: Histogram) -> Histogram:
        pairs = zip(self.counts, other.counts)
        return Histogram(
            edges=self.edges,
            counts=tuple(first + second for first, second in pairs),
            below=self.below + other.below,
            above=self.above + other.above,
            missing=self.missing + other.missing,
            n_rows=self.n_rows + other.n_rows,
        )

    def density(self, column: int) -> np.ndarray:
        """The height of every bin of a column; the integral over the bins is 1 (NaN when they are
        empty)."""
        counts = self.counts[column]
        with np.errstate(invalid="ignore"):
            return counts / (counts.sum() * np.diff(self.edges[column]))


@dataclass(frozen=True, slots=True)
class JointHistogram:
    """The weight in every cell of a grid over all columns, and the weight outside or with missing
    cells.

    The grid is dense: its size is the product of the numbers of bins.

    Attributes
    ----------
    edges : tuple of array
        The edges of every column's bins, ascending.
    counts : array of shape (bins of column 0, bins of column 1, ...)
        The weight of the rows in every cell of the grid.
    outside : float
        The weight of the rows outside the grid, or with a missing cell.
    n_rows : int
        The number of rows.
    density : array of the shape of `counts`
        The height of every cell of the grid; the integral over the grid is 1.

    See Also
    --------
    Histogram : Column by column.
    lyceum.density.HistogramDensity : A density from bins.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import JointHistogram
    >>> rows = scan(np.array([[0.2, 0.2], [0.8, 0.8], [0.9, 0.6], [9.0, 0.1]]))
    >>> h = rows.reduce(lambda block: JointHistogram.of(block, edges=[0.0, 0.5, 1.0]))
    >>> h.counts.tolist(), h.outside
    ([[1.0, 0.0], [0.0, 2.0]], 1.0)
    """

    edges: tuple[np.ndarray, ...]
    counts: np.ndarray
    outside: float
    n_rows: int

    @classmethod
    def of(cls, block: Block, edges: Edges) -> JointHistogram:
        X = block.dense
        column_edges = checked_edges(edges, X.shape[1])
        shape = tuple(len(ends) - 1 for ends in column_edges)
        indices = [bins_of(x, ends) - 1 for x, ends in zip(X.T, column_edges)]
        inside = np.ones(len(block), dtype=bool)
        for index, n_bins in zip(indices, shape):
            inside &= (index >= 0) & (index < n_bins)
        cells = np.ravel_multi_index([index[inside] for index in indices], shape)
        if block.w is None:
            weights = None
            outside = float((~inside).sum())
        else:
            weights = block.w[inside]
            outside = float(block.w[~inside].sum())
        counts = _weight_per_bin(cells, weights, int(np.prod(shape))).reshape(shape)
        return cls(column_edges, counts, outside, len(block))

    def merge(self, other: JointHistogram) -> JointHistogram:
        return replace(
            self,
            counts=self.counts + other.counts,
            outside=self.outside + other.outside,
            n_rows=self.n_rows + other.n_rows,
        )

    @property
    def density(self) -> np.ndarray:
        """The height of every cell of the grid; the integral over the grid is 1 (NaN when it is
        empty)."""
        # the product of the widths of every cell, one axis after another
        volume = np.ones(())
        for edges in self.edges:
            volume = np.multiply.outer(volume, np.diff(edges))
        with np.errstate(invalid="ignore"):
            return self.counts / (self.counts.sum() * volume)


def bins_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """0 below the first edge, b + 1 in bin b, then one number for above and one for missing."""
    # bins hold their lower edge, and the last one its upper edge too
    bins = np.searchsorted(edges, values, side="right")
    bins[values == edges[-1]] = len(edges) - 1
    bins[np.isnan(values)] = len(edges) + 1
    return bins


def checked_edges(edges: Edges, n_columns: int) -> tuple[np.ndarray, ...]:
    """One array of strictly ascending edges per column."""
    if np.ndim(edges[0]) == 0:
        edges = [np.asarray(edges, dtype=np.float64)] * n_columns
    if len(edges) != n_columns:
        raise SettingError(
            f"there are edges for {show_count(len(edges), 'column')}, but"
            f" {show_count(n_columns, 'column')}"
        )
    column_edges = tuple(np.asarray(ends, dtype=np.float64) for ends in edges)
    for j, ends in enumerate(column_edges):
        is_list = ends.ndim == 1 and len(ends) >= 2
        if not is_list or not np.all(np.diff(ends) > 0):
            raise SettingError(
                f"the edges of column {j} must be at least two ascending numbers, got {ends}"
            )
    return column_edges


def _weight_per_bin(
    bins: np.ndarray,
    w: np.ndarray | None,
    size: int,
) -> np.ndarray:
    return np.bincount(bins, w, size).astype(np.float64, copy=False)
