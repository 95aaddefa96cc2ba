"""The rows of a file in Arrow batches, typed as a model needs them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lyceum._core.data import (
    Column,
    FileFormat,
    LoadedTable,
    file_kind,
    is_frame,
    open_parquet,
    parquet_footer,
    parse_columns,
    paths_of,
    read_data,
    spelling_hint,
    warn_about_format,
)
from lyceum._core.lazy_arrow import pa, text_type
from lyceum.errors import SchemaError

_ROWS = 1 << 17


@dataclass(frozen=True)
class Batches:
    """The columns of a file or frame, some 100,000 rows at a time.

    `columns` are those that a model knows: their kinds settle the types of a CSV file, so that it
    is read once and a late cell cannot change the type of a column. `also` are columns to be handed
    through: text, if the file is text.
    """

    data: Any
    columns: tuple[Column, ...]
    also: tuple[str, ...] = ()
    file_format: FileFormat = field(default_factory=FileFormat)

    @property
    def column_names(self) -> list[str]:
        return list(
            dict.fromkeys([*(column.name for column in self.columns), *self.also])
        )

    @property
    def text_formats(self) -> dict[str, str]:
        """How columns were written when the model learned them, by name."""
        return {
            column.name: column.text_format
            for column in self.columns
            if column.text_format
        }

    @cached_property
    def paths(self) -> list[str]:
        return paths_of(self.data)

    @cached_property
    def kind(self) -> str:
        if is_frame(self.data):
            return "frame"
        return file_kind(self.paths)

    @cached_property
    def n_rows(self) -> int | None:
        """The number of rows: known for Parquet, estimated from the first rows for CSV, else
        None."""
        if self.kind == "parquet":
            return sum(parquet_footer(path)[0].num_rows for path in self.paths)
        if self.kind == "csv":
            reader = self.file_format.csv_reader(self.paths[0])
            sizes = [
                reader.cell_bytes(path, os.path.getsize(path)) for path in self.paths
            ]
            n_cells = sum(sizes) // 8  # each read as a float64
            n_columns = len(reader.with_types(self.paths[0]).types)
            return n_cells // max(1, n_columns)
        return None

    @cached_property
    def all_names(self) -> list[str]:
        """The names of all columns of the first file, or of the frame."""
        if self.kind == "csv":
            reader = self.file_format.csv_reader(self.paths[0])
            return list(reader.with_types(self.paths[0]).types)
        if self.kind == "parquet":
            return list(parquet_footer(self.paths[0])[0].schema.to_arrow_schema().names)
        return list(self._loaded.table.column_names)

    @property
    def first_row(self) -> int:
        """The number of the first row as a spreadsheet counts: below the names of the columns,
        which are in row 1 unless there is a title."""
        if self.kind == "csv":
            reader = self.file_format.csv_reader(self.paths[0])
            return reader.preamble + 1 + self.file_format.header
        if self.kind == "parquet":
            return 2
        return self._loaded.first_row

    @cached_property
    def _loaded(self) -> LoadedTable:
        """The rows, where all are read at once."""
        return read_data(self.data, self.file_format, self.text_formats)

    def __iter__(self) -> Iterator[pa.Table]:
        if self.kind == "csv":
            return self._csv()
        if self.kind == "parquet":
            return self._parquet()
        return self._in_memory()

    def _in_memory(self) -> Iterator[pa.Table]:
        warn_about_format(self._loaded.notes, self._loaded.name)
        table = self._loaded.table
        self._check(table.column_names)
        # in the same batches as a file, so that a model needs no more memory
        for start in range(0, table.num_rows, _ROWS):
            yield self._numbers(table.select(self.column_names).slice(start, _ROWS))

    def _parquet(self) -> Iterator[pa.Table]:
        for path in self.paths:
            # without pre_buffer, which keeps what it has read
            options: dict[str, Any] = {"buffer_size": 1 << 16, "pre_buffer": False}
            with open_parquet(path, **options) as batches:
                self._check(batches.column_names, path)
                for batch in batches(_ROWS, columns=self.column_names):
                    yield self._numbers(pa.Table.from_batches([batch]))

    def _numbers(self, table: pa.Table) -> pa.Table:
        """The table with text that is written as numbers read as such, in columns that the model
        has so."""
        numeric = [column.name for column in self.columns if column.numeric]
        return parse_columns(table, numeric, self.text_formats)

    def _csv(self) -> Iterator[pa.Table]:
        # how the first file is written holds for all
        first = self.file_format.csv_reader(self.paths[0])
        reader = replace(first, learned_formats=self.text_formats)
        numeric = {column.name for column in self.columns if column.numeric}
        for path in self.paths:
            typed = reader.with_types(path)
            self._check(list(typed.types), path)
            # columns that the model does not read are kept as they are written
            types = dict.fromkeys(typed.types, text_type())
            for column in self.columns:
                types[column.name] = _csv_type(column, typed.types[column.name])
            formats = {
                name: text_format
                for name, text_format in typed.text_formats.items()
                if name in numeric
            }
            warn_about_format(typed.notes, path)
            typed = replace(typed, types=types, text_formats=formats)
            for batch in typed.stream_on(path, numeric):
                yield pa.Table.from_batches([batch]).select(self.column_names)

    def _check(self, names: Sequence[str], path: str = "the table") -> None:
        absent = [name for name in self.column_names if name not in names]
        if absent:
            n_more = len(absent) - 1
            more = f" (and {n_more} more of the model's)" if n_more else ""
            hint = spelling_hint(absent[0], list(names))
            raise SchemaError(f"{path} has no column {absent[0]!r}{more}{hint}")


def _csv_type(column: Column, inferred: pa.DataType) -> pa.DataType:
    """The type that fits every cell which the model could take."""
    if column.is_text:
        return text_type()
    if column.categories is not None and column.categories.dtype.kind == "b":
        return pa.bool_()
    # a column that looks empty or whole at its start may hold other numbers later
    if pa.types.is_null(inferred) or pa.types.is_integer(inferred):
        return pa.float64()
    return inferred
