"""Arrays with text in them, coded by the schema of a fitted model: no package but NumPy is
needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lyceum._core.data.inputs.text_arrays import (
    check_one_type,
    is_missing_cell,
    number_cells,
)
from lyceum._core.data.rows.sources import ArraySource
from lyceum._core.data.schema.coding import codes_of
from lyceum._core.data.schema.column import Column
from lyceum._core.data.schema.schema import Schema
from lyceum.errors import SchemaError


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
        if column.is_free_text:
            columns[j] = _with_texts(column, values[~missing])
        X[:, j] = _codes(values, missing, columns[j])
    return ArraySource(
        X, None, None, replace(schema, columns=tuple(columns)), coded=True
    )


def _codes(values: np.ndarray, missing: np.ndarray, column: Column) -> np.ndarray:
    """The codes of cells that are all text or all numbers: NaN when missing, -1 when unknown."""
    assert column.categories is not None
    known = values[~missing]
    codes = np.full(len(values), np.nan)
    if not len(known):
        return codes
    if isinstance(known[0], str) != column.is_text:
        raise _wrong_type(known[0], column)
    if column.is_text:
        code_of = {text: code for code, text in enumerate(column.categories.tolist())}
        codes[~missing] = [code_of.get(text, -1) for text in known]
    else:
        codes[~missing] = codes_of(
            number_cells(known, column.name, "", ""), column.categories
        )
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


def _with_texts(column: Column, known: np.ndarray) -> Column:
    """A column of free text with the texts of these rows listed, in the order in which they
    come."""
    texts = list(dict.fromkeys(known.tolist()))
    if texts:
        return replace(column, categories=np.array(texts, dtype=object))
    return column
