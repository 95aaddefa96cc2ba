"""Cells after a step, given back as what came in: an array, a pandas, Polars or pyarrow frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.base import library_of
from lyceum._core.data import (
    ArraySource,
    Column,
    Schema,
    has_text_levels,
    is_frame,
    text_array,
    text_table,
    to_arrow,
)
from lyceum._core.lazy_arrow import pa, pc
from lyceum._core.types import Data
from lyceum.prepare.steps import is_unknown


def contain(
    cells: Any,
    schema: Schema,
    source: ArraySource,
    X: Any,
    library: str,
) -> Any:
    """The coded cells as a container of the library, words for codes.

    X is what the user gave and `source` what was read from it. A category that the schema does not
    know keeps the value that it has in X.
    """
    if sparse.issparse(cells):  # which no frame holds
        return cells
    if library == "array":
        if any(column.is_text for column in source.schema):
            return _words(cells, schema, source, X)
        return _numbers(cells, schema, source.X)
    table = _table(cells, schema, _original(source, X), library)
    if library == "pandas":
        return _to_pandas(table, schema, source.schema.names, X)
    if library == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def _original(source: ArraySource, X: Any) -> pa.Table:
    """X under the names of its schema."""
    names = source.schema.names
    if not is_frame(X):
        words = text_array(X, needs_text=False)
        if words is None or not any(column.is_text for column in source.schema):
            return pa.table({name: source.X[:, j] for j, name in enumerate(names)})
        listed = [column.name for column in source.schema if not column.numeric]
        return text_table(words, names, listed, "", "")
    table = to_arrow(X)
    if set(names) <= set(table.column_names):
        return table
    return table.rename_columns(names)


def _numbers(cells: np.ndarray, schema: Schema, raw: Any) -> np.ndarray:
    """An array: the numbers that categories stand for, codes where the categories are words."""
    if cells.dtype.kind != "f":
        return cells
    # copied once a column has categories: cells may be the user's own
    out = cells
    for j, column in enumerate(schema):
        values = np.asarray(column.categories)
        if column.numeric or values.dtype.kind not in "iufb":
            continue
        if out is cells:
            out = cells.copy()
        unknown = is_unknown(cells[:, j], column)
        known = ~unknown & ~np.isnan(cells[:, j])
        out[known, j] = values[cells[known, j].astype(np.intp)]
        out[unknown, j] = raw[unknown, j]
    return out


def _words(
    cells: np.ndarray,
    schema: Schema,
    source: ArraySource,
    X: Data,
) -> np.ndarray:
    """An array of objects: the categories that codes stand for, None for a missing word."""
    given = np.asarray(X) if is_frame(X) else text_array(X, needs_text=False)
    indices = {name: j for j, name in enumerate(source.schema.names)}
    out = cells.astype(object)
    for j, column in enumerate(schema):
        if column.categories is None:
            continue
        missing = np.isnan(cells[:, j])
        if column.numeric:
            if column.categories.dtype.kind == "b":
                out[:, j] = cells[:, j] != 0
                out[missing, j] = None
            continue
        unknown = is_unknown(cells[:, j], column)
        known = ~unknown & ~missing
        codes = cells[known, j].astype(np.intp)
        out[known, j] = column.categories.astype(object)[codes]
        out[missing, j] = None if column.is_text else np.nan
        out[unknown, j] = None
        if given is not None and column.name in indices:
            out[unknown, j] = given[unknown, indices[column.name]]
    return out


def _table(
    cells: np.ndarray,
    schema: Schema,
    original: pa.Table,
    library: str,
) -> pa.Table:
    given = dict(zip(original.column_names, original.columns))
    columns = {}
    for j, column in enumerate(schema):
        before = None
        if column.name in given:
            before = given[column.name].combine_chunks()
        contiguous = np.ascontiguousarray(cells[:, j])
        columns[column.name] = _arrow_column(contiguous, column, before, library)
    return pa.table(columns)


def _arrow_column(
    cells: np.ndarray,
    column: Column,
    before: pa.Array | None,
    library: str,
) -> pa.Array:
    if column.numeric:
        if column.categories is not None and column.categories.dtype.kind == "b":
            return pa.array(cells != 0, mask=np.isnan(cells))
        values = pa.array(cells, from_pandas=True)
        if before is not None and before.type == pa.float32():
            return values.cast(pa.float32())
        return values
    unknown = is_unknown(cells, column)
    known = ~unknown & ~np.isnan(cells)
    codes = pa.array(np.where(known, cells, 0).astype(np.int32), mask=~known)
    values = pa.DictionaryArray.from_arrays(codes, pa.array(column.categories))
    was_category = before is not None and pa.types.is_dictionary(before.type)
    # words come back as they came; Polars has no categories that are numbers
    as_category = library != "polars"
    if pa.types.is_string(values.dictionary.type):
        as_category = was_category
    if before is not None and unknown.any():
        # a category that was not learned keeps its value
        plain = before
        if was_category:
            plain = before.dictionary_decode()
        plain = plain.cast(values.dictionary.type)
        values = pc.if_else(unknown, plain, values.dictionary_decode())
        return values.dictionary_encode() if as_category else values
    return values if as_category else values.dictionary_decode()


def _to_pandas(
    table: pa.Table,
    schema: Schema,
    names: tuple[str, ...],
    X: Any,
) -> Any:
    """A pandas frame with the index, the labels and the types of X."""
    frame = table.to_pandas()
    if library_of(X) != "pandas":
        return frame
    frame.index = X.index
    # columns that X has under other labels, such as numbers, get these back
    labels = {str(label): label for label in X.columns}
    if not (set(names) <= labels.keys()):
        labels = dict(zip(names, X.columns))
    for column in schema:
        if column.name in labels and column.is_categorical:
            dtype = X[labels[column.name]].dtype
            frame[column.name] = _convert(frame[column.name], dtype, column)
    return frame.set_axis([labels.get(name, name) for name in frame.columns], axis=1)


def _convert(values: Any, dtype: Any, column: Column) -> Any:
    """Text, categories and true/false as the type that they came in."""
    import pandas as pd

    if column.numeric:
        if isinstance(dtype, pd.BooleanDtype):
            return values.astype(dtype)
        return values
    if isinstance(dtype, pd.CategoricalDtype):
        if has_text_levels(dtype):
            own = {str(level): level for level in dtype.categories}
            values = values.cat.rename_categories(lambda level: own.get(level, level))
        # the levels that were there, in their order, then new ones such as "missing"
        levels = list(dtype.categories)
        levels += [level for level in values.dtype.categories if level not in levels]
        return values.astype(pd.CategoricalDtype(levels, ordered=dtype.ordered))
    is_category = isinstance(values.dtype, pd.CategoricalDtype)
    if is_category or not pd.api.types.is_string_dtype(dtype):
        return values
    return values.astype(dtype)
