"""Gibbs sampling: several chains, each variable drawn in turn given all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lyceum._core.native import native
from lyceum.bayesnets.inference.elimination import relevant_names
from lyceum.bayesnets.inference.evidence import Evidence
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.inference.sampling import draw_weighted
from lyceum.errors import DataError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


_CHAINS = 4
_BATCHES = 8


def gibbs(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    n_samples: int,
    random_state: int | None,
) -> Posterior:
    """P(query | evidence) from chains of Gibbs sampling.

    Four chains start from different rows and are let run for a tenth of their length first. The
    standard error is that of the means of eight batches of every chain. Tables with zeros can keep
    a chain in one part of the states; the chains then disagree, and the error says so.
    """
    sweeps = max(n_samples // _CHAINS, 10 * _BATCHES)
    states = {name: net.states(name) for name in query}
    shape = tuple(map(len, states.values()))
    counts = _run_chains(net, query, evidence, sweeps, np.random.default_rng(random_state))
    shares = counts / counts.sum(axis=2, keepdims=True)
    p = counts.sum(axis=(0, 1)) / counts.sum()
    # the error of the mean of all batches, and of the chains, whichever is larger
    batches = shares.reshape(-1, shares.shape[2])
    within = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    between = shares.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(_CHAINS)
    error = np.where(p > 0, np.maximum(within, between), 3.0 / (_CHAINS * sweeps))
    method = f"Gibbs sampling ({_CHAINS} chains of {sweeps:,} sweeps)"
    return Posterior(
        states, p.reshape(shape), evidence.given, float("nan"), method, error.reshape(shape)
    )


def _run_chains(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    sweeps: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """How often every combination of the query came, by chain and batch."""
    relevant = set(relevant_names(net, query, evidence))
    names = [name for name in net.order if name in relevant]
    index = {name: i for i, name in enumerate(names)}
    sizes = np.array([len(net.states(name)) for name in names], np.int32)
    observed = np.array([name in evidence.hard for name in names])
    asked = np.array([index[name] for name in query], np.int32)
    soft = None
    if evidence.soft:
        parts = [evidence.soft.get(name, np.ones(n)) for name, n in zip(names, sizes)]
        soft = np.concatenate(parts)
    starts = _starts(net, names, evidence, rng)
    counts = np.zeros((_CHAINS, _BATCHES, int(np.prod(sizes[asked]))))
    families, family_starts, table_starts, tables = _flat_tables(net, index)
    for chain in range(_CHAINS):
        native.gibbs(
            sizes,
            families,
            family_starts,
            table_starts,
            tables,
            np.ascontiguousarray(starts[chain]),
            observed,
            soft,
            asked,
            sweeps // 10,
            sweeps,
            int(rng.integers(1 << 62)),
            counts[chain],
        )
    return counts


def _flat_tables(
    net: BayesNet, index: dict[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The families and tables of nodes, end to end, each with where its parts begin."""
    families = []
    tables = []
    for name in index:
        node = net.node(name)
        families.append([index[member] for member in (*node.parents, name)])
        tables.append(node.table.ravel())  # type: ignore[union-attr]
    family_starts = np.cumsum([0, *map(len, families)])
    table_starts = np.cumsum([0, *map(len, tables)])[:-1]
    return (
        np.array([v for family in families for v in family], np.int32),
        family_starts.astype(np.int32),
        table_starts.astype(np.int64),
        np.concatenate(tables),
    )


def _starts(
    net: BayesNet, names: Sequence[str], evidence: Evidence, rng: np.random.Generator
) -> np.ndarray:
    """Rows that agree with the evidence, drawn by their weights."""
    for n_rows in (1_000, 20_000, 200_000):
        drawn, log_w = draw_weighted(net, names, n_rows, rng, evidence.hard, {}, evidence.soft)
        if np.isfinite(log_w).any():
            w = np.exp(log_w - log_w.max())
            rows = rng.choice(n_rows, _CHAINS, p=w / w.sum())
            return np.array([[drawn[name][i] for name in names] for i in rows], np.int32)
    raise DataError(
        "none of 200,000 rows agrees with the evidence: it is impossible, or too rare to draw"
    )
