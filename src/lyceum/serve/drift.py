"""Whether the records that arrive are still like the training rows.

Records are counted in windows of a fixed number of rows. When a window is full, every column is
tested once: Pearson's χ² of the counts of the window against those of the training rows, over ten
classes of numbers with equal shares, over categories, and over missing cells. An alarm is given if
some p-value is below α divided by the number of tests (Bonferroni), so that without drift at most a
share α of the windows gives one: a test says so. Posteriors are compared with those of the first
window, as a model is surer of the rows that it was fitted on than of any others.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import chdtrc

from lyceum._core.data import Column
from lyceum.workflows import FittedModel, TrainingProfile

WINDOW = 1_000  # rows
ALPHA = 0.001  # false alarms per window
_FEWEST = 5.0  # expected rows of a class; rarer ones are joined


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


@dataclass
class DriftWatch:
    """Counts of the records of a window, and what the last full window showed."""

    columns: list[tuple[int, Cells]]
    window: int = WINDOW
    alpha: float = ALPHA
    n_rows: int = 0
    n_windows: int = 0
    n_alarms: int = 0
    last: list[dict[str, Any]] = field(default_factory=list)
    _rows: list[np.ndarray] = field(default_factory=list)
    _posteriors: list[np.ndarray] = field(default_factory=list)
    _first: np.ndarray | None = None
    _outcomes: OutcomeCounts = field(default_factory=lambda: OutcomeCounts())
    # tables are answered in threads of their own
    _lock: Any = field(default_factory=threading.Lock)

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

    def note_rows(self, X: np.ndarray) -> None:
        """Count coded rows; tests when a window is full."""
        with self._lock:
            while len(X):
                part = X[: self.window - self.n_rows % self.window]
                X = X[len(part) :]
                self._rows.append(part)
                self.n_rows += len(part)
                if self.n_rows % self.window == 0:
                    self._close()

    def note_posteriors(self, posteriors: np.ndarray) -> None:
        with self._lock:
            self._posteriors.append(posteriors)

    def _close(self) -> None:
        X = np.concatenate(self._rows)
        results = [
            _compare(cells.name, cells.reference, cells.classes(X[:, j]))
            for j, cells in self.columns
        ]
        if self._posteriors:
            results += self._posterior_drift(np.concatenate(self._posteriors))
        self._rows = []
        self._posteriors = []
        self.n_windows += 1
        limit = self.alpha / max(1, len(results))
        for result in results:
            result["alarm"] = result["p"] < limit
        self.n_alarms += any(result["alarm"] for result in results)
        self.last = results

    def _posterior_drift(self, posteriors: np.ndarray) -> list[dict[str, Any]]:
        """The largest posterior, in ten classes of equal shares of the first window."""
        largest = posteriors.max(axis=1)
        if self._first is None:
            self._first = largest
            return []
        cuts = np.unique(np.quantile(self._first, np.linspace(0.1, 0.9, 9)))
        n = len(cuts) + 1
        reference = np.bincount(np.searchsorted(cuts, self._first), minlength=n)
        codes = np.searchsorted(cuts, largest)
        return [_compare("(largest posterior)", reference.astype(float), codes)]

    def note_outcome(self, decision: Any, truth: Any, share: float | None) -> None:
        self._outcomes.note(decision == truth, share)

    def as_dict(self) -> dict[str, Any]:
        return {
            "window": self.window,
            "false_alarm_rate": self.alpha,
            "rows": self.n_rows,
            "windows": self.n_windows,
            "alarms": self.n_alarms,
            "last_window": self.last,
            "outcomes": self._outcomes.as_dict(),
        }


def _compare(name: str, reference: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    """The test of one column: p-value, and the total variation between both distributions."""
    counts = np.bincount(codes, minlength=len(reference)).astype(np.float64)
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


@dataclass
class OutcomeCounts:
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

    def as_dict(self) -> dict[str, Any]:
        if not self.n:
            return {"n": 0}
        facts = {"n": self.n, "error": 1.0 - self.n_right / self.n}
        if self.n_shares:
            # a calibrated model is right as often as it says
            facts["stated_error"] = 1.0 - self.sum_shares / self.n_shares
            facts["brier"] = self.brier / self.n_shares
        return facts
