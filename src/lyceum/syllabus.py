"""All of classical machine learning as a table of rows and clauses, and where each lives here.

The table is `catalog/syllabus.txt`: sections, rows, and one line per clause with the public names
that do it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from lyceum.catalog import syllabus_entries

__all__ = ["SECTIONS", "Clause", "Row", "rows"]

Status = Literal["works", "partly", "not yet"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a row: what is taught, and the public names that do it.

    Attributes
    ----------
    number : str
        Its number, e.g. "6.7.3": that of its row, and its place in it.
    text : str
        What is taught.
    where : tuple of str
        Public names below `lyceum`: a class or function, one of its attributes
        ("trees.ID3.rules"), or its parameters ("trees.ID3(attribute_costs)").

    See Also
    --------
    Row : The row that it is a part of.

    Examples
    --------
    >>> from lyceum.syllabus import rows
    >>> row = next(row for row in rows() if row.number == "6.7")
    >>> row.clauses[2].text, row.clauses[2].where
    ('no runaway extrapolation', ('trees.ModelTreeRegressor(extrapolation)',))
    """

    number: str
    text: str
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the syllabus: its number and title, what it lacks, and the names that cover it.

    Attributes
    ----------
    number : str
        Its number, e.g. "6.7".
    title : str
        Its subject.
    lacks : str
        What is not implemented yet, empty if nothing is missing.
    where : tuple of str
        The public names that cover it.
    clauses : tuple of Clause
        Its parts, and where each of them lives.
    section : int
        The number of its section, a key of `SECTIONS`.
    status : {"works", "partly", "not yet"}
        Whether all of it is implemented.

    See Also
    --------
    rows : All rows.
    Clause : One part of a row.
    lyceum.catalog.syllabus_entries : The cataloged learners and functions behind one row.

    Examples
    --------
    >>> from lyceum.syllabus import SECTIONS, rows
    >>> row = next(row for row in rows() if row.number == "6.7")
    >>> row.title, SECTIONS[row.section], row.status
    ('Regression and model trees', 'Decision trees', 'works')
    """

    number: str
    title: str
    lacks: str
    where: tuple[str, ...]
    clauses: tuple[Clause, ...] = ()

    @property
    def section(self) -> int:
        return int(self.number.partition(".")[0])

    @property
    def status(self) -> Status:
        if not self.where:
            return "not yet"
        if self.lacks:
            return "partly"
        return "works"


# what a covered row still lacks, by its number; empty since all of them work
_LACKS: dict[str, str] = {}


@cache
def _lines() -> tuple[str, ...]:
    """The lines of the table."""
    file = resources.files("lyceum.catalog") / "syllabus.txt"
    return tuple(file.read_text(encoding="utf-8").splitlines())


def _sections() -> dict[int, str]:
    titles = [line[2:] for line in _lines() if line.startswith("# ")]
    return {int(number): title for number, title in (t.split(" ", 1) for t in titles)}


SECTIONS = _sections()


def rows() -> tuple[Row, ...]:
    """Every row of the syllabus with its clauses and its state.

    >>> row = next(row for row in rows() if row.number == "3.1")
    >>> row.status, row.lacks, row.where
    ('works', '', ('lyceum.bayes.NaiveBayes',))
    """
    clauses: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    number = ""
    for line in _lines():
        if line.startswith("## "):
            number, title = line[3:].split(" ", 1)
            titles[number] = title
            clauses[number] = []
        elif not line.startswith("# "):
            clauses[number].append(line)
    return tuple(_row(number, titles[number], clauses[number]) for number in titles)


def _row(number: str, title: str, lines: list[str]) -> Row:
    entries = syllabus_entries(number)
    where = tuple(f"{entry.package}.{entry.name}" for entry in entries)
    clauses = []
    for i, line in enumerate(lines, 1):
        text, names = line.split(" -> ")
        # names stand between commas; so do parameters, within parentheses
        lives = re.findall(r"[\w.]+(?:\([^)]*\))?", names)
        clauses.append(Clause(f"{number}.{i}", text, tuple(lives)))
    return Row(number, title, _LACKS.get(number, ""), where, tuple(clauses))
