"""`lyceum study`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from lyceum.apply import read_loss
from lyceum.cli._screen import console, notes, print_json, progress_bar, table
from lyceum.studies import IntervalScale, RankedLearner, Study, aligned_loss, study

__all__ = ["run"]

_AXIS = 24  # cells of the drawn intervals
_WIDE = 90  # from this many columns on, they are drawn


def run(data: str | None, target: str | None, loss: str | None, as_json: bool, **options: Any) -> None:
    costs = None if loss is None else read_loss(loss)
    try:
        with notes(), progress_bar(f"studying {Path(data).name}" if data else "studying"):
            found = study(data, target, loss=costs, **options)
    except KeyboardInterrupt as stop:  # Typer would end without its message
        print(f"lyceum: {stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print_json(found.as_dict())
    else:
        render(found)


def render(found: Study) -> None:
    """Print the ranking, the answer and where everything is."""
    comparison = found.comparison
    console.print(Text(found.question))
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
        yield "the time allowed ended the study early: run it again with more time to continue it"


def _ranking(found: Study) -> Table:
    comparison, scale = found.comparison, IntervalScale.of(found.comparison.learners)
    drawn = console.width >= _WIDE
    heads = ["", "learner", comparison.criterion, "95 % interval", *([""] if drawn else []), "p", "seconds"]
    made = table(*heads)
    for column in made.columns:
        column.justify = "right" if column.header in (comparison.criterion, "p", "seconds") else "left"
    for s in comparison.learners:
        low, high = (aligned_loss(comparison, end) for end in s.interval)
        p = "" if s.p_value_holm is None else f"{s.p_value_holm:.3f}"
        cells = [
            "✔" if s.name == comparison.choice else "",
            Text(s.label),
            aligned_loss(comparison, s.loss),
            f"{low} to {high}",
            *([_drawn(s, scale)] if drawn else []),
            p,
            f"{s.seconds:.1f}",
        ]
        made.add_row(*cells, style="bold" if s.name == comparison.choice else "dim" if s.is_baseline else "")
    return made


def _drawn(learner: RankedLearner, scale: IntervalScale) -> str:
    """The interval as characters: ├──●──┤."""
    if not scale.holds(learner.loss):
        return f"{'→':>{_AXIS}}"
    low, point, high = (
        round(scale.at(value) / 100 * (_AXIS - 1))
        for value in (learner.interval[0], learner.loss, learner.interval[1])
    )
    cells = [" "] * _AXIS
    cells[low : high + 1] = "─" * (high + 1 - low)
    cells[low], cells[high] = "├", "┤"
    cells[point] = "●"
    return "".join(cells)
