"""Whole numbers of more than 64 bits, which readers would round to floats: they stay text."""

from __future__ import annotations

import re

from lyceum._core.lazy_arrow import pa, pc


def is_beyond_64_bits(cell: str) -> bool:
    """Whether a text is a whole number that does not fit into 64 bits with a sign.

    >>> is_beyond_64_bits("9223372036854775807"), is_beyond_64_bits(" 9223372036854775808")
    (False, True)
    """
    if len(cell) < 19:
        return False
    whole = re.fullmatch(r"\s*([+-]?)0*([0-9]+)\s*", cell)
    if whole is None:
        return False
    # 2^63 has 19 digits; their number is compared first, as `int` is slow with many
    n_digits = len(whole[2])
    largest = (1 << 63) - (whole[1] != "-")
    return n_digits > 19 or (n_digits == 19 and int(whole[2]) > largest)


def may_be_rounded(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether numbers are so large that they may have been whole ones of more than 64 bits."""
    if not pa.types.is_floating(column.type):
        return False
    limits = pc.min_max(column)
    if not limits["min"].is_valid:
        return False
    return max(limits["max"].as_py(), -limits["min"].as_py()) >= 1 << 63


def long_integer(texts: pa.Array | pa.ChunkedArray) -> str:
    """The first text that is a whole number of more than 64 bits, else ""."""
    is_long = pc.match_substring_regex(texts, r"^\s*[+-]?\d{19,}\s*$")
    candidates = texts.filter(is_long).to_pylist()
    return next(filter(is_beyond_64_bits, candidates), "")
