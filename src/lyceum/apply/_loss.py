"""Losses as people type them."""

from __future__ import annotations

import os
from typing import Any

from lyceum.decision import LossMatrix
from lyceum.errors import DataError

__all__ = ["read_loss"]


def read_loss(text: str) -> LossMatrix | dict[tuple[Any, Any], float]:
    """A loss matrix from a CSV or TOML file, or costs typed as "true:action=cost,...".

    The pairs are (true class, action); naming the true class costs 0 unless it is said otherwise.

    >>> read_loss("bad:good=5,good:bad=1")
    {('bad', 'good'): 5.0, ('good', 'bad'): 1.0}
    """
    if "=" not in text or os.path.exists(text):
        return LossMatrix.read(text)
    return dict(map(_pair, text.split(",")))


def _pair(text: str) -> tuple[tuple[str, str], float]:
    pair, _, cost = text.rpartition("=")
    true, between, action = pair.partition(":")
    try:
        if not (true.strip() and between and action.strip()):
            raise ValueError
        return (true.strip(), action.strip()), float(cost)
    except ValueError:
        raise DataError(
            f"cannot read the loss {text!r}: write true:action=cost, e.g. bad:good=5,good:bad=1, or give a "
            "CSV file with actions in the first row and true classes in the first column"
        ) from None
