"""`lyceum explain`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

import lyceum
from lyceum._core.data import FileFormat
from lyceum._core.text import show, show_cell
from lyceum.cli.screen import console, print_json, table
from lyceum.report import Table
from lyceum.workflows import RowExplanation, explain_rows

_BAR = 12  # cells of the longest bar on either side


def run(
    model: str, data: str, rows: Sequence[int], file_format: FileFormat, as_json: bool
) -> None:
    explanations = explain_rows(
        lyceum.load(model), data, rows or (0, 1, 2), file_format=file_format
    )
    if as_json:
        print_json([one.as_dict() for one in explanations])
        return
    for i, one in enumerate(explanations):
        if i:
            console.print()
        _render(one)


def _render(one: RowExplanation) -> None:
    console.print(Text(one.title, style="bold"), soft_wrap=True)
    made = table("column", "value", one.unit, "")
    made.columns[2].justify = "right"
    made.columns[3].no_wrap = True
    most = max((abs(adds) for *_, adds in one.contributions), default=0.0) or 1.0
    made.add_row("(base)", "", show(one.base), "")
    telling = [part for part in one.contributions if part[2] != 0]
    for name, cell, adds in telling:
        made.add_row(Text(name), Text(show_cell(cell)), show(adds), _bar(adds / most))
    console.print(made)
    if rest := len(one.contributions) - len(telling):
        console.print(
            f"{rest} more {'column adds' if rest == 1 else 'columns add'} nothing",
            style="dim",
        )
    if one.detail is not None:
        _render_detail(one.detail)


def _render_detail(detail: Table) -> None:
    console.print(Text(detail.title, style="bold"), soft_wrap=True)
    made = table(*detail.columns)
    for row in detail.rows:
        made.add_row(*(Text(show(cell)) for cell in row))
    console.print(made)


def _bar(share: float) -> Text:
    """To the left of the line what speaks against, to the right what speaks for."""
    size = round(abs(share) * _BAR)
    if share < 0:
        against = "█" * size
        speaks_for = ""
    else:
        against = ""
        speaks_for = "█" * size
    return Text.assemble(
        (f"{against:>{_BAR}}", "yellow"), "│", (f"{speaks_for:<{_BAR}}", "blue")
    )
