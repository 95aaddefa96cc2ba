"""CSV files through Arrow: read at once or as a stream, with the same types either way."""

from __future__ import annotations

import gzip
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TypeVar

import pyarrow as pa
import pyarrow.csv as pc

from lyceum.errors import DataError, SchemaError

__all__ = ["MISSING", "CsvFormat"]

#: Cells that stand for a missing value.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
_READ_BYTES = 1 << 20
_STREAM_BYTES = 8 << 20
_MOST_BYTES = 1 << 30  # of a row
_HEAD_BYTES = 1 << 20
_TEXT = pa.dictionary(pa.int32(), pa.string())

# The types that Arrow tries on a column, in its order: the first that fits every cell is the type of the
# column.
_LADDER = (
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
    _TEXT,
)

Result = TypeVar("Result")


@dataclass(frozen=True)
class CsvFormat:
    """How CSV files are written, and the types of their columns where those are known already.

    `read` and `stream` infer the types that are not known, `stream` from the first batch only. `settle` runs
    any function of a format and goes on until the types fit every cell of every file.
    """

    delimiter: str = ","
    encoding: str = "utf8"
    missing: tuple[str, ...] = MISSING
    quote: str = '"'
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    names: tuple[str, ...] | None = None  # when the file has no header
    only: tuple[str, ...] = ()  # the columns to read, if not all
    longer: int = 1  # how many times larger than usual the blocks are that the longest row fits into

    def __post_init__(self) -> None:
        if len(self.delimiter) > 1 or (self.delimiter and self.delimiter in "\r\n" + self.quote):
            raise DataError(f"the delimiter {self.delimiter!r} cannot be: give one character, e.g. ';'")

    def read(self, source: str | IO[bytes]) -> pa.Table:
        """The whole file; text columns come as dictionaries."""
        return self._with_long_rows(lambda form: form._read(source))[1]

    def _read(self, source: str | IO[bytes]) -> pa.Table:
        if not isinstance(source, str):
            source.seek(0)
        with _explained(source, self) as explained:
            quoted = self._has_quotes(source)
            parse, stream = self._parse_options(quoted), _line_breaks_kept(source) if quoted else source
            table = pc.read_csv(stream, self._read_options(_READ_BYTES), parse, self._convert_options())
            explained.check(table.schema)
            explained.check_last_cell(table)
        return table

    def stream(self, source: str) -> Iterator[pa.RecordBatch]:
        """The file in batches of some megabytes."""
        with _explained(source, self) as explained:
            options = self._read_options(_STREAM_BYTES)
            parse, stream = self._parse_options(), _line_breaks_kept(source)
            with pc.open_csv(stream, options, parse, self._convert_options()) as reader:
                explained.check(reader.schema)
                batch = None
                for batch in filter(len, reader):
                    yield batch
                explained.check_last_cell(batch)

    def _with_long_rows(self, use: Callable[[CsvFormat], Result]) -> tuple[CsvFormat, Result]:
        """The result of `use`, which starts again with larger blocks while a row does not fit into them."""
        form = self
        while True:
            try:
                return form, use(form)
            except _LongRow as error:
                if _READ_BYTES * form.longer >= _MOST_BYTES:
                    raise DataError(f"{error}: a quote may be open") from error
                form = replace(form, longer=8 * form.longer)

    def read_all(self, sources: Sequence[str]) -> list[pa.Table]:
        """The files, every column of one type in all of them."""
        tables = [self.read(source) for source in sources]
        schemas = [table.schema for table in tables]
        if all(schema.equals(schemas[0]) for schema in schemas):
            return tables
        common = replace(self, types=_highest(schemas))
        return common.settle(lambda form: [form.read(source) for source in sources])[1]

    def settle(self, use: Callable[[CsvFormat], Result]) -> tuple[CsvFormat, Result]:
        """The result of `use` and the format that it worked with.

        A cell that does not fit the type of its column moves the column up to the next type that takes the
        cell, and `use` starts again: the types end up as if they had been inferred from all cells at once.
        """
        form = self
        while True:
            try:
                return form._with_long_rows(use)
            except _Misfit as misfit:
                form = replace(
                    form, types={**form.types, misfit.name: _next(form.types[misfit.name], misfit)}
                )

    def settled(self, sources: Sequence[str]) -> CsvFormat:
        """This format with types that fit every cell of every file, found by reading the files through."""

        def read_through(form: CsvFormat) -> None:
            for source in sources:
                for _ in form.stream(source):
                    pass

        return self.typed(sources[0]).settle(read_through)[0]

    def typed(self, source: str) -> CsvFormat:
        """This format with the types of the first batch of the file."""
        return replace(self, types={column.name: column.type for column in self._first_schema(source)})

    def _first_schema(self, source: str) -> pa.Schema:
        return self._with_long_rows(lambda form: form._schema_of(source))[1]

    def _schema_of(self, source: str) -> pa.Schema:
        with _explained(source, self) as explained:
            options = self._read_options(_STREAM_BYTES)
            with pc.open_csv(source, options, self._parse_options(), self._convert_options()) as reader:
                explained.check(reader.schema)
                return reader.schema

    def column_name(self, source: str, place: int) -> str:
        """The name of one column of one file."""
        return replace(self, types={}, only=())._first_schema(source).names[place]

    def sniffed(self, source: str) -> CsvFormat:
        """This format with its delimiter: the given one, or the commonest candidate in the line of names."""
        if self.delimiter:
            return self
        if source.removesuffix(".gz").endswith(".tsv"):
            return replace(self, delimiter="\t")
        line = re.sub(rf"{self.quote}[^{self.quote}]*{self.quote}", "", self._head(source).partition("\n")[0])
        counts = {mark: line.count(mark) for mark in (",", ";", "\t", "|")}
        best = max(counts, key=counts.__getitem__)
        return replace(self, delimiter=best if counts[best] else ",")

    def cell_bytes(self, source: str, size: int) -> int:
        """An estimate of the memory that the cells of a file of `size` bytes need, from its first rows."""
        head = self._head(source)
        cells = head.count(self.sniffed(source).delimiter) + head.count("\n") + 1
        packed = 8 if source.endswith(".gz") else 1  # text rarely shrinks to less than an eighth
        return 8 * round(cells / max(1, len(head)) * size * packed)

    def _head(self, source: str) -> str:
        with (
            _explained(source, self),
            gzip.open(source) if source.endswith(".gz") else open(source, "rb") as file,
        ):
            return file.read(_HEAD_BYTES).decode(self.encoding, errors="replace")

    def _has_quotes(self, source: str | IO[bytes]) -> bool:
        """Whether cells may be quoted: only then can they hold line breaks, which take longer to read."""
        if not isinstance(source, str) or source.endswith(".gz") or not os.path.isfile(source):
            return True
        mark = self.quote.encode(self.encoding)
        with open(source, "rb") as file:
            return any(mark in chunk for chunk in iter(lambda: file.read(1 << 22), b""))

    def _read_options(self, block_bytes: int) -> pc.ReadOptions:
        block = min(block_bytes * self.longer, _MOST_BYTES)
        return pc.ReadOptions(encoding=self.encoding, column_names=self.names, block_size=block)

    def _parse_options(self, newlines_in_values: bool = True) -> pc.ParseOptions:
        return pc.ParseOptions(
            delimiter=self.delimiter, quote_char=self.quote, newlines_in_values=newlines_in_values
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
        )


def _line_breaks_kept(source: str | IO[bytes]) -> pa.PythonFile:
    """The input for Arrow's reader, which loses a line feed that is the first byte of a block."""
    stream = pa.input_stream(source, compression="detect") if isinstance(source, str) else source
    return pa.PythonFile(_LineBreaks(stream), mode="r")


class _LineBreaks:
    """Reads bytes so that no piece ends between a carriage return and its line feed."""

    def __init__(self, stream: IO[bytes] | pa.NativeFile):
        self._stream, self._held = stream, b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes, none at the end of the input."""
        data = self._held + self._stream.read(size - len(self._held))
        self._held = b"\r" if len(data) > 1 and data.endswith(b"\r") else b""
        return data[: len(data) - len(self._held)]

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def close(self) -> None:
        self._stream.close()


class _Misfit(DataError):
    """A cell does not fit its column's type."""

    def __init__(self, message: str, name: str, cell: str):
        super().__init__(message)
        self.name, self.cell = name, cell


class _LongRow(DataError):
    """A row does not fit into the blocks that the file is read in."""


def _next(kind: pa.DataType, misfit: _Misfit) -> pa.DataType:
    """The next type that takes the cell."""
    for wider in _LADDER[_rank(kind) + 1 :]:
        if wider == _TEXT or _takes(wider, misfit.cell):
            return wider
    raise misfit


def _takes(kind: pa.DataType, cell: str) -> bool:
    try:
        pc.read_csv(
            io.BytesIO(cell.encode()),
            pc.ReadOptions(column_names=["x"]),
            pc.ParseOptions(delimiter="\x01", quote_char=False),
            pc.ConvertOptions(column_types={"x": kind}),
        )
    except pa.ArrowInvalid:
        return False
    return bool(cell.strip())


def _rank(kind: pa.DataType) -> int:
    return _LADDER.index(kind) if kind in _LADDER else len(_LADDER) - 1


def _highest(schemas: Sequence[pa.Schema]) -> dict[str, pa.DataType]:
    """For every column the type that stands highest on the ladder."""
    highest: dict[str, pa.DataType] = {}
    for schema in schemas:
        for column in schema:
            known = highest.get(column.name, column.type)
            highest[column.name] = column.type if _rank(column.type) > _rank(known) else known
    return {name: kind if kind in _LADDER else _TEXT for name, kind in highest.items()}


class _explained:
    """Turns Arrow's complaints about a file into ours."""

    def __init__(self, source: str | IO[bytes], form: CsvFormat):
        self.source, self.form = source, form
        self.name = source if isinstance(source, str) else "the input"

    def check(self, schema: pa.Schema) -> None:
        """Refuse what the header or the types show to be wrong."""
        names = schema.names
        if len(set(names)) < len(names):
            twice = sorted(name for name, count in Counter(names).items() if count > 1)
            raise SchemaError(
                f"{self.name} has the column names {', '.join(map(repr, twice))} twice: rename them"
            )
        if any(_is_binary(kind) for kind in schema.types):
            raise self._not_text()

    def check_last_cell(self, rows: pa.Table | pa.RecordBatch | None) -> None:
        """Refuse a quote that is never closed: the rest of the file would be one cell, without a complaint.

        A cell with a line break is quoted, so that a file that ends with one ends with a quote.
        """
        plain = isinstance(self.source, str) and not self.source.endswith(".gz") and not self.form.only
        if rows is None or not len(rows) or not plain:
            return
        last = rows.column(rows.num_columns - 1)[len(rows) - 1].as_py()
        if isinstance(last, str) and "\n" in last and not self._ends_with_quote():
            start = last.partition("\n")[0][:80]
            raise DataError(
                f"{self.name} has a quote that is not closed, before {start!r}: close or remove it"
            )

    def _ends_with_quote(self) -> bool:
        assert isinstance(self.source, str)
        with open(self.source, "rb") as file:
            file.seek(max(0, os.path.getsize(self.source) - 256))
            return file.read().decode(self.form.encoding, "replace").rstrip().endswith(self.form.quote)

    def _not_text(self) -> DataError:
        encoding = self.form.encoding.upper()
        return DataError(f"{self.name} is not {encoding} text: give its encoding, e.g. encoding='latin-1'")

    def __enter__(self) -> _explained:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"there is no file {self.name}") from error
        if isinstance(error, LookupError) and "encoding" in str(error):
            raise DataError(f"{error}: give one that Python knows, e.g. encoding='latin-1'") from error
        if isinstance(error, UnicodeError) or (isinstance(error, pa.ArrowInvalid) and "UTF8" in str(error)):
            raise self._not_text() from error
        if isinstance(error, pa.ArrowInvalid | EOFError) or type(error) is OSError:
            raise self._said(str(error)) from error

    def _said(self, text: str) -> DataError:
        misfit = re.search(
            r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to [^:]*: invalid value '(.*)'",
            text,
            re.DOTALL,
        )
        if misfit and isinstance(self.source, str):
            name = self.form.column_name(self.source, int(misfit[1]))
            return _Misfit(f"column {name!r} of {self.name}: {text}", name, misfit[2])
        if "straddling" in text or ("Empty CSV" in text and self._has_cells()):
            return _LongRow(f"{self.name} has a row of more than {_MOST_BYTES >> 20:,} MiB")
        if "Empty CSV" in text:
            return DataError(f"{self.name} is empty: it needs a line of column names and some rows")
        first, *more = text.split("\n", 1)
        short = first if len(first) <= 300 and not more else f"{first[:300]} ..."
        return DataError(f"{self.name} is not a well-formed CSV file: {short}")

    def _has_cells(self) -> bool:
        """Whether an input that looks empty is not: its first row is longer than a block."""
        return isinstance(self.source, str) and len(self.form._head(self.source)) >= _HEAD_BYTES


def _is_binary(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
