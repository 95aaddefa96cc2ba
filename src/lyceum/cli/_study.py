"""`lyceum study`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lyceum.apply import read_loss
from lyceum.cli._screen import console, notes, print_json, table
from lyceum.studies._report import Scale, aligned
from lyceum.studies._results import Standing, Study
from lyceum.studies._study import study

__all__ = ["run"]

_AXIS = 24  # cells of the drawn intervals
_WIDE = 90  # from this many columns on, they are drawn


def run(data: str | None, target: str | None, loss: str | None, as_json: bool, **asked: Any) -> None:
    costs = None if loss is None else read_loss(loss)
    try:
        with notes(), working() as progress:
            found = study(data, target, loss=costs, progress=progress, **asked)
    except KeyboardInterrupt as stop:  # Typer would end without its message
        print(f"lyceum: {stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print_json(found.results)
    else:
        render(found)


@contextmanager
def working() -> Iterator[Any]:
    """A bar on stderr, gone afterwards; the callback takes (steps done, steps in all, what is done now)."""
    stderr = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)


def render(found: Study) -> None:
    """Print the ranking, the answer and where everything is."""
    comparison = found.comparison
    console.print(f"[bold]ranking by {comparison.criterion}[/] on {comparison.n_rows:,} unseen rows")
    console.print()
    console.print(_ranking(found))
    console.print()
    console.print(Text(found.answer))
    reason = comparison.choice_reason.rstrip(".")
    console.print(Text(f"{found.choice.label[:1].upper()}{found.choice.label[1:]} was chosen: {reason}."))
    for text in _warnings(found):
        console.print(Text(text, style="yellow"))
    console.print()
    places = Table.grid(padding=(0, 2))
    for name, path in (
        ("report", found.report_path),
        ("model", found.model_path),
        ("results", found.results_path),
    ):
        places.add_row(name, Text(str(path), style="bold"))
    console.print(places)


def _warnings(found: Study) -> Iterator[str]:
    for failure in found.failures:
        yield f"{failure.label} failed and was not compared: {failure.reason}"
    for suspect in found.suspects:
        if suspect.code == "leak":
            yield f"column {suspect.column!r} {suspect.text}"
    yield from found.problems
    if not found.finished:
        yield "the time allowed ended the study early: run it again with more and it goes on from there"


def _ranking(found: Study) -> Table:
    comparison, scale = found.comparison, Scale.of(found.comparison.standings)
    drawn = console.width >= _WIDE
    heads = ["", "learner", comparison.criterion, "95 % interval", *([""] if drawn else []), "p", "seconds"]
    made = table(*heads)
    for column in made.columns:
        column.justify = "right" if column.header in (comparison.criterion, "p", "seconds") else "left"
    for s in comparison.standings:
        low, high = (aligned(comparison, end) for end in s.interval)
        p = "" if s.p_corrected_t_holm is None else f"{s.p_corrected_t_holm:.3f}"
        cells = [
            "✔" if s.name == comparison.choice else "",
            Text(s.label),
            aligned(comparison, s.loss),
            f"{low} to {high}",
            *([_drawn(s, scale)] if drawn else []),
            p,
            f"{s.seconds:.1f}",
        ]
        made.add_row(*cells, style="bold" if s.name == comparison.choice else "dim" if s.is_baseline else "")
    return made


def _drawn(standing: Standing, scale: Scale) -> str:
    """The interval as characters: ├──●──┤."""
    if not scale.holds(standing.loss):
        return f"{'→':>{_AXIS}}"
    low, point, high = (
        round(scale.at(value) / 100 * (_AXIS - 1))
        for value in (standing.interval[0], standing.loss, standing.interval[1])
    )
    cells = [" "] * _AXIS
    cells[low : high + 1] = "─" * (high + 1 - low)
    cells[low], cells[high] = "├", "┤"
    cells[point] = "●"
    return "".join(cells)
