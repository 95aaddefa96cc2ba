"""`lyceum explain`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

import lyceum
from lyceum._core.data import FileFormat
from lyceum._core.text import show, show_cell
from lyceum.cli.screen import console, print_json, table
from lyceum.workflows import RowExplanation, explain_rows

_BAR = 12  # cells of the longest bar on either side
_ROUNDING = 1e-12  # of the largest contribution: a smaller one is none


def run(
    model: str,
    data: str,
    rows: Sequence[int],
    *,
    file_format: FileFormat,
    as_json: bool,
) -> None:
    explanations = explain_rows(
        lyceum.load(model), data, rows or (0, 1, 2), file_format=file_format
    )
    if as_json:
        print_json([explanation.as_dict() for explanation in explanations])
        return
    for i, explanation in enumerate(explanations):
        if i:
            console.print()
        _render(explanation)


def _render(explanation: RowExplanation) -> None:
    console.print(Text(explanation.title, style="bold"), soft_wrap=True)
    made = table("column", "value", explanation.unit, "")
    made.columns[2].justify = "right"
    made.columns[3].no_wrap = True
    made.add_row("(base)", "", show(explanation.base), "")
    parts = explanation.contributions
    most = max((abs(adds) for *_, adds in parts), default=0.0) or 1.0
    telling = [part for part in parts if abs(part[2]) > _ROUNDING * most]
    for name, cell, adds in telling:
        made.add_row(Text(name), Text(show_cell(cell)), show(adds), _bar(adds / most))
    console.print(made)
    if rest := len(parts) - len(telling):
        verb = "column adds" if rest == 1 else "columns add"
        console.print(f"{rest} more {verb} nothing", style="dim")
    detail = explanation.detail
    if detail is not None:
        console.print(Text(detail.title, style="bold"), soft_wrap=True)
        made = table(*detail.columns)
        for row in detail.rows:
            made.add_row(*(Text(show(cell)) for cell in row))
        console.print(made)


def _bar(share: float) -> Text:
    """To the left of the line what speaks against, to the right what speaks for."""
    bar = "█" * round(abs(share) * _BAR)
    left = right = ""
    if share < 0:
        left = bar
    else:
        right = bar
    return Text.assemble(
        (f"{left:>{_BAR}}", "yellow"), "│", (f"{right:<{_BAR}}", "blue")
    )
