"""Data: schemas, and rows in blocks from arrays, frames, files and Dask.

A table that was read is a `LoadedTable`, all of it in memory, or a `ProfiledFile`, which stays on
disk; `scan` and `inspect` take both. What it holds is counted in a `TableProfile`, one
`ColumnProfile` per column, from which `scan` infers a `Schema`. `inspect` also looks at rows side
by side: a `SampledProfile` adds a sample of them, and its columns become an `Inspection`.
"""

from typing import TYPE_CHECKING, Any

from lyceum._core.data.files.column_names import missing_columns, numbered_names
from lyceum._core.data.files.digest import digest_data
from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.large_file import ProfiledFile, profile_large_file
from lyceum._core.data.files.limits import (
    allow_memory,
    machine_memory,
    reading_limits,
)
from lyceum._core.data.files.tables import (
    FILE_ENDINGS,
    LoadedTable,
    file_kind,
    fits_memory,
    paths_of,
    read_data,
    read_table,
    with_parsed_text,
)
from lyceum._core.data.files.text_formats import parse_columns
from lyceum._core.data.files.typed_files import (
    open_parquet,
    parquet_footer,
    read_arrow,
    read_parquet_file,
)
from lyceum._core.data.inputs.arrow import EXACT, decode_dictionary, is_frame, to_arrow
from lyceum._core.data.inputs.constant_columns import constant_columns
from lyceum._core.data.inputs.pandas_columns import has_text_levels, is_missing
from lyceum._core.data.inputs.separate_target import other_target, refuse_beside_rows
from lyceum._core.data.inputs.text_arrays import text_array, text_table
from lyceum._core.data.inspection.inspect import inspect
from lyceum._core.data.inspection.odd_cells import OddCells, odd_cells
from lyceum._core.data.inspection.pairs import PairInspection, inspect_pair
from lyceum._core.data.inspection.result import ColumnInspection, Inspection, time_text
from lyceum._core.data.record_cells import Record, RecordCoder
from lyceum._core.data.rows.block import (
    Block,
    as_float,
    block_rows,
    dense_cells,
    row_weights,
    stack_rows,
)
from lyceum._core.data.rows.dask import is_dask
from lyceum._core.data.rows.rows import Rows, Statistic, Step
from lyceum._core.data.rows.sources import ArraySource
from lyceum._core.data.rows.steps import (
    CheckCells,
    CheckTarget,
    Dense,
    Design,
    Recode,
    design_change,
)
from lyceum._core.data.rows.watched import WatchedRows, WatchedSource
from lyceum._core.data.scanner import coded_source, scan, warn_about_format
from lyceum._core.data.schema.align import Align
from lyceum._core.data.schema.coding import (
    TableCoder,
    class_codes,
    codes_of,
    comparable_target,
    labels,
)
from lyceum._core.data.schema.column import (
    KINDS,
    Column,
    Kind,
    is_beyond_floats,
)
from lyceum._core.data.schema.column_roles import spelling_hint
from lyceum._core.data.schema.profile import ColumnProfile, TableProfile
from lyceum._core.data.schema.schema import Schema, without_texts
from lyceum._core.data.schema.target_task import target_task

if TYPE_CHECKING:
    from lyceum._core.data.inputs.inputs import Inputs

__all__ = [
    "EXACT",
    "FILE_ENDINGS",
    "KINDS",
    "Align",
    "ArraySource",
    "Block",
    "CheckCells",
    "CheckTarget",
    "Column",
    "ColumnInspection",
    "ColumnProfile",
    "Dense",
    "Design",
    "FileFormat",
    "Inputs",
    "Inspection",
    "Kind",
    "LoadedTable",
    "OddCells",
    "PairInspection",
    "ProfiledFile",
    "Recode",
    "Record",
    "RecordCoder",
    "Rows",
    "Schema",
    "Statistic",
    "Step",
    "TableCoder",
    "TableProfile",
    "WatchedRows",
    "WatchedSource",
    "allow_memory",
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
    "digest_data",
    "file_kind",
    "fits_memory",
    "has_text_levels",
    "inspect",
    "inspect_pair",
    "is_beyond_floats",
    "is_dask",
    "is_frame",
    "is_missing",
    "labels",
    "machine_memory",
    "missing_columns",
    "numbered_names",
    "odd_cells",
    "open_parquet",
    "other_target",
    "parquet_footer",
    "parse_columns",
    "paths_of",
    "profile_large_file",
    "read_arrow",
    "read_data",
    "read_parquet_file",
    "read_table",
    "reading_limits",
    "refuse_beside_rows",
    "row_weights",
    "scan",
    "spelling_hint",
    "stack_rows",
    "target_task",
    "text_array",
    "text_table",
    "time_text",
    "to_arrow",
    "warn_about_format",
    "with_parsed_text",
    "without_texts",
]


def __getattr__(name: str) -> Any:
    if name != "Inputs":
        raise AttributeError(f"module 'lyceum.data' has no attribute {name!r}")
    # needs scikit-learn, which reading does not
    from lyceum._core.data.inputs.inputs import Inputs

    return Inputs
