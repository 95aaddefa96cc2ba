"""Rows from a table in memory: the kinds of its columns, and its cells coded once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lyceum._core.data.rows.sources import ArraySource
from lyceum._core.data.schema.coding import FEW_ROWS, TableCoder, with_texts
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.profile import (
    ColumnProfile,
    TableProfile,
    contents,
    names_with_levels,
)
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa
from lyceum._core.threads import ordered_map


def profile_columns(
    table: pa.Table, in_full: Collection[str] = (), ordered: Collection[str] = ()
) -> TableProfile:
    """The profile of a table, its columns spread over threads."""
    names = table.column_names
    spread = ordered_map if table.num_rows > FEW_ROWS else map

    def profile_of(name: str) -> ColumnProfile:
        return ColumnProfile.of(
            name, table.column(name), name in in_full, name in ordered
        )

    profiles = spread(profile_of, names)
    return TableProfile(table.num_rows, dict(zip(names, profiles)))


def coded_source(table: pa.Table, schema: Schema) -> ArraySource:
    """The table in memory, coded by the schema once and for all."""
    schema = with_texts(schema, table)
    coder = TableCoder(schema)
    X = coder.features(table)
    y = coder.target(table)
    w = coder.weights(table)
    return ArraySource(X, y, w, schema, coded=True)


def schema_of(table: pa.Table, roles: ColumnRoles) -> Schema:
    """The schema of a typed table: kinds follow from types, levels from their order in a category
    type."""
    roles = replace(roles, types=types_of(table.schema))
    unsettled = table.select(roles.unsettled_names)
    return roles.schema(
        profile_columns(unsettled, roles.in_full, names_with_levels(unsettled.schema))
    )


def types_of(schema: pa.Schema) -> dict[str, str]:
    """What every column of an Arrow schema holds."""
    return {column.name: contents(column.type, column.name) for column in schema}
