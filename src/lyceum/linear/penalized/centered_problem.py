"""Rows in memory as the columns that coordinate descent works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Rows
from lyceum._core.solvers import (
    ColumnElasticNet,
    DenseColumns,
    ElasticNetProblem,
    GramElasticNet,
    SparseColumns,
)
from lyceum._core.statistics import Scatter, SparseCells
from lyceum._core.threads import ordered_map
from lyceum.linear.penalized.unit_columns import inverse_deviations, unit_columns

_ROWS = 1 << 14
_MOST_IN_USE = 1000
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class CenteredProblem:
    """An elastic-net problem about the means of its rows, with what takes its solutions back."""

    problem: ElasticNetProblem
    x_mean: np.ndarray  # zeros without an intercept
    y_mean: float
    weight: float
    factors: np.ndarray | None = None  # (d,) what the columns were multiplied by

    @classmethod
    def of_moments(
        cls, statistic: Scatter, fit_intercept: bool, standardize: bool = False
    ) -> CenteredProblem:
        if standardize:
            factors = inverse_deviations(statistic.xx_diagonal, statistic.weight)
        else:
            factors = None
        if fit_intercept:
            moments = statistic
        else:
            moments = statistic.about_origin()
        if factors is not None:
            moments = moments.scale_columns(factors)
        problem = GramElasticNet.of(moments)
        return cls(problem, moments.x_mean, moments.y_mean, moments.weight, factors)

    @classmethod
    def of_rows(
        cls, rows: Rows, fit_intercept: bool, standardize: bool = False
    ) -> CenteredProblem:
        """From rows in memory, copied column by column; `on_columns` has refused others."""
        if standardize:
            rows, factors = unit_columns(rows)
        else:
            rows = rows
            factors = None
        block = rows.in_one_block('solver="columns"', 'solver="gram"')
        assert block.y is not None
        y = block.y.astype(np.float64)
        w = block.w
        if w is None:
            total = float(len(y))
        else:
            total = float(w.sum())
        if w is None:
            s = np.full(len(y), 1 / np.sqrt(len(y)))
        else:
            s = np.sqrt(w / total)
        if fit_intercept:
            y_mean = _mean(y, s)
        else:
            y_mean = 0.0
        columns, x_mean = _columns(block.X, s, fit_intercept)
        centered = s * (y - y_mean)
        problem = ColumnElasticNet(columns, centered, float(centered @ centered))
        return cls(problem, x_mean, y_mean, total, factors)

    def in_units(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the problem in the units of the columns."""
        if self.factors is None:
            return coef
        return coef * self.factors

    def from_units(self, coef: np.ndarray) -> np.ndarray:
        """The other way round."""
        if self.factors is None:
            return coef
        return coef / self.factors

    @property
    def column_means(self) -> np.ndarray:
        """The means in the units of the columns."""
        if self.factors is None:
            return self.x_mean
        return self.x_mean / self.factors

    def effective_degrees(self, coef: np.ndarray, l1: float, l2: float) -> float:
        """The trace of X (XᵀX + l2 I)⁻¹ Xᵀ over the columns in use (Zou, Hastie and Tibshirani,
        2007).

        Their number for a lasso; NaN where over 1,000 of them would make it slow.
        """
        on = np.flatnonzero(coef)
        if l1 > 0.0 and l2 == 0.0:
            return float(len(on))
        if len(on) > _MOST_IN_USE:
            return float("nan")
        values = np.linalg.eigvalsh(self.problem.corner(on))
        values = values[values > 64 * _EPS * values.max(initial=0.0)]
        return float((values / (values + l2)).sum())

    def intercept(self, coef: np.ndarray) -> float:
        return self.y_mean - float(self.x_mean @ coef)


def _mean(y: np.ndarray, s: np.ndarray) -> float:
    v = s * s
    return float(y[0] + v @ (y - y[0]) / v.sum())


def _columns(X: Any, s: np.ndarray, fit_intercept: bool) -> tuple[Any, np.ndarray]:
    if not sparse.issparse(X):
        return _dense(X, s, fit_intercept)
    X = sparse.csr_array(X)
    if X.nnz <= 0.3 * X.shape[0] * X.shape[1]:
        return _sparse(X, s, fit_intercept)
    return _dense(X.toarray(), s, fit_intercept)


def _dense(
    X: np.ndarray, s: np.ndarray, fit_intercept: bool
) -> tuple[DenseColumns, np.ndarray]:
    """√w (x - mean) / √Σw as rows of a (d, n) array, a cacheful of columns at a time."""
    n, d = X.shape
    XT = np.empty((d, n))
    mean = np.zeros(d)
    norms = np.empty(d)
    v = s * s

    def fill(at: slice) -> None:
        chunk = XT[at]
        for row in range(
            0, n, _ROWS
        ):  # a stretch of rows stays in the cache while its columns are read
            chunk[:, row : row + _ROWS] = X[row : row + _ROWS, at].T
        if fit_intercept:
            first = chunk[:, 0].copy()
            chunk -= first[:, None]
            rest = chunk @ v
            chunk -= rest[:, None]
            mean[at] = first + rest
        chunk *= s
        norms[at] = np.einsum("ij,ij->i", chunk, chunk)

    size = max(8, min(64, (1 << 17) // n))
    for _ in ordered_map(
        fill, (slice(at, min(at + size, d)) for at in range(0, d, size))
    ):
        pass
    norms[norms <= (4 * _EPS * mean) ** 2] = 0.0
    return DenseColumns(XT, np.zeros(d), norms), mean


def _sparse(
    X: Any, s: np.ndarray, fit_intercept: bool
) -> tuple[SparseColumns, np.ndarray]:
    """Full columns are shifted near their means first, so that an offset costs no digits."""
    cells = SparseCells.of(X)
    if fit_intercept:
        shift = cells.provisional_mean()
    else:
        shift = np.zeros(X.shape[1])
    data = cells.shift_data(shift) * np.repeat(s, np.diff(cells.indptr))
    scaled = sparse.csr_array(
        (data, cells.indices, cells.indptr), shape=X.shape
    ).tocsc()
    if fit_intercept:
        mean = scaled.T @ s
    else:
        mean = np.zeros(X.shape[1])
    squares = np.bincount(cells.indices, data * data, X.shape[1])
    norms = squares - mean**2
    norms[norms <= 64 * _EPS * squares] = 0.0
    columns = SparseColumns(
        scaled.indptr.astype(np.int32, copy=False),
        scaled.indices.astype(np.int32, copy=False),
        scaled.data,
        s if fit_intercept else np.zeros_like(s),
        mean,
        norms,
    )
    return columns, shift + mean
