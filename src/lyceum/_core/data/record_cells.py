"""The cells of one record, coded as those of a table are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lyceum._core.data.files.column_names import missing_columns
from lyceum._core.data.inputs.arrow import EXACT
from lyceum._core.data.rows.tables import coded_source
from lyceum._core.data.schema.column import Column, is_beyond_floats
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError

Record = Mapping[str, Any] | Sequence[Any] | Any


class RecordCoder:
    """The cells of one record as the coded row that a table of it would give.

    Numbers, text among known categories and missing cells are coded here; whatever else a cell may
    be (dates as text, unusual types) goes through the reader of tables, which knows all of it.
    """

    def __init__(self, schema: Schema):
        self.schema = schema
        self.names = schema.names
        self._codes = [_code_table(column) for column in schema]

    def cells(self, record: Record) -> tuple[np.ndarray, Schema]:
        """The cells, of shape (1, d), and their schema, which lists the texts of free text."""
        values = self.values(record)
        row = []
        for value, (types, codes) in zip(values, self._codes):
            if value is None or value != value:  # None or NaN
                row.append(np.nan)
            elif type(value) not in types:
                return self._by_table(values)
            elif codes is not None:
                row.append(codes.get(value, -1.0))
            elif -EXACT <= value <= EXACT or type(value) is float:
                row.append(float(value))
            else:  # a whole number that a float may not hold
                return self._by_table(values)
        return np.array([row], dtype=np.float64), self.schema

    def values(self, record: Record) -> Any:
        """The values in the order of the columns, from a dict, a struct or a sequence."""
        if isinstance(record, Mapping):
            try:
                return [record[name] for name in self.names]
            except KeyError:
                raise missing_columns(
                    [name for name in self.names if name not in record], list(record)
                ) from None
        fields = getattr(record, "__struct_fields__", None)
        if fields is not None:
            return self.values({name: getattr(record, name) for name in fields})
        if isinstance(record, str) or not isinstance(record, Sequence | np.ndarray):
            raise DataError(
                f"a record is a dict of columns and values, or their values in order, not"
                f" {type(record).__name__}"
            )
        if len(record) != len(self.names):
            raise DataError(
                f"the record has {len(record)} values for {len(self.names)} columns:"
                f" {', '.join(map(repr, self.names[:5]))}, ..."
            )
        return record

    def _by_table(self, values: Sequence[Any]) -> tuple[np.ndarray, Schema]:
        arrays = []
        for name, value in zip(self.names, values):
            try:
                arrays.append(pa.array([value]))
            except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
                raise DataError(
                    f"column {name!r} cannot hold {str(value)[:50]!r}: {error}"
                ) from error
        source = coded_source(pa.table(arrays, names=self.names), self.schema)
        return source.X, source.schema


_Codes = tuple[tuple[type, ...], dict[Any, float] | None]


def _code_table(column: Column) -> _Codes:
    """The types of cells that are coded without a table, and their codes; no codes where a number
    stands for itself."""
    if column.is_free_text or column.is_time:
        return (), None
    if column.categories is None:
        return (float, int), None
    labels = column.categories.tolist()
    kind = column.categories.dtype.kind
    if column.numeric:
        return ((bool,) if kind == "b" else (float, int)), None
    codes = {label: float(code) for code, label in enumerate(labels)}
    if all(type(label) is str for label in labels):
        return (str,), codes
    if kind in "iuf" and not is_beyond_floats(column.categories):
        return (float, int), codes
    return (), None
