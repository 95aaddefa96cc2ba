"""How much every neighbor counts, by its distance, and what the votes add up to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum.errors import SettingError

# the factors of (d/σ)² in the exponent
_EXPONENTIALS = {"gaussian": 0.5, "exponential_square": 1.0}
_KINDS = {"uniform", "distance", "inverse_square", "shifted_inverse_square"}
VOTE_CONSTRAINTS: dict[str, list[Any]] = {
    "weights": [StrOptions(_KINDS | _EXPONENTIALS.keys()), callable, None],
    "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
}


@dataclass(frozen=True)
class Votes:
    """The vote of a neighbor at distance d, up to a factor that all neighbors of a query share.

    Parameters
    ----------
    weights : str, callable or None
        "uniform" or None: 1. "distance": 1/d. "inverse_square": 1/d². "shifted_inverse_square":
        1/(d_0 + d)². "exponential_square": exp(-(d/σ)²). "gaussian": exp(-(d/σ)²/2). A callable
        takes distances of shape (n, k) and gives votes of that shape.
    bandwidth : float, optional
        d_0 or σ; by default the distance of the farthest neighbor of the query.

    Examples
    --------
    >>> Votes("distance")(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()  # an exact hit decides alone
    [[1.0, 0.5], [1.0, 0.0]]
    """

    weights: str | Callable[[np.ndarray], Any] | None = "uniform"
    bandwidth: float | None = None

    @property
    def adapts(self) -> bool:
        """Whether the vote of a neighbor depends on how many there are."""
        if callable(self.weights):
            return True
        without_width = ("uniform", None, "distance", "inverse_square")
        return self.bandwidth is None and self.weights not in without_width

    def __call__(self, distances: np.ndarray) -> np.ndarray:
        """The votes of neighbors in ascending order of distance.

        Rows infinitely far away have no vote, unless all are; where all votes vanish they are
        equal.

        Parameters
        ----------
        distances : array of shape (n, k)

        Returns
        -------
        array of shape (n, k)
        """
        if not distances.shape[1]:
            return np.zeros(distances.shape)
        exists = np.isfinite(distances)
        votes = self._votes(np.where(exists, distances, 0.0), exists)
        votes = np.where(exists, votes, 0.0)
        # where all votes underflow, every neighbor counts alike; where there is none, every row
        lost = ~(votes.sum(axis=1) > 0)
        has_any = exists[lost].any(axis=1, keepdims=True)
        votes[lost] = np.where(has_any, exists[lost], 1.0)
        return votes

    def _votes(self, d: np.ndarray, exists: np.ndarray) -> np.ndarray:
        if callable(self.weights):
            return self._call_votes(d)
        if self.weights in ("uniform", None):
            return np.ones(d.shape)
        nearest = np.where(exists, d, np.inf).min(axis=1, keepdims=True)
        if self.weights in ("distance", "inverse_square"):
            # (d_1 / d)^p with d_1 the smallest distance; exact hits alone where there are any
            power = 1 if self.weights == "distance" else 2
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(d > 0, nearest / d, 1.0)
            return np.where(nearest == 0.0, d == 0.0, ratio**power)
        if self.bandwidth:
            width = np.full((len(d), 1), self.bandwidth, float)
        else:
            width = d.max(axis=1, keepdims=True)
        width = np.where(width > 0, width, 1.0)
        if self.weights in _EXPONENTIALS:
            # about the nearest one, so that not all votes underflow far away
            nearest = np.where(np.isfinite(nearest), nearest, 0.0)
            exponent = (d / width) ** 2 - (nearest / width) ** 2
            exponent *= _EXPONENTIALS[self.weights]
            return np.exp(np.minimum(-exponent, 0.0))
        return (width / (width + d)) ** 2

    def _call_votes(self, d: np.ndarray) -> np.ndarray:
        assert callable(self.weights)
        votes = np.array(self.weights(d), dtype=np.float64)
        if votes.shape != d.shape:
            raise SettingError(
                f"weights gave votes of shape {votes.shape} for distances of shape {d.shape}: they"
                " must agree"
            )
        # 1/d in a callable is infinite at an exact hit, which then decides alone
        hits = np.isposinf(votes)
        votes = np.where(hits.any(axis=1, keepdims=True), hits, votes)
        if not (votes >= 0).all():
            raise SettingError(
                "weights gave a vote that is negative or NaN: votes must be at least 0"
            )
        return votes


@dataclass(frozen=True)
class Tally:
    """What stored rows vote for, as rows of a matrix (one-of-K, or numbers), and the loss of a
    vote."""

    targets: np.ndarray  # (n,) class codes, or numbers
    n_classes: int  # 0 for numbers

    @property
    def width(self) -> int:
        return self.n_classes or 1

    def indicators(self) -> np.ndarray:
        """What every row votes for: 1 for its class, or its number, (n, width)."""
        if self.n_classes:
            return np.eye(self.n_classes)[self.targets]
        return self.targets[:, None]

    def of(self, rows: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """The votes added up, (n, K), or the sum of votes times targets, (n, 1)."""
        targets = self.targets[rows]
        if not self.n_classes:
            return np.einsum("ij,ij->i", votes, targets)[:, None]
        cell = (np.arange(len(rows)) * self.n_classes)[:, None] + targets
        sums = np.bincount(cell.ravel(), votes.ravel(), len(rows) * self.n_classes)
        return sums.reshape(len(rows), self.n_classes)

    def share(self, rows: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """The shares of the vote, or the mean target."""
        total = votes.sum(axis=1, keepdims=True)
        if not total.all():
            raise SettingError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to"
                " avoid this case if you are using a user-defined function."
            )
        return self.of(rows, votes) / total

    def loss(self, shares: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """1 where the class of most votes (the first of equal ones) is wrong; the squared error."""
        if self.n_classes:
            return (shares.argmax(axis=1) != truth).astype(np.float64)
        return (shares[:, 0] - truth) ** 2


@dataclass(frozen=True)
class OutputTallies:
    """The votes on several targets, side by side."""

    tallies: list[Tally]

    @property
    def width(self) -> int:
        return sum(tally.width for tally in self.tallies)

    def indicators(self) -> np.ndarray:
        """What every row votes for, (n, width)."""
        return np.hstack([tally.indicators() for tally in self.tallies])

    def share(self, rows: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """The shares of the vote, or the mean target, of every output."""
        return np.hstack([tally.share(rows, votes) for tally in self.tallies])
