"""Gibbs sampling in discrete networks, in blocks where tables hold zeros."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from lyceum._core.native import native
from lyceum.bayesnets.inference.blocks import Blocks
from lyceum.bayesnets.inference.elimination import relevant_names
from lyceum.bayesnets.inference.evidence import Evidence
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.inference.sampling import draw_weighted
from lyceum.errors import DataError, SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet

_CHAINS = 8
_BATCHES = 4
_MOST_ANSWERS = 1 << 20  # joint states of the blocks of a query


def gibbs(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    n_samples: int,
    random_state: int | None,
) -> Posterior:
    """P(query | evidence) from chains of Gibbs sampling.

    Variables that zeros of a table tie together are drawn as one block, so that a chain can reach
    every state of positive probability; where a block would have too many states, the method
    refuses. Probabilities next to zero tie too; blocks that would be too large are left apart, with
    a warning. Eight chains start from different rows and are let run for a tenth of their length
    first. The standard error is that of the means of four batches of every chain, or of the chains,
    whichever is larger.
    """
    rng = np.random.default_rng(random_state)
    relevant = set(relevant_names(net, query, evidence))
    names = [name for name in net.order if name in relevant]
    starts = _starts(net, names, evidence, rng)
    blocks = Blocks.of(net, names, evidence)
    if blocks.held_back:
        warnings.warn(
            f"probabilities next to 0 tie {', '.join(blocks.held_back[:6])}, ... together, too many"
            " for one block of Gibbs sampling: a chain may stay in a part of the states, and the"
            " standard errors be too small; compare method='likelihood_weighting'",
            UserWarning,
            stacklevel=4,
        )
    sweeps = max(n_samples // _CHAINS, 10 * _BATCHES)
    states = {name: net.states(name) for name in query}
    shape = tuple(map(len, states.values()))
    counts = _run_chains(blocks, query, shape, starts, sweeps, rng)
    p = counts.sum(axis=(0, 1)) / counts.sum()
    shares = counts / counts.sum(axis=2, keepdims=True)
    error = _standard_errors(p, shares, _CHAINS * sweeps)
    method = f"Gibbs sampling ({_CHAINS} chains of {sweeps:,} sweeps)"
    return Posterior(
        states,
        p.reshape(shape),
        evidence.given,
        float("nan"),
        method,
        error.reshape(shape),
    )


def _standard_errors(p: np.ndarray, shares: np.ndarray, n_draws: int) -> np.ndarray:
    """The error of every value, from its shares in the batches of the chains.

    A state that was never drawn is not known to be impossible, nor one that was always drawn to be
    certain: by the rule of three the rest is below 3 / n, with n the independent draws that the
    sample is worth.
    """
    batches = shares.reshape(-1, shares.shape[2])
    within = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    between = shares.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(len(shares))
    error = np.maximum(within, between)
    # independent draws would have the variance p (1 - p) / n: what is more, n is worth less
    independent = p * (1 - p) / n_draws
    varied = independent > 0
    loss = np.max(error[varied] ** 2 / independent[varied], initial=1.0)
    return np.where(varied, error, min(3.0 * loss / n_draws, 1.0))


def _run_chains(
    blocks: Blocks,
    query: Sequence[str],
    shape: tuple[int, ...],
    starts: list[dict[str, int]],
    sweeps: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """How often every combination of the query came, by chain and batch."""
    sizes, families, family_starts, table_starts, tables = _flat_tables(blocks)
    weights = [block.weights / block.weights.max() for block in blocks.blocks]
    n_blocks = len(weights)
    n_extra = len(sizes) - n_blocks
    homes = [blocks.home(name) for name in query]
    asked = list(dict.fromkeys(b for b, _ in homes))
    n_cells = prod(int(sizes[b]) for b in asked)
    if n_cells > _MOST_ANSWERS:
        raise SettingError(
            f"Gibbs sampling would count {n_cells:.3g} joint states for this query: ask for fewer"
            " variables at once, or use method='likelihood_weighting'"
        )
    # the kernel's variables are the blocks; those beyond them have one state and never change
    fixed = np.arange(len(sizes)) >= n_blocks
    counts = np.zeros((_CHAINS, _BATCHES, n_cells))
    for chain, row in enumerate(starts):
        block_states = [block.find(row) for block in blocks.blocks]
        # a tenth of the sweeps is burn-in, which is not counted
        native.gibbs(
            sizes, families, family_starts, table_starts, tables,
            np.array(block_states + [0] * n_extra, np.int32), fixed,
            np.concatenate([*weights, np.ones(n_extra)]), np.array(asked, np.int32),
            sweeps // 10, sweeps, int(rng.integers(1 << 62)), counts[chain],
        )  # fmt: skip
    return _answers_of(blocks, homes, asked, counts, shape)


def _answers_of(
    blocks: Blocks,
    homes: list[tuple[int, int]],
    asked: list[int],
    counts: np.ndarray,
    shape: tuple[int, ...],
) -> np.ndarray:
    """Counts of joint states of the asked blocks as counts of states of the query."""
    sizes = [len(blocks.blocks[b].states) for b in asked]
    numbers = np.unravel_index(np.arange(prod(sizes)), sizes)
    codes = [
        blocks.blocks[b].states[numbers[asked.index(b)], column] for b, column in homes
    ]
    indices = np.ravel_multi_index(codes, shape)
    answers = np.zeros((prod(shape), _CHAINS, _BATCHES))
    np.add.at(answers, indices, counts.transpose(2, 0, 1))
    return answers.transpose(1, 2, 0)


def _flat_tables(
    blocks: Blocks,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The states of the blocks, and the tables between them end to end, each with where its parts
    begin.

    The kernel has as many tables as variables: tables of ones, or variables of one state, make up
    for what is lacking.
    """
    sizes = [len(block.states) for block in blocks.blocks]
    expanded = [blocks.expand(table) for table in blocks.tables]
    n_variables = max(len(sizes), len(expanded))
    sizes += [1] * (n_variables - len(sizes))
    while len(expanded) < n_variables:
        expanded.append(([0], np.ones(sizes[0])))
    families = [members for members, _ in expanded]
    tables = [np.ascontiguousarray(values).ravel() for _, values in expanded]
    return (
        np.array(sizes, np.int32),
        np.array([b for members in families for b in members], np.int32),
        np.cumsum([0, *map(len, families)]).astype(np.int32),
        np.cumsum([0, *map(len, tables)])[:-1].astype(np.int64),
        np.concatenate(tables),
    )


def _starts(
    net: BayesNet, names: Sequence[str], evidence: Evidence, rng: np.random.Generator
) -> list[dict[str, int]]:
    """Rows that agree with the evidence, drawn by their weights."""
    for n_rows in (1_000, 20_000, 200_000):
        drawn, log_w = draw_weighted(net, names, n_rows, rng, evidence)
        if np.isfinite(log_w).any():
            w = np.exp(log_w - log_w.max())
            rows = rng.choice(n_rows, _CHAINS, p=w / w.sum())
            return [{name: int(drawn[name][i]) for name in names} for i in rows]
    raise DataError(
        "none of 200,000 rows agrees with the evidence: it is impossible, or too rare to draw"
    )
