"""Rows from files: Parquet and CSV files that are read again in every pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lyceum._core.data.files.csv import CsvReader
from lyceum._core.data.files.typed_files import open_parquet, parquet_footer
from lyceum._core.data.rows.block import Block, block_rows
from lyceum._core.data.rows.sources import BatchPart, Part
from lyceum._core.data.schema.coding import TableCoder
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa, pq


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """Parquet files, read row group by row group: one part is a few row groups of one file."""

    paths: Sequence[str]
    schema: Schema
    text: tuple[str, ...] = ()  # columns to read as dictionaries

    @property
    def n_rows(self) -> int:
        return sum(parquet_footer(path)[0].num_rows for path in self.paths)

    def parts(self) -> Iterator[ParquetPart]:
        start = 0
        for path in self.paths:
            metadata, _ = parquet_footer(path)
            for groups in _group(metadata):
                n_rows = sum(metadata.row_group(group).num_rows for group in groups)
                yield ParquetPart(path, groups, start, n_rows, self.schema, self.text)
                start += n_rows

    def without_features(self) -> ParquetSource:
        """The same rows with targets and weights alone."""
        return replace(self, schema=replace(self.schema, columns=()))


_PART_ROWS = 1 << 18  # of a part of a Parquet file


def _group(metadata: pq.FileMetaData) -> Iterator[tuple[int, ...]]:
    """Consecutive row groups, each bundle with enough rows to be worth opening the file for."""
    bundle: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        bundle.append(group)
        rows += metadata.row_group(group).num_rows
        if rows >= _PART_ROWS:
            yield tuple(bundle)
            bundle = []
            rows = 0
    if bundle:
        yield tuple(bundle)


@dataclass(frozen=True, slots=True)
class ParquetPart:
    path: str
    groups: tuple[int, ...]
    start: int
    n_rows: int
    schema: Schema
    text: tuple[str, ...] = ()

    def batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows of the part, a few blocks at a time."""
        # with a buffer, column chunks are read in pieces; threads work on parts, not inside of one
        options: dict[str, Any] = {
            "buffer_size": 1 << 16,
            "read_dictionary": list(self.text),
        }
        with open_parquet(self.path, **options) as batches:
            present = set(batches.column_names)
            names = [name for name in names if name in present]
            size = 4 * block_rows(len(self.schema))
            yield from batches(
                size, row_groups=self.groups, columns=names, use_threads=False
            )

    def blocks(self) -> Iterator[Block]:
        start = self.start
        for batch in self.batches(TableCoder(self.schema).names):
            yield from BatchPart(batch, start, self.schema).blocks()
            start += batch.num_rows


@dataclass(frozen=True, slots=True)
class CsvSource:
    """CSV files too large for memory, parsed again on every pass, a few blocks at a time."""

    paths: Sequence[str]
    reader: CsvReader
    schema: Schema
    n_rows: int | None = None

    def without_features(self) -> CsvSource:
        """The same rows with targets and weights alone."""
        schema = replace(self.schema, columns=())
        reader = replace(self.reader, only=tuple(TableCoder(schema).names))
        return replace(self, schema=schema, reader=reader)

    def parts(self) -> Iterator[Part]:
        start = 0
        for path in self.paths:
            for batch in self.reader.stream(path):
                yield BatchPart(batch, start, self.schema)
                start += batch.num_rows
