from lyceum._core.data.files.column_names import (
    missing_columns as missing_columns,
    numbered_names as numbered_names,
)
from lyceum._core.data.files.digest import digest_data as digest_data
from lyceum._core.data.files.file_format import FileFormat as FileFormat
from lyceum._core.data.files.large_file import (
    ProfiledFile as ProfiledFile,
    profile_large_file as profile_large_file,
)
from lyceum._core.data.files.limits import (
    allow_memory as allow_memory,
    machine_memory as machine_memory,
    reading_limits as reading_limits,
)
from lyceum._core.data.files.tables import (
    FILE_ENDINGS as FILE_ENDINGS,
    LoadedTable as LoadedTable,
    file_kind as file_kind,
    fits_memory as fits_memory,
    paths_of as paths_of,
    read_data as read_data,
    read_table as read_table,
    with_parsed_text as with_parsed_text,
)
from lyceum._core.data.files.text_formats import parse_columns as parse_columns
from lyceum._core.data.files.typed_files import (
    open_parquet as open_parquet,
    parquet_footer as parquet_footer,
    read_arrow as read_arrow,
    read_parquet_file as read_parquet_file,
)
from lyceum._core.data.inputs.arrow import (
    EXACT as EXACT,
    decode_dictionary as decode_dictionary,
    is_frame as is_frame,
    to_arrow as to_arrow,
)
from lyceum._core.data.inputs.constant_columns import (
    constant_columns as constant_columns,
)
from lyceum._core.data.inputs.inputs import Inputs as Inputs
from lyceum._core.data.inputs.pandas_columns import (
    has_text_levels as has_text_levels,
    is_missing as is_missing,
)
from lyceum._core.data.inputs.separate_target import (
    other_target as other_target,
    refuse_beside_rows as refuse_beside_rows,
)
from lyceum._core.data.inputs.text_arrays import (
    text_array as text_array,
    text_table as text_table,
)
from lyceum._core.data.inspection.inspect import inspect as inspect
from lyceum._core.data.inspection.odd_cells import (
    OddCells as OddCells,
    odd_cells as odd_cells,
)
from lyceum._core.data.inspection.pairs import (
    PairInspection as PairInspection,
    inspect_pair as inspect_pair,
)
from lyceum._core.data.inspection.result import (
    ColumnInspection as ColumnInspection,
    Inspection as Inspection,
    time_text as time_text,
)
from lyceum._core.data.record_cells import Record as Record, RecordCoder as RecordCoder
from lyceum._core.data.rows.block import (
    Block as Block,
    as_float as as_float,
    block_rows as block_rows,
    dense_cells as dense_cells,
    row_weights as row_weights,
    stack_rows as stack_rows,
)
from lyceum._core.data.rows.dask import is_dask as is_dask
from lyceum._core.data.rows.rows import (
    Rows as Rows,
    Statistic as Statistic,
    Step as Step,
)
from lyceum._core.data.rows.sources import ArraySource as ArraySource
from lyceum._core.data.rows.steps import (
    CheckCells as CheckCells,
    CheckTarget as CheckTarget,
    Dense as Dense,
    Design as Design,
    Recode as Recode,
    design_change as design_change,
)
from lyceum._core.data.rows.tables import coded_source as coded_source
from lyceum._core.data.rows.watched import (
    WatchedRows as WatchedRows,
    WatchedSource as WatchedSource,
)
from lyceum._core.data.scanner import (
    scan as scan,
    warn_about_format as warn_about_format,
)
from lyceum._core.data.schema.align import Align as Align
from lyceum._core.data.schema.coding import (
    TableCoder as TableCoder,
    class_codes as class_codes,
    codes_of as codes_of,
    comparable_target as comparable_target,
    labels as labels,
)
from lyceum._core.data.schema.column import (
    KINDS as KINDS,
    Column as Column,
    Kind as Kind,
    is_beyond_floats as is_beyond_floats,
)
from lyceum._core.data.schema.column_roles import spelling_hint as spelling_hint
from lyceum._core.data.schema.profile import (
    ColumnProfile as ColumnProfile,
    TableProfile as TableProfile,
)
from lyceum._core.data.schema.schema import (
    Schema as Schema,
    without_texts as without_texts,
)
from lyceum._core.data.schema.target_task import target_task as target_task
