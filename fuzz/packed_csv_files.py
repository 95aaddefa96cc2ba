"""CSV files, plain and packed: whole ones are read as they were written, damaged ones the same at
once and in parts, or refused by name."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

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
from lyceum._core.data.files import csv as _csv

__all__ = ["case", "make"]


def _zstd(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": _zstd,
}


def make() -> tuple[Path, ReadingProcess]:
    """A folder for the file, and the process that reads it."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """Write a table, perhaps change bytes before or after packing, and compare."""
    folder, process = shared
    columns = draw_columns(rng)
    content = written(columns, rng).encode()
    suffix = str(rng.choice(list(PACKED)))
    damaged = rng.random() < 0.6
    before = rng.random() < 0.5
    if damaged and before:
        content = mutate_bytes(content, rng)
    content = PACKED[suffix](content)
    if damaged and not before:
        content = mutate_bytes(content, rng)
    path = folder / f"t.csv{suffix}"
    path.write_bytes(content)
    outcome = process(path)
    if outcome.refusal and not damaged:
        raise Finding(f"a whole file was refused: {outcome.refusal}")
    if not damaged:
        expected = {name: expected_cells(cells) for name, cells in columns.items()}
        check_cells(outcome.value, expected, "the table that was written")
    return f"{outcome.word}{' damaged' * damaged}"


def draw_columns(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Columns of one kind each, some of whole numbers beyond 64 bits, which may come late."""
    n_rows = int(rng.integers(2, 80))
    names = draw_names(rng, int(rng.integers(2, 5)))
    columns = {}
    for name in names:
        kind = str(rng.choice(["integer", "number", "text", "long"]))
        cells = draw_cells(rng, "integer" if kind == "long" else kind, n_rows)
        if kind == "long":
            cells[rng.integers(n_rows)] = 2**63 + int(rng.integers(1000))
        if kind == "text":
            cells[0] = "red"
        # blanks around a text, and cells of them alone, are no part of it in some readers
        columns[name] = cells
    return columns


def written(columns: dict[str, list[Any]], rng: np.random.Generator) -> str:
    """The table as the csv module writes it, the last line perhaps without its end."""
    stream = io.StringIO(newline="")
    quoting = [csv.QUOTE_ALL, csv.QUOTE_MINIMAL][rng.integers(2)]
    end = str(rng.choice(["\n", "\r\n"]))
    writer = csv.writer(stream, quoting=quoting, lineterminator=end)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values()))
    text = stream.getvalue()
    if rng.random() < 0.2:
        return text.removesuffix(end)
    return text


def expected_cells(cells: list[Any]) -> list[Any]:
    """A column with a whole number beyond 64 bits is text, with all its digits."""
    whole = [cell for cell in cells if type(cell) is int]
    if any(not -(2**63) <= cell < 2**63 for cell in whole):
        return [None if cell is None else str(cell) for cell in cells]
    return as_cells(cells)


def read(path: str) -> dict[str, list[Any]]:
    """The cells, which must be the same at once and in parts; blocks are small, to have many."""
    _csv._STREAM_BYTES, _csv._READ_BYTES = 1 << 9, 1 << 9
    cells = scanned_cells(path)
    check_cells(scanned_cells(path, memory=0), cells, "reading in parts")
    read_every_way(path)
    check_batches(path)
    return cells
