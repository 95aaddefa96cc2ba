"""What the parts of a workbook hold, looked at before python-calamine reads them.

Calamine makes a full grid of every sheet: a cell in the last row and the last column asks for 17
billion cells. It reads numbers as floats and a formula without a stored value as an empty cell.
Only the parts themselves tell these things, and damage, in words of their own.
"""

from __future__ import annotations

import io
import math
import posixpath
import re
import struct
import zipfile
import zlib
from collections import Counter
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import unescape

import numpy as np

from lyceum._core.data.files.limits import check_memory
from lyceum._core.data.files.workbooks.records import (
    Cell,
    binary_records,
    negative_records,
    wide_text,
)
from lyceum.errors import DataError

# that a cell takes in calamine's grid, as a Python object and in a list, measured
_CELL_BYTES = 100
_SHARED_BYTES = (
    24  # that a text of all sheets takes in calamine, which believes their count
)
_TEXT_BYTES = 4  # of memory for every byte of the parts, at most, measured
_BOUNDS = "the {n:,} cells up to row {row:,}, column {column:,} of its sheet"
_QUOTES = {"&quot;": '"', "&apos;": "'"}
_OLE = b"\xd0\xcf\x11\xe0"
# tags of rows and cells, with any prefix, whose first attribute is not their address
_WITHOUT_ADDRESS = {
    tag: re.compile(rb"<(?:[^\s<>/:]+:)?%s(?=[\s/>])(?!\s+r\s*=)" % tag)
    for tag in (b"row", b"c")
}
_ODS_CELL = re.compile(
    rb"""<table:(?:covered-)?table-cell((?:[^<>"']|"[^"]*"|'[^']*')*)>"""
)
# a value with a comment or CDATA in it; one behind or before blanks, or written by numbers of signs
_VALUE_IN_PIECES = re.compile(rb"<(?:[^\s<>/:]+:)?v\b[^<>]*>[^<]*<[!?]")
_ODD_NUMBER = re.compile(rb"<(?:[^\s<>/:]+:)?v\b[^<>]*>(?:\s|[^<]*&|[^<\s]*\s+<)")
# the tag around the texts of all sheets, with any prefix, and what it says of their number
_SHARED_STRINGS = re.compile(rb"""<(?:[^\s<>/:]*:)?sst\b(?:[^"'>]|"[^"]*"|'[^']*')*""")
_UNIQUE_COUNT = re.compile(rb"""\buniqueCount\s*=\s*["']\+?0*(\d{1,30})""")
# a value that begins with a minus
_MAY_BE_NEGATIVE = re.compile(rb"<(?:[^\s<>/:]+:)?v\b[^<>]*>-")
_ADDRESS = re.compile(rb"([A-Za-z]+)(\d+)")
_ODS_VALUE = re.compile(
    rb"""office:value\s*=\s*["']\s*([+-]?\d{16,}|[^"']*[eE][^"']*)\s*["']"""
)


class WorkbookParts:
    """The parts of a zipped workbook (.xlsx, .xlsm, .xlsb, .ods), each checked as it is unpacked.

    Parameters
    ----------
    path : str
        The file, for errors.
    data : bytes
        All that it holds.
    """

    def __init__(self, path: str, data: bytes):
        self.path = path
        self._data = data
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise damaged(path, str(error)) from error
        # readers differ in which of two parts they take, and whether case matters
        names = Counter(info.filename.lower() for info in members)
        if twice := [name for name, count in names.items() if count > 1]:
            raise damaged(path, f"it has two parts of the name {twice[0]}")
        self._members = {info.filename: info for info in members}
        n_bytes = sum(info.file_size for info in members)
        check_memory(_TEXT_BYTES * n_bytes, path, "its parts, unpacked,")

    def check_all(self) -> None:
        """Raise if a part but the sheets is damaged, or longer than it says, or a table of an .ods
        file repeats its cells too often."""
        for name in self._members:
            is_part = name.lower().endswith((".xml", ".rels", ".bin"))
            if is_part and "worksheets/" not in name:
                content = self.content(name)
                tags = b" ".join(_SHARED_STRINGS.findall(content))
                n_texts = max(map(int, _UNIQUE_COUNT.findall(tags)), default=0)
                what = f"the {n_texts:,} texts that it declares"
                check_memory(_SHARED_BYTES * n_texts, self.path, what)
                if name == "content.xml":
                    # calamine looks for the end of what is not well-formed for ever
                    self._tags(name)
                    check_repeats(self.path, content)

    def check_sheet(self, sheet: str) -> bytes:
        """Raise if a sheet is damaged or reaches too far; its part, if that is XML."""
        part = self._sheet_part(sheet)
        if part:
            content = self.content(part)
            check_sheet(self.path, content)
            self._check_shared_strings(content)
            return content
        # any part may be the sheet where the file does not say it in the usual way
        is_opendocument = "content.xml" in self._members
        if is_opendocument:
            check_table_digits(self.path, self.content("content.xml"), sheet)
        for name in self._members:
            content = self.content(name)
            if b"sheetData" in content:
                check_sheet(self.path, content)
                self._check_shared_strings(content)
            elif not is_opendocument and name.lower().endswith(".bin"):
                is_sheet = "worksheets/" in name
                check_binary_sheet(self.path, content, is_sheet)
        return b""

    def negative_cells(self, sheet: str) -> set[Cell]:
        """The cells of a sheet that hold numbers below zero; those of all sheets where the file
        does not say in the usual way which part it is."""
        part = self._sheet_part(sheet) or self._binary_part(sheet)
        cells = set[Cell]()
        for name in [part] if part else self._members:
            content = self.content(name)
            if b"sheetData" in content:
                cells |= _NegativeCells(content).cells
            elif "worksheets/" in name and name.endswith(".bin"):
                cells |= negative_records(content)
        return cells

    def _binary_part(self, sheet: str) -> str:
        """The part that holds a sheet of an .xlsb file; "" unless the file says it plainly."""
        parts = []
        try:
            targets = self._targets("xl/_rels/workbook.bin.rels")
            for kind, record in binary_records(self.content("xl/workbook.bin")):
                if kind == 156:  # BrtBundleSh: state, number, relation, name
                    identifier, end = wide_text(record, 8)
                    if wide_text(record, end)[0] == sheet:
                        parts.append(self._plain_part(targets.get(identifier, "")))
        except (DataError, IndexError):
            return ""
        return parts[0] if len(parts) == 1 else ""

    def _plain_part(self, target: str) -> str:
        """The part that a relation of the workbook names; "" if readers may find another."""
        part = target.removeprefix("/")
        if not part.startswith("xl/"):
            part = f"xl/{part}"
        is_plain = target and posixpath.normpath(part) == part
        return part if is_plain and part in self._members else ""

    def _check_shared_strings(self, sheet: bytes) -> None:
        """Raise if the cells of a sheet repeat long texts more often than memory can hold."""
        parts = [name for name in self._members if "sharedstrings" in name.lower()]
        lengths = [
            len(text)
            for name in parts
            for text in re.split(rb"<(?:\w+:)?si\b", self.content(name))[1:]
        ]
        # short ones are among what a cell takes
        if max(lengths, default=0) <= _CELL_BYTES:
            return
        used = re.findall(rb"<(?:\w+:)?v>\s*(\d{1,9})\s*<", sheet)
        codes = np.array(used, dtype=np.int64)
        counts = np.bincount(codes[codes < len(lengths)], minlength=len(lengths))
        n_bytes = int(counts @ np.array(lengths))
        check_memory(n_bytes, self.path, "the texts of its cells")

    def content(self, name: str) -> bytes:
        """The bytes of a part, as many as it says."""
        info = self._members.get(name)
        if info is None:
            raise damaged(self.path, f"it has no part {name}")
        if info.flag_bits & 1:
            raise damaged(self.path, f"its part {name} needs a password")
        # the name and an extra field of the local header stand before the content
        header = self._data[info.header_offset :][:30]
        if len(header) < 30:
            raise damaged(self.path, f"its part {name} is cut off")
        start = info.header_offset + 30 + sum(struct.unpack("<2H", header[26:30]))
        packed = self._data[start : start + info.compress_size]
        try:
            content = packed
            if info.compress_type == zipfile.ZIP_DEFLATED:
                unpacker = zlib.decompressobj(-15)
                content = unpacker.decompress(packed, info.file_size + 1)
        except zlib.error as error:
            raise damaged(self.path, f"its part {name}: {error}") from error
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise damaged(self.path, f"its part {name} is not what was written")
        return content

    def _sheet_part(self, sheet: str) -> str:
        """The part that holds a sheet of an .xlsx file; "" unless every reader must find the same.

        Calamine joins paths without resolving them, and takes names in any case.
        """
        try:
            relations = self._targets("_rels/.rels").values()
            targets = self._targets("xl/_rels/workbook.xml.rels")
            sheets = [
                attributes
                for tag, attributes in self._tags("xl/workbook.xml")
                if tag == "sheet" and attributes.get("name") == sheet
            ]
        except DataError:
            return ""
        if "xl/workbook.xml" not in {target.lstrip("/") for target in relations}:
            return ""
        if len(sheets) != 1:
            return ""
        identifiers = [sheets[0][name] for name in sheets[0] if name.endswith(":id")]
        target = targets.get(identifiers[0], "") if len(identifiers) == 1 else ""
        return self._plain_part(target)

    def _targets(self, part: str) -> dict[str, str]:
        """The parts that a part of relations names, by identifier."""
        targets: dict[str, str] = {}
        for tag, attributes in self._tags(part):
            if tag == "Relationship":
                identifier = attributes.get("Id", "")
                if identifier in targets:
                    raise damaged(self.path, f"{part} has {identifier!r} twice")
                targets[identifier] = attributes.get("Target", "")
        return targets

    def _tags(self, part: str) -> list[tuple[str, dict[str, str]]]:
        """The names of all tags of a part, without their prefix, and their attributes."""
        tags: list[tuple[str, dict[str, str]]] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            tags.append((name.rpartition(":")[2], attributes))

        def refuse(*_: Any) -> None:
            raise damaged(self.path, f"its part {part} declares a document type")

        parser = expat.ParserCreate()
        parser.StartElementHandler = start
        parser.StartDoctypeDeclHandler = refuse
        try:
            parser.Parse(self.content(part), True)
        except expat.ExpatError as error:
            raise damaged(self.path, f"its part {part}: {error}") from error
        return tags


def damaged(path: str, reason: str) -> DataError:
    """The error of a file that is no workbook, or not all of one."""
    return DataError(
        f"{path} is damaged, protected by a password or not an Excel workbook: {reason}"
    )


def is_zipped(data: bytes) -> bool:
    """Whether a workbook is a zip archive; an older one (.xls) is not."""
    return not data.startswith(_OLE)


# -- sheets ----------------------------------------------------------------------------


def check_grid(path: str, n_rows: int, n_columns: int) -> None:
    """Raise if memory cannot hold the grid from the first cell to the last one."""
    n = n_rows * n_columns
    what = _BOUNDS.format(n=n, row=n_rows, column=n_columns)
    check_memory(_CELL_BYTES * n, path, what)


def check_sheet(path: str, content: bytes) -> None:
    """Raise if an .xlsx sheet reaches too far, or holds whole numbers that floats round."""
    if b"\0" in content:
        raise damaged(path, "its sheet is not UTF-8 text")
    letters = set(re.findall(rb"""["'\s]r\s*=\s*["']([A-Za-z]{1,9})\d""", content))
    numbers = re.findall(rb"""["'\s]r\s*=\s*["'][A-Za-z]{0,9}0*(\d{4,})["']""", content)
    n_columns = max(map(_column_number, letters), default=0)
    n_rows = max(map(int, set(numbers)), default=999)
    # rows and cells without an address first come after the last one that has one
    n_rows += len(_WITHOUT_ADDRESS[b"row"].findall(content))
    if _WITHOUT_ADDRESS[b"c"].search(content):
        rows = re.split(rb"<(?:[^\s<>/:]+:)?row\b", content)
        cells = _WITHOUT_ADDRESS[b"c"].findall
        n_columns += max(len(cells(row)) for row in rows)
    check_grid(path, n_rows, n_columns)
    # calamine reads the first piece of a value alone, and takes some numbers for text
    odd_numbers = any(
        not _is_text(content, match.start()) for match in _ODD_NUMBER.finditer(content)
    )
    if odd_numbers or _VALUE_IN_PIECES.search(content):
        raise damaged(path, "its sheet has values that are not plain numbers or text")
    for digits in set(re.findall(rb"<v>([+-]?\d{16,})</v>", content)):
        if _loses_digits(digits):
            raise _too_many_digits(path, _address_of(content, digits), digits)


def _is_text(content: bytes, index: int) -> bool:
    """Whether the cell around a value says that it holds a text."""
    # a formula of at most 8,192 characters may stand between them
    before = content[max(0, index - 50_000) : index]
    cells = re.findall(rb"<(?:[^\s<>/:]+:)?c\s[^<>]*>", before)
    return bool(cells) and b'"str"' in cells[-1]


def check_table_digits(path: str, content: bytes, sheet: str) -> None:
    """Raise if a table of an .ods file holds whole numbers that floats round, or numbers that are
    beyond them."""
    for table in re.split(rb"<table:table(?=[\s>])", content)[1:]:
        name = re.search(rb"""^[^>]*?table:name\s*=\s*["']([^"']*)""", table)
        if name and unescape(name[1].decode(errors="replace"), _QUOTES) != sheet:
            continue
        for match in _ODS_VALUE.finditer(table):
            if _loses_digits(match[1].strip()):
                rows = re.findall(
                    rb"<table:table-row(?=[\s/>])[^<>]*>", table[: match.start()]
                )
                row = 1 + sum(_repeats(tag, b"rows") for tag in rows[:-1])
                raise _too_many_digits(path, f"row {row} of its sheet", match[1])


def _loses_digits(number: bytes) -> bool:
    """Whether a whole number is not a float, or any number larger than all floats."""
    try:
        nearest = float(number)
    except ValueError:
        return False
    if math.isinf(nearest):
        return True
    return number.lstrip(b"+-").isdigit() and int(nearest) != int(number)


def _too_many_digits(path: str, where: str, digits: bytes) -> DataError:
    return DataError(
        f"{path}: {where} holds {digits[:40].decode(errors='replace')}, more digits than a number"
        " of a sheet has: store it as text"
    )


def _column_number(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def address(row: int, column: int) -> str:
    """The address of a cell, e.g. B3."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row + 1}"


def _address_of(content: bytes, digits: bytes) -> str:
    """The cell that holds these digits, in words."""
    end = content.index(b"<v>" + digits + b"</v>")
    addresses = re.findall(rb"""<c\s[^>]*?r=["'](\w+)""", content[:end][-2000:])
    if not addresses:
        return "a cell"
    return f"cell {addresses[-1].decode(errors='replace')}"


class _NegativeCells:
    """Finds the row and the column of every number below zero in an .xlsx sheet."""

    def __init__(self, content: bytes):
        self.cells = set[Cell]()
        self._row = -1
        self._column = -1
        self._text = ""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        # most sheets have no value that begins with a minus
        if _MAY_BE_NEGATIVE.search(content):
            self._parser.Parse(content, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        # what has no address comes after what stands before it
        tag = name.rpartition(":")[2]
        if tag == "row":
            self._row = int(attributes.get("r", self._row + 2)) - 1
            self._column = -1
        elif tag == "c":
            match = _ADDRESS.fullmatch(attributes.get("r", "").encode())
            self._column += 1
            if match:
                self._row = int(match[2]) - 1
                self._column = _column_number(match[1]) - 1
        elif tag == "v":
            self._text = ""
            self._parser.CharacterDataHandler = self._keep

    def _keep(self, text: str) -> None:
        self._text += text

    def _end(self, name: str) -> None:
        if name.rpartition(":")[2] == "v":
            self._parser.CharacterDataHandler = None
            if self._text.startswith("-"):
                self.cells.add((self._row, self._column))


def formulas_without_values(content: bytes) -> int:
    """The number of formulas in an .xlsx sheet whose results were not stored."""
    if b"<f" not in content:
        return 0
    return len(re.findall(rb"(?:</f>|<f\s[^<>]*/>)\s*(?:<v\s*/>\s*)?</c>", content))


def check_repeats(path: str, content: bytes) -> None:
    """Raise if the tables of an .ods file repeat cells too often, as calamine reads all of them."""
    n_cells = n_bytes = 0
    for table in re.split(rb"<table:table(?=[\s>])", content)[1:]:
        n_rows = n_columns = row = 0
        for piece in re.split(rb"<table:table-row(?=[\s/>])", table)[1:]:
            # the attributes of the row stand before its first cell
            cells = _ODS_CELL.split(piece)
            repeats = _repeats(cells[0], b"rows")
            row += repeats
            column = filled = 0
            for attributes, text in zip(cells[1::2], cells[2::2]):
                count = _repeats(attributes, b"columns")
                column += count
                if b"value" in attributes or not attributes.endswith(b"/"):
                    filled = column
                    n_bytes += repeats * count * (len(attributes) + len(text))
            if filled:
                n_rows = row
                n_columns = max(n_columns, filled)
        n_cells += n_rows * n_columns
    what = f"the {n_cells:,} cells of its tables"
    check_memory(_CELL_BYTES * n_cells + n_bytes, path, what)


def _repeats(tag: bytes, what: bytes) -> int:
    counts = re.findall(
        rb"""number-%s-repeated\s*=\s*["']\s*\+?(\d{1,18})""" % what, tag
    )
    return max(map(int, counts), default=1)


def check_binary_sheet(path: str, content: bytes, is_sheet: bool = True) -> None:
    """Raise if an .xlsb sheet reaches too far: rows and columns stand in its records.

    Parts that need not be sheets (`is_sheet=False`) may end in anything.
    """
    row = column = 0
    try:
        for kind, record in binary_records(content):
            if kind == 0:  # BrtRowHdr
                row = max(row, struct.unpack_from("<I", record)[0])
            elif kind <= 11 or kind == 62:  # cells, and BrtCellRString
                column = max(column, struct.unpack_from("<I", record)[0])
    except (IndexError, struct.error) as error:
        if is_sheet:
            raise damaged(path, "its sheet is cut off") from error
        return
    check_grid(path, row + 1, column + 1)
