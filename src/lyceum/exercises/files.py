"""Exercises as files: for one person, or one per student with a key."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lyceum._core.files import write_file
from lyceum.errors import DataError, SettingError
from lyceum.exercises.exercise import Exercise, make_exercise, student_seed
from lyceum.exercises.formats.html import as_html
from lyceum.exercises.formats.latex import as_latex
from lyceum.exercises.formats.markdown import as_markdown, question_text
from lyceum.exercises.formats.moodle import as_moodle
from lyceum.exercises.formats.notebook import as_notebook
from lyceum.exercises.formats.pdf import as_pdf
from lyceum.exercises.formats.qti import as_qti

ANSWER_COLUMNS = ("student", "exercise", "seed", "level", "question", "answer")


@dataclass(frozen=True, slots=True)
class _Format:
    """The ending of its files, and how an exercise becomes text or bytes."""

    ending: str
    render: Callable[[Exercise, bool], str | bytes]


FORMATS = {
    "md": _Format(".md", as_markdown),
    "html": _Format(".html", as_html),
    "pdf": _Format(".pdf", as_pdf),
    "tex": _Format(".tex", as_latex),
    "ipynb": _Format(".ipynb", as_notebook),
    # both formats carry the answers: the system keeps them from the student
    "moodle": _Format(".xml", lambda exercise, solution: as_moodle([exercise])),
    "qti": _Format(".zip", lambda exercise, solution: as_qti([exercise])),
}


def render_exercise(
    exercise: Exercise, format: str = "md", solution: bool = False
) -> str | bytes:
    """An exercise in one of the formats.

    Parameters
    ----------
    exercise : Exercise
    format : {"md", "html", "pdf", "tex", "ipynb", "moodle", "qti"}, default="md"
        "pdf" and "qti" give bytes, the others text. "moodle" and "qti" always hold the answers.
    solution : bool, default=False
        Whether the worked solution and the answers follow the questions.

    Returns
    -------
    str or bytes

    Examples
    --------
    >>> from lyceum.exercises import make_exercise, render_exercise
    >>> render_exercise(make_exercise("knn")).splitlines()[0]
    '# Classify by the nearest neighbors'
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise SettingError(f"format={format!r}: exercises are written as {known}")
    return FORMATS[format].render(exercise, solution)


def write_class(
    name: str,
    students: Sequence[str],
    folder: str | Path,
    *,
    seed: int = 0,
    level: int = 1,
    format: str = "md",
    solution: bool = False,
) -> list[Path]:
    """An exercise with numbers of their own for every student, a key, and a form for answers.

    Parameters
    ----------
    name : str
        The kind of exercise.
    students : sequence of str
        One name or number each; a hash of it draws the numbers, so that they do not depend on
        the others in the list.
    folder : path
        Gets a file per student (of "moodle" and "qti" one for all), `key.csv` with every answer
        and `answers.csv`, to be filled in and checked by `check_answers`. It must not hold
        either of these yet.
    seed : int, default=0
        Another seed gives every student other numbers.
    level : {1, 2, 3}, default=1
    format : str, default="md"
        As in `render_exercise`.
    solution : bool, default=False
        Whether the solution is written too: NAME-solution, beside every sheet.

    Returns
    -------
    list of Path
        What was written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from lyceum.exercises import write_class
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_class("id3", ["ann", "bob"], folder)]
    ['ann.md', 'bob.md', 'key.csv', 'answers.csv']
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise SettingError(f"format={format!r}: exercises are written as {known}")
    repeated = sorted(s for s, count in Counter(students).items() if count > 1)
    if repeated or not students:
        what = f"the student {repeated[0]!r} twice" if repeated else "no student"
        raise DataError(f"the list names {what}: name every student once")
    target = Path(folder)
    for taken in ("key.csv", "answers.csv"):
        if (target / taken).exists():
            raise SettingError(
                f"{target / taken} is there already: choose another folder"
            )
    made = {
        student: make_exercise(name, student_seed(name, student, seed), level)
        for student in students
    }
    target.mkdir(parents=True, exist_ok=True)
    if format in ("moodle", "qti"):
        written = [_write_quiz(target, name, made, format)]
    else:
        written = _write_sheets(target, made, format, solution)
    key = target / "key.csv"
    write_file(key, _csv([*ANSWER_COLUMNS, "asked"], _key_rows(made)).encode())
    form = target / "answers.csv"
    rows = [(*row[:5], "") for row in _key_rows(made)]
    write_file(form, _csv(ANSWER_COLUMNS, rows).encode())
    return [*written, key, form]


def _write_sheets(
    target: Path, made: dict[str, Exercise], format: str, solution: bool
) -> list[Path]:
    written = []
    for student, exercise in made.items():
        sheets = {"": False, "-solution": True} if solution else {"": False}
        for suffix, is_solved in sheets.items():
            path = target / f"{_file_name(student)}{suffix}{FORMATS[format].ending}"
            content = FORMATS[format].render(exercise, is_solved)
            write_file(
                path, content if isinstance(content, bytes) else content.encode()
            )
            written.append(path)
    return written


def _write_quiz(
    target: Path, name: str, made: dict[str, Exercise], format: str
) -> Path:
    path = target / f"{name}{FORMATS[format].ending}"
    if format == "qti":
        write_file(path, as_qti(made.values()))
    else:
        write_file(path, as_moodle(made.values(), category=name).encode())
    return path


def _file_name(student: str) -> str:
    """The student's name without what file systems do not take."""
    kept = "".join(c if c.isalnum() or c in "-_.@" else "_" for c in student)
    return kept.lstrip(".") or "_"


def _key_rows(made: dict[str, Exercise]) -> list[tuple[object, ...]]:
    return [
        (
            student,
            exercise.name,
            exercise.seed,
            exercise.level,
            question.key,
            question.answer,
            question_text(question),
        )
        for student, exercise in made.items()
        for question in exercise.questions
    ]


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
