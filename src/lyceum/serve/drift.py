"""Whether the records that arrive are still like the training rows.

Records are counted in windows of a fixed number of rows. When a window is full, every column is
tested once: Pearson's χ² of the counts of the window against those of the training rows, over ten
classes of numbers with equal shares, over categories, and over missing cells. An alarm is given if
some p-value is below α divided by the number of tests (Bonferroni), so that without drift at most a
share α of the windows gives one: a test says so. Posteriors are compared with those of the first
window, as a model is surer of the rows that it was fitted on than of any others.

Several workers put their counts into one file, so that a window, and what became of decisions, is
that of the server: a window ends when the worker that fills it has put its counts there, and may
then have some more rows.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.special import chdtrc

from lyceum._core.data import Column
from lyceum.workflows import FittedModel, TrainingProfile

WINDOW = 1_000  # rows
ALPHA = 0.001  # false alarms per window
_FEWEST = 5.0  # expected rows of a class; rarer ones are joined
_BINS = 1_000  # of the largest posterior, by which it is counted


@dataclass(frozen=True, slots=True)
class Cells:
    """The classes of the cells of one column, with their counts in the reference rows.

    The last class is that of missing cells; the one before it of unknown categories.
    """

    name: str
    cuts: np.ndarray | None  # between classes of numbers
    reference: np.ndarray

    @classmethod
    def of_column(cls, column: Column, profile: TrainingProfile) -> Cells | None:
        name = column.name
        if name not in profile.counts:
            return None
        missing = profile.missing.get(name, 0.0)
        reference = np.append(profile.counts[name], [0.0, missing])
        return cls(name, profile.cuts.get(name), reference)

    def classes(self, cells: np.ndarray) -> np.ndarray:
        """The class of every cell."""
        n = len(self.reference)
        if self.cuts is None:
            known = (cells >= 0) & (cells < n - 2)
            codes = np.where(known, cells, n - 2)
        else:
            codes = np.searchsorted(self.cuts, cells, side="left")
        return np.where(np.isnan(cells), n - 1, codes).astype(np.intp)


class OutcomeCounts(msgspec.Struct):
    """What became of decisions whose truth came back."""

    n: int = 0
    n_right: int = 0
    n_shares: int = 0
    sum_shares: float = 0.0
    brier: float = 0.0

    def note(self, right: bool, share: float | None) -> None:
        self.n += 1
        self.n_right += bool(right)
        if share is not None:
            self.n_shares += 1
            self.sum_shares += share
            self.brier += (share - bool(right)) ** 2

    def add(self, other: OutcomeCounts) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def as_dict(self) -> dict[str, Any]:
        if not self.n:
            return {"n": 0}
        facts = {"n": self.n, "error": 1.0 - self.n_right / self.n}
        if self.n_shares:
            # a calibrated model is right as often as it says
            facts["stated_error"] = 1.0 - self.sum_shares / self.n_shares
            facts["brier"] = self.brier / self.n_shares
        return facts


class Seen(msgspec.Struct):
    """What was seen of the records of a model: the counts of the open window, and what the last
    full one showed."""

    counts: list[list[int]]  # of the open window: classes of every column
    posteriors: list[int]  # of the open window: bins of the largest posterior
    first: list[int] = []  # the same of the first window
    n_open: int = 0
    n_rows: int = 0
    n_windows: int = 0
    n_alarms: int = 0
    last: list[dict[str, Any]] = []
    outcomes: OutcomeCounts = msgspec.field(default_factory=OutcomeCounts)


@dataclass
class DriftWatch:
    """Counts of the records of a window, and what the last full window showed.

    `shared` is a file that several workers keep together; `share` must be called from time to time
    then.
    """

    columns: list[tuple[int, Cells]]
    window: int = WINDOW
    alpha: float = ALPHA
    shared: Path | None = None
    _rows: list[np.ndarray] = field(default_factory=list)
    _posteriors: list[np.ndarray] = field(default_factory=list)
    _outcomes: OutcomeCounts = field(default_factory=OutcomeCounts)
    # tables are answered in threads of their own
    _lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        counts = [[0] * len(cells.reference) for _, cells in self.columns]
        self.seen = Seen(counts, [0] * _BINS)
        self._n_waiting = 0

    @classmethod
    def of_model(
        cls, fitted: FittedModel, profile: TrainingProfile | None, **settings: Any
    ) -> DriftWatch:
        columns = []
        if profile is not None:
            for j, column in enumerate(fitted.schema):
                cells = Cells.of_column(column, profile)
                if cells is not None:
                    columns.append((j, cells))
        return cls(columns, **settings)

    # -- what arrives ------------------------------------------------------------------

    def note_rows(self, X: np.ndarray) -> None:
        """Count coded rows; tests when a window is full."""
        with self._lock:
            while len(X):
                room = self.window - self._n_waiting
                if self.shared is None:
                    room -= self.seen.n_open
                part = X[:room]
                X = X[len(part) :]
                self._rows.append(part)
                self._n_waiting += len(part)
                if len(part) == room:
                    self._put()

    def note_posteriors(self, posteriors: np.ndarray) -> None:
        with self._lock:
            self._posteriors.append(posteriors.max(axis=1))

    def note_outcome(self, decision: Any, truth: Any, share: float | None) -> None:
        with self._lock:
            self._outcomes.note(decision == truth, share)

    def share(self) -> None:
        """Put what has arrived to what was seen, and read what other workers saw."""
        with self._lock:
            self._put()

    def _put(self) -> None:
        with self._common():
            if self._rows:
                X = np.concatenate(self._rows)
                for (j, cells), counts in zip(self.columns, self.seen.counts):
                    _add(counts, cells.classes(X[:, j]))
            if self._posteriors:
                shares = np.concatenate(self._posteriors)
                bins = np.minimum(_BINS - 1, (shares * _BINS).astype(np.intp))
                _add(self.seen.posteriors, bins)
            self.seen.n_rows += self._n_waiting
            self.seen.n_open += self._n_waiting
            self.seen.outcomes.add(self._outcomes)
            if self.seen.n_open >= self.window:
                self._close()
        self._rows = []
        self._posteriors = []
        self._outcomes = OutcomeCounts()
        self._n_waiting = 0

    @contextmanager
    def _common(self) -> Iterator[None]:
        """What all workers saw, which no other changes meanwhile."""
        if self.shared is None:
            yield
            return
        # a database, as it outlives a worker that is killed while it writes
        with closing(sqlite3.connect(self.shared, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("BEGIN IMMEDIATE")
            database.execute("CREATE TABLE IF NOT EXISTS seen (counts BLOB)")
            kept = database.execute("SELECT counts FROM seen").fetchone()
            if kept:
                self.seen = msgspec.json.decode(kept[0], type=Seen)
            yield
            database.execute("DELETE FROM seen")
            counts = msgspec.json.encode(self.seen)
            database.execute("INSERT INTO seen VALUES (?)", [counts])
            database.execute("COMMIT")

    # -- a full window -----------------------------------------------------------------

    def _close(self) -> None:
        seen = self.seen
        results = [
            _compare(cells.name, cells.reference, np.array(counts, np.float64))
            for (_, cells), counts in zip(self.columns, seen.counts)
        ]
        if any(seen.posteriors):
            if any(seen.first):
                results.append(_posterior_drift(seen.first, seen.posteriors))
            else:
                seen.first = seen.posteriors
        limit = self.alpha / max(1, len(results))
        for result in results:
            result["alarm"] = result["p"] < limit
        seen.n_alarms += any(result["alarm"] for result in results)
        seen.n_windows += 1
        seen.last = results
        seen.counts = [[0] * len(counts) for counts in seen.counts]
        seen.posteriors = [0] * _BINS
        seen.n_open = 0

    def as_dict(self) -> dict[str, Any]:
        """What all workers saw until now."""
        self.share()
        seen = self.seen
        return {
            "window": self.window,
            "false_alarm_rate": self.alpha,
            "rows": seen.n_rows,
            "windows": seen.n_windows,
            "alarms": seen.n_alarms,
            "last_window": seen.last,
            "outcomes": seen.outcomes.as_dict(),
        }


def _add(counts: list[int], codes: np.ndarray) -> None:
    for code, count in enumerate(np.bincount(codes, minlength=len(counts)).tolist()):
        counts[code] += count


def _posterior_drift(first: list[int], now: list[int]) -> dict[str, Any]:
    """The largest posterior, in at most ten classes of about equal shares of the first window."""
    below = np.cumsum(first) - first
    classes = np.unique(10 * below // sum(first), return_inverse=True)[1]
    counts = [np.bincount(classes, each) for each in (first, now)]
    return _compare("(largest posterior)", *counts)


def _compare(name: str, reference: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """The test of one column: p-value, and the total variation between both distributions."""
    p = homogeneity(reference, counts)
    shares = reference / max(1.0, reference.sum())
    distance = 0.5 * float(np.abs(shares - counts / max(1.0, counts.sum())).sum())
    return {"column": name, "p": p, "distance": distance}


def homogeneity(first: Sequence[float] | np.ndarray, second: np.ndarray) -> float:
    """The p-value of χ² that two samples of counts come from one distribution.

    Classes with fewer than five expected rows in either sample are joined.

    >>> round(homogeneity([50, 50], np.array([60.0, 40.0])), 4)  # scipy: chi2_contingency
    0.1552
    """
    table = np.array([first, second], dtype=np.float64)
    totals = table.sum(axis=1)
    if not totals.all():
        return 1.0
    shares = table.sum(axis=0) / table.sum()
    rare = shares * totals.min() < _FEWEST
    if rare.any():
        joined = table[:, rare].sum(axis=1, keepdims=True)
        table = np.hstack([table[:, ~rare], joined])
    table = table[:, table.sum(axis=0) > 0]
    expected = totals[:, None] * table.sum(axis=0) / table.sum()
    freedom = table.shape[1] - 1
    if not freedom:
        return 1.0
    # a joined class that is still rare says nothing reliable of its own
    if expected[:, -1].min() < 1.0:
        table = table[:, :-1]
        expected = expected[:, :-1]
        freedom -= 1
    if freedom < 1:
        return 1.0
    return float(chdtrc(freedom, ((table - expected) ** 2 / expected).sum()))
