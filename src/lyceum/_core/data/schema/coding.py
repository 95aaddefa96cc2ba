"""Raw cells to coded cells: categories become codes into the schema, everything else a float."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data.files.column_names import missing_columns
from lyceum._core.data.files.text_formats import (
    distinct_texts,
    is_text_type,
    text_format_of,
)
from lyceum._core.data.inputs.arrow import (
    check_exact,
    column_class,
    decode_dictionary,
    has_large_levels,
    numbers,
)
from lyceum._core.data.inputs.pandas_columns import (
    arrow_array,
    is_pandas,
    with_arrow_type,
)
from lyceum._core.data.schema.column import Column, is_beyond_floats
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import is_arrow, pa, pc
from lyceum._core.native import native
from lyceum._core.threads import ordered_map
from lyceum._core.types import Target
from lyceum.errors import MissingValuesError, SchemaError

FEW_ROWS = 1 << 14  # one column of them is read before another thread has woken up


def codes_of(values: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Positions of numbers in the categories, as floats: NaN when missing, -1 when unknown."""
    if values.dtype != categories.dtype or not is_beyond_floats(categories):
        values = values.astype(np.float64, copy=False)
        categories = categories.astype(np.float64, copy=False)
    if not len(categories):
        return np.where(np.isnan(values), np.nan, -1.0)
    # consecutive whole numbers: the code is the distance from the first
    if _is_run(categories):
        with np.errstate(invalid="ignore"):
            known = (
                (values >= categories[0])
                & (values <= categories[-1])
                & (values == np.trunc(values))
            )
        unknown = np.where(np.isnan(values), np.nan, -1.0)
        return np.where(known, values - categories[0], unknown)
    # others are searched in sorted order: where a value would stand, it is found, or it is unknown
    order = np.argsort(categories, kind="stable")
    ranks = np.searchsorted(categories, values, sorter=order)
    indices = order[np.minimum(ranks, len(categories) - 1)]
    equal = categories[indices] == values
    codes = np.where(equal, indices, -1.0)
    return np.where(np.isnan(values), np.nan, codes)


def _is_run(categories: np.ndarray) -> bool:
    """Whether the categories are consecutive whole numbers."""
    first = categories[0]
    last = categories[-1]
    return (
        bool(first == np.trunc(first))
        and last - first == len(categories) - 1
        and bool((np.diff(categories) == 1).all())
    )


def _whole_codes(values: np.ndarray, categories: np.ndarray) -> np.ndarray | None:
    """The codes of whole numbers that are all among consecutive categories, else None."""
    is_whole = len(categories) and categories.dtype.kind in "iu"
    if not is_whole or not _is_run(categories):
        return None
    first = categories[0]
    last = categories[-1]
    if len(values) and (values.min() < first or values.max() > last):
        return None
    codes = values.astype(np.int64, copy=False) - first
    return codes.astype(np.int32)


def _codes_of_values(column: pa.Array | pa.ChunkedArray, of: Column) -> np.ndarray:
    """Positions of Arrow text or numbers in the categories, as floats: NaN when missing, -1 when
    unknown."""
    categories = pa.array(of.categories)
    if isinstance(column, pa.ChunkedArray):
        parts = [_codes_of_values(chunk, of) for chunk in column.chunks]
        return np.concatenate([np.empty(0), *parts])
    has_levels = pa.types.is_dictionary(column.type)
    values = column.dictionary if has_levels else column
    indices = pc.index_in(values.cast(categories.type), value_set=categories)
    codes = indices.fill_null(-1).to_numpy(zero_copy_only=False)
    # of a dictionary every level is looked up once; a missing cell takes the -1 at the end
    if has_levels:
        table = np.append(codes, -1)
        levels = column.indices.fill_null(len(table) - 1)
        codes = table[levels.to_numpy(zero_copy_only=False)]
    codes = codes.astype(np.float64)
    if column.null_count:
        codes[column.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return codes


@dataclass(frozen=True, slots=True)
class ArrayCoder:
    """Codes the cells of plain arrays.

    Whole numbers whose categories are 0, 1, ..., K-1 are their own codes, so an integer array of
    such columns passes as it is; everything else becomes floats.
    """

    schema: Schema

    def __call__(self, X: np.ndarray) -> np.ndarray:
        # the columns of an array are not looked through in every pass
        coded = []
        if not self.schema.of_an_array:
            coded = [j for j, column in enumerate(self.schema) if not column.numeric]
        is_whole = X.dtype.kind in "iu"
        if coded and is_whole and all(map(_is_own_code, self.schema)):
            return np.ascontiguousarray(X)
        dtype = X.dtype
        if dtype not in (np.float32, np.float64):
            dtype = np.dtype(np.float64)
        cells = np.ascontiguousarray(X, dtype=dtype)
        if coded and np.shares_memory(cells, X):
            cells = cells.copy()
        # whole numbers are compared as such: beyond 2^53 floats would round them
        exact = X if is_whole else cells
        for j in coded:
            cells[:, j] = codes_of(exact[:, j], self.schema[j].categories)  # type: ignore[arg-type]
        return cells


def _is_own_code(column: Column) -> bool:
    """Whether the values of the column are 0, 1, ..., K-1."""
    values = column.categories
    return (
        values is not None
        and values.dtype.kind in "iuf"
        and len(values) > 0
        and values[0] == 0
        and _is_run(values)
    )


def with_texts(schema: Schema, table: pa.Table | pa.RecordBatch) -> Schema:
    """The schema with the texts of a table listed in its columns of free text."""
    if not schema.has_free_text:
        return schema
    present = set(table.schema.names)
    columns = list(schema.columns)
    for j, column in enumerate(columns):
        if column.is_free_text and column.name in present:
            texts = _distinct_texts(table.column(column.name), column.name)
            columns[j] = replace(column, categories=texts)
    return replace(schema, columns=tuple(columns))


def _distinct_texts(cells: pa.Array | pa.ChunkedArray, name: str) -> np.ndarray:
    holds = column_class(cells.type, name)
    if holds == "empty":
        return np.empty(0, dtype="<U1")
    if holds != "text":
        raise SchemaError(
            f"column {name!r} holds {cells.type} where free text was learned: give it as text"
        )
    distinct = pc.unique(cells)
    if pa.types.is_dictionary(distinct.type):
        distinct = distinct.dictionary_decode()
    texts = [text for text in distinct.to_pylist() if text is not None]
    if texts:
        return np.array(texts, dtype=object)
    return np.empty(0, dtype="<U1")


@dataclass(frozen=True, slots=True)
class TableCoder:
    """Codes the cells of Arrow tables by a schema: features, target and weights, found by their
    names.

    Attributes
    ----------
    schema : Schema
        The columns with their categories, the target and the weight column.
    names : list of str
        The columns that have to be read.

    See Also
    --------
    Block : Coded rows.
    codes_of : Codes of numbers.
    Schema : Columns with their categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import Schema
    >>> from lyceum._core.data import TableCoder
    >>> coder = TableCoder(Schema.declare({"sky": ["clear", "rain"], "degrees": "continuous"}))
    >>> table = pa.table({"degrees": [20.5, None, 3.0], "sky": ["rain", None, "snow"]})
    >>> coder.features(table).tolist()
    [[1.0, 20.5], [nan, nan], [-1.0, 3.0]]
    """

    schema: Schema

    @property
    def names(self) -> list[str]:
        """The columns that have to be read."""
        names = list(self.schema.names)
        if self.schema.target:
            names.append(self.schema.target.name)
        if self.schema.weight:
            names.append(self.schema.weight)
        return names

    def check(self, names: list[str]) -> None:
        """Raise unless all feature columns are among the names."""
        present = set(names)
        missing = [name for name in self.schema.names if name not in present]
        if missing:
            raise missing_columns(missing, names)

    def features(self, table: pa.Table | pa.RecordBatch) -> np.ndarray:
        """The coded cells, float32 when every column is, else float64."""
        self.check(table.schema.names)
        if not len(self.schema):
            return np.empty((table.num_rows, 0))
        fields = map(table.schema.field, self.schema.names)
        single = all(field.type == pa.float32() for field in fields)
        shape = (table.num_rows, len(self.schema))
        X = np.empty(shape, dtype=np.float32 if single else np.float64)
        is_large = table.num_rows > FEW_ROWS and X.size > 1 << 20
        spread = ordered_map if is_large else map
        columns = spread(
            lambda column: _encode(table.column(column.name), column), self.schema
        )
        # columns one after the other become rows one after the other
        native.pack(list(columns), X)
        return X

    def target(self, table: pa.Table | pa.RecordBatch) -> np.ndarray | None:
        """Class codes (int32, -1 when missing) or numbers, if the table has the target."""
        target = self.schema.target
        if target is None or target.name not in table.schema.names:
            return None
        cells = _decode_large(table.column(target.name))
        is_whole = pa.types.is_integer(cells.type) and not cells.null_count
        if target.categories is not None and is_whole:
            codes = _whole_codes(cells.to_numpy(), target.categories)
            if codes is not None:
                return codes
        coded = _encode(cells, target)
        # numbers, or a binary target that keeps its numbers as cells, or codes already
        if target.categories is None:
            return coded.astype(np.float64, copy=False)
        if target.numeric:
            coded = codes_of(coded, target.categories)
        unknown = np.flatnonzero(coded == -1)
        if len(unknown):
            value = cells[int(unknown[0])]
            raise SchemaError(
                f"target {target.name!r} has the value {value}, which is not one of its classes"
            )
        return np.nan_to_num(coded, nan=-1).astype(np.int32)

    def weights(self, table: pa.Table | pa.RecordBatch) -> np.ndarray | None:
        name = self.schema.weight
        if name is None or name not in table.schema.names:
            return None
        return numbers(table.column(name), name).astype(np.float64, copy=False)


def _decode_large(cells: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Levels that floats would merge as the whole numbers that they are."""
    if has_large_levels(cells):
        return decode_dictionary(cells)
    return cells


def _encode(cells: pa.Array | pa.ChunkedArray, column: Column) -> np.ndarray:
    cells = _decode_large(cells)
    if column.is_time and is_text_type(cells.type):
        return numbers(_as_dates(cells, column), column.name)
    if column.categories is None or column.numeric:
        return numbers(cells, column.name)
    if column.categories.dtype.kind in "iufb":
        # compared as integers, as floats would make neighbors equal
        if is_beyond_floats(column.categories) and pa.types.is_integer(cells.type):
            return _codes_of_values(cells, column)
        return codes_of(numbers(cells, column.name), column.categories)
    holds = column_class(cells.type, column.name)
    if holds == "empty":
        return np.full(len(cells), np.nan)
    if holds != "text":
        raise SchemaError(
            f"column {column.name!r} holds {cells.type} where text such as"
            f" {str(column.categories[0])!r} was learned: give it as text"
        )
    return _codes_of_values(cells, column)


def _as_dates(
    cells: pa.Array | pa.ChunkedArray, column: Column
) -> pa.Array | pa.ChunkedArray:
    """Dates written as text, as they are in a frame that was read without parsing them."""
    name = column.name
    texts = distinct_texts(cells)
    if not len(texts):
        return pa.nulls(len(cells))
    style = text_format_of(texts, learned=column.text_format)
    if style is None or not style.date:
        raise SchemaError(
            f"column {name!r} holds text such as {texts[0].as_py()!r} where dates were learned:"
            " give dates"
        )
    if style.doubtful:
        raise SchemaError(
            f"column {name!r} holds dates such as {texts[0].as_py()!r}, whose day and month cannot"
            " be told apart: give it as dates, not as text"
        )
    plain = decode_dictionary(cells)
    if isinstance(plain, pa.ChunkedArray):
        plain = plain.combine_chunks()
    return style.parse(plain)


def decode(codes: np.ndarray, column: Column) -> pa.Array:
    """The cells that the codes of one column stand for, as Arrow."""
    if column.categories is None or column.numeric:
        return pa.array(codes, from_pandas=True)
    values = column.categories
    # a column of nothing but missing cells may have no category to stand below the mask
    if not len(values):
        values = np.zeros(1, values.dtype)
    known = np.isfinite(codes) & (codes >= 0)
    indices = np.where(known, codes, 0).astype(np.intp)
    return pa.array(values[indices], mask=~known)


def labels(y: Any, name: str, of: str = "") -> np.ndarray:
    """Class labels of any library as a flat array; raises where one is missing, in which row `of`
    what."""
    if is_arrow(y, "Array"):
        y = y.to_numpy(zero_copy_only=False)
    values = np.asarray(y).reshape(-1)
    if values.dtype.kind in "iubU":
        return values
    cells = arrow_array(values, f"target {name!r}")
    if cells.null_count:
        missing = cells.is_null().to_numpy(zero_copy_only=False)
        row = int(np.flatnonzero(missing)[0])
        raise MissingValuesError(
            f"target {name!r} is missing (NaN) in row {row}{of}: drop such rows first"
        )
    holds = column_class(cells.type, name)
    if values.dtype.kind != "O" or holds == "text":
        return values
    if holds == "time":
        raise SchemaError(
            f"target {name!r} holds times where classes are expected: give them as text, e.g."
            " astype(str)"
        )
    if pa.types.is_decimal(cells.type):
        check_exact(cells, name)
        return numbers(cells, name)
    return cells.to_numpy(zero_copy_only=False)


def target_numbers(y: Target, name: str) -> np.ndarray:
    """A target of numbers, true/false or times (in seconds) as floats, missing ones as NaN.

    >>> days = np.array(["1970-01-01", "1970-01-02"], dtype="datetime64[ns]")
    >>> target_numbers(days, "day").tolist()
    [0.0, 86400.0]
    """
    values = np.asarray(y)
    if values.dtype.kind in "mMO":
        try:
            cells = pa.array(values.reshape(-1), from_pandas=True)
        # NumPy has more ways to read objects as numbers
        except (pa.ArrowException, OverflowError):
            return values.astype(np.float64)
        if column_class(cells.type, name) != "text":
            floats = numbers(cells, name).astype(np.float64, copy=False)
            return floats.reshape(values.shape)
    return values.astype(np.float64)


def comparable_target(y: Target, task: str) -> Any:
    """A target to score predictions by, read as `fit` reads it: times are seconds, intervals are
    text.

    Parameters
    ----------
    y : array, Series or list
        The target of the rows to score on; what scikit-learn compares by itself stays as it is.
    task : {"classes", "numbers"}
        What is predicted.

    Examples
    --------
    >>> days = np.array(["1970-01-01", "1970-01-02"], dtype="datetime64[s]")
    >>> comparable_target(days, "numbers").tolist()
    [0.0, 86400.0]
    """
    if is_pandas(y) and hasattr(y, "dtype"):
        y = with_arrow_type(y, "the target")
    elif not isinstance(y, np.ndarray):
        return y
    if task == "numbers" and np.asarray(y).dtype.kind in "mMO":
        return target_numbers(y, "y")
    return y


def is_labeled(y: Target) -> np.ndarray:
    """Which rows have a label: not None and not NaN.

    >>> is_labeled(np.array(["a", None, float("nan")], dtype=object))
    array([ True, False, False])
    """
    values = np.asarray(y).reshape(-1)
    if values.dtype.kind in "iubU":
        return np.ones(len(values), dtype=bool)
    missing = pa.array(values, from_pandas=True).is_null(nan_is_null=True)
    return ~missing.to_numpy(zero_copy_only=False)


def class_codes(y: Target) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of labels and the code of each label: `np.unique` with its inverse, but
    fast.

    >>> class_codes(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1], dtype=int32))
    """
    y = np.asarray(y)
    if y.dtype.kind in "iu" and len(y):
        low = int(y.min())
        high = int(y.max())
        if high - low < 1 << 16:
            # subtracted in a type that holds the difference, e.g. 127 - (-128)
            if y.dtype.kind == "u":
                shifted = y - y.dtype.type(low)
            else:
                shifted = np.subtract(y, low, dtype=np.int64)
            # the code of a label is the number of smaller labels that occur
            present = np.bincount(shifted, minlength=high - low + 1) > 0
            offsets = np.flatnonzero(present).astype(y.dtype)
            classes = offsets + y.dtype.type(low)
            codes = np.cumsum(present, dtype=np.int32) - np.int32(1)
            return classes, codes[shifted]
    is_float = y.dtype.kind == "f" and len(y) > 0
    is_whole = is_float and np.array_equal(y, np.trunc(y))
    if is_whole and np.abs(y).max() < 1 << 31:
        classes, codes = class_codes(y.astype(np.int64))
        return classes.astype(y.dtype), codes
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)
