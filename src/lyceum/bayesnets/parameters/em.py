"""Parameters from incomplete rows: expectation-maximization through the junction tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.report import Shown
from lyceum._core.solvers import EMProblem, Expectation, ExpectationMaximization
from lyceum._core.types import Data
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.nodes import TableNode
from lyceum.bayesnets.parameters.fit import (
    estimate_table,
    learn_parameters,
    log_prior_of_tables,
    pseudo_count,
)
from lyceum.bayesnets.parameters.mixed_em import (
    MixedProblem,
    MixedState,
    start_gaussians,
)
from lyceum.bayesnets.row_codes import RowCodes, column_names, network_rows


@dataclass(frozen=True)
class EMFit(Shown):
    """The network that expectation-maximization found.

    Attributes
    ----------
    net : BayesNet
        With the parameters of the last iteration.
    history : list of float
        The log-likelihood (plus the log prior of the added counts) at the start and after every
        iteration; it never falls.
    n_iter : int
        The number of iterations.
    converged : bool
        Whether the last iteration gained no more than the tolerance.

    See Also
    --------
    expectation_maximization : Makes it.
    learn_parameters : The parameters from complete rows.
    lyceum.solvers.EMOutcome : The same for any model.

    References
    ----------
    S. L. Lauritzen, "The EM algorithm for graphical association models with missing data",
    Computational Statistics and Data Analysis 19, 1995.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.bayesnets import BayesNet, TableNode, expectation_maximization
    >>> net = BayesNet([TableNode("coin", ["heads", "tails"])])
    >>> rows = pd.DataFrame({"coin": ["heads", "tails", "heads", None]})
    >>> fit = expectation_maximization(net, rows)
    >>> fit.converged, round(fit.net.posterior("coin")["heads"], 3)  # 2 of the 3 that are known
    (True, 0.667)
    """

    net: BayesNet
    history: list[float]
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class _Tables:
    """Expected counts of every node's table."""

    tables: list[np.ndarray]

    def merge(self, other: _Tables) -> _Tables:
        return _Tables([mine + its for mine, its in zip(self.tables, other.tables)])


@dataclass(frozen=True)
class _Problem(EMProblem):
    """The E-step propagates every row; the M-step is the estimate from expected counts."""

    net: BayesNet
    added: tuple[float, ...]

    def expectation(self, block: Block, parameters: BayesNet) -> Expectation:
        codes = RowCodes.of(parameters)(block)
        tables, log_p = parameters.junction_tree().expected_counts(codes, block.w)
        return Expectation(_Tables(tables), float(log_p @ block.weights), block.weight)

    def maximization(self, statistic: Any) -> BayesNet:
        nodes = [
            node.with_table(estimate_table(counts, added))  # type: ignore[union-attr]
            for node, counts, added in zip(self.net.nodes, statistic.tables, self.added)
        ]
        return self.net.with_tables_of(nodes)

    def log_prior(self, parameters: BayesNet) -> float:
        return log_prior_of_tables(parameters, self.added)


def expectation_maximization(
    net: BayesNet,
    data: Data,
    *,
    estimate: str = "raw",
    alpha: float = 1.0,
    equivalent_sample_size: float = 10.0,
    start: BayesNet | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state: int | None = 0,
) -> EMFit:
    """Parameters from rows with missing cells and hidden variables, most likely or with added
    counts.

    Every iteration computes the expected counts of all tables, by one propagation per row, and the
    expected moments of the numbers, by exact Gaussian algebra for every combination of the states
    of their discrete parents; tables and regressions are estimated from them, and the likelihood
    never falls. A variable without a column is hidden. The variance of a Gaussian node stays above
    1e-9 of its column's.

    Parameters
    ----------
    net : BayesNet
        The graph. The discrete parents of Gaussian nodes may have 4,096 combinations of states
        together.
    data : frame, path or `scan(...)`
    estimate : {"raw", "laplace", "dirichlet"}, default="raw"
        Maximum likelihood, or a maximum of the posterior with added counts, as in
        `learn_parameters`.
    alpha : float, default=1.0
    equivalent_sample_size : float, default=10.0
    start : BayesNet, optional
        The parameters to start from. By default those of the rows that are complete for a node, and
        random ones where a variable is hidden.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when an iteration gains at most this much log-likelihood per row.
    random_state : int or None, default=0

    Returns
    -------
    EMFit

    References
    ----------
    S. L. Lauritzen, "The EM algorithm for graphical association models with missing data",
    Computational Statistics & Data Analysis 19, 1995.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.bayesnets import BayesNet, TableNode, expectation_maximization
    >>> net = BayesNet([TableNode("coin", ["heads", "tails"])])
    >>> fit = expectation_maximization(net, pa.table({"coin": ["heads", "heads", None, "tails"]}))
    >>> fit.net.node("coin").table.round(3).tolist()
    [0.667, 0.333]
    """
    rows = network_rows(net, data)
    solver = ExpectationMaximization(max_iter=max_iter, tol=tol)
    tables = [node for node in net.nodes if isinstance(node, TableNode)]
    added = [
        pseudo_count(estimate, alpha, equivalent_sample_size, node.table.size)
        for node in tables
    ]
    if net.gaussian_names:
        return _run_mixed(net, data, rows, added, start, solver, random_state)
    if start is None:
        start = _start(net, data, rows, random_state)
    result = solver.maximize(rows, _Problem(start, tuple(added)), start)
    return EMFit(result.parameters, result.history, result.n_iter, result.converged)


def _run_mixed(
    net: BayesNet,
    data: Data,
    rows: Rows,
    added: list[float],
    start: BayesNet | None,
    solver: ExpectationMaximization,
    random_state: int | None,
) -> EMFit:
    """The same where some nodes are Gaussian."""
    gaussians, floors = start_gaussians(
        net,
        rows,
        set(column_names(rows.schema)),
        np.random.default_rng(random_state),
    )
    # the discrete nodes are a network of their own, as none of them has a Gaussian parent
    tables: Any = [node for node in net.nodes if isinstance(node, TableNode)]
    if start is not None:
        tables = [start.node(node.name) for node in tables]
        given: Any = [start.node(node.name) for node in gaussians]
        gaussians = [
            replace(node, variance=np.maximum(node.variance, floor), n_undetermined=0)
            for node, floor in zip(given, floors)
        ]
    first = None
    if tables:
        first = BayesNet(tables, net.name)
        if start is None:
            first = _start(first, data, rows, random_state)
        first.junction_tree()  # compiled once, before threads share it
    problem = MixedProblem.of(net, added, floors)
    result = solver.maximize(rows, problem, MixedState(first, tuple(gaussians)))
    state: MixedState = result.parameters
    learned = net.with_nodes(*state.gaussians)
    if state.tables is not None:
        learned = learned.with_nodes(*state.tables.nodes)
    return EMFit(learned, result.history, result.n_iter, result.converged)


def _start(net: BayesNet, data: Data, rows: Rows, random_state: int | None) -> BayesNet:
    """Tables to start from: counted where a family has columns, random where it is hidden."""
    hidden = set(net.names) - set(column_names(rows.schema))
    rng = np.random.default_rng(random_state)
    if not hidden:
        return learn_parameters(net, data, estimate="laplace")
    seen = [node for node in net.nodes if not hidden & {node.name, *node.parents}]
    # Parents of seen nodes have columns, but may have hidden parents themselves: here they stand
    # without any, so that the network is complete.
    counted = {}
    if seen:
        seen_names = {node.name for node in seen}
        parents = {p for node in seen for p in node.parents} - seen_names
        free = [TableNode(p, net.states(p)) for p in parents]
        part = learn_parameters(BayesNet([*seen, *free]), data)
        counted = {name: part.node(name) for name in seen_names}
    # equal tables of a hidden variable would be a saddle point, which EM never leaves
    nodes = []
    for node in net.nodes:
        assert isinstance(node, TableNode)
        drawn = rng.dirichlet(np.full(len(node.states), 2.0), node.table.shape[:-1])
        nodes.append(counted.get(node.name, node.with_table(drawn)))
    return net.with_nodes(*nodes)
