"""CSV files: read at once and in batches, with one thread and two, to the same rows, or refused by
name."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz import Finding
from fuzz.mutations import TEXTS, mutate_bytes
from lyceum._core.data.files import csv as _csv
from lyceum.data import scan
from lyceum.errors import LyceumError

__all__ = ["case", "make"]

CELLS = (
    "1",
    "2.5",
    "-3e7",
    "",
    "NA",
    "?",
    "true",
    "no",
    "red",
    "a,b",
    'say "x"',
    "line\nbreak",
    "\r\n",
    "é",
    "0",
)


def make() -> Path:
    """A folder for the files; blocks are small, so that small files have many, and some rows are
    longer than one."""
    _csv._STREAM_BYTES = 1 << 9
    _csv._READ_BYTES = 1 << 9
    return Path(tempfile.mkdtemp())


def case(folder: Path, rng: np.random.Generator) -> str:
    """Write a table as CSV, perhaps damage it, and read it in four ways."""
    text, n_rows = table(rng)
    damaged = rng.random() < 0.7
    (folder / "t.csv").write_bytes(mutate_bytes(text, rng) if damaged else text)
    found = [
        read(folder / "t.csv", memory, threads)
        for memory in (1 << 30, 0)
        for threads in (1, 2)
    ]
    if any(one != found[0] for one in found[1:]):
        raise Finding(
            f"four ways of reading differ: {[str(one)[:200] for one in found]}"
        )
    if isinstance(found[0], str):
        return "refused"
    if not damaged and found[0][0] != n_rows:
        raise Finding(f"{n_rows} rows were written, {found[0][0]} read")
    return "read"


def table(rng: np.random.Generator) -> tuple[bytes, int]:
    """A table of typed and untyped columns as the csv module writes it, and its rows."""
    n, d = int(rng.integers(1, 80)), int(rng.integers(1, 5))
    kinds = [
        rng.permutation(np.array(CELLS + TEXTS[:8]))[: rng.integers(1, 6)]
        for _ in range(d)
    ]
    stream = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if d == 1 or rng.random() < 0.3 else csv.QUOTE_MINIMAL
    writer = csv.writer(
        stream, quoting=quoting, lineterminator=str(rng.choice(["\n", "\r\n"]))
    )
    writer.writerow([f"c{j}" for j in range(d)])
    writer.writerows([[str(rng.choice(kind)) for kind in kinds] for _ in range(n)])
    return stream.getvalue().replace("\0", "").encode(), n


def read(path: Path, memory: int, threads: int) -> Any:
    """The number of rows, the schema and the cells; or "refused" in any words."""
    before = pa.cpu_count()
    pa.set_cpu_count(threads)
    try:
        rows = scan(path, memory=memory)
        cells = np.concatenate([block.X for block in rows.blocks()])
    except LyceumError:
        return "refused"
    finally:
        pa.set_cpu_count(before)
    return len(cells), str(rows.schema), cells.tobytes()
