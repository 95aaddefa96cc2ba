"""What is odd about new rows beside the training rows of a model: unknown categories, numbers out
of range, other distributions, and rows that were learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lyceum._core.lazy_arrow import pa
from lyceum._core.text import show_count
from lyceum.workflows.fitted_model import FittedModel
from lyceum.workflows.profile import TrainingProfile, row_hashes

_NAMES = 4  # columns named in a sentence
_FEWEST = 20  # rows, below which nothing is said of their distribution
_UNLIKE = 0.25  # of the rows would have to change to be as the training rows
_SAME = 0.5  # of the rows that can be told are training rows
_FEWEST_SAME = 3


@dataclass
class NewRows:
    """Counts over batches of rows that a model is asked about."""

    fitted: FittedModel
    profile: TrainingProfile | None
    n_rows: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    outside: Counter[str] = field(default_factory=Counter)
    classes: dict[str, np.ndarray] = field(default_factory=dict)
    n_told: int = 0  # rows whose hash is so small that training rows are known by it
    n_same: int = 0

    @classmethod
    def of_model(cls, fitted: FittedModel) -> NewRows:
        return cls(fitted, TrainingProfile.of_model(fitted.given))

    def note(self, table: pa.Table) -> None:
        """Count a batch."""
        rows = self.fitted.rows(table)
        X = np.concatenate([np.asarray(block.X, float) for block in rows.blocks()])
        self.n_rows += len(X)
        for j, column in enumerate(self.fitted.schema):
            if column.is_free_text:
                continue
            self._note_column(column.name, column.numeric, X[:, j])
        if self.profile is not None and len(self.profile.hashes):
            hashes = row_hashes(X)
            told = hashes[hashes <= self.profile.hashes[-1]]
            self.n_told += len(told)
            self.n_same += int(np.isin(told, self.profile.hashes).sum())

    def _note_column(self, name: str, is_numeric: bool, cells: np.ndarray) -> None:
        if not is_numeric:
            self.unknown[name] += int((cells < 0).sum())
        if self.profile is None or name not in self.profile.counts:
            return
        ends = self.profile.range(name)
        if ends is not None:
            low, high = ends
            self.outside[name] += int(((cells < low) | (cells > high)).sum())
        # unknown categories and missing cells are the last two classes
        n = len(self.profile.counts[name])
        if name in self.profile.cuts:
            codes = np.searchsorted(self.profile.cuts[name], cells, side="left")
        else:
            codes = np.where((cells >= 0) & (cells < n), cells, n)
        codes = np.where(np.isnan(cells), n + 1, codes).astype(np.intp)
        counts = np.bincount(codes, minlength=n + 2)
        self.classes[name] = self.classes.get(name, 0) + counts

    def as_dict(self) -> dict[str, Any]:
        """The counts by column, of columns with any."""
        return {
            "unknown_categories": {k: n for k, n in self.unknown.items() if n},
            "out_of_range": {k: n for k, n in self.outside.items() if n},
            "unlike": [name for name, _ in self.unlike()],
        }

    def sentences(self) -> Iterator[str]:
        """What a careful reader should know of these rows."""
        for counts, what in (
            (self.unknown, "a category that the model has not seen"),
            (self.outside, "a number outside the range that it learned from"),
        ):
            total = sum(counts.values())
            if total:
                columns = [f"{name!r} {n:,}" for name, n in counts.most_common() if n]
                listed = _listed(columns)
                has = "cell has" if total == 1 else "cells have"
                yield f"{total:,} {has} {what} ({listed})."
        unlike = self.unlike()
        if unlike:
            columns = [
                f"{name!r} ({100 * distance:.0f} %)" for name, distance in unlike
            ]
            yield (
                f"The new rows look unlike the training rows in {_listed(columns)}: so large a"
                " share of them would have to change to be like those. Predictions may be worse"
                " than on rows like the training rows."
            )

    def unlike(self) -> list[tuple[str, float]]:
        """The columns with another distribution, and how far it is from that of the training rows:
        the total variation, beyond what chance makes."""
        if self.profile is None or self.n_rows < _FEWEST:
            return []
        distances = []
        for name, counts in self.classes.items():
            missing = self.profile.missing.get(name, 0.0)
            reference = np.append(self.profile.counts[name], [0.0, missing])
            n_before = max(1.0, float(reference.sum()))
            n_now = float(counts.sum())
            shares = reference / n_before
            distance = 0.5 * float(np.abs(shares - counts / n_now).sum())
            # the mean of |share - p| is about √(2 p (1 − p) / π n), for both samples
            both = 1.0 / n_now + 1.0 / n_before
            noise = 0.5 * float(
                np.sqrt(2.0 * shares * (1 - shares) * both / np.pi).sum()
            )
            if distance - 2.0 * noise >= _UNLIKE:
                distances.append((name, distance))
        return sorted(distances, key=lambda pair: -pair[1])

    @property
    def training_note(self) -> str:
        """Whether the rows are training rows, as far as their hashes tell; empty if not."""
        if self.n_told < _FEWEST_SAME or self.n_same < _SAME * self.n_told:
            return ""
        share = round(100 * self.n_same / self.n_told)
        about = "All" if share == 100 else f"About {share} %"
        rows = show_count(self.n_rows, "row")
        return (
            f"{about} of these {rows} look like rows that the model was fitted on: on such rows it"
            " seems better than it is. Measure it on rows that it has not seen."
        )


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMES
    if more > 0:
        return f"{', '.join(names[:_NAMES])} and {more} more columns"
    return ", ".join(names)
