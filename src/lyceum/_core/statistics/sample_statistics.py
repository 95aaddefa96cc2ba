"""The statistics of a sample, column by column and pair by pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core import data as core_data
from lyceum._core.data import Block, Rows, Schema
from lyceum._core.report import Shown, Table
from lyceum._core.statistics.moments.moments import Moments, Scatter
from lyceum._core.statistics.quantiles import Quantiles
from lyceum._core.text import show_count
from lyceum._core.types import Data
from lyceum.errors import DataError


@dataclass(frozen=True, slots=True)
class SampleStatistics(Shown):
    """The statistics of a sample, as `describe` finds them.

    Variances and covariances divide by N - 1 (by the total weight less 1).

    Attributes
    ----------
    names : tuple of str
        The columns.
    n_rows : int
        The number of rows.
    n_present : array
        The weight of the cells of every column that are not missing.
    mean : array
        Their means.
    median : array
        Their medians.
    variance : array
        Their variances.
    low : array
        The smallest cells.
    high : array
        The largest cells.
    covariance : array of shape (d, d)
        Of the rows without missing cells.
    sd : array
        Their standard deviations.
    range : array
        The differences of the largest and the smallest cells.
    correlation : array of shape (d, d)
        Pearson's correlation; NaN where a column does not vary.
    similarity : array of shape (d, d)
        The squared correlation.

    See Also
    --------
    describe : Makes it.
    Moments : The statistic of every column.
    lyceum.data.inspect : The kind of every column of a table.

    Examples
    --------
    >>> from lyceum.statistics import describe
    >>> found = describe([1.0, 2.0, 6.0])
    >>> found.mean.tolist(), found.median.tolist(), found.variance.tolist(), found.range.tolist()
    ([3.0], [2.0], [7.0], [5.0])
    >>> describe([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]]).correlation.round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    names: tuple[str, ...]
    n_rows: int
    n_present: np.ndarray
    mean: np.ndarray
    median: np.ndarray
    variance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    covariance: np.ndarray

    @property
    def sd(self) -> np.ndarray:
        return np.sqrt(self.variance)

    @property
    def range(self) -> np.ndarray:
        return self.high - self.low

    @property
    def correlation(self) -> np.ndarray:
        """Pearson's correlation; NaN where a column does not vary."""
        spread = np.sqrt(np.diagonal(self.covariance))
        product = np.outer(spread, spread)
        missing = np.full_like(product, np.nan)
        correlation = np.divide(
            self.covariance, product, out=missing, where=product > 0
        )
        # rounding may lead a hair beyond ±1
        return np.clip(correlation, -1.0, 1.0)

    @property
    def similarity(self) -> np.ndarray:
        """Squared correlation: how much of one column a line in the other accounts for, from 0 to
        1."""
        return self.correlation**2

    def __str__(self) -> str:
        columns = (
            self.mean,
            self.sd,
            self.low,
            self.median,
            self.high,
        )
        values = zip(self.names, *columns)
        rows = [(name, *map(float, numbers)) for name, *numbers in values]
        head = ("column", "mean", "sd", "least", "median", "most")
        return str(Table(show_count(self.n_rows, "row"), head, rows))


@dataclass(frozen=True, slots=True)
class _Sample:
    """All that `describe` needs, in one pass."""

    moments: Moments
    quantiles: Quantiles
    complete: Scatter

    @classmethod
    def of(cls, block: Block) -> _Sample:
        # covariances of rows without missing cells: of others the matrix need not be positive
        is_complete = ~np.isnan(block.X).any(axis=1)
        complete = Scatter.of(block.take(is_complete))
        return cls(Moments.of(block), Quantiles.of(block), complete)

    def merge(self, other: _Sample) -> _Sample:
        return _Sample(
            self.moments.merge(other.moments),
            self.quantiles.merge(other.quantiles),
            self.complete.merge(other.complete),
        )


@dataclass(frozen=True)
class _Numbers:
    """Only the columns that hold numbers."""

    indices: np.ndarray

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=tuple(schema[int(j)] for j in self.indices))

    def __call__(self, block: Block) -> Block:
        if block.X.dtype.kind == "f":
            X = block.X
        else:
            X = block.X.astype(np.float64)
        cells = np.ascontiguousarray(X[:, self.indices])
        return block.with_X(cells, self.schema(block.schema))


def describe(data: Data, **options: Any) -> SampleStatistics:
    """Mean, median, variance, range, covariance and correlation of the number columns, in one pass.

    Parameters
    ----------
    data : rows from `scan`, anything that `scan` takes, or a list or array of numbers: one column
    **options
        For `scan`.

    Missing cells are left out one by one; covariances are those of the complete rows. The median is
    exact for rows in memory and for up to 2048 distinct values, and has the error of `Quantiles`
    beyond.

    >>> found = describe(np.array([[1.0, 2.0], [2.0, 4.5], [4.0, 7.0]]))
    >>> found.mean.round(3).tolist(), found.median.tolist(), found.variance.round(3).tolist()
    ([2.333, 4.5], [2.0, 4.5], [2.333, 6.25])
    >>> round(float(found.correlation[0, 1]), 4)
    0.982
    """
    # a list of numbers, or an array of one axis, is a column; lists of rows are an array
    if isinstance(data, list | tuple):
        data = np.asarray(data)
    if isinstance(data, np.ndarray) and data.ndim == 1:
        data = data.reshape(-1, 1)
    if isinstance(data, Rows):
        rows = data
    else:
        rows = core_data.scan(data, **options)
    numeric = [j for j, column in enumerate(rows.schema) if column.numeric]
    if not numeric:
        raise DataError("there are no columns of numbers to describe")
    numbers = rows.then(_Numbers(np.array(numeric, dtype=np.intp)))
    sample = numbers.reduce(_Sample.of)
    moments = sample.moments
    complete = sample.complete
    # rows in memory have exact medians, those of a file the medians of a sketch
    median = sample.quantiles.median
    if numbers.in_memory:
        block = numbers.in_one_block("describe")
        columns = np.asarray(block.X, dtype=np.float64).T
        median = np.array([weighted_median(cells, block.w) for cells in columns])
    left = complete.weight - 1.0
    covariance = np.full_like(complete.scatter, np.nan)
    if left > 0:
        covariance = complete.scatter / left
    return SampleStatistics(
        names=numbers.schema.names,
        n_rows=moments.n_rows,
        n_present=moments.weight,
        mean=moments.mean,
        median=median,
        variance=moments.variance(ddof=1.0),
        low=moments.low,
        high=moments.high,
        covariance=covariance,
    )


def weighted_mean(values: np.ndarray, w: np.ndarray | None) -> float:
    """The mean of some numbers by weight (None: all 1); NaN without numbers.

    >>> weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    if not len(values):
        return np.nan
    if w is None:
        return float(values.mean())
    return float(values @ w / w.sum())


def weighted_median(cells: np.ndarray, w: np.ndarray | None = None) -> float:
    """The middle of some numbers by weight; midway where two are in the middle.

    Parameters
    ----------
    cells : array of shape (n,)
        The numbers; those that are missing (NaN) are left out.
    w : array of shape (n,), optional
        How often every number counts.

    Returns
    -------
    float
        NaN if there are no numbers.

    See Also
    --------
    describe : medians and more of every column.

    Examples
    --------
    >>> from lyceum.statistics import weighted_median
    >>> weighted_median(np.array([1.0, 2.0, 7.0]), np.array([1.0, 1.0, 2.0]))
    4.5
    """
    present = ~np.isnan(cells)
    if w is not None:
        present &= w > 0
        w = w[present]
    if not present.any():
        return float("nan")
    return weighted_quantile(cells[present], w, 0.5)


def weighted_quantile(
    values: np.ndarray,
    w: np.ndarray | None,
    q: float,
    average: bool = True,
) -> float:
    """The mean of the least value whose cumulative weight reaches q of all and of the least beyond
    it.

    Parameters
    ----------
    values : array of shape (n,), n > 0
    w : array of shape (n,), optional
        How often every value counts.
    q : float
        A share from 0 to 1.
    average : bool, default=True
        Else the least value that reaches q.

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 2.0, 7.0]), np.array([1.0, 1.0, 2.0]), 0.25)
    1.5
    """
    if w is None:
        method: Any = "averaged_inverted_cdf" if average else "inverted_cdf"
        return float(np.quantile(values, q, method=method))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(w[order])
    # ranks that are equal up to rounding are taken as equal
    slack = 1e-12 * reached[-1]
    rank = q * reached[-1]
    last = len(values) - 1
    low = min(int(np.searchsorted(reached, rank - slack, side="left")), last)
    if not average:
        return float(values[order[low]])
    high = min(int(np.searchsorted(reached, rank + slack, side="right")), last)
    return float((values[order[low]] + values[order[high]]) / 2.0)
