"""`lyceum label`."""

from __future__ import annotations

import shlex
from typing import Any

from rich.markup import escape
from rich.text import Text

from lyceum import catalog
from lyceum._core.data import FileFormat
from lyceum._core.text import show_cell
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import console, notes, print_line, table
from lyceum.workflows import label_file


def run(
    data: str,
    target: str,
    out: str,
    *,
    strategy: str,
    queries: int,
    learner: str | None,
    seed: int,
    file_format: FileFormat,
    force: bool,
) -> None:
    refuse_to_replace(out, force)
    made = None if learner is None else catalog.find(learner).build()
    # printed before the file is read, which may take a while
    hint = "Type a label and Enter; Enter alone or Ctrl-C stops. Every answer is saved at once."
    console.print(hint, style="dim")
    with notes():
        result = label_file(
            data,
            target,
            out,
            _ask,
            strategy=strategy,
            n_queries=queries,
            learner=made,
            seed=seed,
            file_format=file_format,
        )
    classes = ", ".join(result.classes) or "none"
    answers = "1 answer" if result.asked == 1 else f"{result.asked} answers"
    console.print(
        f"{answers}; {result.labeled:,} of {result.rows:,} rows have a label ({escape(classes)}): "
        f"{escape(str(result.out))}"
    )
    if result.labeled < result.rows:
        file = shlex.quote(str(result.out))
        options = f"--target {shlex.quote(target)} --out {file} --force"
        print_line(f"To go on: lyceum label {file} {options}", style="dim")


def _ask(row: int, cells: dict[str, Any], posteriors: dict[str, float]) -> str | None:
    shown = table("column", "value")
    for name, cell in cells.items():
        shown.add_row(Text(name), Text(_cell_text(cell)))
    console.print(Text(f"Row {row}", style="bold"))
    console.print(shown)
    if posteriors:
        # the most probable classes first
        best = sorted(posteriors.items(), key=lambda pair: -pair[1])[:5]
        guess = ", ".join(f"{escape(label)} {share:.0%}" for label, share in best)
        console.print(f"guess: {guess}", style="dim")
    answer = _read_line("label: ")
    # a new class, or a slip of the fingers
    while answer and posteriors and answer not in posteriors:
        console.print(
            f"{escape(answer)} is no class so far: type it again to add it, or another label"
        )
        again = _read_line("label: ")
        if again == answer:
            break
        answer = again
    return answer or None


def _read_line(prompt: str) -> str:
    """A line without blanks at its ends; empty where there are no more."""
    try:
        return input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        console.print()
        return ""


def _cell_text(cell: Any) -> str:
    """A cell; whole numbers without marks of thousands, as they may be years or codes."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        cell = int(cell)
    return str(int(cell)) if isinstance(cell, int) else show_cell(cell)
