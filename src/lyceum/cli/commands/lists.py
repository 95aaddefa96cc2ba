"""`lyceum syllabus` and `lyceum learners`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lyceum import catalog
from lyceum.cli.screen import console, print_json
from lyceum.errors import LyceumError
from lyceum.syllabus import SECTIONS, Row, rows

_MARKS = {
    "works": ("✔ works", "green"),
    "partly": ("◐ partly", "yellow"),
    "not yet": ("· not yet", "dim"),
}


def show_syllabus(
    missing: bool, as_json: bool, chapters: Sequence[str] | None = None
) -> None:
    shown = [row for row in rows() if not (missing and row.status == "works")]
    if chapters:
        shown = [row for row in shown if _is_in(row.number, chapters)]
        if not shown:
            raise LyceumError(
                f"the syllabus has no {', '.join(chapters)}: give a section from 1 to"
                f" {len(SECTIONS)}, or a row such as 6.4"
            )
    if as_json:
        print_json(
            [
                {**asdict(row), "section": SECTIONS[row.section], "status": row.status}
                for row in shown
            ]
        )
        return
    for number, section in SECTIONS.items():
        inside = [row for row in shown if row.section == number]
        if inside:
            console.print(f"\n[bold]{number} {section}[/]")
        for row in inside:
            _print_row(row)
    states = [row.status for row in rows()]
    n_clauses = sum(len(row.clauses) for row in rows())
    tally = f"{states.count('works')} work, {states.count('partly')} in part"
    console.print(f"\n{len(states)} rows of {n_clauses} clauses: {tally}.")


def _is_in(number: str, chapters: Sequence[str]) -> bool:
    """Whether a row is one of those asked for, or of their sections."""
    return number in chapters or number.partition(".")[0] in chapters


def _print_row(row: Row) -> None:
    """A row, its clauses, and behind each the names that do it."""
    mark, style = _MARKS[row.status]
    status = (f"{mark:<11}", style)
    console.print(Text.assemble(f"{row.number:>5} ", status, row.title))
    clauses = Table.grid(padding=(0, 1))
    clauses.add_column(width=10, justify="right", style="dim")
    clauses.add_column()
    for clause in row.clauses:
        clauses.add_row(clause.number, clause.text)
        clauses.add_row("", Text(", ".join(clause.where), "cyan"))
    if row.lacks:
        clauses.add_row("", Text(f"still without {row.lacks}", "yellow"))
    console.print(clauses)


def show_learners(task: str | None, as_json: bool) -> None:
    entries = catalog.learners(task)  # type: ignore[arg-type]
    if as_json:
        print_json([entry.as_dict() for entry in entries])
        return
    for name in dict.fromkeys(entry.task for entry in entries):
        console.print(f"\n[bold]{name}[/]")
        console.print(
            _learner_table([entry for entry in entries if entry.task == name])
        )


def _learner_table(entries: list[catalog.Entry]) -> Table:
    """One learner per row; on narrow screens its sentence is below its name."""
    if console.width < 110:
        listed = Table.grid(expand=True)
        listed.add_column(ratio=1)
        for entry in entries:
            listed.add_row(_name(entry).append(f"  {_facts(entry)}", "cyan"))
            listed.add_row(Padding(Text(entry.about), (0, 0, 0, 4)))
        return listed
    listed = Table.grid(padding=(0, 2), expand=True)
    names = [_name(entry) for entry in entries]
    listed.add_column(width=max(27, *map(len, names)))
    listed.add_column(width=25)
    listed.add_column(ratio=1)
    for entry, name in zip(entries, names):
        about = Text(entry.about).append(f" {entry.cost}.", "dim")
        listed.add_row(name, _facts(entry), about)
    return listed


def _name(entry: catalog.Entry) -> Text:
    return Text.assemble(
        (f"{entry.package.removeprefix('lyceum.')}.", "dim"), (entry.name, "bold")
    )


def _facts(entry: catalog.Entry) -> str:
    return f"{entry.scales}, {'takes' if entry.missing else 'refuses'} missing cells"
