"""Workbooks (.xlsx) written part by part, perhaps damaged: read as openpyxl reads them, or refused
by name."""

from __future__ import annotations

import io
import math
import tempfile
import warnings
import zipfile
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from fuzz import Finding
from fuzz.file_cases import ReadingProcess
from fuzz.mutations import mutate_bytes

__all__ = ["KINDS", "Book", "case", "draw_book", "expected", "make", "table_of"]

PLAIN = "http://schemas.openxmlformats.org"
NAMESPACES = {
    False: (f"{PLAIN}/spreadsheetml/2006/main", f"{PLAIN}/officeDocument/2006"),
    True: (
        "http://purl.oclc.org/ooxml/spreadsheetml/main",
        "http://purl.oclc.org/ooxml/officeDocument",
    ),
}
PACKAGE = f"{PLAIN}/package/2006"
# the styles: number, date, date and time, time of day, duration, and formats that look like dates
FORMATS = (
    (0, ""),
    (14, ""),
    (22, ""),
    (21, ""),
    (46, ""),
    (164, '0.00 "days"'),
    (165, "[Red]0.0;[Blue]-0.0"),
    (166, "yyyy\\-mm\\-dd"),
    (167, "[h]:mm:ss"),
)
KINDS = (
    "number", "whole", "date", "moment", "time", "duration", "truth", "inline", "rich",
    "shared", "formula", "formula text", "error", "iso date", "red",
)  # fmt: skip
TEXTS = ("red", "a & b", "<tag>", "é", "日本", " blank ", "line\nbreak", "'", "x,y")
HOURS = (0, 1, 24, 25, 1439, 1440, 1441)


@dataclass(frozen=True)
class Book:
    """What a workbook is made of: its first sheet has one column for each of some kinds."""

    cells: dict[
        tuple[int, int], tuple[str, Any]
    ]  # by row and column: the kind and the value
    order: tuple[tuple[int, int], ...]  # in which the cells are written
    strict: bool = False
    from_1904: bool = False
    n_sheets: int = 1

    def write(self) -> bytes:
        """The bytes of the file."""
        main, office = NAMESPACES[self.strict]
        shared: list[str] = []
        sheet = self._sheet(shared)
        relation = f'<Relationship Id="{{}}" Type="{office}/relationships/{{}}" Target="{{}}"/>'
        opening = f'<Relationships xmlns="{PACKAGE}/relationships">'
        sheets, relations = "", ""
        for i in range(self.n_sheets):
            sheets += f'<sheet name="s{i}" sheetId="{i + 1}" r:id="r{i}"/>'
            relations += relation.format(f"r{i}", "worksheet", f"worksheets/s{i}.xml")
        relations += relation.format("st", "styles", "styles.xml")
        relations += relation.format("ss", "sharedStrings", "sharedStrings.xml")
        flag = ' date1904="1"' * self.from_1904
        strings = "".join(
            f"<si><t xml:space='preserve'>{text}</t></si>" for text in shared
        )
        parts = {
            "[Content_Types].xml": _content_types(self.n_sheets),
            "_rels/.rels": f"{opening}{relation.format('r', 'officeDocument', 'xl/workbook.xml')}"
            "</Relationships>",
            "xl/_rels/workbook.xml.rels": f"{opening}{relations}</Relationships>",
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}/relationships">'
            f"<workbookPr{flag}/><sheets>{sheets}</sheets></workbook>",
            "xl/styles.xml": _styles(main),
            "xl/sharedStrings.xml": f'<sst xmlns="{main}">{strings}</sst>',
        }
        for i in range(self.n_sheets):
            content = sheet if i == 0 else f'<row r="1"><c r="A1"><v>{i}</v></c></row>'
            parts[f"xl/worksheets/s{i}.xml"] = (
                f'<worksheet xmlns="{main}"><sheetData>{content}</sheetData></worksheet>'
            )
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in parts.items():
                archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
        return stream.getvalue()

    def _sheet(self, shared: list[str]) -> str:
        rows: dict[int, list[str]] = {}
        for row, column in self.order:
            kind, value = self.cells[row, column]
            place = f"{_letters(column)}{row + 1}"
            rows.setdefault(row, []).append(_cell(place, kind, value, shared))
        return "".join(
            f'<row r="{row + 1}">{"".join(cells)}</row>' for row, cells in rows.items()
        )


def _letters(column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _cell(place: str, kind: str, value: Any, shared: list[str]) -> str:
    text = escape(value) if isinstance(value, str) else ""
    if kind in ("title", "inline"):
        inside = f"<is><t xml:space='preserve'>{text}</t></is>"
        return f'<c r="{place}" t="inlineStr">{inside}</c>'
    if kind == "rich":
        half = len(value) // 2
        runs = [escape(value[:half]), escape(value[half:])]
        inside = "".join(
            f"<r><rPr><b/></rPr><t xml:space='preserve'>{run}</t></r>" for run in runs
        )
        return f'<c r="{place}" t="inlineStr"><is>{inside}</is></c>'
    if kind == "shared":
        shared.append(text)
        return f'<c r="{place}" t="s"><v>{len(shared) - 1}</v></c>'
    if kind == "formula text":
        return f'<c r="{place}" t="str"><f>A1&amp;"x"</f><v>{text}</v></c>'
    if kind == "error":
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if kind == "truth":
        return f'<c r="{place}" t="b"><v>{value}</v></c>'
    if kind == "iso date":
        return f'<c r="{place}" t="d"><v>{value}</v></c>'
    styles = {"date": 1, "moment": 2, "time": 3, "duration": 4, "whole": 5, "red": 6}
    formula = "<f>1+1</f>" if kind == "formula" else ""
    return f'<c r="{place}" s="{styles.get(kind, 0)}">{formula}<v>{value!r}</v></c>'


def _content_types(n_sheets: int) -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {"xl/workbook.xml": "sheet.main", "xl/styles.xml": "styles"}
    parts["xl/sharedStrings.xml"] = "sharedStrings"
    parts |= {f"xl/worksheets/s{i}.xml": "worksheet" for i in range(n_sheets)}
    listed = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}.{part}+xml"/>'
        for name, part in parts.items()
    )
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        f'"{relations}"/><Default Extension="xml" ContentType="application/xml"/>{listed}</Types>'
    )


def _styles(main: str) -> str:
    formats = "".join(
        f'<numFmt numFmtId="{number}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for number, code in FORMATS
        if code
    )
    styles = "".join(
        f'<xf numFmtId="{number}" applyNumberFormat="1"/>' for number, _ in FORMATS
    )
    return (
        f'<styleSheet xmlns="{main}"><numFmts>{formats}</numFmts><fonts><font/></fonts><fills>'
        "<fill><patternFill/></fill></fills><borders><border/></borders><cellStyleXfs><xf/>"
        f"</cellStyleXfs><cellXfs>{styles}</cellXfs></styleSheet>"
    )


# -- cases -----------------------------------------------------------------------------


def draw_book(rng: np.random.Generator) -> Book:
    """A table of some kinds at a place of the sheet, some cells missing, in any order."""
    count = int(rng.integers(1, 7))
    kinds = [str(kind) for kind in rng.choice(KINDS, count, replace=False)]
    n_rows = int(rng.integers(1, 12))
    top, left = (int(n) for n in rng.integers(0, 40, 2))
    cells: dict[tuple[int, int], tuple[str, Any]] = {}
    for j, kind in enumerate(kinds):
        cells[top, left + j] = ("title", f"{kind} {j}")
        for i in range(n_rows):
            if i == 0 or rng.random() < 0.8:
                cells[top + 1 + i, left + j] = (kind, _value(kind, rng))
    order = list(cells)
    if rng.random() < 0.4:
        order = [order[place] for place in rng.permutation(len(order))]
    return Book(
        cells,
        tuple(order),
        from_1904=bool(rng.random() < 0.4),
        n_sheets=int(rng.integers(1, 4)),
    )


def _value(kind: str, rng: np.random.Generator) -> Any:
    if kind in ("number", "formula", "red"):
        return float(rng.choice([0.5, -2.25, 1e-300, 1e300, 0.1, 1 / 3, 12345.678]))
    if kind == "whole":
        return int(rng.choice([0, 1, -7, 2**31, 10**15, -(2**53)]))
    if kind == "date":
        return int(rng.integers(61, 2_900_000))
    if kind == "moment":
        return int(rng.integers(61, 60_000)) + int(rng.integers(1, 86_400)) / 86_400
    if kind == "time":
        return int(rng.integers(0, 86_400)) / 86_400
    if kind == "duration":
        return int(rng.choice(HOURS)) / 24
    if kind == "truth":
        return int(rng.integers(2))
    if kind == "error":
        return str(
            rng.choice(
                ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"]
            )
        )
    if kind == "iso date":
        return str(date(2020, 1, 1) + timedelta(days=int(rng.integers(0, 9999))))
    return str(rng.choice(TEXTS))


def expected(content: bytes) -> dict[str, list[Any]]:
    """The columns of the first sheet as openpyxl reads them, errors and blanks as None."""
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
    rows = [row for row in rows if any(cell is not None for cell in row)]
    columns = {}
    for j, title in enumerate(rows[0]):
        if title is not None:
            cells = [row[j] for row in rows[1:]]
            columns[title] = [
                None if str(cell).startswith("#") else cell for cell in cells
            ]
    # a row of errors alone is empty for Lyceum
    kept = [
        i
        for i in range(len(rows) - 1)
        if any(c[i] is not None for c in columns.values())
    ]
    return {title: [cells[i] for i in kept] for title, cells in columns.items()}


def table_of(path: str) -> dict[str, list[Any]]:
    """The columns of the first sheet as Lyceum reads them."""
    from lyceum._core.data import read_data
    from lyceum.data import FileFormat
    from lyceum.errors import DataError

    try:
        return read_data(path).table.to_pydict()
    except DataError as error:
        if "say which" not in str(error):
            raise
    return read_data(path, FileFormat(table="s0")).table.to_pydict()


def difference(found: dict[str, list[Any]], wanted: dict[str, list[Any]]) -> str:
    """The first cell that differs, in words; empty where all agree."""
    if list(found) != list(wanted):
        return f"columns {list(found)} instead of {list(wanted)}"
    for name, cells in wanted.items():
        if len(cells) != len(found[name]):
            return f"{len(found[name])} rows of {name!r} instead of {len(cells)}"
        for cell, other in zip(cells, found[name]):
            if not _same(cell, other):
                return f"{other!r} in {name!r} instead of {cell!r}"
    return ""


def _same(cell: Any, other: Any) -> bool:
    if isinstance(cell, datetime) and not isinstance(other, datetime):
        return cell.time() == time() and cell.date() == other
    if isinstance(cell, datetime | timedelta):
        return bool(abs(cell - other) < timedelta(milliseconds=2))
    if isinstance(cell, float) and isinstance(other, float):
        return math.isclose(cell, other, rel_tol=1e-15)
    if isinstance(cell, str):
        return str(other).strip() == cell.strip()
    return bool(cell == other)


def make() -> tuple[Path, ReadingProcess]:
    """A folder, and a process that reads."""
    return Path(tempfile.mkdtemp()), ReadingProcess(table_of)


def case(shared: tuple[Path, ReadingProcess], rng: np.random.Generator) -> str:
    """Write a workbook, perhaps damage it, and compare it with what openpyxl reads."""
    folder, read = shared
    content = draw_book(rng).write()
    path = folder / "t.xlsx"
    how = rng.random()
    if how < 0.3:
        wanted = expected(content)
        path.write_bytes(content)
        outcome = read(path)
        if not wanted or not next(iter(wanted.values())):
            return outcome.word
        wrong = outcome.refusal or difference(outcome.value, wanted)
        if wrong:
            raise Finding(f"a workbook that was not damaged: {wrong}")
        return "compared"
    if how < 0.6:
        content = mutate_bytes(content, rng)
    else:
        content = mutate_part(content, rng)
    path.write_bytes(content)
    return read(path).word


def mutate_part(content: bytes, rng: np.random.Generator) -> bytes:
    """The archive with one of its parts changed, and right checksums."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w") as new,
    ):
        names = old.namelist()
        chosen = names[rng.integers(len(names))]
        for name in names:
            data = old.read(name)
            new.writestr(name, mutate_bytes(data, rng) if name == chosen else data)
    return stream.getvalue()
