"""Repairs of a table as steps: what was wrong in which cell, and what it should be."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lyceum._core.data import LoadedTable, read_data
from lyceum._core.files import replace_file
from lyceum._core.lazy_arrow import csv, pa, pc, pq
from lyceum._core.report import Shown
from lyceum._core.text import plain, show_count
from lyceum._core.types import Data
from lyceum.errors import DataError

_WORDS = {
    "set": "set COLUMN ROW VALUE",
    "blank": "blank COLUMN VALUE",
    "replace": "replace COLUMN VALUE NEW",
    "drop-row": "drop-row ROW",
    "drop-column": "drop-column COLUMN",
}


@dataclass(frozen=True, slots=True, eq=False)
class Repaired(Shown):
    """A table after some steps.

    Attributes
    ----------
    data : table in memory
        `lyceum.data.inspect` takes it.
    steps : tuple of str
        The steps.
    changes : tuple of int
        How many cells, rows or columns each step changed.
    out : str or None
        The file that was written.

    See Also
    --------
    repair_table : Makes it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> repaired = repair_table(pa.table({"age": ["31", "3a"]}), ["blank age 3a"])
    >>> repaired.as_dict()["changes"], repaired.data.table["age"].to_pylist()
    ([1], [31, None])
    """

    data: LoadedTable
    steps: tuple[str, ...]
    changes: tuple[int, ...]
    out: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """All but the rows, in JSON's own types."""
        shape = {"n_rows": self.data.table.num_rows, "out": self.out}
        return plain({"steps": self.steps, "changes": self.changes, **shape})

    def __str__(self) -> str:
        lines = [
            f"{step}: {show_count(n, 'change')}"
            for step, n in zip(self.steps, self.changes)
        ]
        return "\n".join(lines)


def repair_table(
    data: Data,
    steps: Sequence[str],
    *,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Repaired:
    """Repair a table by steps that can be read, kept and run again; the file itself stays as it is.

    A step is one of `set COLUMN ROW VALUE`, `blank COLUMN VALUE` (these cells become missing),
    `replace COLUMN VALUE NEW`, `drop-row ROW` and `drop-column COLUMN`, with quotes around words
    that have blanks, as in a shell. Rows are counted from 0 in the file as it is, whatever was
    dropped before. A column of text whose cells are all numbers afterwards becomes numbers.

    Parameters
    ----------
    data : path, glob, list of paths or frame
        The table.
    steps : list of str
        The steps, in their order.
    out : path, optional
        A .csv or .parquet file to write.
    force : bool, default=False
        Whether a file of that name is replaced.

    Returns
    -------
    Repaired

    See Also
    --------
    lyceum.data.odd_cells : The cells that keep columns from being numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["31", "3a", "45"], "club": ["a", "A", "a"]})
    >>> repaired = repair_table(table, ["set age 1 34", "replace club A a"])
    >>> repaired.data.table.to_pydict()
    {'age': [31, 34, 45], 'club': ['a', 'a', 'a']}
    >>> print(repaired)
    set age 1 34: 1 change
    replace club A a: 1 change
    """
    loaded = data if isinstance(data, LoadedTable) else read_data(data)
    table = loaded.table
    kept = np.ones(table.num_rows, dtype=bool)
    changes = []
    for step in steps:
        words = _words(step)
        table, n_changed = _STEPS[words[0]](table, kept, *words[1:])
        changes.append(n_changed)
    if not kept.all():
        table = table.filter(pa.array(kept))
    repaired = Repaired(replace(loaded, table=table), tuple(steps), tuple(changes))
    if out is None:
        return repaired
    path = Path(out)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise DataError(f"cannot tell how to write {path}: name it .csv or .parquet")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists: choose another name, or use force")
    write = pq.write_table if path.suffix.lower() == ".parquet" else csv.write_csv
    with replace_file(path) as file:
        write(table, file)
    return replace(repaired, out=str(path))


# -- steps -----------------------------------------------------------------------------


def _words(step: str) -> list[str]:
    try:
        words = shlex.split(step)
    except ValueError as error:
        raise DataError(f"cannot read the step {step!r}: {error}") from None
    form = _WORDS.get(words[0]) if words else None
    if form is None:
        raise DataError(
            f"there is no step {step!r}: write one of {'; '.join(_WORDS.values())}"
        )
    if len(words) != len(form.split()):
        raise DataError(f"cannot read the step {step!r}: write {form}")
    return words


def _row(table: pa.Table, text: str) -> int:
    if not text.isdigit() or int(text) >= table.num_rows:
        last = table.num_rows - 1
        raise DataError(f"there is no row {text}: rows are counted from 0 to {last}")
    return int(text)


def _texts(table: pa.Table, name: str) -> pa.Array:
    if name not in table.column_names:
        raise DataError(f"there is no column {name!r}")
    return pc.cast(table.column(name), pa.string()).combine_chunks()


def _with_texts(table: pa.Table, name: str, texts: pa.Array) -> pa.Table:
    """The table with a column of these texts, as numbers where all of them are."""
    index = table.column_names.index(name)
    column = texts
    kinds = [pa.int64(), pa.float64()]
    before = table.schema.field(name).type
    if not _is_text(before):
        kinds.insert(0, before)
    for kind in kinds:
        try:
            column = pc.cast(texts, kind)
            break
        except pa.ArrowInvalid:
            continue
    return table.set_column(index, name, column)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _set(
    table: pa.Table, kept: np.ndarray, name: str, row: str, value: str
) -> tuple[pa.Table, int]:
    texts = _texts(table, name)
    mask = np.zeros(len(texts), dtype=bool)
    mask[_row(table, row)] = True
    return _with_texts(table, name, pc.if_else(pa.array(mask), value, texts)), 1


def _replace(
    table: pa.Table, kept: np.ndarray, name: str, value: str, new: str | None
) -> tuple[pa.Table, int]:
    texts = _texts(table, name)
    same = pc.fill_null(pc.equal(texts, value), False)
    changed = pc.if_else(same, pa.scalar(new, pa.string()), texts)
    return _with_texts(table, name, changed), pc.sum(same).as_py() or 0


def _blank(
    table: pa.Table, kept: np.ndarray, name: str, value: str
) -> tuple[pa.Table, int]:
    return _replace(table, kept, name, value, None)


def _drop_row(table: pa.Table, kept: np.ndarray, row: str) -> tuple[pa.Table, int]:
    index = _row(table, row)
    n_dropped = int(kept[index])
    kept[index] = False
    return table, n_dropped


def _drop_column(table: pa.Table, kept: np.ndarray, name: str) -> tuple[pa.Table, int]:
    if name not in table.column_names:
        raise DataError(f"there is no column {name!r}")
    return table.drop_columns([name]), 1


_STEPS: dict[str, Callable[..., tuple[pa.Table, int]]] = {
    "set": _set,
    "blank": _blank,
    "replace": _replace,
    "drop-row": _drop_row,
    "drop-column": _drop_column,
}
