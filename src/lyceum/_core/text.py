"""Values as people read them, and as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def show(value: object) -> str:
    """A value as people read it: four significant digits for numbers, a dash for NaN.

    >>> show(0.123456), show(-0.0), show(1234567), show(float("nan"))
    ('0.1235', '0', '1,234,567', '–')
    """
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        value = float(value) + 0.0  # no negative zero
        if math.isnan(value):
            return "–"
        if value == 0 or 1e-4 <= abs(value) < 1e6:
            return f"{value:.4g}"
        return f"{value:.3e}"
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(map(show, value))
    return str(value)


def show_cell(cell: Any) -> str:
    """A cell of a table as people read it.

    >>> show_cell(None), show_cell(2.50)
    ('missing', '2.5')
    """
    if cell is None:
        return "missing"
    return show(cell)


def show_count(n: int, noun: str) -> str:
    """A number with its noun in the singular or the plural.

    >>> show_count(1, "row"), show_count(1200, "row"), show_count(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    ending = ""
    if n != 1:
        ending = "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def undetermined_fact(
    n: int, total: int, noun: str, instead: str = ""
) -> dict[str, str]:
    """The line of a summary about what the rows did not determine; empty where they determined all.

    >>> undetermined_fact(1, 4, "coefficient")
    {'not determined': '1 of 4 coefficients; the solution of least norm was taken'}
    >>> undetermined_fact(0, 4, "coefficient")
    {}
    """
    if not n:
        return {}
    counts = f"{n:,} of {show_count(total, noun)}"
    return {
        "not determined": f"{counts}; {instead or 'the solution of least norm was taken'}"
    }


def plain(value: object) -> Any:
    """The value in JSON's own types: objects by their `as_dict()`, arrays as lists, NaN and
    infinity as None.

    >>> plain({"rate": np.float64(0.5), "counts": np.array([1, 2]), "bound": float("inf")})
    {'rate': 0.5, 'counts': [1, 2], 'bound': None}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
        return value.tolist()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if hasattr(value, "as_dict"):
        return plain(value.as_dict())
    return str(value)
