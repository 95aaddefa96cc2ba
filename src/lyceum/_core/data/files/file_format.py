"""How files are written: as the user says, or as inferred from their first rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lyceum._core.data.files.column_names import numbered_names, unique_names
from lyceum._core.data.files.csv import COLUMN_BYTES, MISSING, CsvReader
from lyceum._core.data.files.csv_errors import Explained
from lyceum._core.data.files.encodings import text_encoding
from lyceum._core.data.files.limits import check_memory
from lyceum._core.data.files.raw_bytes import (
    HEAD_BYTES,
    open_stream,
    read_head,
    unpacked_name,
)
from lyceum._core.data.files.text_formats import text_format_of
from lyceum._core.data.inputs.whole_numbers import is_beyond_64_bits
from lyceum._core.lazy_arrow import pa, text_type
from lyceum.errors import DataError

_SEPARATORS = ("\t", ";", "|", ",")
_LINES = 200  # that a format is found from
_TITLES = 10  # rows above the names of the columns, at most
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How the files to read are written; what is left empty is inferred from the files.

    Attributes
    ----------
    separator : str, default=""
        The character between the cells of a text file; "" finds a comma, semicolon, tab or bar.
    encoding : str, default=""
        The encoding of text; "" is found from a byte order mark, or UTF-8, or else guessed.
    decimal : {"", ".", ","}, default=""
        The decimal mark of text; "" is found from the cells.
    header : bool, default=True
        Whether the first row has the names of the columns; without, they are x0, x1, ...
    table : str, default=""
        The sheet of a workbook or the table of a database; not needed where there is one.
    missing : tuple of str
        The cells of text that mean "missing".
    header_row : int, default=0
        The row with the names of the columns, counted from 1 as spreadsheets count; by default the
        first that is no title.

    See Also
    --------
    scan : Takes the same settings by name.
    inspect : Takes it as `file_format`.

    Examples
    --------
    >>> from lyceum.data import FileFormat
    >>> FileFormat(separator=";", decimal=",").options()["separator"]
    ';'
    """

    separator: str = ""
    encoding: str = ""
    decimal: str = ""
    header: bool = True
    table: str = ""
    missing: tuple[str, ...] = MISSING
    header_row: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", tuple(self.missing))
        if len(self.separator) > 1 or self.separator in ("\r", "\n", '"'):
            raise DataError(
                f"the separator {self.separator!r} cannot be: give one character, e.g. ';'"
            )
        if self.decimal not in ("", ".", ","):
            raise DataError(
                f"the decimal mark {self.decimal!r} cannot be: give '.' or ','"
            )

        if self.header_row < 0 or (self.header_row and not self.header):
            raise DataError(
                f"the header row {self.header_row} cannot be: rows are counted from 1, and a file"
                " without a header has none"
            )

    def __bool__(self) -> bool:
        """Whether any setting differs from its default."""
        return self != FileFormat()

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `scan` that say the same."""
        return asdict(self)

    def changes(self) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        default = FileFormat()
        return {
            name: value
            for name, value in asdict(self).items()
            if value != getattr(default, name)
        }

    def csv_reader(self, source: str) -> CsvReader:
        """How a text file is written: as the user says, the rest as its first rows tell."""
        with Explained(source, CsvReader(encoding=self.encoding or "utf8")):
            head = read_head(source)
            if self.encoding:
                encoding = self.encoding
                certain = True
            else:
                encoding, certain = text_encoding(head, source)
            text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
        lines, declared = _declared_separator(_first_lines(text))
        separator = self.separator or declared or _separator(lines, source)
        first = self._header_line(lines, separator)
        preamble = _lines_before(text, len(declared) + first)
        if self.header_row:
            preamble = self.header_row - 1
        lines = lines[first:]
        n_columns = _check_columns(source, lines, separator, encoding)
        rows = _split(lines, separator)
        decimal = self.decimal or _decimal(rows[self.header :], separator, self.missing)
        names = None
        if not self.header and rows:
            names = numbered_names(len(rows[0])) or None
        long = _long_numbers(names, rows, self.header)
        notes = list(_notes(self, encoding, decimal, rows))
        if first and not self.header_row:
            notes.append(title_note(preamble))
        return CsvReader(
            separator, encoding, self.missing, types=long, names=names, decimal=decimal,
            user_decimal=self.decimal, guessed=not certain, notes=tuple(notes),
            preamble=preamble, n_columns=n_columns,
        )  # fmt: skip

    def _header_line(self, lines: list[str], separator: str) -> int:
        """The index of the line with the names, among the lines that are not empty."""
        if self.header_row:
            return min(self.header_row - 1, max(0, len(lines) - 1))
        if not self.header:
            return 0
        return n_title_rows(_split(lines, separator))


def _long_numbers(
    names: Sequence[str] | None, rows: list[list[str]], header: bool
) -> dict[str, pa.DataType]:
    """Columns of whole numbers of more than 64 bits: they stay text, as Arrow would round them to
    floats."""
    if not rows:
        return {}
    return {
        name: text_type()
        for name, cells in zip(names or unique_names(rows[0]), zip(*rows))
        if any(map(is_beyond_64_bits, cells[header:]))
    }


def n_title_rows(rows: Sequence[Sequence[Any]]) -> int:
    """How many rows at the start are titles: a cell or two above a table of more columns.

    >>> n_title_rows([["Sales 2024"], ["shop", "year", "sold"], ["a", "1", "2"], ["b", "1", "3"]])
    1
    """
    widths = [len(row) for row in rows]
    if len(rows) < 3:
        return 0
    usual = max(set(widths), key=widths.count)
    if usual < 2 or widths.count(usual) < len(rows) / 2:
        return 0
    for k, row in enumerate(rows[:_TITLES]):
        n_filled = sum(cell is not None and str(cell).strip() != "" for cell in row)
        is_alone = n_filled <= 1 and usual > 2
        if len(row) > usual / 2 and not is_alone:
            return k
    return 0


def title_note(n_lines: int) -> str:
    """What was taken for a title."""
    above = "row was" if n_lines == 1 else f"{n_lines} rows were"
    return (
        f"the first {above} taken for a title: the names of the columns are in row {n_lines + 1};"
        " say --header-row (header_row=...) if they are not"
    )


def _lines_before(text: str, n: int) -> int:
    """How many lines of a text, empty ones included, stand before the n-th that is not empty."""
    if n == 0:
        return 0
    seen = 0
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text)):
        if line.strip():
            if seen == n:
                return number
            seen += 1
    return n


def _notes(
    given: FileFormat, encoding: str, decimal: str, rows: list[list[str]]
) -> Iterator[str]:
    if not given.encoding and encoding != "utf8":
        yield f"not UTF-8 text: read as {encoding}"
    if not given.decimal and decimal == ",":
        yield "numbers are written with decimal commas"
    if (
        given.header
        and len(rows) > 1
        and rows[0]
        and all(_NUMBER.fullmatch(name) for name in rows[0])
    ):
        yield (
            f"the first row holds numbers ({', '.join(rows[0][:3])}{' …' * (len(rows[0]) > 3)}) and"
            " was taken for the names of the columns: say --no-header (header=False) if it is no"
            " header"
        )


# -- separators and decimal marks ------------------------------------------------------


def _first_lines(text: str) -> list[str]:
    """The first lines of a text, the last one left out if it may be cut off."""
    first = re.split(r"\r\n|\n|\r", text, maxsplit=_LINES + 1)[: _LINES + 1]
    lines = [line for line in first if line.strip()]
    if len(lines) > _LINES:
        return lines[:-1]
    return lines


def _split(lines: list[str], separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error:  # a cell that is longer than Python's reader takes
        return [line.split(separator) for line in lines]


def _declared_separator(lines: list[str]) -> tuple[list[str], str]:
    """The lines without Excel's first line "sep=;", and the separator that it names."""
    match = re.fullmatch('"?sep=(.)"?', lines[0], re.IGNORECASE) if lines else None
    if match is None:
        return lines, ""
    return lines[1:], match[1]


def _check_columns(source: str, lines: list[str], separator: str, encoding: str) -> int:
    """The number of cells of the first line; raises where memory cannot hold so many columns."""
    if not lines:
        return 0
    n_columns = lines[0].count(separator) + 1
    # the line may be longer than what was read of it
    if len(lines) == 1:
        mark = separator.encode(encoding, errors="replace")
        with open_stream(source) as stream:
            stream.read(HEAD_BYTES)
            while piece := stream.read(HEAD_BYTES):
                line, line_break, _ = piece.partition(b"\n")
                n_columns += line.count(mark)
                if line_break:
                    break
    check_memory(COLUMN_BYTES * n_columns, source, f"its {n_columns:,} columns")
    return n_columns


def _separator(lines: list[str], source: str) -> str:
    """The first candidate of which every line has as many, else the commonest in the line of
    names."""
    if unpacked_name(source).lower().endswith(".tsv"):
        return "\t"
    # marks in quotes separate nothing
    plain = [re.sub('"[^"]*"', "", line) for line in lines]
    if not plain:
        return ","
    # from the first line on, then from later ones, below a title
    for start in range(max(1, min(_TITLES, len(plain) - 2))):
        for mark in _SEPARATORS:
            n = plain[start].count(mark)
            n_alike = sum(line.count(mark) == n for line in plain[start:])
            if n and n_alike >= 0.9 * (len(plain) - start):
                return mark
    # the first of the commonest, which is the comma where there is none of them
    return max((",", ";", "\t", "|"), key=plain[0].count)


def _decimal(rows: list[list[str]], separator: str, missing: tuple[str, ...]) -> str:
    """The decimal mark: a comma if more columns show that than show a point.

    Columns of cells such as 1,234 show neither; with semicolons between the cells, they decide for
    the comma.
    """
    if not any("," in cell for row in rows for cell in row):
        return "."
    commas = points = unclear = 0
    whole_rows = [row for row in rows if len(row) == len(rows[0])]
    for cells in zip(*whole_rows):
        texts = [cell for cell in cells if cell.strip() not in missing]
        style = text_format_of(pa.array(texts, pa.string()))
        if style is None or style.date:
            continue
        marked = any("," in cell for cell in cells)
        unclear += style.doubtful and marked
        commas += style.decimal == "," and marked
        has_point = any("." in cell for cell in cells)
        points += style.decimal == "." and not style.doubtful and has_point
    if commas:
        return "," if commas > points else "."
    if unclear and not points and separator == ";":
        return ","
    return "."
