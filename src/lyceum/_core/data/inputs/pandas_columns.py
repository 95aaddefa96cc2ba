"""Columns of pandas, and other values from Python, as Arrow: what Arrow cannot take is named in the
error."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.data.files.column_names import check_names
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data
from lyceum.errors import SchemaError

# levels of a category type that Arrow has no type for: they become text
_TEXT_LEVELS = ("interval", "period", "mixed", "mixed-integer", "complex")


def _refused() -> tuple[type[Exception], ...]:
    """What Arrow raises of values that it has no type for."""
    return (
        pa.ArrowInvalid,
        pa.ArrowTypeError,
        pa.ArrowNotImplementedError,
        TypeError,
        OverflowError,
        UnicodeEncodeError,
    )


def is_pandas(X: Data) -> bool:
    """Whether X is a frame or a column of pandas."""
    return type(X).__module__.startswith("pandas")


def _checked_names(frame: Any) -> list[str]:
    """The names of the columns as text, each once."""
    names = [str(name) for name in frame.columns]
    check_names(names)
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise SchemaError(
                f"the name of a column {_refusal(np.array([]), error)}"
            ) from error
    return names


def arrow_table(frame: Any) -> pa.Table:
    """A pandas frame as an Arrow table, without its index."""
    names = _checked_names(frame)
    renamed = frame.set_axis(names, axis=1)
    converted = renamed
    for j, dtype in enumerate(renamed.dtypes):
        if _has_arrow_type(dtype):
            continue
        # the frame of the user stays as it is; its cells are not copied
        if converted is renamed:
            converted = renamed.copy(deep=False)
        column = with_arrow_type(renamed.iloc[:, j], f"column {names[j]!r}")
        converted.isetitem(j, column)
    try:
        return pa.Table.from_pandas(converted, preserve_index=False)
    except _refused():
        for name, column in converted.items():
            arrow_array(column, f"column {name!r}")  # says which column it is
        raise


def small_arrow_table(frame: Any) -> pa.Table:
    """The same, column by column and without pandas' notes on its types, which is faster for few
    cells."""
    names = _checked_names(frame)
    columns = []
    for name, (_, column) in zip(names, frame.items()):
        dtype = column.dtype
        # `from_pandas` makes NaN a missing cell, as `Table.from_pandas` does
        is_number = isinstance(dtype, np.dtype) and dtype.kind in "iufb"
        if is_number and _has_arrow_type(dtype):
            columns.append(pa.array(column.to_numpy(), from_pandas=True))
        else:
            what = f"column {name!r}"
            columns.append(arrow_array(with_arrow_type(column, what), what))
    return pa.table(columns, names)


def _has_arrow_type(dtype: Any) -> bool:
    if isinstance(dtype, np.dtype):
        return dtype.isnative and (dtype.kind != "f" or dtype.itemsize <= 8)
    return type(dtype).__name__ != "SparseDtype" and not has_text_levels(dtype)


def has_text_levels(dtype: Any) -> bool:
    """Whether a type of pandas is a category type whose levels are read as text: Arrow has no type
    for them.

    >>> import pandas as pd
    >>> has_text_levels(pd.cut([1, 5], 2).dtype), has_text_levels(pd.CategoricalDtype([1, 2]))
    (True, False)
    """
    levels = getattr(dtype, "categories", None)
    return getattr(levels, "inferred_type", "") in _TEXT_LEVELS


def with_arrow_type(column: Any, what: str) -> Any:
    """A column of pandas in a type that Arrow has, where there is one; `what` names it in errors.

    Sparse columns become dense, bytes get this machine's order, and longer floats are rounded to
    64 bits. The levels of a category
    type that are neither text nor numbers, such as the intervals of `pandas.cut`, become text and
    keep their order.
    """
    dtype = column.dtype
    if _has_arrow_type(dtype):
        return column
    if type(dtype).__name__ == "SparseDtype":
        return column.sparse.to_dense()
    if isinstance(dtype, np.dtype):
        is_long = dtype.kind == "f" and dtype.itemsize > 8
        return column.astype(np.float64 if is_long else dtype.newbyteorder("="))
    try:
        return column.cat.rename_categories(str)
    except ValueError as error:
        raise SchemaError(
            f"{what} has levels that are the same as text, such as 1 and '1': rename one of them"
        ) from error


def arrow_array(values: ArrayLike, what: str) -> pa.Array | pa.ChunkedArray:
    """Values of Python, NumPy or pandas as Arrow; `what` names them in errors.

    >>> arrow_array(np.array(["a", 1], dtype=object), "column 'size'")
    Traceback (most recent call last):
    lyceum.errors.SchemaError: column 'size' mixes types (int, str) that no table can hold ...
    """
    try:
        return pa.array(values, from_pandas=True)
    except _refused() as error:
        # Arrow tries signed numbers only
        if isinstance(error, OverflowError):
            with suppress(*_refused()):
                return pa.array(values, pa.uint64(), from_pandas=True)
        cells = np.asarray(values, dtype=object)
        type_ = str(getattr(values, "dtype", ""))
        raise SchemaError(f"{what} {_refusal(cells, error, type_)}") from error


def _refusal(values: np.ndarray, error: Exception, type_: str = "") -> str:
    """What is wrong with values of a type that Arrow has refused, and what to do."""
    if isinstance(error, UnicodeEncodeError):
        return (
            f"holds {error.object[error.start]!a}, half a character, which is no valid Unicode"
            " text: replace it"
        )
    present = [value for value in values.tolist() if not is_missing(value)]
    types = sorted({type(value).__name__ for value in present})
    whole = [int(value) for value in present if isinstance(value, int | np.integer)]
    largest = max(whole, key=abs, default=0)
    if largest not in range(-(1 << 63), 1 << 63):
        # what fits without a sign is refused only beside negative numbers
        signed = " with a sign" * (0 < largest < 1 << 64)
        return (
            f"holds whole numbers beyond 64 bits{signed}, such as {_shown(largest)}: give it as"
            " text, e.g. astype(str)"
        )
    if abs(largest) > 1 << 53 and set(types) <= {"int", "float"}:
        return (
            f"holds whole numbers that floats round, such as {largest}, beside decimals: give it as"
            " text, astype(str), or as rounded numbers, astype(float)"
        )
    if len(types) > 1:
        return (
            f"mixes types ({', '.join(types)}) that no table can hold together: give it one type,"
            " e.g. astype(str)"
        )
    return (
        f"holds values of type {', '.join(types) or type_}, which cannot be used: turn it into"
        " numbers or text"
    )


def _shown(number: int) -> str:
    """A whole number, however long: of a very long one only its size."""
    if number.bit_length() > 1000:
        return f"one of {number.bit_length():,} bits"
    return str(number)


def is_missing(value: object) -> bool:
    """Whether an object stands for a missing value: None, NaN, or pandas' NA and NaT."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")
