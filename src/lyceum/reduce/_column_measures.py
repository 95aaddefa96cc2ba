"""How much single columns tell of a target: entropies, chi-square, correlations and relief."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = ["MEASURES", "ColumnsAndTarget", "association", "entropy", "relief"]


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
        """Column j as codes from 0, -1 where missing; numbers in bins of equal weight."""
        column = self.X[:, j]
        return _category_codes(column) if self.categorical[j] else _bins(column, self.w, self.n_bins)

    @property
    def target_codes(self) -> np.ndarray:
        """The classes, or numbers in bins of equal weight."""
        return self.y.astype(np.int64) if self.classes else _bins(self.y, self.w, self.n_bins)

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


def _bins(column: np.ndarray, w: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins of about equal weight; equal numbers are in one bin."""
    there = ~np.isnan(column) & (w > 0)
    out = np.full(len(column), -1, dtype=np.int64)
    if not there.any():
        return out
    place = np.unique(column[there], return_inverse=True)[1]
    weight = np.bincount(place.ravel(), w[there])
    middle = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    bins = np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)
    out[there] = np.unique(bins, return_inverse=True)[1].ravel()[place.ravel()]
    return out


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


def relief(
    data: ColumnsAndTarget, n_neighbors: int, n_rows: int, random: np.random.RandomState
) -> np.ndarray:
    """ReliefF for classes, RReliefF for numbers (Robnik-Šikonja and Kononenko 2003).

    Columns that differ between near rows of different classes gain, those that differ between near rows of
    one class lose. Differences are shares of the range for numbers, 0 or 1 for categories, and ½ where a cell
    is missing.
    """
    used = np.flatnonzero(data.w > 0)
    X, y, w = data.X[used], data.y[used].astype(np.float64), data.w[used]
    n, d = X.shape
    numbers = ~data.categorical
    low = np.nanmin(np.where(np.isnan(X), np.inf, X), axis=0)
    span = np.nanmax(np.where(np.isnan(X), -np.inf, X), axis=0) - low
    inverse = np.divide(1.0, span, out=np.zeros(d), where=np.isfinite(span) & (span > 0))
    chosen = np.sort(random.choice(n, min(n_rows, n), replace=False, p=w / w.sum()))
    prior = np.bincount(y.astype(np.int64), w) / w.sum() if data.classes else np.zeros(0)
    total = np.zeros(d)
    both, other, own = 0.0, np.zeros(d), np.zeros(d)
    y_span = float(np.ptp(y)) or 1.0
    for i in chosen:
        apart = np.where(numbers, np.abs(X - X[i]) * inverse, X[i] != X)
        apart = np.where(np.isnan(X) | np.isnan(X[i]), 0.5, apart)
        distance = apart.sum(axis=1)
        distance[i] = np.inf
        if not data.classes:
            near = np.argsort(distance, kind="stable")[: min(n_neighbors, n - 1)]
            weight = w[near] / max(w[near].sum(), 1e-300)
            gap = np.abs(y[near] - y[i]) / y_span
            both += float(weight @ gap)
            other += weight @ apart[near]
            own += (weight * gap) @ apart[near]
            continue
        for k in range(data.classes):
            members = np.flatnonzero((y == k) & np.isfinite(distance))
            if not len(members):
                continue
            near = members[np.argsort(distance[members], kind="stable")[:n_neighbors]]
            mean = np.average(apart[near], axis=0, weights=w[near])
            if k == y[i]:
                total -= mean
            else:
                total += prior[k] / max(1.0 - prior[int(y[i])], 1e-300) * mean
    m = max(len(chosen), 1)
    if data.classes:
        return total / m
    # W = P(different x, different y) / P(different y) - P(different x, like y) / P(like y)
    left = own / both if both > 0 else np.zeros(d)
    right = (other - own) / (m - both) if m > both else np.zeros(d)
    return left - right


MEASURES = {
    "information_gain": _information_gain,
    "gain_ratio": _gain_ratio,
    "symmetrical_uncertainty": _symmetrical_uncertainty,
    "chi2": _chi_square,
    "correlation": _correlation,
}
