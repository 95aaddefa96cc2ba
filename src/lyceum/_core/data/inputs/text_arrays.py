"""Arrays and lists with text in them: which columns hold it, the same cells as a table, and their
codes in the schema of a fitted model, for which no package but NumPy is needed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lyceum._core.data.inputs.arrow import EXACT
from lyceum._core.data.inputs.pandas_columns import arrow_array
from lyceum._core.data.rows.sources import ArraySource
from lyceum._core.data.schema.column import Column
from lyceum._core.data.schema.schema import Schema
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
    """The indices of the columns with text in some row."""
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
        if name not in categorical:
            columns[name] = number_cells(column, name, caller, why)
            continue
        missing = is_missing_cell(column)
        check_one_type(column, missing, name)
        if missing.all() or isinstance(column[~missing][0], str):
            columns[name] = pa.array(column, mask=missing, type=pa.string())
        else:
            columns[name] = _number_column(column, name)
    return pa.table(columns)


def text_source(
    cells: np.ndarray, schema: Schema, caller: str, why: str
) -> ArraySource:
    """The cells in memory, coded as `coded_source` codes the table that `text_table` makes of them.

    Parameters
    ----------
    cells : array of shape (n, d), of objects
        Numbers, text, and None or NaN where a cell is missing.
    schema : Schema
        The columns that were learned.
    caller : str
        The learner, for messages.
    why : str
        What to do about text in a column of numbers, for messages.

    Examples
    --------
    >>> schema = Schema.declare({"sky": ["clear", "rain"], "degrees": "continuous"})
    >>> cells = np.array([["rain", 20.5], [None, None], ["snow", "3"]], dtype=object)
    >>> text_source(cells, schema, "A learner", "").X.tolist()
    [[1.0, 20.5], [nan, nan], [-1.0, 3.0]]
    """
    columns = list(schema.columns)
    X = np.empty(cells.shape)
    for j, column in enumerate(columns):
        values = cells[:, j]
        if column.numeric:
            X[:, j] = number_cells(values, column.name, caller, why)
            continue
        missing = is_missing_cell(values)
        check_one_type(values, missing, column.name)
        if column.is_free_text and not missing.all():
            # it lists the texts of these rows, in the order in which they come
            texts = list(dict.fromkeys(values[~missing].tolist()))
            columns[j] = replace(column, categories=np.array(texts, dtype=object))
        X[:, j] = _codes(values, missing, columns[j])
    return ArraySource(
        X, None, None, replace(schema, columns=tuple(columns)), coded=True
    )


def _codes(values: np.ndarray, missing: np.ndarray, column: Column) -> np.ndarray:
    """The codes of cells that are all text or all numbers: NaN when missing, -1 when unknown."""
    assert column.categories is not None
    present = values[~missing]
    codes = np.full(len(values), np.nan)
    if not len(present):
        return codes
    if isinstance(present[0], str) != column.is_text:
        raise _wrong_type(present[0], column)
    # Python compares whole numbers of any size, floats and texts exactly
    code_of = {value: code for code, value in enumerate(column.categories.tolist())}
    codes[~missing] = [code_of.get(cell, -1) for cell in present]
    return codes


def _wrong_type(cell: object, column: Column) -> SchemaError:
    if isinstance(cell, str):
        return SchemaError(
            f"column {column.name!r} holds text such as {cell!r} where numbers are expected: clean"
            " it, or make it categorical from the start"
        )
    learned = "free text"
    if not column.is_free_text:
        assert column.categories is not None
        learned = f"text such as {str(column.categories[0])!r}"
    return SchemaError(
        f"column {column.name!r} holds numbers where {learned} was learned: give it as text"
    )


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
    present = ~is_missing_cell(column)
    try:
        numbers[present] = column[present].astype(np.float64)
    except ValueError:
        raise SchemaError(
            f"column {name!r} holds text, e.g. {_example(column)!r}, which {caller} cannot compute"
            f" with: {why}"
        ) from None
    return numbers


def check_whole_cells(
    X: Data, names: Sequence[str], categorical: Collection[str]
) -> None:
    """Raise if columns of categories hold whole numbers that an array of numbers would merge.

    Arrays of signed integers keep every value; of objects, lists and unsigned integers, cells
    become floats.

    >>> check_whole_cells([[2**60, 0.5]], ["account", "size"], ["account"])
    Traceback (most recent call last):
    lyceum.errors.SchemaError: column 'account' holds the whole number 1152921504606846976, ...
    """
    if not categorical or not isinstance(X, np.ndarray | list | tuple):
        return
    if isinstance(X, np.ndarray) and X.dtype.kind != "O" and X.dtype != np.uint64:
        return
    cells = np.asarray(X, dtype=object)
    for j, name in enumerate(names):
        large = _large_integer(cells[:, j]) if name in categorical else None
        if large is not None:
            raise SchemaError(
                f"column {name!r} holds the whole number {large}, which becomes a float here, the"
                " same as its neighbors: give it as text, e.g. astype(str), or in an array of int64"
            )


def _number_column(column: np.ndarray, name: str) -> pa.Array | pa.ChunkedArray:
    """Cells that are numbers, or missing, as a column: large whole numbers keep their value."""
    if _large_integer(column) is not None:
        cells = [_as_integer(cell) for cell in column]
        return arrow_array(np.array(cells, dtype=object), f"column {name!r}")
    return pa.array(number_cells(column, name, "", ""), from_pandas=True)


def _as_integer(cell: Any) -> Any:
    """A float that is whole as a whole number, other cells as they are."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell


def _large_integer(cells: np.ndarray) -> int | None:
    """The first whole number that floats may not tell from its neighbors."""
    whole = (int(cell) for cell in cells if isinstance(cell, int | np.integer))
    return next((number for number in whole if abs(number) > EXACT), None)


def is_missing_cell(column: np.ndarray) -> np.ndarray:
    """Which cells of a column are None or NaN."""
    # NaN alone is not equal to itself
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
