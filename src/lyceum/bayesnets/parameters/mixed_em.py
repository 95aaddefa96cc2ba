"""Expectation-maximization where some nodes are Gaussian: exact over the states that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows, Schema
from lyceum._core.solvers import EMProblem, Expectation
from lyceum._core.statistics import ClassScatter, Moments
from lyceum.bayesnets.inference.mixed_query import joint_gaussian
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.nodes import GaussianNode
from lyceum.bayesnets.parameters.fit import (
    estimate_table,
    family_scatter,
    least_squares,
    log_prior_of_tables,
    numbers_of,
    regressions,
)
from lyceum.bayesnets.row_codes import RowCodes
from lyceum.errors import DataError, SettingError

_MAX_COMBINATIONS = 1 << 12
_CELLS_AT_ONCE = 1 << 22
_FLOOR = 1e-9  # the smallest variance of a node, as a part of its column's
_SINGULAR = 1e-13


@dataclass(frozen=True)
class MixedState:
    """The parameters: tables with their compiled tree, and Gaussian nodes, parents first."""

    tables: BayesNet | None
    gaussians: tuple[GaussianNode, ...]

    @property
    def states(self) -> dict[str, Any]:
        """The states of every discrete variable."""
        if self.tables is None:
            return {}
        return {name: self.tables.states(name) for name in self.tables.names}


@dataclass(frozen=True)
class _Sums:
    """Expected counts of the tables; scatter of the numbers in every combination; where they were
    taken."""

    tables: list[np.ndarray]
    scatter: ClassScatter
    state: MixedState

    def merge(self, other: _Sums) -> _Sums:
        tables = [mine + theirs for mine, theirs in zip(self.tables, other.tables)]
        return _Sums(tables, self.scatter.merge(other.scatter), self.state)


@dataclass(frozen=True)
class MixedProblem(EMProblem):
    """EM of a conditional Gaussian network.

    Given a combination s of the states of all discrete parents of Gaussian nodes, the numbers x are
    jointly Gaussian. A row has r_s ∝ P(s, its states) N(its numbers; μ_s, Σ_s); its missing numbers
    have a mean and a covariance under every s that it allows, and the expected moments are their
    sums weighted by r_s. The M-step is least squares in every combination of a node's own parents.

    Parameters
    ----------
    switches : dict of name to number of states
        The discrete parents of Gaussian nodes.
    added : tuple of float
        What is added to every count of every table.
    floors : array of shape (Gaussian nodes,)
        The smallest variances.
    """

    switches: dict[str, int]
    added: tuple[float, ...]
    floors: np.ndarray

    @classmethod
    def of(
        cls, net: BayesNet, added: Sequence[float], floors: np.ndarray
    ) -> MixedProblem:
        """The problem of a network; raises where there are too many combinations of states."""
        numeric = net.gaussian_names
        names = dict.fromkeys(
            p for g in numeric for p in net.parents[g] if p not in numeric
        )
        switches = {name: len(net.states(name)) for name in names}
        if prod(switches.values()) > _MAX_COMBINATIONS:
            raise SettingError(
                f"the discrete parents of Gaussian nodes have {prod(switches.values()):.3g}"
                " combinations of states, and expectation-maximization sums over"
                f" {_MAX_COMBINATIONS:,} at most: use learn_parameters with incomplete='available',"
                " or fewer discrete parents"
            )
        return cls(switches, tuple(added), floors)

    @property
    def combinations(self) -> np.ndarray:
        """The states of the switches in every combination, (switches, K)."""
        shape = tuple(self.switches.values())
        return np.indices(shape).reshape(len(shape), prod(shape))

    def expectation(self, block: Block, parameters: MixedState) -> Expectation:
        block = block.without_zero_weights()
        # every combination fills the numbers of every row: as many rows at a time as memory allows
        width = (len(parameters.gaussians) + 1) * prod(self.switches.values())
        step = max(1, _CELLS_AT_ONCE // width)
        if len(block) <= step:
            return self._expectation(block, parameters)
        parts = []
        for start in range(0, len(block), step):
            rows = np.arange(start, min(start + step, len(block)))
            parts.append(self._expectation(block.take(rows), parameters))
        return reduce(Expectation.merge, parts)

    def _expectation(self, block: Block, state: MixedState) -> Expectation:
        parts, log_joint = self._combination_parts(block, state)
        # r_s ∝ P(s, states) N(numbers; μ_s, Σ_s), times the weight of the row
        log_p = np.logaddexp.reduce(log_joint, axis=0)
        if (log_p == -np.inf).any():
            row = block.start + int(np.argmax(log_p == -np.inf))
            raise DataError(
                f"row {row} is impossible: the network gives it probability 0"
            )
        r = np.exp(log_joint - log_p) * block.weights
        shares = [r[k, part.rows] for k, part in enumerate(parts)]
        moments = [
            part.given.moments(part.filled, part.patterns, share)
            for part, share in zip(parts, shares)
        ]
        weight, center, inside = (np.array(values) for values in zip(*moments))
        scatter = ClassScatter(
            np.arange(len(moments)), len(block), weight, center, inside, False
        )
        sums = _Sums(_expected_tables(state.tables, parts, shares), scatter, state)
        return Expectation(sums, float(log_p @ block.weights), block.weight)

    def _combination_parts(
        self, block: Block, state: MixedState
    ) -> tuple[list[_Part], np.ndarray]:
        """The rows that each combination allows, and log P(combination, row), (K, n)."""
        states = state.states
        codes = RowCodes(states)(block)
        columns = [list(states).index(name) for name in self.switches]
        combinations = self.combinations
        K = combinations.shape[1]
        # rows with the same numbers missing share their conditional Gaussian: one per pattern
        X = np.column_stack([_column(block, node.name) for node in state.gaussians])
        patterns, which = np.unique(~np.isnan(X), axis=0, return_inverse=True)
        which = which.reshape(-1)
        switch_codes = dict(zip(self.switches, combinations))
        mean, covariance = joint_gaussian(state.gaussians, switch_codes, K)
        parts = []
        log_joint = np.full((K, len(block)), -np.inf)
        for k, combination in enumerate(combinations.T):
            rows, row_codes = _allowed_rows(codes, columns, combination)
            given = _Conditional.of(mean[k], covariance[k], patterns)
            filled, log_joint[k, rows] = given.fill(X[rows], which[rows])
            if state.tables is not None and len(rows):
                _, log_states = state.tables.junction_tree().rows(row_codes, ())
                log_joint[k, rows] += log_states
            parts.append(_Part(rows, row_codes, filled, which[rows], given))
        return parts, log_joint

    def maximization(self, statistic: Any) -> MixedState:
        old: MixedState = statistic.state
        tables = old.tables
        if tables is not None:
            new = []
            for node, counts, added in zip(tables.nodes, statistic.tables, self.added):
                table = estimate_table(counts, added)
                new.append(node.with_table(table))  # type: ignore[union-attr]
            tables = tables.with_tables_of(new)
        names = [node.name for node in old.gaussians]
        nodes = [
            self._regression(node, names, statistic.scatter, float(floor))
            for node, floor in zip(old.gaussians, self.floors)
        ]
        return MixedState(tables, tuple(nodes))

    def _regression(
        self,
        node: GaussianNode,
        names: list[str],
        statistic: ClassScatter,
        floor: float,
    ) -> GaussianNode:
        """Least squares in every combination; one with fewer rows than columns keeps its
        equation."""
        columns = [
            names.index(name) for name in (*node.parents, node.name) if name in names
        ]
        switches = list(self.switches)
        discrete = [switches.index(name) for name in node.parents if name not in names]
        intercept = np.array(node.intercept)
        coefficients = np.array(node.coefficients)
        variance = np.array(node.variance)
        # which combination of its own parents every combination of all switches has
        group = np.zeros(len(statistic.weight), int)
        if discrete:
            group = np.ravel_multi_index(
                tuple(self.combinations[discrete]), intercept.shape
            )
        n_undetermined = 0
        for g, cell in enumerate(np.ndindex(intercept.shape)):
            weight = float(statistic.weight[group == g].sum())
            if not weight > len(columns):
                # the likelihood does not fall, and nothing is fitted to next to no rows
                continue
            mean, scatter = _pooled_moments(statistic, group == g, columns)
            intercept[cell], coefficients[cell], residual, lacking = least_squares(
                weight, mean, scatter
            )
            variance[cell] = max(residual, floor)
            n_undetermined += lacking
        return replace(
            node,
            intercept=intercept,
            coefficients=coefficients,
            variance=variance,
            n_undetermined=n_undetermined,
        )

    def log_prior(self, parameters: MixedState) -> float:
        if parameters.tables is None:
            return 0.0
        return log_prior_of_tables(parameters.tables, self.added)


@dataclass(frozen=True)
class _Conditional:
    """A Gaussian given the numbers that are not missing, for every pattern of missing ones."""

    mean: np.ndarray  # (d,)
    # (P, d, d), of the numbers that are not missing; zero elsewhere
    precision: np.ndarray
    gain: np.ndarray  # (P, d, d): what a deviation of those adds to the others
    covariance: np.ndarray  # (P, d, d), of the others
    log_scale: np.ndarray  # (P,)

    @classmethod
    def of(
        cls, mean: np.ndarray, covariance: np.ndarray, patterns: np.ndarray
    ) -> _Conditional:
        scale = np.sqrt(np.diag(covariance))
        units = np.outer(scale, scale)
        observed = patterns[:, :, None] & patterns[:, None, :]
        missing = ~patterns[:, :, None] & ~patterns[:, None, :]
        # the inverse of the observed part of the correlation, by its eigenvalues
        correlation = np.where(observed, covariance / units, np.eye(len(mean)))
        roots, vectors = np.linalg.eigh(correlation)
        roots = np.maximum(roots, _SINGULAR)
        inverse = np.einsum("pij,pj,pkj->pik", vectors, 1.0 / roots, vectors)
        precision = np.where(observed, inverse, 0.0) / units
        # C_mo C_oo⁻¹, and C_mm - C_mo C_oo⁻¹ C_om, with o observed and m missing
        gain = np.where(patterns[:, :, None], 0.0, covariance @ precision)
        rest = np.where(missing, covariance - gain @ covariance, 0.0)
        # ln |2π C_oo|, of the correlation and of the units; missing columns have eigenvalue 1
        log_units = np.log(2 * np.pi) + 2 * np.log(scale)
        log_scale = np.log(roots).sum(axis=1) + patterns @ log_units
        return cls(mean, precision, gain, rest, -0.5 * log_scale)

    def fill(self, X: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows with the means of their missing numbers, and the log density of the others."""
        # A missing number deviates by 0: then precision and gain, which are zero there too, give
        # (x_o - μ_o)ᵀ C_oo⁻¹ (x_o - μ_o) and μ_m + C_mo C_oo⁻¹ (x_o - μ_o).
        gap = np.where(np.isnan(X), 0.0, X - self.mean)
        filled = np.empty_like(gap)
        log_density = np.empty(len(gap))
        step = max(1, _CELLS_AT_ONCE // max(1, gap.shape[1] ** 2))
        for start in range(0, len(gap), step):
            rows = slice(start, start + step)
            part = gap[rows]
            p = which[rows]
            distance = np.einsum(
                "ni,nij,nj->n", part, self.precision[p], part, optimize=True
            )
            log_density[rows] = self.log_scale[p] - 0.5 * distance
            shift = np.einsum("nij,nj->ni", self.gain[p], part)
            filled[rows] = self.mean + part + shift
        return filled, log_density

    def moments(
        self, filled: np.ndarray, which: np.ndarray, w: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Weight, mean and expected scatter of filled rows."""
        weight = float(w.sum())
        if not weight > 0:
            return 0.0, np.zeros_like(self.mean), np.zeros_like(self.covariance[0])
        # E[Σ w (x - m)(x - m)ᵀ]: the scatter of the filled rows, and the covariance that the
        # missing numbers have left; about the mean of the node, so that large numbers do not cancel
        mean = self.mean + w @ (filled - self.mean) / weight
        gap = filled - mean
        pattern_weights = np.bincount(which, w, len(self.covariance))
        inner = np.tensordot(pattern_weights, self.covariance, 1)
        return weight, mean, (w * gap.T) @ gap + inner


@dataclass(frozen=True)
class _Part:
    """The rows that a combination of states allows, with its states put in and numbers filled."""

    rows: np.ndarray
    codes: np.ndarray
    filled: np.ndarray
    patterns: np.ndarray  # of missing numbers, one per row
    given: _Conditional


def _allowed_rows(
    codes: np.ndarray, columns: list[int], combination: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have no other states in `columns` than the combination, and their codes with it
    put in."""
    observed = codes[:, columns]
    allowed = ((observed < 0) | (observed == combination)).all(axis=1)
    rows = np.flatnonzero(allowed)
    row_codes = codes[rows]
    row_codes[:, columns] = combination
    return rows, row_codes


def _expected_tables(
    net: BayesNet | None, parts: list[_Part], shares: list[np.ndarray]
) -> list[np.ndarray]:
    """The expected counts of every table, over the parts with the shares of their rows."""
    if net is None:
        return []
    tables = [np.zeros_like(node.table) for node in net.nodes]  # type: ignore[union-attr]
    for part, share in zip(parts, shares):
        used = share > 0
        if used.any():
            counts, _ = net.junction_tree().expected_counts(
                part.codes[used], share[used]
            )
            tables = [table + count for table, count in zip(tables, counts)]
    return tables


def _pooled_moments(
    statistic: ClassScatter, classes: np.ndarray, columns: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of some classes together, and their scatter Σ_c [S_c + w_c (m_c − m)(m_c − m)ᵀ]."""
    weight = statistic.weight[classes]
    centers = statistic.mean[classes][:, columns]
    mean = weight @ centers / float(weight.sum())
    gap = centers - mean
    inside = statistic.scatter[classes][:, columns][:, :, columns]
    return mean, inside.sum(axis=0) + (weight * gap.T) @ gap


def _column(block: Block, name: str) -> np.ndarray:
    """The cells of a numeric column; all missing where a variable is hidden."""
    target = block.schema.target
    if name in block.schema or (
        target is not None and target.name == name and block.y is not None
    ):
        return numbers_of(block, name)
    return np.full(len(block), np.nan)


def start_gaussians(
    net: BayesNet, rows: Rows, observed: set[str], rng: np.random.Generator
) -> tuple[list[GaussianNode], np.ndarray]:
    """Gaussian nodes to start from, parents first, and their smallest variances.

    Least squares from the rows that have all of a node's family; where there is none (something is
    hidden), the column's mean and variance, with equations that differ at random in what is hidden.
    """
    names = [name for name in net.order if name in net.gaussian_names]
    columns: Moments = rows.reduce(partial(_column_moments, names=names))
    # A hidden column has mean 0 and variance 1. A constant one has the variance of its size, as
    # its floor would be 0 otherwise.
    has_rows = columns.weight > 0
    mean = np.where(has_rows, columns.mean, 0.0)
    weight = np.where(has_rows, columns.weight, 1.0)
    variance = np.where(has_rows, columns.scatter / weight, 1.0)
    variance = np.where(variance > 0, variance, np.maximum(1.0, mean**2))
    moments = dict(zip(names, zip(mean, np.sqrt(variance).tolist())))
    floors = _FLOOR * variance
    nodes = []
    for name, floor in zip(names, floors):
        node = net.node(name)
        assert isinstance(node, GaussianNode)
        statistic = None
        if observed.issuperset((name, *node.parents)):
            statistic = family_scatter(net, rows, name)
        if statistic is not None and statistic.weight.sum() > 0:
            node = regressions(net, node, statistic)
        else:
            node = _random_equations(node, moments, observed, rng)
        at_least = np.maximum(node.variance, floor)
        nodes.append(replace(node, variance=at_least, n_undetermined=0))
    return nodes, floors


def _random_equations(
    node: GaussianNode,
    moments: dict[str, tuple[float, float]],
    observed: set[str],
    rng: np.random.Generator,
) -> GaussianNode:
    # b in units of the columns; the intercept goes through the means, moved at random where there
    # are combinations, so that a hidden discrete parent has states that differ
    mean, deviation = moments[node.name]
    shape = node.intercept.shape
    numeric = [p for p in node.parents if p in moments]
    b = np.zeros((*shape, len(numeric)))
    for j, parent in enumerate(numeric):
        if parent not in observed or node.name not in observed:
            b[..., j] = rng.normal(size=shape) * deviation / moments[parent][1]
    moved: Any = 0.0
    if shape:
        moved = rng.normal(size=shape) * deviation
    parent_means = np.array([moments[parent][0] for parent in numeric])
    return replace(
        node,
        intercept=mean + moved - b @ parent_means,
        coefficients=b,
        variance=np.full(shape, deviation**2),
    )


def _column_moments(block: Block, names: list[str]) -> Moments:
    X = np.column_stack([_column(block, name) for name in names])
    schema = Schema.of_numbers(names)
    return Moments.of(Block(X, None, block.w, block.start, schema))
