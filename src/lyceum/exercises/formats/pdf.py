"""Exercises as PDF pages, set by Matplotlib, so that no LaTeX has to be installed."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from lyceum._core.packages import check_installed
from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.markdown import mistake_value, question_text
from lyceum.exercises.sheet import Block, CellTable, Formula, Text

WIDTH = 8.27  # inches: A4
HEIGHT = 11.69
MARGIN = 0.9
POINTS = 10.5
_MATRIX = re.compile(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", re.S)


def as_pdf(exercise: Exercise, solution: bool) -> bytes:
    """The pages; the solution begins on a page of its own."""
    check_installed("a PDF", "matplotlib")
    pages = _Pages()
    pages.heading(exercise.title, 15)
    pages.blocks(exercise.given)
    for question in exercise.questions:
        pages.text(f"({question.key})  {question_text(question)}")
    if solution:
        pages.new_page()
        pages.heading("Solution", 13)
        pages.blocks(exercise.solution)
        pages.heading("Answers", 13)
        for question in exercise.questions:
            pages.text(f"({question.key})  {question.shown}")
        _write_mistakes(pages, exercise)
    return pages.finish()


def _write_mistakes(pages: _Pages, exercise: Exercise) -> None:
    lines = [
        f"({q.key})  {mistake_value(q, mistake.value)}: {mistake.words}"
        for q in exercise.questions
        for mistake in q.mistakes
    ]
    if lines:
        pages.heading("Wrong answers and what they show", 13)
    for line in lines:
        pages.text(line)


def _for_mathtext(tex: str) -> str:
    """Matplotlib's mathematics has no matrices: rows in brackets stand for them."""
    rows = _MATRIX.sub(
        lambda match: "[" + match.group(1).replace("&", ",").replace(r"\\", ";") + "]",
        tex,
    )
    return rows.replace(r"\|", r"\Vert ")


def _plain(words: str) -> str:
    """Markdown's marks become what Matplotlib shows."""
    words = re.sub(r"`([^`]+)`", r"\1", words)
    words = re.sub(r"\*\*([^*]+)\*\*", r"\1", words)
    return re.sub(r"\$([^$]+)\$", lambda m: f"${_for_mathtext(m.group(1))}$", words)


class _Pages:
    """A cursor that goes down the page and begins a new one at the end."""

    def __init__(self) -> None:
        from matplotlib.backends.backend_pdf import PdfPages

        self.buffer = io.BytesIO()
        # a fixed date, so that the file depends on the exercise only
        self.pdf = PdfPages(self.buffer, metadata={"CreationDate": None})
        self.figure: Any = None
        self.new_page()

    def new_page(self) -> None:
        from matplotlib.figure import Figure

        self._save()
        self.figure = Figure(figsize=(WIDTH, HEIGHT))
        self.top = HEIGHT - MARGIN

    def _save(self) -> None:
        if self.figure is not None:
            self.pdf.savefig(self.figure)

    def finish(self) -> bytes:
        self._save()
        self.pdf.close()
        return self.buffer.getvalue()

    def line(self, words: str, x: float, height: float, **style: Any) -> None:
        """One line of text, `height` inches high."""
        if self.top - height < MARGIN:
            self.new_page()
        self.top -= height
        settings = {"fontsize": POINTS, "va": "baseline"} | style
        self.figure.text(x / WIDTH, self.top / HEIGHT, words, **settings)

    def heading(self, words: str, size: float) -> None:
        self.top -= 0.1
        self.line(words, MARGIN, 0.3, fontsize=size, fontweight="bold")
        self.top -= 0.05

    def text(self, words: str) -> None:
        for line in _wrapped(_plain(words)):
            self.line(line, MARGIN, 0.21)
        self.top -= 0.08

    def blocks(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            match block:
                case Text(words):
                    self.text(words)
                case Formula(tex):
                    for part in re.split(
                        r"(?<!\\Rightarrow)\\quad(?!\\Rightarrow)", tex
                    ):
                        self.line(f"${_for_mathtext(part)}$", MARGIN + 0.4, 0.36)
                    self.top -= 0.08
                case CellTable():
                    self.table(block)

    def table(self, table: CellTable) -> None:
        """Cells in columns as wide as their longest cell; figures stand on the right."""
        lines = [table.columns, *table.rows]
        shown = [[_plain(cell) for cell in line] for line in lines]
        widths = [max(_width(line[i]) for line in shown) for i in range(len(shown[0]))]
        scale = min(1.0, (WIDTH - 2 * MARGIN) / (sum(widths) + 0.25 * len(widths)))
        tall = any(r"\frac" in cell for line in shown for cell in line)
        for number, line in enumerate(shown):
            if self.top - 0.3 < MARGIN:
                self.new_page()
            self.top -= 0.34 if tall else 0.22
            x = MARGIN
            for index, cell in enumerate(line):
                right = table.is_numeric(index)
                at = x + widths[index] * scale if right else x
                self.figure.text(
                    at / WIDTH,
                    self.top / HEIGHT,
                    cell,
                    fontsize=(POINTS - 1) * scale,
                    fontweight="bold" if number == 0 else "normal",
                    ha="right" if right else "left",
                    va="baseline",
                )
                x += (widths[index] + 0.25) * scale
        self.top -= 0.2


def _wrapped(words: str) -> list[str]:
    """Lines that fit; a formula inside a text is never cut."""
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match.group())
        return f"\x00{len(held) - 1:03d}" + "x" * max(
            len(_reduced(match.group())) - 4, 0
        )

    lines = textwrap.wrap(re.sub(r"\$[^$]+\$", hold, words), 92) or [""]
    return [
        re.sub(r"\x00(\d{3})x*", lambda match: held[int(match.group(1))], line)
        for line in lines
    ]


def _reduced(cell: str) -> str:
    """About as many letters as the cell is wide."""
    fractions = re.sub(
        r"\\frac\{([^{}]*)\}\{([^{}]*)\}", lambda m: max(m.groups(), key=len), cell
    )
    return re.sub(r"\\[A-Za-z]+|[{}$^_\\]", "", fractions)


def _width(cell: str) -> float:
    return 0.085 * len(_reduced(cell)) + 0.08
