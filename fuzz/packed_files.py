"""Packed text (.gz, .bz2, .zst) and workbooks of other formats (.ods, .xls), damaged: read or
refused by name."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz import Finding
from fuzz.file_cases import ReadingProcess
from fuzz.mutations import mutate_bytes

__all__ = ["case", "make"]

CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
FILES = Path(__file__).parents[1] / "tests" / "data" / "files"
TEXTS = {
    "csv": b"a,b\n" + b"".join(b"%d,x%d\n" % (i, i % 5) for i in range(300)),
    "jsonl": b"".join(b'{"a": %d, "b": "x%d"}\n' % (i, i % 5) for i in range(300)),
    "arff": b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
    + b"".join(b"%d,x\n" % i for i in range(300)),
}
ROWS = 300


def read_rows(path: str) -> int:
    """The number of rows, with at most 64 MB."""
    from lyceum._core.data import read_data, reading_limits
    from lyceum.data import FileFormat

    table = "kinds" if path.endswith(("ods", "xls")) else ""
    with reading_limits(memory=64 << 20, seconds=5.0):
        return read_data(path, FileFormat(table=table)).table.num_rows


def make() -> tuple[Path, ReadingProcess]:
    """A folder, and a process that reads."""
    return Path(tempfile.mkdtemp()), ReadingProcess(read_rows)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """Pack a text, or take a workbook, and perhaps damage it."""
    folder, read = shared
    if rng.random() < 0.4:
        suffix = str(rng.choice(["ods", "xls"]))
        path = folder / f"t.{suffix}"
        content = (FILES / f"kinds.{suffix}").read_bytes()
        if suffix == "ods" and rng.random() < 0.7:
            content = _mutate_content(content, rng)
        else:
            content = mutate_bytes(content, rng)
        path.write_bytes(content)
        return read(path).word
    kind = str(rng.choice(list(TEXTS)))
    packing = str(rng.choice(list(CODECS)))
    path = folder / f"t.{kind}.{packing}"
    text = TEXTS[kind]
    is_bomb = rng.random() < 0.05
    if is_bomb:
        text += b"\n" * (200 << 20)
    packed = _pack(text, CODECS[packing])
    damaged = rng.random() < 0.7
    path.write_bytes(mutate_bytes(packed, rng) if damaged else packed)
    outcome = read(path)
    if not damaged and is_bomb and "of memory" not in outcome.refusal:
        raise Finding(f"{path.name}, 200 MB unpacked: {outcome}")
    if not damaged and not is_bomb and outcome.value != ROWS:
        raise Finding(f"{path.name}, not damaged: {outcome}")
    return outcome.word


def _pack(text: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(text)
    return sink.getvalue().to_pybytes()


def _mutate_content(content: bytes, rng: np.random.Generator) -> bytes:
    """The .ods file with its table changed, and right checksums."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts: dict[str, Any] = {name: old.read(name) for name in old.namelist()}
    parts["content.xml"] = mutate_bytes(parts["content.xml"], rng)
    with zipfile.ZipFile(stream, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return stream.getvalue()
