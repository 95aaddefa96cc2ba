"""`lyceum evaluate`."""

from __future__ import annotations

from pathlib import Path

import lyceum
from lyceum._core.data import FileFormat
from lyceum.cli.options import loss_for
from lyceum.cli.screen import console, notes, print_json, progress_bar, show_summary
from lyceum.workflows import FittedModel, evaluate_model


def run(
    model: str,
    data: str,
    target: str | None,
    loss: str | None,
    doubt: float | None,
    file_format: FileFormat,
    as_json: bool,
) -> None:
    fitted = lyceum.load(model)
    costs = loss_for(loss, FittedModel(fitted).classes)
    with notes(), progress_bar(f"measuring on {Path(data).name}"):
        evaluation = evaluate_model(
            fitted, data, target, loss=costs, doubt=doubt, file_format=file_format
        )
    if as_json:
        print_json({"model": model, "data": data, **evaluation.as_dict()})
        return
    show_summary(evaluation.summary())
    for note in evaluation.notes:
        console.print(f"\n{note}", style="yellow", markup=False)
