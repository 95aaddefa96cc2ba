"""Small changes at random: of bytes, texts, numbers, arrays and JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["mutate_array", "mutate_bytes", "mutate_json", "mutate_number"]

INTEGERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    127,
    255,
    2**15,
    2**31 - 1,
    -(2**31),
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan)
TEXTS = (
    "",
    "nan",
    "-1",
    "a" * 300,
    "categorical",
    "binary",
    "\x00",
    "\x1b[31m",
    "=1+1",
    "é",
    "continuous",
)


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with one to four changes: bits flipped, pieces removed, repeated, swapped,
    overwritten."""
    content = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        if not content:
            return bytes(rng.integers(0, 256, 5, dtype=np.uint8))
        start = int(rng.integers(len(content)))
        stop = min(
            len(content), start + int(rng.integers(1, 1 + min(64, len(content))))
        )
        how = rng.integers(5)
        if how == 0:
            content[start] ^= 1 << int(rng.integers(8))
        elif how == 1:
            del content[start:stop]
        elif how == 2:
            content[start:start] = content[start:stop]
        elif how == 3:
            content[start:stop] = rng.integers(
                0, 256, stop - start, dtype=np.uint8
            ).tobytes()
        else:
            other = int(rng.integers(len(content)))
            content[start], content[other] = content[other], content[start]
    return bytes(content)


def mutate_number(value: float, rng: np.random.Generator) -> Any:
    """A number near this one, far from it, or of another type."""
    if isinstance(value, bool):
        return rng.choice([0, 1, 2, -1]).item()
    near = [value + 1, value - 1, -value, value * 2]
    choices = [*near, *INTEGERS] if isinstance(value, int) else [*near, *REALS]
    return choices[rng.integers(len(choices))]


def mutate_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The array with other cells, another shape or another type of cells."""
    how = rng.integers(10)
    if how <= 4 and array.size:
        return _other_cells(array, rng)
    if how == 5 and array.size:
        return array[: rng.integers(len(array))] if array.ndim else array.reshape(1)
    if how == 6:
        return (
            np.concatenate([array, array[:1]])
            if array.ndim and len(array)
            else array.reshape(*array.shape, 1)
        )
    if how == 7:
        return array.T.copy() if array.ndim > 1 else array.reshape(-1, 1)
    if how == 8 and array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            return array.astype(
                rng.choice(
                    ["f8", "f4", "i8", "i4", "i1", "u1", "?", ">f8", ">i4", "S3", "U2"]
                )
            )
    return rng.permutation(array) if array.ndim and len(array) > 1 else array[..., None]


def _other_cells(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = array.copy()
    if array.dtype.names:  # the table of a tree of scikit-learn: one of its columns
        name = array.dtype.names[rng.integers(len(array.dtype.names))]
        changed[name] = _other_cells(array[name], rng)
        return changed
    cells = changed.reshape(-1)
    for place in rng.integers(cells.size, size=rng.integers(1, 4)):
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            value = mutate_number(int(cells[place]), rng)
            cells[place] = min(max(int(value), limits.min), limits.max)
        elif array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                cells[place] = mutate_number(float(cells[place]), rng)
        elif array.dtype.kind == "b":
            cells[place] = not cells[place]
        elif array.dtype.kind in "US":
            cells[place] = (
                TEXTS[rng.integers(len(TEXTS))].encode("utf8")
                if array.dtype.kind == "S"
                else TEXTS[rng.integers(len(TEXTS))]
            )
    return changed


def mutate_json(value: Any, rng: np.random.Generator) -> Any:
    """Another JSON value in the place of this one."""
    if isinstance(value, bool | int | float):
        return mutate_number(value, rng)
    choices = [
        None,
        True,
        0,
        -1,
        1e308,
        "",
        "x",
        [],
        {},
        [None],
        {"a": 1},
        "nan",
        2**63,
    ]
    if isinstance(value, str):
        return [*TEXTS, value[:-1], value + "x", *choices][
            rng.integers(len(TEXTS) + 2 + len(choices))
        ]
    return choices[rng.integers(len(choices))]
