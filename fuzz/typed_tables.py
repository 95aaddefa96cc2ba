"""What the fuzzers of Parquet and Feather files share: tables of all types, pyarrow's cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz.file_cases import as_cells, draw_cells, draw_names
from fuzz.mutations import mutate_bytes

__all__ = ["damage", "draw_table", "reference_cells"]

EXTREMES = (0, 1, -1, 7, 1000, 2**20, 2**31 - 1, -(2**31), 2**62, -(2**63))
SECONDS = {"s": 1, "ms": 1000, "us": 10**6}


def draw_table(rng: np.random.Generator) -> pa.Table:
    """A table of up to six columns and forty rows, of all types that Lyceum takes."""
    n_rows = int(rng.integers(1, 40))
    kinds = rng.choice(list(_COLUMNS), size=int(rng.integers(1, 7)))
    names = draw_names(rng, len(kinds))
    columns = [_COLUMNS[kind](rng, n_rows) for kind in kinds]
    return pa.table(columns, names)


def _text(rng: np.random.Generator, n_rows: int) -> pa.Array:
    kinds = [pa.string(), pa.large_string(), pa.string_view()]
    kind = kinds[rng.integers(3)]
    return pa.array(draw_cells(rng, "text", n_rows), kind)


def _dictionary(rng: np.random.Generator, n_rows: int) -> pa.Array:
    return pa.array(draw_cells(rng, "text", n_rows), pa.string()).dictionary_encode()


def _time(rng: np.random.Generator, n_rows: int) -> pa.Array:
    cells = [int(cell) for cell in rng.integers(-(2**33), 2**33, n_rows)]
    units = [
        pa.timestamp("s"),
        pa.timestamp("ms"),
        pa.timestamp("us"),
        pa.duration("ms"),
    ]
    return pa.array(cells, units[rng.integers(4)])


def _whole(rng: np.random.Generator, n_rows: int) -> pa.Array:
    return pa.array(draw_cells(rng, "integer", n_rows), pa.int64())


def _number(rng: np.random.Generator, n_rows: int) -> pa.Array:
    return pa.array(draw_cells(rng, "number", n_rows), pa.float64())


def _small(rng: np.random.Generator, n_rows: int) -> pa.Array:
    return pa.array(rng.integers(0, 100, n_rows).astype(np.uint8))


def _bool(rng: np.random.Generator, n_rows: int) -> pa.Array:
    return pa.array(draw_cells(rng, "bool", n_rows), pa.bool_())


_COLUMNS: dict[str, Callable[[np.random.Generator, int], pa.Array]] = {
    "text": _text,
    "dictionary": _dictionary,
    "time": _time,
    "whole": _whole,
    "number": _number,
    "small": _small,
    "bool": _bool,
}


def reference_cells(table: pa.Table) -> dict[str, list[Any]]:
    """The cells that pyarrow has read, as learners get them."""
    return {
        name: as_cells(_values(column))
        for name, column in zip(table.column_names, table.columns)
    }


def _values(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    if not pa.types.is_temporal(kind):
        return column.to_pylist()
    # a count beyond 2^53 is rounded before it is divided
    counts = column.cast(pa.int64()).to_pylist()
    return [
        None if count is None else float(count) / SECONDS[kind.unit] for count in counts
    ]


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes changed at random, or with numbers of four or eight bytes replaced by others."""
    if rng.random() < 0.4:
        return mutate_bytes(content, rng)
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        size = int(rng.choice([4, 8]))
        start = int(rng.integers(max(1, len(changed) - size))) // 4 * 4
        value = int(rng.choice(EXTREMES)) % 2 ** (8 * size)
        changed[start : start + size] = value.to_bytes(size, "little")
    return bytes(changed)
