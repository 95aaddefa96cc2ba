"""`lyceum study`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from lyceum._core.data import Inspection, inspect
from lyceum._core.packages import EXTRAS
from lyceum.cli.ending import start_time
from lyceum.cli.losses import loss_for
from lyceum.cli.options import option_words
from lyceum.cli.screen import (
    console,
    note_lacking,
    notes,
    print_error,
    print_json,
    print_paragraph,
    progress_bar,
    table,
)
from lyceum.errors import LyceumError
from lyceum.studies import RankedLearner, Study, study

_AXIS = 16  # cells of the drawn intervals
_TARGET_NAMES = (
    "class",
    "target",
    "y",
    "label",
    "outcome",
    "response",
    "survived",
    "churn",
    "default",
)
_NO_TARGET = ("identifier", "constant", "empty", "free_text")
_WIDE = 100  # from this many columns on, intervals are drawn
_WIDEST = (
    120  # and from this many on, there is room for what was tried and how long it took
)


def run(
    data: str | None,
    target: str | None,
    loss: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Study a file, and print the ranking, the answer and where the results are."""
    if data is not None and target is None and options.get("recipe") is None:
        raise LyceumError(_targets(data, options.get("file_format")))
    note_lacking("the report of a study", *EXTRAS["report"])
    text = f"studying {Path(data).name}" if data else "studying"
    bar = progress_bar(text, ("tasks", "conclusions"), options.get("budget"))
    try:
        with notes(), bar:
            result = study(
                data, target, loss=_costs(loss), began=start_time(), **options
            )
    except LyceumError as error:
        raise LyceumError(option_words(str(error))) from error
    except KeyboardInterrupt as stop:  # Typer would end without its message
        print_error(str(stop))
        raise typer.Exit(130) from None
    if as_json:
        print_json(result.as_dict())
    else:
        render(result)


def _costs(text: str | None) -> Any:
    """The losses, if they are a matrix; of pairs, what completes them once the study knows the
    classes."""
    costs = loss_for(text, None)
    if isinstance(costs, dict):
        return partial(loss_for, text)
    return costs


def _targets(data: str, file_format: Any) -> str:
    """The columns of a file, and those that people are likely to predict."""
    options = {} if file_format is None else {"file_format": file_format}
    inspection = inspect(data, **options)
    names = ", ".join(repr(column.name) for column in inspection.columns)
    likely = "; ".join(_likely(inspection))
    hint = ""
    if likely:
        hint = f" Likely: {likely}."
    return (
        f"say which column to predict, --target COLUMN.{hint} The columns are {names}."
    )


def _likely(inspection: Inspection) -> list[str]:
    """The most likely targets: by their name, their place and the number of their values."""
    scores = {}
    for index, column in enumerate(inspection.columns):
        if any(flag.code in _NO_TARGET for flag in column.flags):
            continue
        # a telling name counts most, then the last place, few values, and the first place
        has_few = column.kind != "continuous" and 2 <= (column.n_distinct or 0) <= 20
        is_last = index == len(inspection.columns) - 1
        score = 3.0 * (column.name.lower() in _TARGET_NAMES) + 1.5 * is_last
        score += 1.0 * has_few + 0.5 * (has_few and index == 0)
        scores[column.name] = score
    likely = []
    for name in sorted(scores, key=lambda name: -scores[name])[:3]:
        column = inspection[name]
        values = "numbers"
        if column.kind != "continuous":
            values = ", ".join(str(value) for value, _ in column.top[:3])
            if (column.n_distinct or 0) > 3:
                values += ", ..."
        if scores[name] >= 1.0:
            likely.append(f"--target {shlex.quote(name)} ({values})")
    return likely


def render(study: Study) -> None:
    """Print the ranking, the answer and where everything is."""
    comparison = study.comparison
    print_paragraph(study.question)
    console.print(
        f"[bold]ranking by {comparison.metric}[/] on {comparison.n_rows:,} unseen rows"
    )
    console.print()
    console.print(_ranking(study))
    console.print()
    for text in study.left_out:
        print_paragraph(text, "dim")
    print_paragraph(_ranking_note(study, console.width >= _WIDEST), "dim")
    console.print()
    print_paragraph(study.headline, "bold")
    print_paragraph(study.answer)
    print_paragraph(study.choice_sentence)
    for text in _warnings(study):
        print_paragraph(text, "yellow")
    console.print()
    paths = Table.grid(padding=(0, 2))
    for name, path in (
        ("report", study.report_path),
        ("model", study.model_path),
        ("results", study.results_path),
    ):
        if path.exists():
            paths.add_row(name, Text(str(path), style="bold"))
    console.print(paths)


def _ranking_note(study: Study, is_wide: bool = True) -> str:
    """What the columns of the ranking mean, and which learners were not tuned."""
    test = study.comparison.test
    meaning = "No test can tell learners apart with so few rows"
    if test:
        meaning = (
            "behind by: how much worse than the best, ± the reach of a 95 % interval of the"
            f" difference; ?: a difference that chance could make ({test})"
        )
    if not is_wide:
        return f"{meaning}."
    stars = " (*: only its defaults in some folds; 1*: in all)"
    if all(learner.is_tuned for learner in study.comparison.learners):
        stars = ""
    return f"{meaning}. tried: settings compared in every fold{stars}."


def _settings_tried(learner: RankedLearner) -> str:
    """How many settings were compared in a fold, starred if that was not so in every fold."""
    if learner.is_baseline:
        return ""
    if learner.is_tuned:
        return str(learner.settings_tried)
    return f"{learner.settings_tried}*" if learner.folds_searched else "1*"


def _warnings(study: Study) -> Iterator[str]:
    for failure in study.failures:
        yield f"{failure.label} failed and was not compared: {failure.reason.rstrip('.')}"
    # what the study left out already cannot mislead it
    left_out = {suspect.column for suspect in study.suspects if suspect.left_out}
    for suspect in study.suspects:
        if suspect.code == "leak" and suspect.column not in left_out:
            yield f"column {suspect.column!r} {suspect.text}"
    yield from study.problems
    if not study.finished:
        yield "the time allowed ended the study early: run it again with more time to continue it"


def _ranking(study: Study) -> Table:
    comparison = study.comparison
    axis = comparison.axis
    drawn = console.width >= _WIDE
    numbers = [comparison.metric, "behind by"]
    is_widest = console.width >= _WIDEST
    if is_widest:
        numbers += ["tried", "seconds"]
    heads = ["", "learner", numbers[0], "95 % interval", *numbers[1:]]
    if drawn:
        heads.insert(4, "")
    made = table(*heads, collapse_padding=True)  # long names fit into 80 columns
    made.columns[1].no_wrap = True
    for column in made.columns:
        column.justify = "right" if column.header in numbers else "left"
    for learner in comparison.learners:
        chosen = learner.name == comparison.choice
        calibrated = " (calibrated)" if learner.calibration else ""
        cells = [
            "✔" if chosen else "",
            Text(f"{learner.label}{calibrated}"),
            comparison.loss_text(learner),
            comparison.interval_text(learner),
            comparison.gap_cell(learner),
        ]
        if is_widest:
            cells += [_settings_tried(learner), f"{learner.seconds:.1f}"]
        if drawn:
            cells.insert(4, _interval_drawing(learner, axis))
        style = ""
        if chosen:
            style = "bold"
        elif learner.is_baseline:
            style = "dim"
        made.add_row(*cells, style=style)
    return made


def _interval_drawing(learner: RankedLearner, axis: Any) -> str:
    """The interval as characters: ├──●──┤."""
    # an estimate beyond the axis is an arrow to it
    if not axis.holds(learner.loss):
        return f"{'→':>{_AXIS}}"
    # places on an axis of 0 to 100 that all learners share, in cells
    low, point, high = (
        round(axis.at(value) / 100 * (_AXIS - 1))
        for value in (learner.interval[0], learner.loss, learner.interval[1])
    )
    cells = [" "] * _AXIS
    # the line first, then its ends, then the estimate, which covers them
    cells[low : high + 1] = "─" * (high + 1 - low)
    cells[low] = "├"
    cells[high] = "┤"
    cells[point] = "●"
    return "".join(cells)
