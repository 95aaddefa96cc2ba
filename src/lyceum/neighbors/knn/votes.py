"""How much every neighbor counts, by its distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum.errors import SettingError

_KINDS = {"uniform", "distance", "inverse_square", "shifted_inverse_square", "gaussian"}
VOTE_CONSTRAINTS: dict[str, list[Any]] = {
    "weights": [StrOptions(_KINDS), callable],
    "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
}


@dataclass(frozen=True)
class Votes:
    """The vote of a neighbor at distance d, up to a factor that all neighbors of a query share.

    Parameters
    ----------
    weights : str or callable
        "uniform": 1. "distance": 1/d. "inverse_square": 1/d². "shifted_inverse_square": 1/(d_0 +
        d)². "gaussian": exp(-(d/σ)²). A callable takes distances of shape (n, k) and gives votes of
        that shape.
    bandwidth : float, optional
        d_0 or σ; by default the distance of the farthest neighbor of the query.

    Examples
    --------
    >>> Votes("distance")(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()  # an exact hit decides alone
    [[1.0, 0.5], [1.0, 0.0]]
    """

    weights: str | Callable[[np.ndarray], Any] = "uniform"
    bandwidth: float | None = None

    @property
    def adapts(self) -> bool:
        """Whether the vote of a neighbor depends on how many there are."""
        fixed = self.bandwidth is not None or self.weights in (
            "uniform",
            "distance",
            "inverse_square",
        )
        return callable(self.weights) or not fixed

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
        near = np.isfinite(distances)
        votes = np.where(near, self._votes(np.where(near, distances, 0.0), near), 0.0)
        lost = ~(votes.sum(axis=1) > 0)
        votes[lost] = np.where(near[lost].any(axis=1, keepdims=True), near[lost], 1.0)
        return votes

    def _votes(self, d: np.ndarray, near: np.ndarray) -> np.ndarray:
        if callable(self.weights):
            return self._call_votes(d)
        if self.weights == "uniform":
            return np.ones(d.shape)
        if self.weights in ("distance", "inverse_square"):
            return _inverse(d, near, 1 if self.weights == "distance" else 2)
        if self.bandwidth:
            width = np.full((len(d), 1), self.bandwidth, float)
        else:
            width = d.max(axis=1, keepdims=True)
        width = np.where(width > 0, width, 1.0)
        if self.weights == "gaussian":
            first = np.where(near, d, np.inf).min(axis=1, keepdims=True)
            first = np.where(np.isfinite(first), first, 0.0)
            # about the nearest one, so that not all votes underflow far away
            return np.exp(np.minimum(-((d / width) ** 2 - (first / width) ** 2), 0.0))
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


def _inverse(d: np.ndarray, near: np.ndarray, power: int) -> np.ndarray:
    """(d_1 / d)^power with d_1 the smallest distance; exact hits alone where there are any."""
    first = np.where(near, d, np.inf).min(axis=1, keepdims=True)
    hit = first == 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(d > 0, first / d, 1.0)
    return np.where(hit, d == 0.0, ratio**power)
