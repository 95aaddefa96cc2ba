"""Columns of a table without information about its rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lyceum._core.data import FileFormat, Rows, inspect
from lyceum._core.types import Data

_CODES = ("constant", "empty", "free_text", "identifier")


def uninformative_columns(
    data: Data,
    target: str | None = None,
    *,
    keep: Collection[str] = (),
    kinds: Mapping[str, Any] | None = None,
    file_format: FileFormat | None = None,
) -> dict[str, str]:
    """Columns that are empty, constant, an identifier or free text, and which of these.

    Parameters
    ----------
    data : path, frame or anything that `lyceum.data.inspect` takes
        Rows that were scanned already have no such columns.
    target : str, optional
        The column to predict, which is none of them.
    keep : collection of str, default=()
        Columns that are wanted all the same, as are those whose kind is declared.
    kinds : mapping, optional
        The kinds of some columns.
    file_format : FileFormat, optional
        How the file is written.

    Returns
    -------
    dict of str to str
        Empty where no other column would be left.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"id": range(50), "age": [30.5, 31.0] * 25, "planet": ["earth"] * 50})
    >>> uninformative_columns(table)
    {'id': 'identifier', 'planet': 'constant'}
    """
    if isinstance(data, Rows):
        return {}
    inspection = inspect(data, target, kinds=kinds, file_format=file_format)
    aside = {target, *keep, *(kinds or {})}
    out: dict[str, str] = {}
    for column in inspection.columns:
        codes = [flag.code for flag in column.flags if flag.code in _CODES]
        if codes and column.name not in aside:
            out[column.name] = codes[0].replace("_", " ")
    # a table must not be left without columns
    others = {column.name for column in inspection.columns} - set(out) - {target}
    if others:
        return out
    return {}
