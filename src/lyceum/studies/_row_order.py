"""The columns that say which rows belong together and in which order they came."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lyceum.data import FileFormat, read_data, scan
from lyceum.errors import StudyError
from lyceum.studies._recipe import Recipe
from lyceum.studies._study_data import StudyData

__all__ = ["group_codes", "time_values", "without_order_columns"]


def without_order_columns(recipe: Recipe) -> Recipe:
    """The recipe with the columns of groups and times ignored, so that no learner sees them."""
    aside = [name for name in (recipe.group, recipe.time) if name and name not in recipe.keep]
    for key in ("group", "time"):
        if getattr(recipe, key) == recipe.target:
            raise StudyError(f"{key} = {recipe.target!r} is the target: give another column")
    return replace(recipe, ignore=tuple(dict.fromkeys((*recipe.ignore, *aside))))


def group_codes(recipe: Recipe, data: StudyData) -> np.ndarray | None:
    """The group of every row as a number; a row without one is a group of its own."""
    if recipe.group is None:
        return None
    column = _column(recipe, "group", recipe.group, data)
    codes = column.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.float64)
    missing = np.isnan(codes)
    codes[missing] = codes.size + np.arange(missing.sum())
    if len(np.unique(codes)) < 2:
        raise StudyError(f"group = {recipe.group!r}: all rows are of one group; give another column")
    return codes.astype(np.int64)


def time_values(recipe: Recipe, data: StudyData) -> np.ndarray | None:
    """The time of every row as a number; rows without one are refused."""
    if recipe.time is None:
        return None
    column = _column(recipe, "time", recipe.time, data)
    values = _numbers(column)
    if values is None:
        raise StudyError(
            f"time = {recipe.time!r}: its values are neither numbers nor dates that are read, e.g. "
            f"{column[0].as_py()!r}; write them as 2024-05-31, or give another column"
        )
    if not np.isfinite(values).all():
        raise StudyError(
            f"time = {recipe.time!r}: {np.count_nonzero(~np.isfinite(values)):,} rows have no time; leave "
            "them out, or give another column"
        )
    if np.ptp(values) == 0.0:
        raise StudyError(f"time = {recipe.time!r}: all rows have the same time; give another column")
    return values


def _column(recipe: Recipe, key: str, name: str, data: StudyData) -> pa.Array:
    if data.is_sample:
        return _column_of_large_file(recipe, key, name, data)
    table = read_data(list(recipe.data), FileFormat(**recipe.form)).table
    if name not in table.column_names:
        listed = ", ".join(map(repr, table.column_names[:20]))
        raise StudyError(f"{key} = {name!r}: there is no such column; the columns are {listed}")
    column = table.column(name).take(pa.array(data.numbers))
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _column_of_large_file(recipe: Recipe, key: str, name: str, data: StudyData) -> pa.Array:
    """The column of a file that does not fit, at the rows of the sample."""
    form = FileFormat(**recipe.form).options()
    others = [each for each in scan(list(recipe.data), **form).schema.names if each != name]
    kind: Any = "categorical" if key == "group" else "continuous"
    rows = scan(list(recipe.data), kinds={name: kind}, ignore=others, **form).take(data.numbers)
    source: Any = rows.source
    return pa.array(np.asarray(source.X[:, 0], dtype=np.float64))


def _numbers(column: pa.Array) -> np.ndarray | None:
    """Numbers, dates and times, also those written as text, as numbers; None where they are neither."""
    if pa.types.is_temporal(column.type):
        integers = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
        return np.asarray(integers.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    for kind in (pa.float64(), pa.timestamp("us")):
        try:
            found = pc.cast(column, kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        if pa.types.is_timestamp(kind):
            found = found.cast(pa.int64())
        return np.asarray(found.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    return None
