"""Answers checked against the exercises they belong to, with a diagnosis of known mistakes."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from lyceum._core.report import Shown
from lyceum.errors import DataError
from lyceum.exercises.exercise import make_exercise
from lyceum.exercises.files import ANSWER_COLUMNS

_exercise = lru_cache(maxsize=4096)(make_exercise)


@dataclass(frozen=True, slots=True)
class Mark(Shown):
    """Whether one answer is right, and what probably went wrong.

    Attributes
    ----------
    student, exercise, question, answer : str
        As in the form.
    expected : str
        The right answer, with the digits asked for.
    correct : bool
        Whether the answer is right.
    diagnosis : str or None
        The mistake that gives this answer, if it is a known one.

    See Also
    --------
    check_answers : Makes them.
    Mistake : What is recognized.

    Examples
    --------
    >>> from lyceum.exercises import check_answers, make_exercise
    >>> entropy = make_exercise("id3", seed=7).questions[0].answer
    >>> row = {"student": "ann", "exercise": "id3", "seed": "7", "level": "1", "question": "a"}
    >>> print(check_answers([{**row, "answer": str(entropy * 0.6931)}])[0].diagnosis)
    the natural logarithm instead of the binary one
    """

    student: str
    exercise: str
    question: str
    answer: str
    expected: str
    correct: bool
    diagnosis: str | None

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


class Marks(Shown, list[Mark]):
    """Marks of a class: a list that prints as one line per answer, and points.

    Parameters
    ----------
    iterable : iterable of Mark

    See Also
    --------
    check_answers : Makes them.
    Mark : One of them.

    Examples
    --------
    >>> from lyceum.exercises import check_answers
    >>> check_answers([]).points()
    {}
    """

    def points(self) -> dict[str, tuple[int, int]]:
        """Right answers and questions of every student."""
        points: dict[str, tuple[int, int]] = {}
        for mark in self:
            right, asked = points.get(mark.student, (0, 0))
            points[mark.student] = (right + mark.correct, asked + 1)
        return points

    def __str__(self) -> str:
        lines = [
            f"{mark.student} {mark.exercise} ({mark.question}) {mark.answer or 'no answer'}: "
            f"{_verdict(mark)}"
            for mark in self
        ]
        totals = [
            f"{student}: {right} of {asked}"
            for student, (right, asked) in self.points().items()
        ]
        return "\n".join([*lines, "", *totals])

    def as_dict(self) -> dict[str, Any]:
        """All marks and the points, for JSON."""
        return {
            "marks": [mark.as_dict() for mark in self],
            "points": {student: list(pair) for student, pair in self.points().items()},
        }


def _verdict(mark: Mark) -> str:
    if mark.correct:
        return "right"
    reason = f" ({mark.diagnosis})" if mark.diagnosis else ""
    return f"wrong, {mark.expected} is right{reason}"


def check_answers(answers: str | Path | Iterable[dict[str, Any]]) -> Marks:
    """Check a form that was filled in, and say what went wrong where it is known.

    Parameters
    ----------
    answers : path of a CSV, or rows as dicts
        With the columns student, exercise, seed, level, question and answer, as `write_class`
        makes them. Numbers may be decimals, with a point or a comma, or fractions such as 5/14.

    Returns
    -------
    Marks
        A list of `Mark`, in the order of the rows.

    Examples
    --------
    >>> from lyceum.exercises import check_answers
    >>> row = {"student": "ann", "exercise": "holdout-size", "seed": 1, "level": 1}
    >>> marks = check_answers([{**row, "question": "a", "answer": "0.5"}])
    >>> marks[0].correct, marks.points()
    (False, {'ann': (0, 1)})
    """
    if isinstance(answers, str | Path):
        with open(answers, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        source = str(answers)
    else:
        rows = list(answers)
        source = "the answers"
    return Marks(_mark(row, number, source) for number, row in enumerate(rows, start=2))


def _mark(row: dict[str, Any], number: int, source: str) -> Mark:
    missing = [name for name in ANSWER_COLUMNS if row.get(name) is None]
    if missing:
        raise DataError(
            f"{source}, row {number}: the column {missing[0]!r} is missing; the form that "
            "write_class makes has all of them"
        )
    numbers = {}
    for name in ("seed", "level"):
        try:
            numbers[name] = int(row[name])
        except ValueError:
            raise DataError(
                f"{source}, row {number}: {name} is {row[name]!r}, which is no whole number"
            ) from None
    exercise = _exercise(row["exercise"], numbers["seed"], numbers["level"])
    question = exercise.question(str(row["question"]).strip())
    text = str(row["answer"]).strip()
    value: float | str | None = text if question.choices else _number(text)
    correct = value is not None and value != "" and question.accepts(value)
    diagnosis = None
    if not correct and text:
        diagnosis = "not a number" if value is None else question.diagnose(value)
    expected = question.answer
    shown = (
        expected if isinstance(expected, str) else f"{expected:.{question.decimals}f}"
    )
    return Mark(
        student=str(row["student"]),
        exercise=exercise.name,
        question=question.key,
        answer=text,
        expected=shown,
        correct=correct,
        diagnosis=diagnosis,
    )


def _number(text: str) -> float | None:
    """A decimal with a point or a comma, or a fraction; None for anything else."""
    plain = text.replace(" ", "").replace(",", ".").replace("−", "-")
    try:
        return float(Fraction(plain)) if "/" in plain else float(plain)
    except (ValueError, ZeroDivisionError):
        return None
