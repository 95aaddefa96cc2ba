"""Parts of the report page: the axis of intervals, tables as text, and explained rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.data import time_text
from lyceum.report import Table
from lyceum.studies.report.format import (
    p_cell,
    percent_cell,
    show_cell,
    signed_text,
    target_text,
)

if TYPE_CHECKING:
    from lyceum.studies.compare.comparison import RankedLearner
    from lyceum.studies.report.example import Example
    from lyceum.studies.result import Study


_ROUNDING = 1e-12  # of the largest number beside it: what rounding leaves of a 0
_ROWS_SHOWN = 12  # of a long table, before the rest is folded away
# A long table is sorted by the first of these columns that it has.
_STRENGTHS = {
    "z": "most significant",
    "t": "most significant",
    "per standard deviation": "largest",
    "coefficient": "largest",
}
_CONTRIBUTIONS = 8
_BAR = 100.0  # units of a drawn bar
_FAR = 4.0  # times the worst learner: from there on the constant guess is off the axis


@dataclass(frozen=True, slots=True)
class IntervalScale:
    """The axis of the drawn intervals of a ranking.

    >>> scale = IntervalScale(0.0, 0.4)
    >>> scale.at(0.1), scale.holds(0.1), scale.holds(0.5)
    (25.0, True, False)
    """

    low: float
    high: float

    @classmethod
    def of(cls, learners: Sequence[RankedLearner]) -> IntervalScale:
        """The axis that shows the intervals of all learners, but of a constant guess only if it is
        near."""
        without_baseline = [s for s in learners if not s.is_baseline]
        low, high = _ends(without_baseline or learners)
        ends = _ends(learners)
        # a constant guess far off would leave no room to tell the learners apart
        start = min(low, 0.0)  # costs are negative where decisions earn something
        is_far = ends[1] - start > _FAR * (high - start)
        if is_far:
            high = start + 1.15 * (high - start)
        else:
            low, high = ends
        if 0.0 <= low < 0.2 * high:
            low = 0.0
        return cls(low, high if high > low else low + 1.0)

    def holds(self, value: float) -> bool:
        """Whether a value is on the axis."""
        return self.low <= value <= self.high

    def at(self, value: float) -> float:
        """The place of a value on the axis, from 0 to 100."""
        share = (value - self.low) / (self.high - self.low)
        return round(_BAR * min(1.0, max(0.0, share)), 2)


def _ends(learners: Sequence[RankedLearner]) -> tuple[float, float]:
    ends = [
        end for s in learners for end in (*s.interval, s.loss) if math.isfinite(end)
    ]
    return min(ends, default=0.0), max(ends, default=1.0)


@dataclass(frozen=True, slots=True)
class TableCells:
    """A table as text, numbers marked, the end of a long one apart."""

    title: str
    heads: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    rest: list[list[str]]

    @classmethod
    def of(cls, table: Table, *, folded: bool = True) -> TableCells:
        """The cells of a table; a long one is sorted by strength and `folded`."""
        table = _without_empty_columns(table)
        heads = list(table.columns)
        title = table.title
        table_rows = list(table.rows)
        numeric = [table.is_number_column(j) for j in range(len(heads))]
        numbers = [head for head, is_number in zip(heads, numeric) if is_number]
        is_long = folded and len(table_rows) > _ROWS_SHOWN + 3
        by = next((head for head in _STRENGTHS if head in numbers), None)
        if is_long and by is not None:
            strengths = np.array([row[heads.index(by)] for row in table_rows])
            sizes = np.where(np.isfinite(strengths), np.abs(strengths), 0.0)
            order = np.argsort(-sizes, kind="stable")
            table_rows = [table_rows[i] for i in order]
            first = f"{_STRENGTHS[by]} first"
            title = f"{title}, {first}" if title else first
        shown = _without_dust(table_rows, numeric)
        rows = [
            [
                p_cell(cell) if head == "p" else show_cell(cell)
                for head, cell in zip(heads, row)
            ]
            for row in shown
        ]
        end = _ROWS_SHOWN if is_long else len(rows)
        return cls(title, heads, numeric, rows[:end], rows[end:])


def _without_dust(
    rows: Sequence[Sequence[Any]], numeric: Sequence[bool]
) -> Sequence[Sequence[Any]]:
    """The rows with 0 for numbers that are nothing but rounding beside the largest of their
    column."""
    columns = list(zip(*rows))
    for j, cells in enumerate(columns):
        if numeric[j]:
            sizes = [abs(cell) for cell in cells if math.isfinite(cell)]
            least = _ROUNDING * max(sizes, default=0.0)
            columns[j] = tuple(0.0 if abs(cell) < least else cell for cell in cells)
    return list(zip(*columns))


def _without_empty_columns(table: Table) -> Table:
    """The table without columns of numbers that hold none."""
    blank = {
        j
        for j in range(len(table.columns))
        if table.is_number_column(j) and all(math.isnan(row[j]) for row in table.rows)
    }
    if not blank:
        return table
    filled = [j for j in range(len(table.columns)) if j not in blank]
    columns = [table.columns[j] for j in filled]
    return Table(table.title, columns, [[row[j] for j in filled] for row in table.rows])


@dataclass(frozen=True, slots=True)
class LearnedView:
    title: str
    facts: Mapping[str, Any]
    tables: list[TableCells]


@dataclass(frozen=True, eq=False)
class ExampleView:
    """One row explained."""

    example: Example
    study: Study

    @property
    def right(self) -> bool | None:
        """Whether a class is named and is the true one; None for numbers and rejections."""
        labels = [str(label) for label in self.study.classes or ()]
        decided = str(self.example.decided)
        if decided not in labels:
            return None
        return decided == str(self.example.truth)

    @property
    def chances(self) -> list[tuple[str, str]]:
        pairs = zip(self.study.classes or (), self.example.posterior or ())
        likeliest = sorted(pairs, key=lambda pair: -pair[1])
        return [(str(label), percent_cell(p)) for label, p in likeliest[:3]]

    @property
    def bars(self) -> list[tuple[str, str, str, float, float]]:
        """(column, value, what it adds, left end, width) of the largest contributions and of the
        rest."""
        explanation = self.example.explanation
        if explanation is None:
            return []
        adds = np.asarray(explanation.contributions)[0]
        order = np.argsort(-np.abs(adds), kind="stable")
        names = [str(explanation.names[j]) for j in order]
        parts = [
            (name, self._cell(name), float(adds[j])) for name, j in zip(names, order)
        ]
        n_other = len(parts) - _CONTRIBUTIONS
        if n_other > 1:
            rest = sum(add for _, _, add in parts[_CONTRIBUTIONS:])
            parts = [*parts[:_CONTRIBUTIONS], (f"{n_other} other columns", "", rest)]
        most = max((abs(add) for _, _, add in parts), default=0.0) or 1.0
        bars = []
        for name, value, add in parts:
            if abs(add) < _ROUNDING * most:
                add = 0.0
            # from the middle to the left where a column takes something away
            width = round(_BAR / 2 * abs(add / most), 2)
            left = _BAR / 2 - width if add < 0 else _BAR / 2
            bars.append((name, value, signed_text(add), left, width))
        return bars

    def _cell(self, name: str) -> str:
        if name not in self.example.cells:
            return ""
        value = self.example.cells[name]
        if value is None:
            return "missing"
        return show_cell(value)

    @property
    def decided(self) -> str:
        return self._target(self.example.decided)

    @property
    def truth(self) -> str:
        return self._target(self.example.truth)

    def _target(self, value: object) -> str:
        """A class, or a number with the digits that matter; times as dates."""
        target = self.study.schema.target
        if target is not None and target.is_time and isinstance(value, float):
            return time_text(value)
        return target_text(value, self.study.choice.rmse)

    @property
    def base(self) -> str:
        why = self.example.explanation
        if why is None:
            return ""
        return self._score(why.base[0])

    @property
    def score(self) -> str:
        why = self.example.explanation
        if why is None:
            return ""
        return self._score(why.scores[0])

    def _score(self, value: float) -> str:
        """A score with three digits, or as many as a number that is predicted."""
        text = target_text(float(value), self.study.choice.rmse)
        if text == show_cell(float(value)):
            return f"{float(value):.3g}"
        return text
