"""Dates as year, month, day, weekday, hour and days since the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import Block, Column, Schema, as_float
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import ModelFileError, SettingError
from lyceum.prepare.base import Transformer
from lyceum.report import Summary, Table

PARTS = ("year", "month", "day", "weekday", "hour", "days")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
]
_NAMES = {"month": _MONTHS, "weekday": _WEEKDAYS}
_DAY = 86_400.0
_MOST = 8.0e12  # seconds beyond which NumPy has no calendar


class DatetimeEncoder(Transformer):
    """Columns of dates and times as the parts that carry information; other columns stay as they
    are.

    A date is a number of seconds since 1970 to a learner, which says little of seasons and
    weekdays. It becomes

    - "<name> year" and "<name> day" (of the month), numbers;
    - "<name> month" and "<name> weekday", categories;
    - "<name> hour", a number from 0 to 23, where there are times of day;
    - "<name> days", the number of days since the first date of `fit`.

    A part that is the same in all rows of `fit` is left out. A missing date is missing in all its
    parts. Times are taken as they are written, those with a time zone in UTC.

    Parameters
    ----------
    parts : sequence of str, default=("year", "month", "day", "weekday", "hour", "days")
        The parts to take, if they vary.

    Attributes
    ----------
    parts_ : list of dict or None
        For every column of dates its parts, each with the values seen in `fit`; None for other
        columns.
    first_ : array of shape (n_features,)
        The first date of every column of dates, in seconds since 1970; NaN for others.

    See Also
    --------
    TextVectorizer : words of a column of free text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from datetime import date
    >>> from lyceum.prepare import DatetimeEncoder
    >>> sales = pa.table({"when": [date(2024, 12, 31), date(2025, 1, 1), date(2025, 1, 2)]})
    >>> DatetimeEncoder().fit_transform(sales).to_pydict()["when weekday"]
    ['Tuesday', 'Wednesday', 'Thursday']
    """

    _parameter_constraints: ClassVar[dict] = {"parts": ["array-like"]}
    _takes_text = True

    def __init__(self, *, parts: Any = PARTS) -> None:
        self.parts = parts

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Find the parts that vary.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Rows of weight zero are ignored.
        """
        rows = self._rows(X, None, sample_weight)
        wanted = [part for part in PARTS if part in tuple(self.parts)]
        odd = [part for part in self.parts if part not in PARTS]
        if odd:
            raise SettingError(f"parts has {odd[0]!r}: choose from {', '.join(PARTS)}")
        dates = tuple(j for j, column in enumerate(self.schema_) if column.is_time)
        seen = rows.reduce(partial(_DateValues.of, columns=dates))
        parts_of: list[dict[str, list[int]] | None] = [None] * len(self.schema_)
        first = np.full(len(self.schema_), np.nan)
        for i, j in enumerate(dates):
            values = {part: seen.values[i].get(part, frozenset()) for part in wanted}
            parts_of[j] = {
                part: sorted(each)
                for part, each in values.items()
                if len(each) > 1 or part == "days"
            }
            first[j] = seen.first[i]
        self.parts_ = parts_of
        self.first_ = first
        return self

    def _step(self, schema: Schema) -> DateColumns:
        return DateColumns(schema, tuple(self.parts_), self.first_)

    def column_sources(self) -> np.ndarray:
        """The number of the input column that every output column comes from."""
        plan = self._step(Schema(self.schema_.columns)).plan
        return np.array([j for j, _ in plan], dtype=np.intp)

    def summary(self) -> Summary:
        """The columns of dates, their first day and their parts."""
        check_is_fitted(self)
        rows = [
            (column.name, _show_time(first), ", ".join(parts))
            for column, parts, first in zip(self.schema_, self.parts_, self.first_)
            if parts is not None
        ]
        facts = {"rows": self.n_rows_, "columns": self.n_features_in_}
        table = Table("Dates", ("column", "first", "parts"), rows)
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """The number of parts."""
        check_is_fitted(self)
        return sum(len(parts) for parts in self.parts_ if parts is not None)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"first_": (self.n_features_in_,)}

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "schema_"):  # not fitted yet
            return
        parts = getattr(self, "parts_", None)
        fits = (
            isinstance(parts, list)
            and len(parts) == len(self.schema_)
            and all(map(_are_parts, parts))
        )
        if not fits:
            raise ModelFileError(
                "holds a DatetimeEncoder whose parts are not lists of whole numbers"
            )


def _are_parts(parts: Any) -> bool:
    if parts is None:
        return True
    if not isinstance(parts, dict) or not set(parts) <= set(PARTS):
        return False
    for part, numbers in parts.items():
        if not isinstance(numbers, list):
            return False
        if not all(isinstance(number, int) for number in numbers):
            return False
        # numbers of parts that have names are places among these
        names = _NAMES.get(part)
        if names is not None and not set(numbers) <= set(range(len(names))):
            return False
    return True


def _show_time(seconds: float) -> str:
    if np.isnan(seconds):
        return ""
    return str(np.datetime64(int(seconds), "s")).replace("T", " ")


def date_parts(seconds: np.ndarray) -> dict[str, np.ndarray]:
    """The parts of times in seconds since 1970, as floats; NaN where a time is missing.

    >>> {part: values.tolist() for part, values in date_parts(np.array([86_400.0 * 31])).items()}
    {'year': [1970.0], 'month': [1.0], 'day': [1.0], 'weekday': [6.0], 'hour': [0.0]}
    """
    # by NumPy's calendar: times cut to days, months and years
    x = np.asarray(seconds, dtype=np.float64)
    there = np.abs(x) < _MOST  # false for NaN
    whole = np.where(there, np.floor(x), 0.0).astype(np.int64)
    times = whole.astype("datetime64[s]")
    days, months, years = (times.astype(f"datetime64[{unit}]") for unit in "DMY")
    parts = {
        "year": years.astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        # the first of January 1970 was a Thursday
        "weekday": (days.astype(np.int64) + 3) % 7,
        "hour": (whole - days.astype("datetime64[s]").astype(np.int64)) // 3600,
    }
    return {
        part: np.where(there, values.astype(np.float64), np.nan)
        for part, values in parts.items()
    }


@dataclass(frozen=True, slots=True)
class _DateValues:
    """The parts that occur in columns of dates, and the first date of each."""

    first: tuple[float, ...]
    values: tuple[Mapping[str, frozenset[int]], ...]

    @classmethod
    def of(cls, block: Block, columns: tuple[int, ...]) -> _DateValues:
        block = block.without_zero_weights()
        first = []
        values = []
        for j in columns:
            x = np.asarray(block.X[:, j], dtype=np.float64)
            x = x[np.abs(x) < _MOST]
            first.append(float(x.min()) if len(x) else np.nan)
            parts = date_parts(x).items()
            values.append(
                {part: frozenset(map(int, np.unique(cells))) for part, cells in parts}
            )
        return cls(tuple(first), tuple(values))

    def merge(self, other: _DateValues) -> _DateValues:
        first = tuple(float(np.fmin(a, b)) for a, b in zip(self.first, other.first))
        values = tuple(
            {part: one[part] | two[part] for part in one}
            for one, two in zip(self.values, other.values)
        )
        return _DateValues(first, values)


@dataclass(frozen=True, eq=False)
class DateColumns:
    """Columns of dates replaced by their parts.

    Attributes
    ----------
    before : Schema
        The columns as they were.
    parts : tuple of dict or None
        For every column its parts with the values that are known; None for columns that stay.
    first : array
        The date that days are counted from.
    """

    before: Schema
    parts: tuple[Mapping[str, list[int]] | None, ...]
    first: np.ndarray

    @cached_property
    def plan(self) -> list[tuple[int, str]]:
        """For every column after: the column before, and the part, empty where it stays."""
        return [
            (j, part)
            for j, parts in enumerate(self.parts)
            for part in (("",) if parts is None else tuple(parts))
        ]

    @cached_property
    def after(self) -> Schema:
        return Schema(tuple(self._column(j, part) for j, part in self.plan))

    def _column(self, j: int, part: str) -> Column:
        column = self.before[j]
        parts = self.parts[j]
        if parts is None:
            return column
        why = f"the {part} of {column.name!r}"
        if part == "days":
            why = "days since the first date"
        name = f"{column.name} {part}"
        if part not in _NAMES:
            return Column(name, why=why)
        names = np.array([_NAMES[part][number] for number in parts[part]])
        return Column(name, "binary" if len(names) == 2 else "categorical", names, why)

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=self.after.columns)

    def __call__(self, block: Block) -> Block:
        if all(parts is None for parts in self.parts):
            return block
        X = as_float(block.X)
        out = np.empty((len(block), len(self.plan)))
        by_column: dict[int, dict[str, np.ndarray]] = {}
        for i, (j, part) in enumerate(self.plan):
            parts = self.parts[j]
            if parts is None:
                out[:, i] = X[:, j]
                continue
            if part == "days":
                out[:, i] = (X[:, j] - self.first[j]) / _DAY
                continue
            if j not in by_column:
                by_column[j] = date_parts(X[:, j])
            values = by_column[j][part]
            if part in _NAMES:
                # codes: places among the values of `fit`, -1 for others; NaN stays
                table = np.full(32, -1.0)
                table[parts[part]] = np.arange(len(parts[part]))
                there = ~np.isnan(values)
                values[there] = table[values[there].astype(np.intp)]
            out[:, i] = values
        return block.with_X(out, self.schema(block.schema))
