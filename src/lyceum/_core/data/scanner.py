"""`scan`: rows from a file, a frame, an array or a Dask collection, with their schema."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from lyceum._core.data.files.csv import MISSING, CsvReader
from lyceum._core.data.files.file_errors import memory_errors
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.large_file import ProfiledFile
from lyceum._core.data.files.limits import MEMORY_AT_ONCE, allow_memory
from lyceum._core.data.files.tables import (
    LoadedTable,
    check_has_columns,
    check_has_rows,
    check_same,
    file_kind,
    fits_memory,
    paths_of,
    read_files,
    read_parquet,
    stream_files,
)
from lyceum._core.data.files.text_formats import format_names
from lyceum._core.data.files.typed_files import parquet_footer
from lyceum._core.data.inputs.arrow import frame_table, is_frame
from lyceum._core.data.inputs.pandas_columns import arrow_array
from lyceum._core.data.rows.block_reduction import merge_all, merge_and_report
from lyceum._core.data.rows.dask import DaskSource, is_dask
from lyceum._core.data.rows.file_sources import CsvSource, ParquetPart, ParquetSource
from lyceum._core.data.rows.rows import Rows
from lyceum._core.data.rows.sources import ArraySource, Source
from lyceum._core.data.rows.tables import (
    coded_source,
    profile_columns,
    schema_of,
    types_of,
)
from lyceum._core.data.rows.text import source_name
from lyceum._core.data.schema.column import Kind
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.profile import (
    TableProfile,
    check_same_types,
    names_with_levels,
)
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data
from lyceum.errors import DataError, DataWarning, SchemaError, SettingError


def scan(
    data: Any,
    target: str | None = None,
    *,
    task: str | None = None,
    weight: str | None = None,
    kinds: Mapping[str, Kind] | Schema | None = None,
    ignore: Collection[str] = (),
    infer: str = "types",
    memory: int = MEMORY_AT_ONCE,
    limit: float | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool = True,
    table: str | None = None,
    missing: Sequence[str] = MISSING,
    header_row: int = 0,
) -> Rows:
    """Rows with named columns, ready for `fit`, `predict` and `reduce`.

    Parameters
    ----------
    data : path, glob, list of paths, frame, array, Dask collection, LoadedTable or ProfiledFile
        CSV, TSV, JSON lines, Excel, OpenDocument, Parquet, Arrow, ARFF, SQLite or DuckDB files,
        text also packed (.gz, .bz2, .zst); a pandas, Polars (lazy ones too) or pyarrow frame or a
        DuckDB relation.
    target : str, optional
        The column to predict. Text, true/false and two distinct numbers are classes, and so are at
        most 20 distinct whole numbers with three rows each on average, of which at most one in ten
        has a single row; other numbers are values.
    task : {"classification", "regression"}, optional
        Whether the target holds classes or numbers, whatever it looks like.
    weight : str, optional
        A column of row weights.
    kinds : dict or Schema, optional
        The kinds of some columns, "binary", "categorical" or "continuous", where another one is not
        wanted; or a whole `Schema`, whose columns alone are read, with its categories. Otherwise
        the columns of frames, arrays, Parquet, Arrow and ARFF files go by their types, and those of
        CSV files by their values: two distinct numbers are binary.
    ignore : names, optional
        Columns to leave out.
    infer : {"types", "values"}, default="types"
        How the columns of data with types (frames, arrays, Parquet, Arrow and ARFF files) get their
        kinds: numbers are continuous by their type; by their values two distinct ones, e.g. 0 and
        1, are binary, as in CSV files.
    memory : int, default=512 MiB
        CSV and Parquet files whose cells need more bytes than this are read on every pass. All
        other files, e.g. ARFF, cannot be read in parts: a file that takes more than half of the
        machine's memory, or than `memory` if that is more, is refused.
    limit : float, optional
        Seconds that a database may take for its table or view, 600 by default.
    separator, encoding, decimal : str, optional
        How a text file is written: what separates its cells, its encoding, and its decimal mark
        ("." or ","). By default they are inferred from the first rows; a `DataWarning` tells of any
        encoding but UTF-8 and of decimal commas.
    header : bool, default=True
        Whether the first row of a text file or a sheet has the names of the columns; without, they
        are x0, x1, ...
    table : str, optional
        The sheet of a workbook, or the table of a database, if there are several.
    missing : sequence of str
        The cells of text that mean "missing".
    header_row : int, default=0
        The row with the names of the columns, counted from 1; by default the first that is no
        title.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = scan(pa.table({"age": [31.0, 45.0, 52.0], "sex": ["f", "m", "f"]}))
    >>> print(rows.schema)
    age  continuous  numbers
    sex  binary      text with 2 values
    """
    if isinstance(data, Rows):
        raise DataError(
            "these are rows already: give scan the file or the frame itself"
        )
    if infer not in ("types", "values"):
        raise SettingError(f"infer={infer!r}: choose from 'types', 'values'")
    roles = ColumnRoles.of(target, weight, kinds, ignore, task)
    roles = replace(roles, by_values=infer == "values")
    source: Source
    if isinstance(data, LoadedTable | ProfiledFile):
        name = data.name
    else:
        name = source_name(data)
    if is_dask(data):
        source = _dask_source(data, roles)
    elif isinstance(data, ProfiledFile):
        source = _profiled_source(data, roles)
    elif isinstance(data, LoadedTable):
        source = _loaded_source(data, roles)
    elif isinstance(data, np.ndarray):
        source = _loaded_source(LoadedTable(_name_columns(data), True, name), roles)
    elif is_frame(data):
        source = _loaded_source(LoadedTable(frame_table(data), True, name), roles)
    else:
        file_format = FileFormat(
            separator=separator or "",
            encoding=encoding or "",
            decimal=decimal or "",
            header=header,
            table=table or "",
            missing=tuple(missing),
            header_row=header_row,
        )
        with allow_memory(memory, limit), memory_errors(name):
            source = _file_source(data, roles, memory, file_format)
    return Rows(source, name=name)


def _dask_source(frame: Any, roles: ColumnRoles) -> DaskSource:
    if not hasattr(frame, "columns"):
        raise DataError(
            "scan takes a Dask frame with named columns: give arrays to fit(X, y) directly"
        )
    names = list(map(str, frame.columns))
    wanted = roles.names_to_read(names)
    if wanted != names:
        labels = dict(zip(names, frame.columns))
        frame = frame[[labels[name] for name in wanted]]
    return DaskSource.of_frame(frame, roles)


def _name_columns(X: np.ndarray) -> pa.Table:
    if X.ndim != 2:
        raise DataError(
            f"an array of rows has two dimensions, this one has {X.ndim}: reshape it, e.g."
            " X.reshape(-1, 1)"
        )
    columns = {
        f"x{j}": arrow_array(cells, f"column {j} of the array")
        for j, cells in enumerate(X.T)
    }
    return pa.table(columns)


# -- rows in memory --------------------------------------------------------------------


def _loaded_source(data: LoadedTable, roles: ColumnRoles) -> ArraySource:
    """A table in memory: kinds follow from its types, or from values where it has none."""
    table = data.table.select(roles.names_to_read(data.table.column_names))
    check_has_rows(table.num_rows, data.name)
    if data.typed:
        schema = schema_of(table, roles)
    else:
        schema = roles.schema(profile_columns(table, roles.in_full))
    return coded_source(table, schema.with_text_formats(data.text_formats))


# -- files -----------------------------------------------------------------------------


def _file_source(
    data: Data, roles: ColumnRoles, memory: int, file_format: FileFormat
) -> Source:
    paths = paths_of(data)
    kind = file_kind(paths, file_format.table)
    if kind == "parquet":
        return _parquet_source(paths, roles, memory)
    if kind == "csv" and not fits_memory(paths, memory, file_format):
        reader = file_format.csv_reader(paths[0])
        return _csv_source(
            paths, roles, replace(reader, learned_formats=roles.text_formats)
        )
    loaded = read_files(paths, file_format, learned_formats=roles.text_formats)
    warn_about_format(loaded.notes, paths[0])
    return _loaded_source(loaded, roles)


def warn_about_format(notes: Iterable[str], path: str) -> None:
    """Warn of what was inferred about how a file is written."""
    # the first caller outside of the package, however many of its own lie between
    frame = inspect.currentframe()
    level = 0
    while frame is not None and _is_inside(frame):
        frame = frame.f_back
        level += 1
    for note in notes:
        warnings.warn(f"{path}: {note}", DataWarning, stacklevel=level + 1)


def _is_inside(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] == "lyceum"


def _profiled_source(data: ProfiledFile, roles: ColumnRoles) -> Source:
    """Files that were read through: their profile says what the columns are."""
    profile = data.seen.profile
    listed = {name for name in roles.in_full if str(roles.kinds[name]) != "text"}
    if not listed <= data.in_full:
        raise SchemaError(
            f"the values of {min(listed - data.in_full)!r} were not all listed: name it in "
            "profile_large_file(..., in_full=...)"
        )
    if data.reader is None:
        return _parquet_source(list(data.paths), roles, 0, profile)
    wanted = roles.names_to_read(list(profile.columns))
    schema = roles.schema(profile.select(wanted))
    schema = schema.with_text_formats(data.text_formats)
    return CsvSource(data.paths, data.reader, schema, profile.n_rows)


def _parquet_source(
    paths: list[str],
    roles: ColumnRoles,
    memory: int,
    profile: TableProfile | None = None,
) -> Source:
    """Parquet files in memory, or read on every pass; with a profile they are not read for
    kinds."""
    footers, schemas = zip(*map(parquet_footer, paths))
    first = schemas[0]
    for path, other in zip(paths[1:], schemas[1:]):
        check_same(first.names, other.names, paths[0], path)
        check_same_types(types_of(first), types_of(other))
    check_has_columns(len(first.names), paths[0])
    wanted = roles.names_to_read(first.names)
    n_rows = sum(footer.num_rows for footer in footers)
    check_has_rows(n_rows, paths[0])
    if n_rows * len(wanted) * 8 <= memory:
        loaded = LoadedTable(read_parquet(paths, wanted), True, paths[0])
        # ignored columns were not read: to ignore them again would name columns that are not there
        return _loaded_source(loaded, replace(roles, ignore=()))
    schema = pa.schema([first.field(name) for name in wanted])
    types = types_of(schema)
    roles = replace(roles, types=types)
    text = tuple(name for name in wanted if types[name] == "text")
    source = ParquetSource(paths, Schema.of_numbers(wanted), text)
    if profile is not None:
        profile = profile.select(roles.unsettled_names)
    elif roles.unsettled_names:
        profile = _first_then_rest(source, roles, names_with_levels(schema))
    else:
        profile = TableProfile(0, {})
    return replace(source, schema=roles.schema(profile))


def _first_then_rest(
    source: ParquetSource, roles: ColumnRoles, ordered: Collection[str]
) -> TableProfile:
    """A profile that reads the first rows of every column and the rest only of those still
    undecided."""
    names = roles.unsettled_names
    # the generator is given up at once, which closes the file
    head = next(batch for part in source.parts() for batch in part.batches(names))
    profile = TableProfile.of(head, roles.in_full, ordered)
    undecided = roles.undecided_names(profile)
    if not undecided:
        return profile

    def profile_of(part: ParquetPart) -> TableProfile | None:
        batches = part.batches(undecided)
        return merge_all(
            TableProfile.of(batch, roles.in_full, ordered) for batch in batches
        )

    rest = merge_all(ordered_map(profile_of, source.parts()))
    if rest is None:
        return profile
    return profile.with_columns_of(rest)


def _csv_source(paths: list[str], roles: ColumnRoles, reader: CsvReader) -> CsvSource:
    typed = reader.with_types(paths[0])
    wanted = roles.names_to_read(list(typed.types))

    # run again from the start each time a cell does not fit the type of its column
    def profile_of(reader: CsvReader) -> TableProfile | None:
        batches = (batch.select(wanted) for batch in stream_files(reader, paths))
        profiles = ordered_map(lambda b: TableProfile.of(b, roles.in_full), batches)
        return merge_and_report(profiles)

    settled, profile = typed.settle(profile_of)
    check_has_rows(0 if profile is None else profile.n_rows, paths[0])
    assert profile is not None
    notes = (*settled.notes, *settled.format_notes(paths[0]))
    warn_about_format(notes, paths[0])
    schema = roles.schema(profile).with_text_formats(format_names(settled.text_formats))
    return CsvSource(paths, settled, schema, profile.n_rows)
