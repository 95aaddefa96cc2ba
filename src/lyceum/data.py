"""Data: schemas, and rows in blocks from arrays, frames, files and Dask."""

from lyceum._core.data import (
    Block,
    Column,
    ColumnInspection,
    FileFormat,
    Inspection,
    Kind,
    Rows,
    Schema,
    Statistic,
    inspect,
    scan,
)

__all__ = [
    "Block",
    "Column",
    "ColumnInspection",
    "FileFormat",
    "Inspection",
    "Kind",
    "Rows",
    "Schema",
    "Statistic",
    "inspect",
    "scan",
]
