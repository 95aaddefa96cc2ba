"""Exercises as a page that needs no network: mathematics is MathML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.markdown import mistake_value, question_text
from lyceum.exercises.formats.mathml import as_mathml
from lyceum.exercises.sheet import Block, CellTable, Formula, Text

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto;
       padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid color-mix(in srgb, currentColor 25%,
         transparent); text-align: left; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
div.scroll { overflow-x: auto; }
math[display] { margin: .6rem 0; padding: .2rem 0; overflow-x: auto; overflow-y: hidden; }
@media print { section.solution { break-before: page; } }
"""
_PIECES = re.compile(r"\$([^$]+)\$|`([^`]+)`|\*\*([^*]+)\*\*")


def as_html(exercise: Exercise, solution: bool) -> str:
    """A page; with the solution and the answers below the questions if asked for."""
    title = escape(exercise.title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n"
        f"<body><main>\n{fragment(exercise, solution)}\n</main></body>\n</html>\n"
    )


def fragment(exercise: Exercise, solution: bool) -> str:
    """What stands between the body's tags, for pages with several exercises."""
    parts = [f"<h1>{escape(exercise.title)}</h1>", blocks_as_html(exercise.given)]
    items = [f"<li>{inline(question_text(q))}</li>" for q in exercise.questions]
    parts.append(f'<ol type="a">{"".join(items)}</ol>')
    if solution:
        answers = [f"<li>{inline(q.shown)}</li>" for q in exercise.questions]
        parts += [
            '<section class="solution"><h2>Solution</h2>',
            blocks_as_html(exercise.solution),
            f'<h2>Answers</h2><ol type="a">{"".join(answers)}</ol>',
            _mistakes(exercise),
            "</section>",
        ]
    return "\n".join(parts)


def _mistakes(exercise: Exercise) -> str:
    items = [
        f"<li>({q.key}) {mistake_value(q, mistake.value)}: {inline(mistake.words)}</li>"
        for q in exercise.questions
        for mistake in q.mistakes
    ]
    if not items:
        return ""
    return f"<h2>Wrong answers and what they show</h2><ul>{''.join(items)}</ul>"


def blocks_as_html(blocks: Iterable[Block]) -> str:
    """Paragraphs, formulas and tables."""
    return "\n".join(map(_block, blocks))


def _block(block: Block) -> str:
    match block:
        case Text(words):
            return f"<p>{inline(words)}</p>"
        case Formula(tex):
            return as_mathml(tex, display=True)
        case CellTable(columns, rows):
            kinds = [
                ' class="number"' if block.is_numeric(index) else ""
                for index in range(len(columns))
            ]
            head = "".join(
                f'<th scope="col"{kind}>{inline(name)}</th>'
                for kind, name in zip(kinds, columns)
            )
            body = "".join(
                f"<tr>{''.join(f'<td{k}>{inline(c)}</td>' for k, c in zip(kinds, row))}</tr>"
                for row in rows
            )
            return (
                f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
                f"<tbody>{body}</tbody></table></div>"
            )


def inline(words: str) -> str:
    """A text with its mathematics, code and bold words."""
    pieces = []
    end = 0
    for match in _PIECES.finditer(words):
        pieces.append(escape(words[end : match.start()], quote=False))
        math, code, bold = match.groups()
        if math is not None:
            pieces.append(as_mathml(math))
        elif code is not None:
            pieces.append(f"<code>{escape(code)}</code>")
        else:
            pieces.append(f"<strong>{escape(bold)}</strong>")
        end = match.end()
    pieces.append(escape(words[end:], quote=False))
    return "".join(pieces)
