"""Data: schemas, and rows in blocks from arrays, frames, files and Dask."""

from lyceum._core.data import (
    Block,
    Column,
    ColumnInspection,
    FileFormat,
    Inspection,
    Kind,
    OddCells,
    PairInspection,
    Rows,
    Schema,
    Statistic,
    inspect,
    inspect_pair,
    odd_cells,
    scan,
)

__all__ = [
    "Block",
    "Column",
    "ColumnInspection",
    "FileFormat",
    "Inspection",
    "Kind",
    "OddCells",
    "PairInspection",
    "Rows",
    "Schema",
    "Statistic",
    "inspect",
    "inspect_pair",
    "odd_cells",
    "scan",
]
