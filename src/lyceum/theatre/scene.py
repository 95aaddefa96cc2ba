"""What is shown of a step, as plain data: pictures, sentences with figures, tables, a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from lyceum._core.report import Shown
from lyceum._core.text import plain, show
from lyceum.report import Steps, Table
from lyceum.theatre.player import alone_html, embedded_html

Picture = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SceneQuestion(Shown):
    """A number that is asked for before the scene is shown.

    Parameters
    ----------
    text : str
        What is asked.
    answer : float
        The number.
    mistakes : sequence of (float, str), default=()
        Numbers that a known mistake leads to, and what it is.

    See Also
    --------
    Scene : The step that it belongs to.

    Examples
    --------
    >>> from lyceum.theatre import SceneQuestion
    >>> question = SceneQuestion("What is 2/3?", 2 / 3)
    >>> question.is_right(0.667), question.is_right(0.66)
    (True, False)
    """

    text: str
    answer: float
    mistakes: Sequence[tuple[float, str]] = ()

    @property
    def tolerance(self) -> float:
        """How far an answer may be off: three significant digits, rounded, are right."""
        return max(0.0006 * abs(self.answer), 5.1e-4 * (abs(self.answer) < 1), 1e-9)

    def is_right(self, number: float) -> bool:
        """Whether a number is the answer, within the tolerance."""
        return abs(number - self.answer) <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """What is asked, the answer, its tolerance and the mistakes."""
        mistakes = [
            {"value": float(value), "text": text}
            for value, text in self.mistakes
            if not self.is_right(value)
        ]
        return {
            "text": self.text,
            "answer": float(self.answer),
            "shown": figure(self.answer),
            "tolerance": self.tolerance,
            "mistakes": mistakes,
        }


@dataclass(frozen=True, slots=True)
class Scene(Shown):
    """One step of a method.

    Parameters
    ----------
    title : str
        What happens, in a few words.
    lines : sequence of str
        The calculation of the step, in figures.
    pictures : sequence of mappings
        Marks on a plane or in a drawing, as data.
    tables : sequence of Table, default=()
        Tables of the step alone, e.g. the gains at a node.
    question : SceneQuestion, optional
        The number that is asked for first.

    See Also
    --------
    Play : All scenes of a method.

    Examples
    --------
    >>> from lyceum.theatre import play
    >>> scene = play("perceptron").scenes[1]
    >>> print(scene.title)
    Pass 1, row 1: wrong, the weights move
    """

    title: str
    lines: Sequence[str]
    pictures: Sequence[Picture]
    tables: Sequence[Table] = ()
    question: SceneQuestion | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it in JSON's own types."""
        question = None if self.question is None else self.question.as_dict()
        return {
            "title": self.title,
            "lines": list(self.lines),
            "pictures": plain(self.pictures),
            "tables": [_table_dict(table) for table in self.tables],
            "question": question,
        }


@dataclass(frozen=True, slots=True)
class Play:
    """A method step by step on a small table.

    Parameters
    ----------
    method : str
        The name of the method.
    title : str
        The method and the table.
    about : str
        What the method does, in a sentence or two.
    scenes : sequence of Scene
        The steps, one after the other.
    steps : Steps
        The numbers of all scenes as one table, with the formula of every column.
    model : object, optional
        The fitted learner whose record is shown.

    See Also
    --------
    play : Makes it.
    lyceum.base.Learner.steps : The record of a learner as a table.

    Examples
    --------
    >>> from lyceum.theatre import play
    >>> shown = play("kmeans")
    >>> len(shown.scenes) == len(shown.steps)
    True
    """

    method: str
    title: str
    about: str
    scenes: Sequence[Scene]
    steps: Steps
    model: Any = None

    def as_dict(self) -> dict[str, Any]:
        """Everything that the player draws, in JSON's own types."""
        formulas = []
        for column in self.steps.columns:
            formula = column.as_dict()
            formulas.append(
                {key: formula[key] for key in ("symbol", "formula", "unit")}
            )
        return {
            "method": self.method,
            "title": self.title,
            "about": self.about,
            "scenes": [scene.as_dict() for scene in self.scenes],
            "table": _table_dict(self.steps.table()),
            "formulas": formulas,
        }

    def to_html(self, *, alone: bool = True) -> str:
        """The scenes with their player.

        Parameters
        ----------
        alone : bool, default=True
            Whether it is a whole page that needs neither a server nor a network. Otherwise it is a
            part of a page that has `player_html()` once.

        Returns
        -------
        str
        """
        make = alone_html if alone else embedded_html
        return make(self.title, self.as_dict(), self.steps.to_html())

    def _repr_html_(self) -> str:
        page = escape(self.to_html(), quote=True)
        style = "width:100%;height:44rem;border:0"
        return f'<iframe title="{escape(self.title)}" srcdoc="{page}" style="{style}"></iframe>'

    def __str__(self) -> str:
        parts = [self.title, self.about]
        for number, scene in enumerate(self.scenes, start=1):
            parts.append("\n".join([f"{number}. {scene.title}", *scene.lines]))
            parts += map(str, scene.tables)
        return "\n\n".join(parts)


def figure(value: float) -> str:
    """A number of a hand calculation: four significant digits and a real minus sign.

    >>> figure(-0.123456), figure(2.0)
    ('−0.1235', '2')
    """
    return show(float(value)).replace("-", "−")


def factor(value: float) -> str:
    """A number inside a sum or product: negative ones stand in parentheses.

    >>> factor(-1.0), factor(3.0)
    ('(−1)', '3')
    """
    text = figure(value)
    return f"({text})" if text.startswith("−") else text


def vector(values: Any) -> str:
    """Numbers in parentheses.

    >>> vector([1.0, -2.5])
    '(1, −2.5)'
    """
    return f"({', '.join(map(figure, values))})"


def products(left: Any, right: Any) -> str:
    """A sum of products written out.

    >>> products([1.0, 2.0], [3.0, -4.0])
    '1 · 3 + 2 · (−4)'
    """
    pairs = zip(left, right)
    return " + ".join(f"{factor(one)} · {factor(other)}" for one, other in pairs)


def _table_dict(table: Table) -> dict[str, Any]:
    """A table with its cells as people read them, and which columns are figures."""
    sides = []
    for j in range(len(table.columns)):
        cells = [row[j] for row in table.rows if row[j] != ""]
        sides.append(bool(cells) and not any(isinstance(cell, str) for cell in cells))
    rows = [
        [show(cell) if isinstance(cell, str) else _figures(cell) for cell in row]
        for row in table.rows
    ]
    return {
        "title": table.title,
        "columns": list(table.columns),
        "numbers": sides,
        "rows": rows,
    }


def _figures(cell: Any) -> str:
    return show(cell).replace("-", "−")
