"""Exercises as PDF pages, without LaTeX: text in the fonts that every reader of PDF has."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

from lyceum._core.packages import check_installed
from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.boxes import (
    Box,
    Ink,
    beside,
    formula,
    inline,
    lines,
    rule,
    scaled,
    space,
)
from lyceum.exercises.formats.fonts import BOLD, FONTS, SYMBOL
from lyceum.exercises.formats.markdown import mistake_value, question_text
from lyceum.exercises.sheet import Block, CellTable, Formula, Text

WIDTH = 595.0  # points: A4
HEIGHT = 842.0
MARGIN = 65.0
POINTS = 11.0
_MEASURE = WIDTH - 2 * MARGIN
_LEADING = 5.0  # between two lines


def as_pdf(exercise: Exercise, solution: bool) -> bytes:
    """The pages; the solution begins on a page of its own."""
    # its metrics say how wide letters are
    check_installed("a PDF", "matplotlib")
    pages = _Pages()
    pages.heading(exercise.title, 16)
    pages.blocks(exercise.given)
    for question in exercise.questions:
        pages.listed(question.key, question_text(question))
    if solution:
        pages.new_page()
        pages.heading("Solution", 14)
        pages.blocks(exercise.solution)
        pages.heading("Answers", 14)
        for question in exercise.questions:
            pages.listed(question.key, question.shown)
        _write_mistakes(pages, exercise)
    return _file(pages.contents, exercise.title)


def _write_mistakes(pages: _Pages, exercise: Exercise) -> None:
    mistakes = [
        (q.key, f"{mistake_value(q, mistake.value)}: {mistake.words}")
        for q in exercise.questions
        for mistake in q.mistakes
    ]
    if mistakes:
        pages.heading("Wrong answers and what they show", 14)
    for key, words in mistakes:
        pages.listed(key, words)


class _Pages:
    """A cursor that goes down the page and begins a new one at the end."""

    def __init__(self) -> None:
        self.contents: list[list[bytes]] = []
        self.new_page()

    def new_page(self) -> None:
        self.contents.append([])
        self.top = HEIGHT - MARGIN

    def put(self, box: Box, x: float) -> None:
        """A box as the next line, `x` from the margin."""
        if self.top - box.ascent - box.descent < MARGIN:
            self.new_page()
        base = self.top - box.ascent
        self.contents[-1] += [_drawn(mark, MARGIN + x, base) for mark in box.marks]
        self.top = base - box.descent - _LEADING

    def heading(self, words: str, size: float) -> None:
        # a heading at the foot of a page would stand alone
        if self.top - 60 < MARGIN:
            self.new_page()
        self.top -= 8
        for line in lines(words, size, _MEASURE, BOLD):
            self.put(line, 0.0)
        self.top -= 4

    def text(self, words: str, x: float = 0.0) -> None:
        for line in lines(words, POINTS, _MEASURE - x):
            self.put(line, x)
        self.top -= 5

    def listed(self, key: str, words: str) -> None:
        """A text beside its letter."""
        label = inline(f"({key})", POINTS)
        first, *rest = lines(words, POINTS, _MEASURE - 24)
        self.put(beside([label, space(24 - label.width), first]), 0.0)
        for line in rest:
            self.put(line, 24.0)
        self.top -= 4

    def blocks(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            match block:
                case Text(words):
                    self.text(words)
                case Formula(tex):
                    for part in _parts(tex):
                        self.put(part, 24.0)
                    self.top -= 5
                case CellTable():
                    self.table(block)

    def table(self, table: CellTable) -> None:
        """Cells in columns as wide as their widest cell; figures stand on the right."""
        rows = [[inline(cell, POINTS) for cell in row] for row in table.rows]
        head = [inline(cell, POINTS, BOLD) for cell in table.columns]
        widths = [max(box.width for box in column) for column in zip(head, *rows)]
        right = [table.is_numeric(i) for i in range(len(widths))]
        full = sum(widths) + 16.0 * (len(widths) - 1)
        factor = min(1.0, _MEASURE / full)
        for number, cells in enumerate([head, *rows]):
            line = _table_row(cells, widths, right)
            self.put(scaled(line, factor), 0.0)
            if number == 0:
                self.top += 2
                self.put(rule(full * factor), 0.0)
        self.top -= 8


def _table_row(
    cells: Sequence[Box], widths: Sequence[float], right: Sequence[bool]
) -> Box:
    parts = []
    for box, width, at_end in zip(cells, widths, right):
        free = space(width - box.width)
        parts += [free, box] if at_end else [box, free]
        parts.append(space(16.0))
    return beside(parts[:-1])


def _parts(tex: str) -> list[Box]:
    """A formula in one line, or else one line per part; what is still too wide is set smaller."""
    whole = formula(tex, POINTS + 1)
    boxes = [whole]
    if whole.width > _MEASURE - 24:
        parts = re.split(r"(?<!\\Rightarrow)\\q?quad(?!\\Rightarrow)", tex)
        boxes = [formula(part, POINTS + 1) for part in parts]
    return [scaled(box, min(1.0, (_MEASURE - 24) / box.width)) for box in boxes]


# -- the file -----------------------------------------------------------------------------


def _drawn(mark: Ink, x: float, y: float) -> bytes:
    """The operators that draw a mark of a box whose base line begins at (x, y)."""
    at = f"{mark.x + x:.2f} {mark.y + y:.2f}"
    if not mark.font:
        return f"{at} {mark.width:.2f} {mark.height:.2f} re f\n".encode()
    text = re.sub(rb"([\\()])", rb"\\\1", mark.codes)
    font = FONTS.index(mark.font)
    return b"BT /F%d %.2f Tf 1 0 0 %.3f %s Tm (%s) Tj ET\n" % (
        font,
        mark.size,
        mark.stretch,
        at.encode(),
        text,
    )


def _file(contents: Sequence[Sequence[bytes]], title: str) -> bytes:
    """The objects of a PDF and where each of them begins."""
    first = 4 + len(FONTS)
    pages = [first + 2 * i for i in range(len(contents))]
    kids = " ".join(f"{number} 0 R" for number in pages)
    fonts = " ".join(f"/F{i} {4 + i} 0 R" for i in range(len(FONTS)))
    info = title.encode("utf-16-be").hex().upper()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        f"<< /Title <FEFF{info}> >>".encode(),
        *map(_font, FONTS),
    ]
    for number, content in zip(pages, contents):
        packed = zlib.compress(b"".join(content))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH:g} {HEIGHT:g}] "
            f"/Resources << /Font << {fonts} >> >> /Contents {number + 1} 0 R >>".encode()
        )
        head = b"<< /Length %d /Filter /FlateDecode >>" % len(packed)
        objects.append(head + b"\nstream\n" + packed + b"\nendstream")
    return _joined(objects)


def _font(name: str) -> bytes:
    encoding = "" if name == SYMBOL else " /Encoding /WinAnsiEncoding"
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name}{encoding} >>".encode()


def _joined(objects: Sequence[bytes]) -> bytes:
    """Numbered objects, the table of where they begin, and the trailer."""
    parts = [b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"]
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = sum(map(len, parts))
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    parts.append(
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n"
        f"<< /Size {size} /Root 1 0 R /Info 3 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    return b"".join(parts)
