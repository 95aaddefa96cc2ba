"""Data: schemas, and rows in blocks from arrays, frames, files and Dask."""

from typing import TYPE_CHECKING, Any

from lyceum.data._align import Align
from lyceum.data._arrow import decode_dictionary, is_frame, to_arrow
from lyceum.data._beside_rows import other_target, refuse_beside_rows
from lyceum.data._block import Block, as_float, block_rows, dense_cells, row_weights, stack_rows
from lyceum.data._coding import TableCoder, class_codes, codes_of, comparable_target, labels
from lyceum.data._column import KINDS, Column, Kind
from lyceum.data._column_roles import spelling_hint
from lyceum.data._dask import is_dask
from lyceum.data._design_change import design_change
from lyceum.data._file_format import FileFormat
from lyceum.data._files import (
    TableData,
    file_kind,
    fits_memory,
    parse_written,
    paths_of,
    read_data,
    read_table,
)
from lyceum.data._frame_cells import constant_columns
from lyceum.data._free_text import without_texts
from lyceum.data._inspect import inspect
from lyceum.data._inspection import ColumnInspection, Inspection, time_text
from lyceum.data._large_file import LargeFile, read_through
from lyceum.data._pandas_columns import has_text_levels
from lyceum.data._profile import ColumnProfile, TableProfile
from lyceum.data._read_once import reading_once
from lyceum.data._rows import Rows, Statistic, Step
from lyceum.data._scan import coded_source, say, scan
from lyceum.data._schema import Schema
from lyceum.data._sources import ArraySource, file_errors
from lyceum.data._steps import CheckCells, CheckTarget, Design, Recode
from lyceum.data._target_task import target_task
from lyceum.data._text_arrays import text_array, text_table
from lyceum.data._text_styles import parse_columns

if TYPE_CHECKING:
    from lyceum.data._inputs import Inputs

__all__ = [
    "KINDS",
    "Align",
    "ArraySource",
    "Block",
    "CheckCells",
    "CheckTarget",
    "Column",
    "ColumnInspection",
    "ColumnProfile",
    "Design",
    "FileFormat",
    "Inputs",
    "Inspection",
    "Kind",
    "LargeFile",
    "Recode",
    "Rows",
    "Schema",
    "Statistic",
    "Step",
    "TableCoder",
    "TableData",
    "TableProfile",
    "as_float",
    "block_rows",
    "class_codes",
    "coded_source",
    "codes_of",
    "comparable_target",
    "constant_columns",
    "decode_dictionary",
    "dense_cells",
    "design_change",
    "file_errors",
    "file_kind",
    "fits_memory",
    "has_text_levels",
    "inspect",
    "is_dask",
    "is_frame",
    "labels",
    "other_target",
    "parse_columns",
    "parse_written",
    "paths_of",
    "read_data",
    "read_table",
    "read_through",
    "reading_once",
    "refuse_beside_rows",
    "row_weights",
    "say",
    "scan",
    "spelling_hint",
    "stack_rows",
    "target_task",
    "text_array",
    "text_table",
    "time_text",
    "to_arrow",
    "without_texts",
]


def __getattr__(name: str) -> Any:
    if name != "Inputs":
        raise AttributeError(f"module 'lyceum.data' has no attribute {name!r}")
    from lyceum.data._inputs import Inputs  # needs scikit-learn, which reading does not

    return Inputs
