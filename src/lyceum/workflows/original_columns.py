"""The columns of a block as they were written: numbers, categories and times."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import Block, Column
from lyceum._core.lazy_arrow import pa


def original_columns(block: Block) -> dict[str, pa.Array]:
    """Every column of the block by its name, with categories instead of codes."""
    return {
        column.name: original_cells(block.dense[:, j], column)
        for j, column in enumerate(block.schema)
    }


def original_cells(cells: np.ndarray, column: Column) -> pa.Array:
    """The cells of a column as they were written; missing ones are null.

    >>> sizes = Column("size", "binary", np.array(["L", "S"]))
    >>> original_cells(np.array([1.0, np.nan, 0.0]), sizes).to_pylist()
    ['S', None, 'L']
    """
    cells = np.asarray(cells, dtype=np.float64)
    if column.is_time:
        # times are seconds since 1970
        known = np.isfinite(cells)
        milliseconds = np.rint(np.where(known, cells, 0.0) * 1e3)
        return pa.array(milliseconds.astype("datetime64[ms]"), mask=~known)
    if column.numeric:
        return pa.array(cells, from_pandas=True)
    known = ~np.isnan(cells) & (cells >= 0)
    values = np.asarray(column.categories)[np.where(known, cells, 0).astype(np.intp)]
    return pa.array(values.tolist(), mask=~known)
