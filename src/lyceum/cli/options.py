"""The options that several commands share, and how their texts are read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from lyceum._core.toml import parse_toml
from lyceum.errors import DataError, LyceumError, SettingError

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Data = Annotated[
    str,
    typer.Argument(
        help=(
            "A file (CSV, Excel, JSON lines, Parquet, Arrow, ARFF, SQLite, DuckDB), a folder, a"
            " quoted glob, or - for CSV from stdin."
        )
    ),
]
Model = Annotated[
    str,
    typer.Argument(help="A model file, as `lyceum fit` and `lyceum study` write it."),
]
Truth = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="The column of true values; by default the target of the fit.",
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        help=(
            "What mistakes cost: a CSV or TOML file (rows true class, columns action), or "
            "true:action=cost, e.g. bad:good=5,good:bad=1; pairs that are not given cost 1."
        )
    ),
]
Doubt = Annotated[
    float | None,
    typer.Option(help="The cost of rejecting a row instead of classifying it."),
]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        help="The kind of a column: column=continuous, categorical or binary; repeat for more.",
        metavar="<str>",
    ),
]
Seed = Annotated[int, typer.Option(help="The seed of the random numbers.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="parameter=value of the learner; repeat for more."),
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="The column to predict.")
]
Weight = Annotated[str | None, typer.Option(help="A column of row weights.")]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="A column to leave out; repeat for more.", metavar="<str>"),
]
# two panels of the help, and the options that `reads_files` gives to a command
_READING = "File format (detected by default)"
_Separator = Annotated[
    str,
    typer.Option(
        help="What separates the cells: one character, or tab.",
        rich_help_panel=_READING,
    ),
]
_Encoding = Annotated[
    str,
    typer.Option(
        help="The encoding of text, e.g. latin-1, utf-16.", rich_help_panel=_READING
    ),
]
_Decimal = Annotated[
    str, typer.Option(help="The decimal mark: . or ,", rich_help_panel=_READING)
]
_NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first row has no names: columns are x0, x1, ...",
        rich_help_panel=_READING,
    ),
]
_HeaderRow = Annotated[
    int,
    typer.Option(
        min=0,
        help="The row with the names of the columns, counted from 1 as spreadsheets count.",
        show_default=False,
        rich_help_panel=_READING,
    ),
]
_Missing = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "A text that means a missing cell, beside empty cells; repeat for more. Otherwise NA,"
            " N/A, NaN, null, None and ? do."
        ),
        metavar="<str>",
        rich_help_panel=_READING,
    ),
]
_Table = Annotated[
    str,
    typer.Option(
        help="The sheet of a workbook, the table of a database.",
        rich_help_panel=_READING,
    ),
]
_LIMITS = "Limits of reading"
_Memory = Annotated[
    float | None,
    typer.Option(
        min=1,
        help=(
            "MB of memory that the reading of a file may take; half of the machine's by default."
        ),
        show_default=False,
        rich_help_panel=_LIMITS,
    ),
]
_Limit = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        help="Seconds that a table or view of a database may take; 600 by default.",
        show_default=False,
        rich_help_panel=_LIMITS,
    ),
]
# how files are written and read: the name of each option, its default and its type
_FORMAT_OPTIONS: dict[str, tuple[Any, Any]] = {
    "separator": ("", _Separator),
    "encoding": ("", _Encoding),
    "decimal": ("", _Decimal),
    "no_header": (False, _NoHeader),
    "header_row": (0, _HeaderRow),
    "missing": (None, _Missing),
    "table": ("", _Table),
    "memory": (None, _Memory),
    "limit": (None, _Limit),
}
_SWITCHES = "Switches"
Committees = Annotated[
    bool | None,
    typer.Option(
        "--committees/--no-committees",
        help="Also compare a committee and a stack of the learners.",
        show_default=False,
        rich_help_panel=_SWITCHES,
    ),
]
Dates = Annotated[
    bool | None,
    typer.Option(
        "--dates/--no-dates",
        help="Split dates into year, month, weekday and so on.",
        show_default=False,
        rich_help_panel=_SWITCHES,
    ),
]
Text = Annotated[
    bool | None,
    typer.Option(
        "--text/--no-text",
        help="Count the words of free text, or leave it out.",
        rich_help_panel=_SWITCHES,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--force/--resume",
        help="Start again, or continue an interrupted study.",
        rich_help_panel=_SWITCHES,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Only = Annotated[
    bool,
    typer.Option(
        "--only",
        help=(
            "Write what was predicted alone, not the row number, the columns of the data, the"
            " probability and the doubt."
        ),
    ),
]
TableOut = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help="A .csv, .parquet or .xlsx file, or - for CSV on standard output.",
    ),
]


def named_values(texts: Sequence[str] | None, option: str, form: str) -> dict[str, str]:
    """Texts of the form "name=value" as a mapping."""
    pairs = {}
    for text in texts or ():
        # the name of a column may hold "=", a kind does not
        split = text.rpartition if option == "--kind" else text.partition
        name, between, value = split("=")
        if not (name and between and value):
            raise LyceumError(f"cannot read {option} {text!r}: write {option} {form}")
        pairs[name] = value
    return pairs


def kinds_of(texts: Sequence[str] | None) -> dict[str, str]:
    """Kinds of columns from "column=kind"."""
    return named_values(texts, "--kind", "column=categorical")


def settings_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Settings from "parameter=value", the value as in TOML, or else as text; none and None are
    None."""
    settings: dict[str, Any] = {}
    for name, text in named_values(texts, "--set", "parameter=value").items():
        # Python's words for what TOML writes in lower case, or does not have
        if text in ("True", "False"):
            text = text.lower()
        if text.lower() == "none":
            settings[name] = None
            continue
        try:
            settings[name] = parse_toml(f"x = {text}")["x"]
        except DataError:
            settings[name] = text
    return settings


def names_of(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def refuse_to_replace(path: str, force: bool, endings: Sequence[str] = ()) -> None:
    """Raise where a file has no name, exists, or has another ending, before any work is done."""
    if not path:
        raise SettingError("the file to write has no name: give one with --out")
    if endings and Path(path).suffix.lower() not in endings:
        raise SettingError(
            f"cannot tell how to write {path}: name it {' or '.join(endings)}"
        )
    if Path(path).exists() and not force:
        raise FileExistsError(
            f"{path} exists: choose another name, or replace it by --force"
        )


def write_table(table: Any, path: str) -> None:
    """Write an Arrow table as Parquet or, by any other ending, as CSV."""
    from lyceum._core.files import replace_file
    from lyceum._core.lazy_arrow import csv, pq

    write = pq.write_table if path.lower().endswith(".parquet") else csv.write_csv
    with replace_file(path) as file:
        write(table, file)


def _file_format(
    *,
    separator: str,
    no_header: bool,
    missing: list[str] | None,
    **settings: Any,
) -> Any:
    """How files are written, by the options of a command."""
    from lyceum._core.data import FileFormat

    names = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
    if missing is not None:
        settings["missing"] = ("", *missing)
    return FileFormat(
        separator=names.get(separator, separator), header=not no_header, **settings
    )


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how files are written; it gets them as `file_format`, a
    FileFormat."""

    @wraps(command)
    def with_options(
        *args: Any,
        memory: float | None,
        limit: float | None,
        **options: Any,
    ) -> None:
        from lyceum._core.data import reading_limits

        written = {
            name: options.pop(name)
            for name in _FORMAT_OPTIONS
            if name not in ("memory", "limit")
        }
        file_format = _file_format(**written)
        n_bytes = None if memory is None else round(memory * 1e6)
        with reading_limits(n_bytes, limit):
            command(*args, file_format=file_format, **options)

    # Typer reads the options of a command from its signature and its annotations
    signature = inspect.signature(command, eval_str=True)
    parameters = {**signature.parameters}
    # which the command gets made, not from the person
    del parameters["file_format"]
    for name, (default, annotation) in _FORMAT_OPTIONS.items():
        parameters[name] = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
    changed = signature.replace(parameters=list(parameters.values()))
    with_options.__signature__ = changed  # type: ignore[attr-defined]
    with_options.__annotations__ = {
        name: parameter.annotation for name, parameter in parameters.items()
    }
    return with_options


# -- keys of a recipe as options -------------------------------------------------------

# keys of a recipe that are not the name of an option after two dashes; the last ones have no
# option
_OPTIONS = {
    "budget_minutes": "--budget",
    "bootstrap_632": "--632",
    "kinds": "--kind",
    "n_settings": "n_settings",
    "memory_mb": "memory_mb",
    "inner_folds": "inner_folds",
    "committees": "committees",
}
_KEYS = (
    "target",
    "task",
    "learners",
    "loss",
    "doubt",
    "folds",
    "repeats",
    "holdout",
    "choose",
    "seed",
    "ignore",
    "keep",
    "weight",
    "metric",
    "group",
    "time",
    "calibrate",
    "recipe",
    "out",
    *_OPTIONS,
)
# what messages of a study say about its arguments, and the words of the command line for it
_PHRASES = {
    "target=...": "--target COLUMN",
    "out=...": "--out FOLDER",
    "keep=[...]": "--keep COLUMN",
    "repeats=1": "--repeats 1",
    "with force": "with --force",
    "leave out loss and doubt": "leave out --loss and --doubt",
}


def option_words(message: str) -> str:
    """A message about keys of a recipe or Python arguments, about the options of the command
    instead.

    >>> option_words("folds = 1: give a whole number of at least 2")
    '--folds 1: give a whole number of at least 2'
    >>> option_words("choose = 'foo': choose one of simplest, best")
    '--choose foo: choose one of simplest, best'
    """
    for phrase, words in _PHRASES.items():
        message = message.replace(phrase, words)
    message = re.sub(r"kinds = \{(.+?) = '(\w+)'\}", r"--kind \1=\2", message)
    # "key = value: what is wrong", or "key: ..." where the value is not repeated
    match = re.match(r"(\w+)( = '(.*?)'| = ([^:]*))?: ", message)
    if match is None or match[1] not in _KEYS:
        return message
    option = _OPTIONS.get(match[1], f"--{match[1]}")
    value = match[3] or match[4] or ""
    return f"{option}{' ' if value else ''}{value}: {message[match.end() :]}"
