"""Several classes from machines of two: scores, votes and coupled posteriors; sigmoids for
posteriors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from lyceum._core.base import normalize_posteriors


def machine_classes(n_classes: int, strategy: str) -> list[tuple[int, int]]:
    """The classes of every machine, (against, for); -1 stands for all others."""
    if n_classes < 2:
        return []
    if n_classes == 2:
        return [(0, 1)]
    if strategy == "one_vs_rest":
        return [(-1, k) for k in range(n_classes)]
    return [(second, first) for first, second in combinations(range(n_classes), 2)]


def _pair_rows(
    machines: list[tuple[int, int]], codes: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray]]:
    """(machine, row of dual_coef_, support vectors): those of one class against one other class.

    The rows of a class are the other classes in their order, as in scikit-learn.
    """
    for m, pair in enumerate(machines):
        for label, other in (pair, pair[::-1]):
            yield m, other - (other > label), np.flatnonzero(codes == label)


def pack_pairs(
    coef: np.ndarray, machines: list[tuple[int, int]], codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Coefficients (n_support, n_machines) of all pairs as (n_classes - 1, n_support): a row has
    one machine against every other class."""
    packed = np.zeros((n_classes - 1, len(codes)))
    for m, row, members in _pair_rows(machines, codes):
        packed[row, members] = coef[members, m]
    return packed


def unpack_pairs(
    packed: np.ndarray, machines: list[tuple[int, int]], codes: np.ndarray
) -> np.ndarray:
    """The inverse of `pack_pairs`: zero for the support vectors that a machine has not seen."""
    coef = np.zeros((len(codes), len(machines)))
    for m, row, members in _pair_rows(machines, codes):
        coef[members, m] = packed[row, members]
    return coef


def class_scores(scores: np.ndarray, machines: list[tuple[int, int]], n_classes: int) -> np.ndarray:
    """One score per class: that of its own machine, or votes, with sums of scores to break ties.

    >>> class_scores(np.array([[3.5, 6.2, 1.4, 5.5]]), [(-1, k) for k in range(4)], 4).argmax()
    np.int64(1)
    """
    if machines[0][0] < 0:
        return scores
    votes = np.zeros((len(scores), n_classes))
    sums = np.zeros((len(scores), n_classes))
    for (against, favored), column in zip(machines, scores.T):
        won = column >= 0
        votes[:, favored] += won
        votes[:, against] += ~won
        sums[:, favored] += column
        sums[:, against] -= column
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def coupled_posteriors(
    p: np.ndarray, machines: list[tuple[int, int]], n_classes: int
) -> np.ndarray:
    """Posteriors of K classes from those of the machines.

    One against the rest: the posteriors of the classes, made to sum to 1. Pairs: the p that
    minimizes Σ_ij (r_ji p_i - r_ij p_j)² (Wu, Lin and Weng 2004).
    """
    n = len(p)
    if n_classes == 2:
        return np.column_stack([1.0 - p[:, 0], p[:, 0]])
    p = np.clip(p, 1e-7, 1.0 - 1e-7)
    if machines[0][0] < 0:
        return normalize_posteriors(p)
    r = np.zeros((n, n_classes, n_classes))
    for (against, favored), column in zip(machines, p.T):
        r[:, favored, against], r[:, against, favored] = column, 1.0 - column
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
    each = np.arange(n_classes)
    system[:, each, each] = (r**2).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    found = np.linalg.solve(system, right)[:, :n_classes, 0]
    return normalize_posteriors(np.maximum(found, 1e-12))
