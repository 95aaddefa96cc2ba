"""JSON files of rows: one object per line, or one list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from lyceum._core.data.files.encodings import text_encoding
from lyceum._core.data.files.file_errors import first_line
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.raw_bytes import read_bytes, read_head
from lyceum._core.data.inputs.arrow import replace_columns
from lyceum._core.data.inputs.whole_numbers import may_be_rounded
from lyceum._core.lazy_arrow import json as pj, pa, pc, text_type
from lyceum.errors import DataError

_BLOCK = 1 << 24
_DEEPEST = 64  # brackets in a line that Arrow's reader, which recurses, is given
_LONGEST = 1 << 28  # bytes of a line
_INT64 = range(-(1 << 63), 1 << 63)
_MOST_DIGITS = 4000
_BLANKS = " \t\r\n"


def read_json(path: str, file_format: FileFormat) -> pa.Table:
    """The objects of a file as rows; a key that an object lacks is a missing cell."""
    head = read_head(path)
    encoding = file_format.encoding or text_encoding(head, path)[0]
    start = head.decode(encoding, errors="replace").lstrip(f"\ufeff{_BLANKS}")[:1]
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
    """By Arrow's reader, where every line is an object that it can be trusted with."""
    content = read_bytes(path)
    if not _is_flat(np.frombuffer(content, np.uint8), path):
        return _read_at_once(path, "utf8")
    try:
        table = pj.read_json(
            pa.BufferReader(content), pj.ReadOptions(block_size=_BLOCK)
        )
        # Arrow takes any bytes for text
        table.validate(full=True)
    # an object longer than a block, a column of numbers in some rows and of text in others, or
    # what Python's reader can say more about
    except (pa.ArrowException, UnicodeDecodeError):
        return _read_at_once(path, "utf8")
    names = table.column_names
    if len(set(names)) < len(names) or any(map(may_be_rounded, table.columns)):
        return _read_at_once(path, "utf8")
    return table


def _is_flat(text: np.ndarray, path: str) -> bool:
    """Whether every line stands by itself, from { to }, with few brackets inside.

    Nothing is then open from one line to the next, so that no value is nested deeper than a line
    has brackets.
    """
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends + 1])
    stops = np.concatenate([ends, [len(text)]])
    longest = int(np.argmax(stops - starts))
    if stops[longest] - starts[longest] > _LONGEST:
        raise DataError(
            f"{path}, line {longest + 1} is longer than {_LONGEST >> 20} MiB: write one JSON object"
            " per line"
        )
    # without the carriage returns of Windows and without empty lines
    stops = stops - ((stops > starts) & (text[stops - 1] == ord("\r")))
    filled = stops > starts
    starts = starts[filled]
    stops = stops[filled]
    if not len(starts):
        return False
    whole = (text[starts] == ord("{")) & (text[stops - 1] == ord("}"))
    if not whole.all():
        return False
    is_opening = text == ord("{")
    is_opening |= text == ord("[")
    # in most files only the one that begins each line
    if np.count_nonzero(is_opening) == len(starts):
        return True
    opening = np.flatnonzero(is_opening)
    n_open = np.searchsorted(opening, stops) - np.searchsorted(opening, starts)
    return bool(n_open.max() <= _DEEPEST)


def _read_at_once(path: str, encoding: str) -> pa.Table:
    """By Python's own reader: a list of objects, other encodings, columns that mix types."""
    content = read_bytes(path).to_pybytes()
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line} is not {encoding.upper()} text: give its encoding, e.g."
            " --encoding latin-1 (encoding='latin-1')"
        ) from error
    objects = list(_objects(text, path))
    if len(objects) == 1 and isinstance(objects[0], list):
        objects = objects[0]
    if not all(isinstance(item, dict) for item in objects):
        raise DataError(
            f"{path} is not a list of JSON objects: write one object per line"
        )
    names = dict.fromkeys(name for item in objects for name in item)
    columns = {}
    for name in names:
        cells = [item.get(name) for item in objects]
        columns[_checked_text(name, path, "the name of a column")] = _column(
            cells, name, path
        )
    return pa.table(columns)


def _objects(text: str, path: str) -> Iterator[Any]:
    """The values of a text one after the other, however they are divided into lines."""
    decoder = json.JSONDecoder(parse_int=_whole, object_pairs_hook=_object)
    start = 0
    if text.startswith("\ufeff"):
        start = 1
    while True:
        while start < len(text) and text[start] in _BLANKS:
            start += 1
        if start == len(text):
            return
        try:
            value, start = decoder.raw_decode(text, start)
        except RecursionError as error:
            line = text.count("\n", 0, start) + 1
            raise DataError(
                f"{path}, line {line}: the JSON value is nested too deeply for a table: flatten it"
                " first, e.g. with pandas.json_normalize"
            ) from error
        except ValueError as error:
            position = getattr(error, "pos", start)
            line = text.count("\n", 0, position) + 1
            raise DataError(
                f"{path} is not a JSON file of rows: line {line}:"
                f" {getattr(error, 'msg', first_line(error))}"
            ) from error
        yield value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; raises where a key appears twice, as readers differ in which value they take."""
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"an object has the key {twice[:80]!a} twice")
    return value


def _column(cells: list[Any], name: str, path: str) -> pa.Array:
    types = {type(cell) for cell in cells} - {type(None)}
    # nested cells, whatever they hold, stay a nested type, which the caller refuses by its name
    if types & {list, dict}:
        return pa.array([["..."] for _ in cells])
    # whole numbers beyond 64 bits would be rounded: they keep their digits as text
    is_exact = all(cell in _INT64 for cell in cells if type(cell) is int)
    if types == {int, float} and is_exact:
        return pa.array([None if cell is None else float(cell) for cell in cells])
    if len(types) <= 1 and types != {str} and is_exact:
        return pa.array(cells)
    texts = [
        None if cell is None else _checked_text(str(cell), path, f"column {name!r}")
        for cell in cells
    ]
    return pa.array(texts, pa.string())


def _whole(digits: str) -> int | str:
    """A whole number; as text where Python's `int` would refuse it for its length."""
    if len(digits) > _MOST_DIGITS:
        return digits
    return int(digits)


def _checked_text(text: str, path: str, where: str) -> str:
    """A text of JSON, which may hold halves of characters that no table can: \\ud800 alone."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{path}: {where} holds {text[:80]!a}, with half a character (a lone surrogate):"
            " write it as UTF-8"
        ) from error
    return text
