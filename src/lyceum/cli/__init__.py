"""The command `lyceum`.

A command parses its arguments, calls one public function and renders what it says. Nothing heavy is imported
here, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from lyceum import __version__
from lyceum.errors import LyceumError

__all__ = ["app", "main"]

app = typer.Typer(
    name="lyceum",
    help="All of classical machine learning on your tables.",
    epilog="Example: lyceum inspect customers.csv --target churned",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def main() -> NoReturn:
    """Run the command; a fault in the data, a file or the request is a sentence on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(prog_name="lyceum")
    except LyceumError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)


def _fail(message: str) -> NoReturn:
    print(f"lyceum: {message}", file=sys.stderr)
    sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lyceum {__version__}")
        raise typer.Exit()


@app.callback()
def _lyceum(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: lyceum inspect customers.csv --target churned")
def inspect(
    file: Annotated[
        str, typer.Argument(help="A CSV, Parquet, Arrow or ARFF file, a folder, or a quoted glob.")
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict: leaks of it are looked for.")
    ] = None,
    delimiter: Annotated[
        str, typer.Option(help="What separates the cells of a CSV file; guessed if empty.")
    ] = "",
    encoding: Annotated[str, typer.Option(help="The text encoding of a CSV file.")] = "utf8",
    as_json: AsJson = False,
) -> None:
    """Show what is in a table: kinds and why, ranges, categories, gaps, and what looks wrong."""
    from lyceum.cli._inspect import run

    run(file, target, delimiter, encoding, as_json)


@app.command(epilog="Example: lyceum doctor")
def doctor(as_json: AsJson = False) -> None:
    """Show how Lyceum runs here: compiled kernels, threads, BLAS, memory, versions."""
    from lyceum.cli._doctor import run

    run(as_json)


@app.command(epilog="Example: lyceum syllabus --missing")
def syllabus(
    missing: Annotated[
        bool, typer.Option("--missing", help="Only the rows that do not fully work yet.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show every part of classical machine learning: what works, and under which name."""
    from lyceum.cli._lists import show_syllabus

    show_syllabus(missing, as_json)


@app.command(epilog="Example: lyceum learners --task regression")
def learners(
    task: Annotated[
        str | None,
        typer.Option(help="classification, regression, clustering, reduction or preparation."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the learners: what they do, what they take, how they scale."""
    from lyceum.cli._lists import show_learners

    show_learners(task, as_json)
