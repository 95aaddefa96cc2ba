"""The error for every number of neighbors from one search, and the choice among them."""

from __future__ import annotations

import numpy as np

from lyceum.neighbors.knn.neighborhoods import Neighborhood
from lyceum.neighbors.knn.votes import Tally, Votes


def errors_by_k(
    near: Neighborhood,
    tally: Tally,
    votes: Votes,
    truth: np.ndarray,
    w: np.ndarray | None,
    weights: np.ndarray | None,
    most: int,
) -> np.ndarray:
    """The mean loss on the queries for k = 1 ... most, (most,).

    `weights` are those of the stored rows (None: once each), `w` those of the queries.
    """
    if weights is None and not votes.adapts:
        return _errors_one_by_one(near, tally, votes(near.distances), truth, w, most)
    errors = np.empty(most)
    for k in range(1, most + 1):
        if weights is None:
            rows = near.rows[:, :k]
            cast = votes(near.distances[:, :k])
        else:
            # a row counts as far as the nearer ones leave room in k
            held = weights[near.rows]
            counts = np.clip(k - (np.cumsum(held, axis=1) - held), 0.0, held)
            n_used = max(1, int((counts > 0).sum(axis=1).max(initial=1)))
            distances = np.where(counts > 0, near.distances, np.inf)
            rows = near.rows[:, :n_used]
            cast = votes(distances[:, :n_used]) * counts[:, :n_used]
        losses = tally.loss(tally.share(rows, cast), truth)
        errors[k - 1] = np.average(losses, weights=w)
    return errors


def _errors_one_by_one(
    near: Neighborhood,
    tally: Tally,
    v: np.ndarray,
    truth: np.ndarray,
    w: np.ndarray | None,
    most: int,
) -> np.ndarray:
    """The same from running sums of the votes v (n, most), as no vote depends on k."""
    n = len(v)
    sums = np.zeros((n, tally.width))
    total = np.zeros(n)
    errors = np.empty(most)
    queries = np.arange(n)
    for j in range(most):
        targets = tally.targets[near.rows[:, j]]
        if tally.n_classes:
            # the class of most votes is that of the largest share: no need to divide
            sums[queries, targets] += v[:, j]
            shares = sums
        else:
            sums[:, 0] += v[:, j] * targets
            total += v[:, j]
            shares = sums / total[:, None]
        errors[j] = np.average(tally.loss(shares, truth), weights=w)
    return errors


def candidates(most: int, odd: bool) -> np.ndarray:
    """1 ... most, or only the odd ones."""
    return np.arange(1, most + 1, 2 if odd else 1)


def best_k(errors: np.ndarray, tried: np.ndarray) -> int:
    """The k of the lowest error, the smallest of equal ones.

    >>> best_k(np.array([0.3, 0.1, 0.2]), np.array([1, 2, 3]))
    2
    """
    return int(tried[np.argmin(errors[tried - 1])])


def first_rise(errors: np.ndarray, tried: np.ndarray) -> tuple[int, int]:
    """The best k before the error rises for the first time, and the last k that was tried.

    >>> first_rise(np.array([0.3, 0.2, 0.2, 0.25, 0.1]), np.arange(1, 6))
    (2, 4)
    """
    curve = errors[tried - 1]
    # equal errors are no rise
    rises = np.flatnonzero(curve[1:] > curve[:-1])
    if not len(rises):
        return best_k(errors, tried), int(tried[-1])
    first = int(rises[0]) + 1
    return best_k(errors, tried[:first]), int(tried[first])
