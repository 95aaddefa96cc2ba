"""Attacks on readers, the sixth set, one step beside what the fifth one found: neighboring whole
numbers in every place of every format, and packed Arrow of all versions."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.file_cases import ReadingProcess
from fuzz.fresh_tables import Attack, Cells, attack, make, one_of

__all__ = ["ATTACKS", "case", "make"]


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """One file, read by us and by another reader."""
    return attack(shared, ATTACKS, rng)


def _identifiers(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Neighboring whole numbers of 15 to 20 digits, as numbers or texts, in every format: they stay
    apart, or are refused."""
    first = int(
        one_of(rng, 10**15, 2**53, 9 * 10**15 + 1, 10**16, 10**17, 2**63 - 3, 2**64 - 4)
    )
    numbers = [
        first + int(step) for step in rng.integers(0, 4, int(rng.integers(2, 9)))
    ]
    form = one_of(rng, "csv", "quoted.csv", "jsonl", "texts.jsonl", "sqlite", "texts.sqlite",
               "arff", "texts.arff", "xlsx", "parquet", "mixed.csv")  # fmt: skip
    path = folder / f"t.{form}"
    rows: list[Any] = [str(n) for n in numbers] if "texts" in form else list(numbers)
    if form == "mixed.csv":
        path.write_text("\n".join(["a;b", *(f"{n};1.234,50 €" for n in rows), ""]))
    elif form.endswith("csv"):
        quote = '"' if "quoted" in form else ""
        path.write_text("\n".join(["a,b", *(f"{quote}{n}{quote},x" for n in rows), ""]))
    elif form.endswith("jsonl"):
        path.write_text("\n".join(json.dumps({"a": n, "b": "x"}) for n in rows) + "\n")
    elif form.endswith("arff"):
        kind = (
            "string" if "texts" in form else one_of(rng, "integer", "numeric", "real")
        )
        body = "\n".join(f"{n},x" for n in rows)
        path.write_text(
            f"@relation r\n@attribute a {kind}\n@attribute b string\n@data\n{body}\n"
        )
    elif form == "parquet":
        table = pa.table({"a": pa.array(numbers, pa.uint64()), "b": ["x"] * len(rows)})
        pq.write_table(table.append_column("c", table["a"].cast(pa.string())), path)
        return path, {
            "a": numbers,
            "b": ["x"] * len(rows),
            "c": [str(n) for n in numbers],
        }
    elif form == "xlsx":
        book = openpyxl.Workbook()
        for row in (("a", "b"), *((str(n), "x") for n in rows)):
            book.active.append(row)
        book.save(path)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("create table t (a blob, b)")
            if max(numbers) >= 2**63:
                rows = [str(n) for n in numbers]
            connection.executemany(
                "insert into t values (?, 'x')", [(n,) for n in rows]
            )
            connection.commit()
    cells: Cells = {"a": numbers}
    cells["b"] = [1234.5 if form == "mixed.csv" else "x"] * len(rows)
    return path, cells


def _packed_arrow(folder: Path, rng: np.random.Generator) -> tuple[Path, Cells]:
    """Versions, packers and kinds of streams, read by Polars as well."""
    n = int(rng.integers(1, 300))
    numbers = rng.integers(-(2**40), 2**40, n)
    table = pa.table(
        {
            "i": pa.array(numbers, mask=rng.random(n) < 0.2),
            "f": rng.normal(size=n),
            "b": rng.random(n) < 0.5,
            "s": pa.array([f"{number % 7}x" for number in numbers]).dictionary_encode(),
            "t": [f"{number % 5}é" for number in numbers],
        }
    ).slice(int(rng.integers(n)))
    options = pa.ipc.IpcWriteOptions(
        compression=one_of(rng, None, "lz4", "zstd"),
        metadata_version=one_of(
            rng, pa.ipc.MetadataVersion.V4, pa.ipc.MetadataVersion.V5
        ),
        allow_64bit=bool(rng.integers(2)),
    )
    path = folder / "t.arrow"
    is_file = bool(rng.integers(2))
    writer = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with writer(str(path), table.schema, options=options) as sink:
        sink.write_table(table, max_chunksize=int(rng.integers(1, 100)))
    read = polars.read_ipc if is_file else polars.read_ipc_stream
    return path, read(io.BytesIO(path.read_bytes())).to_dict(as_series=False)


ATTACKS: dict[str, Attack] = {"identifiers": _identifiers, "packed": _packed_arrow}
