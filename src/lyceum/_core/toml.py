"""TOML texts of unknown origin: read within bounds."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from lyceum.errors import DataError

# names with dots between them: tomllib takes memory by the square of their number
_MOST_NAMES = 50
_NAME = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_NAME}[ \t]*+\.[ \t]*+){{{_MOST_NAMES}}}")
_LONG_NUMBER = re.compile(r"(?<!\w)[+-]?0[xob][0-9a-fA-F_]{1000}")


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; raises `DataError` where it is none, or nests without measure.

    >>> parse_toml("a.b = [1, 2]")
    {'a': {'b': [1, 2]}}
    >>> parse_toml("a = " + "[" * 9999)
    Traceback (most recent call last):
        ...
    lyceum.errors.DataError: not TOML: its values are nested too deeply
    """
    if _LONG_KEY.search(text):
        raise DataError(
            f"not TOML: a key has more than {_MOST_NAMES} names with dots between them"
        )
    # Python refuses to show them
    if _LONG_NUMBER.search(text):
        raise DataError("not TOML: a whole number has thousands of digits")
    try:
        return tomllib.loads(text)
    except RecursionError:
        # the traceback would be as deep as the text
        raise DataError("not TOML: its values are nested too deeply") from None
    # of TOML, or of Python: whole numbers of thousands of digits, dates that do not exist
    except ValueError as error:
        raise DataError(f"not TOML: {error}") from error
