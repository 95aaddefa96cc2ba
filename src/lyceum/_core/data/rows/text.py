"""Rows in words: where they come from, how many there are, and of which kinds."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lyceum._core.data.schema.column import KINDS, Column
from lyceum._core.data.schema.schema import Schema
from lyceum._core.report import Table
from lyceum._core.text import show_count
from lyceum._core.types import Data

if TYPE_CHECKING:
    from lyceum._core.data.rows.rows import Rows


_MANY = 100  # columns listed in a notebook


def source_name(data: Data) -> str:
    """What a source is called: its path, or the type of the object."""
    if isinstance(data, str | os.PathLike):
        return os.fspath(data)
    if (
        isinstance(data, Sequence)
        and len(data)
        and isinstance(data[0], str | os.PathLike)
    ):
        if len(data) > 1:
            more = f" and {len(data) - 1} more"
        else:
            more = ""
        return f"{os.fspath(data[0])}{more}"
    name = type(data).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def describe(rows: Rows) -> str:
    """One line about rows; nothing is read for it."""
    return f"<Rows{f' of {rows.name}' * bool(rows.name)}: {', '.join(_facts(rows))}>"


def _facts(rows: Rows) -> list[str]:
    schema = rows.schema
    if rows.n_rows is None:
        n = "rows not counted"
    else:
        n = show_count(rows.n_rows, "row")
    kinds = Counter(column.kind for column in schema)
    counts = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
    size = f"{n} × {show_count(len(schema), 'column')}" + (
        f" ({counts})" if counts else ""
    )
    facts = [size]
    if schema.target is not None:
        facts.append(f"target {schema.target.name!r} ({_target(schema.target)})")
    if schema.weight is not None:
        facts.append(f"weight {schema.weight!r}")
    if rows.steps:
        facts.append(f"after {show_count(len(rows.steps), 'step')}")
    return [*facts, _place(rows)]


def _place(rows: Rows) -> str:
    if rows.in_memory:
        return "in memory"
    if rows.on_dask:
        return "on Dask"
    return "read on every pass"


def _target(target: Column) -> str:
    if target.categories is None:
        return "numbers"
    return show_count(len(target.categories), "class")


def describe_in_html(rows: Rows) -> str:
    """The facts and the columns, for a notebook."""
    facts = html.escape(", ".join(_facts(rows)))
    of = html.escape(f" of {rows.name}" * bool(rows.name))
    return f"<p><b>Rows</b>{of}: {facts}</p>{_columns(rows.schema)._repr_html_()}"


def _columns(schema: Schema) -> Table:
    columns = [*schema.columns[:_MANY], *([schema.target] if schema.target else [])]
    listed = [(column.name, column.kind, column.why) for column in columns]
    if len(schema) <= _MANY:
        title = ""
    else:
        title = f"the first {_MANY} of {len(schema):,} columns"
    return Table(title, ("Column", "Kind", "Why"), listed)
