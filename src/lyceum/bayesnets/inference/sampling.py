"""Drawing from a network: whole rows, and weighted rows that agree with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.lazy_arrow import pa
from lyceum._core.probability import label_array
from lyceum.bayesnets.inference.elimination import relevant_names
from lyceum.bayesnets.inference.evidence import Evidence, read_evidence
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.nodes import GaussianNode, TableNode
from lyceum.errors import DataError, SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet

_SURPRISE = 100.0  # times as probable under the best states of the parents


def draw_rows(net: BayesNet, n_rows: int, random_state: int | None) -> pa.Table:
    """Rows drawn from the network, as a table."""
    if n_rows < 0:
        raise SettingError(f"n_rows is {n_rows}: draw 0 rows or more")
    rng = np.random.default_rng(random_state)
    drawn, _ = draw_weighted(net, net.order, n_rows, rng, read_evidence(net, None))
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
    evidence: Evidence,
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
                code = evidence.hard.get(name)
                drawn[name] = _draw_states(node, drawn, n_rows, rng, code, log_w)
                if name in evidence.soft:
                    log_w += np.log(evidence.soft[name])[drawn[name]]
            else:
                value = evidence.numbers.get(name)
                drawn[name] = _draw_numbers(net, node, drawn, n_rows, rng, value, log_w)
    return drawn, log_w


def _draw_states(
    node: TableNode,
    drawn: Mapping[str, np.ndarray],
    n_rows: int,
    rng: np.random.Generator,
    observed: int | None,
    log_w: np.ndarray,
) -> np.ndarray:
    """States given those of the parents, or the observed one, whose probability is added to
    `log_w`."""
    parents = tuple(drawn[parent] for parent in node.parents)
    if observed is not None:
        codes = np.full(n_rows, observed)
        log_w += np.log(node.table[(*parents, codes)])
        return codes
    # the inverse of the distribution function: how many cumulative probabilities u has passed
    u = rng.random(n_rows)
    cumulative = node.table.cumsum(axis=-1)[..., :-1]
    codes = np.zeros(n_rows, dtype=np.int64)
    for k in range(len(node.states) - 1):
        codes += u >= cumulative[..., k][parents]
    # rounding may leave a state of probability 0 the last one: the sums end just below 1
    zeros_at_end = np.argmax(node.table[..., ::-1] > 0, axis=-1)
    last = len(node.states) - 1 - zeros_at_end
    return np.minimum(codes, last[parents])


def _draw_numbers(
    net: BayesNet,
    node: GaussianNode,
    drawn: Mapping[str, np.ndarray],
    n_rows: int,
    rng: np.random.Generator,
    observed: float | None,
    log_w: np.ndarray,
) -> np.ndarray:
    """Numbers given the parents, or the observed one, whose density is added to `log_w`."""
    numeric = [parent for parent in node.parents if parent in net.gaussian_names]
    cell = tuple(
        drawn[parent] for parent in node.parents if parent not in net.gaussian_names
    )
    mean = np.broadcast_to(node.intercept[cell], (n_rows,)).astype(np.float64)
    for j, parent in enumerate(numeric):
        mean = mean + node.coefficients[(*cell, j)] * drawn[parent]
    variance = np.broadcast_to(node.variance[cell], (n_rows,))
    if observed is None:
        return mean + np.sqrt(variance) * rng.standard_normal(n_rows)
    # log N(x; mean, variance); a node without noise is certain of its mean
    with np.errstate(invalid="ignore"):
        density = -0.5 * (
            np.log(2 * np.pi * variance) + (observed - mean) ** 2 / variance
        )
    certain = np.where(observed == mean, 0.0, -np.inf)
    log_w += np.where(variance > 0, density, certain)
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

    The standard error of a value p is sqrt(Σ w² (1[state] - p)²) / Σ w, or what rows that were
    never drawn may change if that is more; the rows are worth (Σ w)² / Σ w². Not `strict`: the
    posterior with what its sample is worth, or None if no row has a weight.
    """
    relevant = set(relevant_names(net, query, evidence))
    names = [name for name in net.order if name in relevant]
    rng = np.random.default_rng(random_state)
    drawn, log_w = draw_weighted(net, names, n_samples, rng, evidence)
    if not np.isfinite(log_w).any():
        if not strict:
            return None
        raise DataError(
            f"none of {n_samples:,} rows agrees with the evidence: it is impossible, or rare: raise"
            " n_samples"
        )
    posterior = weighted_posterior(net, query, evidence, drawn, log_w)
    if strict:
        return posterior[0]
    return posterior


def _undrawn_share(
    net: BayesNet,
    evidence: Evidence,
    drawn: Mapping[str, np.ndarray],
    w: np.ndarray,
) -> float:
    """The share of the posterior that rows which were never drawn may have.

    If an observation is a surprise in the rows that were drawn (other states of its parents would
    explain it a hundred times better), rows of such states have a prior probability below 3 / n,
    but a weight that is larger by that factor: their share may be up to u / (1 + u), with u = 3 / n
    times the mean factor.
    """
    log_factor = np.zeros(len(w))
    for name, code in evidence.hard.items():
        node = net.node(name)
        if not isinstance(node, TableNode) or not node.parents:
            continue
        cell = tuple(evidence.hard.get(parent, slice(None)) for parent in node.parents)
        p = node.table[(*(drawn[parent] for parent in node.parents), code)]
        _add_surprise(log_factor, p, float(node.table[(*cell, code)].max()))
    for name, likelihood in evidence.soft.items():
        _add_surprise(log_factor, likelihood[drawn[name]], float(likelihood.max()))
    surprised = (log_factor > 0) & (w > 0)
    if not surprised.any():
        return 0.0
    factor = np.exp(np.minimum(log_factor[surprised], 700.0))
    u = 3.0 / len(w) * float(w[surprised] / w.sum() @ factor)
    return u / (1 + u) if np.isfinite(u) else 1.0


def _add_surprise(log_factor: np.ndarray, p: np.ndarray, best: float) -> None:
    """Add log(best / p) where an observation is a surprise; rows with p = 0 have no weight."""
    surprise = (p > 0) & (p * _SURPRISE < best)
    log_factor[surprise] += np.log(best / p[surprise])


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
    indices = np.ravel_multi_index([drawn[name] for name in query], shape)
    size = int(np.prod(shape))
    total = w.sum()
    squares = (w**2).sum()
    p = np.bincount(indices, w, size) / total
    worth = float(total**2 / squares)
    error = _weighted_errors(indices, w, p, worth)
    error = np.maximum(error, _undrawn_share(net, evidence, drawn, w))
    method = f"likelihood weighting ({len(w):,} samples, worth {worth:,.0f})"
    states = {name: net.states(name) for name in query}
    log_evidence = float(top + np.log(total / len(w)))
    posterior = Posterior(
        states,
        p.reshape(shape),
        evidence.given,
        log_evidence,
        method,
        error.reshape(shape),
    )
    return posterior, worth


def _weighted_errors(
    indices: np.ndarray, w: np.ndarray, p: np.ndarray, worth: float
) -> np.ndarray:
    """The standard error of the share of every state, from weighted rows that have the states
    `indices`."""
    size = len(p)
    squares = (w**2).sum()
    # Σ w² (1[state] - p)², of the rows with the state and of those without
    with_state = np.bincount(indices, w**2, size)
    spread = with_state * (1 - p) ** 2 + np.maximum(squares - with_state, 0) * p**2
    # a state that was never drawn is not known to be impossible, nor one that always was to be
    # certain: the rule of three
    varied = (p > 0) & (np.bincount(indices[w > 0], minlength=size) < (w > 0).sum())
    return np.where(varied, np.sqrt(spread) / w.sum(), min(3.0 / worth, 1.0))
