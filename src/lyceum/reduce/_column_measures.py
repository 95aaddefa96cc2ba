"""How much single columns tell of a target: entropies, chi-square and correlations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from lyceum.prepare import Discretize

__all__ = ["MEASURES", "ColumnsAndTarget", "association", "chi_square_p", "entropy"]


@dataclass(frozen=True, eq=False)
class ColumnsAndTarget:
    """Coded cells and a target in memory: categories and classes as codes, missing cells as NaN."""

    X: np.ndarray  # (n, d)
    categorical: np.ndarray  # (d,) of bool
    y: np.ndarray  # (n,) codes or numbers
    classes: int  # 0 for numbers
    w: np.ndarray  # (n,)
    n_bins: int

    def codes(self, j: int) -> np.ndarray:
        """Column j as codes from 0, -1 where missing; numbers in intervals of equal weight."""
        column = self.X[:, j]
        return _category_codes(column) if self.categorical[j] else _intervals(column, self._cuts[j])

    @cached_property
    def _cuts(self) -> dict[int, np.ndarray]:
        """The cuts of the columns of numbers."""
        numbers = np.flatnonzero(~self.categorical)
        return dict(zip(numbers.tolist(), self._cuts_of(self.X[:, numbers]))) if len(numbers) else {}

    def _cuts_of(self, numbers: np.ndarray) -> list[np.ndarray]:
        coder = Discretize(method="frequency", n_bins=self.n_bins, categorical_features=None)
        return coder.fit(numbers, sample_weight=self.w).cuts_

    @cached_property
    def target_codes(self) -> np.ndarray:
        """The classes, or numbers in intervals of equal weight."""
        if self.classes:
            return self.y.astype(np.int64)
        return _intervals(self.y, self._cuts_of(np.asarray(self.y, dtype=np.float64)[:, None])[0])

    def table(self, j: int) -> np.ndarray:
        """The weight of every pair of a code of column j and of the target, both not missing."""
        a, b = self.codes(j), self.target_codes
        there = (a >= 0) & (b >= 0)
        rows, columns = int(a.max(initial=0)) + 1, int(b.max(initial=0)) + 1
        counts = np.bincount(a[there] * columns + b[there], self.w[there], rows * columns)
        table = counts.reshape(rows, columns)
        return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def _category_codes(column: np.ndarray) -> np.ndarray:
    there = ~np.isnan(column) & (column >= 0)
    return np.where(there, np.where(there, column, 0.0), -1.0).astype(np.int64)


def _intervals(column: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(column), -1, np.searchsorted(cuts, column, side="left"))


def entropy(counts: np.ndarray) -> float:
    """-Σ p log2 p of weights."""
    p = counts[counts > 0] / counts.sum() if counts.sum() else np.ones(1)
    return float(-(p * np.log2(p)).sum())


def _gain(table: np.ndarray) -> tuple[float, float, float]:
    """Information gain in bits, the entropy of the column, and that of the target."""
    if not table.sum():
        return 0.0, 0.0, 0.0
    own, target = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    return max(own + target - entropy(table.ravel()), 0.0), own, target


def _information_gain(data: ColumnsAndTarget) -> np.ndarray:
    return np.array([_gain(data.table(j))[0] for j in range(data.X.shape[1])])


def _gain_ratio(data: ColumnsAndTarget) -> np.ndarray:
    found = [_gain(data.table(j)) for j in range(data.X.shape[1])]
    return np.array([gain / own if own > 0 else 0.0 for gain, own, _ in found])


def _symmetrical_uncertainty(data: ColumnsAndTarget) -> np.ndarray:
    found = [_gain(data.table(j)) for j in range(data.X.shape[1])]
    return np.array([2.0 * gain / (own + target) if own + target > 0 else 0.0 for gain, own, target in found])


def _chi_square(data: ColumnsAndTarget) -> np.ndarray:
    return np.array([_chi_square_of(data.table(j))[0] for j in range(data.X.shape[1])])


def _chi_square_of(table: np.ndarray) -> tuple[float, float]:
    """Pearson's chi-square of a table, and its p-value."""
    if min(table.shape) < 2:
        return 0.0, 1.0
    found = stats.chi2_contingency(table, correction=False)
    return float(found.statistic), float(found.pvalue)


def chi_square_p(data: ColumnsAndTarget) -> np.ndarray:
    """The p-value of independence of every column and the target."""
    return np.array([_chi_square_of(data.table(j))[1] for j in range(data.X.shape[1])])


def _correlation(data: ColumnsAndTarget) -> np.ndarray:
    return np.array([association(data, j) for j in range(data.X.shape[1])])


def association(data: ColumnsAndTarget, j: int) -> float:
    """|r| of two numbers, η of a number and categories, Cramér's V of categories: all from 0 to 1."""
    if data.categorical[j] and data.classes:
        table = data.table(j)
        least = min(table.shape) - 1
        return float(np.sqrt(_chi_square_of(table)[0] / (table.sum() * least))) if least > 0 else 0.0
    x, y = data.X[:, j], data.y.astype(np.float64)
    there = ~np.isnan(x) & ~np.isnan(y) & (data.w > 0)
    x, y, w = x[there], y[there], data.w[there]
    if not len(x):
        return 0.0
    if not data.categorical[j] and not data.classes:
        a, b = x - np.average(x, weights=w), y - np.average(y, weights=w)
        size = np.sqrt((w @ a**2) * (w @ b**2))
        return float(min(abs((w * a) @ b) / size, 1.0)) if size > 0 else 0.0
    groups, values = (x, y) if data.categorical[j] else (y, x)
    codes = np.unique(groups, return_inverse=True)[1].ravel()
    values = values - np.average(values, weights=w)
    weight = np.bincount(codes, w)
    between = (np.bincount(codes, w * values) ** 2 / weight).sum()
    total = float(w @ values**2)
    return float(np.sqrt(min(max(between / total, 0.0), 1.0))) if total > 0 else 0.0


MEASURES = {
    "information_gain": _information_gain,
    "gain_ratio": _gain_ratio,
    "symmetrical_uncertainty": _symmetrical_uncertainty,
    "chi2": _chi_square,
    "correlation": _correlation,
}
