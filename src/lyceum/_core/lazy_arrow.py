"""Arrow, imported when it is first used: a run-time install that predicts from arrays does without
it."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from lyceum._core.packages import check_installed
from lyceum._core.types import Data

__all__ = ["csv", "feather", "is_arrow", "json", "pa", "pc", "pq", "pt", "text_type"]


class _Module:
    """A module of Arrow, which is imported when one of its names is first asked for."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspection must not import
            raise AttributeError(name)
        check_installed("a table, a frame or a file", "pyarrow")
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as csv
    import pyarrow.feather as feather
    import pyarrow.json as json
    import pyarrow.parquet as pq
    import pyarrow.types as pt
else:
    pa = _Module("pyarrow")
    pc = _Module("pyarrow.compute")
    csv = _Module("pyarrow.csv")
    feather = _Module("pyarrow.feather")
    json = _Module("pyarrow.json")
    pq = _Module("pyarrow.parquet")
    pt = _Module("pyarrow.types")


@cache
def text_type() -> pa.DataType:
    """The type of text that is read from files: each distinct text is held once."""
    return pa.dictionary(pa.int32(), pa.string())


def is_arrow(X: Data, *kinds: str) -> bool:
    """Whether X is an object of Arrow, of one of these classes if any are named; imports nothing.

    >>> is_arrow([1.0]), is_arrow(pa.array([1.0]), "Table", "RecordBatch")
    (False, False)
    """
    names = [
        kind.__name__
        for kind in type(X).__mro__
        if kind.__module__.partition(".")[0] == "pyarrow"
    ]
    return bool(names) and (not kinds or any(name in kinds for name in names))
