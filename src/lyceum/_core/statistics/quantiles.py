"""Quantiles of any number of rows from a small sketch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum.errors import SettingError

SIZE = 2048


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Weighted quantiles of every column; missing cells are left out one by one.

    A column is kept as distinct values with weights. Values whose weights lie between the same
    powers of two form a level; a level of more than `size` values is compacted: neighbors are
    joined in pairs into one value with the weight of both, which is a level up. The answer is exact
    as long as no level overflows, so for every column with at most `size` distinct values. After
    that the rank of an answer is wrong by at most `error` of the weight, a bound that the sketch
    keeps of itself; for n rows of equal weight it is about log2(n / size) / (2 size), 0.2 % for a
    million rows. There are no random choices.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    columns : tuple of ColumnSketch
        One sketch per column.
    median : array of shape (d,)
        The median of every column.
    weight : array of shape (d,)
        The weight of the cells of every column that are not missing.
    error : array of shape (d,)
        By how much a rank may be wrong at most, as a fraction of the total weight.

    See Also
    --------
    weighted_quantile : Exact quantiles of numbers in memory.
    describe : Medians and more of a table.
    Histogram : Over bins that are given.

    References
    ----------
    J. I. Munro and M. S. Paterson, "Selection and sorting with limited storage", Theoretical
    Computer Science 12, 1980. G. S. Manku, S. Rajagopalan and B. G. Lindsay, "Approximate medians
    and other quantiles in one pass and with limited memory", ACM SIGMOD International Conference on
    Management of Data, 1998.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import Quantiles
    >>> rows = scan(pa.table({"x": [3.0, 1.0, None, 2.0, 4.0]}))
    >>> q = rows.reduce(Quantiles.of)
    >>> q.median.tolist(), q.quantile([0.0, 0.25, 1.0]).ravel().tolist(), q.error.tolist()
    ([2.5], [1.0, 1.5, 4.0], [0.0])
    """

    n_rows: int
    columns: tuple[ColumnSketch, ...]

    @classmethod
    def of(cls, block: Block, size: int = SIZE) -> Quantiles:
        if sparse.issparse(block.X):
            values = _sparse_columns(block)
        else:
            values = _columns(block)
        columns = [ColumnSketch.of(x, w, size) for x, w in values]
        return cls(len(block), tuple(columns))

    def merge(self, other: Quantiles) -> Quantiles:
        pairs = zip(self.columns, other.columns)
        columns = tuple(first.merge(second) for first, second in pairs)
        return Quantiles(self.n_rows + other.n_rows, columns)

    def quantile(self, q: Any) -> np.ndarray:
        """The q-quantiles, (d,) for a number and (len(q), d) for many; NaN in a column without
        cells.

        The mean of the smallest value whose cumulative weight reaches q of the total and the
        smallest one whose cumulative weight exceeds it (NumPy's "averaged_inverted_cdf"): the
        median of 1, 2, 3, 4 is 2.5.
        """
        wanted = np.asarray(q, dtype=np.float64)
        if not np.all((wanted >= 0) & (wanted <= 1)):
            raise SettingError(f"quantiles must be between 0 and 1, got {q}")
        return np.stack([column.quantile(wanted) for column in self.columns], axis=-1)

    @property
    def median(self) -> np.ndarray:
        """The median of every column."""
        return self.quantile(0.5)

    @property
    def weight(self) -> np.ndarray:
        """The weight of the cells of every column that are not missing."""
        return np.array([column.weights.sum() for column in self.columns])

    @property
    def error(self) -> np.ndarray:
        """For every column, by how much a rank may be wrong at most, as a fraction of the total
        weight."""
        return np.array([column.error for column in self.columns])


@dataclass(frozen=True, slots=True)
class ColumnSketch:
    """Distinct values with weights, and how far the compactions may have moved a rank up and
    down."""

    size: int
    values: np.ndarray  # (m,) ascending
    weights: np.ndarray  # (m,) positive
    up: float
    down: float

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        weights: np.ndarray,
        size: int,
    ) -> ColumnSketch:
        return cls(size, *_compact(size, *_distinct(values, weights), 0.0, 0.0))

    def merge(self, other: ColumnSketch) -> ColumnSketch:
        # errors of ranks add up: each side may have moved them on its own
        up = self.up + other.up
        down = self.down + other.down
        values = np.concatenate([self.values, other.values])
        weights = np.concatenate([self.weights, other.weights])
        state = (*_distinct(values, weights), up, down)
        return ColumnSketch(self.size, *_compact(self.size, *state))

    @property
    def error(self) -> float:
        weight = self.weights.sum()
        if weight:
            return float(max(self.up, self.down) / weight)
        return 0.0

    def quantile(self, q: np.ndarray) -> np.ndarray:
        if not len(self.values):
            return np.full(q.shape, np.nan)
        reached = np.cumsum(self.weights)
        # Ranks that are equal up to rounding are taken as equal: 0.7 * 10 > 7 in floating point.
        # at a rank between two values both are taken, and the quantile lies midway
        slack = 1e-12 * reached[-1]
        rank = q * reached[-1]
        last = len(reached) - 1
        low = np.minimum(np.searchsorted(reached, rank - slack, side="left"), last)
        high = np.minimum(np.searchsorted(reached, rank + slack, side="right"), last)
        return midpoints(self.values[low], self.values[high])


def _columns(block: Block) -> Iterator[Any]:
    for x in np.ascontiguousarray(np.asarray(block.X, dtype=np.float64).T):
        present = ~np.isnan(x)
        if block.w is None:
            yield x[present], np.ones(int(present.sum()))
        else:
            present &= block.w > 0
            yield x[present], block.w[present]


def _sparse_columns(block: Block) -> Iterator[Any]:
    """Stored cells, and one zero with the weight of all cells that are not stored."""
    X = block.X.astype(np.float64).tocsc()
    w = block.weights
    weight = w.sum()
    for start, stop in zip(X.indptr, X.indptr[1:]):
        values = X.data[start:stop]
        weights = w[X.indices[start:stop]]
        if stop - start < len(block):
            rest = weight - weights.sum()
        else:
            rest = 0.0
        present = ~np.isnan(values) & (weights > 0)
        values = values[present]
        weights = weights[present]
        # The difference of two sums of weights may leave a trace of rounding where nothing is left.
        if rest > 1e-12 * weight:
            values = np.append(values, 0.0)
            weights = np.append(weights, rest)
        yield values, weights


def _distinct(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values in order, each once, with the sum of its weights."""
    order = np.argsort(values, kind="stable")
    values = values[order]
    weights = weights[order]
    # the first value is new, if there is one
    is_new = np.append(values[:1] == values[:1], values[1:] != values[:-1])
    first = np.flatnonzero(is_new)
    if len(first) == len(values):
        return values, weights
    return values[first], np.add.reduceat(weights, first)


def _compact(
    size: int,
    values: np.ndarray,
    weights: np.ndarray,
    up: float,
    down: float,
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Levels of at most `size` values, the lowest first; (values, weights, up, down)."""
    while len(values) > size:
        # level: the power of two of a weight; of the lowest level that is too long, neighbors are
        # joined two by two, which moves them one level up
        level = np.frexp(weights)[1]
        numbers, counts = np.unique(level, return_counts=True)
        if not (counts > size).any():
            break
        members = np.flatnonzero(level == numbers[counts > size][0])
        low = members[: len(members) // 2 * 2 : 2]
        high = members[1::2]
        # Joined into the lower one, a pair raises ranks between the two by the weight of the upper
        # one, and the other way round: take the side that has moved less.
        if up <= down:
            keep = low
            drop = high
            up += float(weights[drop].max())
        else:
            keep = high
            drop = low
            down += float(weights[drop].max())
        weights = weights.copy()
        weights[keep] += weights[drop]
        values = np.delete(values, drop)
        weights = np.delete(weights, drop)
    return values, weights, up, down


def quantile_cuts(
    values: np.ndarray,
    weights: np.ndarray,
    n_bins: int,
) -> np.ndarray:
    """At most n_bins - 1 cuts between distinct values with about equal weight between them."""
    if len(values) < 2:
        return np.empty(0)
    reached = np.cumsum(weights)
    wanted = reached[-1] * np.arange(1, n_bins) / n_bins
    # the cut after the value whose cumulative weight is nearest
    after = np.searchsorted(reached, wanted)
    before = np.maximum(after - 1, 0)
    from_before = np.abs(reached[before] - wanted)
    inside = np.minimum(after, len(values) - 1)
    from_after = np.abs(reached[inside] - wanted)
    nearest = np.where(from_before < from_after, before, after)
    indices = np.unique(np.clip(nearest, 0, len(values) - 2))
    return values[indices] + (values[indices + 1] - values[indices]) / 2


def midpoints(low: Any, high: Any) -> np.ndarray:
    """The midpoints of pairs low < high, never rounded up to the larger one.

    Where no number lies between the two it is the lower one, so that low ≤ midpoint < high always
    holds.

    Parameters
    ----------
    low, high : array
        Of the same shape. Where both are equal, infinite too, it is their value.

    Examples
    --------
    >>> midpoints([1.0, 0.0], [2.0, 5e-324]).tolist()
    [1.5, 0.0]
    """
    low = np.asarray(low, dtype=np.float64)
    high = np.asarray(high, dtype=np.float64)
    out = np.empty(low.size)
    native.midpoints(np.ravel(low), np.ravel(high), out)
    return out.reshape(low.shape)
