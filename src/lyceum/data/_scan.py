"""`scan`: rows from a file, a frame, an array or a Dask collection, with their schema."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from lyceum.data._profile import ColumnProfile, TableProfile, check_kinds
from lyceum.data._rows import Progress, Rows
from lyceum.data._schema import Column, Kind, Schema
from lyceum.data._sources import ArraySource, CsvSource, ParquetPart, ParquetSource, Source, whole
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
        The column to predict. Text, true/false, two distinct numbers, or at most 20 distinct whole numbers
        are classes; other numbers are values. Say `kinds={target: "continuous"}` (or "categorical") to
        override.
    weight : str, optional
        A column of row weights.
    kinds : dict, optional
        The kind of a column where the inferred one is not wanted.
    ignore : names, optional
        Columns to leave out.
    memory : int, default=512 MiB
        Files whose cells need at most this many bytes are kept in memory; larger ones are read on every pass.
    delimiter, encoding, missing
        How a CSV file is written: the delimiter (guessed from the first line if None), the text encoding, and
        the cells that mean "missing".
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
    request = _Request(
        target, weight, dict(kinds or {}), (ignore,) if isinstance(ignore, str) else tuple(ignore)
    )
    source: Source
    if is_dask(data):
        source = _dask_source(data, request)
    elif isinstance(data, np.ndarray):
        source = _table_source(_named(data), request)
    elif is_frame(data):
        source = _table_source(to_arrow(data), request)
    else:
        source = _file_source(data, request, memory, CsvFormat(delimiter or "", encoding, tuple(missing)))
    return Rows(source, progress=progress)


@dataclass(frozen=True)
class _Request:
    """What the user said of the columns."""

    target: str | None
    weight: str | None
    kinds: Mapping[str, Kind]
    ignore: tuple[str, ...]

    def wanted(self, names: Sequence[str]) -> list[str]:
        """The columns to read, out of those there are; raises if the user named one that is not there."""
        said = {"target": [self.target], "weight": [self.weight], "ignore": self.ignore, "kinds": self.kinds}
        for role, mentioned in said.items():
            for name in mentioned:
                if name is not None and name not in names:
                    raise SchemaError(f"{role}: there is no column {name!r}{_hint(name, names)}")
                if name is not None and role != "ignore" and name in self.ignore:
                    raise SchemaError(f"column {name!r} is both in ignore and in {role}: take it out of one")
        if self.target is not None and self.target == self.weight:
            raise SchemaError(f"column {self.target!r} cannot be both the target and the weight")
        check_kinds(self.kinds)
        return [name for name in names if name not in self.ignore]

    @property
    def in_full(self) -> set[str]:
        """Columns whose values must all be listed: those declared to be categories."""
        return {name for name, kind in self.kinds.items() if kind != "continuous"}

    def still_open(self, profile: TableProfile) -> list[str]:
        """Columns of which the rest of the rows could still tell something that matters."""
        return [
            n
            for n, column in profile.columns.items()
            if column.is_open or n in self.in_full or n == self.weight
        ]

    def schema(self, profile: TableProfile) -> Schema:
        """The schema of the columns to read, from their profile."""
        columns = tuple(
            column.column(self.kinds.get(name))
            for name, column in profile.columns.items()
            if name not in (self.target, self.weight)
        )
        target = (
            None
            if self.target is None
            else _target(profile.columns[self.target], self.kinds.get(self.target))
        )
        if not columns:
            raise SchemaError(
                "there are no columns to learn from: only the target, the weight or ignored ones"
            )
        if self.weight is not None:
            _check_weight(profile.columns[self.weight])
        return Schema(columns, target, self.weight)


def _check_weight(profile: ColumnProfile) -> None:
    """Refuse weights that no sum over rows makes sense with."""
    fault = (
        f"holds {profile.holds}"
        if profile.holds in ("text", "category", "time", "empty")
        else f"has {profile.n_missing} missing cells"
        if profile.n_missing
        else f"has {profile.n_infinite} infinite cells"
        if profile.n_infinite
        else f"has negative cells, down to {profile.low:g}"
        if profile.low < 0
        else "is zero in every row"
        if profile.high == 0
        else None
    )
    if fault:
        raise DataError(
            f"the weight column {profile.name!r} {fault}: weights are numbers of at least 0, and some "
            "more than 0"
        )


def _hint(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
    if near:
        return f": did you mean {near[0]!r}?"
    return f": the columns are {', '.join(map(repr, names[:20]))}{', ...' * (len(names) > 20)}"


def _target(profile: ColumnProfile, declared: Kind | None) -> Column:
    """The target's column: few whole numbers are classes, and classes of whole numbers are integers."""
    column, values = profile.column(declared), profile.values
    if profile.holds != "number" or not profile.whole or values is None:
        return column
    if declared is None and column.kind == "continuous" and 0 < len(values) <= _CLASSES:
        why = f"{len(values)} distinct whole number{'s' * (len(values) > 1)}, taken as classes"
        return Column(profile.name, "categorical", values.astype(np.int64), why)
    return replace(column, categories=values.astype(np.int64)) if column.is_categorical else column


def _named(X: np.ndarray) -> pa.Table:
    if X.ndim != 2:
        raise DataError(
            f"an array of rows has two dimensions, this one has {X.ndim}: reshape it, e.g. X.reshape(-1, 1)"
        )
    try:
        return pa.table({f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(X.shape[1])})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise SchemaError(
            f"a column of the array mixes types ({error}): give a frame with one type a column"
        ) from error


def _table_source(table: pa.Table, request: _Request) -> ArraySource:
    table = _checked(table.select(request.wanted(table.column_names)), "the table")
    return coded_source(table, request.schema(_profile_columns(table, request.in_full)))


def _dask_source(frame: Any, request: _Request) -> DaskSource:
    if not hasattr(frame, "columns"):
        raise DataError("scan takes a Dask frame with named columns: give arrays to fit(X, y) directly")
    names = list(map(str, frame.columns))
    wanted = request.wanted(names)
    if len(wanted) < len(names):
        frame = frame[[name for name in frame.columns if str(name) in wanted]]
    return DaskSource.of_frame(frame, request.schema, request.in_full)


def _profile_columns(table: pa.Table, in_full: Collection[str] = ()) -> TableProfile:
    """The profile of a table, its columns spread over threads."""
    parts = ordered_map(lambda name: TableProfile.of(table.select([name]), in_full), table.column_names)
    return TableProfile(
        table.num_rows, {name: part.columns[name] for name, part in zip(table.column_names, parts)}
    )


def coded_source(table: pa.Table, schema: Schema) -> ArraySource:
    """The table in memory, coded by the schema once and for all."""
    coder = TableCoder(schema)
    return ArraySource(coder.features(table), coder.target(table), coder.weights(table), schema, coded=True)


def schema_of(table: pa.Table, categorical: Collection[str] = ()) -> Schema:
    """The schema of a frame by its types alone: text, category types and true/false are categorical."""
    undecided = [
        name
        for name in table.column_names
        if name in categorical or column_class(table.schema.field(name).type, name) not in ("number", "time")
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


def _paths(data: Any) -> list[str]:
    if not isinstance(data, str | os.PathLike):
        if isinstance(data, Sequence) and data and all(isinstance(path, str | os.PathLike) for path in data):
            return [found for path in data for found in _paths(path)]
        raise DataError(
            f"cannot read a {type(data).__name__}: give a path, a frame, an array or a Dask collection"
        )
    path = os.fspath(data)
    found: list[str]
    if os.path.isdir(path):
        found = sorted(str(p) for p in Path(path).iterdir() if _suffix(str(p)) in _SUFFIXES)
    elif os.path.exists(path):
        return [path]
    else:
        found = sorted(glob.glob(path))
        if not found:
            raise DataError(f"there is no file {path}")
    if not found:
        raise DataError(f"the directory {path} has no file of a known kind ({', '.join(_SUFFIXES)})")
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
    kinds = {_SUFFIXES.get(_suffix(path)): path for path in paths}
    if None in kinds:
        raise DataError(f"cannot tell what kind of file {kinds[None]} is: name it {', '.join(_SUFFIXES)}")
    if len(kinds) > 1:
        raise DataError(
            f"the files are of different kinds, {' and '.join(kinds.values())}: scan files of one kind"
        )
    return str(next(iter(kinds)))


def _file_source(data: Any, request: _Request, memory: int, form: CsvFormat) -> Source:
    paths = _paths(data)
    kind = _file_kind(paths)
    if kind == "parquet":
        return _parquet_source(paths, request, memory)
    if kind == "csv" and sum(form.cell_bytes(path, os.path.getsize(path)) for path in paths) > memory:
        return _csv_source(paths, request, form.sniffed(paths[0]))
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
    return _concatenated(form.sniffed(paths[0]).read_all(paths), paths)


def _read_parquet(paths: Sequence[str], form: CsvFormat, columns: list[str] | None = None) -> pa.Table:
    return _concatenated([_whole(path, partial(pq.read_table, columns=columns)) for path in paths], paths)


def _read_arrow(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    import pyarrow.feather as feather

    return _concatenated([_whole(path, feather.read_table) for path in paths], paths)


def _read_arff(paths: Sequence[str], form: CsvFormat) -> pa.Table:
    return _concatenated([read_arff(path, form.encoding) for path in paths], paths)


_READERS = {"csv": _read_csv, "parquet": _read_parquet, "arrow": _read_arrow, "arff": _read_arff}


def _whole(path: str, read: Callable[[str], Any]) -> Any:
    """What `read` finds in a file; raises if the file is cut off or of another kind."""
    with whole(path, _SUFFIXES[_suffix(path)].capitalize()):
        return read(path)


def _concatenated(tables: list[pa.Table], paths: Sequence[str]) -> pa.Table:
    names = tables[0].column_names
    for table, path in zip(tables, paths):
        _check_same(names, table.column_names, paths[0], path)
    if len(tables) == 1:
        return tables[0]
    columns = {name: _joined(name, [table.column(name) for table in tables]) for name in names}
    return pa.table(columns)


def _joined(name: str, columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    try:
        return pa.concat_tables(
            [pa.table({name: column}) for column in columns], promote_options="permissive"
        )[name]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        types = " and ".join(dict.fromkeys(str(column.type) for column in columns))
        raise SchemaError(f"column {name!r} holds {types} in different files: make it one type") from error


def _check_same(names: Sequence[str], others: Sequence[str], path: str, other: str) -> None:
    odd = sorted(set(names) ^ set(others))
    if odd:
        has, lacks = (path, other) if odd[0] in names else (other, path)
        raise SchemaError(
            f"{has} has the column {odd[0]!r}, which {lacks} lacks: give files of the same columns"
        )


def _parquet_source(paths: list[str], request: _Request, memory: int) -> Source:
    first = _whole(paths[0], pq.read_schema)
    for path in paths[1:]:
        _check_same(first.names, _whole(path, pq.read_schema).names, paths[0], path)
    wanted = request.wanted(first.names)
    n_rows = sum(pq.read_metadata(path).num_rows for path in paths)
    if not n_rows:
        raise DataError(f"{paths[0]} has column names but no rows (0 samples)")
    if n_rows * len(wanted) * 8 <= memory:
        return _table_source(_read_parquet(paths, CsvFormat(), wanted), replace(request, ignore=()))
    text = tuple(name for name in wanted if column_class(first.field(name).type, name) == "text")
    source = ParquetSource(paths, Schema.of_numbers(wanted), text)
    return replace(source, schema=request.schema(_first_then_rest(source, wanted, request)))


def _first_then_rest(source: ParquetSource, names: list[str], request: _Request) -> TableProfile:
    """A profile that reads the first rows of every column and the rest only of those still undecided."""
    head = next(batch for part in source.parts() for batch in part.batches(names))
    profile = TableProfile.of(head, request.in_full)
    undecided = request.still_open(profile)
    if not undecided:
        return profile
    rest = _merged(ordered_map(partial(_part_profile, undecided, request.in_full), source.parts()))
    return profile if rest is None else profile.updated(rest)


def _part_profile(names: list[str], in_full: Collection[str], part: ParquetPart) -> TableProfile | None:
    return _merged(TableProfile.of(batch, in_full) for batch in part.batches(names))


def _merged(profiles: Iterable[TableProfile | None]) -> TableProfile | None:
    total: TableProfile | None = None
    for profile in profiles:
        total = profile if total is None else total if profile is None else total.merge(profile)
    return total


def _csv_source(paths: list[str], request: _Request, form: CsvFormat) -> CsvSource:
    typed = form.typed(paths[0])
    names = list(typed.types)
    wanted = request.wanted(names)

    def profiled(form: CsvFormat) -> TableProfile | None:
        batches = (_batch(batch, path) for path in paths for batch in form.stream(path))
        return _merged(ordered_map(lambda b: TableProfile.of(b, request.in_full), batches))

    def _batch(batch: pa.RecordBatch, path: str) -> pa.RecordBatch:
        _check_same(names, batch.schema.names, paths[0], path)
        return batch.select(wanted)

    settled, profile = typed.settle(profiled)
    if profile is None:
        raise DataError(f"{paths[0]} has column names but no rows (0 samples)")
    return CsvSource(paths, settled, request.schema(profile))


def profile_of(data: Any, **options: Any) -> tuple[pa.Table, TableProfile]:
    """All rows of a file or frame with the full profile of every column."""
    table = read_table(data, CsvFormat("", **options))
    return table, _profile_columns(table)
