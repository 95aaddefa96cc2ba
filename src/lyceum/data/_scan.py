"""`scan`: rows from a file, a frame, an array or a Dask collection, with their schema."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lyceum._threads import ordered_map
from lyceum.data._arff import read_arff
from lyceum.data._arrow import column_class, is_frame, to_arrow
from lyceum.data._coding import TableCoder
from lyceum.data._csv import MISSING, CsvFormat
from lyceum.data._dask import DaskSource, is_dask
from lyceum.data._profile import TableProfile, check_kinds
from lyceum.data._rows import Progress, Rows
from lyceum.data._schema import Column, Kind, Schema
from lyceum.data._sources import ArraySource, CsvSource, ParquetSource, Source
from lyceum.errors import DataError, SchemaError

__all__ = ["profile_of", "read_table", "scan", "schema_of"]

_CLASSES = 20  # a target of at most this many distinct whole numbers is a class label


def scan(
    data: Any,
    target: str | None = None,
    *,
    weight: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    ignore: Collection[str] = (),
    memory: int = 512 << 20,
    delimiter: str | None = None,
    encoding: str = "utf8",
    missing: Sequence[str] = MISSING,
    progress: Progress | None = None,
) -> Rows:
    """Rows with named columns, ready for `fit`, `predict` and `reduce`.

    Parameters
    ----------
    data : path, glob, list of paths, frame, array or Dask collection
        CSV, TSV, Parquet, Arrow or ARFF files; a pandas, Polars or pyarrow frame or a DuckDB relation.
    target : str, optional
        The column to predict. Text, true/false, two distinct numbers, or at most 20 distinct whole numbers are
        classes; other numbers are values. Say `kinds={target: "continuous"}` (or "categorical") to override.
    weight : str, optional
        A column of row weights.
    kinds : dict, optional
        The kind of a column where the inferred one is not wanted.
    ignore : names, optional
        Columns to leave out.
    memory : int, default=512 MiB
        Files whose cells need at most this many bytes are kept in memory; larger ones are read on every pass.
    delimiter, encoding, missing
        How a CSV file is written: the delimiter (guessed from the first line if None), the text encoding, and the
        cells that mean "missing".
    progress : callable, optional
        Called as `progress(rows_done, rows_in_all_or_None)` while rows are reduced.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = scan(pa.table({"age": [31.0, 45.0, 52.0], "sex": ["f", "m", "f"]}))
    >>> print(rows.schema)
    age  continuous  whole numbers, 3 distinct
    sex  binary      text with 2 values
    """
    if isinstance(data, Rows):
        raise DataError("these are rows already: give scan the file or the frame itself")
    request = _Request(target, weight, dict(kinds or {}), tuple(ignore))
    source: Source
    if is_dask(data):
        source = DaskSource.of_frame(data, request.schema)
    elif isinstance(data, np.ndarray):
        source = _table_source(_named(data), request)
    elif is_frame(data):
        source = _table_source(to_arrow(data), request)
    else:
        source = _file_source(data, request, memory, CsvFormat(delimiter or "", encoding, tuple(missing)))
    return Rows(source, progress=progress)


class _Request:
    """What the user said of the columns."""

    def __init__(self, target: str | None, weight: str | None, kinds: dict[str, Kind], ignore: tuple[str, ...]):
        self.target, self.weight, self.kinds, self.ignore = target, weight, kinds, ignore

    def check(self, names: Sequence[str]) -> None:
        for role, name in (("target", self.target), ("weight", self.weight)):
            if name is not None and name not in names:
                raise SchemaError(f"the {role} column {name!r} is not there{_hint(name, names)}")
        for name in self.ignore:
            if name not in names:
                raise SchemaError(f"ignore names the column {name!r}, which is not there{_hint(name, names)}")
        check_kinds(self.kinds, names)

    @property
    def in_full(self) -> set[str]:
        """Columns whose values must all be listed: those declared to be categories."""
        return {name for name, kind in self.kinds.items() if kind != "continuous"}

    def still_open(self, profile: TableProfile) -> list[str]:
        """Columns whose kind or categories the rest of the rows could still change."""
        undecided = set(profile.open_columns) | self.in_full
        if self.target is not None and profile.columns[self.target].values is not None:
            undecided.add(self.target)
        return [name for name in profile.columns if name in undecided and name not in (*self.ignore, self.weight)]

    def schema(self, profile: TableProfile) -> Schema:
        self.check(list(profile.columns))
        left_out = {self.target, self.weight, *self.ignore}
        columns = tuple(
            column.column(self.kinds.get(name)) for name, column in profile.columns.items() if name not in left_out
        )
        target = None if self.target is None else _target(profile.columns[self.target], self.kinds.get(self.target))
        if not columns:
            raise SchemaError("there are no columns to learn from: only the target, the weight or ignored ones")
        return Schema(columns, target, self.weight)


def _hint(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    return f": did you mean {near[0]!r}?" if near else f": the columns are {', '.join(map(repr, names))}"


def _target(profile: Any, declared: Kind | None) -> Column:
    inferred = profile.column(declared)
    values = profile.values
    if declared is None and inferred.kind == "continuous" and profile.holds == "number" and profile.whole:
        if values is not None and 0 < len(values) <= _CLASSES:
            why = f"{len(values)} distinct whole numbers, taken as classes"
            return Column(profile.name, "categorical", values.astype(np.int64), why)
    if inferred.kind == "binary" and inferred.categories.dtype.kind == "f" and profile.whole:
        return replace(inferred, categories=inferred.categories.astype(np.int64))
    return inferred


def _named(X: np.ndarray) -> pa.Table:
    if X.ndim != 2:
        raise DataError(f"an array of rows has two dimensions, this one has {X.ndim}")
    return pa.table({f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})


def _table_source(table: pa.Table, request: _Request) -> ArraySource:
    request.check(table.column_names)
    wanted = [name for name in table.column_names if name not in request.ignore]
    table = table.select(wanted)
    schema = replace_ignore(request).schema(_profile_columns(table, request.in_full))
    return coded_source(table, schema)


def replace_ignore(request: _Request) -> _Request:
    return _Request(request.target, request.weight, request.kinds, ())


def _profile_columns(table: pa.Table, in_full: Collection[str] = ()) -> TableProfile:
    """The profile of a table, its columns spread over threads."""
    parts = ordered_map(lambda name: TableProfile.of(table.select([name]), in_full), table.column_names)
    return TableProfile(table.num_rows, {name: part.columns[name] for name, part in zip(table.column_names, parts)})


def coded_source(table: pa.Table, schema: Schema) -> ArraySource:
    """The table in memory, coded by the schema once and for all."""
    coder = TableCoder(schema)
    return ArraySource(coder.features(table), coder.target(table), coder.weights(table), schema, coded=True)


def schema_of(table: pa.Table, categorical: Collection[str] = ()) -> Schema:
    """The schema of a frame by its types alone: text, categories and true/false are categorical, numbers are not."""
    undecided = [
        name
        for name in table.column_names
        if name in categorical or column_class_of(table, name) not in ("number", "time")
    ]
    profile = _profile_columns(table.select(undecided), categorical)
    return Schema(
        tuple(
            profile.columns[name].column("categorical" if name in categorical else None)
            if name in profile.columns
            else Column(name, why="numbers")
            for name in table.column_names
        )
    )


def column_class_of(table: pa.Table, name: str) -> str:
    try:
        return column_class(table.schema.field(name).type)
    except SchemaError as error:
        raise SchemaError(f"column {name!r}: {error}") from None


def _paths(data: Any) -> list[str]:
    if not isinstance(data, str | os.PathLike):
        if isinstance(data, Sequence) and data and all(isinstance(path, str | os.PathLike) for path in data):
            return [os.fspath(path) for path in data]
        raise DataError(f"cannot scan a {type(data).__name__}: give a path, a frame, an array or a Dask collection")
    path = os.fspath(data)
    if os.path.isdir(path):
        found = sorted(str(p) for p in Path(path).iterdir() if _suffix(str(p)) in _SUFFIXES)
    elif os.path.exists(path):
        return [path]
    else:
        found = sorted(glob.glob(path))
    if not found:
        raise DataError(f"there is no file {path}")
    return found


def _suffix(path: str) -> str:
    return Path(path.removesuffix(".gz")).suffix.lower()


_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".arff": "arff",
    ".arrow": "arrow",
    ".feather": "arrow",
}


def _file_kind(paths: Sequence[str]) -> str:
    kinds = {_SUFFIXES.get(_suffix(path)) for path in paths}
    if len(kinds) != 1 or None in kinds:
        raise DataError(f"cannot tell how to read {paths[0]}: use {', '.join(_SUFFIXES)} files of one kind")
    return str(kinds.pop())


def _file_source(data: Any, request: _Request, memory: int, form: CsvFormat) -> Source:
    paths = _paths(data)
    kind = _file_kind(paths)
    if kind == "parquet":
        return _parquet_source(paths, request, memory)
    if kind == "csv" and sum(map(os.path.getsize, paths)) > memory:
        return _csv_source(paths, request, _sniffed(paths[0], form))
    return _table_source(_checked(_READERS[kind](paths, form), paths[0]), request)


def read_table(data: Any, form: CsvFormat | None = None) -> pa.Table:
    """All of a file or frame as one Arrow table."""
    if is_frame(data):
        return to_arrow(data)
    paths = _paths(data)
    return _checked(_READERS[_file_kind(paths)](paths, form or CsvFormat("")), paths[0])


def _checked(table: pa.Table, path: str) -> pa.Table:
    if not table.num_rows:
        raise DataError(f"{path} has column names but no rows (0 samples)")
    return table


def _read_csv(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    return _concatenated([_sniffed(path, form).read(path) for path in paths], paths)


def _read_parquet(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    return _concatenated([_parquet(path, pq.read_table) for path in paths], paths)


def _read_arrow(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    import pyarrow.feather as feather

    return _concatenated([feather.read_table(path) for path in paths], paths)


def _read_arff(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    return _concatenated([read_arff(path, form.encoding) for path in paths], paths)


_READERS = {"csv": _read_csv, "parquet": _read_parquet, "arrow": _read_arrow, "arff": _read_arff}


def _concatenated(tables: list[pa.Table], paths: Sequence[str]) -> pa.Table:
    for table, path in zip(tables, paths):
        if table.column_names != tables[0].column_names:
            odd = sorted(set(table.column_names) ^ set(tables[0].column_names)) or table.column_names
            raise SchemaError(f"{path} differs from {paths[0]} in its columns: {', '.join(map(repr, odd))}")
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def _sniffed(path: str, form: CsvFormat) -> CsvFormat:
    """The format with its delimiter: the given one, or the commonest candidate in the first line."""
    if form.delimiter:
        return form
    if _suffix(path) == ".tsv":
        return replace(form, delimiter="\t")
    opener = __import__("gzip").open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        line = file.readline()
    counts = {mark: line.count(mark.encode()) for mark in (",", ";", "\t", "|")}
    best = max(counts, key=counts.__getitem__)
    return replace(form, delimiter=best if counts[best] else ",")


def _parquet(path: str, read: Any) -> Any:
    try:
        return read(path)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path} is not a whole Parquet file: {error}") from error


def _parquet_source(paths: list[str], request: _Request, memory: int) -> Source:
    first = _parquet(paths[0], pq.read_schema)
    request.check(first.names)
    for path in paths[1:]:
        names = _parquet(path, pq.read_schema).names
        if set(names) != set(first.names):
            odd = sorted(set(names) ^ set(first.names))
            raise SchemaError(f"{path} differs from {paths[0]} in its columns: {', '.join(map(repr, odd))}")
    n_rows = sum(pq.read_metadata(path).num_rows for path in paths)
    wanted = [name for name in first.names if name not in request.ignore]
    if not n_rows:
        raise DataError(f"{paths[0]} has column names but no rows (0 samples)")
    if n_rows * len(wanted) * 8 <= memory:
        table = _concatenated([pq.read_table(path, columns=wanted) for path in paths], paths)
        return _table_source(table, replace_ignore(request))
    text = tuple(name for name in wanted if column_class_of(first.empty_table(), name) == "text")
    source = ParquetSource(paths, Schema.of_numbers(wanted), text)
    profile = _first_then_rest(source, wanted, request)
    return replace(source, schema=replace_ignore(request).schema(profile))


def _first_then_rest(source: ParquetSource, names: list[str], request: _Request) -> TableProfile:
    """A profile that reads the first rows of every column and the rest only of those still undecided."""
    head = next(next(source.parts()).batches(names))  # type: ignore[attr-defined]
    profile = TableProfile.of(head, request.in_full)
    undecided = replace_ignore(request).still_open(profile)
    if not undecided:
        return profile
    parts = (lambda part: _profile_part(part.batches(undecided), request.in_full))
    return profile.updated(reduce(TableProfile.merge, ordered_map(parts, source.parts())))


def _profile_part(batches: Iterator[pa.RecordBatch], in_full: Collection[str]) -> TableProfile:
    return reduce(TableProfile.merge, (TableProfile.of(batch, in_full) for batch in batches))


def _csv_source(paths: list[str], request: _Request, form: CsvFormat) -> CsvSource:
    form = form.settled(paths[0])
    request.check(list(form.types))
    batches = (batch for path in paths for batch in form.stream(path))
    profile = reduce(TableProfile.merge, ordered_map(lambda b: TableProfile.of(b, request.in_full), batches))
    return CsvSource(paths, form, request.schema(profile))


def profile_of(data: Any, **options: Any) -> tuple[pa.Table, TableProfile]:
    """All rows of a file or frame with the full profile of every column."""
    table = read_table(data, CsvFormat("", **options))
    return table, _profile_columns(table)
