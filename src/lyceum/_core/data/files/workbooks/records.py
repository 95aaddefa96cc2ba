"""Workbooks of binary records: sheets of .xlsb files, and .xls files in their compound file."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

Cell = tuple[int, int]  # its row and its column, from 0
_LAST_SECTOR = 0xFFFFFFFA  # numbers from here on are marks, not sectors


def negative_records(content: bytes) -> set[Cell]:
    """The row and the column of every number below zero in an .xlsb sheet."""
    cells = set[Cell]()
    row = 0
    for kind, record in binary_records(content):
        if kind == 0:
            row = struct.unpack_from("<I", record)[0]
        # BrtCellRk, BrtCellReal, BrtFmlaNum: the number stands behind column and style
        elif kind in (2, 5, 9):
            number = record[8 : 12 if kind == 2 else 16]
            if is_negative(number):
                cells.add((row, struct.unpack_from("<I", record)[0]))
    return cells


def is_negative(number: bytes) -> bool:
    """Whether a number, short ("RK") or double, is below zero: both have the sign in the last bit,
    and a double that ends in FFFF is another result of a formula."""
    is_number = len(number) == 4 or not number.endswith(b"\xff\xff")
    is_zero = not number[-1] & 0x7F and not any(number[:-1])
    return is_number and bool(number[-1] & 0x80) and not is_zero


def binary_records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a part of an .xlsb file.

    A record is its number and its length, seven bits to a byte, and its content ([MS-XLSB] 2.1.4).
    """
    offset = 0
    while offset < len(content):
        kind, offset = _seven_bits(content, offset, 2)
        size, offset = _seven_bits(content, offset, 4)
        yield kind, content[offset : offset + size]
        offset += size


def wide_text(record: bytes, offset: int) -> tuple[str, int]:
    """A text of an .xlsb record, its number of characters before it, and the offset behind it."""
    size = 2 * int.from_bytes(record[offset : offset + 4], "little")
    end = offset + 4 + size
    return record[offset + 4 : end].decode("utf-16-le", "replace"), end


def _seven_bits(content: bytes, offset: int, most: int) -> tuple[int, int]:
    """A number of seven bits to a byte, the low ones first, and the offset behind it."""
    number = 0
    for i in range(most):
        byte = content[offset + i]
        number |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return number, offset + i + 1
    return number, offset + most


# -- workbooks before 2007 -------------------------------------------------------------


def old_negative_cells(data: bytes, sheet: int) -> set[Cell]:
    """The row and the column of every number below zero in a worksheet of an .xls file, which
    calamine has read. IndexError and struct.error where its parts do not fit together."""
    content = CompoundFile(data).stream(["Workbook", "Book"])
    starts = [
        struct.unpack_from("<I", record)[0]
        for kind, record in _old_records(content, 0)
        if kind == 0x85 and record[5] == 0  # a BoundSheet that is a worksheet
    ]
    cells = set[Cell]()
    for kind, record in _old_records(content, starts[sheet]):
        if kind not in (0x203, 0x27E, 0x06, 0xBD):  # Number, RK, Formula, MulRk
            continue
        row, column = struct.unpack_from("<HH", record)
        width = {0x27E: 4, 0xBD: 4}.get(kind, 8)
        # each number behind its style of two bytes; MulRk ends in its last column
        stop = len(record) - 2 if kind == 0xBD else 6 + width
        for index in range(6, stop, width + 2):
            if is_negative(record[index : index + width]):
                cells.add((row, column + (index - 6) // (width + 2)))
    return cells


def _old_records(content: bytes, offset: int) -> Iterator[tuple[int, bytes]]:
    """The records of a part of an .xls workbook: number and length, then the content; a part goes
    from BOF to EOF and may hold others."""
    depth = 0
    while True:
        kind, size = struct.unpack_from("<HH", content, offset)
        yield kind, content[offset + 4 : offset + 4 + size]
        depth += (kind == 0x809) - (kind == 0x0A)
        offset += 4 + size
        if depth <= 0:
            return


class CompoundFile:
    """A file of streams, each a chain of sectors, or of small sectors inside of such a chain
    ([MS-CFB])."""

    def __init__(self, data: bytes):
        self._data = data
        self._size = 1 << min(struct.unpack_from("<H", data, 30)[0], 16)
        # sectors of the table of chains: 109 in the header, others in a list of sectors
        numbers = list(struct.unpack_from("<109I", data, 76))
        more = struct.unpack_from("<I", data, 68)[0]
        while more < _LAST_SECTOR and len(numbers) < len(data) // self._size + 109:
            *rest, more = _numbers(self._sector(more))
            numbers += rest
        blocks = [self._sector(number) for number in numbers if number < _LAST_SECTOR]
        self._table = _numbers(b"".join(blocks))

    def stream(self, names: Sequence[str]) -> bytes:
        """The stream of the first of these names."""
        small_shift = struct.unpack_from("<H", self._data, 32)[0]
        start, most_small, first_small = struct.unpack_from("<I4xII", self._data, 48)
        directory = self._joined(start)
        entries = [directory[i : i + 128] for i in range(0, len(directory), 128)]
        titles = [f"{name}\0".encode("utf-16-le") for name in names]
        entry = next((e for t in titles for e in entries if e.startswith(t)), b"")
        first, length = struct.unpack_from("<II", entry, 116)
        if length >= most_small:
            return self._joined(first)[:length]
        # small sectors stand in the stream of the first entry
        size = 1 << min(small_shift, 16)
        root = self._joined(struct.unpack_from("<I", entries[0], 116)[0])
        chain = _chain(first, _numbers(self._joined(first_small)))
        return b"".join(root[i * size : (i + 1) * size] for i in chain)[:length]

    def _joined(self, first: int) -> bytes:
        return b"".join(map(self._sector, _chain(first, self._table)))

    def _sector(self, number: int) -> bytes:
        return self._data[(number + 1) * self._size : (number + 2) * self._size]


def _numbers(data: bytes) -> tuple[int, ...]:
    """All numbers of four bytes."""
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])


def _chain(first: int, table: Sequence[int]) -> Iterator[int]:
    # a chain that comes back to itself ends after as many steps as there are sectors
    for _ in range(len(table)):
        if first >= _LAST_SECTOR:
            return
        yield first
        first = table[first]
