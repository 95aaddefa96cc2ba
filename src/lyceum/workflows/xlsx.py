"""Tables as a workbook of one sheet, row by row, without a further package."""

from __future__ import annotations

import math
import re
import zipfile
from typing import Any
from xml.sax.saxutils import escape

from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError

_MOST_ROWS = 1_048_576  # of a sheet, its header included
# what XML cannot hold
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NS = "http://schemas.openxmlformats.org"
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_NS}/package/2006/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats'
        '-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_NS}/package/2006/relationships"><Relationship Id="r1"'
        f' Type="{_NS}/officeDocument/2006/relationships/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_NS}/spreadsheetml/2006/main"'
        f' xmlns:r="{_NS}/officeDocument/2006/relationships"><sheets>'
        '<sheet name="predictions" sheetId="1" r:id="r1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_NS}/package/2006/relationships"><Relationship Id="r1"'
        f' Type="{_NS}/officeDocument/2006/relationships/worksheet"'
        ' Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}


class XlsxWriter:
    """Writes tables below each other; texts are stored as texts, so that none is run as a
    formula."""

    def __init__(self, where: Any, schema: pa.Schema):
        self._zip = zipfile.ZipFile(where, "w", zipfile.ZIP_DEFLATED)
        for name, text in _PARTS.items():
            self._zip.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
        self._sheet = self._zip.open("xl/worksheets/sheet1.xml", "w", force_zip64=True)
        self._write(
            '<?xml version="1.0" encoding="UTF-8"?>'
            f'<worksheet xmlns="{_NS}/spreadsheetml/2006/main"><sheetData>'
        )
        self._n_rows = 0
        self._write_row(schema.names)

    def write_table(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        for row in zip(*(column.to_pylist() for column in table.columns)):
            self._write_row(row)

    def close(self) -> None:
        """End the sheet and the file."""
        self._write("</sheetData></worksheet>")
        self._sheet.close()
        self._zip.close()

    def _write(self, text: str) -> None:
        self._sheet.write(text.encode())

    def _write_row(self, cells: Any) -> None:
        self._n_rows += 1
        if self._n_rows > _MOST_ROWS:
            raise DataError(
                f"a sheet holds {_MOST_ROWS:,} rows at most: write a .csv or .parquet file"
            )
        self._write(f"<row>{''.join(map(_cell, cells))}</row>")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>"
    text = escape(_CONTROL.sub("", str(value)))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
