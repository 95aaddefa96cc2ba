"""What is wrong with a CSV file, in our words instead of Arrow's."""

from __future__ import annotations

import re
from collections import Counter
from typing import IO, TYPE_CHECKING

from lyceum._core.data.files.file_errors import file_errors
from lyceum._core.data.files.raw_bytes import HEAD_BYTES, is_packed, read_end
from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError, LyceumError, SchemaError

if TYPE_CHECKING:
    from lyceum._core.data.files.csv import CsvReader


MOST_BYTES = 1 << 30  # of a row


class Misfit(DataError):
    """A cell does not fit its column's type."""

    def __init__(self, message: str, name: str, cell: str):
        super().__init__(message)
        self.name = name
        self.cell = cell


class LongRow(DataError):
    """A row does not fit into the blocks that the file is read in."""


class NotText(DataError):
    """The bytes are not text in the encoding that they are read in."""

    def __init__(self, message: str, source: str | IO[bytes]):
        super().__init__(message)
        self.source = source


class SameNames(SchemaError):
    """Columns of a file have the same name."""

    def __init__(self, message: str, source: str | IO[bytes], names: list[str]):
        super().__init__(message)
        self.source = source
        self.names = names


class Explained:
    """Turns Arrow's complaints about a file into ours."""

    def __init__(self, source: str | IO[bytes], reader: CsvReader):
        self.source = source
        self.reader = reader
        if isinstance(source, str):
            self.name = source
        else:
            self.name = "the input"

    def check(self, schema: pa.Schema) -> None:
        """Refuse what the header or the types show to be wrong."""
        names = schema.names
        if len(set(names)) < len(names):
            twice = sorted(name for name, count in Counter(names).items() if count > 1)
            listed = ", ".join(map(repr, twice))
            text = f"{self.name} has the column names {listed} twice: rename them"
            raise SameNames(text, self.source, names)
        # what is not UTF-8 is binary to Arrow
        for kind in schema.types:
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
                raise self._not_text()

    def check_last_cell(self, rows: pa.Table | pa.RecordBatch | None) -> None:
        """Refuse a quote that is never closed: the rest of the file would be one cell, without a
        complaint.

        A cell with a line break is quoted, so that a file that ends with one ends with a quote.
        """
        plain = (
            isinstance(self.source, str)
            and not is_packed(self.source)
            and not self.reader.only
        )
        if rows is None or not len(rows) or not plain:
            return
        last_column = rows.column(rows.num_columns - 1)
        last = last_column[len(rows) - 1].as_py()
        if isinstance(last, str) and "\n" in last and not self._ends_with_quote():
            start = last.partition("\n")[0][:80]
            raise DataError(
                f"{self.name} has a quote that is not closed, before {start!r}: close or remove it"
            )

    def _ends_with_quote(self) -> bool:
        assert isinstance(self.source, str)
        end = read_end(self.source, 256).decode(self.reader.encoding, "replace")
        return end.rstrip().endswith(self.reader.quote)

    def _not_text(self) -> NotText:
        encoding = self.reader.encoding.upper()
        return NotText(
            f"{self.name} is not {encoding} text: give its encoding, e.g. --encoding latin-1 "
            "(encoding='latin-1')",
            self.source,
        )

    def __enter__(self) -> Explained:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, trace: object
    ) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"there is no file {self.name}") from error
        if isinstance(error, LookupError) and "encoding" in str(error):
            raise DataError(
                f"{error}: give one that Python knows, e.g. encoding='latin-1'"
            ) from error
        if isinstance(error, UnicodeError) or (
            isinstance(error, pa.ArrowInvalid) and "UTF8" in str(error)
        ):
            raise self._not_text() from error
        if isinstance(error, pa.ArrowInvalid | EOFError) or type(error) is OSError:
            raise self._error_of(str(error)) from error
        if isinstance(error, Exception) and not isinstance(error, LyceumError):
            with file_errors(self.name, "csv"):
                raise error

    def _error_of(self, text: str) -> DataError:
        # only Arrow's message says which cell it is, and it gives the column by its number
        misfit = re.search(
            r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to [^:]*: invalid value"
            r" '(.*)'",
            text,
            re.DOTALL,
        )
        if misfit and isinstance(self.source, str):
            name = self.reader.column_name(self.source, int(misfit[1]))
            return Misfit(f"column {name!r} of {self.name}: {text}", name, misfit[2])
        if "straddling" in text or ("Empty CSV" in text and self._has_cells()):
            return LongRow(
                f"{self.name} has a row of more than {MOST_BYTES >> 20:,} MiB"
            )
        if "Empty CSV" in text:
            return DataError(
                f"{self.name} is empty: it needs a line of column names and some rows"
            )
        first, *more = text.split("\n", 1)
        if len(first) > 300 or more:
            first = f"{first[:300]} ..."
        return DataError(f"{self.name} is not a well-formed CSV file: {first}")

    def _has_cells(self) -> bool:
        """Whether an input that looks empty is not: its first row is longer than a block."""
        return (
            isinstance(self.source, str)
            and len(self.reader._head(self.source)) >= HEAD_BYTES
        )
