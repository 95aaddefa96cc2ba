"""`lyceum label`."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.text import Text

from lyceum import catalog
from lyceum.apply import label_file, show_cell
from lyceum.cli._options import refuse_to_replace
from lyceum.cli._screen import console, notes, table
from lyceum.data import FileFormat

__all__ = ["run"]


def run(
    data: str,
    target: str,
    out: str,
    strategy: str,
    queries: int,
    learner: str | None,
    seed: int,
    form: FileFormat,
    force: bool,
) -> None:
    refuse_to_replace(out, force)
    made = None if learner is None else catalog.find(learner).load()()
    console.print("Type a label and Enter; Enter alone stops. Every answer is saved at once.", style="dim")
    with notes():
        found = label_file(
            data, target, out, _ask, strategy=strategy, n_queries=queries, learner=made, seed=seed, form=form
        )
    classes = ", ".join(found.classes) or "none"
    console.print(
        f"{found.asked} answers; {found.labelled:,} of {found.rows:,} rows have a label ({escape(classes)}): "
        f"{escape(str(found.out))}"
    )


def _ask(row: int, cells: dict[str, Any], posteriors: dict[str, float]) -> str | None:
    shown = table("column", "value")
    for name, cell in cells.items():
        shown.add_row(Text(name), Text("" if cell is None else show_cell(cell)))
    console.print(Text(f"Row {row}", style="bold"))
    console.print(shown)
    if posteriors:
        best = sorted(posteriors.items(), key=lambda pair: -pair[1])[:5]
        guess = ", ".join(f"{escape(label)} {share:.0%}" for label, share in best)
        console.print(f"guess: {guess}", style="dim")
    try:
        answer = input("label: ").strip()
    except EOFError:
        return None
    return answer or None
