"""Frames of any library as Arrow tables, and Arrow columns as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from lyceum._core.data.files.column_names import check_names
from lyceum._core.data.inputs.pandas_columns import (
    arrow_table,
    is_pandas,
    small_arrow_table,
)
from lyceum._core.lazy_arrow import is_arrow, pa, pc, pt
from lyceum._core.types import Data
from lyceum.errors import SchemaError

# cells below which pyarrow's threads and notes take longer than the conversion
_SMALL = 1 << 17
EXACT = 2**53  # whole numbers up to this are exact as floats


def is_frame(X: Data) -> bool:
    """Whether X is a frame of named columns that speaks Arrow (pandas, Polars, pyarrow, DuckDB)."""
    if is_arrow(X, "Table", "RecordBatch", "RecordBatchReader") or _is_lazy(X):
        return True
    return hasattr(X, "columns") and (hasattr(X, "__arrow_c_stream__") or is_pandas(X))


def _is_lazy(X: Data) -> bool:
    """Whether X is a lazy frame of Polars, whose columns are not known before it is collected."""
    return type(X).__module__.startswith("polars") and type(X).__name__ == "LazyFrame"


def decode_dictionary(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A dictionary-encoded column as its values, another as it is."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def to_arrow(frame: Any) -> pa.Table:
    """The frame as an Arrow table, without its index."""
    if _is_lazy(frame):
        frame = frame.collect()
    is_polars = type(frame).__module__.startswith("polars")
    if isinstance(frame, pa.Table):
        table = frame
    elif isinstance(frame, pa.RecordBatch):
        table = pa.Table.from_batches([frame])
    elif isinstance(frame, pa.RecordBatchReader):
        table = frame.read_all()
    elif is_pandas(frame):
        table = arrow_table(frame)
    else:
        table = pa.table(frame)
    table = plain_text(table)
    # Polars' Categorical has no order of its own, as its Enum has: its levels are sorted
    if is_polars:
        columns = zip(table.column_names, table.columns, frame.dtypes)
        table = replace_columns(
            table,
            {
                name: _sorted_levels(column)
                for name, column, dtype in columns
                if str(dtype).startswith("Categorical")
            },
        )
    check_names(table.column_names)
    return table


def frame_table(frame: Any) -> pa.Table:
    """As `to_arrow`, but of a small pandas frame the cells alone, without pandas' notes on its
    types."""
    if is_pandas(frame) and 0 < frame.size <= _SMALL:
        return plain_text(small_arrow_table(frame))
    return to_arrow(frame)


def _sorted_levels(column: pa.ChunkedArray) -> pa.Array:
    cells = column.unify_dictionaries().combine_chunks()
    if isinstance(cells, pa.ChunkedArray):
        return cells
    # order[r] is the old code of the level of rank r, rank its inverse: old codes to new ones
    order = pc.array_sort_indices(cells.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    indices = pa.array(rank).take(cells.indices)
    return pa.DictionaryArray.from_arrays(
        indices, cells.dictionary.take(pa.array(order))
    )


def plain_text(table: Any) -> Any:
    """With string views, which few of Arrow's functions take, as plain strings."""
    plain = {}
    for name, column in zip(table.column_names, table.columns):
        if column.type == pa.string_view():
            plain[name] = _plain_views(column)
        elif (
            pt.is_dictionary(column.type) and column.type.value_type == pa.string_view()
        ):
            plain[name] = _plain_dictionary(column)
    return replace_columns(table, plain)


def _plain_views(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """String views as plain strings.

    Arrow's cast also adds up the lengths of missing cells, which no check looks at and which may be
    anything: they become empty texts before it, and missing again behind it.
    """
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array(map(_plain_views, column.chunks), pa.large_string())
    if not column.null_count:
        return column.cast(pa.large_string())
    n = len(column)
    is_valid = np.asarray(column.is_valid())
    _, view_buffer, *texts = column.buffers()
    # a view has 16 bytes; zeros are the empty text
    start = 16 * column.offset
    views = np.frombuffer(view_buffer, np.uint8)[start : start + 16 * n].reshape(n, 16)
    views = np.where(is_valid[:, None], views, np.uint8(0))
    buffers = [None, pa.py_buffer(views), *texts]
    plain = pa.Array.from_buffers(pa.string_view(), n, buffers)
    missing = pa.scalar(None, pa.large_string())
    return pc.if_else(pa.array(is_valid), plain.cast(pa.large_string()), missing)


def _plain_dictionary(
    column: pa.Array | pa.ChunkedArray,
) -> pa.Array | pa.ChunkedArray:
    # chunk by chunk, as each has a dictionary of its own
    if isinstance(column, pa.ChunkedArray):
        kind = pa.dictionary(pa.int32(), pa.large_string())
        return pa.chunked_array(map(_plain_dictionary, column.chunks), kind)
    values = _plain_views(column.dictionary)
    indices = column.indices.cast(pa.int32())
    return pa.DictionaryArray.from_arrays(indices, values)


def replace_columns(
    table: Any, columns: Mapping[str, pa.Array | pa.ChunkedArray]
) -> Any:
    """The table or record batch with some of its columns replaced, by name.

    >>> replace_columns(pa.table({"a": [1], "b": [2]}), {"b": pa.array(["two"])}).to_pydict()
    {'a': [1], 'b': ['two']}
    """
    if not columns:
        return table
    names = table.schema.names
    arrays = [columns.get(name, cells) for name, cells in zip(names, table.columns)]
    return type(table).from_arrays(arrays, names)


def column_class(kind: pa.DataType, name: str) -> str:
    """What a column holds: "number", "number-dictionary", "text", "bool", "time" or "empty"."""
    values = kind.value_type if pt.is_dictionary(kind) else kind
    for holds, accepts in _classes().items():
        if any(accept(values) for accept in accepts):
            # a category of true and false is a column of true and false
            if values is kind or holds in ("text", "bool"):
                return holds
            return "number-dictionary"
    raise SchemaError(
        f"column {name!r} is of type {kind}, which cannot be used: turn it into columns of numbers"
        " or text, or leave it out"
    )


@cache
def _classes() -> dict[str, tuple[Callable[[Any], bool], ...]]:
    """What Arrow's types hold; a function, as pyarrow is imported where it is first needed."""
    return {
        "number": (pt.is_integer, pt.is_floating, pt.is_decimal),
        "bool": (pt.is_boolean,),
        "text": (pt.is_string, pt.is_large_string, pt.is_string_view),
        "time": (pt.is_timestamp, pt.is_date, pt.is_time, pt.is_duration),
        "empty": (pt.is_null,),
    }


def numbers(column: pa.Array | pa.ChunkedArray, name: str) -> np.ndarray:
    """The cells as floats, missing ones as NaN; times as seconds since 1970."""
    holds = column_class(column.type, name)
    if holds == "empty" or (holds == "text" and column.null_count == len(column)):
        return np.full(len(column), np.nan)
    if holds == "text":
        example = column.drop_null()[0].as_py()
        raise SchemaError(
            f"column {name!r} holds text such as {example!r} where numbers are expected: clean it,"
            " or make it categorical from the start"
        )
    if holds == "number-dictionary":
        return numbers(column.cast(column.type.value_type), name)
    if holds == "time":
        column = _seconds(column)
    elif holds == "bool":
        column = decode_dictionary(column).cast(pa.uint8())
    if pt.is_decimal(column.type):
        column = column.cast(pa.float64())
    if isinstance(column, pa.Array):
        values = column.to_numpy(zero_copy_only=False)
    else:
        values = column.to_numpy()
    # single precision stays, half does not: the kernels do not take it
    if values.dtype.kind == "f" and values.dtype.itemsize >= 4:
        return values
    return values.astype(np.float64)


def has_large_levels(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a dictionary has whole numbers as levels that floats would merge."""
    if not pt.is_dictionary(column.type) or not pt.is_integer(column.type.value_type):
        return False
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    for chunk in chunks:
        limits = pc.min_max(chunk.dictionary)
        low = limits["min"].as_py()
        high = limits["max"].as_py()
        if low is not None and max(-low, high) > EXACT:
            return True
    return False


def check_exact(column: pa.Array | pa.ChunkedArray, name: str) -> None:
    """Raise if a column of decimals has numbers that floats would merge, where it holds categories.

    >>> check_exact(pa.array([10**30, 5], pa.decimal128(38, 0)), "account")
    Traceback (most recent call last):
    lyceum.errors.SchemaError: column 'account' holds 1000000000000000000000000000000, which ...
    """
    if not pt.is_decimal(column.type):
        return
    far = pc.greater(pc.abs(column.cast(pa.float64())), EXACT)
    odd = column.filter(pc.fill_null(far, False))
    if len(odd):
        raise SchemaError(
            f"column {name!r} holds {odd[0]}, which is rounded as a number: where it stands for a"
            " category or a label, give it as text"
        )


def _seconds(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Times as seconds since 1970, times of day since midnight, exact to the microsecond.

    The counts become floats in their own unit: in a smaller one, far dates would not fit into 64
    bits.
    """
    kind = column.type
    if pt.is_date32(kind):
        days = column.cast(pa.int32()).cast(pa.float64())
        return pc.multiply(days, 86400.0)
    if pt.is_time32(kind):
        counts = column.cast(pa.int32())
    else:
        counts = column.cast(pa.int64())
    unit = "ms" if pt.is_date64(kind) else kind.unit
    if unit == "ns":
        # whole microseconds: floats hold those of some centuries
        counts = pc.divide(counts, 1000)
        unit = "us"
    return pc.divide(counts.cast(pa.float64(), safe=False), _PER_SECOND[unit])


_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6}
