"""Lines of text and formulas as boxes: what stands where, measured by the widths of the glyphs.

A formula is read as MathML, so that a page and a PDF understand the same. Lengths are points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from xml.etree import ElementTree as ET

from lyceum.exercises.formats.fonts import BOLD, ITALIC, ROMAN, SYMBOL, glyphs
from lyceum.exercises.formats.mathml import as_mathml

_ASCENT = 0.68  # of the size: capital letters and figures
_DESCENT = 0.22
_AXIS = 0.25  # the height of fraction bars and minus signs
_SMALL = 0.72  # the size of scripts
_RULE = 0.5
_SPACED = set("=+−<>≤≥≈∼≠←⇒→∝∈·×±∣|:")
_OPENING = {"(": ")", "[": "]", "{": "}", "⌈": "⌉"}
_HYPHEN = re.compile(r"(?<![\w)])-(?=\.?\d)")  # of a negative number
_NEGATED = "⊥\u0338"  # not independent: the sign and a combining slash
_PIECES = re.compile(r"(\$[^$]+\$|\*\*[^*]+\*\*|`[^`]+`)")


@dataclass(frozen=True, slots=True)
class Ink:
    """Glyphs of one font, or a rule (no font), from the left end of the base line of its box."""

    x: float
    y: float
    font: str = ""
    size: float = 0.0
    codes: bytes = b""
    stretch: float = 1.0
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """Marks, and the room that they take."""

    width: float
    ascent: float
    descent: float
    marks: tuple[Ink, ...] = ()

    def moved(self, x: float, y: float) -> Box:
        """The same marks elsewhere; the room goes with them."""
        marks = tuple(replace(m, x=m.x + x, y=m.y + y) for m in self.marks)
        return Box(self.width + x, self.ascent + y, self.descent - y, marks)


def rule(width: float, thickness: float = _RULE) -> Box:
    """A line of ink on the base line."""
    return Box(width, thickness, 0.0, (Ink(0.0, 0.0, width=width, height=thickness),))


def space(width: float) -> Box:
    return Box(width, 0.0, 0.0)


def beside(boxes: Sequence[Box]) -> Box:
    """Boxes from left to right."""
    x = 0.0
    marks: list[Ink] = []
    for box in boxes:
        marks.extend(box.moved(x, 0.0).marks)
        x += box.width
    ascent = max((box.ascent for box in boxes), default=0.0)
    descent = max((box.descent for box in boxes), default=0.0)
    return Box(x, ascent, descent, tuple(marks))


def words(text: str, size: float, font: str = ROMAN, stretch: float = 1.0) -> Box:
    """A string in one line; symbols that the font lacks come from the font of symbols."""
    struck, negated, rest = text.partition(_NEGATED)
    if negated:
        sign = words("⊥", size)
        slash = words("/", size).moved(0.19 * size, 0.0)
        negation = _over(sign.width, [sign, slash])
        return beside([words(struck, size, font), negation, words(rest, size, font)])
    shown = [glyph for character in text for glyph in glyphs(character, font)]
    x = 0.0
    marks = []
    for name, run in groupby(shown, key=lambda glyph: glyph.font):
        run_glyphs = list(run)
        codes = bytes(glyph.code for glyph in run_glyphs)
        marks.append(Ink(x, 0.0, name, size, codes, stretch))
        x += size * sum(glyph.width for glyph in run_glyphs)
    return Box(x, _ASCENT * size * stretch, _DESCENT * size * stretch, tuple(marks))


def lines(text: str, size: float, width: float, font: str = ROMAN) -> list[Box]:
    """A text with formulas in lines of at most a width; a formula is never cut."""
    gap = space(size * glyphs(" ", font)[0].width)
    full: list[list[Box]] = [[]]
    taken = 0.0
    for word in _unbreakable(text, size, font):
        if full[-1] and taken + gap.width + word.width > width:
            full.append([])
            taken = 0.0
        if full[-1]:
            full[-1].append(gap)
        full[-1].append(word)
        taken = sum(box.width for box in full[-1])
    return [_fitted(beside(line), width) for line in full]


def inline(text: str, size: float, font: str = ROMAN) -> Box:
    """A text with formulas in one line."""
    return lines(text, size, float("inf"), font)[0]


def _unbreakable(text: str, size: float, font: str) -> list[Box]:
    """The words, each with the formulas and signs that touch it."""
    parts: list[list[Box]] = [[]]
    for piece in filter(None, _PIECES.split(text)):
        if piece[0] == "$" and piece[-1] == "$":
            parts[-1].append(formula(piece[1:-1], size, font == BOLD))
            continue
        bold = piece.startswith("**")
        plain = _HYPHEN.sub("−", piece.strip("*") if bold else piece.replace("`", ""))
        for number, word in enumerate(re.split(r"\s+", plain)):
            if number:
                parts.append([])
            if word:
                parts[-1].append(words(word, size, BOLD if bold else font))
    return [beside(boxes) for boxes in parts if boxes]


def _fitted(box: Box, width: float) -> Box:
    """The box, smaller if it is wider than the width."""
    if box.width <= width:
        return box
    return scaled(box, width / box.width)


def scaled(box: Box, factor: float) -> Box:
    marks = tuple(
        replace(
            mark,
            x=mark.x * factor,
            y=mark.y * factor,
            size=mark.size * factor,
            width=mark.width * factor,
            height=mark.height * factor,
        )
        for mark in box.marks
    )
    return Box(box.width * factor, box.ascent * factor, box.descent * factor, marks)


# -- formulas -----------------------------------------------------------------------------


@cache
def formula(tex: str, size: float, bold: bool = False) -> Box:
    """A formula in one line."""
    return _set(ET.fromstring(as_mathml(tex)), size, bold)


def _set(element: ET.Element, size: float, bold: bool) -> Box:
    """The box of an element of MathML."""
    bold = bold or "bold" in element.get("style", "")
    if element.tag in _SETTERS:
        return _SETTERS[element.tag]([*element], size, bold)
    text = element.text or ""
    if element.tag == "mspace":
        return space(size * float(element.get("width", "0em").removesuffix("em")))
    letter = element.tag == "mi" and len(text) == 1
    font = ITALIC if letter else ROMAN
    if text in ("∑", "∏"):
        return words(text, 1.3 * size, SYMBOL).moved(0.0, -0.1 * size)
    return words(text, size, BOLD if bold else font)


def _row(elements: list[ET.Element], size: float, bold: bool) -> Box:
    """Elements side by side, with room around relations, and brackets as high as what they hold."""
    boxes = [_set(element, size, bold) for element in elements]
    signs = [e.text or "" if e.tag == "mo" else "" for e in elements]
    _stretch_brackets(boxes, signs, size)
    spaced = []
    for i, (box, sign) in enumerate(zip(boxes, signs)):
        before = signs[i - 1] if i else "("
        binary = sign in _SPACED and not (before in _SPACED or before in {*"([{,"})
        function = elements[i].tag == "mi" and len(elements[i].text or "") > 1
        if binary or (function and i and not before):
            spaced.append(space(0.2 * size))
        spaced.append(box)
        follows = i + 1 < len(boxes) and signs[i + 1] not in {*"(,)"}
        if binary or sign in {*",;"} or (function and follows):
            spaced.append(space(0.2 * size))
    return beside(spaced)


def _stretch_brackets(boxes: list[Box], signs: list[str], size: float) -> None:
    """Replaces pairs of brackets by higher ones where the boxes between them are high."""
    open_ones: list[int] = []
    for i, sign in enumerate(signs):
        if sign in _OPENING:
            open_ones.append(i)
        elif open_ones and sign == _OPENING[signs[open_ones[-1]]]:
            first = open_ones.pop()
            inner = beside(boxes[first + 1 : i])
            for k in (first, i):
                boxes[k] = _bracket(signs[k], inner, size)


def _bracket(sign: str, inner: Box, size: float) -> Box:
    height = max(inner.ascent, 0.0) + max(inner.descent, 0.0)
    stretch = max(1.0, height / (0.95 * size))
    box = words(sign, size, ROMAN, stretch)
    if stretch == 1.0:
        return box
    # the middle of a bracket, .25 above the base line, goes to the middle of what it holds
    middle = (inner.ascent - inner.descent) / 2
    return box.moved(0.0, middle - _AXIS * size * stretch)


def _fraction(elements: list[ET.Element], size: float, bold: bool) -> Box:
    above, below = (_set(element, 0.85 * size, bold) for element in elements)
    width = max(above.width, below.width) + 0.2 * size
    axis = _AXIS * size
    return _over(
        width + 0.2 * size,
        [
            above.moved(
                0.1 * size + (width - above.width) / 2,
                axis + above.descent + 0.14 * size,
            ),
            rule(width).moved(0.1 * size, axis),
            below.moved(
                0.1 * size + (width - below.width) / 2,
                axis - below.ascent - 0.14 * size,
            ),
        ],
    )


def _over(width: float, boxes: Sequence[Box]) -> Box:
    """Boxes that start at the same place."""
    return Box(
        width,
        max(box.ascent for box in boxes),
        max(box.descent for box in boxes),
        tuple(mark for box in boxes for mark in box.marks),
    )


def _scripts(elements: list[ET.Element], size: float, bold: bool, *kinds: str) -> Box:
    base = _set(elements[0], size, bold)
    placed = [base]
    width = 0.0
    for kind, element in zip(kinds, elements[1:]):
        script = _set(element, _SMALL * size, bold)
        drop = max(0.16 * size, base.descent - 0.05 * size)
        lift = max(0.36 * size, base.ascent - 0.3 * size)
        placed.append(script.moved(base.width, lift if kind == "above" else -drop))
        width = max(width, script.width)
    return _over(base.width + width + 0.04 * size, placed)


def _below(elements: list[ET.Element], size: float, bold: bool) -> Box:
    return _scripts(elements, size, bold, "below")


def _above(elements: list[ET.Element], size: float, bold: bool) -> Box:
    return _scripts(elements, size, bold, "above")


def _both(elements: list[ET.Element], size: float, bold: bool) -> Box:
    return _scripts(elements, size, bold, "below", "above")


def _root(elements: list[ET.Element], size: float, bold: bool) -> Box:
    inner = _row(elements, size, bold)
    height = inner.ascent + inner.descent
    sign = words("√", size, SYMBOL, max(1.0, height / (0.85 * size)))
    top = inner.ascent + 0.12 * size
    # the sign of the font reaches .92 of its size above its base line
    sign = sign.moved(0.0, top - 0.92 * size * sign.marks[0].stretch)
    bar = rule(inner.width + 0.05 * size).moved(sign.width, top - _RULE)
    placed = _over(
        sign.width + inner.width + 0.1 * size, [sign, bar, inner.moved(sign.width, 0.0)]
    )
    return replace(placed, ascent=top + _RULE, descent=inner.descent)


def _accent(elements: list[ET.Element], size: float, bold: bool) -> Box:
    base = _set(elements[0], size, bold)
    if elements[1].text == "¯":
        bar = rule(base.width).moved(0.04 * size, base.ascent - 0.12 * size)
        return _over(base.width, [base, bar])
    mark = words("^", 0.8 * size, ROMAN)
    x = (base.width - mark.width) / 2 + 0.04 * size
    return _over(base.width, [base, mark.moved(x, base.ascent - 0.5 * size)])


def _matrix(elements: list[ET.Element], size: float, bold: bool) -> Box:
    cells = [[_row([*cell], size, bold) for cell in line] for line in elements]
    gap = 0.7 * size
    widths = [max(box.width for box in column) for column in zip(*cells)]
    heights = [max(b.ascent + b.descent for b in line) + 0.3 * size for line in cells]
    top = sum(heights) / 2 + _AXIS * size
    placed = []
    for line, height in zip(cells, heights):
        x = 0.0
        base = top - max(box.ascent for box in line) - 0.15 * size
        for box, width in zip(line, widths):
            placed.append(box.moved(x + (width - box.width) / 2, base))
            x += width + gap
        top -= height
    return _over(sum(widths) + gap * (len(widths) - 1), placed)


_SETTERS: dict[str, Callable[[list[ET.Element], float, bool], Box]] = {
    "math": _row,
    "mrow": _row,
    "mtd": _row,
    "mfrac": _fraction,
    "msub": _below,
    "msup": _above,
    "msubsup": _both,
    "msqrt": _root,
    "mover": _accent,
    "mtable": _matrix,
}
