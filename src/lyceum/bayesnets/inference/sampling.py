"""Drawing from a network: whole rows, and weighted rows that agree with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.lazy_arrow import pa
from lyceum._core.probability import label_array
from lyceum.bayesnets.inference.elimination import relevant_names
from lyceum.bayesnets.inference.evidence import Evidence
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.nodes import GaussianNode, TableNode
from lyceum.errors import DataError, SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


def draw_rows(net: BayesNet, n_rows: int, random_state: int | None) -> pa.Table:
    """Rows drawn from the network, as a table."""
    if n_rows < 0:
        raise SettingError(f"n_rows is {n_rows}: draw 0 rows or more")
    drawn, _ = draw_weighted(
        net, net.order, n_rows, np.random.default_rng(random_state), {}, {}, {}
    )
    columns: dict[str, Any] = {}
    for node in net.nodes:
        if isinstance(node, GaussianNode):
            columns[node.name] = pa.array(drawn[node.name])
        else:
            labels = label_array(node.states)
            if labels.dtype == object:
                labels = labels.astype(str)
            codes = pa.array(drawn[node.name].astype(np.int32))
            columns[node.name] = pa.DictionaryArray.from_arrays(codes, pa.array(labels))
    return pa.table(columns)


def draw_weighted(
    net: BayesNet,
    names: Sequence[str],
    n_rows: int,
    rng: np.random.Generator,
    hard: Mapping[str, int],
    numbers: Mapping[str, float],
    soft: Mapping[str, np.ndarray],
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows of some variables (parents before children), observed ones fixed, and the log weight of
    every row.

    The weight is the product of P(observed | parents), so that weighted rows are from P(names |
    evidence).
    """
    drawn: dict[str, np.ndarray] = {}
    log_w = np.zeros(n_rows)
    with np.errstate(divide="ignore"):
        for name in names:
            node = net.node(name)
            if isinstance(node, TableNode):
                drawn[name] = _draw_states(node, drawn, n_rows, rng, hard.get(name), log_w)
                if name in soft:
                    log_w += np.log(soft[name])[drawn[name]]
            else:
                drawn[name] = _draw_numbers(net, node, drawn, n_rows, rng, numbers.get(name), log_w)
    return drawn, log_w


def _draw_states(
    node: TableNode,
    drawn: Mapping[str, np.ndarray],
    n_rows: int,
    rng: np.random.Generator,
    observed: int | None,
    log_w: np.ndarray,
) -> np.ndarray:
    at = tuple(drawn[parent] for parent in node.parents)
    if observed is not None:
        log_w += np.log(node.table[(*at, np.full(n_rows, observed))])
        return np.full(n_rows, observed)
    u = rng.random(n_rows)
    cumulative = node.table.cumsum(axis=-1)[..., :-1]
    codes = np.zeros(n_rows, dtype=np.int64)
    for k in range(len(node.states) - 1):
        codes += u >= cumulative[..., k][at]
    # rounding may leave a state of probability 0 the last one: the sums end just below 1
    last = (node.table > 0).shape[-1] - 1 - np.argmax(node.table[..., ::-1] > 0, axis=-1)
    return np.minimum(codes, last[at])


def _draw_numbers(
    net: BayesNet,
    node: GaussianNode,
    drawn: Mapping[str, np.ndarray],
    n_rows: int,
    rng: np.random.Generator,
    observed: float | None,
    log_w: np.ndarray,
) -> np.ndarray:
    numeric = [parent for parent in node.parents if parent in net.gaussian_names]
    at = tuple(drawn[parent] for parent in node.parents if parent not in net.gaussian_names)
    mean = np.broadcast_to(node.intercept[at], (n_rows,)).astype(np.float64)
    for j, parent in enumerate(numeric):
        mean = mean + node.coefficients[(*at, j)] * drawn[parent]
    variance = np.broadcast_to(node.variance[at], (n_rows,))
    if observed is None:
        return mean + np.sqrt(variance) * rng.standard_normal(n_rows)
    with np.errstate(invalid="ignore"):
        density = -0.5 * (np.log(2 * np.pi * variance) + (observed - mean) ** 2 / variance)
    log_w += np.where(variance > 0, density, np.where(observed == mean, 0.0, -np.inf))
    return np.full(n_rows, observed)


def likelihood_weighting(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    n_samples: int,
    random_state: int | None,
    strict: bool = True,
) -> Any:
    """P(query | evidence) from rows drawn with the evidence fixed and weighted by its likelihood.

    The standard error of a value p is sqrt(Σ w² (1[state] - p)²) / Σ w; the rows are worth (Σ w)² /
    Σ w². Not `strict`: the posterior with what its sample is worth, or None if no row has a weight.
    """
    relevant = set(relevant_names(net, query, evidence))
    names = [name for name in net.order if name in relevant]
    rng = np.random.default_rng(random_state)
    drawn, log_w = draw_weighted(
        net, names, n_samples, rng, evidence.hard, evidence.numbers, evidence.soft
    )
    if not np.isfinite(log_w).any():
        if not strict:
            return None
        raise DataError(
            f"none of {n_samples:,} rows agrees with the evidence: it is impossible, or rare: raise"
            " n_samples"
        )
    found = weighted_posterior(net, query, evidence, drawn, log_w)
    if strict:
        return found[0]
    return found


def weighted_posterior(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    drawn: Mapping[str, np.ndarray],
    log_w: np.ndarray,
) -> tuple[Posterior, float]:
    """P(query | evidence) from weighted rows with its standard errors, and how many rows they are
    worth."""
    top = log_w.max()
    w = np.exp(log_w - top)
    shape = tuple(len(net.states(name)) for name in query)
    places = np.ravel_multi_index([drawn[name] for name in query], shape)
    size = int(np.prod(shape))
    total = w.sum()
    squares = (w**2).sum()
    p = np.bincount(places, w, size) / total
    spread = np.bincount(places, w**2, size) * (1 - 2 * p) + p**2 * squares
    worth = float(total**2 / squares)
    # a state that was never drawn is not known to be impossible: the rule of three
    error = np.where(p > 0, np.sqrt(np.maximum(spread, 0.0)) / total, 3.0 / worth)
    method = f"likelihood weighting ({len(w):,} samples, worth {worth:,.0f})"
    states = {name: net.states(name) for name in query}
    log_evidence = float(top + np.log(total / len(w)))
    found = Posterior(
        states, p.reshape(shape), evidence.given, log_evidence, method, error.reshape(shape)
    )
    return found, worth
