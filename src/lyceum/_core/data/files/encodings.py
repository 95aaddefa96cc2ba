"""The encoding of a text file: by its first bytes, or guessed by charset-normalizer."""

from __future__ import annotations

import codecs
import re

from lyceum._core.data.files.raw_bytes import open_stream
from lyceum.errors import DataError

_MARKS = (
    (codecs.BOM_UTF8, "utf8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# the encodings that are guessed, by the names that charset-normalizer gives
_SINGLE_BYTES = (
    "cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp1257",
)  # fmt: skip
_MULTIPLE_BYTES = ("cp932", "euc_jis_2004", "gb18030", "big5", "cp949")
_PLAIN = {
    codecs.lookup(name).name for name in ("utf8", "ascii", "latin-1", *_SINGLE_BYTES)
}
_WESTERN = "cp1252"
# of chaos and coherence, by which Western text may look worse than the best guess
_AS_GOOD = 0.1
_GUESS_BYTES = 1 << 15
_PIECE_BYTES = 1 << 20
# ASCII and the signs of Windows-1252, such as € and °, beside no other letter
_SIGNS = re.compile(
    rb"(?:[\x00-\x7f]|[\x80\x82\x84-\x87\x89\x8b\x91-\x97\x99\x9b\xa0-\xbf](?![A-Za-z\x80-\xff]))*"
)


def is_ascii_superset(encoding: str) -> bool:
    """Whether a byte below 128 is always the character of that number."""
    return codecs.lookup(encoding).name in _PLAIN


def is_utf8(encoding: str) -> bool:
    """Whether Arrow reads the encoding as it is."""
    return codecs.lookup(encoding).name == "utf-8"


def text_encoding(head: bytes, name: str) -> tuple[str, bool]:
    """The encoding of text from its first bytes, and whether it is certain.

    A byte order mark, UTF-16 by its zeros, UTF-8, or what `guess_encoding` says.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding, True
    if b"\0" in head:
        return _utf16_without_mark(head, name), True
    # incremental, as the last character may be cut off
    try:
        codecs.getincrementaldecoder("utf8")().decode(head)
    except UnicodeDecodeError:
        return guess_encoding(head), True
    return "utf8", False


def guess_encoding(content: bytes) -> str:
    """The encoding of bytes that are not UTF-8.

    Cells with letters beyond ASCII are shown to charset-normalizer. Windows-1252 (or Latin-1) is
    taken where it looks about as good as the best guess, as short Western texts fit many encodings.

    >>> guess_encoding("Москва;Казань;Новосибирск;Екатеринбург".encode("cp1251"))
    'cp1251'
    >>> guess_encoding("Köln;5 €".encode("cp1252"))
    'cp1252'
    """
    from charset_normalizer import from_bytes

    # in none of the encodings does one of these bytes stand inside of a character
    cells = re.split(rb'[,;\t\r\n"]+', content)
    whole = cells[:-1] or cells  # the last one may be cut off inside of a character
    # plain cells fit every encoding and tell nothing
    excerpt = b""
    for cell in dict.fromkeys(whole):
        if not _SIGNS.fullmatch(cell) and len(excerpt) + len(cell) < _GUESS_BYTES:
            excerpt += cell + b"\n"
    candidates = [*_SINGLE_BYTES, *_MULTIPLE_BYTES]
    guesses = from_bytes(excerpt, cp_isolation=candidates, preemptive_behaviour=False)
    best = guesses.best()
    western = next(
        (guess for guess in guesses if _WESTERN in guess.could_be_from_charset), None
    )
    if excerpt and best is not None:
        is_western = (
            western is not None
            and western.chaos <= best.chaos + _AS_GOOD
            and western.coherence >= best.coherence - _AS_GOOD
        )
        if not is_western:
            return best.encoding
    try:
        content.decode(_WESTERN)
    except UnicodeDecodeError:
        return "latin-1"
    return _WESTERN


def later_encoding(path: str) -> str:
    """The encoding of a file whose first bytes are UTF-8 and later ones are not."""
    decoder = codecs.getincrementaldecoder("utf8")()
    with open_stream(path) as stream:
        while piece := stream.read(_PIECE_BYTES):
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                return guess_encoding(piece[piece.find(b"\n") + 1 :])
    return _WESTERN


def _utf16_without_mark(head: bytes, name: str) -> str:
    """UTF-16 without a byte order mark has a zero in every other byte of plain letters."""
    start = head[:1000]
    even = start[::2].count(0)
    odd = start[1::2].count(0)
    enough = 0.3 * len(start) / 2
    if odd > enough and not even:
        return "utf-16-le"
    if even > enough and not odd:
        return "utf-16-be"
    raise DataError(
        f"{name} is not a text file: name it by what it is, e.g. .parquet or .xlsx"
    )
