"""The commands that write and use model files: `lyceum fit`, `predict`, `evaluate`, `export` and
`compare`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

import lyceum
from lyceum._core.data import FileFormat
from lyceum._core.text import show_count
from lyceum.cli.losses import loss_for
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import (
    console,
    notes,
    print_error,
    print_json,
    print_line,
    print_paragraph,
    progress_bar,
    show_summary,
    show_table,
)
from lyceum.errors import LyceumError
from lyceum.workflows import (
    FittedModel,
    Predicted,
    compare_models,
    evaluate_model,
    fit_file,
    predict_file,
)


def run_fit(
    data: str,
    target: str | None,
    learner: str,
    settings: Mapping[str, Any],
    *,
    out: str,
    kinds: Mapping[str, str],
    ignore: Collection[str],
    weight: str | None,
    file_format: FileFormat,
    force: bool,
    as_json: bool,
) -> None:
    refuse_to_replace(out, force)
    with notes(), progress_bar(f"fitting on {Path(data).name}"):
        model = fit_file(
            data,
            target,
            learner,
            settings,
            weight=weight,
            kinds=kinds,
            ignore=ignore,
            file_format=file_format,
        )
    path = lyceum.save(model, out, force=force)
    fitted = FittedModel(model)
    learned = fitted.steps[-1].summary()
    names = [type(step).__name__ for step in fitted.steps]
    if as_json:
        facts = {"model": str(path), "bytes": path.stat().st_size, "steps": names}
        print_json({**facts, **learned.as_dict()})
        return
    show_summary(learned)
    print_line(f"\n{' → '.join(names)}, fitted and kept in ", (str(path), "bold"))
    answers = f"{fitted.gives.replace(' ', '_')}.csv"
    command = f"lyceum predict {shlex.quote(str(path))} NEW_DATA -o {answers}"
    print_line(f"next: {command}", style="dim")


def run_predict(
    model: str,
    data: str,
    out: str,
    *,
    proba: bool,
    loss: str | None,
    doubt: float | None,
    keep: Sequence[str],
    everything: bool,
    file_format: FileFormat,
    force: bool,
    as_json: bool,
    spreadsheet: bool,
) -> None:
    # CSV on standard output leaves no room for anything else there
    to_screen = out == "-"
    if to_screen and as_json:
        raise LyceumError(
            "--json describes what was written to a file: give -o predictions.csv"
        )
    if not to_screen:
        refuse_to_replace(out, force)
    # read before the data: a wrong model file is refused at once
    fitted = FittedModel(lyceum.load(model))
    costs = loss_for(loss, fitted.classes)
    with notes(), progress_bar(f"predicting {Path(data).name}"):
        done = predict_file(
            fitted.given,
            data,
            sys.stdout.buffer if to_screen else out,
            proba=proba,
            loss=costs,
            doubt=doubt,
            keep=keep,
            everything=everything,
            force=force,
            file_format=file_format,
            spreadsheet=spreadsheet,
        )
    if to_screen:
        sys.stdout.buffer.flush()
        for note in done.notes:
            print_error(f"note: {note}")
    elif as_json:
        print_json(done.as_dict())
    else:
        _show_predicted(done, fitted.gives)


def _show_predicted(done: Predicted, gives: str) -> None:
    """How many rows were predicted, how often each answer was given, and what is odd."""
    verb = "predicted" if gives == "predictions" else f"with {gives}"
    rows = show_count(done.n_rows, "row")
    print_line(f"{rows} {verb}: ", (str(done.path), "bold"))
    shares = (
        f"{label} {n:,} ({n / done.n_rows:.1%})" for label, n in done.answers.items()
    )
    print_line(", ".join(shares))
    for note in done.notes:
        print_paragraph(note, "yellow")


def run_evaluate(
    model: str,
    data: str,
    target: str | None,
    *,
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


def run_compare(
    first: str,
    second: str,
    data: str,
    target: str | None,
    *,
    loss: str | None,
    doubt: float | None,
    file_format: FileFormat,
    as_json: bool,
) -> None:
    models = lyceum.load(first), lyceum.load(second)
    costs = loss_for(loss, FittedModel(models[0]).classes)
    # the names of the files without their folders, where these tell them apart
    names = (Path(first).stem, Path(second).stem)
    if names[0] == names[1]:
        names = (first, second)
    with notes(), progress_bar(f"comparing on {Path(data).name}"):
        comparison = compare_models(
            *models,
            data,
            target,
            loss=costs,
            doubt=doubt,
            names=names,
            file_format=file_format,
        )
    if as_json:
        print_json({**comparison.as_dict(), "models": [first, second], "data": data})
        return
    summary = comparison.summary()
    console.print(Text(summary.title, style="bold"))
    console.print()
    for table in summary.tables:
        show_table(table)


def _say_written(what: str, paths: list[Path], as_json: bool) -> None:
    names = [str(path) for path in paths]
    if as_json:
        print_json({"paths": names})
        return
    print_line(f"{what} written: ", (" and ".join(names), "bold"))


def run_export(model: str, out: str, *, force: bool, as_json: bool) -> None:
    from lyceum.export import export_model, write_mlflow

    ending = Path(out).suffix
    if ending == ".mlflow":
        paths = write_mlflow(lyceum.load(model), out)
        _say_written("folder of mlflow", paths, as_json)
        return
    refuse_to_replace(out, force)
    if ending == ".md":
        from lyceum.studies import Study, write_card

        _say_written("model card", [write_card(Study.open(model), out, force)], as_json)
        return
    done = export_model(lyceum.load(model), out, force=force)
    if as_json:
        print_json(done.as_dict())
        return
    names = " and ".join(str(path) for path in done.paths)
    print_line(
        f"{done.program.name} of {done.program.target} written: ", (names, "bold")
    )
    print_line(
        f"{done.n_records:,} drawn records have the same answers, to {done.difference:.1g}"
    )
