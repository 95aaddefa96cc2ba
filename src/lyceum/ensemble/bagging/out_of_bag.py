"""Out-of-bag predictions: for every row the mean answer of the members that were not fitted on
it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lyceum._core.statistics import weighted_mean


def weights_of(w: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """The weights of some rows, None where all weigh the same."""
    return None if w is None else w[rows]


def r_squared(error: float, y: np.ndarray, w: np.ndarray | None) -> float:
    """R² of a mean squared error: 1 − error / variance of y; of a constant y, 1 without error, else
    0."""
    variance = weighted_mean((y - weighted_mean(y, w)) ** 2, w)
    if variance > 0:
        return 1.0 - error / variance
    return float(error == 0)


@dataclass
class OutOfBag:
    """Sums of the out-of-bag answers for every row, those of the members that have not seen it.

    >>> answers = OutOfBag.start(3, 1)
    >>> answers.add(np.array([0, 2]), np.array([[1.0], [5.0]]))
    >>> answers.add(np.array([0]), np.array([[2.0]]))
    >>> answers.mean[:, 0].tolist()
    [1.5, nan, 5.0]
    """

    total: np.ndarray  # (n, K) sums of posteriors or votes, or (n, 1) of values
    times: np.ndarray  # (n,) how many members have not seen the row
    # of every member on the rows that it has not seen
    errors: list[float] = field(default_factory=list)

    @classmethod
    def start(cls, n_rows: int, width: int) -> OutOfBag:
        return cls(np.zeros((n_rows, width)), np.zeros(n_rows, dtype=np.int64))

    def add(self, rows: np.ndarray, answers: np.ndarray) -> None:
        """The answers of one member for rows that it has not seen."""
        self.total[rows] += answers
        self.times[rows] += 1

    @property
    def mean(self) -> np.ndarray:
        """The mean answer for every row, NaN where all members have seen it."""
        with np.errstate(invalid="ignore"):
            return self.total / np.where(self.times, self.times, np.nan)[:, None]

    @property
    def rows(self) -> np.ndarray:
        """The rows that some member has not seen."""
        return np.flatnonzero(self.times)
