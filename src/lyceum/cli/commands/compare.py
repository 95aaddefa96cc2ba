"""`lyceum compare`."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

import lyceum
from lyceum._core.data import FileFormat
from lyceum.cli.options import loss_for
from lyceum.cli.screen import console, notes, print_json, progress_bar, show_table
from lyceum.workflows import FittedModel, compare_models


def run(
    first: str,
    second: str,
    data: str,
    target: str | None,
    loss: str | None,
    doubt: float | None,
    file_format: FileFormat,
    as_json: bool,
) -> None:
    models = lyceum.load(first), lyceum.load(second)
    costs = loss_for(loss, FittedModel(models[0]).classes)
    with notes(), progress_bar(f"comparing on {Path(data).name}"):
        comparison = compare_models(
            *models,
            data,
            target,
            loss=costs,
            doubt=doubt,
            names=_names(first, second),
            file_format=file_format,
        )
    if as_json:
        print_json({**comparison.as_dict(), "models": [first, second], "data": data})
        return
    summary = comparison.summary()
    console.print(Text(summary.title, style="bold"))
    console.print()
    for each in summary.tables:
        show_table(each)


def _names(first: str, second: str) -> tuple[str, str]:
    """What tells the two files apart."""
    short = Path(first).stem, Path(second).stem
    if short[0] != short[1]:
        return short
    return (first, second)
