"""Small texts in every format: understood, and the same when written and read again, or refused by name.

`csv_files` reads larger CSV files in blocks and by several threads.
"""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz import Finding
from fuzz.samples import SAMPLES
from lyceum.cli._options import settings_of
from lyceum.data import _csv, scan
from lyceum.data._arff import read_arff
from lyceum.errors import LyceumError
from lyceum.networks import read_bif, write_bif
from lyceum.probability import LossMatrix
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


@dataclass(frozen=True)
class Reader:
    """How one format is read, and perhaps read back."""

    ending: str
    read: Callable[[Path], Any]
    weight: int = 8  # how often it comes; whole tables take longer to read


def make() -> Path:
    """A folder in memory where there is one."""
    pa.set_cpu_count(1)
    _csv._READ_BYTES, _csv._STREAM_BYTES = 1 << 14, 1 << 14  # Arrow clears them for every file
    warnings.simplefilter("ignore")
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))


def case(folder: Path, rng: np.random.Generator) -> str:
    """Change a sample by characters, lines and pieces of its own grammar, and read it."""
    draw = random.Random(int(rng.integers(2**62)))
    name = draw.choices(list(READERS), [reader.weight for reader in READERS.values()])[0]
    reader = READERS[name]
    path = folder / f"text{reader.ending}"
    data = changed(draw.choice(SAMPLES[name]), draw)
    path.write_bytes(data)
    try:
        reader.read(path)
    except LyceumError:
        return f"{name} refused"
    except Finding as finding:
        raise Finding(f"{name} of {data!r}: {finding}") from None
    except Exception as error:
        raise Finding(f"{name} of {data!r}: {error!r}") from error
    return f"{name} read"


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
    return text[:at] + text[at + draw.randrange(1, 12) :] if draw.random() < 0.8 else text[:at]


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


# -- the formats -------------------------------------------------------------------------------------------


def _read_csv(path: Path) -> None:
    """Read at once and as a stream, which must agree."""
    cells, streamed = (np.concatenate([b.X for b in scan(path, memory=m).blocks()]) for m in (1 << 30, 0))
    if not np.array_equal(cells, streamed, equal_nan=True):
        raise Finding(f"{len(cells)} rows at once, {len(streamed)} in a stream, or other cells")


def _arff(path: Path) -> None:
    read_arff(str(path))


def _json_lines(path: Path) -> None:
    np.concatenate([block.X for block in scan(path).blocks()])


def _bif(path: Path) -> None:
    net = read_bif(path)
    again = read_bif(write_bif(net))
    if again.names != net.names or any(
        not np.allclose(again.node(name).table, net.node(name).table) for name in net.names
    ):
        raise Finding("is another network when it is written and read again")


def _loss(path: Path) -> None:
    loss = LossMatrix.read(path)
    again = LossMatrix.read(loss.write(path.with_suffix(".toml"), force=True))
    if not np.array_equal(again.values, loss.values) or again.classes != loss.classes:
        raise Finding("is another matrix when it is written and read again")


def _recipe(path: Path) -> None:
    recipe = Recipe.read(path)
    again = Recipe.read(recipe.write(path), relative=False)
    if again != recipe and "nan" not in repr(recipe):
        raise Finding(f"{recipe} is another recipe when it is written and read again: {again}")


def _value(path: Path) -> None:
    settings_of(["x=" + path.read_bytes().decode("utf8", "replace")])


READERS = {
    "csv": Reader(".csv", _read_csv, 1),
    "arff": Reader(".arff", _arff),
    "json lines": Reader(".jsonl", _json_lines, 1),
    "bif": Reader(".bif", _bif),
    "loss": Reader(".csv", _loss),
    "loss in toml": Reader(".toml", _loss),
    "recipe": Reader(".toml", _recipe),
    "value": Reader(".txt", _value),
}
