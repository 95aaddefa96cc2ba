"""ARFF files: a header that declares the columns, then rows, dense or sparse."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from lyceum._core.data.files.csv import CsvReader
from lyceum._core.data.files.raw_bytes import read_bytes
from lyceum._core.lazy_arrow import pa, pc
from lyceum.errors import DataError

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.+)$", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(,|$)")
_PLACED = re.compile(rf"\s*(\S+)\s+({_QUOTED}|[^,]*?)\s*(,|$)")
_NUMBERS = ("numeric", "real", "integer")
_EXACT = 1 << 53  # whole numbers up to it are exact as floats
_DATE = "yyyy-MM-dd'T'HH:mm:ss"  # what a date is without a format of its own
_DATE_PARTS = {
    "yyyy": "%Y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "'": "",
}

Cells = list[str | None]


def read_arff(path: str, encoding: str = "utf8") -> pa.Table:
    """The table of an ARFF file: numbers, nominal columns with all declared values, dates as times,
    text."""
    try:
        with io.TextIOWrapper(pa.BufferReader(read_bytes(path)), encoding) as file:
            columns = _header(file, path)
            rows = file.read()
    except UnicodeDecodeError as error:
        text = f"{path} is not {encoding.upper()} text: give its encoding, e.g. --encoding latin-1"
        raise DataError(text) from error
    lines = [
        line
        for line in rows.splitlines()
        if line.strip() and not line.lstrip().startswith("%")
    ]
    if not lines:
        return pa.table({name: pa.array([], pa.float64()) for name in columns})
    if lines[0].lstrip().startswith("{"):
        raw = _sparse(lines, columns, path)
    elif any(mark in rows for mark in "'\"\\"):
        raw = _dense(lines, columns, path)
    else:
        raw = _without_quotes(lines, columns, path)
    converted = {}
    for name, kind in columns.items():
        converted[name] = _convert(raw[name], kind, name, path)
    return pa.table(converted)


def _header(file: io.TextIOBase, path: str) -> dict[str, str]:
    """Column names and their declarations, up to @data."""
    columns: dict[str, str] = {}
    for line in file:
        line = line.strip()
        if line.lower().startswith("@data"):
            break
        if not line.lower().startswith("@attribute"):
            continue
        match = _ATTRIBUTE.match(line)
        if not match:
            raise DataError(f"{path}: cannot read the declaration {line!r}")
        name = _plain(match[1])
        kind = match[2].strip()
        if name in columns:
            raise DataError(f"{path} declares the attribute {name!r} twice: rename one")
        if not kind:
            raise DataError(
                f"{path}: attribute {name!r} has no type: declare it, e.g. numeric or {{a,b}}"
            )
        if kind.startswith("{") and ("}" not in kind or not _values(kind)):
            raise DataError(
                f"{path}: attribute {name!r} is declared {kind!r}: list its values as {{a,b,c}}"
            )
        columns[name] = kind
    if not columns:
        raise DataError(f"{path} declares no attributes: is it an ARFF file?")
    return columns


def _plain(text: str) -> str:
    """Without quotes around it, and without the backslashes that protect characters in quotes."""
    is_quoted = len(text) >= 2 and text[0] == text[-1]
    if is_quoted and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _cells(line: str) -> Iterator[str]:
    """The items of a line as they are written, without the space around them."""
    start = 0
    mark = ","
    # the pattern also takes an empty cell, so that it always matches; no comma ends the line
    while mark:
        match = _CELL.match(line, start)
        assert match is not None
        start = match.end()
        mark = match[2]
        yield match[1]


def _value(cell: str) -> str | None:
    if cell in ("?", ""):
        return None
    return _plain(cell)


def _values(declaration: str) -> list[str]:
    """The values of a nominal declaration {a, b, 'c d'}."""
    inside = declaration[1 : declaration.rindex("}")]
    return [_plain(item) for item in _cells(inside) if item]


# -- rows as text ----------------------------------------------------------------------


def _text_table(columns: dict[str, str], rows: list[Cells]) -> pa.Table:
    by_column = zip(*rows)
    arrays = [pa.array(cells, pa.string()) for cells in by_column]
    return pa.table(arrays, names=list(columns))


def _dense(lines: list[str], columns: dict[str, str], path: str) -> pa.Table:
    rows = []
    for row, line in enumerate(lines):
        cells = [_value(cell) for cell in _cells(line)]
        if len(cells) != len(columns):
            raise DataError(
                f"{path}: row {row} has {len(cells)} values for {len(columns)} attributes: {line!r}"
            )
        rows.append(cells)
    return _text_table(columns, rows)


def _without_quotes(lines: list[str], columns: dict[str, str], path: str) -> pa.Table:
    """Rows that Arrow can split much faster than Python."""
    reader = CsvReader(
        missing=(),
        types=dict.fromkeys(columns, pa.string()),
        names=tuple(columns),
    )
    try:
        raw = reader.read(io.BytesIO("\n".join(lines).encode()))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    null = pa.scalar(None, pa.string())
    cells = {}
    for name in columns:
        texts = pc.utf8_trim(raw[name], " \t")
        missing = pc.is_in(texts, pa.array(["?", ""]))
        cells[name] = pc.if_else(missing, null, texts)
    return pa.table(cells)


def _sparse(lines: list[str], columns: dict[str, str], path: str) -> pa.Table:
    """Rows of {index value, ...}: what is not named is 0, or the first value of a nominal
    column."""
    default: Cells = [
        _values(kind)[0] if kind.startswith("{") else "0" for kind in columns.values()
    ]
    rows = []
    for row, line in enumerate(lines):
        cells = list(default)
        inside = line.strip().removeprefix("{").removesuffix("}")
        start = 0
        mark = "," * bool(inside.strip())
        while mark:
            match = _PLACED.match(inside, start)
            number = match[1] if match else inside[start:].strip()
            is_index = number.isascii() and number.isdigit()
            if match is None or not is_index or int(number) >= len(cells):
                raise DataError(
                    f"{path}: row {row} names the attribute {number!r}: there are 0 to"
                    f" {len(cells) - 1}"
                )
            cells[int(number)] = _value(match[2])
            start = match.end()
            mark = match[3]
        rows.append(cells)
    return _text_table(columns, rows)


# -- rows as declared ------------------------------------------------------------------


def _convert(
    cells: pa.ChunkedArray, kind: str, name: str, path: str
) -> pa.Array | pa.ChunkedArray:
    """The column as it is declared: nominal, numbers, dates or text."""
    if kind.startswith("{"):
        return _nominal(cells, kind, name, path)
    type_name = kind.split()[0].lower()
    if type_name not in (*_NUMBERS, "string", "date"):
        raise DataError(
            f"{path}: attribute {name!r} is declared {kind!r}, which cannot be read"
        )
    try:
        if type_name in _NUMBERS:
            return _numbers(cells, type_name == "integer")
        if type_name == "date":
            # Java's letters become those of C; a directive of C in the file may crash Arrow
            declared = _plain(kind[4:].strip()) or _DATE
            java = declared.replace("%", "%%")
            letters = "|".join(_DATE_PARTS)
            form = re.sub(letters, lambda part: _DATE_PARTS[part[0]], java)
            # nor may it be empty
            if "%" not in form.replace("%%", ""):
                raise DataError(
                    f"{path}: attribute {name!r} is declared {kind}, a form without a part of a"
                    " date, such as yyyy"
                )
            return pc.strptime(cells, form, "s")
        return cells
    except pa.ArrowInvalid as error:
        raise DataError(
            f"{path}: attribute {name!r} is declared {kind} but {error}"
        ) from error


def _numbers(cells: pa.ChunkedArray, is_whole: bool) -> pa.ChunkedArray:
    """Floats; whole numbers of 64 bits where floats would merge some of them."""
    numbers = cells.cast(pa.float64())
    largest = pc.max(pc.abs(numbers)).as_py()
    if largest is None or largest < _EXACT:
        return numbers
    for whole in (pa.int64(), pa.uint64()):
        try:
            return cells.cast(whole)
        except pa.ArrowInvalid:
            if is_whole and whole == pa.uint64():
                raise
    return numbers


def _nominal(
    cells: pa.ChunkedArray, kind: str, name: str, path: str
) -> pa.ChunkedArray:
    """Codes of the declared values, those that no row has included."""
    values = pa.array(_values(kind))
    codes = pc.index_in(cells, value_set=values)
    if codes.null_count > cells.null_count:
        unlisted = pc.and_(codes.is_null(), cells.is_valid())
        odd = cells.filter(unlisted)[0].as_py()
        raise DataError(
            f"{path}: attribute {name!r} has the value {odd!r}, which its declaration does not"
            f" list: {kind}"
        )
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(codes.combine_chunks(), values)]
    )
