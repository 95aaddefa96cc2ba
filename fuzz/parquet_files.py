"""Parquet files: whole ones are read as pyarrow reads them, damaged ones so or refused by name."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from fuzz import Finding
from fuzz.file_cases import (
    ReadingProcess,
    check_batches,
    check_cells,
    read_every_way,
    scanned_cells,
)
from fuzz.typed_tables import damage, draw_table, reference_cells

__all__ = ["case", "make"]


def make() -> tuple[Path, ReadingProcess]:
    """A folder for the file, and the process that reads it."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """Write a table, perhaps change bytes, and compare what is read with pyarrow."""
    folder, process = shared
    table = draw_table(rng)
    stream = io.BytesIO()
    pq.write_table(
        table,
        stream,
        row_group_size=int(rng.integers(1, 30)),
        compression=str(rng.choice(["none", "snappy", "zstd", "gzip"])),
        use_dictionary=bool(rng.random() < 0.5),
        data_page_version=str(rng.choice(["1.0", "2.0"])),
    )
    damaged = rng.random() < 0.7
    content = stream.getvalue()
    path = folder / "t.parquet"
    path.write_bytes(damage(content, rng) if damaged else content)
    outcome = process(path)
    if outcome.refusal and not damaged:
        raise Finding(f"a whole file was refused: {outcome.refusal}")
    if not damaged:
        check_cells(outcome.value, reference_cells(table), "the table that was written")
    return f"{outcome.word}{' damaged' * damaged}"


def read(path: str) -> dict[str, list[Any]]:
    """The cells, which must be the same at once and in parts, and by pyarrow."""
    cells = scanned_cells(path)
    check_cells(scanned_cells(path, memory=0), cells, "reading in parts")
    check_cells(cells, reference_cells(pq.read_table(path)), "pyarrow")
    read_every_way(path)
    check_batches(path)
    return cells
