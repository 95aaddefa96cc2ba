"""Parameters of a network from rows: counts for tables, regressions for Gaussian nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from lyceum._core.data import Block, Column, Rows, Schema
from lyceum._core.statistics import (
    UNEXPLAINED,
    ClassScatter,
    JointCounts,
    PositiveFactor,
)
from lyceum._core.types import Data
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.nodes import GaussianNode, TableNode
from lyceum.bayesnets.row_codes import RowCodes, column_names, network_rows
from lyceum.errors import SchemaError, SettingError

Estimate = Literal["laplace", "raw", "dirichlet"]


def pseudo_count(
    estimate: str, alpha: float, equivalent_sample_size: float, cells: int
) -> float:
    """The number added to every count of a table."""
    if estimate == "raw":
        return 0.0
    if estimate == "laplace":
        return alpha
    if estimate == "dirichlet":
        return equivalent_sample_size / cells
    raise SettingError(
        f"there is no estimate {estimate!r}: choose raw, laplace or dirichlet"
    )


def estimate_table(counts: np.ndarray, added: float) -> np.ndarray:
    """(N_jk + a) / (N_j + r a); a combination of parents without counts gets equal
    probabilities."""
    raised = counts + added
    totals = raised.sum(axis=-1, keepdims=True)
    equal = np.full(counts.shape, 1.0 / counts.shape[-1])
    return np.divide(raised, totals, out=equal, where=totals > 0)


def learn_parameters(
    net: BayesNet,
    data: Data,
    *,
    estimate: Estimate | str = "laplace",
    alpha: float = 1.0,
    equivalent_sample_size: float = 10.0,
    incomplete: Literal["available", "em"] = "available",
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state: int | None = 0,
) -> BayesNet:
    """The network with its parameters estimated from rows of any source.

    Parameters
    ----------
    net : BayesNet
        The graph; what its tables hold is not used.
    data : frame, path or `scan(...)`
        Columns go by the names of the variables; others are left out. Weights are those of the
        scan.
    estimate : {"laplace", "raw", "dirichlet"}, default="laplace"
        N_jk / N_j ("raw"), with `alpha` added to every count ("laplace"), or with the prior counts
        of BDeu, equivalent_sample_size / (cells of the table) ("dirichlet").
    alpha : float, default=1.0
    equivalent_sample_size : float, default=10.0
    incomplete : {"available", "em"}, default="available"
        Rows with missing cells: every table is counted from the rows that have all its variables,
        or the missing cells are filled in expectation (`expectation_maximization`).
    max_iter, tol, random_state
        Of expectation-maximization.

    Returns
    -------
    BayesNet

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.bayesnets import BayesNet, TableNode, learn_parameters
    >>> rain = TableNode("rain", ["no", "yes"])
    >>> wet = TableNode("wet", ["no", "yes"], ["rain"])
    >>> net = BayesNet([rain, wet])
    >>> rows = pa.table({"rain": ["no", "no", "yes"], "wet": ["no", "no", "yes"]})
    >>> learn_parameters(net, rows).node("wet").table.round(3).tolist()
    [[0.75, 0.25], [0.333, 0.667]]
    """
    if alpha < 0 or equivalent_sample_size <= 0:
        raise SettingError(
            "alpha must be at least 0, and equivalent_sample_size more than 0"
        )
    if incomplete == "em":
        from lyceum.bayesnets.parameters.em import expectation_maximization

        fit = expectation_maximization(
            net,
            data,
            estimate=estimate,
            alpha=alpha,
            equivalent_sample_size=equivalent_sample_size,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        return fit.net
    if incomplete != "available":
        raise SettingError(f"incomplete is {incomplete!r}: choose 'available' or 'em'")
    rows = network_rows(net, data)
    check_columns(net, rows)
    nodes: list[TableNode | GaussianNode] = []
    tables = [node for node in net.nodes if isinstance(node, TableNode)]
    if tables:
        families = [[*node.parents, node.name] for node in tables]
        counts = rows.reduce(
            partial(aligned_counts, sets=families, codes=RowCodes.of(net))
        )
        for node in tables:
            table = counts.table(*node.parents, node.name)
            added = pseudo_count(
                str(estimate), alpha, equivalent_sample_size, table.size
            )
            nodes.append(node.with_table(estimate_table(table, added)))
    for gaussian in net.nodes:
        if isinstance(gaussian, GaussianNode):
            scatter = family_scatter(net, rows, gaussian.name)
            nodes.append(regressions(net, gaussian, scatter))
    return net.with_nodes(*nodes)


def check_columns(net: BayesNet, rows: Rows) -> None:
    """Raise unless the rows have a column for every variable."""
    present = set(column_names(rows.schema))
    lacking = [name for name in net.names if name not in present]
    if lacking:
        raise SchemaError(
            f"the rows have no column {lacking[0]!r}: leave the node out, or take it as hidden with"
            " incomplete='em'"
        )


def aligned_counts(block: Block, sets: list[list[str]], codes: RowCodes) -> JointCounts:
    """The counts of a block by the states of the network, its target among them."""
    # a block of codes alone, without Gaussian columns, in which NaN is missing
    cells = codes(block).astype(np.float64)
    cells[cells < 0] = np.nan
    columns = []
    used = []
    for j, (name, states) in enumerate(codes.states.items()):
        if len(states):
            columns.append(
                Column(name, "categorical", np.arange(len(states)), "states")
            )
            used.append(j)
    coded = replace(block, X=cells[:, used], y=None, schema=Schema(tuple(columns)))
    return JointCounts.of(coded, sets=sets)


# -- Gaussian nodes --------------------------------------------------------------------


def family_scatter(net: BayesNet, rows: Rows, name: str) -> ClassScatter:
    """The scatter of a Gaussian node and its numeric parents for every combination of its discrete
    ones, from the rows that have all of them."""
    return rows.reduce(partial(_block_scatter, net=net, name=name))


def _block_scatter(block: Block, net: BayesNet, name: str) -> ClassScatter:
    parents = net.node(name).parents
    numeric = [*(p for p in parents if p in net.gaussian_names), name]
    discrete = [p for p in parents if p not in net.gaussian_names]
    X = np.column_stack([numbers_of(block, column) for column in numeric])
    all_codes = RowCodes.of(net)(block)
    codes = all_codes[:, [net.index_of[p] for p in discrete]]
    has_numbers = ~np.isnan(X).any(axis=1)
    complete = has_numbers & (codes >= 0).all(axis=1)
    # every combination of the discrete parents is a class
    shape = tuple(len(net.states(p)) for p in discrete)
    combination = np.zeros(int(complete.sum()), np.int32)
    if discrete:
        combination[:] = np.ravel_multi_index(codes[complete].T, shape)
    classes = np.arange(int(np.prod(shape)))
    target = Column("combination", "categorical", classes, "discrete parents")
    schema = Schema(Schema.of_numbers(numeric).columns, target)
    w = block.w
    if w is not None:
        w = w[complete]
    rows = np.ascontiguousarray(X[complete])
    return ClassScatter.of(Block(rows, combination, w, block.start, schema))


def numbers_of(block: Block, name: str) -> np.ndarray:
    """The cells of a numeric column, or of a numeric target."""
    target = block.schema.target
    if target is not None and target.name == name:
        assert block.y is not None
        return block.y.astype(np.float64)
    return np.asarray(block.X[:, block.schema.index(name)], dtype=np.float64)


def regressions(
    net: BayesNet, node: GaussianNode, statistic: ClassScatter
) -> GaussianNode:
    """Least squares in every combination; one without enough rows gets that of all rows
    together."""
    shape = tuple(
        len(net.states(p)) for p in node.parents if p not in net.gaussian_names
    )
    weight = statistic.weight
    total_weight = float(weight.sum())
    if not total_weight > 0:
        raise SchemaError(f"no row has numbers for {node.name!r} and its parents")
    # the scatter of all rows: within the combinations and between their means
    mean = weight / total_weight @ statistic.mean
    gap = statistic.mean - mean
    scatter = statistic.scatter.sum(axis=0) + (weight * gap.T) @ gap
    pooled = least_squares(total_weight, mean, scatter)
    # d columns, the node among them: its equation has d numbers, and needs more rows than that
    k, d = statistic.mean.shape
    equations = [pooled] * k
    for i in np.flatnonzero(weight > d):
        equations[i] = least_squares(
            float(weight[i]), statistic.mean[i], statistic.scatter[i]
        )
    intercept, coefficients, variance, n_undetermined = zip(*equations)
    return replace(
        node,
        intercept=np.array(intercept).reshape(shape),
        coefficients=np.array(coefficients).reshape(*shape, d - 1),
        variance=np.array(variance).reshape(shape),
        n_undetermined=sum(n_undetermined),
    )


def least_squares(
    weight: float, mean: np.ndarray, scatter: np.ndarray
) -> tuple[float, np.ndarray, float, int]:
    """Intercept, coefficients and variance of the last column on the others, from their moments.

    Also the number of coefficients that these do not determine; they are those of least norm.
    """
    # S_pp b = S_py with p the other columns and y the last one; rounding may leave less than 0 of
    # the residual S_yy - bᵀ S_py
    factor = PositiveFactor.of(scatter[:-1, :-1], level=UNEXPLAINED)
    b = factor.solve(scatter[:-1, -1])
    residual = float(scatter[-1, -1] - b @ scatter[:-1, -1])
    variance = max(residual / weight, 0.0)
    intercept = float(mean[-1] - b @ mean[:-1])
    return intercept, b, variance, len(b) - factor.rank


def log_prior_of_tables(net: BayesNet, added: Sequence[float]) -> float:
    """The log prior of all tables, up to a constant: `added` imaginary rows in every cell of
    each."""
    log_prior = 0.0
    for node, rows in zip(net.nodes, added):
        if rows:
            log_prior += rows * float(np.log(node.table).sum())  # type: ignore[union-attr]
    return log_prior
