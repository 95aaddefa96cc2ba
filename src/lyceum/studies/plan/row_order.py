"""The columns that say which rows belong together and in which order they came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lyceum._core.lazy_arrow import pa, pc
from lyceum.errors import StudyError
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.plan.study_data import StudyData


def without_order_columns(recipe: Recipe) -> Recipe:
    """The recipe with the columns of groups and times ignored, so that no learner sees them."""
    aside = [
        name for name in (recipe.group, recipe.time) if name and name not in recipe.keep
    ]
    for key in ("group", "time"):
        if getattr(recipe, key) == recipe.target:
            raise StudyError(
                f"{key} = {recipe.target!r} is the target: give another column"
            )
    return replace(recipe, ignore=tuple(dict.fromkeys((*recipe.ignore, *aside))))


def group_codes(recipe: Recipe, data: StudyData) -> np.ndarray | None:
    """The group of every row as a number; a row without one is a group of its own."""
    if recipe.group is None:
        return None
    column = data.order_columns[recipe.group]
    indices = column.dictionary_encode().indices
    # missing ones are null, which becomes NaN
    codes = indices.to_numpy(zero_copy_only=False).astype(np.float64)
    missing = np.isnan(codes)
    codes[missing] = codes.size + np.arange(missing.sum())
    if len(np.unique(codes)) < 2:
        raise StudyError(
            f"group = {recipe.group!r}: all rows are of one group; give another column"
        )
    return codes.astype(np.int64)


def time_values(recipe: Recipe, data: StudyData) -> np.ndarray | None:
    """The time of every row as a number; rows without one are refused."""
    if recipe.time is None:
        return None
    column = data.order_columns[recipe.time]
    values = _numbers(column)
    if values is None:
        raise StudyError(
            f"time = {recipe.time!r}: its values are neither numbers nor dates that are read, e.g. "
            f"{column[0].as_py()!r}; write them as 2024-05-31, or give another column"
        )
    n_without = np.count_nonzero(~np.isfinite(values))
    if n_without:
        raise StudyError(
            f"time = {recipe.time!r}: {n_without:,} rows have no time; leave them out, or give"
            " another column"
        )
    if np.ptp(values) == 0.0:
        raise StudyError(
            f"time = {recipe.time!r}: all rows have the same time; give another column"
        )
    return values


def _numbers(column: pa.Array) -> np.ndarray | None:
    """Numbers, dates and times, also those written as text, as numbers; None where they are
    neither."""
    if pa.types.is_temporal(column.type):
        # Arrow takes times for integers of their own width only
        integers = pa.int32() if column.type.bit_width == 32 else pa.int64()
        return _as_floats(column.cast(integers))
    for kind in (pa.float64(), pa.timestamp("us")):
        try:
            numbers = pc.cast(column, kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        if pa.types.is_timestamp(kind):
            numbers = numbers.cast(pa.int64())
        return _as_floats(numbers)
    return None


def _as_floats(numbers: pa.Array) -> np.ndarray:
    values = numbers.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)
