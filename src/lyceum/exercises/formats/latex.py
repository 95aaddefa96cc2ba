"""Exercises as a LaTeX document."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.markdown import mistake_value, question_text
from lyceum.exercises.sheet import Block, CellTable, Formula, Text

_HEAD = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb}
\usepackage[margin=2.5cm]{geometry}
\usepackage{enumitem}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\begin{document}
"""
# what has a meaning in LaTeX, and letters that its plain fonts lack
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\to$",
    "←": r"$\leftarrow$",
    "⊥̸": r"$\not\perp$",
    "⊥": r"$\perp$",
    "−": r"$-$",
    "·": r"$\cdot$",
}
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))
_LONG = 50  # characters of a cell that is broken into lines
_PIECES = re.compile(r"\$([^$]+)\$|`([^`]+)`|\*\*([^*]+)\*\*")


def as_latex(exercise: Exercise, solution: bool) -> str:
    """A document; with the solution on a page of its own if asked for."""
    parts = [_HEAD, f"\\section*{{{inline(exercise.title)}}}", _blocks(exercise.given)]
    parts.append(_list(question_text(q) for q in exercise.questions))
    if solution:
        parts += ["\\newpage", "\\section*{Solution}", _blocks(exercise.solution)]
        parts += ["\\section*{Answers}", _list(q.shown for q in exercise.questions)]
        wrong = [
            f"({q.key}) {mistake_value(q, mistake.value)}: {mistake.words}"
            for q in exercise.questions
            for mistake in q.mistakes
        ]
        if wrong:
            items = "\n".join(f"\\item {inline(line)}" for line in wrong)
            parts += [
                "\\section*{Wrong answers and what they show}",
                f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}",
            ]
    return "\n\n".join([*parts, "\\end{document}\n"])


def _list(texts: Iterable[str]) -> str:
    items = "\n".join(f"\\item {inline(text)}" for text in texts)
    return f"\\begin{{enumerate}}[label=(\\alph*)]\n{items}\n\\end{{enumerate}}"


def _blocks(blocks: Iterable[Block]) -> str:
    return "\n\n".join(map(_block, blocks))


def _block(block: Block) -> str:
    match block:
        case Text(words):
            return inline(words)
        case Formula(tex):
            return f"\\[{tex}\\]"
        case CellTable(columns, rows):
            sides = "".join(_side(block, i) for i in range(len(columns)))
            lines = [" & ".join(map(inline, row)) + r" \\" for row in (columns, *rows)]
            body = "\n".join([lines[0], "\\hline", *lines[1:]])
            return (
                f"\\begin{{center}}\n\\renewcommand{{\\arraystretch}}{{1.3}}\n"
                f"\\begin{{tabular}}{{{sides}}}\n{body}\n\\end{{tabular}}\n\\end{{center}}"
            )


def _side(table: CellTable, column: int) -> str:
    """How a column is set: numbers to the right, long texts in lines of half a page."""
    if table.is_numeric(column):
        return "r"
    longest = max((len(row[column]) for row in table.rows), default=0)
    return r"p{0.5\linewidth}" if longest > _LONG else "l"


def inline(words: str) -> str:
    """A text with its mathematics, code and bold words."""
    pieces = []
    end = 0
    for match in _PIECES.finditer(words):
        pieces.append(_escape(words[end : match.start()]))
        math, code, bold = match.groups()
        if math is not None:
            pieces.append(f"${math}$")
        elif code is not None:
            pieces.append(f"\\texttt{{{_escape(code)}}}")
        else:
            pieces.append(f"\\textbf{{{_escape(bold)}}}")
        end = match.end()
    pieces.append(_escape(words[end:]))
    return "".join(pieces)


def _escape(words: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES[match.group()], words)
