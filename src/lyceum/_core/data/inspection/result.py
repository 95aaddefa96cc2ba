"""What `inspect` found: columns, rows, notes, in words and as values."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lyceum._core.data.inspection.quality import Flag
from lyceum._core.data.schema.column import TIMES, Kind
from lyceum._core.report import Shown, Summary, Table
from lyceum._core.text import plain


@dataclass(frozen=True, slots=True, repr=False)
class ColumnInspection(Shown):
    """One column: its kind and why, what it holds, and what looks wrong with it.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"binary", "categorical", "continuous"}
        Its kind.
    why : str
        Why it has this kind.
    n_missing : int
        Missing cells.
    n_infinite : int
        Infinite cells.
    n_distinct : int or None
        The number of distinct values, None when there are too many to count.
    low : float or None
        The smallest finite number, None for text.
    high : float or None
        The largest finite number, None for text.
    median : float or None
        The median of the sampled numbers, None for text.
    histogram : tuple of int
        The number of sampled cells in each of some bins of equal width from low to high.
    top : tuple of tuple[Any, int]
        The most frequent categories, each with its number of rows.
    flags : tuple of Flag
        What looks wrong with it: a `code` and a sentence, `text`, each.
    is_time : bool
        Whether its numbers are dates or times, as seconds since 1970.

    See Also
    --------
    inspect : Makes one for every column.
    Inspection : Those of all columns.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import inspect
    >>> column = inspect(datasets.path("penguins"))["sex"]
    >>> column
    <ColumnInspection of 'sex': binary (text with 2 values); 11 missing; male, female>
    >>> column.kind, column.why, column.n_missing, column.top
    ('binary', 'text with 2 values', 11, (('male', 168), ('female', 165)))
    """

    name: str
    kind: Kind
    why: str
    n_missing: int
    n_infinite: int
    n_distinct: int | None
    low: float | None
    high: float | None
    median: float | None
    histogram: tuple[int, ...]
    top: tuple[tuple[Any, int], ...]
    flags: tuple[Flag, ...]

    def __repr__(self) -> str:
        kind: str = self.kind
        if self.why:
            kind += f" ({self.why})"
        facts = [
            kind,
            f"{self.n_missing:,} missing",
            _values_text(self),
            *(flag.text for flag in self.flags),
        ]
        return f"<ColumnInspection of {self.name!r}: {'; '.join(filter(None, facts))}>"

    @property
    def is_time(self) -> bool:
        """Whether its numbers are dates or times, as seconds since 1970."""
        return self.kind == "continuous" and self.why == TIMES


@dataclass(frozen=True, slots=True, repr=False)
class Inspection:
    """What `inspect` found in a table; the target is among the columns when it was named.

    Attributes
    ----------
    source : str
        The path of the file, or the type of the frame.
    n_rows : int
        The number of rows.
    n_sampled : int
        The number of rows in the sample, of which medians and histograms are.
    n_repeated : int or None
        Rows that repeat an earlier row, None when only a sample was compared.
    columns : tuple of ColumnInspection
        One inspection per column.
    target : str or None
        The column that is to be predicted.
    notes : tuple of str, default=()
        What was inferred about how the file is written.
    n_missing : int
        The missing cells of all columns.

    See Also
    --------
    inspect : Makes it.
    ColumnInspection : One column of it.
    scan : The rows of the table, ready for `fit`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import inspect
    >>> table = pa.table({"age": [31.5, 45.0, None, 52.0], "club": ["a", "b", "a", "a"]})
    >>> inspect(table)
    Inspection of a Table
    <BLANKLINE>
      rows           4
      columns        2
      missing cells  1
    <BLANKLINE>
    Columns
    column  kind        missing  values      notes
    ──────  ──────────  ───────  ──────────  ─────
    age     continuous        1  31.5 to 52
    club    binary            0  a, b
    """

    source: str
    n_rows: int
    n_sampled: int
    n_repeated: int | None
    columns: tuple[ColumnInspection, ...]
    target: str | None
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ColumnInspection:
        return next(column for column in self.columns if column.name == name)

    @property
    def n_missing(self) -> int:
        return sum(column.n_missing for column in self.columns)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain(asdict(self))

    def __str__(self) -> str:
        return str(self._summary)

    __repr__ = __str__  # a console shows the table too

    def _repr_html_(self) -> str:
        return self._summary._repr_html_()

    @property
    def _summary(self) -> Summary:
        """What was found, as facts and a table of the columns."""
        facts: dict[str, Any] = {
            "rows": self.n_rows,
            "columns": len(self.columns),
            "missing cells": self.n_missing,
        }
        if self.n_repeated:
            facts["repeated rows"] = self.n_repeated
        if self.target is not None:
            facts["target"] = self.target
        rows = [
            (
                c.name,
                c.kind,
                c.n_missing,
                _values_text(c),
                "; ".join(flag.text for flag in c.flags),
            )
            for c in self.columns
        ]
        table = Table("Columns", ("column", "kind", "missing", "values", "notes"), rows)
        return Summary(f"Inspection of {self.source}", facts, [table])


def _values_text(column: ColumnInspection) -> str:
    """The range of numbers, or the commonest categories."""
    if column.top:
        listed = ", ".join(str(value) for value, _ in column.top[:3])
        if (column.n_distinct or 0) > 3 or len(column.top) > 3:
            listed += ", …"
        return listed
    if column.low is None or column.high is None:
        return ""
    if column.is_time:
        return f"{time_text(column.low)} to {time_text(column.high)}"
    return f"{column.low:g} to {column.high:g}"


def time_text(seconds: float | None) -> str:
    """A time in seconds since 1970 as a date, with the time of day where it is not midnight.

    >>> time_text(86_400.0), time_text(86_460.0)
    ('1970-01-02', '1970-01-02 00:01:00')
    """
    if seconds is None:
        return ""
    # beyond the year 250,000, or NaN
    if not abs(seconds) < 8e12:
        return f"{seconds:g}"
    text = str(np.datetime64(math.floor(seconds), "s"))
    return text.removesuffix("T00:00:00").replace("T", " ")
