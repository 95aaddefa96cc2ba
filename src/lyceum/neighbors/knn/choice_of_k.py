"""The error for every number of neighbors from one search, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lyceum.neighbors.knn.neighborhoods import Neighborhood
from lyceum.neighbors.knn.votes import Votes

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Tally:
    """What stored rows vote for, as rows of a matrix (one-of-K, or numbers), and the loss of a
    vote."""

    targets: np.ndarray  # (n,) class codes, or numbers
    n_classes: int  # 0 for numbers

    @property
    def width(self) -> int:
        return self.n_classes or 1

    def of(self, rows: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """The votes added up, (n, K), or the sum of votes times targets, (n, 1)."""
        targets = self.targets[rows]
        if not self.n_classes:
            return np.einsum("ij,ij->i", votes, targets)[:, None]
        cell = (np.arange(len(rows)) * self.n_classes)[:, None] + targets
        total = np.bincount(cell.ravel(), votes.ravel(), len(rows) * self.n_classes)
        return total.reshape(len(rows), self.n_classes)

    def share(self, rows: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """The shares of the vote, or the mean target."""
        return self.of(rows, votes) / votes.sum(axis=1, keepdims=True)

    def loss(self, shares: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """1 where the class of most votes (the first of equal ones) is wrong; the squared error."""
        if self.n_classes:
            return (shares.argmax(axis=1) != truth).astype(np.float64)
        return (shares[:, 0] - truth) ** 2


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
        losses = _cumulative(near, tally, votes(near.distances), truth, w, most)
    else:
        losses = [
            np.average(_loss_at(k, near, tally, votes, truth, weights), weights=w)
            for k in range(1, most + 1)
        ]
    return np.array(losses)


def _cumulative(
    near: Neighborhood,
    tally: Tally,
    v: np.ndarray,
    truth: np.ndarray,
    w: np.ndarray | None,
    most: int,
) -> list[float]:
    """The same, one more vote at a time."""
    n = len(v)
    sums = np.zeros((n, tally.width))
    total = np.zeros(n)
    out = []
    here = np.arange(n)
    for j in range(most):
        targets = tally.targets[near.rows[:, j]]
        if tally.n_classes:
            sums[here, targets] += v[:, j]
            out.append(np.average(tally.loss(sums, truth), weights=w))
        else:
            sums[:, 0] += v[:, j] * targets
            total += v[:, j]
            out.append(np.average(tally.loss(sums / total[:, None], truth), weights=w))
    return out


def _loss_at(
    k: int,
    near: Neighborhood,
    tally: Tally,
    votes: Votes,
    truth: np.ndarray,
    weights: np.ndarray | None,
) -> np.ndarray:
    if weights is None:
        some = near.first(k)
        return tally.loss(tally.share(some.rows, votes(some.distances)), truth)
    held = weights[near.rows]
    counts = np.clip(k - (np.cumsum(held, axis=1) - held), 0.0, held)
    used = max(1, int((counts > 0).sum(axis=1).max(initial=1)))
    cast = (
        votes(np.where(counts > 0, near.distances, np.inf)[:, :used]) * counts[:, :used]
    )
    return tally.loss(tally.share(near.rows[:, :used], cast), truth)


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
    rises = np.flatnonzero(curve[1:] > curve[:-1])
    if len(rises):
        stop = int(rises[0]) + 1
    else:
        stop = len(tried) - 1
    before = tried[: stop if len(rises) else len(tried)]
    return best_k(errors, before), int(tried[stop])
