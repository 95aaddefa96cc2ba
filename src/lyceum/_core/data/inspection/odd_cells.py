"""The cells that speak against a kind: texts in a column that would otherwise be numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lyceum._core.data.files.tables import LoadedTable, read_data
from lyceum._core.data.inputs.text_arrays import is_number
from lyceum._core.lazy_arrow import pa, pc
from lyceum._core.report import Shown
from lyceum._core.text import plain, show_count
from lyceum._core.types import Data

_MOST = 20  # cells that are listed
_MOST_DISTINCT = 100_000  # texts that are looked at
_MOSTLY = 0.5  # the share of numbers from which a text is odd


@dataclass(frozen=True, slots=True)
class OddCells(Shown):
    """The cells of one column that are no numbers, where most are.

    Attributes
    ----------
    column : str
        Its name.
    n_odd : int
        How many cells are no numbers.
    n_present : int
        How many cells are not missing.
    cells : tuple of (int, str)
        Row, counted from 0, and text of the first of them.

    See Also
    --------
    odd_cells : Makes them.
    lyceum.workflows.repair_table : Sets, blanks or drops cells.

    Examples
    --------
    >>> OddCells("age", 1, 150, ((77, "3a"),)).sentence
    '1 of 150 cells of `age` is no number: 3a in row 77'
    """

    column: str
    n_odd: int
    n_present: int
    cells: tuple[tuple[int, str], ...]

    @property
    def sentence(self) -> str:
        """What stands against numbers."""
        listed = ", ".join(f"{text} in row {row}" for row, text in self.cells[:3])
        more = ", …" if self.n_odd > 3 else ""
        verb = "is no number" if self.n_odd == 1 else "are no numbers"
        of_all = show_count(self.n_present, "cell")
        return f"{self.n_odd:,} of {of_all} of `{self.column}` {verb}: {listed}{more}"

    def as_dict(self) -> dict[str, Any]:
        """All fields and the sentence, in JSON's own types."""
        return plain({**asdict(self), "sentence": self.sentence})


def odd_cells(data: Data) -> tuple[OddCells, ...]:
    """The cells that keep columns from being numbers.

    A column of text more than half of whose cells are numbers has a few cells that are not: "3a",
    "n/k", "12 kg". They are usually slips, and each can be repaired.

    Parameters
    ----------
    data : path, glob, list of paths or frame
        The table.

    Returns
    -------
    tuple of OddCells
        One per column that has some.

    See Also
    --------
    inspect : Looks at the whole table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": ["31", "3a", "45", None], "club": ["a", "b", "a", "b"]})
    >>> [odd.sentence for odd in odd_cells(table)]
    ['1 of 3 cells of `age` is no number: 3a in row 1']
    """
    source = data if isinstance(data, LoadedTable) else read_data(data)
    table = source.table
    columns = (_odd_in(name, table.column(name)) for name in table.column_names)
    return tuple(column for column in columns if column is not None)


def _odd_in(name: str, column: pa.ChunkedArray) -> OddCells | None:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    coded = pc.cast(column, kind).combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    if not texts or len(texts) > _MOST_DISTINCT:
        return None
    numbers = np.array([is_number(text) for text in texts])
    if numbers.all() or not numbers.any():
        return None
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    present = codes >= 0
    odd = np.flatnonzero(present & ~numbers[codes])
    n_present = int(np.count_nonzero(present))
    if len(odd) > (1 - _MOSTLY) * n_present:
        return None
    cells = tuple((int(row), texts[codes[row]]) for row in odd[:_MOST])
    return OddCells(name, len(odd), n_present, cells)
