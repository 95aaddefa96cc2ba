"""The most probable combinations of states one after another, each the best of a part of the
rest."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from lyceum.bayesnets.inference.evidence import Evidence, impossible

if TYPE_CHECKING:
    from lyceum.bayesnets.inference.junction_tree import JunctionTree


@dataclass(frozen=True, eq=False)
class _StatesPart:
    """A part of the combinations, and its best one.

    Attributes
    ----------
    codes : array of shape (variables,)
        The states that are fixed, -1 where they are not.
    likelihood : array of shape (all states,)
        0 for states that are excluded.
    states : array of shape (variables,)
        The best combination.
    """

    codes: np.ndarray
    likelihood: np.ndarray
    states: np.ndarray


def best_states(
    tree: JunctionTree, evidence: Evidence, k: int
) -> Iterator[tuple[float, np.ndarray]]:
    """Up to k pairs of log P(states, evidence) and states, the most probable first."""
    sizes = [len(tree.net.states(name)) for name in tree.net.names]
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    likelihood = evidence.likelihood
    if likelihood is None:
        likelihood = np.ones((1, sum(sizes)))
    states, log_p = tree.maximize(evidence.codes, evidence.likelihood)
    if log_p[0] == -np.inf:
        raise impossible(evidence.given)
    # the parts by their best, ties in the order in which they were made
    number = count()
    whole = _StatesPart(evidence.codes[0], likelihood[0], states[0])
    waiting = [(-float(log_p[0]), next(number), whole)]
    for answer in range(k):
        if not waiting:
            return
        negative, _, part = heapq.heappop(waiting)
        yield -negative, part.states
        if answer + 1 == k:
            return
        codes, likelihoods = _split(part, first)
        if not len(codes):
            continue
        states, log_p = tree.maximize(codes, likelihoods)
        for i in np.flatnonzero(log_p > -np.inf):
            smaller = _StatesPart(codes[i], likelihoods[i], states[i])
            heapq.heappush(waiting, (-float(log_p[i]), next(number), smaller))


def _split(part: _StatesPart, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part without its best combination, in parts: the first variable that differs is the i-th
    of those that are free."""
    free = np.flatnonzero(part.codes < 0)
    codes = np.tile(part.codes, (len(free), 1))
    likelihoods = np.tile(part.likelihood, (len(free), 1))
    for i, v in enumerate(free):
        before = free[:i]
        codes[i, before] = part.states[before]
        likelihoods[i, first[v] + part.states[v]] = 0.0
    return codes, likelihoods
