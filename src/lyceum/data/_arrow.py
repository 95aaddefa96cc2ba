"""Frames of any library as Arrow tables, and Arrow columns as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from lyceum.errors import DataError, SchemaError

__all__ = ["column_class", "is_frame", "numbers", "to_arrow"]


def is_frame(X: Any) -> bool:
    """Whether X is a frame of named columns that speaks Arrow (pandas, Polars, pyarrow, DuckDB)."""
    if isinstance(X, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return True
    return hasattr(X, "columns") and (hasattr(X, "__arrow_c_stream__") or type(X).__module__.startswith("pandas"))


def to_arrow(frame: Any) -> pa.Table:
    """The frame as an Arrow table, without its index."""
    table = _to_arrow(frame)
    names = table.column_names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SchemaError(f"column names appear twice: {', '.join(map(repr, twice))}: rename them")
    return table


def _to_arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    if type(frame).__module__.startswith("pandas"):
        return _from_pandas(frame)
    return _plain_text(pa.table(frame))


def _plain_text(table: pa.Table) -> pa.Table:
    """With string views, which few of Arrow's functions take, as plain strings."""
    fields = [
        field.with_type(pa.large_string()) if field.type == pa.string_view() else field for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _from_pandas(frame: Any) -> pa.Table:
    renamed = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if not renamed.columns.is_unique:
        twice = sorted(set(renamed.columns[renamed.columns.duplicated()]))
        raise SchemaError(f"column names appear twice: {', '.join(map(repr, twice))}: rename them")
    try:
        return pa.Table.from_pandas(renamed, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise SchemaError(
            f"a column mixes types that no table can hold together ({error}): give it one type, e.g. astype(str)"
        ) from error


def column_class(kind: pa.DataType) -> str:
    """What an Arrow type holds: "number", "text", "bool", "time" or "empty"; other types are refused."""
    if pt.is_dictionary(kind):
        return "text" if column_class(kind.value_type) == "text" else "number-dictionary"
    for name, accepts in _CLASSES.items():
        if any(accept(kind) for accept in accepts):
            return name
    raise SchemaError(f"the type {kind} cannot be used: flatten it into numbers or text first")


def _is_text(kind: pa.DataType) -> bool:
    return pt.is_string(kind) or pt.is_large_string(kind) or kind == pa.string_view()


_CLASSES = {
    "number": (pt.is_integer, pt.is_floating, pt.is_decimal),
    "bool": (pt.is_boolean,),
    "text": (_is_text,),
    "time": (pt.is_timestamp, pt.is_date, pt.is_time, pt.is_duration),
    "empty": (pt.is_null,),
}


def numbers(column: pa.Array | pa.ChunkedArray, name: str) -> np.ndarray:
    """The cells as floats, missing ones as NaN; times as seconds since 1970."""
    holds = column_class(column.type)
    if holds == "text":
        raise SchemaError(f"column {name!r} holds text where numbers are expected: declare it categorical or clean it")
    if holds == "time":
        column = _seconds(column)
    elif holds == "bool":
        column = column.cast(pa.uint8())
    elif holds == "number-dictionary":
        column = column.cast(column.type.value_type)
    elif holds == "empty":
        return np.full(len(column), np.nan)
    if pt.is_decimal(column.type):
        column = column.cast(pa.float64())
    values = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    if values.dtype.kind == "f" and values.dtype.itemsize >= 4:
        return values
    if values.dtype.kind not in "iuf":
        raise DataError(f"column {name!r} could not be read as numbers: it holds {column.type}")
    return values.astype(np.float64)


def _seconds(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    kind = column.type
    if pt.is_date(kind):
        column = column.cast(pa.timestamp("us"))
    elif pt.is_time32(kind):
        column = column.cast(pa.time32("ms")).cast(pa.int32())
        return pc.divide(column.cast(pa.float64()), 1e3)
    elif pt.is_time64(kind):
        column = column.cast(pa.time64("us"))
    elif pt.is_duration(kind):
        column = column.cast(pa.duration("us"))
    else:
        column = column.cast(pa.timestamp("us", tz=kind.tz), safe=False)
    return pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
