"""Which texts of a file were read as missing, by column."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from lyceum._core.data.files.file_format import FileFormat
from lyceum._core.data.files.tables import file_kind, paths_of
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data

_NAMED = 8  # columns in a sentence
_MOST_BYTES = 64 << 20  # of files that are read again


def missing_notes(
    data: Data, file_format: FileFormat, table: pa.Table
) -> Iterator[str]:
    """A sentence on the texts in the cells that are missing in a table; empty cells need none."""
    paths = paths_of(data)
    gaps = [name for name in table.column_names if table.column(name).null_count]
    too_large = sum(map(os.path.getsize, paths)) > _MOST_BYTES
    if file_kind(paths, file_format.table) != "csv" or too_large or not gaps:
        return
    reader = file_format.csv_reader(paths[0])
    counts: dict[str, Counter[str]] = {}
    for path in paths:
        for name, texts in reader.null_texts(path, gaps).items():
            counts.setdefault(name, Counter()).update(texts)
    listed = []
    for name, counted in counts.items():
        what = [f"{text!r} in {n:,}" for text, n in counted.most_common()]
        if what:
            listed.append(f"{' and '.join(what)} of {name!r}")
    if listed:
        more = len(listed) - _NAMED
        rest = f", and in {more} more columns" if more > 0 else ""
        yield (
            f"read as missing, in cells of a column: {', '.join(listed[:_NAMED])}{rest}; if such a"
            " text is a value, say by --missing (missing=...) what is missing"
        )
