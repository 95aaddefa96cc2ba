"""What the parts of a workbook hold, looked at before python-calamine reads them.

Calamine makes a full grid of every sheet: a cell in the last row and the last column asks for 17
billion cells. It reads numbers as floats and a formula without a stored value as an empty cell.
Only the parts themselves tell these things, and damage, in words of their own.
"""

from __future__ import annotations

import html
import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator

from lyceum._core.data.files.limits import check_memory
from lyceum.errors import DataError

# that a cell takes in calamine's grid, as a Python object and in a list, measured
_CELL_BYTES = 100
_TEXT_BYTES = 4  # of memory for every byte of the parts, at most, measured
_BOUNDS = "the {n:,} cells up to row {row:,}, column {column:,} of its sheet"
_OLE = b"\xd0\xcf\x11\xe0"


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
                self._members = {info.filename: info for info in archive.infolist()}
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise damaged(path, str(error)) from error
        n_bytes = sum(
            info.file_size
            for name, info in self._members.items()
            if name.endswith((".xml", ".rels", ".bin"))
        )
        check_memory(_TEXT_BYTES * n_bytes, path, "its parts, unpacked,")

    def check_all(self) -> None:
        """Raise if a part but the sheets is damaged, or longer than it says, or a table of an .ods
        file repeats its cells too often."""
        for name in self._members:
            if name.endswith((".xml", ".rels", ".bin")) and "worksheets/" not in name:
                content = self.content(name)
                if name == "content.xml":
                    check_repeats(self.path, content)

    def check_sheet(self, sheet: str) -> bytes:
        """Raise if a sheet is damaged or reaches too far; its part, if that is XML."""
        parts = [name for name in self._members if "worksheets/" in name]
        part = self._sheet_part(sheet)
        if part:
            parts = [part]
        content = b""
        for name in parts:
            if name.endswith(".bin"):
                check_binary_sheet(self.path, self.content(name))
            elif name.endswith(".xml"):
                content = self.content(name)
                check_sheet(self.path, content)
        return content if part else b""

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
        """The part that holds a sheet of an .xlsx file, "" if it is not found."""
        try:
            workbook = self.content("xl/workbook.xml")
            relations = self.content("xl/_rels/workbook.xml.rels")
        except DataError:
            return ""
        targets = {}
        for tag in _tags(relations, "Relationship"):
            targets[tag.get("Id", "")] = tag.get("Target", "")
        for tag in _tags(workbook, "sheet"):
            identifiers = [tag[name] for name in tag if name.endswith(":id")]
            if tag.get("name") == sheet and identifiers:
                target = targets.get(identifiers[0], "")
                part = posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
                if part in self._members:
                    return part
        return ""


def damaged(path: str, reason: str) -> DataError:
    """The error of a file that is no workbook, or not all of one."""
    return DataError(
        f"{path} is damaged, protected by a password or not an Excel workbook: {reason}"
    )


def is_zipped(data: bytes) -> bool:
    """Whether a workbook is a zip archive; an older one (.xls) is not."""
    return not data.startswith(_OLE)


def _tags(content: bytes, name: str) -> Iterator[dict[str, str]]:
    """The attributes of all tags of a name, with any prefix."""
    text = content.decode("utf8", errors="replace")
    for tag in re.finditer(rf"<(?:\w+:)?{name}\s([^<>]*)", text):
        pairs = re.findall(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", tag[1])
        yield {key: html.unescape(first or second) for key, first, second in pairs}


# -- sheets ----------------------------------------------------------------------------


def check_grid(path: str, n_rows: int, n_columns: int) -> None:
    """Raise if memory cannot hold the grid from the first cell to the last one."""
    n = n_rows * n_columns
    what = _BOUNDS.format(n=n, row=n_rows, column=n_columns)
    check_memory(_CELL_BYTES * n, path, what)


def check_sheet(path: str, content: bytes) -> None:
    """Raise if an .xlsx sheet reaches too far, or holds whole numbers that floats round."""
    letters = set(re.findall(rb"""\sr\s*=\s*["']([A-Za-z]{1,4})\d""", content))
    numbers = re.findall(rb"""\sr\s*=\s*["'][A-Za-z]{0,4}(\d{4,10})["']""", content)
    n_columns = max(map(_column_number, letters), default=0)
    n_rows = max(map(int, set(numbers)), default=999)
    # rows and cells without a place come one after the other
    if b"<row>" in content or b"<c>" in content:
        rows = content.split(b"<row")
        n_rows = max(n_rows, len(rows))
        n_columns = max(n_columns, *(row.count(b"<c") for row in rows))
    check_grid(path, n_rows, n_columns)
    for digits in set(re.findall(rb"<v>([+-]?\d{16,})</v>", content)):
        if len(digits) > 300 or int(float(digits)) != int(digits):
            raise DataError(
                f"{path}: {_address_of(content, digits)} holds {digits[:40].decode()}, more digits"
                " than a number of a sheet has: store it as text"
            )


def _column_number(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _address_of(content: bytes, digits: bytes) -> str:
    """The cell that holds these digits, in words."""
    end = content.index(b"<v>" + digits + b"</v>")
    addresses = re.findall(rb"""<c\s[^>]*?r=["'](\w+)""", content[:end][-2000:])
    if not addresses:
        return "a cell"
    return f"cell {addresses[-1].decode(errors='replace')}"


def negative_cells(content: bytes) -> Iterator[tuple[int, int, str]]:
    """The row, the column and the address of every number below zero in an .xlsx sheet."""
    formula = rb"(?:<f[^>]*/>|<f[^>]*>[^<]*</f>)?"
    pattern = rb"""<c\s[^>]*?r=["']([A-Z]+)(\d+)["'][^>]*>""" + formula + rb"<v>-"
    for letters, digits in re.findall(pattern, content):
        address = (letters + digits).decode()
        yield int(digits) - 1, _column_number(letters) - 1, address


def formulas_without_values(content: bytes) -> int:
    """The number of formulas in an .xlsx sheet whose results were not stored."""
    if b"<f" not in content:
        return 0
    return len(re.findall(rb"(?:</f>|<f\s[^<>]*/>)\s*(?:<v\s*/>\s*)?</c>", content))


def check_repeats(path: str, content: bytes) -> None:
    """Raise if the tables of an .ods file repeat cells too often, as calamine reads all of them."""
    n_cells = 0
    for table in content.split(b"<table:table ")[1:]:
        n_rows = n_columns = row = 0
        for piece in table.split(b"<table:table-row")[1:]:
            row += _repeats(piece[: piece.find(b">")], b"rows")
            column = filled = 0
            for cell in re.findall(rb"<table:(?:covered-)?table-cell([^>]*)>", piece):
                column += _repeats(cell, b"columns")
                if b"value" in cell or not cell.endswith(b"/"):
                    filled = column
            if filled:
                n_rows = row
                n_columns = max(n_columns, filled)
        n_cells += n_rows * n_columns
    check_memory(_CELL_BYTES * n_cells, path, f"the {n_cells:,} cells of its tables")


def _repeats(tag: bytes, what: bytes) -> int:
    match = re.search(rb'number-%s-repeated="(\d{1,18})"' % what, tag)
    return 1 if match is None else int(match[1])


def check_binary_sheet(path: str, content: bytes) -> None:
    """Raise if an .xlsb sheet reaches too far: rows and columns stand in its records.

    A record is its number and its length, seven bits to a byte, and its content ([MS-XLSB] 2.1.4).
    """
    row = column = offset = 0
    try:
        while offset < len(content):
            kind, offset = _seven_bits(content, offset, 2)
            size, offset = _seven_bits(content, offset, 4)
            if kind == 0:  # BrtRowHdr
                row = max(row, struct.unpack_from("<I", content, offset)[0])
            elif kind <= 11 or kind == 62:  # cells, and BrtCellRString
                column = max(column, struct.unpack_from("<I", content, offset)[0])
            offset += size
    except (IndexError, struct.error) as error:
        raise damaged(path, "its sheet is cut off") from error
    check_grid(path, row + 1, column + 1)


def _seven_bits(content: bytes, offset: int, most: int) -> tuple[int, int]:
    """A number of seven bits to a byte, the low ones first, and the offset behind it."""
    number = 0
    for i in range(most):
        byte = content[offset + i]
        number |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return number, offset + i + 1
    return number, offset + most
