"""The options that several commands share, and how their texts are read."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lyceum.errors import LyceumError

if TYPE_CHECKING:
    from lyceum.data import CsvFormat

__all__ = ["AsJson", "Data", "Delimiter", "Doubt", "Encoding", "Force", "Ignore", "Kind", "Loss", "Model",
           "Truth", "csv_format", "kinds_of", "refuse_to_replace", "settings_of"]  # fmt: skip

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Data = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet, Arrow or ARFF file, a folder, a quoted glob, or - for CSV from stdin."
    ),
]
Model = Annotated[str, typer.Argument(help="A model file, as `lyceum fit` and `lyceum study` write it.")]
Truth = Annotated[
    str | None,
    typer.Option("--target", "-t", help="The column with the truth; by default named as in the fit."),
]
Loss = Annotated[
    str | None,
    typer.Option(
        help="What mistakes cost: a CSV or TOML file (rows true class, columns action), or "
        "true:action=cost, e.g. bad:good=5,good:bad=1."
    ),
]
Doubt = Annotated[float | None, typer.Option(help="The cost of rejecting a row instead of deciding it.")]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        help="column=continuous, categorical or binary, where what is inferred is not wanted; again for more."
    ),
]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; again for more.")]
Delimiter = Annotated[str, typer.Option(help="What separates the cells of a CSV file; guessed if empty.")]
Encoding = Annotated[str, typer.Option(help="The text encoding of a CSV file.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]


def _pairs(texts: Sequence[str] | None, option: str, form: str) -> dict[str, str]:
    pairs = {}
    for text in texts or ():
        name, between, value = text.rpartition("=") if option == "--kind" else text.partition("=")
        if not (name and between and value):
            raise LyceumError(f"cannot read {option} {text!r}: write {option} {form}")
        pairs[name] = value
    return pairs


def kinds_of(texts: Sequence[str] | None) -> dict[str, str]:
    """Kinds of columns from "column=kind"."""
    return _pairs(texts, "--kind", "column=categorical")


def settings_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Settings from "parameter=value", the value as in TOML, or else as text; none and None are None."""
    return {name: _value(text) for name, text in _pairs(texts, "--set", "parameter=value").items()}


def _value(text: str) -> Any:
    if text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"x = {text.lower() if text in ('True', 'False') else text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def refuse_to_replace(path: str, force: bool) -> None:
    """Raise where a file is there already, before any work is done."""
    if Path(path).exists() and not force:
        raise FileExistsError(f"{path} is there already: choose another name, or replace it by --force")


def csv_format(delimiter: str, encoding: str) -> CsvFormat:
    """How CSV files are written, by the options of a command."""
    from lyceum.data import CsvFormat

    return CsvFormat(delimiter, encoding)
