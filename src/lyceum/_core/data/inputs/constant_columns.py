"""Frames in which some columns hold one cell in every row, in the frame's own types."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from lyceum._core.data.inputs.arrow import column_class, to_arrow
from lyceum._core.data.schema.column import Column
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa, pt

_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # of a second


def constant_columns(
    frame: Any, cells: np.ndarray, schema: Schema
) -> Callable[[np.ndarray], Any]:
    """A function of a mask, (d,): the frame, with one cell in every row of the columns that are
    masked.

    Every cell is given in the type that its column has in the frame: numbers of integer columns are
    rounded, codes are their categories, seconds are times. A column keeps its own cells if its type
    has no value for a missing one.

    Parameters
    ----------
    frame : pandas or Polars frame, or Arrow table
        With the columns of the schema, in its order.
    cells : array of shape (d,)
        A coded cell of every column.
    schema : Schema

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"n": [1, 2], "town": ["Ulm", "Bonn"]})
    >>> columns = (Column("n"), Column("town", "binary", np.array(["Bonn", "Ulm"])))
    >>> replaced = constant_columns(frame, np.array([3.4, 1.0]), Schema(columns))
    >>> replaced(np.array([True, True])).values.tolist()
    [[3, 'Ulm'], [3, 'Ulm']]
    """
    table = to_arrow(frame)
    values = [
        _value(cell, column, field.type)
        for cell, column, field in zip(cells, schema, table.schema)
    ]
    library = type(frame).__module__.split(".")[0]
    if library not in ("pandas", "polars"):
        frame = table
        library = "pyarrow"
    columns = [_LIBRARIES[library](frame, j, value) for j, value in enumerate(values)]

    def hold_columns(mask: np.ndarray) -> Any:
        held = frame
        if library == "pandas":
            held = frame.copy(deep=False)
        for j in np.flatnonzero(mask).tolist():
            if columns[j] is None:
                continue
            if library == "pandas":
                held.isetitem(j, columns[j])
            elif library == "polars":
                held = held.with_columns(columns[j])
            else:
                held = held.set_column(j, held.schema.field(j), columns[j])
        return held

    return hold_columns


def _value(cell: float, column: Column, kind: pa.DataType) -> Any:
    """The cell as Python writes it; None if it is missing."""
    if not np.isfinite(cell):
        return None
    if not column.numeric:
        assert column.categories is not None
        if cell >= 0:
            return column.categories[int(cell)].item()
        return None
    holds = column_class(kind, column.name)
    if holds == "time" and pt.is_date(kind):
        n_days = int(float(cell) // 86400)
        days = pa.scalar(n_days, pa.int32())
        return days.cast(pa.date32()).as_py()
    if holds == "time":
        # a number of the type's own units, in as many bits as the type has
        count = round(float(cell) * _PARTS[kind.unit])
        whole = pa.int32() if pt.is_time32(kind) else pa.int64()
        return pa.scalar(count, whole).cast(kind).as_py()
    if holds == "bool":
        return bool(cell > 0)
    if pt.is_integer(kind):
        return round(float(cell))
    return float(cell)


def _pandas_column(frame: Any, j: int, value: Any) -> Any:
    dtype = frame.dtypes.iloc[j]
    # NumPy's integers and booleans have no missing value
    if value is None and isinstance(dtype, np.dtype) and dtype.kind in "iub":
        return None
    return importlib.import_module("pandas").Series(
        [value] * len(frame), index=frame.index, dtype=dtype
    )


def _polars_column(frame: Any, j: int, value: Any) -> Any:
    made = importlib.import_module("polars").Series(
        frame.columns[j], [value], dtype=frame.dtypes[j]
    )
    return made.new_from_index(0, len(frame))


def _arrow_column(table: pa.Table, j: int, value: object) -> Any:
    kind = table.schema.field(j).type
    if pt.is_dictionary(kind):
        plain = pa.array([value], kind.value_type)
        cell = plain.dictionary_encode().cast(kind)
    else:
        cell = pa.array([value], kind)
    zeros = np.zeros(table.num_rows, dtype=np.int64)
    return cell.take(pa.array(zeros))


_LIBRARIES: dict[str, Callable[[Any, int, Any], Any]] = {
    "pandas": _pandas_column,
    "polars": _polars_column,
    "pyarrow": _arrow_column,
}
