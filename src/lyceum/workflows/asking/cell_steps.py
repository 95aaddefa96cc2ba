"""Steps from the cells of a record to other cells, each of one column, and how large they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Column, Schema
from lyceum.workflows.profile import TrainingProfile


@dataclass(frozen=True, slots=True)
class PossibleSteps:
    """Other cells, each of one column, the smallest step first."""

    columns: np.ndarray
    cells: np.ndarray
    sizes: np.ndarray

    def first(self, n: int) -> PossibleSteps:
        return PossibleSteps(self.columns[:n], self.cells[:n], self.sizes[:n])

    def pairs(self, n: int) -> np.ndarray:
        """Up to n pairs of steps of two columns, (m, 2), those of the smallest sums first."""
        first, second = np.triu_indices(len(self.sizes), 1)
        differ = self.columns[first] != self.columns[second]
        pairs = np.column_stack([first[differ], second[differ]])
        sums = self.sizes[pairs[:, 0]] + self.sizes[pairs[:, 1]]
        if len(sums) > n:
            near = sums <= np.partition(sums, n - 1)[n - 1]
            pairs = pairs[near]
            sums = sums[near]
        return pairs[np.argsort(sums, kind="stable")[:n]]


class CellSteps:
    """The cells that a record of a model may step to: the quantiles of numbers, and categories.

    The size of a step is the share of training rows between the old and the new number, and 1 minus
    the share of the new category; so it has no unit.
    """

    def __init__(self, schema: Schema, profile: TrainingProfile | None):
        columns = []
        cells = []
        sizes = []  # of categories; NaN for numbers, whose steps depend on the record
        for j, column in enumerate(schema):
            values, shares = _values(column, profile)
            columns.append(np.full(len(values), j))
            cells.append(values)
            sizes.append(1.0 - shares)
        lengths = np.array([len(values) for values in cells if len(values)], np.intp)
        self._columns = np.concatenate(columns).astype(np.intp)
        self._cells = np.concatenate(cells)
        self._sizes = np.concatenate(sizes)
        self._lengths = lengths
        self._starts = np.cumsum(lengths) - lengths
        self._places = np.arange(len(self._cells)) - np.repeat(self._starts, lengths)
        # quantiles may be equal: of a run of them the one that is nearest to the record counts
        changes = self._cells[1:] != self._cells[:-1]
        borders = self._columns[1:] != self._columns[:-1]
        self._is_first = np.append(True, changes | borders)[: len(self._cells)]
        self._is_last = np.append(changes | borders, True)[-len(self._cells) :]

    def of_record(self, row: np.ndarray) -> PossibleSteps:
        """The steps from the cells of a record, (d,)."""
        if not len(self._cells):
            return PossibleSteps(self._columns, self._cells, self._sizes)
        now = row[self._columns]
        is_category = ~np.isnan(self._sizes)
        ranks = np.add.reduceat(self._cells < now, self._starts, dtype=np.intp)
        unknown = np.isnan(now[self._starts])
        ranks = np.where(unknown, self._lengths // 2, ranks)
        ranks = np.repeat(ranks, self._lengths)
        away = np.abs(self._places - ranks) / np.repeat(self._lengths, self._lengths)
        sizes = np.where(is_category, self._sizes, away + 1e-9)
        above = self._places >= ranks
        nearest = np.where(above, self._is_first, self._is_last)
        nearest |= is_category | (self._places == ranks)
        chosen = np.flatnonzero(nearest & (self._cells != now))
        chosen = chosen[np.argsort(sizes[chosen], kind="stable")]
        return PossibleSteps(self._columns[chosen], self._cells[chosen], sizes[chosen])


def category_cells(column: Column) -> np.ndarray:
    """The cells that stand for the categories of a column."""
    assert column.categories is not None
    if column.numeric:
        return column.categories.astype(np.float64)
    return np.arange(len(column.categories), dtype=np.float64)


def _values(
    column: Column, profile: TrainingProfile | None
) -> tuple[np.ndarray, np.ndarray]:
    """What a cell may become, and the shares of these values; NaN for numbers."""
    if column.is_free_text:
        return np.zeros(0), np.zeros(0)
    if column.is_categorical:
        values = category_cells(column)
        shares = np.full(len(values), 1.0 / max(1, len(values)))
        if profile is not None and not column.numeric:
            counts = profile.counts.get(column.name, np.ones(len(values)))
            shares = counts / max(1.0, counts.sum())
        return values, shares
    if profile is None or column.name not in profile.quantiles:
        return np.zeros(0), np.zeros(0)
    values = np.asarray(profile.quantiles[column.name], dtype=np.float64)
    return values, np.full(len(values), np.nan)
