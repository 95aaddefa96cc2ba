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
    relevant = set(relevant_names(net, query, evidence))
    names = [name for name in net.order if name in relevant]
    place = {name: i for i, name in enumerate(names)}
    nodes = [net.node(name) for name in names]
    families = [[place[one] for one in (*node.parents, node.name)] for node in nodes]
    tables = [node.table.ravel() for node in nodes]  # type: ignore[union-attr]
    soft = None
    if evidence.soft:
        ones = {name: np.ones(len(net.states(name))) for name in names}
        soft = np.concatenate([evidence.soft.get(name, ones[name]) for name in names])
    rng = np.random.default_rng(random_state)
    starts = _starts(net, names, evidence, rng)
    shape = tuple(len(net.states(name)) for name in query)
    counts = np.zeros((_CHAINS, _BATCHES, int(np.prod(shape))))
    sweeps = max(n_samples // _CHAINS, 10 * _BATCHES)
    for chain in range(_CHAINS):
        native.gibbs(
            np.array([len(net.states(name)) for name in names], np.int32),
            np.array([v for family in families for v in family], np.int32),
            np.cumsum([0, *map(len, families)]).astype(np.int32),
            np.cumsum([0, *map(len, tables)])[:-1].astype(np.int64),
            np.concatenate(tables),
            np.ascontiguousarray(starts[chain]),
            np.array([name in evidence.hard for name in names]),
            soft,
            np.array([place[name] for name in query], np.int32),
            sweeps // 10,
            sweeps,
            int(rng.integers(1 << 62)),
            counts[chain],
        )
    shares = counts / counts.sum(axis=2, keepdims=True)
    batches = shares.reshape(-1, shares.shape[2])
    p = counts.sum(axis=(0, 1)) / counts.sum()
    within = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    between = shares.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(_CHAINS)
    error = np.where(p > 0, np.maximum(within, between), 3.0 / (_CHAINS * sweeps))
    method = f"Gibbs sampling ({_CHAINS} chains of {sweeps:,} sweeps)"
    states = {name: net.states(name) for name in query}
    return Posterior(
        states, p.reshape(shape), evidence.given, float("nan"), method, error.reshape(shape)
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
