"""JSON files of rows: one object per line, or one list of objects."""

from __future__ import annotations

import json
from typing import Any

from lyceum._core.data.files.encodings import text_encoding
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.raw_bytes import read_bytes, read_head
from lyceum._core.data.inputs.arrow import replace_columns
from lyceum._core.lazy_arrow import json as pj, pa, text_type
from lyceum.errors import DataError

_BLOCK = 1 << 24


def read_json(path: str, file_format: FileFormat) -> pa.Table:
    """The objects of a file as rows; a key that an object lacks is a missing cell."""
    head = read_head(path)
    encoding = file_format.encoding or text_encoding(head, path)[0]
    start = head.decode(encoding, errors="replace").lstrip("\ufeff \t\r\n")[:1]
    if not start:
        raise DataError(f"{path} is empty: it needs one JSON object per line")
    if start == "{" and encoding == "utf8":
        table = _lines(path)
    else:
        table = _read_at_once(path, encoding)
    for field in table.schema:
        if pa.types.is_nested(field.type):
            raise DataError(
                f"{path}: {field.name!r} holds a list or an object: a table has one value per cell,"
                " so flatten it first, e.g. with pandas.json_normalize"
            )
    return _with_missing(table, file_format.missing)


def _lines(path: str) -> pa.Table:
    try:
        content = pa.BufferReader(read_bytes(path))
        return pj.read_json(content, pj.ReadOptions(block_size=_BLOCK))
    except pa.ArrowInvalid as error:
        if "straddling" in str(error):
            return _read_at_once(path, "utf8")
        # a column of numbers in some rows and of text in others
        if "changed from" in str(error):
            return _read_at_once(path, "utf8")
        raise DataError(
            f"{path} is not a file of one JSON object per line: {error}"
        ) from error


def _read_at_once(path: str, encoding: str) -> pa.Table:
    """By Python's own reader: a list of objects, other encodings, columns that mix types."""
    content = read_bytes(path).to_pybytes()
    try:
        text = content.decode(encoding).lstrip("\ufeff \t\r\n")
        if text[:1] == "[":
            objects = json.loads(text)
        else:
            objects = [json.loads(line) for line in _nonblank_lines(text)]
    except ValueError as error:
        raise DataError(f"{path} is not a JSON file of rows: {error}") from error
    if not isinstance(objects, list) or not all(
        isinstance(one, dict) for one in objects
    ):
        raise DataError(
            f"{path} is not a list of JSON objects: write one object per line"
        )
    names = list(dict.fromkeys(name for one in objects for name in one))
    return pa.table(
        {name: _column([one.get(name) for one in objects]) for name in names}
    )


def _nonblank_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _column(cells: list[Any]) -> pa.Array:
    if any(isinstance(cell, list | dict) for cell in cells):
        return pa.array([[str(cell)] for cell in cells])
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells])
    except OverflowError:  # whole numbers of more than 64 bits
        return pa.array([None if cell is None else str(cell) for cell in cells])


def _with_missing(table: pa.Table, missing: tuple[str, ...]) -> pa.Table:
    """Text as dictionaries, without the cells that mean missing."""
    from lyceum._core.lazy_arrow import pc

    texts = {}
    for name, cells in zip(table.column_names, table.columns):
        if pa.types.is_string(cells.type):
            gone = pc.is_in(cells, pa.array(missing, pa.string()))
            cells = pc.if_else(gone, pa.scalar(None, pa.string()), cells)
            if len(cells):
                texts[name] = cells.cast(text_type())
            else:
                texts[name] = cells
    return replace_columns(table, texts)
