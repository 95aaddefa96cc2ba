"""Arrow and Feather files: whole ones are read as pyarrow reads them, damaged ones so or refused
by name."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather

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
    content = written(table, rng)
    damaged = rng.random() < 0.7
    path = folder / "t.arrow"
    path.write_bytes(damage(content, rng) if damaged else content)
    outcome = process(path)
    if outcome.refusal and not damaged:
        raise Finding(f"a whole file was refused: {outcome.refusal}")
    if not damaged:
        check_cells(outcome.value, reference_cells(table), "the table that was written")
    return f"{outcome.word}{' damaged' * damaged}"


def written(table: pa.Table, rng: np.random.Generator) -> bytes:
    """The table as a stream of batches, an Arrow file, or Feather with compression."""
    sink = io.BytesIO()
    form = rng.choice(["stream", "file", "lz4", "zstd"])
    if form in ("lz4", "zstd"):
        chunk = int(rng.integers(1, 50))
        feather.write_feather(table, sink, compression=str(form), chunksize=chunk)
        return sink.getvalue()
    if form == "file":
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()
    # every batch of a stream may have dictionaries of its own
    step = int(rng.integers(1, 50))
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for start in range(0, table.num_rows, step):
            rows = table.slice(start, step).combine_chunks()
            columns = [_encoded_anew(column) for column in rows.columns]
            writer.write_table(pa.table(columns, schema=table.schema))
    return sink.getvalue()


def _encoded_anew(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        return column
    return column.cast(column.type.value_type).dictionary_encode()


def read(path: str) -> dict[str, list[Any]]:
    """The cells, which must be those of pyarrow."""
    cells = scanned_cells(path)
    content = pa.BufferReader(Path(path).read_bytes())
    if Path(path).read_bytes().startswith(b"ARROW1"):
        table = pa.ipc.open_file(content).read_all()
    else:
        table = pa.ipc.open_stream(content).read_all()
    check_cells(cells, reference_cells(table), "pyarrow")
    read_every_way(path)
    check_batches(path)
    return cells
