"""The command `lyceum`.

A command parses its arguments, calls one public function and renders the result. Nothing heavy is
imported here, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

import typer

from lyceum import __version__, catalog
from lyceum.cli.commands import (
    ask as _ask,
    bench as _bench,
    exercise as _exercise,
    explore as _explore,
    theatre as _theatre,
)
from lyceum.cli.commands.bayesnet import bayesnet
from lyceum.cli.deferred_imports import defer_imports
from lyceum.cli.ending import note_start, run_and_exit
from lyceum.cli.help import Commands
from lyceum.cli.options import (
    AsJson,
    Committees,
    Data,
    Dates,
    Doubt,
    Force,
    Ignore,
    Kind,
    Loss,
    Model,
    Only,
    Resume,
    Settings,
    TableOut,
    Target,
    Text,
    Truth,
    Weight,
    kinds_of,
    names_of,
    reads_files,
    settings_of,
)

__all__ = ["app", "main"]

app = Commands(
    name="lyceum",
    help="All of classical machine learning on your tables.",
    epilog="Example: lyceum study customers.csv --target churned",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.add_typer(_explore.commands)
app.add_typer(_bench.commands)
app.add_typer(_exercise.commands)
app.add_typer(bayesnet)
app.add_typer(_ask.commands)
app.add_typer(_theatre.commands)


def main() -> NoReturn:
    """Run the command; a fault in the data, a file or the request is a sentence on stderr and exit
    code 2."""
    defer_imports()
    run_and_exit(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lyceum {__version__}")
        raise typer.Exit()


@app.callback()
def _lyceum(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print the version and stop.",
        ),
    ] = False,
    # read by `run_and_exit` from the arguments, as it concerns errors outside the commands too
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", help="Show the Python traceback of an unexpected error."
        ),
    ] = False,
) -> None:
    note_start()


@app.command(
    epilog=(
        "Example: lyceum study credit.csv --target class --loss bad:good=5,good:bad=1 --out"
        " credit-study"
    )
)
@reads_files
def study(
    data: Annotated[
        str | None,
        typer.Argument(
            help=(
                "A file (CSV, Excel, JSON lines, Parquet, Arrow, ARFF, SQLite, DuckDB), a folder,"
                " or a "
                "quoted glob; or see --recipe."
            )
        ),
    ] = None,
    target: Target = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="classification or regression, where the target could be either."
        ),
    ] = None,
    learners: Annotated[
        str | None,
        typer.Option(
            help="Names separated by commas, see `lyceum learners`; chosen for you by default."
        ),
    ] = None,
    # the option of `lyceum fit`, taken here too
    learner: Annotated[str | None, typer.Option(hidden=True)] = None,
    loss: Loss = None,
    doubt: Doubt = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Folds; 10 below 2,000 rows, else 5 (and in haste)."),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="How many times the folds are drawn.")
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            help="The share of rows kept for the final estimate only, e.g. 0.2."
        ),
    ] = None,
    bootstrap_632: Annotated[
        bool | None,
        typer.Option("--632", help="Estimate errors by the .632 bootstrap too."),
    ] = None,
    choose: Annotated[
        str | None,
        typer.Option(help="simplest (of those level with the best) or best."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The seed of the random numbers.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            help="Time limit in minutes: first the defaults of every learner, then a search."
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help=(
                "Rank by cost, error, log loss, auc, balanced error or f1; rmse, mae, r2 or"
                " pinball."
            )
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="A column of groups: all rows of a group are in the same fold."
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="A column of times: train on earlier rows, test on later ones."
        ),
    ] = None,
    settings: Annotated[
        int | None,
        typer.Option(
            help="How many settings of a learner are tried in a fold; default 12."
        ),
    ] = None,
    calibrate: Annotated[
        bool | None,
        typer.Option(
            "--calibrate",
            help="Calibrate posteriors in the folds, where that lowers the loss.",
        ),
    ] = None,
    committees: Committees = None,
    kind: Kind = None,
    ignore: Ignore = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A column to keep although it looks like an identifier or free text; repeat for"
                " more."
            ),
            metavar="<str>",
        ),
    ] = None,
    weight: Weight = None,
    dates: Dates = None,
    text: Text = None,
    recipe: Annotated[
        str | None,
        typer.Option(help="A recipe.toml to run; other options override it."),
    ] = None,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The folder of the study.")
    ] = "study",
    force: Resume = False,
    file_format: Any = None,
    as_json: AsJson = False,
) -> None:
    """Compare learners on a table honestly: a ranking, a report and a model to use."""
    from lyceum.cli.commands.study import run

    run(
        data,
        target,
        loss,
        as_json,
        task=task,
        learners=names_of(learners or learner),
        doubt=doubt,
        folds=folds,
        repeats=repeats,
        holdout=holdout,
        bootstrap_632=bootstrap_632,
        choose=choose,
        seed=seed,
        budget=budget,
        metric=metric,
        group=group,
        time=time,
        n_settings=settings,
        calibrate=calibrate,
        committees=committees,
        kinds=kinds_of(kind) or None,
        ignore=ignore or None,
        keep=keep or None,
        weight=weight,
        recipe=recipe,
        out=out,
        force=force,
        dates=dates,
        text=text,
        file_format=file_format or None,
    )


@app.command(epilog="Example: lyceum inspect customers.csv --target churned")
@reads_files
def inspect(
    file: Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="The column to predict; others are checked for leaks of it.",
        ),
    ] = None,
    kind: Kind = None,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Two columns to look at side by side instead.", metavar="X Y"
        ),
    ] = None,
    file_format: Any = None,
    as_json: AsJson = False,
) -> None:
    """Show what is in a table: kinds and why, ranges, categories, missing cells, and what looks
    wrong."""
    from lyceum.cli.commands.inspect import run, run_pair

    if pair is not None:
        run_pair(file, pair, kinds_of(kind), file_format, as_json)
    else:
        run(file, target, kinds_of(kind), file_format, as_json)


def _learner_names(incomplete: str) -> list[str]:
    return [
        entry.name for entry in catalog.learners() if entry.name.startswith(incomplete)
    ]


@app.command(
    epilog=(
        "Example: lyceum fit train.csv --target class --learner LogisticRegression --set C=0.1 "
        "--out model.lyceum"
    )
)
@reads_files
def fit(
    data: Data,
    learner: Annotated[
        str,
        typer.Option(
            "--learner",
            "-l",
            help="See `lyceum learners`.",
            autocompletion=_learner_names,
        ),
    ],
    target: Target = None,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The model file to write.")
    ] = "model.lyceum",
    setting: Settings = None,
    kind: Kind = None,
    ignore: Ignore = None,
    weight: Weight = None,
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit one learner on a file, with the preparation it needs, and save it as a model file."""
    from lyceum.cli.commands.models import run_fit

    run_fit(
        data,
        target,
        learner,
        settings_of(setting),
        out=out,
        kinds=kinds_of(kind),
        ignore=ignore or (),
        weight=weight,
        file_format=file_format,
        force=force,
        as_json=as_json,
    )


@app.command(
    epilog="Example: lyceum predict model.lyceum new.parquet -o predictions.csv --proba"
)
@reads_files
def predict(
    model: Model,
    data: Data,
    out: TableOut = "-",
    proba: Annotated[
        bool, typer.Option("--proba", help="Write the probability of every class too.")
    ] = False,
    loss: Loss = None,
    doubt: Doubt = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column to copy, instead of all; repeat for more."),
    ] = None,
    only: Only = False,
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet",
            help="Escape cells that a spreadsheet would run (=, +, -, @).",
        ),
    ] = False,
) -> None:
    """Predict every row of a file of any size, in the order of the file.

    A model that only transforms gives its new columns, a density or a detector its scores.
    """
    from lyceum.cli.commands.models import run_predict

    run_predict(
        model,
        data,
        out,
        proba=proba,
        loss=loss,
        doubt=doubt,
        keep=keep or (),
        everything=not (only or keep),
        file_format=file_format,
        force=force,
        as_json=as_json,
        spreadsheet=spreadsheet,
    )


@app.command(
    epilog=(
        "Example: lyceum evaluate model.lyceum test.csv --target class --loss bad:good=5,good:bad=1"
    )
)
@reads_files
def evaluate(
    model: Model,
    data: Data,
    target: Truth = None,
    loss: Loss = None,
    doubt: Doubt = None,
    file_format: Any = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on rows that it has not seen: errors, costs and posteriors, with
    intervals."""
    from lyceum.cli.commands.models import run_evaluate

    run_evaluate(
        model,
        data,
        target,
        loss=loss,
        doubt=doubt,
        file_format=file_format,
        as_json=as_json,
    )


@app.command(epilog="Example: lyceum explain model.lyceum new.csv --row 7")
@reads_files
def explain(
    model: Model,
    data: Data,
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="A row to explain, counted from 0; repeat for more. By default the first three."
        ),
    ] = None,
    file_format: Any = None,
    as_json: AsJson = False,
) -> None:
    """Show why a model predicts what it does: the contribution of every column, largest first."""
    from lyceum.cli.commands.explain import run

    run(model, data, row or (), file_format=file_format, as_json=as_json)


@app.command(epilog="Example: lyceum export model.lyceum model.js")
def export(
    model: Model,
    out: Annotated[
        str,
        typer.Argument(
            help="What to write; the ending says which: .js, .py, .c, .sql, .onnx, .mlflow (a"
            " folder), or .md, a model card, for which MODEL is the folder of a study."
        ),
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a model as a program that needs neither Lyceum nor any other package, or its card."""
    from lyceum.cli.commands.models import run_export

    run_export(model, out, force=force, as_json=as_json)


@app.command(
    epilog="Example: lyceum compare old.lyceum new.lyceum test.csv --target class"
)
@reads_files
def compare(
    first: Model,
    second: Model,
    data: Data,
    target: Truth = None,
    loss: Loss = None,
    doubt: Doubt = None,
    file_format: Any = None,
    as_json: AsJson = False,
) -> None:
    """Compare two models on the same rows: which is better, and how sure that is."""
    from lyceum.cli.commands.models import run_compare

    run_compare(
        first,
        second,
        data,
        target,
        loss=loss,
        doubt=doubt,
        file_format=file_format,
        as_json=as_json,
    )


@app.command(epilog="Example: lyceum serve model.lyceum --port 8000")
def serve(
    models: Annotated[
        list[str],
        typer.Argument(help="Model files; the stem of a file is the model's name."),
    ],
    host: Annotated[
        str,
        typer.Option(
            help="The address; others than loopback need --key-file or --client-ca."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="The port; 0 takes a free one and prints it.")
    ] = 8000,
    workers: Annotated[int, typer.Option(help="Processes that answer.")] = 1,
    key_file: Annotated[
        str | None,
        typer.Option(help="A file with the key that clients have to send."),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option(help="The server's certificate, for HTTPS.")
    ] = None,
    private_key: Annotated[
        str | None, typer.Option(help="The private key of the certificate.")
    ] = None,
    client_ca: Annotated[
        str | None,
        typer.Option(help="Only clients with a certificate of this authority."),
    ] = None,
    allow_put: Annotated[
        bool, typer.Option("--allow-put", help="Let clients replace model files.")
    ] = False,
    access_log: Annotated[
        str | None, typer.Option(help="A file for one line of JSON per request.")
    ] = None,
    prediction_log: Annotated[
        str | None,
        typer.Option(help="A folder for Parquet files of every record and its answer."),
    ] = None,
) -> None:
    """Answer requests with models: predictions, decisions and explanations over HTTP."""
    from lyceum.cli.commands.serve import run

    run(
        models,
        key_file,
        {
            "certificate": certificate,
            "private_key": private_key,
            "client_ca": client_ca,
        },
        host=host,
        port=port,
        n_workers=workers,
        may_put=allow_put,
        access_log=access_log,
        prediction_log=prediction_log,
    )


@app.command(epilog="Example: lyceum doctor")
def doctor(as_json: AsJson = False) -> None:
    """Show how Lyceum runs here: compiled kernels, threads, BLAS, memory, versions."""
    from lyceum.cli.commands.doctor import run

    run(as_json)


@app.command(epilog="Example: lyceum syllabus 6.4")
def syllabus(
    chapters: Annotated[
        list[str] | None,
        typer.Argument(help="Sections or rows to show, e.g. 6 or 6.4; all by default."),
    ] = None,
    missing: Annotated[
        bool,
        typer.Option("--missing", help="Show only rows that do not fully work yet."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show every part of classical machine learning, clause by clause, and where it lives."""
    from lyceum.cli.commands.lists import show_syllabus

    show_syllabus(missing, as_json, chapters)


@app.command(epilog="Example: lyceum learners --task regression")
def learners(
    task: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(catalog.TASKS[:-1])} or {catalog.TASKS[-1]}."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the learners: what they do, what they take, how they scale."""
    from lyceum.cli.commands.lists import show_learners

    show_learners(task, as_json)
