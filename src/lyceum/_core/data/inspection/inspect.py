"""`inspect`: what is in a table, column by column, and what looks wrong before anything is learned
from it.

The rows are read once, in batches: ranges, missing cells and categories are counted over all of
them. What needs rows side by side (copies, identifiers, leaks of the target) is judged on a sample
drawn by a hash of the row number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lyceum._core.data.files.file_errors import memory_errors
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.large_file import (
    ProfiledFile,
    SampledProfile,
    profile_large_file,
)
from lyceum._core.data.files.limits import MEMORY_AT_ONCE, allow_memory
from lyceum._core.data.files.tables import (
    LoadedTable,
    check_has_rows,
    fits_memory,
    read_data,
)
from lyceum._core.data.inputs.arrow import is_frame
from lyceum._core.data.inspection.leaks import leak
from lyceum._core.data.inspection.missing_texts import missing_notes
from lyceum._core.data.inspection.quality import (
    Flag,
    SampledColumn,
    column_flags,
    copies,
    target_flags,
)
from lyceum._core.data.inspection.result import ColumnInspection, Inspection
from lyceum._core.data.rows.tables import profile_columns
from lyceum._core.data.schema.column import Column, Kind
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.profile import ColumnProfile
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data
from lyceum.errors import LyceumError

_TOP = 10
_BINS = 12


def inspect(
    data: Data,
    target: str | None = None,
    *,
    task: str | None = None,
    kinds: Mapping[str, Kind] | Schema | None = None,
    memory: int = MEMORY_AT_ONCE,
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
        Larger CSV and Parquet files are read in batches and never held whole. Other files are
        refused if they take more than half of the machine's memory, or than `memory` if that is
        more.
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
    with allow_memory(memory):
        source = _read(data, file_format or FileFormat(), memory, sample)
    with memory_errors(source.name):
        if isinstance(source, ProfiledFile):
            seen = source.seen.head(sample)
        else:
            profile = profile_columns(source.table)
            seen = SampledProfile.of(profile, source.table, 0, sample)
    profile = seen.profile
    check_has_rows(profile.n_rows, source.name)
    roles = ColumnRoles.of(target, None, kinds, task=task)
    roles.names_to_read(list(profile.columns))
    if source.typed:
        types = {name: column.holds for name, column in profile.columns.items()}
        roles = replace(roles, types=types)
    columns = {
        name: SampledColumn.of(column, seen.rows.column(name))
        for name, column in profile.columns.items()
    }
    # a sample cannot tell how many of all rows repeat an earlier one
    n_repeated = None
    if seen.rows.num_rows == profile.n_rows:
        n_repeated = _count_repeats(seen.rows)
    return Inspection(
        source=source.name,
        n_rows=profile.n_rows,
        n_sampled=seen.rows.num_rows,
        n_repeated=n_repeated,
        columns=tuple(_describe_columns(columns, roles)),
        target=target,
        notes=(*source.notes, *_missing_notes(data, source, file_format)),
    )


def _missing_notes(
    data: Any, source: LoadedTable | ProfiledFile, file_format: FileFormat | None
) -> tuple[str, ...]:
    """Which texts were read as missing, of files that were read whole."""
    if isinstance(source, ProfiledFile) or is_frame(data):
        return ()
    paths = source.name if isinstance(data, LoadedTable) else data
    try:
        return tuple(missing_notes(paths, file_format or FileFormat(), source.table))
    except (LyceumError, OSError):
        return ()  # the files of a table that was read before may be gone


def _read(
    data: Any, file_format: FileFormat, memory: int, size: int
) -> LoadedTable | ProfiledFile:
    """One pass over all rows, in batches if memory cannot hold them."""
    if isinstance(data, LoadedTable | ProfiledFile):
        return data
    if is_frame(data) or fits_memory(data, memory, file_format):
        return read_data(data, file_format)
    return profile_large_file(data, file_format, size=size)


def _count_repeats(table: pa.Table) -> int:
    """Rows that repeat an earlier one."""
    # numbered names, as Arrow takes one that begins with a dot or a bracket for a path
    plain = table.rename_columns([str(j) for j in range(table.num_columns)])
    distinct = plain.group_by(plain.column_names).aggregate([])
    return table.num_rows - distinct.num_rows


def _describe_columns(
    sampled: Mapping[str, SampledColumn], roles: ColumnRoles
) -> Iterator[ColumnInspection]:
    target = roles.target
    schema = {name: _column(column.profile, roles) for name, column in sampled.items()}
    same = copies([column for name, column in sampled.items() if name != target])
    for name, column in sampled.items():
        if name == target:
            flags = list(target_flags(column, schema[name].is_categorical))
        else:
            flags = list(column_flags(column))
            if name in same:
                flags.append(same[name])
            if target is not None:
                leaked = leak(column, sampled[target], schema[target].is_categorical)
                if leaked is not None:
                    flags.append(leaked)
        yield _describe(column, schema[name], tuple(flags))


def _column(profile: ColumnProfile, roles: ColumnRoles) -> Column:
    is_text = profile.holds == "text"
    if profile.values is None and (is_text or profile.name in roles.in_full):
        holds = "text" if is_text else "numbers"
        why = f"{holds} with too many values to list"
        return Column(profile.name, "categorical", np.empty(0, dtype="<U1"), why)
    return roles.column_of(profile)


def _describe(
    sampled: SampledColumn, column: Column, flags: tuple[Flag, ...]
) -> ColumnInspection:
    profile = sampled.profile
    # text has no range, and neither has a column without a finite number
    has_range = math.isfinite(profile.low) and profile.low <= profile.high
    low = None
    high = None
    if has_range:
        low = profile.low
        high = profile.high
    median = None
    histogram: tuple[int, ...] = ()
    if has_range and sampled.values is not None:
        finite = sampled.values[np.isfinite(sampled.values)]
        if len(finite):
            median = float(np.median(finite))
            width = (profile.high - profile.low) or 1.0
            # divided before they are subtracted, so that the largest numbers do not overflow
            shares = finite / width - profile.low / width
            bins = np.clip(shares * _BINS, 0, _BINS - 1).astype(np.intp)
            histogram = tuple(np.bincount(bins, minlength=_BINS).tolist())
    return ColumnInspection(
        name=profile.name,
        kind=column.kind,
        why=column.why,
        n_missing=profile.n_missing,
        n_infinite=profile.n_infinite,
        n_distinct=sampled.n_distinct,
        low=low,
        high=high,
        median=median,
        histogram=histogram,
        top=_top(profile) if column.is_categorical else (),
        flags=flags,
    )


def _top(profile: ColumnProfile) -> tuple[tuple[Any, int], ...]:
    """The commonest values with their numbers of rows; whole numbers as integers."""
    if profile.values is None or profile.counts is None:
        return ()
    order = np.argsort(-profile.counts, kind="stable")[:_TOP]
    top = []
    for value, count in zip(profile.values[order], profile.counts[order]):
        item = value.item()
        if isinstance(item, float) and item.is_integer():
            item = int(item)
        if count:
            top.append((item, int(count)))
    return tuple(top)
