"""Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods), which python-calamine reads."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from typing import Any

from lyceum._core.data.files.column_names import renamed_note, unique_names
from lyceum._core.data.files.databases import choose_table
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.raw_bytes import read_bytes
from lyceum._core.lazy_arrow import pa
from lyceum._core.packages import check_installed
from lyceum.errors import DataError

_EXACT = 2**53  # whole numbers up to it are exact; a sheet holds all numbers as floats


def read_workbook(path: str, file_format: FileFormat) -> tuple[pa.Table, str]:
    """One sheet of a workbook: the first row that is not empty has the names of the columns.

    A note says which of them were renamed because they appear twice.
    """
    rows = _sheet_rows(path, file_format.table)
    if not rows:
        raise DataError(
            f"{path} is empty: the sheet needs a row of column names and some rows"
        )
    if file_format.header:
        titles = rows.pop(0)
    else:
        titles = [f"x{j}" for j in range(len(rows[0]))]
    names = []
    columns = []
    for j, title in enumerate(titles):
        cells = [row[j] for row in rows]
        if title is None and all(cell is None for cell in cells):
            continue
        if title is None or not str(title).strip():
            names.append(f"column {j + 1}")
        else:
            names.append(_text(title).strip())
        columns.append(_column(cells, file_format.missing))
    return pa.table(columns, names=unique_names(names)), renamed_note(names)


def _sheet_rows(path: str, table: str) -> list[list[Any]]:
    """The rows that are not empty, all of the same length; empty cells and errors are None."""
    check_installed(f"reading {path}", "python_calamine")
    from python_calamine import CalamineError, SheetTypeEnum, load_workbook

    try:
        workbook = load_workbook(io.BytesIO(read_bytes(path)))
        sheets = [
            sheet.name
            for sheet in workbook.sheets_metadata
            if sheet.typ == SheetTypeEnum.WorkSheet
        ]
        sheet = workbook.get_sheet_by_name(choose_table(path, sheets, table, "sheet"))
        rows = sheet.to_python(skip_empty_area=False)
    except BaseException as error:
        # calamine's own code may panic on a damaged .xls file, and a panic is no Exception
        is_panic = type(error).__name__ == "PanicException"
        if not isinstance(error, CalamineError) and not is_panic:
            raise
        raise DataError(
            f"{path} is damaged, protected by a password or not an Excel workbook: {error}"
        ) from error
    cells = [[None if cell == "" else cell for cell in row] for row in rows]
    return [row for row in cells if any(cell is not None for cell in row)]


def _column(cells: list[Any], missing: tuple[str, ...]) -> pa.Array:
    """Numbers, dates, times of day, durations or true/false if all cells are, else text."""
    cells = [
        None if isinstance(cell, str) and cell.strip() in missing else cell
        for cell in cells
    ]
    present = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in present}
    if not types:
        return pa.nulls(len(cells))
    if types == {bool}:
        return pa.array(cells, pa.bool_())
    if types <= {int, float}:
        is_integer = all(
            float(cell).is_integer() and abs(cell) <= _EXACT for cell in present
        )
        return pa.array(cells, pa.int64() if is_integer else pa.float64())
    if types == {date}:
        return pa.array(cells, pa.date32())
    if types <= {date, datetime}:
        # a date is its midnight
        moments = [
            datetime(cell.year, cell.month, cell.day) if type(cell) is date else cell
            for cell in cells
        ]
        return pa.array(moments, pa.timestamp("ms"))
    if types == {time}:
        times = pa.array(cells, pa.time64("us"))
        return times.cast(pa.time32("ms"))
    if types == {timedelta}:
        return pa.array(cells, pa.duration("ms"))
    texts = [None if cell is None else _text(cell) for cell in cells]
    return pa.array(texts, pa.string()).dictionary_encode()


def _text(cell: Any) -> str:
    # the digits that a spreadsheet shows: 0.1 + 0.2 is 0.3
    if isinstance(cell, float):
        return format(cell, ".15g")
    return str(cell)
