"""What mixtures of tables of probabilities (Bernoulli, categorical, multinomial) share: the
learner, and their problem for EM."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from lyceum._core.base import undefined
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, Rows, dense_cells
from lyceum._core.native import native
from lyceum._core.probability import runner_up_odds
from lyceum._core.solvers import EMProblem, Expectation
from lyceum._core.statistics import Moments
from lyceum._core.types import Data
from lyceum.mixtures.base import MIXTURE_CONSTRAINTS, Mixture
from lyceum.mixtures.start import StartLabels, given_array, given_weights
from lyceum.report import Table

TABLE_CONSTRAINTS: dict[str, list] = {
    **MIXTURE_CONSTRAINTS,
    "alpha": [Interval(Real, 0, None, closed="left")],
    "weights_init": ["array-like", None],
    "probabilities_init": ["array-like", None],
}


class TableMixture(Mixture):
    """A mixture whose components are tables of probabilities of design columns."""

    _parameter_docs: ClassVar[str] = """
    probabilities_init : array of shape (n_components, n_columns) or None
        Probabilities to start from, in place of k-means.
    """

    _counts = False

    alpha: float
    weights_init: Any
    probabilities_init: Any
    probabilities_: np.ndarray

    def _group(self) -> np.ndarray:
        """-1 for a design column of 0 and 1, else the number of the columns that sum to 1
        together."""
        raise undefined(self, "_group")

    def _start_scaling(self, moments: Moments) -> Any:
        raise undefined(self, "_start_scaling")

    # -- fit ---------------------------------------------------------------------------

    def _em_problem(
        self, rows: Rows, moments: Moments
    ) -> tuple[EMProblem, Iterable[Any]]:
        problem = TableProblem(self._group(), float(self.alpha), self._counts)
        if self.warm_start and hasattr(self, "probabilities_"):
            return problem, [self._parameters]
        if self.probabilities_init is not None:
            return problem, [self._given_start(problem)]
        starts = self._label_starts(rows, self._start_scaling(moments))
        return problem, [self._start_run(rows, problem, labels) for labels in starts]

    def _start_run(
        self, rows: Rows, problem: TableProblem, labels: StartLabels
    ) -> TableParameters:
        sums = rows.reduce(partial(problem.start_sums, labels=labels))
        start = problem.maximization(sums)
        if self.weights_init is None:
            return start
        weights = given_weights(self.weights_init, int(self.n_components))
        return TableParameters.of(
            weights, start.probabilities, problem.group, self._counts
        )

    def _given_start(self, problem: TableProblem) -> TableParameters:
        K = int(self.n_components)
        shape = (K, len(self.design_names))
        P = given_array("probabilities_init", self.probabilities_init, shape)
        if self.weights_init is None:
            weights = np.full(K, 1.0 / K)
        else:
            weights = given_weights(self.weights_init, K)
        return TableParameters.of(
            weights, np.clip(P, 0.0, 1.0), problem.group, self._counts
        )

    def _keep(self, parameters: TableParameters, problem: TableProblem) -> None:
        self.weights_ = parameters.weights
        self.probabilities_ = parameters.probabilities

    def _step_values(self, parameters: TableParameters) -> dict[str, Any]:
        return {
            "weights": parameters.weights,
            "probabilities": parameters.probabilities,
        }

    # -- use ---------------------------------------------------------------------------

    @property
    def _parameters(self) -> TableParameters:
        return TableParameters.of(
            self.weights_, self.probabilities_, self._group(), self._counts
        )

    def _log_joint(self, block: Block) -> np.ndarray:
        return self._parameters.log_joint(block.X)

    def _column_terms(self, block: Block) -> np.ndarray:
        at = self._parameters
        X, known = zeros_for_missing(block.X)
        X = dense_cells(X)
        if known is None:
            known = np.ones(X.shape)
        terms = X[:, None, :] * at.slope + known[:, None, :] * at.base
        return runner_up_odds(terms, at.log_weights)

    # -- what was learned --------------------------------------------------------------

    def _n_parameters(self) -> int:
        # one per column of 0 and 1, one less than its columns per group that sums to 1
        group = self._group()
        K = len(self.weights_)
        free = int((group < 0).sum())
        _, sizes = np.unique(group[group >= 0], return_counts=True)
        free += int((sizes - 1).sum())
        return K - 1 + K * free

    def _component_table(self) -> list[Table]:
        names = [f"component {k}" for k in range(len(self.weights_))]
        weights = [*zip(names, self.weights_.tolist())]
        table = [
            (name, *column)
            for name, column in zip(self.design_names, self.probabilities_.T)
        ]
        return [
            Table("Components", ("component", "weight"), weights),
            Table("Probabilities", ("column", *names), table),
        ]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.weights_)
        d = len(self.design_names)
        return {"weights_": (K,), "probabilities_": (K, d)}


@dataclass(frozen=True, slots=True)
class CellSums:
    """Per component the weight of its rows, the sums of their cells, and the weight of cells not
    missing."""

    rows: np.ndarray  # (K,)
    sums: np.ndarray  # (K, d)
    known: np.ndarray  # (K, d)

    @classmethod
    def of(cls, block: Block, R: np.ndarray) -> CellSums:
        weighted = R if block.w is None else R * block.w[:, None]
        X, known = zeros_for_missing(block.X)
        rows = weighted.sum(axis=0)
        # a sparse matrix must be the left factor
        if sparse.issparse(X):
            products = (X.T @ weighted).T
        else:
            products = weighted.T @ X
        sums = np.asarray(products, dtype=np.float64)
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
        # a column of 0 and 1: x log p + (1 - x) log(1 - p), so that base = log(1 - p); columns
        # that sum to 1: x log p
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
    # log 0! = 0, so that cells which sparse rows do not store add nothing
    if sparse.issparse(X):
        factorials = X.copy()
        factorials.data = gammaln(X.data + 1.0)
        n = np.asarray(X.sum(axis=1)).ravel()
        return gammaln(n + 1.0) - np.asarray(factorials.sum(axis=1)).ravel()
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
        # log p(x), and in place of the log joint densities the responsibilities
        R = parameters.log_joint(block.X)
        best = R.max(axis=1)
        log_p = best + np.log(np.exp(R - best[:, None]).sum(axis=1))
        native.posterior(R)
        sums = CellSums.of(block, R)
        return Expectation(sums, float(block.weights @ log_p), block.weight)

    def maximization(self, statistic: CellSums) -> TableParameters:
        cells = np.maximum(statistic.known + 2 * self.alpha, 1e-300)
        P = (statistic.sums + self.alpha) / cells
        # columns that sum to 1; equal where a component has no cells and α is 0
        for g in np.unique(self.group[self.group >= 0]):
            own = self.group == g
            raised = statistic.sums[:, own] + self.alpha
            total = raised.sum(axis=1, keepdims=True)
            shares = raised / np.where(total > 0, total, 1.0)
            P[:, own] = np.where(total > 0, shares, 1.0 / own.sum())
        share = statistic.rows / statistic.rows.sum()
        return TableParameters.of(share, np.clip(P, 0.0, 1.0), self.group, self.counts)

    def log_prior(self, parameters: TableParameters) -> float:
        if not self.alpha:
            return 0.0
        alone = self.group < 0
        P = parameters.probabilities
        log_absent = np.log1p(-P[:, alone]).sum()
        return self.alpha * float(np.log(P).sum() + log_absent)
