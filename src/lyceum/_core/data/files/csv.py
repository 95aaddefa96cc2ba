"""CSV files through Arrow: read at once or as a stream, with the same types either way."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import IO, TypeVar

import numpy as np

from lyceum._core.data.files.column_names import renamed_note, unique_names
from lyceum._core.data.files.csv_errors import (
    MOST_BYTES,
    Explained,
    LongRow,
    Misfit,
    NotText,
    SameNames,
)
from lyceum._core.data.files.encodings import is_ascii_superset, is_utf8, later_encoding
from lyceum._core.data.files.limits import check_memory
from lyceum._core.data.files.line_breaks import keep_line_breaks
from lyceum._core.data.files.raw_bytes import (
    is_packed,
    open_stream,
    read_bytes,
    read_head,
)
from lyceum._core.data.files.text_formats import (
    OTHER_MARK,
    TextFormat,
    describe_formats,
    distinct_texts,
    parse_cells,
    text_format_of,
    text_formats_of,
)
from lyceum._core.data.inputs.arrow import decode_dictionary, replace_columns
from lyceum._core.data.inputs.whole_numbers import (
    is_beyond_64_bits,
    long_integer,
    may_be_rounded,
)
from lyceum._core.lazy_arrow import csv as pc, pa, pc as compute, text_type
from lyceum._core.native import native
from lyceum.errors import DataError, SchemaError

#: Cells that stand for a missing value.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
_READ_BYTES = 1 << 20  # of a block of a file that is read at once
COLUMN_BYTES = 9000  # that Arrow takes for a column, however few its rows are
_STREAM_BYTES = 8 << 20  # of a block of a stream, which becomes a batch


@cache
def _ladder() -> tuple[pa.DataType, ...]:
    """The types that Arrow tries on a column, in its order: the first that fits every cell is its
    type."""
    return (
        pa.null(),
        pa.int64(),
        pa.bool_(),
        pa.date32(),
        pa.time32("s"),
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.timestamp("s", "UTC"),
        pa.timestamp("ns", "UTC"),
        pa.float64(),
        text_type(),
    )


Result = TypeVar("Result")


@dataclass(frozen=True)
class CsvReader:
    """How CSV files are written, and the types of their columns where those are known already.

    `read` and `stream` infer the types that are not known, `stream` from the first batch only.
    `settle` runs any function of a format and goes on until the types fit every cell of every file.
    What the user declared is a `FileFormat`, which finds out the rest.
    """

    separator: str = ","
    encoding: str = "utf8"
    missing: tuple[str, ...] = MISSING
    quote: str = '"'
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    # when the file has no header, or one with a name twice
    names: tuple[str, ...] | None = None
    # lines at the start that have the names in the file, when `names` replace them
    skipped: int = 0
    # lines before that, which say how the file is written: Excel's "sep=;"
    preamble: int = 0
    n_columns: int = 0  # of the first line
    only: tuple[str, ...] = ()  # the columns to read, if not all
    # how many times larger than usual the blocks are that the longest row fits into
    longer: int = 1
    decimal: str = "."
    user_decimal: str = ""  # the decimal mark that the user gave
    # columns of text that a stream parses
    text_formats: Mapping[str, TextFormat] = field(default_factory=dict)
    # how columns were written when they were learned
    learned_formats: Mapping[str, str] = field(default_factory=dict)
    # whether another encoding may take the place of one that does not fit
    guessed: bool = False
    notes: tuple[str, ...] = ()  # what was inferred and should be reported
    # whether types may still change, so that numbers are checked for having been rounded
    settling: bool = False

    def read(self, source: str | IO[bytes]) -> pa.Table:
        """The whole file; text columns come as dictionaries."""
        return self.settle(lambda reader: reader._read(source))[1]

    def _read(self, source: str | IO[bytes]) -> pa.Table:
        if not isinstance(source, str):
            source.seek(0)
        with Explained(source, self) as explained:
            self._check_header(source)
            if (
                isinstance(source, str)
                and os.path.isfile(source)
                and not is_packed(source)
            ):
                data = read_bytes(source)
                broken = self._may_break_cells(data)
                stream = pa.BufferReader(data)
            # a packed file, a pipe or an open input is read as a stream
            else:
                broken = True
                stream = source
                if isinstance(source, str):
                    stream = _CountedStream(source)
            # Arrow's threads are faster where it need not expect line breaks in cells
            if broken or not is_utf8(self.encoding):
                stream = keep_line_breaks(stream, self.encoding)
            options = self._read_options(_READ_BYTES)
            parse = self._parse_options(broken)
            table = pc.read_csv(stream, options, parse, self._convert_options())
            explained.check(table.schema)
            explained.check_last_cell(table)
        self._check_rounded(table, source, set())
        return table

    def stream(self, source: str) -> Iterator[pa.RecordBatch]:
        """The file in batches of some megabytes."""
        with Explained(source, self) as explained:
            self._check_header(source)
            options = self._read_options(_STREAM_BYTES)
            parse = self._parse_options()
            stream = keep_line_breaks(source, self.encoding)
            with pc.open_csv(stream, options, parse, self._convert_options()) as reader:
                explained.check(reader.schema)
                batch = None
                checked = set[str]()
                for batch in filter(len, reader):
                    if self.settling:
                        self._check_rounded(batch, source, checked)
                    yield self._parse_batch(batch, source)
                explained.check_last_cell(batch)

    def _parse_batch(self, batch: pa.RecordBatch, source: str) -> pa.RecordBatch:
        """The batch with its written numbers and dates parsed."""
        columns = dict(zip(batch.schema.names, batch.columns))
        parsed = {}
        for name, text_format in self.text_formats.items():
            if name not in columns:
                continue
            parsed[name], odd = parse_cells(columns[name], text_format)
            if odd is not None:
                raise Misfit(
                    f"column {name!r} of {source}: {odd!r} is not written as the others",
                    name,
                    odd,
                )
        return replace_columns(batch, parsed)

    def _check_rounded(
        self,
        rows: pa.Table | pa.RecordBatch,
        source: str | IO[bytes],
        checked: set[str],
    ) -> None:
        """Raise Misfit if whole numbers of more than 64 bits were rounded to floats.

        Only their digits tell them from numbers such as 1e300: the column is read again, as text,
        to the end of the file, and its name added to those that are `checked`.
        """
        for name, column in zip(rows.schema.names, rows.columns):
            if name in checked or not may_be_rounded(column):
                continue
            checked.add(name)
            as_text = replace(self, types={name: pa.string()}, only=(name,))
            if not isinstance(source, str):
                source.seek(0)
            with pc.open_csv(
                keep_line_breaks(source, self.encoding),
                self._read_options(_STREAM_BYTES),
                self._parse_options(),
                as_text._convert_options(),
            ) as reader:
                cell = next(
                    filter(None, (long_integer(b.column(0)) for b in reader)), ""
                )
            if cell:
                raise Misfit(
                    f"column {name!r} of {source}: {cell} is rounded", name, cell
                )

    def _with_long_rows(
        self, use: Callable[[CsvReader], Result]
    ) -> tuple[CsvReader, Result]:
        """The result of `use`, which starts again with larger blocks while a row does not fit into
        them.

        So it does with the next encoding while the bytes do not fit a guessed one.
        """
        reader = self
        while True:
            try:
                return reader, use(reader)
            except NotText as error:
                reader = reader._with_next_encoding(error)
            except SameNames as error:
                reader = reader._rename_columns(error)
            except LongRow as error:
                if _READ_BYTES * reader.longer >= MOST_BYTES:
                    raise DataError(f"{error}: a quote may be open") from error
                reader = replace(reader, longer=8 * reader.longer)

    def _with_next_encoding(self, error: NotText) -> CsvReader:
        """This format with the encoding of later bytes; raises where the encoding is certain."""
        if self.guessed and self.encoding == "utf8" and isinstance(error.source, str):
            encoding = later_encoding(error.source)
        elif self.guessed and self.encoding in ("utf8", "cp1252"):
            encoding = "latin-1"
        else:
            raise error
        note = f"not UTF-8 text: read as {encoding}"
        return replace(self, encoding=encoding, notes=(*self.notes, note))

    def _rename_columns(self, error: SameNames) -> CsvReader:
        """This format with a number behind the names that appeared before."""
        names = unique_names(error.names)
        head = ""
        if isinstance(error.source, str):
            head = self._head(error.source)
        text = head.removeprefix("\ufeff")
        start = text.replace("\r\n", "\n").replace("\r", "\n")
        for _ in range(self.preamble):
            start = start.partition("\n")[2]
        # empty lines before the header are skipped with it
        skipped = 1 + len(start) - len(start.lstrip("\n"))
        notes = (*self.notes, renamed_note(error.names))
        return replace(self, names=tuple(names), skipped=skipped, notes=notes)

    def _check_header(self, source: str | IO[bytes]) -> None:
        """Refuse a file whose own names are not those that `names` replace."""
        if not self.skipped or not isinstance(source, str):
            return
        options = replace(self, names=None, skipped=0)._read_options(_READ_BYTES)
        with self._open_start(source, options, pc.ConvertOptions()) as reader:
            names = unique_names(reader.schema.names)
        odd = sorted(set(names) ^ set(self.names or ()))
        if odd or len(names) != len(self.names or ()):
            raise SchemaError(
                f"{source} has other column names than the first file, e.g. {odd[:1]}: give files"
                " of the same columns"
            )

    def read_all(self, sources: Sequence[str]) -> tuple[CsvReader, list[pa.Table]]:
        """The files, every column of one type in all of them, and the format that they were read
        in."""

        def read_each(reader: CsvReader) -> list[pa.Table]:
            return [reader._read(source) for source in sources]

        # each file by itself first; only where their types differ are they read again
        reader, tables = self.settle(read_each)
        schemas = [table.schema for table in tables]
        if all(schema.equals(schemas[0]) for schema in schemas):
            return reader, tables
        return replace(reader, types=_highest(schemas)).settle(read_each)

    def settle(self, use: Callable[[CsvReader], Result]) -> tuple[CsvReader, Result]:
        """The result of `use` and the format that it worked with.

        A cell that does not fit the type of its column moves the column up to the next type that
        takes the cell, and `use` starts again: the types end up as if they had been inferred from
        all cells at once.
        """
        reader = replace(self, settling=True)
        while True:
            try:
                settled, result = reader._with_long_rows(use)
                return replace(settled, settling=False), result
            except Misfit as misfit:
                reader = reader._raise_type(misfit)

    def _raise_type(self, misfit: Misfit) -> CsvReader:
        """This format with the column of the misfit as the next type, or way of writing, that takes
        it."""
        name = misfit.name
        cell = pa.array([misfit.cell])
        formats = dict(self.text_formats)
        before = formats.pop(name, None)
        kind = text_type()
        # a column of Arrow's types: the next type that takes the cell, or text in some format
        if before is None:
            kind = _next_type(self.types.get(name, pa.float64()), misfit)
            if kind == text_type():
                learned = self.learned_formats.get(name, "")
                text_format = text_format_of(
                    cell, self.user_decimal, self.decimal, learned
                )
                if text_format is not None:
                    formats[name] = text_format
        # a column of written numbers: the other decimal mark, if both fitted up to here
        elif before.doubtful and not before.date and not self.user_decimal:
            other = TextFormat(OTHER_MARK[before.decimal])
            if not other.parse(cell).null_count:
                formats[name] = other
        return replace(self, types={**self.types, name: kind}, text_formats=formats)

    def stream_on(
        self, source: str, columns: Collection[str]
    ) -> Iterator[pa.RecordBatch]:
        """The batches of `stream`, also where cells of these columns are written in another way
        later on.

        Rows before that place are read again, but not yielded again.
        """
        reader = self
        n_yielded = 0
        while True:
            n_to_skip = n_yielded
            try:
                for batch in reader.stream(source):
                    rest = batch.slice(min(n_to_skip, len(batch)))
                    n_to_skip -= len(batch) - len(rest)
                    n_yielded += len(rest)
                    if len(rest):
                        yield rest
                return
            except Misfit as misfit:
                reader = reader._raise_type(misfit)
                if misfit.name not in columns or misfit.name not in reader.text_formats:
                    raise

    def with_types(self, source: str) -> CsvReader:
        """This format with the types of the first batch of the file, and how its text is
        written."""
        reader, batch = self._with_long_rows(lambda reader: reader._first_batch(source))
        types = {column.name: column.type for column in batch.schema}
        formats = text_formats_of(
            batch, self.user_decimal, self.decimal, self.learned_formats
        )
        return replace(
            reader,
            types={**types, **dict.fromkeys(formats, text_type())},
            text_formats=formats,
        )

    def _first_batch(self, source: str) -> pa.RecordBatch:
        with Explained(source, self) as explained:
            options = self._read_options(_STREAM_BYTES)
            convert = self._convert_options()
            with self._open_start(source, options, convert) as reader:
                explained.check(reader.schema)
                batch = next(filter(len, islice(reader, 1)), None)
            # the whole file only if its first block has no rows
            if batch is None:
                stream = keep_line_breaks(source, self.encoding)
                parse = self._parse_options()
                with pc.open_csv(stream, options, parse, convert) as reader:
                    batch = next(filter(len, reader), None)
            if batch is None:
                return pa.RecordBatch.from_pylist([], schema=reader.schema)
            return batch

    def _open_start(
        self, source: str, options: pc.ReadOptions, convert: pc.ConvertOptions
    ) -> pc.CSVStreamingReader:
        """Arrow's reader of two blocks of a file, as it would read far ahead by itself; the second
        may be cut off."""
        # two blocks when they have become UTF-8: UTF-32 has four bytes for one
        longest = 1 if is_ascii_superset(self.encoding) else 4
        head = read_head(source, 2 * longest * options.block_size)
        if not is_utf8(self.encoding):
            decoder = codecs.getincrementaldecoder(self.encoding)()
            head = decoder.decode(head).encode()
        parse = self._parse_options()
        try:
            return pc.open_csv(pa.BufferReader(head), options, parse, convert)
        # where the first block holds names alone, Arrow goes on to the row that is cut off
        except pa.ArrowInvalid:
            stream = keep_line_breaks(source, self.encoding)
            return pc.open_csv(stream, options, parse, convert)

    def format_notes(self, source: str) -> list[str]:
        """Sentences on the written numbers and dates that a stream parses, with examples."""
        if not self.text_formats:
            return []
        types = dict.fromkeys(self.types, pa.string())
        names = tuple(self.text_formats)
        reader = replace(self, text_formats={}, types=types, only=names)
        head = reader._first_batch(source)
        texts = {name: distinct_texts(head.column(name)) for name in names}
        return list(describe_formats(self.text_formats, texts))

    def null_texts(
        self, source: str, names: Sequence[str]
    ) -> dict[str, dict[str, int]]:
        """How often each text of a missing cell stands in these columns."""
        if not names:
            return {}
        types = dict.fromkeys(names, pa.string())
        reader = replace(
            self, types=types, only=tuple(names), text_formats={}, missing=("",)
        )
        words = pa.array([text for text in self.missing if text], pa.string())
        texts = {}
        table = reader.read(source)
        for name in names:
            cells = decode_dictionary(table.column(name))
            is_word = compute.is_in(cells, value_set=words)
            counted = compute.value_counts(cells.filter(is_word)).to_pylist()
            texts[name] = {pair["values"]: pair["counts"] for pair in counted}
        return texts

    def column_name(self, source: str, index: int) -> str:
        """The name of one column of one file."""
        reader = replace(self, types={}, text_formats={}, only=())
        batch = reader._with_long_rows(lambda reader: reader._first_batch(source))[1]
        return batch.schema.names[index]

    def cell_bytes(self, source: str, size: int) -> int:
        """An estimate of the memory that the cells of a file of `size` bytes need, from its first
        rows."""
        head = self._head(source)
        n_cells = head.count(self.separator) + head.count("\n") + 1
        # text rarely shrinks to less than an eighth
        packed = 8 if is_packed(source) else 1
        # 8 bytes per cell, and as many cells per character as at the start
        cells_per_byte = n_cells / max(1, len(head))
        return 8 * round(cells_per_byte * size * packed)

    def _head(self, source: str) -> str:
        with Explained(source, self):
            return read_head(source).decode(self.encoding, errors="replace")

    def check_memory(self, sources: Sequence[str]) -> None:
        """Raise if the columns take more memory than reading the files may.

        Measured: Arrow takes 9 kB for every column, and 1 kB for each in every block.
        """
        sizes = [os.path.getsize(path) * (1 + 7 * is_packed(path)) for path in sources]
        n_blocks = sum(sizes) / _READ_BYTES
        needed = self.n_columns * (COLUMN_BYTES + 1000 * n_blocks)
        check_memory(needed, sources[0], f"its {self.n_columns:,} columns")

    def _may_break_cells(self, data: pa.Buffer) -> bool:
        """Whether cells may hold line breaks, in quotes: such a file takes longer to read."""
        if not is_ascii_superset(self.encoding) or not self.separator.isascii():
            return True
        text = np.frombuffer(data, np.uint8)
        # a quote behind the byte order mark begins a cell
        if text[:3].tobytes() == codecs.BOM_UTF8:
            text = text[3:]
        separator = ord(self.separator)
        return native.breaks_in_quotes(text, separator, ord(self.quote))

    def _read_options(self, block_bytes: int) -> pc.ReadOptions:
        block = min(block_bytes * self.longer, MOST_BYTES)
        return pc.ReadOptions(
            column_names=self.names, block_size=block,
            skip_rows=self.preamble, skip_rows_after_names=self.skipped,
        )  # fmt: skip

    def _parse_options(self, newlines_in_values: bool = True) -> pc.ParseOptions:
        return pc.ParseOptions(
            delimiter=self.separator,
            quote_char=self.quote,
            newlines_in_values=newlines_in_values,
        )

    def _convert_options(self) -> pc.ConvertOptions:
        return pc.ConvertOptions(
            null_values=list(self.missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            column_types=dict(self.types),
            auto_dict_encode=True,
            auto_dict_max_cardinality=1 << 16,
            include_columns=self.only,
            decimal_point=self.decimal if self.separator != self.decimal else ".",
        )


class _CountedStream:
    """The bytes of a packed file, as long as memory may hold them."""

    def __init__(self, path: str):
        self._path = path
        self._stream = open_stream(path)
        self._n_bytes = 0
        # Arrow reads in a thread of its own, which would not know the limits
        self._context = copy_context()

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._n_bytes += len(data)
        what = "its first bytes, unpacked,"
        self._context.run(check_memory, self._n_bytes, self._path, what)
        return data

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def close(self) -> None:
        self._stream.close()


def _next_type(kind: pa.DataType, misfit: Misfit) -> pa.DataType:
    """The next type that takes the cell: Arrow itself is asked, by a file of this one cell."""
    if is_beyond_64_bits(misfit.cell):
        return text_type()
    options = pc.ReadOptions(column_names=["x"])
    parse = pc.ParseOptions(delimiter="\x01", quote_char=False)
    for wider in _ladder()[_rank(kind) + 1 :]:
        if wider == text_type():
            return wider
        convert = pc.ConvertOptions(column_types={"x": wider})
        try:
            pc.read_csv(io.BytesIO(misfit.cell.encode()), options, parse, convert)
        except pa.ArrowInvalid:
            continue
        if misfit.cell.strip():
            return wider
    raise misfit


def _rank(kind: pa.DataType) -> int:
    if kind in _ladder():
        return _ladder().index(kind)
    return len(_ladder()) - 1


def _highest(schemas: Sequence[pa.Schema]) -> dict[str, pa.DataType]:
    """For every column the type that stands highest on the ladder."""
    highest: dict[str, pa.DataType] = {}
    for schema in schemas:
        for column in schema:
            before = highest.get(column.name, column.type)
            highest[column.name] = max(before, column.type, key=_rank)
    return {
        name: kind if kind in _ladder() else text_type()
        for name, kind in highest.items()
    }
