"""Which rows and columns every member of a bag learns from, a function of the seed and its number
alone; and the answers out of bag: of members for the rows that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from typing import Any

import numpy as np

from lyceum._core.statistics import weighted_mean
from lyceum.errors import SettingError

_ROWS = 0  # separate streams of chance; that of members is 2
_COLUMNS = 1


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """N' of the rows and some of the columns for every member, with or without replacement.

    Zero-weight rows are ignored: `weighted` has the numbers of the others, None if there are no
    such rows. `odds` are the chances of the rows in `weighted`, None if they are equal. Where bags
    are given, `given` has how often every row is in each of them, (members, n_rows).
    """

    seed: int
    n_rows: int
    n_drawn: int
    bootstrap: bool
    n_columns: int
    n_columns_drawn: int
    bootstrap_columns: bool
    weighted: np.ndarray | None = None
    odds: np.ndarray | None = None
    given: np.ndarray | None = None

    @property
    def n_weighted(self) -> int:
        return self.n_rows if self.weighted is None else len(self.weighted)

    def equals(self, other: Draws) -> bool:
        """Whether both draw the same rows and columns."""
        return all(
            np.array_equal(getattr(self, part.name), getattr(other, part.name))
            for part in fields(self)
        )

    def counts(self, member: int) -> np.ndarray:
        """How often every row is drawn."""
        if self.given is not None:
            return self.given[member]
        # all rows without replacement: nothing is left to chance
        if not self.bootstrap and self.n_drawn == self.n_weighted:
            counts = np.ones(self.n_weighted, dtype=np.int64)
        else:
            counts = np.bincount(self._draw_sample(member), minlength=self.n_weighted)
        if self.weighted is None:
            return counts
        all_counts = np.zeros(self.n_rows, dtype=np.int64)
        all_counts[self.weighted] = counts
        return all_counts

    def _draw_sample(self, member: int) -> np.ndarray:
        chance = self._chance(member, _ROWS)
        if self.bootstrap and self.odds is None:
            return chance.integers(0, self.n_weighted, self.n_drawn)
        return chance.choice(
            self.n_weighted, self.n_drawn, replace=self.bootstrap, p=self.odds
        )

    def samples(self, n_members: int) -> list[np.ndarray]:
        """The rows of every member, as often as they were drawn."""
        every = np.arange(self.n_rows, dtype=np.int32)
        return [np.repeat(every, self.counts(member)) for member in range(n_members)]

    def left_out_rows(self, counts: np.ndarray) -> np.ndarray:
        """The rows that a member has not seen, of those with a weight."""
        if self.weighted is None:
            return np.flatnonzero(counts == 0)
        return self.weighted[counts[self.weighted] == 0]

    def columns(self, member: int) -> np.ndarray | None:
        """The columns of a member in rising order, None for all."""
        if not self.bootstrap_columns and self.n_columns_drawn == self.n_columns:
            return None
        chance = self._chance(member, _COLUMNS)
        drawn = chance.choice(
            self.n_columns, self.n_columns_drawn, replace=self.bootstrap_columns
        )
        return np.sort(drawn)

    def _chance(self, member: int, stream: int) -> np.random.Generator:
        # one generator per member and stream: members can be drawn in any order, and again
        return np.random.default_rng((self.seed, member, stream))


@dataclass(frozen=True, slots=True, eq=False)
class TreeDraws(Draws):
    """Rows for the trees of a forest, which draw their columns at every node."""

    @classmethod
    def of(
        cls,
        seed: int,
        n_rows: int,
        n_drawn: int,
        bootstrap: bool,
        weighted: np.ndarray | None,
    ) -> TreeDraws:
        return cls(
            seed,
            n_rows,
            n_drawn,
            bootstrap,
            n_columns=0,
            n_columns_drawn=0,
            bootstrap_columns=False,
            weighted=weighted,
        )

    def _chance(self, member: int, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, member])


def _set_state(self: Draws, state: Sequence[Any]) -> None:
    # older model files lack `given`
    for part, value in zip_longest(fields(self), state):
        object.__setattr__(self, part.name, value)


Draws.__setstate__ = _set_state  # type: ignore[attr-defined]
TreeDraws.__setstate__ = _set_state  # type: ignore[attr-defined]


def counts_in_bags(bags: Sequence[Any], n_rows: int) -> np.ndarray:
    """How often every row is in each of the bags, lists of row numbers, (bags, n_rows)."""
    if not len(bags):
        raise SettingError("bags is empty: give the row numbers of one bag or more")
    counts = np.zeros((len(bags), n_rows), dtype=np.int64)
    for i, bag in enumerate(bags):
        rows = np.asarray(bag)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise SettingError(
                f"bags[{i}] must be a list of row numbers, whole numbers from 0 on, not"
                f" {bag!r:.60}"
            )
        if rows.min() < 0 or rows.max() >= n_rows:
            outside = rows[(rows < 0) | (rows >= n_rows)][0]
            raise SettingError(
                f"bags[{i}] has row {outside}, but the rows are numbered from 0 to {n_rows - 1}"
            )
        counts[i] = np.bincount(rows, minlength=n_rows)
    return counts


# -- answers out of bag ----------------------------------------------------------------


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
