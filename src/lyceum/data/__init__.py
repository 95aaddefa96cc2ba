"""Data: schemas, and rows in blocks from arrays, frames, files and Dask."""

from lyceum.data._block import Block, block_rows
from lyceum.data._csv import CsvFormat
from lyceum.data._files import read_table
from lyceum.data._inspect import Inspection, inspect
from lyceum.data._profile import ColumnProfile, TableProfile
from lyceum.data._rows import Rows, Statistic, Step
from lyceum.data._scan import scan
from lyceum.data._schema import Column, Kind, Schema

__all__ = [
    "Block",
    "Column",
    "ColumnProfile",
    "CsvFormat",
    "Inspection",
    "Kind",
    "Rows",
    "Schema",
    "Statistic",
    "Step",
    "TableProfile",
    "block_rows",
    "inspect",
    "read_table",
    "scan",
]
