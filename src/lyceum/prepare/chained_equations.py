"""Chained equations: every column predicted from the others by linear scores that follow from sums.

All columns are written in one-of-C columns Z. For column j with cells on the rows R_j,

    continuous:   a + bᵀz, the ridge with the least Σ_{R_j} w (z_j - a - bᵀz)² + α Σ s_i² b_i²
    categorical:  log p_k + δ_kᵀ W⁻¹ (z - m - δ_k/2), the linear discriminant with
                  W = (within + α diag(s²)) / n

over the columns z of all other attributes, without the first category of each (it follows from the
rest). m is the mean of z on R_j, m + δ_k that of category k, s_i the standard deviation of z_i: α
weighs as α rows. Both need nothing but the scatter matrix of Z on R_j. A category that is missing
stands in Z as its posterior probabilities, as a number that is missing stands as its conditional
mean: hard choices would make the rounds oscillate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lyceum._core.data import Block, Design, Schema, as_float, codes_of
from lyceum._core.native import native
from lyceum._core.statistics import PositiveFactor, Scatter
from lyceum.prepare.statistics import Stats
from lyceum.prepare.steps import renamed


@dataclass(frozen=True, eq=False)
class Layout:
    """Where every column is found among the one-of-C columns."""

    schema: Schema

    @cached_property
    def coded_schema(self) -> Schema:
        """The columns with two numbers as categories too."""
        columns = [
            replace(column, kind="categorical") if column.is_categorical else column
            for column in self.schema
        ]
        return Schema(tuple(columns))

    @cached_property
    def design(self) -> Design:
        return Design(self.coded_schema, every=True)

    @cached_property
    def own(self) -> list[np.ndarray]:
        """The one-of-C columns of every column."""
        return [
            np.flatnonzero(self.design.source == j) for j in range(len(self.schema))
        ]

    @cached_property
    def is_reference(self) -> np.ndarray:
        """Which one-of-C columns are those of a first category, which follows from the others."""
        source = self.design.source
        is_first = np.append(True, np.diff(source) > 0)
        is_categorical = np.array([column.is_categorical for column in self.schema])
        return is_first & is_categorical[source]

    def predictors(self, j: int) -> np.ndarray:
        return np.flatnonzero((self.design.source != j) & ~self.is_reference)

    def codes(self, X: np.ndarray) -> np.ndarray:
        """A copy with codes for two numbers."""
        X = X.copy()
        for j, column in enumerate(self.schema):
            if column.is_categorical and column.numeric:
                X[:, j] = codes_of(X[:, j], column.categories)  # type: ignore[arg-type]
        return X

    def cells(self, j: int, Z: np.ndarray) -> np.ndarray:
        """The cells of column j that rows of Z stand for."""
        column = self.schema[j]
        if not column.is_categorical:
            return Z[:, self.own[j][0]]
        codes = Z[:, self.own[j]].argmax(axis=1)
        return column.categories[codes] if column.numeric else codes  # type: ignore[index]


@dataclass(frozen=True, eq=False)
class Equations:
    """Scores intercept + Z coef, one for every one-of-C column: a number, or the score of a
    category."""

    intercept: np.ndarray  # (D,)
    coef: np.ndarray  # (D, D)


@dataclass(frozen=True, eq=False)
class Chain:
    """Fills missing cells with start values, then predicts each from the other cells, column by
    column."""

    before: Schema
    layout: Layout
    start: np.ndarray  # (d,) codes for two numbers
    equations: Equations | None
    order: tuple[int, ...]
    sweeps: int

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=renamed(self.layout.schema, self.before).columns)

    def __call__(self, block: Block) -> Block:
        X = as_float(block.X).copy()
        rows = np.flatnonzero(np.isnan(X).any(axis=1))
        if len(rows):
            missing = np.isnan(X[rows])
            Z = self.fill(X[rows])
            for j in np.flatnonzero(missing.any(axis=0)).tolist():
                X[rows[missing[:, j]], j] = self.layout.cells(j, Z[missing[:, j]])
        return block.with_X(X, self.schema(block.schema))

    def fill(self, X: np.ndarray) -> np.ndarray:
        """The one-of-C columns of the rows, without missing cells."""
        missing = np.isnan(X)
        codes = self.layout.codes(X)
        np.copyto(codes, self.start.astype(codes.dtype), where=missing)
        block = Block(codes, None, None, 0, self.layout.coded_schema)
        Z = self.layout.design(block).X
        several = missing.sum(axis=1)
        # one missing cell is predicted once and for all; several depend on one another
        for sweep in range(self.sweeps if self.equations else 0):
            rows = np.flatnonzero(several > min(sweep, 1))
            Z[rows] = self._sweep(Z[rows].astype(np.float64), missing[rows])
        return Z

    def _sweep(self, Z: np.ndarray, missing: np.ndarray) -> np.ndarray:
        assert self.equations is not None
        intercept = self.equations.intercept
        coef = self.equations.coef
        for j in self.order:
            rows = np.flatnonzero(missing[:, j])
            own = self.layout.own[j]
            scores = Z[rows] @ coef[:, own] + intercept[own]
            # a category stands for its posterior probabilities, in place of the scores
            if self.layout.schema[j].is_categorical:
                native.posterior(scores)
            Z[np.ix_(rows, own)] = scores
        return Z

    def scatters(self, block: Block, columns: tuple[int, ...]) -> Stats:
        """Scatter of the filled rows: of all, and of those where each of `columns` is not
        missing."""
        X = as_float(block.X)
        Z = np.ascontiguousarray(self.fill(X))
        w = block.weights
        weights = [w, *(w * ~np.isnan(X[:, j]) for j in columns)]
        blocks = (Block(Z, None, part, block.start, block.schema) for part in weights)
        return Stats(tuple(map(Scatter.of, blocks)))


def solve(
    layout: Layout,
    j: int,
    scatter: Scatter,
    alpha: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Intercepts and coefficients (D, own) of the scores of column j."""
    own = layout.own[j]
    others = layout.predictors(j)
    S = scatter.scatter
    mean = scatter.mean
    n = scatter.weight
    variance = S[others, others] / n
    sd = np.sqrt(np.where(variance > 0, variance, 1.0))
    within = S[np.ix_(others, others)]
    across = S[np.ix_(others, own)]
    coef = np.zeros((len(mean), len(own)))
    if not layout.schema[j].is_categorical:
        coef[others] = _ridge(within, across, sd, alpha)
        return mean[own] - mean @ coef, coef
    # p_k and δ_k, the mean of category k from the overall mean; within = S − Σ_k n p_k δ_k δ_kᵀ
    share = np.maximum(mean[own], 0.0)
    delta = np.divide(across, n * share, out=np.zeros_like(across), where=share > 0)
    within = within - (delta * (n * share)) @ delta.T
    coef[others] = n * _ridge(within, delta, sd, alpha)
    # log p_k − δ_kᵀW⁻¹(m + δ_k/2), with −inf for a category that never occurs
    halves = 0.5 * (delta * coef[others]).sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.log(share) - mean @ coef - halves, coef


def _ridge(
    A: np.ndarray,
    B: np.ndarray,
    sd: np.ndarray,
    alpha: float,
) -> np.ndarray:
    """(A + alpha diag(sd²))⁻¹ B."""
    return PositiveFactor.of(A + np.diag(alpha * sd**2)).solve(B)


def score_change(
    layout: Layout,
    j: int,
    scatter: Scatter,
    before: Equations,
    after: Equations,
) -> float:
    """Root mean square move of the scores of column j, in its units of spread (the scores', if
    above 1)."""
    own = layout.own[j]
    S = scatter.scatter
    n = scatter.weight
    change = after.coef[:, own] - before.coef[:, own]
    # a category that never occurs has log 0 before and after
    with np.errstate(invalid="ignore"):
        moved = after.intercept[own] - before.intercept[own]
        moved = np.nan_to_num(moved, posinf=0.0, neginf=0.0)
    # E|Δa + Δbᵀz|² = the variance of Δbᵀz, by the scatter, + the square at the mean
    variance = (change * (S @ change)).sum() / n
    square = variance + ((moved + scatter.mean @ change) ** 2).sum()
    if layout.schema[j].is_categorical:
        coef = after.coef[:, own]
        spread = max(1.0, (coef * (S @ coef)).sum() / n)
    else:
        spread = S[own[0], own[0]] / n
    if spread > 0:
        return float(np.sqrt(square / spread))
    return 0.0


def r_squared(
    layout: Layout,
    j: int,
    scatter: Scatter,
    equations: Equations,
) -> float:
    """R² of a continuous column's equation; NaN for categories and for constants."""
    own = layout.own[j][0]
    S = scatter.scatter
    if layout.schema[j].is_categorical or not S[own, own] > 0:
        return np.nan
    # the residual z_j − bᵀz is a linear form of z, and its variance that of the form
    residual = -equations.coef[:, own]
    residual[own] += 1.0
    return float(1 - residual @ S @ residual / S[own, own])
