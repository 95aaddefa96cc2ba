"""`lyceum predict`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import lyceum
from lyceum._core.data import FileFormat
from lyceum._core.text import show_count
from lyceum.cli.options import loss_for, refuse_to_replace
from lyceum.cli.screen import notes, print_json, print_line, progress_bar
from lyceum.errors import LyceumError
from lyceum.workflows import FittedModel, predict_file


def run(
    model: str,
    data: str,
    out: str,
    proba: bool,
    loss: str | None,
    doubt: float | None,
    keep: Sequence[str],
    file_format: FileFormat,
    force: bool,
    as_json: bool,
    spreadsheet: bool,
) -> None:
    to_screen = out == "-"
    if to_screen and as_json:
        raise LyceumError(
            "--json describes what was written to a file: give -o predictions.csv"
        )
    if not to_screen:
        refuse_to_replace(out, force)
    fitted = lyceum.load(model)
    costs = loss_for(loss, FittedModel(fitted).classes)
    with notes(), progress_bar(f"predicting {Path(data).name}"):
        done = predict_file(
            fitted, data, sys.stdout.buffer if to_screen else out,
            proba=proba, loss=costs, doubt=doubt, keep=keep,
            force=force, file_format=file_format, spreadsheet=spreadsheet,
        )  # fmt: skip
    if to_screen:
        sys.stdout.buffer.flush()
    elif as_json:
        print_json(done.as_dict())
    else:
        shares = [
            f"{label} {n:,} ({n / done.n_rows:.1%})"
            for label, n in done.answers.items()
        ]
        gives = FittedModel(fitted).gives
        if gives == "predictions":
            verb = "predicted"
        else:
            verb = f"with {gives}"
        print_line(
            f"{show_count(done.n_rows, 'row')} {verb}: ", (str(done.path), "bold")
        )
        print_line(", ".join(shares))
