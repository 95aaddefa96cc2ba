"""Mixtures of tables of probabilities (Bernoulli, categorical, multinomial) as problems for EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.solvers import EMProblem, Expectation
from lyceum._core.types import Data
from lyceum.mixtures.start import StartLabels


@dataclass(frozen=True, slots=True)
class CellSums:
    """Per component the weight of its rows, the sums of their cells, and the weight of cells not
    missing."""

    rows: np.ndarray  # (K,)
    sums: np.ndarray  # (K, d)
    known: np.ndarray  # (K, d)

    @classmethod
    def of(cls, block: Block, R: np.ndarray) -> CellSums:
        if block.w is None:
            weighted = R
        else:
            weighted = R * block.w[:, None]
        X, known = zeros_for_missing(block.X)
        rows = weighted.sum(axis=0)
        sums = np.asarray(
            (X.T @ weighted).T if sparse.issparse(X) else weighted.T @ X,
            dtype=np.float64,
        )
        if known is None:
            seen = np.repeat(rows[:, None], X.shape[1], axis=1)
        else:
            seen = weighted.T @ known
        return cls(rows, sums, seen)

    def merge(self, other: CellSums) -> CellSums:
        """The sums of the rows of both."""
        return CellSums(
            self.rows + other.rows, self.sums + other.sums, self.known + other.known
        )


def zeros_for_missing(X: Data) -> tuple[Any, np.ndarray | None]:
    """The cells with zeros for missing ones, and 1 where a cell is known; None if all are."""
    if sparse.issparse(X):
        return X, None
    X = np.asarray(X, dtype=np.float64)
    if not np.isnan(X.sum()):
        return X, None
    return np.nan_to_num(X, nan=0.0), (~np.isnan(X)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TableParameters:
    """log p(x | k) = Σ_j slope_kj x_j + base_kj, over the cells that are not missing."""

    weights: np.ndarray  # (K,)
    probabilities: np.ndarray  # (K, d)
    slope: np.ndarray  # (K, d)
    base: np.ndarray  # (K, d)
    counts: bool  # whether rows are counts, with a multinomial coefficient

    @classmethod
    def of(
        cls,
        weights: np.ndarray,
        probabilities: np.ndarray,
        group: np.ndarray,
        counts: bool,
    ) -> TableParameters:
        """`group` is -1 for a single column of 0 and 1, else the number of the columns that sum to
        1."""
        alone = group < 0
        with np.errstate(divide="ignore"):
            log_p = np.log(probabilities)
            base = np.where(alone, np.log1p(-np.where(alone, probabilities, 0.0)), 0.0)
        # a probability of 0 that never occurs: its logarithm is large, but finite
        log_p = np.maximum(log_p, -1e8)
        base = np.maximum(base, -1e8)
        return cls(weights, probabilities, log_p - base, base, counts)

    @property
    def log_weights(self) -> np.ndarray:
        return np.log(
            self.weights,
            out=np.full(len(self.weights), -np.inf),
            where=self.weights > 0,
        )

    def log_joint(self, X: Data) -> np.ndarray:
        """log π_k + log p(x | k), (n, K)."""
        cells, known = zeros_for_missing(X)
        joint = np.asarray(cells @ self.slope.T)
        joint += self.base.sum(axis=1) if known is None else known @ self.base.T
        joint += self.log_weights
        if self.counts:
            joint += _log_coefficient(cells)[:, None]
        return np.ascontiguousarray(joint)


def _log_coefficient(X: Any) -> np.ndarray:
    """log of n! / Π x_j!, the orders in which the counts of a row can come."""
    if sparse.issparse(X):
        inner = X.copy()
        inner.data = gammaln(X.data + 1.0)
        return (
            gammaln(np.asarray(X.sum(axis=1)).ravel() + 1.0)
            - np.asarray(inner.sum(axis=1)).ravel()
        )
    return gammaln(X.sum(axis=1) + 1.0) - gammaln(X + 1.0).sum(axis=1)


@dataclass(frozen=True, eq=False)
class TableProblem(EMProblem):
    """The mixture as expectation-maximization sees it.

    M-step: p = (Σ r x + α) / (n + 2 α) for a column of 0 and 1, (Σ r x_c + α) / (Σ_c Σ r x_c + C α)
    for C columns that sum to 1: the mode under Beta(1 + α, 1 + α) and Dirichlet(1 + α).
    """

    group: np.ndarray  # (d,)
    alpha: float
    counts: bool = False

    def start_sums(self, block: Block, labels: StartLabels) -> CellSums:
        return CellSums.of(block, labels.responsibilities(block))

    def expectation(self, block: Block, parameters: TableParameters) -> Expectation:
        R = parameters.log_joint(block.X)
        best = R.max(axis=1)
        total = best + np.log(np.exp(R - best[:, None]).sum(axis=1))
        native.posterior(R)
        return Expectation(
            CellSums.of(block, R), float(block.weights @ total), block.weight
        )

    def maximization(self, statistic: CellSums) -> TableParameters:
        P = (statistic.sums + self.alpha) / np.maximum(
            statistic.known + 2 * self.alpha, 1e-300
        )
        for g in np.unique(self.group[self.group >= 0]):
            own = self.group == g
            raised = statistic.sums[:, own] + self.alpha
            total = raised.sum(axis=1, keepdims=True)
            P[:, own] = np.where(
                total > 0, raised / np.where(total > 0, total, 1.0), 1.0 / own.sum()
            )
        share = statistic.rows / statistic.rows.sum()
        return TableParameters.of(share, np.clip(P, 0.0, 1.0), self.group, self.counts)

    def log_prior(self, parameters: TableParameters) -> float:
        if not self.alpha:
            return 0.0
        alone = self.group < 0
        P = parameters.probabilities
        return self.alpha * float(np.log(P).sum() + np.log1p(-P[:, alone]).sum())
