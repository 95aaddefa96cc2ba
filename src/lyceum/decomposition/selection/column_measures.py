"""Single columns against a target: entropies, chi-square and correlations, from one pass over rows.

A column and the target are a table of weights of their codes, a number by groups, or two numbers;
each is a small statistic that merges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows, Schema
from lyceum._core.statistics import Quantiles, entropy, independence_test, quantile_cuts


@dataclass(frozen=True, slots=True)
class CodeTable:
    """The weight of every pair of a code of a column and of the target, both not missing."""

    weight: np.ndarray  # (codes, target codes)

    @classmethod
    def of(
        cls,
        a: np.ndarray,
        b: np.ndarray,
        w: np.ndarray,
        shape: tuple[int, int],
    ) -> CodeTable:
        present = (a >= 0) & (b >= 0)
        cells = a[present] * shape[1] + b[present]
        counts = np.bincount(cells, w[present], shape[0] * shape[1])
        return cls(counts.reshape(shape))

    def merge(self, other: CodeTable) -> CodeTable:
        return CodeTable(self.weight + other.weight)

    @property
    def table(self) -> np.ndarray:
        """Only codes that occur."""
        row_occurs = self.weight.sum(axis=1) > 0
        column_occurs = self.weight.sum(axis=0) > 0
        return self.weight[row_occurs][:, column_occurs]

    def strength(self) -> float:
        """Cramér's V."""
        # √(χ² / (n min(r - 1, c - 1))): χ² over the largest that it can be
        table = self.table
        least = min(table.shape) - 1
        if least > 0:
            chi_square, _ = _chi_square_of(table)
            return float(np.sqrt(chi_square / (table.sum() * least)))
        return 0.0


@dataclass(frozen=True, slots=True)
class GroupedNumbers:
    """Weight, mean and scatter of numbers in every group."""

    weight: np.ndarray  # (groups,)
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def of(
        cls,
        groups: np.ndarray,
        values: np.ndarray,
        w: np.ndarray,
        n_groups: int,
    ) -> GroupedNumbers:
        present = (groups >= 0) & ~np.isnan(values)
        groups = groups[present]
        values = values[present]
        w = w[present]
        weight = np.bincount(groups, w, n_groups)
        mean = _ratio(np.bincount(groups, w * values, n_groups), weight)
        # about the means, as the squares of raw values would cancel
        squares = w * (values - mean[groups]) ** 2
        return cls(weight, mean, np.bincount(groups, squares, n_groups))

    def merge(self, other: GroupedNumbers) -> GroupedNumbers:
        # Chan, Golub and LeVeque (1983): the scatter between the two means is added
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        share = _ratio(other.weight, weight)
        scatter = self.scatter + other.scatter + self.weight * share * delta**2
        return GroupedNumbers(weight, self.mean + share * delta, scatter)

    def strength(self) -> float:
        """The correlation ratio η: the root of the share of the scatter that lies between
        groups."""
        if not self.weight.sum():
            return 0.0
        middle = float(self.weight @ self.mean / self.weight.sum())
        between = float(self.weight @ (self.mean - middle) ** 2)
        scatter = between + float(self.scatter.sum())
        if scatter > 0:
            return float(np.sqrt(between / scatter))
        return 0.0


@dataclass(frozen=True, slots=True)
class NumberPairs:
    """Weight, means and scatter matrix of two numbers, of rows that have both."""

    weight: float
    mean: np.ndarray  # (2,)
    scatter: np.ndarray  # (2, 2)

    @classmethod
    def of(
        cls,
        x: np.ndarray,
        y: np.ndarray,
        w: np.ndarray,
    ) -> NumberPairs:
        present = ~(np.isnan(x) | np.isnan(y))
        pairs = np.column_stack([x[present], y[present]])
        w = w[present]
        if w.sum():
            mean = np.average(pairs, axis=0, weights=w)
        else:
            mean = np.zeros(2)
        pairs = pairs - mean
        scatter = (pairs * w[:, None]).T @ pairs
        return cls(float(w.sum()), mean, scatter)

    def merge(self, other: NumberPairs) -> NumberPairs:
        weight = self.weight + other.weight
        if not weight:
            return self
        delta = other.mean - self.mean
        share = other.weight / weight
        between = self.weight * share * np.outer(delta, delta)
        scatter = self.scatter + other.scatter + between
        return NumberPairs(weight, self.mean + share * delta, scatter)

    def strength(self) -> float:
        """|r|."""
        # two roots, as the product of the scatters could overflow
        x_root, y_root = np.sqrt(np.diagonal(self.scatter))
        size = float(x_root * y_root)
        if size > 0:
            return float(min(abs(self.scatter[0, 1]) / size, 1.0))
        return 0.0


@dataclass(frozen=True, slots=True)
class ColumnPairs:
    """One statistic per column, with the target."""

    parts: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        block: Block,
        codes: ColumnCodes,
        tables: bool,
    ) -> ColumnPairs:
        """Tables of codes of every column; or, unless `tables`, numbers as they are."""
        block = block.without_zero_weights()
        X = np.asarray(block.dense, dtype=np.float64)
        w = block.weights
        y = np.asarray(block.y)
        target = codes.target(y)
        parts = [codes.pair(j, x, y, target, w, tables) for j, x in enumerate(X.T)]
        return cls(tuple(parts))

    def merge(self, other: ColumnPairs) -> ColumnPairs:
        pairs = zip(self.parts, other.parts)
        return ColumnPairs(tuple(first.merge(second) for first, second in pairs))


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """How columns and the target become codes: categories as they are, numbers by intervals."""

    schema: Schema
    classes: int  # 0 for a target of numbers
    cuts: Sequence[np.ndarray]  # of every column, empty for categories
    target_cuts: np.ndarray

    @property
    def n_target(self) -> int:
        return self.classes or len(self.target_cuts) + 1

    def target(self, y: np.ndarray) -> np.ndarray:
        if self.classes:
            return y.astype(np.int64)
        return _intervals(y.astype(np.float64), self.target_cuts)

    def pair(
        self,
        j: int,
        x: np.ndarray,
        y: np.ndarray,
        target: np.ndarray,
        w: np.ndarray,
        tables: bool,
    ) -> Any:
        """The statistic of column j with these cells."""
        categories = self.schema[j].categories
        if not tables and categories is None:
            if self.classes:
                return GroupedNumbers.of(target, x, w, self.n_target)
            return NumberPairs.of(x, y.astype(np.float64), w)
        if categories is None:
            n_codes = len(self.cuts[j]) + 1
            codes = _intervals(x, self.cuts[j])
        else:
            n_codes = max(1, len(categories))
            # missing, NaN or negative, is -1
            codes = np.where(x >= 0, x, -1.0).astype(np.int64)
        if not tables and not self.classes:
            return GroupedNumbers.of(codes, y.astype(np.float64), w, n_codes)
        return CodeTable.of(codes, target, w, (n_codes, self.n_target))


def measure_columns(
    rows: Rows,
    classes: int,
    n_bins: int,
    measure: str,
) -> ColumnPairs:
    """The statistics that a measure needs: one pass, after one for the cuts of numbers."""
    tables = measure != "correlation"
    columns = Schema(rows.schema.columns)
    codes = ColumnCodes(columns, classes, [_NONE] * len(columns), _NONE)
    # numbers are cut at their quantiles, which takes a pass of its own
    if tables and (not classes or any(column.categories is None for column in columns)):
        cuts = rows.reduce(partial(_Cuts.of, numbers=not classes))
        codes = ColumnCodes(columns, classes, *cuts.cuts(columns, n_bins))
    return rows.reduce(partial(ColumnPairs.of, codes=codes, tables=tables))


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Sketches of the quantiles of all columns, and of a target of numbers."""

    columns: Quantiles
    target: Quantiles | None

    @classmethod
    def of(cls, block: Block, numbers: bool) -> _Cuts:
        block = block.without_zero_weights()
        target = None
        if numbers:
            y = np.asarray(block.y, dtype=np.float64)[:, None]
            target = Quantiles.of(block.with_X(y, block.schema))
        return cls(Quantiles.of(block), target)

    def merge(self, other: _Cuts) -> _Cuts:
        target = None
        if self.target is not None and other.target is not None:
            target = self.target.merge(other.target)
        return _Cuts(self.columns.merge(other.columns), target)

    def cuts(self, schema: Schema, n_bins: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The cuts of every column, none for categories, and those of the target."""
        column_cuts = []
        for column, sketch in zip(schema, self.columns.columns):
            cuts = _NONE
            if column.categories is None:
                cuts = quantile_cuts(sketch.values, sketch.weights, n_bins)
            column_cuts.append(cuts)
        if self.target is None:
            return column_cuts, _NONE
        sketch = self.target.columns[0]
        return column_cuts, quantile_cuts(sketch.values, sketch.weights, n_bins)


_NONE = np.empty(0)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros(len(b)), where=b > 0)


def _intervals(column: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    intervals = np.searchsorted(cuts, column, side="left")
    return np.where(np.isnan(column), -1, intervals)


# -- measures --------------------------------------------------------------------------


def _gain(table: np.ndarray) -> tuple[float, float, float]:
    """Information gain in bits, the entropy of the column, and that of the target."""
    if not table.sum():
        return 0.0, 0.0, 0.0
    # H(X) + H(Y) - H(X, Y), which rounding may leave below 0
    column = float(entropy(table.sum(axis=1)))
    target = float(entropy(table.sum(axis=0)))
    joint = float(entropy(table.ravel()))
    return max(column + target - joint, 0.0), column, target


def _gain_ratio(table: np.ndarray) -> float:
    gain, column, _ = _gain(table)
    return gain / column if column > 0 else 0.0


def _symmetrical_uncertainty(table: np.ndarray) -> float:
    gain, column, target = _gain(table)
    if column + target > 0:
        return 2.0 * gain / (column + target)
    return 0.0


def _chi_square_of(table: np.ndarray) -> tuple[float, float]:
    """Pearson's chi-square of a table, and its p-value."""
    if min(table.shape) < 2:
        return 0.0, 1.0
    test = independence_test(table, "chi2")
    return test.statistic, test.p_value


def chi_square_p(pairs: ColumnPairs) -> np.ndarray:
    """The p-value of independence of every column and the target."""
    return np.array([_chi_square_of(part.table)[1] for part in pairs.parts])


MEASURES: dict[str, Callable[[Any], float]] = {
    "information_gain": lambda part: _gain(part.table)[0],
    "gain_ratio": lambda part: _gain_ratio(part.table),
    "symmetrical_uncertainty": lambda part: _symmetrical_uncertainty(part.table),
    "chi2": lambda part: _chi_square_of(part.table)[0],
    "correlation": lambda part: part.strength(),
}
