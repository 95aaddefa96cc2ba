"""CSV files through Arrow: types settled over the whole file, read at once or as a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO

import pyarrow as pa
import pyarrow.csv as pc

from lyceum.errors import DataError, SchemaError

__all__ = ["MISSING", "CsvFormat"]

#: Cells that stand for a missing value.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
_STREAM_BYTES = 8 << 20


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV file is written, and the types of the columns that are known already."""

    delimiter: str = ","
    encoding: str = "utf8"
    missing: tuple[str, ...] = MISSING
    quote: str = '"'
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    names: tuple[str, ...] | None = None  # when the file has no header

    def read(self, source: str | IO[bytes]) -> pa.Table:
        """The whole file; text columns come as dictionaries."""
        with _explained(source, self.encoding):
            table = pc.read_csv(source, self._read_options(), self._parse_options(), self._convert_options())
        _check_names(table.schema.names, source)
        return table

    def stream(self, source: str) -> Iterator[pa.RecordBatch]:
        """The file in batches of some megabytes, every column in its settled type."""
        with _explained(source, self.encoding):
            options = self._read_options(block_size=_STREAM_BYTES)
            with pc.open_csv(source, options, self._parse_options(), self._convert_options()) as reader:
                _check_names(reader.schema.names, source)
                yield from (batch for batch in reader if batch.num_rows)

    def settled(self, source: str) -> CsvFormat:
        """This format with the type of every column, found by reading the file through.

        Types come from the first batch, whole numbers as floats; a cell that does not fit makes its column text.
        """
        with _explained(source, self.encoding):
            options = self._read_options(block_size=_STREAM_BYTES)
            with pc.open_csv(source, options, self._parse_options(), self._convert_options()) as reader:
                types = {field.name: _widest(field.type) for field in reader.schema}
        settled = replace(self, types=types)
        while True:
            try:
                for _ in settled.stream(source):
                    pass
            except _Misfit as misfit:
                name = list(types)[misfit.column]
                if types[name] == pa.string():
                    raise
                types = {**types, name: pa.string()}
                settled = replace(settled, types=types)
            else:
                return settled

    def _read_options(self, **options: int) -> pc.ReadOptions:
        return pc.ReadOptions(encoding=self.encoding, column_names=self.names, **options)

    def _parse_options(self) -> pc.ParseOptions:
        return pc.ParseOptions(delimiter=self.delimiter, quote_char=self.quote, newlines_in_values=False)

    def _convert_options(self) -> pc.ConvertOptions:
        return pc.ConvertOptions(
            null_values=list(self.missing),
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            column_types=dict(self.types),
            auto_dict_encode=not self.types,
            auto_dict_max_cardinality=1 << 16,
        )


class _Misfit(DataError):
    """A cell does not fit its column's type."""

    def __init__(self, message: str, column: int):
        super().__init__(message)
        self.column = column


class _explained:
    """Turns Arrow's complaints about a file into ours."""

    def __init__(self, source: str | IO[bytes], encoding: str):
        self.name = source if isinstance(source, str) else "the input"
        self.encoding = encoding

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"there is no file {self.name}") from error
        if isinstance(error, UnicodeDecodeError) or (isinstance(error, pa.ArrowInvalid) and "UTF8" in str(error)):
            raise DataError(
                f"{self.name} is not {self.encoding.upper()} text: give its encoding, e.g. encoding='latin-1'"
            ) from error
        if isinstance(error, pa.ArrowInvalid):
            text = str(error)
            column = re.search(r"In CSV column #(\d+)", text)
            if column and "conversion error" in text:
                raise _Misfit(f"{self.name}: {text}", int(column.group(1))) from error
            if "Empty CSV" in text:
                raise DataError(f"{self.name} is empty: it needs a line of column names and some rows") from error
            raise DataError(f"{self.name} is not a well-formed CSV file: {text}") from error


def _widest(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return pa.float64()
    return pa.string() if pa.types.is_dictionary(kind) else kind


def _check_names(names: list[str], source: str | IO[bytes]) -> None:
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        where = source if isinstance(source, str) else "the input"
        raise SchemaError(f"{where} has the column names {', '.join(map(repr, twice))} twice: rename them")
