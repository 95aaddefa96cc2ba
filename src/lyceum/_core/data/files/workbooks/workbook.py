"""Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods), which python-calamine reads."""

from __future__ import annotations

import io
import os
import pickle
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import Any
from xml.parsers.expat import ExpatError

from lyceum._core.data.files.column_names import renamed_note, unique_names
from lyceum._core.data.files.databases import choose_table
from lyceum._core.data.files.file_format import (
    FileFormat,
    n_title_rows,
    title_note,
)
from lyceum._core.data.files.limits import Stopwatch, memory_limit
from lyceum._core.data.files.raw_bytes import read_bytes
from lyceum._core.data.files.workbooks.parts import (
    WorkbookParts,
    address,
    damaged,
    formulas_without_values,
    is_zipped,
)
from lyceum._core.data.files.workbooks.records import Cell, old_negative_cells
from lyceum._core.lazy_arrow import pa
from lyceum._core.packages import check_installed
from lyceum._core.text import show_count
from lyceum.errors import DataError

_DAY_ZERO = date(1899, 12, 31)  # of Excel, whose day 1 is the first of January 1900
_ISO_DURATION = re.compile(r"(-?)PT(\d+)H(\d+)M(\d+(?:\.\d+)?)S")
_HEAD_ROWS = 200  # that a title is found from
_MOST_HOURS = 10**9
FIRST_ROW = (
    b"lyceum.first_row"  # the number of the first row below the names, in the metadata
)
_EXACT = 2**53  # whole numbers up to it are exact; a sheet holds all numbers as floats


def read_workbook(path: str, file_format: FileFormat) -> tuple[pa.Table, list[str]]:
    """One sheet of a workbook: the first row that is not empty has the names of the columns.

    Notes say which of them were renamed because they appear twice, and which cells have no value
    although they look as if they had one.
    """
    numbered, notes = _sheet_rows(path, file_format.table)
    if file_format.header_row:
        numbered = [pair for pair in numbered if pair[0] >= file_format.header_row]
    elif file_format.header:
        n_titles = n_title_rows([row for _, row in numbered[:_HEAD_ROWS]])
        if n_titles:
            notes.append(title_note(numbered[n_titles][0] - 1))
        numbered = numbered[n_titles:]
    rows = [row for _, row in numbered]
    if not rows:
        raise DataError(
            f"{path} is empty: the sheet needs a row of column names and some rows"
        )
    first_row = numbered[0][0] + file_format.header
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
        name = "" if title is None else _text(title).strip()
        names.append(name or f"column {j + 1}")
        columns.append(_column(cells, file_format.missing))
    notes += filter(None, [renamed_note(names)])
    table = pa.table(columns, unique_names(names), metadata={FIRST_ROW: str(first_row)})
    return table, notes


def _sheet_rows(path: str, table: str) -> tuple[list[tuple[int, list[Any]]], list[str]]:
    """The rows that are not empty with their numbers from 1 on, all of the same length; empty cells
    and errors are None."""
    check_installed(f"reading {path}", "python_calamine")
    data = read_bytes(path).to_pybytes()
    content = b""
    if is_zipped(data):
        rows, merged, content = _zipped_rows(path, data, table)
    else:
        rows, merged = _old_rows(path, data, table)
    notes = _notes(content, merged)
    cells = [[None if cell == "" else cell for cell in row] for row in rows]
    numbered = enumerate(cells, start=1)
    return [
        (number, row)
        for number, row in numbered
        if any(cell is not None for cell in row)
    ], notes


def _zipped_rows(path: str, data: bytes, table: str) -> tuple[Any, Any, bytes]:
    """The rows of a sheet, its merged cells, and the part that holds it, if that is XML."""
    from python_calamine import SheetTypeEnum, load_workbook

    parts = WorkbookParts(path, data)
    parts.check_all()
    with _calamine_errors(path):
        workbook = load_workbook(io.BytesIO(data))
        sheets = [
            sheet.name
            for sheet in workbook.sheets_metadata
            if sheet.typ == SheetTypeEnum.WorkSheet
        ]
        name = choose_table(path, sheets, table, "sheet")
        content = parts.check_sheet(name)
        sheet = workbook.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=False)
        _refuse_negative_times(path, rows, lambda: parts.negative_cells(name))
        return rows, sheet.merged_cell_ranges, content


# Sizes that an .xls file declares are taken by calamine as they are: a few changed bytes ask for
# petabytes, which ends the process. So another one reads it, with limits of memory and time.
_READ_OLD = """
import io, pickle, sys
from python_calamine import SheetTypeEnum, load_workbook
limit = int(sys.argv[1])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass  # not on every system
workbook = load_workbook(io.BytesIO(sys.stdin.buffer.read()))
names = [s.name for s in workbook.sheets_metadata if s.typ == SheetTypeEnum.WorkSheet]
name = sys.argv[2] or (names[0] if len(names) == 1 else "")
rows, merged = [], []
if name in names:
    sheet = workbook.get_sheet_by_name(name)
    rows, merged = sheet.to_python(skip_empty_area=False), sheet.merged_cell_ranges
sys.stdout.buffer.write(pickle.dumps((names, rows, merged)))
"""
_OLD_IMPORTS = 512 << 20  # bytes of addresses that the process takes before it reads


def _old_rows(path: str, data: bytes, table: str) -> tuple[Any, Any]:
    """The rows and the merged cells of a sheet of an .xls file, read by a process of its own."""
    watch = Stopwatch(path)
    limit = str(memory_limit() + _OLD_IMPORTS)
    paths = os.pathsep.join(sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _READ_OLD, limit, table],
            input=data,
            capture_output=True,
            timeout=watch.seconds,
            env={**os.environ, "PYTHONPATH": paths, "RUST_BACKTRACE": "0"},
        )
    except subprocess.TimeoutExpired as error:
        raise watch.error("its sheet") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        reasons = [line for line in lines if line and not line.startswith("note:")]
        raise damaged(path, reasons[-1] if reasons else "it cannot be read")
    names, rows, merged = pickle.loads(done.stdout)
    name = choose_table(path, names, table, "sheet")
    number = names.index(name)
    _refuse_negative_times(path, rows, lambda: old_negative_cells(data, number))
    return rows, merged


@contextmanager
def _calamine_errors(path: str) -> Iterator[None]:
    from python_calamine import CalamineError

    try:
        yield
    except BaseException as error:
        # calamine's own code may panic on a damaged .xls file, and a panic is no Exception; dates
        # beyond those of Python are overflows
        is_panic = type(error).__name__ == "PanicException"
        if not isinstance(error, CalamineError | OverflowError) and not is_panic:
            raise
        raise damaged(path, str(error)) from error


def _notes(content: bytes, merged: Any) -> list[str]:
    """What a reader of the sheet would not expect, in sentences."""
    notes = []
    n_formulas = formulas_without_values(content)
    if n_formulas:
        notes.append(
            f"{show_count(n_formulas, 'formula')} without a stored value, read as missing: open the"
            " file in a spreadsheet program and save it there"
        )
    if merged:
        notes.append(
            f"{show_count(len(merged), 'area')} of merged cells: the value is in the first cell,"
            " the others are missing"
        )
    return notes


def _refuse_negative_times(
    path: str, rows: list[list[Any]], negative: Callable[[], set[Cell]]
) -> None:
    """Raise where a number below zero is shown as a date or a time: calamine drops its sign."""
    if time not in set(map(type, chain.from_iterable(rows))):
        return
    try:
        cells = sorted(negative())
    except (ValueError, IndexError, struct.error, ExpatError) as error:
        raise damaged(path, "its parts do not fit together") from error
    for row, column in cells:
        if isinstance(rows[row][column], time):
            raise DataError(
                f"{path}: cell {address(row, column)} is a date or a time below zero, which no"
                " calendar has: show it as a number or as a duration, e.g. by the format [h]:mm:ss"
            )


def _column(cells: list[Any], missing: tuple[str, ...]) -> pa.Array:
    """Numbers, dates, times of day, durations or true/false if all cells are, else text."""
    cells = [
        None if isinstance(cell, str) and cell.strip() in missing else cell
        for cell in cells
    ]
    cells = _with_durations(cells)
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


def _with_durations(cells: list[Any]) -> list[Any]:
    """Times of day as durations where the column also has durations.

    A time of 24 hours or more comes as a date of January or February 1900, and from OpenDocument as
    text such as PT25H00M00S.
    """
    types = {type(cell) for cell in cells} - {type(None)}
    if types == {time} or not types & {time, timedelta, str}:
        return cells
    durations = []
    for cell in cells:
        durations.append(None if cell is None else _duration(cell))
        if cell is not None and durations[-1] is None:
            return cells
    return durations


def _duration(cell: Any) -> timedelta | None:
    if isinstance(cell, timedelta):
        return cell
    if isinstance(cell, time):
        return datetime.combine(_DAY_ZERO, cell) - datetime.combine(_DAY_ZERO, time())
    if isinstance(cell, str) and (match := _ISO_DURATION.fullmatch(cell)):
        hours, minutes, seconds = map(float, match.groups()[1:])
        if hours > _MOST_HOURS:
            return None
        length = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return -length if match[1] else length
    if isinstance(cell, date) and cell.year == 1900 and cell.month <= 2:
        if type(cell) is date:
            return cell - _DAY_ZERO
        assert isinstance(cell, datetime)
        return cell - datetime.combine(_DAY_ZERO, time())
    return None


def _text(cell: Any) -> str:
    # the digits that a spreadsheet shows: 0.1 + 0.2 is 0.3
    if isinstance(cell, float):
        return format(cell, ".15g")
    return str(cell)
