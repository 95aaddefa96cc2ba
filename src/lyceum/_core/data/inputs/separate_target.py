"""Rows among arrays: a target that is given beside them, and columns that no array of numbers can
hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.data.schema.schema import Schema
from lyceum.errors import DataError, SchemaError


def refuse_beside_rows(*given: Any) -> None:
    """Raise DataError if a target or weights are given beside rows from `scan`, which carry their
    own."""
    if any(value is not None for value in given):
        raise DataError(
            "rows from scan carry their target and weights: give scan(..., target=, weight=)"
            " instead"
        )


def other_target(rows: Any, y: Any) -> Any:
    """The target given beside rows; None if it is the one that they carry, which scikit-learn's
    tools repeat.

    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[1.0, 2.5], [2.0, 3.5]]), target="x1")
    >>> other_target(rows, [2.5, 3.5]), other_target(rows, [7, 9])
    (None, [7, 9])
    """
    if y is None or rows.schema.target is None:
        return y
    if np.shape(y) != (len(rows),):
        return y
    carried = np.asarray(rows.y)
    given = np.asarray(y)
    # among floats NaN is a missing number; text has none that NumPy could find
    both_floats = carried.dtype.kind == given.dtype.kind == "f"
    if np.array_equal(carried, given, equal_nan=both_floats):
        return None
    return y


def check_numbers(schema: Schema) -> None:
    """Raise SchemaError, which names the column, unless all columns hold numbers."""
    if schema.of_an_array:
        return
    column = next((column for column in schema if not column.numeric), None)
    if column is not None:
        raise SchemaError(
            f"column {column.name!r} holds categories ({column.why}), which an array of numbers"
            " cannot hold: give the rows themselves to a learner of Lyceum, e.g. by"
            " lyceum.evaluate.cross_validate(model, rows), or code the column first,"
            " lyceum.prepare.OneHotEncoder()"
        )
