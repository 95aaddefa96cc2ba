"""Loss matrices in CSV and TOML files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyceum._core.files import write_file
from lyceum._core.probability.labels import label_key
from lyceum._core.toml import parse_toml
from lyceum.errors import DataError, SettingError

_NOTE = "rows = true class, columns = action"
# longer ones stay text, which Python need not turn into a number
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,999})")
_KEYS = {"loss", "classes", "actions", "costs", "default"}


@dataclass(frozen=True, slots=True)
class MatrixContent:
    """A loss matrix as read from a file."""

    values: Any
    classes: Sequence[Any] | None
    actions: Sequence[Any] | None


@dataclass(frozen=True, slots=True)
class PairCosts:
    """Costs of pairs (true class, action) as read from a file."""

    costs: Mapping[tuple[Any, Any], float]
    classes: Sequence[Any] | None
    actions: Sequence[Any] | None
    default: float | None


def read(path: Path) -> MatrixContent | PairCosts:
    """The content of a CSV or TOML file."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"cannot tell how {path} holds a loss matrix: name it {' or '.join(_READERS)}"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error}") from error
    try:
        return reader(text)
    except (DataError, csv.Error) as error:
        raise DataError(f"{path}: {error}") from error


def _from_csv(text: str) -> MatrixContent:
    lines = [
        line
        for line in csv.reader(io.StringIO(text))
        if any(cell.strip() for cell in line)
    ]
    if len(lines) < 2:
        raise DataError(
            "a loss matrix needs a first row of actions and one row per true class"
        )
    (_, *actions), *body = [[cell.strip() for cell in line] for line in lines]
    for line in body:
        if len(line) != len(actions) + 1:
            raise DataError(
                f"the row of {line[0]!r} has {len(line) - 1} losses for {len(actions)} actions"
                f" ({_NOTE})"
            )
    values = [[_number(cell, line[0]) for cell in line[1:]] for line in body]
    classes = [_label(line[0]) for line in body]
    return MatrixContent(values, classes, list(map(_label, actions)))


def _number(cell: str, row: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise DataError(
            f"the row of {row!r} has the cell {cell!r}, which is no number"
        ) from None


def _from_toml(text: str) -> MatrixContent | PairCosts:
    return from_mapping(parse_toml(text))


def from_mapping(recipe: Mapping[str, Any]) -> MatrixContent | PairCosts:
    """A matrix or costs from a TOML table."""
    unknown = sorted(set(recipe) - _KEYS)
    if unknown:
        raise DataError(
            f"a loss matrix has no key {unknown[0]!r}: its keys are {', '.join(sorted(_KEYS))}"
        )
    if ("loss" in recipe) == ("costs" in recipe):
        raise DataError(
            "a loss matrix is given by loss = [[...], ...], or by costs.<true class>.<action>: one"
            " of them"
        )
    classes = recipe.get("classes")
    actions = recipe.get("actions")
    if "loss" in recipe:
        if "default" in recipe:
            raise DataError(
                "default is for costs: loss = [[...], ...] gives every cost itself"
            )
        return MatrixContent(recipe["loss"], classes, actions)
    # keys of TOML are text, so that classes that are numbers come as text too
    try:
        pairs = {
            (_label(k), _label(a)): float(c)
            for k, row in recipe["costs"].items()
            for a, c in row.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(
            "costs must be numbers, costs.<true class>.<action> = cost"
        ) from error
    return PairCosts(pairs, classes, actions, recipe.get("default"))


def _label(text: str) -> Any:
    """Integers as numbers, other labels as text."""
    if _INTEGER.fullmatch(text):
        return int(text)
    return text


def write(
    path: Path,
    recipe: Mapping[str, Any],
    rows: Sequence[Any],
    columns: Sequence[Any],
    force: bool,
) -> Path:
    """Write the file completely or not at all."""
    if path.suffix.lower() not in _READERS:
        raise SettingError(
            f"cannot tell how to write a loss matrix to {path}: name it {' or '.join(_READERS)}"
        )
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists: choose another name, or replace it by force=True"
        )
    if path.suffix.lower() == ".toml":
        text = _as_toml(recipe)
    else:
        text = _as_csv(recipe["loss"], rows, columns)
        _check_csv(text, rows, columns)
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"a label of the matrix holds {text[error.start]!a}, half a character, which is no"
            " valid Unicode text: rename it"
        ) from error
    write_file(path, data)
    return path


def _check_csv(text: str, rows: Sequence[Any], columns: Sequence[Any]) -> None:
    """Raise unless the labels are read again as they are: blanks around them are not."""
    try:
        # as a file of text is read, with one kind of line breaks
        again = _from_csv(io.StringIO(text, newline=None).read())
        read_again = [*(again.classes or ()), *(again.actions or ())]
    except (DataError, csv.Error):
        read_again = []
    written = [*rows, *columns]
    if list(map(label_key, read_again)) == list(map(label_key, written)):
        return
    same = len(read_again) == len(written)
    pairs = zip(written, read_again) if same else ()
    odd = [a for a, b in pairs if label_key(a) != label_key(b)] or written
    raise DataError(
        f"a CSV file cannot hold the labels as they are (e.g. {odd[0]!r:.60}): name the file .toml"
    )


def _as_csv(
    values: Sequence[Sequence[float]], rows: Sequence[Any], columns: Sequence[Any]
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["true \\ action", *columns])
    writer.writerows(
        [label, *map(_number_text, row)] for label, row in zip(rows, values)
    )
    return text.getvalue()


def _as_toml(recipe: Mapping[str, Any]) -> str:
    matrix = ",\n".join(
        f"  [{', '.join(map(_number_text, row))}]" for row in recipe["loss"]
    )
    lines = [
        f"{name} = [{', '.join(map(_toml_label, recipe[name]))}]"
        for name in ("classes", "actions")
        if name in recipe
    ]
    return "\n".join([f"# {_NOTE}", *lines, "loss = [", f"{matrix},", "]", ""])


def _number_text(value: float) -> str:
    if float(value).is_integer() and abs(value) < 1e15:
        return repr(int(value))
    return repr(float(value))


def _toml_label(label: object) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, int | float):
        return repr(label)
    if not isinstance(label, str):
        raise DataError(
            f"the label {label!r} cannot be written to TOML: use text or numbers as labels"
        )
    return json.dumps(label, ensure_ascii=False).replace("\x7f", "\\u007f")


_READERS = {".csv": _from_csv, ".toml": _from_toml}
