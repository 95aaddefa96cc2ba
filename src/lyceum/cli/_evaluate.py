"""`lyceum evaluate`."""

from __future__ import annotations

from pathlib import Path

import lyceum
from lyceum.apply import evaluate_model, read_loss
from lyceum.cli._screen import console, notes, print_json, progress_bar, show_summary
from lyceum.data import FileFormat

__all__ = ["run"]


def run(
    model: str,
    data: str,
    target: str | None,
    loss: str | None,
    doubt: float | None,
    form: FileFormat,
    as_json: bool,
) -> None:
    costs = None if loss is None else read_loss(loss)
    with notes(), progress_bar(f"measuring on {Path(data).name}"):
        found = evaluate_model(lyceum.load(model), data, target, loss=costs, doubt=doubt, form=form)
    if as_json:
        print_json({"model": model, "data": data, **found.as_dict()})
        return
    show_summary(found.summary())
    for note in found.notes:
        console.print(f"\n{note}", style="yellow", markup=False)
