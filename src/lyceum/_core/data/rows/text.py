"""Rows in words: where they come from, how many there are, and of which kinds."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lyceum._core.data.schema.column import KINDS
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
        name = os.fspath(data[0])
        if len(data) > 1:
            name += f" and {len(data) - 1} more"
        return name
    name = type(data).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def describe(rows: Rows) -> str:
    """One line about rows; nothing is read for it."""
    return f"<Rows{f' of {rows.name}' * bool(rows.name)}: {', '.join(_facts(rows))}>"


def _facts(rows: Rows) -> list[str]:
    schema = rows.schema
    if rows.n_rows is None:
        size = "rows not counted"
    else:
        size = show_count(rows.n_rows, "row")
    size += f" × {show_count(len(schema), 'column')}"
    kinds = Counter(column.kind for column in schema)
    if kinds:
        counts = (f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
        size += f" ({', '.join(counts)})"
    facts = [size]
    target = schema.target
    if target is not None:
        holds = "numbers"
        if target.categories is not None:
            holds = show_count(len(target.categories), "class")
        facts.append(f"target {target.name!r} ({holds})")
    if schema.weight is not None:
        facts.append(f"weight {schema.weight!r}")
    if rows.steps:
        facts.append(f"after {show_count(len(rows.steps), 'step')}")
    if rows.in_memory:
        facts.append("in memory")
    elif rows.on_dask:
        facts.append("on Dask")
    else:
        facts.append("read on every pass")
    return facts


def describe_in_html(rows: Rows) -> str:
    """The facts and the columns, for a notebook."""
    schema = rows.schema
    columns = list(schema.columns[:_MANY])
    if schema.target:
        columns.append(schema.target)
    title = ""
    if len(schema) > _MANY:
        title = f"the first {_MANY} of {len(schema):,} columns"
    listed = [(column.name, column.kind, column.why) for column in columns]
    table = Table(title, ("Column", "Kind", "Why"), listed)
    facts = html.escape(", ".join(_facts(rows)))
    of = html.escape(f" of {rows.name}" * bool(rows.name))
    return f"<p><b>Rows</b>{of}: {facts}</p>{table._repr_html_()}"
