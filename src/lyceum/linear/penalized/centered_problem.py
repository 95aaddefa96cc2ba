"""Rows in memory as the columns that coordinate descent works on."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from lyceum.linear.penalized.nonnegative import NonNegativeElasticNet
from lyceum.linear.row_passes import inverse_deviations, unit_columns

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
        cls,
        statistic: Scatter,
        fit_intercept: bool,
        standardize: bool = False,
    ) -> CenteredProblem:
        moments = statistic if fit_intercept else statistic.about_origin()
        factors = None
        # deviations are about the means, with an intercept or without
        if standardize:
            factors = inverse_deviations(statistic.xx_diagonal, statistic.weight)
            moments = moments.scale_columns(factors)
        problem = GramElasticNet.of(moments)
        return cls(problem, moments.x_mean, moments.y_mean, moments.weight, factors)

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        fit_intercept: bool,
        standardize: bool = False,
    ) -> CenteredProblem:
        """From rows in memory, copied column by column; `on_columns` has refused others."""
        factors = None
        if standardize:
            rows, factors = unit_columns(rows)
        block = rows.in_one_block('solver="columns"', 'solver="gram"')
        assert block.y is not None
        y = block.y.astype(np.float64)
        # s = √(w / Σw): products of columns times s are weighted means
        if block.w is None:
            weight = float(len(y))
            s = np.full(len(y), 1 / np.sqrt(len(y)))
        else:
            weight = float(block.w.sum())
            s = np.sqrt(block.w / weight)
        # from the first value on, so that an offset takes no digits
        y_mean = 0.0
        if fit_intercept:
            v = s * s
            rest = v @ (y - y[0]) / v.sum()
            y_mean = float(y[0] + rest)
        # with three cells in ten filled, dense columns are the quicker
        X = block.X
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            if X.nnz > 0.3 * X.shape[0] * X.shape[1]:
                X = X.toarray()
        columns_of = _sparse if sparse.issparse(X) else _dense
        columns, x_mean = columns_of(X, s, fit_intercept)
        centered = s * (y - y_mean)
        problem = ColumnElasticNet(columns, centered, float(centered @ centered))
        return cls(problem, x_mean, y_mean, weight, factors)

    def nonnegative(self) -> CenteredProblem:
        """The same problem over coefficients that are not negative."""
        problem = self.problem
        assert isinstance(problem, GramElasticNet)
        bounded = NonNegativeElasticNet(problem.Q, problem.q, problem.yy)
        return replace(self, problem=bounded)

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
        # Σ λ / (λ + l2) over the eigenvalues λ of XᵀX that are not rounding
        values = np.linalg.eigvalsh(self.problem.corner(on))
        values = values[values > 64 * _EPS * values.max(initial=0.0)]
        return float((values / (values + l2)).sum())

    def intercept(self, coef: np.ndarray) -> float:
        return self.y_mean - float(self.x_mean @ coef)


def _dense(
    X: np.ndarray,
    s: np.ndarray,
    fit_intercept: bool,
) -> tuple[DenseColumns, np.ndarray]:
    """√w (x - mean) / √Σw as rows of a (d, n) array, a cacheful of columns at a time."""
    n, d = X.shape
    XT = np.empty((d, n))
    mean = np.zeros(d)
    norms = np.empty(d)
    v = s * s

    def fill(some: slice) -> None:
        chunk = XT[some]
        # a stretch of rows stays in the cache while its columns are read
        for row in range(0, n, _ROWS):
            chunk[:, row : row + _ROWS] = X[row : row + _ROWS, some].T
        # the mean from the first cell on, so that an offset takes no digits
        if fit_intercept:
            first = chunk[:, 0].copy()
            chunk -= first[:, None]
            rest = chunk @ v
            chunk -= rest[:, None]
            mean[some] = first + rest
        chunk *= s
        norms[some] = np.einsum("ij,ij->i", chunk, chunk)

    # every thread fills columns of its own
    size = max(8, min(64, (1 << 17) // n))
    starts = range(0, d, size)
    chunks = (slice(first, min(first + size, d)) for first in starts)
    for _ in ordered_map(fill, chunks):
        pass
    # what is left of a constant column is rounding of its mean
    norms[norms <= (4 * _EPS * mean) ** 2] = 0.0
    return DenseColumns(XT, np.zeros(d), norms), mean


def _sparse(
    X: Any,
    s: np.ndarray,
    fit_intercept: bool,
) -> tuple[SparseColumns, np.ndarray]:
    """Full columns are shifted near their means first, so that an offset costs no digits."""
    cells = SparseCells.of(X)
    shift = np.zeros(X.shape[1])
    if fit_intercept:
        shift = cells.provisional_mean()
    of_cells = np.repeat(s, np.diff(cells.indptr))
    data = cells.shift_data(shift) * of_cells
    scaled = sparse.csr_array((data, cells.indices, cells.indptr), shape=X.shape)
    scaled = scaled.tocsc()
    mean = np.zeros(X.shape[1])
    if fit_intercept:
        mean = scaled.T @ s
    # Σ s²(x - x̄)² = Σ s²x² - x̄²; where nearly nothing is left of it the column is constant
    squares = np.bincount(cells.indices, data * data, X.shape[1])
    norms = squares - mean**2
    norms[norms <= 64 * _EPS * squares] = 0.0
    # the means stay outside of the cells, as s x̄ in every column would make it dense
    columns = SparseColumns(
        scaled.indptr.astype(np.int32, copy=False),
        scaled.indices.astype(np.int32, copy=False),
        scaled.data,
        s if fit_intercept else np.zeros_like(s),
        mean,
        norms,
    )
    return columns, shift + mean
