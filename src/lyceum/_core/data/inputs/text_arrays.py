"""Arrays and lists with text in them: which columns hold it, and the same cells as a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data
from lyceum.errors import SchemaError


def text_array(X: Data, needs_text: bool = True) -> np.ndarray | None:
    """X as a two-dimensional array of objects if it is an array or a list with text in it, else
    None.

    Without `needs_text` any array of objects will do: all texts may be missing in these rows.

    >>> text_array([["a", 1.5], ["b", 2.5]]).tolist(), text_array([[1.5], [2.5]])
    ([['a', 1.5], ['b', 2.5]], None)
    """
    if (
        not isinstance(X, np.ndarray | list | tuple)
        or (isinstance(X, np.ndarray) and X.ndim != 2)
        or not len(X)
    ):
        return None
    try:
        cells = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    except ValueError:  # rows of different lengths, which the checks of numbers refuse
        return None
    if cells.ndim != 2 or cells.dtype.kind not in "OUS":
        return None
    if cells.dtype.kind == "S":
        cells = np.char.decode(cells, "utf-8")
    cells = cells.astype(object)
    if not needs_text or text_columns(cells):
        return cells
    return None


def text_columns(cells: np.ndarray) -> list[int]:
    """The places of the columns with text in some row."""
    return [
        j
        for j in range(cells.shape[1])
        if any(isinstance(cell, str) for cell in cells[:, j])
    ]


def text_table(
    cells: np.ndarray,
    names: Sequence[str],
    categorical: Collection[str],
    caller: str,
    why: str = "",
) -> pa.Table:
    """The cells as a table: columns of categories as they are, the others as numbers.

    Parameters
    ----------
    cells : array of shape (n, d), of objects
    names : sequence of str
    categorical : collection of str
        The columns that may hold text.
    caller : str
        The learner, for messages.
    why : str
        What to do about text in another column, for messages.
    """
    columns = {}
    for j, name in enumerate(names):
        column = cells[:, j]
        if name in categorical:
            columns[name] = _categories(column, name)
        else:
            columns[name] = number_cells(column, name, caller, why)
    return pa.table(columns)


def _categories(column: np.ndarray, name: str) -> pa.Array:
    missing = is_missing_cell(column)
    check_one_type(column, missing, name)
    if missing.all() or isinstance(column[~missing][0], str):
        return pa.array(column, mask=missing, type=pa.string())
    return pa.array(number_cells(column, name, "", ""), from_pandas=True)


def check_one_type(column: np.ndarray, missing: np.ndarray, name: str) -> None:
    """Raise SchemaError if the cells that are not missing are neither all text nor all numbers."""
    kinds = {isinstance(cell, str) for cell in column[~missing]}
    if len(kinds) > 1:
        raise SchemaError(
            f"column {name!r} holds text and numbers, {_example(column)!r} among them: make them"
            " all text"
        )


def number_cells(column: np.ndarray, name: str, caller: str, why: str) -> np.ndarray:
    """The cells of a column as floats, NaN where they are missing; `caller` and `why` are for
    messages."""
    numbers = np.full(len(column), np.nan)
    known = ~is_missing_cell(column)
    try:
        numbers[known] = column[known].astype(np.float64)
    except ValueError:
        raise SchemaError(
            f"column {name!r} holds text, e.g. {_example(column)!r}, which {caller} cannot compute"
            f" with: {why}"
        ) from None
    return numbers


def is_missing_cell(column: np.ndarray) -> np.ndarray:
    """Which cells of a column are None or NaN."""
    return np.array([cell is None or cell != cell for cell in column], dtype=bool)


def _example(column: np.ndarray) -> str:
    """The first text that is not a number."""
    return next(
        (cell for cell in column if isinstance(cell, str) and not is_number(cell)), ""
    )


def is_number(text: str) -> bool:
    """Whether a text is written as Python writes numbers."""
    try:
        float(text)
    except ValueError:
        return False
    return True
