"""Excel workbooks (.xlsx): a zip file of XML, read without another package."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cached_property
from typing import IO, Any
from xml.etree import ElementTree

from lyceum._core.data.files.column_names import renamed_note, unique_names
from lyceum._core.data.files.databases import choose_table
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.read_once import open_whole
from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError

_MOST_BYTES = 4 << 30  # unpacked; a sheet has at most a million rows
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_workbook(path: str, form: FileFormat) -> tuple[pa.Table, str]:
    """One sheet of a workbook: the first row that is not empty has the names of the columns.

    A note says which of them were renamed because they appear twice.
    """
    try:
        with open_whole(path) as file, zipfile.ZipFile(file) as archive:
            book = _Workbook(path, archive)
            rows = list(book.rows(choose_table(path, list(book.sheets), form.table, "sheet")))
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, IndexError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{path} is damaged, protected by a password or not an Excel workbook: {error}"
        ) from error
    if not rows:
        raise DataError(f"{path} is empty: the sheet needs a row of column names and some rows")
    wide = max(map(len, rows))
    rows = [row + [None] * (wide - len(row)) for row in rows]
    if form.header:
        head = rows.pop(0)
    else:
        head = [f"x{j}" for j in range(wide)]
    return _table(head, rows, form.missing)


def _table(
    head: list[Any], rows: list[list[Any]], missing: tuple[str, ...]
) -> tuple[pa.Table, str]:
    names = []
    columns = []
    for j, title in enumerate(head):
        cells = [row[j] for row in rows]
        if title is None and all(cell is None for cell in cells):
            continue
        names.append(_name(title, j))
        columns.append(_column(cells, missing))
    return pa.table(columns, names=unique_names(names)), renamed_note(names)


def _name(title: Any, place: int) -> str:
    if title is None or not str(title).strip():
        return f"column {place + 1}"
    if isinstance(title, float) and title.is_integer():
        return str(int(title))
    return str(title).strip()


def _column(cells: list[Any], missing: tuple[str, ...]) -> pa.Array:
    cells = [None if isinstance(cell, str) and cell.strip() in missing else cell for cell in cells]
    types = {type(cell) for cell in cells} - {type(None)}
    if types == {float}:
        is_integer = all(
            cell is None or (cell.is_integer() and abs(cell) <= 2**53) for cell in cells
        )
        return pa.array(cells, pa.int64() if is_integer else pa.float64())
    if types == {datetime}:
        days = all(cell is None or cell.time() == time() for cell in cells)
        return pa.array(cells, pa.timestamp("ms")).cast(pa.date32() if days else pa.timestamp("ms"))
    if types == {bool}:
        return pa.array(cells, pa.bool_())
    if not types:
        return pa.nulls(len(cells))
    return pa.array(
        [None if cell is None else _text(cell) for cell in cells], pa.string()
    ).dictionary_encode()


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return format(cell, ".15g")
    if isinstance(cell, datetime):
        return str(cell.date() if cell.time() == time() else cell)
    return str(cell)


@dataclass(frozen=True)
class _Workbook:
    path: str
    archive: zipfile.ZipFile

    def __post_init__(self) -> None:
        if sum(part.file_size for part in self.archive.infolist()) > _MOST_BYTES:
            raise DataError(
                f"{self.path} has more than {_MOST_BYTES >> 30} GiB of cells: save it as .csv"
            )

    def _open(self, name: str) -> IO[bytes]:
        with self.archive.open(name) as part:
            if b"<!DOCTYPE" in part.read(4096):
                raise DataError(
                    f"{self.path} declares entities, which no workbook needs: it may be hostile"
                )
        return self.archive.open(name)

    def _elements(self, name: str, tag: str) -> Iterator[ElementTree.Element]:
        """The elements of one tag, each forgotten after its use."""
        with self._open(name) as part:
            for _, element in ElementTree.iterparse(part):
                if _tag(element) == tag:
                    yield element
                    element.clear()

    @cached_property
    def sheets(self) -> dict[str, str]:
        """Every sheet and the file that has its cells."""
        targets = {
            element.get("Id"): str(element.get("Target"))
            for element in self._elements("xl/_rels/workbook.xml.rels", "Relationship")
        }
        found = {
            str(element.get("name")): targets[element.get(_RELATION)]
            for element in self._elements("xl/workbook.xml", "sheet")
        }
        return {
            name: target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            for name, target in found.items()
            if "worksheets" in target
        }

    @cached_property
    def _texts(self) -> list[str]:
        if "xl/sharedStrings.xml" not in self.archive.namelist():
            return []
        return [_inner_text(element) for element in self._elements("xl/sharedStrings.xml", "si")]

    @cached_property
    def _is_date(self) -> list[bool]:
        """For every cell style whether it shows a number as a date or a time."""
        if "xl/styles.xml" not in self.archive.namelist():
            return []
        with self._open("xl/styles.xml") as part:
            styles = ElementTree.parse(part).getroot()
        codes = {
            int(element.get("numFmtId", -1)): str(element.get("formatCode", ""))
            for element in styles.iter()
            if _tag(element) == "numFmt"
        }
        cells = next((element for element in styles if _tag(element) == "cellXfs"), ())
        return [_shows_date(int(element.get("numFmtId", 0)), codes) for element in cells]

    @cached_property
    def _first_day(self) -> datetime:
        for element in self._elements("xl/workbook.xml", "workbookPr"):
            if element.get("date1904") in ("1", "true"):
                return datetime(1904, 1, 1)
        return datetime(1899, 12, 30)

    def rows(self, sheet: str) -> Iterator[list[Any]]:
        """The rows that are not empty, up to the last cell that is not."""
        for row in self._elements(self.sheets[sheet], "row"):
            cells: list[Any] = []
            for cell in row:
                if _tag(cell) != "c":
                    continue
                if cell.get("r"):
                    place = _place(cell.get("r"))
                else:
                    place = len(cells)
                cells.extend([None] * (place - len(cells)))
                cells.append(self._value(cell))
            while cells and cells[-1] is None:
                cells.pop()
            if cells:
                yield cells

    def _value(self, cell: ElementTree.Element) -> Any:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _inner_text(cell) or None
        text = next((child.text for child in cell if _tag(child) == "v"), None)
        if text is None or kind == "e":  # an error such as #N/A
            return None
        if kind == "s":
            return self._texts[int(text)] or None
        if kind == "b":
            return text.strip() in ("1", "true")
        if kind == "d":
            return datetime.fromisoformat(text)
        if kind == "str":
            return text or None
        number = float(text)
        style = int(cell.get("s", 0))
        if style < len(self._is_date) and self._is_date[style] and math.isfinite(number):
            return self._date(number)
        return number

    def _date(self, number: float) -> datetime | float:
        if 0 < number < 60 and self._first_day.year == 1899:
            days = number + 1
        else:
            days = number
        try:
            return self._first_day + timedelta(milliseconds=round(days * 86_400_000))
        except OverflowError:
            return number


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _inner_text(element: ElementTree.Element) -> str:
    """The text of an element and its runs, without the reading aids of Asian scripts."""
    parts = []
    for child in element:
        if _tag(child) == "t":
            parts.append(child.text or "")
        elif _tag(child) in ("r", "is"):
            parts.append(_inner_text(child))
    return "".join(parts)


def _place(reference: str | None) -> int:
    """The number of the column of a cell such as AB12, from 0."""
    place = 0
    for letter in re.match("[A-Z]*", reference or "")[0]:  # type: ignore[index]
        place = 26 * place + ord(letter) - 64
    if not 0 < place <= 16_384:
        raise DataError(f"a cell has the place {reference!r}, which no sheet has")
    return place - 1


def _shows_date(number: int, codes: dict[int, str]) -> bool:
    if number not in codes:
        return number in _DATE_FORMATS
    code = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.', "", codes[number]).lower()
    return "general" not in code and bool(re.search("[ymdhs]", code))
