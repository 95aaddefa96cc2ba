"""ARFF files: read, or refused by name."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from fuzz.mutations import mutate_bytes
from lyceum.data import scan
from lyceum.errors import LyceumError

__all__ = ["case", "make"]

SAMPLES = (
    "@relation r\n@attribute a numeric\n@attribute b {red,'a b',blue}\n@data\n1,red\n?,blue\n2,'a b'\n",
    "% comment\n@RELATION 'a b'\n@ATTRIBUTE x REAL\n@ATTRIBUTE y {0,1}\n@DATA\n{0 1.5, 1 1}\n{}\n{1 1}\n",
    "@relation d\n@attribute when date 'yyyy-MM-dd'\n@attribute s string\n@data\n2020-01-01,'x y'\n?,?\n",
    "@relation w\n@attribute i integer [0,10]\n@attribute c {a,b}\n@data\n1,a,{2}\n2,b,{0.5}\n",
)
PIECES = (
    "{",
    "}",
    "²",
    "'",
    '"',
    "@data",
    "@attribute",
    "?",
    ",",
    "\n",
    "%",
    "{}",
    "{0 ²}",
    "\\",
    "\t",
    "numeric",
)


def make() -> Path:
    return Path(tempfile.mkdtemp())


def case(folder: Path, rng: np.random.Generator) -> str:
    """Damage a sample, also by pieces of ARFF's own grammar, and read it."""
    text = str(rng.choice(SAMPLES))
    for _ in range(rng.integers(0, 4)):
        at, piece = int(rng.integers(len(text))), str(rng.choice(PIECES))
        text = text[:at] + piece + text[at + int(rng.integers(0, 3)) :]
    data = mutate_bytes(text.encode(), rng) if rng.random() < 0.3 else text.encode()
    (folder / "t.arff").write_bytes(data)
    try:
        rows = scan(folder / "t.arff")
        np.concatenate([block.X for block in rows.blocks()])
    except LyceumError:
        return "refused"
    return "read"
