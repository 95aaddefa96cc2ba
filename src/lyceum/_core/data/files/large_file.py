"""A file too large for memory, read through once: what it holds, and a sample of its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.data.files.csv import CsvReader
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.tables import file_kind, paths_of, stream_files
from lyceum._core.data.files.text_formats import format_names
from lyceum._core.data.files.typed_files import parquet_footer
from lyceum._core.data.inputs.arrow import decode_dictionary
from lyceum._core.data.rows.block_reduction import merge_all, merge_and_report
from lyceum._core.data.rows.file_sources import ParquetPart, ParquetSource
from lyceum._core.data.rows.text import source_name
from lyceum._core.data.schema.profile import TableProfile, names_with_levels
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa, pc
from lyceum._core.native import native
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data
from lyceum.errors import DataError

_FEWEST = 1_000  # rows of a sample, however many columns there are


@dataclass(frozen=True, slots=True)
class ProfiledFile:
    """CSV or Parquet files that were read through once; `inspect` and `scan` both take it.

    Attributes
    ----------
    paths : sequence of str
        The files.
    name : str
        The path as it was given, for messages.
    reader : CsvReader or None
        How CSV files are written, with types that fit every cell; None for Parquet files.
    seen : SampledProfile
        The profile of all rows, and a sample of them.
    in_full : frozenset of str
        The columns of numbers all of whose values are listed.
    notes : tuple of str, default=()
        What was inferred about how the files are written.
    typed : bool
        Whether the kinds of columns follow from their types (Parquet), not from their values (CSV).
    text_formats : dict
        How columns of CSV files are written that were read from text, by name.

    See Also
    --------
    profile_large_file : Makes it.
    LoadedTable : A file that was read into memory.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum._core.data import profile_large_file
    >>> file = profile_large_file(datasets.path("penguins"), size=100)
    >>> file.seen.profile.n_rows, file.seen.rows.num_rows, file.typed
    (344, 100, False)
    """

    paths: Sequence[str]
    name: str
    reader: CsvReader | None
    seen: SampledProfile
    in_full: frozenset[str]
    notes: tuple[str, ...] = ()

    @property
    def typed(self) -> bool:
        """Whether the kinds of columns follow from their types, not from their values."""
        return self.reader is None

    @property
    def text_formats(self) -> dict[str, str]:
        """How columns are written that were read from text, by name."""
        if self.reader is None:
            return {}
        return format_names(self.reader.text_formats)


def profile_large_file(
    data: Data,
    file_format: FileFormat | None = None,
    *,
    target: str | None = None,
    in_full: Collection[str] = (),
    size: int = 50_000,
    cells: int | None = None,
    seed: int = 0,
) -> ProfiledFile:
    """Read CSV or Parquet files once, in batches, for `inspect`, `scan` and a sample alike.

    Parameters
    ----------
    data : path, glob or list of paths
        The files.
    file_format : FileFormat, optional
        How they are written; by default this is inferred.
    target : str, optional
        Rows in which this column is missing are drawn only if there are too few others.
    in_full : names, optional
        Columns of numbers whose values are all to be listed, as they are declared to be categories.
    size : int, default=50 000
        The largest number of rows in the sample.
    cells : int, optional
        The largest number of its cells, as long as it has 1,000 rows.
    seed : int, default=0
        Which rows are drawn.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import inspect, scan
    >>> file = profile_large_file(datasets.path("penguins"), size=100)
    >>> len(file.seen.rows), inspect(file).n_rows == len(scan(file, "species"))
    (100, True)
    """
    draw = _Draw(target, frozenset(in_full), size, cells, seed)
    paths = paths_of(data)
    reader = None
    notes: tuple[str, ...] = ()
    if file_kind(paths) == "parquet":
        seen = _seen_in_parquet(paths, draw)
    else:
        csv = (file_format or FileFormat()).csv_reader(paths[0])
        typed = csv.with_types(paths[0])
        draw = draw.of_columns(len(typed.types))
        # again from the start each time a cell does not fit the type of its column
        reader, seen = typed.settle(lambda reader: _seen_in_csv(paths, reader, draw))
        notes = (*reader.notes, *reader.format_notes(paths[0]))
    if seen is None:
        raise DataError("there are no rows (0 samples): check the file")
    seen = seen.head(seen.size)
    return ProfiledFile(paths, source_name(data), reader, seen, draw.in_full, notes)


@dataclass(frozen=True, slots=True)
class _Draw:
    """What is listed of every column, and which rows are drawn."""

    target: str | None = None
    in_full: frozenset[str] = frozenset()
    size: int = 50_000
    cells: int | None = None
    seed: int = 0
    ordered: frozenset[str] = frozenset()

    def of_columns(self, count: int) -> _Draw:
        """With the largest sample for `count` columns."""
        if self.cells is None:
            return self
        fitting = self.cells // max(1, count)
        size = min(self.size, max(_FEWEST, fitting))
        return replace(self, size=size, cells=None)

    def sample(self, batch: pa.RecordBatch, start: int) -> SampledProfile:
        profile = TableProfile.of(batch, self.in_full, self.ordered)
        return SampledProfile.of(
            profile, batch, start, self.size, self.seed, self.target
        )


def _seen_in_csv(
    paths: list[str], reader: CsvReader, draw: _Draw
) -> SampledProfile | None:
    batches = _number(stream_files(reader, paths), 0)
    samples = ordered_map(lambda numbered: draw.sample(*numbered), batches)
    return merge_and_report(samples)


def _seen_in_parquet(paths: list[str], draw: _Draw) -> SampledProfile | None:
    _, schema = parquet_footer(paths[0])
    draw = replace(
        draw.of_columns(len(schema)), ordered=frozenset(names_with_levels(schema))
    )
    source = ParquetSource(paths, Schema.of_numbers(schema.names))

    def sample(part: ParquetPart) -> SampledProfile | None:
        batches = _number(part.batches(schema.names), part.start)
        return merge_all(draw.sample(batch, start) for batch, start in batches)

    samples = ordered_map(sample, source.parts())
    return merge_and_report(samples, source.n_rows)


def _number(
    batches: Iterator[pa.RecordBatch], start: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Every batch with the number of its first row."""
    for batch in batches:
        yield batch, start
        start += batch.num_rows


@dataclass(frozen=True, slots=True)
class SampledProfile:
    """The profile of some rows and a uniform sample of them: those whose hashed row number is
    smallest.

    Attributes
    ----------
    profile : TableProfile
        Of all rows.
    size : int
        The largest number of rows in the sample.
    keys : array of shape (m,)
        The hashes of the sampled rows; 1 more where the target is missing, so that these are drawn
        last.
    numbers : array of shape (m,)
        Their row numbers, ascending.
    rows : pyarrow.Table
        The sampled rows; while samples are merged there may be up to twice `size`.
    """

    profile: TableProfile
    size: int
    keys: np.ndarray
    numbers: np.ndarray
    rows: pa.Table

    @property
    def n_rows(self) -> int:
        return self.profile.n_rows

    @classmethod
    def of(
        cls,
        profile: TableProfile,
        batch: pa.Table | pa.RecordBatch,
        start: int,
        size: int,
        seed: int = 0,
        target: str | None = None,
    ) -> SampledProfile:
        """The sample of the rows of a table or batch, of which the first has number `start`."""
        # uniform numbers of [0, 1) by the number of the row alone: the sample does not depend on
        # how the rows are split into batches
        keys = np.empty(batch.num_rows)
        native.hash_uniform(start, seed, keys)
        if target is not None and target in batch.schema.names:
            column = batch.column(target)
            is_float = pa.types.is_floating(column.type)
            missing = pc.is_null(column, nan_is_null=is_float)
            if is_float:
                infinite = pc.fill_null(pc.is_inf(column), False)
                missing = pc.or_(missing, infinite)
            keys += np.asarray(missing)
        # plain values, as the dictionaries of two batches differ
        columns = {}
        for name in batch.schema.names:
            columns[name] = decode_dictionary(batch.column(name))
        rows = pa.table(columns)
        numbers = start + np.arange(batch.num_rows)
        return cls(profile, size, keys, numbers, rows).head(size)

    def head(self, size: int) -> SampledProfile:
        """The same with a sample of at most `size` of its rows."""
        if len(self.keys) <= size:
            return self
        # the smallest keys of a union are those of the smallest of its parts, so that samples of
        # parts merge to the sample of all rows
        smallest = np.argpartition(self.keys, size - 1)[:size]
        drawn = np.sort(smallest)
        return replace(
            self,
            keys=self.keys[drawn],
            numbers=self.numbers[drawn],
            rows=self.rows.take(pa.array(drawn)),
        )

    def merge(self, other: SampledProfile) -> SampledProfile:
        rows = pa.concat_tables([self.rows, other.rows], promote_options="permissive")
        keys = np.concatenate([self.keys, other.keys])
        numbers = np.concatenate([self.numbers, other.numbers])
        profile = self.profile.merge(other.profile)
        both = SampledProfile(profile, self.size, keys, numbers, rows)
        # cut at twice the size only: every row is then copied a few times at most
        if len(keys) > 2 * self.size:
            return both.head(self.size)
        return both
