"""ARFF files: a header that declares the columns, then rows, dense or sparse."""

from __future__ import annotations

import io
import re

import pyarrow as pa
import pyarrow.compute as pc

from lyceum.data._csv import CsvFormat
from lyceum.errors import DataError

__all__ = ["read_arff"]

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.+)$""", re.IGNORECASE)
_ITEM = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)""")
_NUMBERS = {"numeric", "real", "integer"}


def read_arff(path: str, encoding: str = "utf8") -> pa.Table:
    """The table of an ARFF file: numbers, nominal columns with all declared values, text and dates as text."""
    try:
        with open(path, encoding=encoding) as file:
            columns, rows = _header(file, path), file.read()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not {encoding.upper()} text: give its encoding, e.g. encoding='latin-1'"
        ) from error
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    lines = [line for line in rows.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    if not lines:
        return pa.table({name: pa.array([], pa.float64()) for name in columns})
    if lines[0].lstrip().startswith("{"):
        raw = _sparse(lines, columns, path)
    else:
        quote = "'" if "'" in rows else '"'
        form = CsvFormat(
            ",",
            missing=("?", ""),
            quote=quote,
            types=dict.fromkeys(columns, pa.string()),
            names=tuple(columns),
        )
        raw = form.read(io.BytesIO("\n".join(lines).encode()))
    return pa.table({name: _typed(raw[name], kind, name, path) for name, kind in columns.items()})


def _header(file: io.TextIOBase, path: str) -> dict[str, str]:
    """Column names and their declarations, up to @data."""
    columns: dict[str, str] = {}
    for line in file:
        line = line.strip()
        if line.lower().startswith("@data"):
            break
        if line.lower().startswith("@attribute"):
            match = _ATTRIBUTE.match(line)
            if not match:
                raise DataError(f"{path}: cannot read the declaration {line!r}")
            name = _plain(match.group(1))
            if name in columns:
                raise DataError(f"{path} declares the attribute {name!r} twice: rename one")
            columns[name] = match.group(2).strip()
    if not columns:
        raise DataError(f"{path} declares no attributes: is it an ARFF file?")
    return columns


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _values(declaration: str) -> list[str]:
    """The values of a nominal declaration {a, b, 'c d'}."""
    inside = declaration[1 : declaration.rindex("}")]
    return [_plain(item) for item in _ITEM.findall(inside) if item]


def _typed(cells: pa.ChunkedArray, kind: str, name: str, path: str) -> pa.Array | pa.ChunkedArray:
    cells = pc.utf8_trim(cells, " \t'\"")
    if kind.startswith("{"):
        values = _values(kind)
        codes = pc.index_in(cells, value_set=pa.array(values))
        if codes.null_count > cells.null_count:
            odd = cells.filter(pc.and_(codes.is_null(), cells.is_valid()))[0].as_py()
            raise DataError(
                f"{path}: attribute {name!r} has the value {odd!r}, which its declaration does not list"
            )
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes.combine_chunks(), pa.array(values))])
    if kind.split()[0].lower() in _NUMBERS:
        try:
            return cells.cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise DataError(f"{path}: attribute {name!r} is declared {kind} but {error}") from error
    return cells


def _sparse(lines: list[str], columns: dict[str, str], path: str) -> pa.Table:
    """Rows of {index value, ...}: what is not named is 0, or the first value of a nominal column."""
    names = list(columns)
    default = [_values(kind)[0] if kind.startswith("{") else "0" for kind in columns.values()]
    cells: list[list[str | None]] = [[value] * len(lines) for value in default]
    for row, line in enumerate(lines):
        for item in _ITEM.findall(line.strip().strip("{}")):
            if not item.strip():
                continue
            place, _, value = item.strip().partition(" ")
            if not place.isdigit() or int(place) >= len(names):
                raise DataError(f"{path}: row {row} names the attribute {place!r}: there are {len(names)}")
            cells[int(place)][row] = None if value.strip() == "?" else _plain(value)
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, cells)})
