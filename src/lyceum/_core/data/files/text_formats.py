"""Numbers and dates as people write them: 1.234,50 €, 12 %, (3,000), 31.12.2024.

Arrow's readers take such cells for text. A style is accepted only if every cell of a column fits
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np

from lyceum._core.data.inputs.arrow import replace_columns
from lyceum._core.lazy_arrow import pa, pc

_LOOK = 20  # values that are looked at before all are
_CURRENCY = (
    r"(?:US\$|R\$|A\$|C\$|[$€£¥₹₽₩₪₺₫฿₴₦₱]|USD|EUR|GBP|JPY|CNY|CHF|SEK|NOK|DKK|PLN|CZK|AUD|CAD|INR|BRL"
    r"|kr\.?|zł|Fr\.)"
)
_LONG = r"^[+-]?(?:9\d{15}|\d{17,})$"  # whole numbers that floats round: identifiers
_NOT_SIGNS = r"[0-9eE.,+\-()'’%\s\x{a0}\x{202f}]"


def _number_pattern(decimal: str) -> str:
    """A number with this decimal mark: a sign or a currency, digits, an exponent, % or a currency;
    or in parentheses, as bookkeepers write what is negative."""
    # between groups of three digits: blanks, narrow ones too, apostrophes, or the other mark
    group = r"['’ \x{a0}\x{202f}" + ("," if decimal == "." else ".") + "]"
    mark = re.escape(decimal)
    # no leading zero: 0123 is a code
    whole = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|0|[1-9]\d*)"
    body = rf"(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?"
    space = r"[ \x{a0}\x{202f}]?"
    # one of them at most
    sign = rf"(?:[+-]?{space}(?:{_CURRENCY}{space})?|{_CURRENCY}{space}[+-])"
    return rf"^\(?{sign}{body}(?:{space}(?:%|{_CURRENCY}))?\)?$"


_PATTERNS = {decimal: _number_pattern(decimal) for decimal in (".", ",")}

# Days before months with dots and hyphens, months before days with slashes, where both fit every
# cell.
_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = frozenset({".", ",", *(date + time for date in _DATES for time in _TIMES)})
_TOKENS = {
    "%Y": r"[12]\d{3}",
    "%y": r"\d{2}",
    "%m": r"\d{1,2}",
    "%d": r"\d{1,2}",
    "%b": "[A-Za-z]{3,9}",
    "%H": r"\d{1,2}",
    "%I": r"\d{1,2}",
    "%M": r"\d{2}",
    "%S": r"\d{2}",
    "%p": "[AaPp][Mm]",
}
OTHER_MARK = {".": ",", ",": "."}
_MIRRORED = {"%m/%d": "%d/%m", "%d/%m": "%m/%d", "%d-%m": "%m-%d", "%m-%d": "%d-%m"}


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How every cell of a column of text is written: a number with its decimal mark, or a date."""

    decimal: str = "."
    date: str = ""  # the format of dates, empty for numbers
    doubtful: bool = False  # whether the cells could mean something else as well

    @classmethod
    def of(cls, name: str) -> TextFormat:
        """The style of a decimal mark or of a format of dates, as a schema remembers it."""
        if name in (".", ","):
            return cls(name)
        return cls(date=name)

    @property
    def name(self) -> str:
        """The format of dates, or the decimal mark of numbers."""
        return self.date or self.decimal

    def fits(self, texts: pa.Array, decimal: str = "") -> bool:
        """Whether all texts are written so, and not with another decimal mark than the user
        gave."""
        if decimal and not self.date and self.decimal != decimal:
            return False
        return not self.parse(texts).null_count

    def parse(self, texts: pa.Array) -> pa.Array:
        """Numbers or times for the texts, null for those that are not written so."""
        if self.date:
            return self._dates(texts)
        return self._numbers(texts)

    def _dates(self, texts: pa.Array) -> pa.Array:
        texts = _plain(texts)
        # Arrow's own reading of a format is laxer: it takes 1 digit for a year
        fits = pc.match_substring_regex(texts, _date_pattern(self.date))
        fitting = pc.if_else(fits, texts, pa.scalar(None, texts.type))
        times = pc.strptime(fitting, self.date, "s", error_is_null=True)
        if "%H" in self.date or "%I" in self.date:
            return times
        return times.cast(pa.date32())

    def _numbers(self, texts: pa.Array) -> pa.Array:
        texts = _plain(texts)
        fits = pc.match_substring_regex(texts, _PATTERNS[self.decimal])
        # identifiers are no numbers, wherever in a file they begin
        fits = pc.and_not(fits, pc.match_substring_regex(texts, _LONG))
        # what is left is a number as Arrow writes it: without signs and groups, with a point
        signs = rf"{_CURRENCY}|[%()'’\s\x{{a0}}\x{{202f}}]"
        digits = pc.replace_substring_regex(texts, signs, "")
        digits = pc.replace_substring(digits, OTHER_MARK[self.decimal], "")
        if self.decimal == ",":
            digits = pc.replace_substring(digits, ",", ".")
        fitting = pc.if_else(fits, digits, pa.scalar(None, digits.type))
        numbers = fitting.cast(pa.float64())
        return pc.if_else(pc.starts_with(texts, "("), pc.negate(numbers), numbers)

    def example(self, texts: pa.Array) -> str:
        """A cell and what it is read as, for a sentence."""
        plain = pc.match_substring_regex(texts, r"^[+-]?\d+$")
        odd = texts.filter(pc.invert(plain))
        if len(odd):
            texts = odd
        value = self.parse(texts[:1])[0].as_py()
        if not self.date:
            value = format(value, ".15g")
        return f"{texts[0].as_py().strip()!r} as {value}"


def _plain(texts: pa.Array) -> pa.Array:
    """Without outer blanks and with the hyphen for minus."""
    return pc.replace_substring(pc.utf8_trim(texts, " \t\u00a0\u202f"), "\u2212", "-")


@cache
def _date_pattern(form: str) -> str:
    tokens = dict(_TOKENS)
    # 1.2.10 is a version rather than a date
    if "%y" in form and "%b" not in form:
        tokens |= {"%d": r"\d{2}", "%m": r"\d{2}"}
    parts = re.split("(%[A-Za-z])", form)
    return f"^{''.join(tokens.get(part, re.escape(part)) for part in parts)}$"


def text_format_of(
    texts: pa.Array, decimal: str = "", prefers: str = ".", learned: str = ""
) -> TextFormat | None:
    """How all of these texts are written, None if they are not numbers or dates in one style.

    `decimal` is the mark that the user gave, `prefers` the one to take where both would do.
    `learned` is how the column was written when a model learned it: it is taken wherever it fits.

    >>> text_format_of(pa.array(["1.234,50 €", "7 €"])).decimal
    ','
    >>> text_format_of(pa.array(["31.12.2024", "1.2.2025"])).date
    '%d.%m.%Y'
    >>> day = pa.array(["1/2/2025"])
    >>> text_format_of(day).date, text_format_of(day, learned="%d/%m/%Y").date
    ('%m/%d/%Y', '%d/%m/%Y')
    """
    texts = texts.drop_null()
    if not len(texts):
        return None
    if learned and TextFormat.of(learned).fits(texts, decimal):
        return TextFormat.of(learned)
    # most columns of text are neither, as their first values show
    if len(texts) > _LOOK and _format_of_all(texts[:_LOOK], decimal, prefers) is None:
        return None
    return _format_of_all(texts, decimal, prefers)


def _format_of_all(texts: pa.Array, decimal: str, prefers: str) -> TextFormat | None:
    return _number_format(texts, decimal, prefers) or _date_format_of(texts, prefers)


def _number_format(texts: pa.Array, decimal: str, prefers: str) -> TextFormat | None:
    plain = _plain(texts)
    fit = [
        mark
        for mark in decimal or ".,"
        if pc.all(pc.match_substring_regex(plain, _PATTERNS[mark])).as_py()
    ]
    if not fit or _any_match(plain, _LONG):
        return None
    # all cells have a percent sign or none has, and there is one currency at most
    n_percent = pc.sum(pc.match_substring(plain, "%")).as_py()
    signs = pc.unique(pc.replace_substring_regex(plain, _NOT_SIGNS, "")).to_pylist()
    currencies = [sign for sign in signs if sign]
    if n_percent not in (0, len(plain)) or len(currencies) > 1:
        return None
    if len(fit) == 1:
        return TextFormat(fit[0])
    # 1,234 may be a thousand or a fraction
    return TextFormat(prefers, doubtful=_any_match(plain, "[.,]"))


def _any_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _date_format_of(texts: pa.Array, prefers: str) -> TextFormat | None:
    first = _plain(texts[:1])[0].as_py()
    if not re.search("[0-9]", first):
        return None
    dates = list(_DATES)
    # who writes decimal commas does not write months before days: a stable sort puts them last
    if prefers == ",":
        dates.sort(key=lambda date: date.startswith("%m/"))
    for form in (date + time for date in dates for time in _TIMES):
        # Python's `re` on the first cell alone is much cheaper than Arrow on all of them
        if not _compiled_date_pattern(form).fullmatch(first):
            continue
        if not TextFormat(date=form).fits(texts):
            continue
        # days and months may stand the other way round
        start = form[: len("%d/%m")]
        doubtful = False
        if start in _MIRRORED:
            mirrored = form.replace(start, _MIRRORED[start])
            doubtful = TextFormat(date=mirrored).fits(texts)
        return TextFormat(date=form, doubtful=doubtful)
    return None


@cache
def _compiled_date_pattern(form: str) -> re.Pattern[str]:
    return re.compile(_date_pattern(form), re.ASCII)


# -- columns of tables -----------------------------------------------------------------


def is_text_type(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def distinct_texts(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The distinct texts of a column.

    >>> distinct_texts(pa.DictionaryArray.from_arrays([2, None, 0, 2], ["a", "b", "c"])).to_pylist()
    ['a', 'c']
    """
    if pa.types.is_dictionary(column.type):
        if not isinstance(column, pa.ChunkedArray):
            column = pa.chunked_array([column])
        levels = []
        # to mark the levels that occur is quicker than to hash every cell
        for chunk in column.chunks:
            present = np.zeros(len(chunk.dictionary), dtype=bool)
            present[chunk.indices.drop_null().to_numpy()] = True
            levels.append(chunk.dictionary.filter(pa.array(present)))
        column = pa.chunked_array(levels, column.type.value_type)
    texts = pc.unique(column)
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    return texts.drop_null()


def text_formats_of(
    table: pa.Table | pa.RecordBatch,
    decimal: str,
    prefers: str,
    learned: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, TextFormat]:
    """The columns of text that are numbers or dates in one style."""
    formats = {}
    for j, field in enumerate(table.schema):
        if is_text_type(field.type):
            texts = distinct_texts(table.column(j))
            text_format = text_format_of(
                texts, decimal, prefers, learned.get(field.name, "")
            )
            if text_format is not None:
                formats[field.name] = text_format
    return formats


def format_names(formats: Mapping[str, TextFormat]) -> dict[str, str]:
    """The formats as a schema remembers them."""
    return {name: text_format.name for name, text_format in formats.items()}


def parse_cells(
    column: pa.Array | pa.ChunkedArray, text_format: TextFormat
) -> tuple[pa.Array | pa.ChunkedArray, str | None]:
    """The numbers or times of a column of text, and the first cell that is not written so."""
    if isinstance(column, pa.ChunkedArray):
        parts = [parse_cells(chunk, text_format) for chunk in column.chunks]
        if not parts:
            nothing = text_format.parse(pa.array([], pa.string()))
            return pa.chunked_array([nothing]), None
        odd = next((text for _, text in parts if text is not None), None)
        return pa.chunked_array([cells for cells, _ in parts]), odd
    # of a dictionary every level is parsed once
    if pa.types.is_dictionary(column.type):
        levels, odd = parse_cells(column.dictionary, text_format)
        return levels.take(column.indices), odd
    cells = text_format.parse(column)
    lost = column.filter(pc.and_(cells.is_null(), column.is_valid()))
    odd = None
    if len(lost):
        odd = lost[0].as_py()
    return cells, odd


def parse_text(
    table: pa.Table,
    decimal: str = "",
    prefers: str = ".",
    learned: Mapping[str, str] = MappingProxyType({}),
) -> tuple[pa.Table, dict[str, TextFormat]]:
    """The table with the columns of text that are numbers or dates read as such, and which they
    are."""
    formats = text_formats_of(table, decimal, prefers, learned)
    return _parse_formats(table, formats), formats


def parse_columns(
    table: pa.Table,
    columns: Iterable[str],
    learned: Mapping[str, str] = MappingProxyType({}),
) -> pa.Table:
    """The table with those of the columns that are text, and are numbers or dates in one style,
    read so.

    Parameters
    ----------
    table : pyarrow.Table
    columns : iterable of str
        Names of columns.
    learned : dict, optional
        How columns were written when they were learned, by name.

    >>> parse_columns(pa.table({"price": ["$3", "$1,200.50"]}), ["price"])["price"].to_pylist()
    [3.0, 1200.5]
    """
    there = set(table.column_names)
    present = table.select([name for name in columns if name in there])
    formats = text_formats_of(present, "", ".", learned)
    return _parse_formats(table, formats)


def _parse_formats(table: pa.Table, formats: Mapping[str, TextFormat]) -> pa.Table:
    parsed = {
        name: parse_cells(table.column(name), text_format)[0]
        for name, text_format in formats.items()
    }
    return replace_columns(table, parsed)


def describe_formats(
    formats: Mapping[str, TextFormat], texts: Mapping[str, pa.Array]
) -> Iterator[str]:
    """Sentences that say which columns of text were read as numbers or dates, with an example of
    each."""
    for dates, what in ((False, "numbers"), (True, "dates")):
        of_kind = {
            name: style for name, style in formats.items() if bool(style.date) == dates
        }
        if not of_kind:
            continue
        shown = [
            f"{name!r} ({style.example(texts[name])})"
            for name, style in list(of_kind.items())[:3]
        ]
        more = ""
        if len(of_kind) > 3:
            more = f" and {len(of_kind) - 3} more columns"
        yield f"text read as {what}: {', '.join(shown)}{more}"
        doubtful = [name for name, style in of_kind.items() if style.doubtful]
        if doubtful:
            yield _doubt(doubtful, of_kind[doubtful[0]])


def _doubt(names: list[str], style: TextFormat) -> str:
    """A sentence on columns that could be read in another way."""
    listed = ", ".join(map(repr, names[:3]))
    if len(names) > 3:
        listed += " …"
    if style.date:
        order = "days" if style.date.startswith("%d") else "months"
        return f"{listed} could be written with days or with months first: {order} first was taken"
    other = OTHER_MARK[style.decimal]
    return (
        f"{listed} could have {other!r} as its decimal mark: say --decimal {other}"
        f" (decimal={other!r}) if so"
    )
