"""JSON files of rows: one object per line, or one list of objects."""

from __future__ import annotations

import json
from typing import Any

from lyceum._core.data.files.encodings import text_encoding
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.raw_bytes import read_bytes, read_head
from lyceum._core.data.inputs.arrow import replace_columns
from lyceum._core.lazy_arrow import json as pj, pa, pc, text_type
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
        table = _read_lines(path)
    else:
        table = _read_at_once(path, encoding)
    for field in table.schema:
        if pa.types.is_nested(field.type):
            raise DataError(
                f"{path}: {field.name!r} holds a list or an object: a table has one value per cell,"
                " so flatten it first, e.g. with pandas.json_normalize"
            )
    # text as dictionaries, without the cells that mean missing
    texts = {}
    null = pa.scalar(None, pa.string())
    missing = pa.array(file_format.missing, pa.string())
    for name, cells in zip(table.column_names, table.columns):
        if pa.types.is_string(cells.type):
            is_missing = pc.is_in(cells, missing)
            cells = pc.if_else(is_missing, null, cells)
            if len(cells):
                cells = cells.cast(text_type())
            texts[name] = cells
    return replace_columns(table, texts)


def _read_lines(path: str) -> pa.Table:
    try:
        content = pa.BufferReader(read_bytes(path))
        return pj.read_json(content, pj.ReadOptions(block_size=_BLOCK))
    except pa.ArrowInvalid as error:
        # an object longer than a block, or a column of numbers in some rows and of text in others
        if "straddling" in str(error) or "changed from" in str(error):
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
            lines = [line for line in text.split("\n") if line.strip()]
            objects = [json.loads(line) for line in lines]
    except ValueError as error:
        raise DataError(f"{path} is not a JSON file of rows: {error}") from error
    if not isinstance(objects, list) or not all(
        isinstance(item, dict) for item in objects
    ):
        raise DataError(
            f"{path} is not a list of JSON objects: write one object per line"
        )
    names = dict.fromkeys(name for item in objects for name in item)
    columns = {}
    for name in names:
        columns[name] = _column([item.get(name) for item in objects])
    return pa.table(columns)


def _column(cells: list[Any]) -> pa.Array:
    # nested cells, whatever they hold, stay a nested type, which the caller refuses by its name
    if any(isinstance(cell, list | dict) for cell in cells):
        return pa.array([[str(cell)] for cell in cells])
    try:
        return pa.array(cells)
    # mixed types, or whole numbers of more than 64 bits
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if cell is None else str(cell) for cell in cells])
