"""`inspect`: what is in a table, column by column, and what looks wrong before anything is learned
from it.

The rows are read once, in batches: ranges, missing cells and categories are counted over all of
them. What needs rows side by side (copies, identifiers, leaks of the target) is judged on a sample
drawn by a hash of the row number.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.large_file import (
    ProfiledFile,
    SampledProfile,
    profile_large_file,
)
from lyceum._core.data.files.tables import (
    LoadedTable,
    check_has_rows,
    file_kind,
    fits_memory,
    is_typed,
    paths_of,
    read_data,
)
from lyceum._core.data.inputs.arrow import is_frame, to_arrow
from lyceum._core.data.inspection.leaks import leak
from lyceum._core.data.inspection.quality import (
    ColumnCells,
    ColumnSummary,
    Flag,
    column_flags,
    copies,
    target_flags,
)
from lyceum._core.data.inspection.result import ColumnInspection, Inspection
from lyceum._core.data.scanner import profile_columns
from lyceum._core.data.schema.column import Column, Kind
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.profile import ColumnProfile
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data

_TOP = 10
_BINS = 12


def inspect(
    data: Data,
    target: str | None = None,
    *,
    task: str | None = None,
    kinds: Mapping[str, Kind] | Schema | None = None,
    memory: int = 512 << 20,
    sample: int = 50_000,
    file_format: FileFormat | None = None,
) -> Inspection:
    """Look at every column of a table: kind, range, categories, missing cells, and what is
    suspicious.

    Parameters
    ----------
    data : path, glob, list of paths, frame, `read_data(...)` or `profile_large_file(...)`
        What to look at.
    target : str, optional
        The column to predict: columns that give it away are flagged.
    task : {"classification", "regression"}, optional
        What the target holds, as for `scan`.
    kinds : dict or Schema, optional
        The kinds of some columns, or a whole `Schema`, as for `scan`.
    memory : int, default=512 MiB
        Larger CSV and Parquet files are read in batches and never held whole.
    sample : int, default=50 000
        Rows that are compared side by side.
    file_format : FileFormat, optional
        How the file is written; by default this is inferred.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"id": range(100, 130), "x": [0.5, None, 2.0] * 10}))
    >>> found["x"].n_missing, [flag.text for flag in found["id"].flags]
    (10, ['counts the rows: leave it out'])
    """
    seen, notes = _read(data, file_format or FileFormat(), memory, sample)
    profile = seen.profile
    sampled = seen.rows
    check_has_rows(profile.n_rows, _source(data))
    roles = ColumnRoles.of(target, None, kinds, task=task)
    roles.names_to_read(list(profile.columns))
    if _is_typed(data):
        roles = replace(
            roles,
            types={name: column.holds for name, column in profile.columns.items()},
        )
    all_rows = sampled.num_rows == profile.n_rows
    cells = {
        name: ColumnCells.of(name, sampled.column(name)) for name in profile.columns
    }
    facts = {
        name: ColumnSummary(column, cells[name], all_rows)
        for name, column in profile.columns.items()
    }
    columns = tuple(_describe_columns(facts, roles))
    if all_rows:
        repeated = _count_repeats(sampled)
    else:
        repeated = None
    return Inspection(
        _source(data),
        profile.n_rows,
        sampled.num_rows,
        repeated,
        columns,
        target,
        notes,
    )


def _describe_columns(
    facts: Mapping[str, ColumnSummary], roles: ColumnRoles
) -> Iterator[ColumnInspection]:
    target = roles.target
    schema = {name: _column(fact.profile, roles) for name, fact in facts.items()}
    same = copies([fact.cells for name, fact in facts.items() if name != target])
    for name, fact in facts.items():
        if name == target:
            flags = list(target_flags(fact, schema[name].categories))
        else:
            flags = [*column_flags(fact), *([same[name]] if name in same else [])]
            if target is not None:
                leak_flag = leak(
                    fact.cells, facts[target].cells, schema[target].is_categorical
                )
                flags += [leak_flag] if leak_flag else []
        yield _describe(fact, schema[name], tuple(flags))


def _describe(
    facts: ColumnSummary, column: Column, flags: tuple[Flag, ...]
) -> ColumnInspection:
    profile = facts.profile
    has_range = math.isfinite(profile.low) and profile.low <= profile.high
    if has_range and profile.holds != "text":
        median, histogram = _spread(facts.cells, profile)
    else:
        median = None
        histogram = ()
    return ColumnInspection(
        profile.name,
        column.kind,
        column.why,
        profile.n_missing,
        profile.n_infinite,
        facts.n_distinct,
        profile.low if has_range else None,
        profile.high if has_range else None,
        median,
        histogram,
        _top(profile) if column.is_categorical else (),
        flags,
    )


def _column(profile: ColumnProfile, roles: ColumnRoles) -> Column:
    if profile.values is None and (
        profile.holds == "text" or profile.name in roles.in_full
    ):
        if profile.holds == "text":
            what = "text"
        else:
            what = "numbers"
        return Column(
            profile.name,
            "categorical",
            np.empty(0, dtype="<U1"),
            f"{what} with too many values to list",
        )
    return roles.column_of(profile)


def _top(profile: ColumnProfile) -> tuple[tuple[Any, int], ...]:
    if profile.values is None or profile.counts is None:
        return ()
    order = np.argsort(-profile.counts, kind="stable")[:_TOP]
    return tuple(
        (_item(profile.values[i]), int(profile.counts[i]))
        for i in order
        if profile.counts[i]
    )


def _item(value: Any) -> Any:
    value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _spread(
    cells: ColumnCells, profile: ColumnProfile
) -> tuple[float | None, tuple[int, ...]]:
    values = cells.values
    if values is not None:
        finite = values[np.isfinite(values)]
    else:
        finite = np.empty(0)
    if not len(finite):
        return None, ()
    scale = (profile.high - profile.low) or 1.0
    bins = np.clip((finite / scale - profile.low / scale) * _BINS, 0, _BINS - 1).astype(
        np.intp
    )
    return float(np.median(finite)), tuple(np.bincount(bins, minlength=_BINS).tolist())


def _count_repeats(table: pa.Table) -> int:
    """Rows that repeat an earlier one."""
    plain = table.rename_columns([str(j) for j in range(table.num_columns)])
    return table.num_rows - plain.group_by(plain.column_names).aggregate([]).num_rows


# -- reading ---------------------------------------------------------------------------


def _source(data: Data) -> str:
    if isinstance(data, LoadedTable | ProfiledFile):
        return data.name
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    return f"a {type(data).__name__}"


def _is_typed(data: Data) -> bool:
    if isinstance(data, LoadedTable | ProfiledFile):
        return data.typed
    return is_frame(data) or is_typed(file_kind(paths_of(data)))


def _read(
    data: Any, file_format: FileFormat, memory: int, size: int
) -> tuple[SampledProfile, tuple[str, ...]]:
    """One pass over all rows, in batches if memory cannot hold them; notes on how the file is
    written."""
    if isinstance(data, ProfiledFile):
        return data.seen.head(size), data.notes
    if isinstance(data, LoadedTable):
        return _of_table(data.table, size), data.notes
    if is_frame(data):
        return _of_table(to_arrow(data), size), ()
    paths = paths_of(data)
    if fits_memory(paths, memory, file_format):
        content = read_data(paths, file_format)
        return _of_table(content.table, size), content.notes
    large = profile_large_file(paths, file_format, size=size)
    return large.seen, large.notes


def _of_table(table: pa.Table, size: int) -> SampledProfile:
    return SampledProfile.of(profile_columns(table), table, 0, size)
