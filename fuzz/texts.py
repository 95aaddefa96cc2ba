"""Small texts in every format: understood, and the same when written and read again, or refused by
name.

`csv_files` reads larger CSV files in blocks and by several threads.
"""

from __future__ import annotations

import os
import random
import tempfile
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import tomli_w

from fuzz import Finding
from fuzz.samples import SAMPLES
from lyceum._core.data.files import csv as _csv
from lyceum._core.data.files.arff import read_arff
from lyceum._core.probability.losses import files as _loss_files
from lyceum.bayesnets import read_bif, write_bif
from lyceum.cli.options import settings_of
from lyceum.data import scan
from lyceum.decision import LossMatrix
from lyceum.errors import LyceumError
from lyceum.studies import Recipe

__all__ = ["case", "make"]

MARKS = (
    "\n",
    "\r\n",
    '"',
    "'",
    ",",
    ";",
    "\t",
    " ",
    "\\",
    "\0",
    "\ufeff",
    "é",
    "²",
    "١",
    "\x1b[31m",
    "\ud7ff",
    "0",
)
NUMBERS = (
    "0",
    "-1",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "9" * 30,
    "0x1F",
    "1_000",
    "1,5",
    ".",
    "-",
    "+7",
    "True",
)


TEXTS = 20  # of one seed


@dataclass(frozen=True)
class Reader:
    """How one format is read from a file or its bytes, and perhaps read back."""

    ending: str
    read: Callable[[str, bytes], None]
    weight: int = 16  # how often it comes; whole tables take longer to read
    in_file: bool = True  # or only its bytes are wanted


def make() -> str:
    """A folder in memory where there is one."""
    pa.set_cpu_count(1)
    # Arrow clears them for every file
    _csv._READ_BYTES, _csv._STREAM_BYTES = 1 << 14, 1 << 14
    _loss_files.write_file = _put  # type: ignore[assignment]  # `crash` tries the real one
    warnings.simplefilter("ignore")
    memory = Path("/dev/shm")
    return tempfile.mkdtemp(dir=memory if memory.is_dir() else None)


def case(folder: str, rng: np.random.Generator) -> Counter[str]:
    """Change samples by characters, lines and pieces of their own grammar, and read them."""
    draw = random.Random(int(rng.integers(2**62)))
    names = draw.choices(
        list(READERS), [reader.weight for reader in READERS.values()], k=TEXTS
    )
    return Counter(
        _read(folder, name, changed(draw.choice(SAMPLES[name]), draw)) for name in names
    )


def _read(folder: str, name: str, data: bytes) -> str:
    reader = READERS[name]
    path = f"{folder}/text{reader.ending}"
    if reader.in_file:
        _put(path, data)
    try:
        reader.read(path, data)
    except LyceumError:
        return f"{name} refused"
    except Finding as finding:
        raise Finding(f"{name} of {data!r}: {finding}") from None
    except Exception as error:
        raise Finding(f"{name} of {data!r}: {error!r}") from error
    return f"{name} read"


def _put(path: str | Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(file, data)
    os.close(file)


def changed(text: str, draw: random.Random) -> bytes:
    """The text with a few changes; sometimes bytes that are no text at all."""
    for _ in range(draw.randrange(5)):
        text = draw.choice(CHANGES)(text, draw)
    data = text.encode("utf8", "surrogatepass")
    if draw.random() < 0.1 and data:
        at = draw.randrange(len(data))
        data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    return data


def _insert(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(MARKS) + text[at + draw.randrange(2) :]


def _number(text: str, draw: random.Random) -> str:
    digits = [at for at, mark in enumerate(text) if mark.isdigit()] or [0]
    at = draw.choice(digits)
    return text[:at] + draw.choice(NUMBERS) + text[at + 1 :]


def _cut(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return (
        text[:at] + text[at + draw.randrange(1, 12) :]
        if draw.random() < 0.8
        else text[:at]
    )


def _repeat(text: str, draw: random.Random) -> str:
    at, size = draw.randrange(len(text) + 1), draw.randrange(1, 20)
    return text[:at] + text[at : at + size] * draw.randrange(2, 4) + text[at + size :]


def _swap_words(text: str, draw: random.Random) -> str:
    words = text.split(" ")
    i, j = draw.randrange(len(words)), draw.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return " ".join(words)


def _move_line(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    line = lines.pop(draw.randrange(len(lines)))
    lines.insert(draw.randrange(len(lines) + 1), line)
    if draw.random() < 0.3:
        lines.insert(draw.randrange(len(lines) + 1), line)
    return "\n".join(lines)


CHANGES = (_insert, _insert, _number, _cut, _repeat, _swap_words, _move_line)


# -- the formats -----------------------------------------------------------------------


def _csv_file(path: str, data: bytes) -> None:
    """Read at once and as a stream, which must agree."""
    cells, streamed = (
        np.concatenate([b.X for b in scan(path, memory=m).blocks()])
        for m in (1 << 30, 0)
    )
    if not np.array_equal(cells, streamed, equal_nan=True):
        raise Finding(
            f"{len(cells)} rows at once, {len(streamed)} in a stream, or other cells"
        )


def _arff(path: str, data: bytes) -> None:
    read_arff(path)


def _json_lines(path: str, data: bytes) -> None:
    np.concatenate([block.X for block in scan(path).blocks()])


def _bif(path: str, data: bytes) -> None:
    net = read_bif(data.decode("utf-8", "replace") + "\n")
    again = read_bif(write_bif(net))
    if again.names != net.names or any(
        not np.allclose(again.node(name).table, net.node(name).table)
        for name in net.names
    ):
        raise Finding("is another network when it is written and read again")


def _loss(path: str, data: bytes) -> None:
    loss = LossMatrix.read(path)
    again = LossMatrix.read(loss.write(path.rpartition(".")[0] + ".toml", force=True))
    if not np.array_equal(again.values, loss.values) or again.classes != loss.classes:
        raise Finding("is another matrix when it is written and read again")


def _recipe(path: str, data: bytes) -> None:
    recipe = Recipe.read(path)
    again = Recipe.from_dict(tomllib.loads(tomli_w.dumps(recipe.as_dict())))
    if again != recipe and "nan" not in repr(recipe):
        raise Finding(
            f"{recipe} is another recipe when it is written and read again: {again}"
        )


def _value(path: str, data: bytes) -> None:
    settings_of(["x=" + data.decode("utf8", "replace")])


READERS = {
    "csv": Reader(".csv", _csv_file, 1),
    "arff": Reader(".arff", _arff),
    "json lines": Reader(".jsonl", _json_lines, 1),
    "bif": Reader(".bif", _bif, in_file=False),
    "loss": Reader(".csv", _loss, 32),
    "loss in toml": Reader(".toml", _loss, 32),
    "recipe": Reader(".toml", _recipe),
    "value": Reader(".txt", _value, 32, in_file=False),
}
