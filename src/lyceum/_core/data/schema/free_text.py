"""Free text in a schema: a block of rows lists its own texts, a learner keeps none."""

from __future__ import annotations

from dataclasses import replace

from lyceum._core.data.schema.column import Column
from lyceum._core.data.schema.schema import Schema


def with_texts_of(schema: Schema, listed: Schema) -> Schema:
    """The schema with the texts that another one lists for its columns of free text, by name.

    >>> import numpy as np
    >>> block = Schema((Column("mail", "categorical", np.array(["free lunch"]), "free text"),))
    >>> schema = Schema((Column("age"), Column.of_text("mail")))
    >>> with_texts_of(schema, block)["mail"].categories.tolist()
    ['free lunch']
    """
    if not schema.has_free_text:
        return schema
    columns = [
        (
            replace(column, categories=listed[column.name].categories)
            if column.is_free_text
            and column.name in listed
            and listed[column.name].is_text
            else column
        )
        for column in schema
    ]
    return replace(schema, columns=tuple(columns))


def without_texts(schema: Schema) -> Schema:
    """The schema without the texts of its columns of free text: those to come are others."""
    if not schema.has_free_text:
        return schema
    columns = [
        Column.of_text(column.name) if column.is_free_text else column
        for column in schema
    ]
    return replace(schema, columns=tuple(columns))
