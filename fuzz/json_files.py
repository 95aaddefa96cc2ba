"""Files of JSON lines: whole ones are read as Python's `json` reads them, damaged ones so or
refused by name."""

from __future__ import annotations

import gzip
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import Finding
from fuzz.file_cases import (
    ReadingProcess,
    as_cells,
    check_batches,
    check_cells,
    draw_cells,
    draw_names,
    read_every_way,
    scanned_cells,
)
from fuzz.mutations import mutate_bytes

__all__ = ["case", "make"]

PIECES = (
    '{"c0":' * 2000,
    "[" * 20_000,
    '"\\ud800"',
    "1e400",
    "9" * 30,
    "-9223372036854775809",
    "NaN",
    "\\u0000",
    "\n\n",
    "null",
    "}\n{",
)


def make() -> tuple[Path, ReadingProcess]:
    """A folder for the file, and the process that reads it."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """Write objects, perhaps change bytes, and compare what is read with `json`."""
    folder, process = shared
    columns = draw_columns(rng)
    content = written(columns, rng).encode()
    damaged = rng.random() < 0.7
    if damaged:
        content = damage(content, rng)
    packed = rng.random() < 0.2
    path = folder / ("t.jsonl.gz" if packed else "t.jsonl")
    path.write_bytes(gzip.compress(content) if packed else content)
    outcome = process(path)
    if outcome.refusal and not damaged:
        raise Finding(f"a whole file was refused: {outcome.refusal}")
    if not damaged:
        expected = {name: expected_cells(cells) for name, cells in columns.items()}
        check_cells(outcome.value, expected, "json")
    return f"{outcome.word}{' damaged' * damaged}"


def draw_columns(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Columns of one kind each, some of whole numbers beyond 64 bits, none of them empty."""
    n_rows = int(rng.integers(1, 40))
    names = draw_names(rng, int(rng.integers(1, 5)))
    columns = {}
    for name in names:
        kind = str(rng.choice(["integer", "number", "text", "bool", "long"]))
        if kind == "long":
            cells = draw_cells(rng, "integer", n_rows)
            cells[rng.integers(n_rows)] = 2**63 + int(rng.integers(1000))
        else:
            cells = draw_cells(rng, kind, n_rows)
        # a column that has nothing has no type
        if all(cell is None for cell in cells):
            cells[0] = True
        # and one of texts that are numbers is numbers
        if kind == "text":
            cells[0] = "red"
        columns[name] = cells
    return columns


def written(columns: dict[str, list[Any]], rng: np.random.Generator) -> str:
    """One object per line, or a list; keys of missing cells are left out at times."""
    rows = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
    ascii_only = bool(rng.random() < 0.5)
    if rng.random() < 0.2:
        return json.dumps(rows, ensure_ascii=ascii_only)
    lines = []
    for number, row in enumerate(rows):
        if number and rng.random() < 0.3:
            row = {name: cell for name, cell in row.items() if cell is not None}
        lines.append(json.dumps(row, ensure_ascii=ascii_only))
    return str(rng.choice(["\n", "\r\n"])).join(lines) + "\n"


def expected_cells(cells: list[Any]) -> list[Any]:
    """A column with a whole number beyond 64 bits is text, with all its digits."""
    whole = [cell for cell in cells if type(cell) is int]
    if any(not -(2**63) <= cell < 2**63 for cell in whole):
        return [None if cell is None else str(cell) for cell in cells]
    return as_cells(cells)


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes changed at random, or with a piece put in that readers dislike."""
    if rng.random() < 0.5:
        return mutate_bytes(content, rng)
    start = int(rng.integers(len(content)))
    piece = str(rng.choice(PIECES)).encode()
    return content[:start] + piece + content[start + int(rng.integers(5)) :]


def reference_numbers(path: str) -> dict[str, list[Any]]:
    """The columns of nothing but numbers and true or false that `json` finds in the lines."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        text = file.read()
    if text.startswith("["):
        return {}
    objects = [json.loads(line) for line in text.split("\n") if line.strip()]
    names = dict.fromkeys(name for item in objects for name in item)
    columns = {}
    for name in names:
        # NaN is a missing cell, also beside whole numbers that keep their digits as text
        values = [item.get(name) for item in objects]
        cells = [None if value != value else value for value in values]
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds and (kinds <= {int, float} or kinds == {bool}):
            columns[name] = expected_cells(cells)
    return columns


def read(path: str) -> dict[str, list[Any]]:
    """The cells, read in every way; numbers must be those of `json`, where it reads the lines."""
    cells = scanned_cells(path)
    expected = {}
    # what `json` refuses, Lyceum may read: objects on several lines, other encodings
    with suppress(ValueError, RecursionError):
        expected = reference_numbers(path)
    check_cells({name: cells[name] for name in expected}, expected, "json")
    read_every_way(path)
    check_batches(path)
    return cells
