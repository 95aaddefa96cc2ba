"""The schema of a plain array: its columns are numbers, but for those that are declared
categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data.schema.column import Column, declared_column
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.schema import Schema
from lyceum._core.native import native
from lyceum._core.threads import ordered_map
from lyceum.errors import SchemaError

NOT_SPARSE = "categorical_features cannot be used with sparse data: give a dense array or a frame"

_LOOK = 1 << 16  # rows looked at at once
# whole numbers below this are found by a table, other categories by sorting
_MANY = 4096


def array_schema(X: Any, names: Sequence[str], roles: ColumnRoles) -> Schema:
    """The columns of an array: declared ones with the categories that occur, the others numbers."""
    if not roles.kinds and not roles.columns:
        return Schema.of_numbers(names)
    listed = [j for j, name in enumerate(names) if name in roles.in_full]
    if sparse.issparse(X) and (
        listed or any(column.is_categorical for column in roles.columns.values())
    ):
        raise SchemaError(NOT_SPARSE)
    categories: dict[int, np.ndarray] = {}
    if listed:
        categories = dict(zip(listed, _categories(X, listed)))
    columns = []
    for j, name in enumerate(names):
        if name in roles.columns:
            columns.append(roles.columns[name])
        elif name in roles.kinds:
            kind = roles.kinds[name]
            columns.append(declared_column(name, kind, categories.get(j)))
        else:
            columns.append(Column(name, why="a number in an array"))
    return Schema(tuple(columns))


def _categories(X: np.ndarray, columns: list[int]) -> list[np.ndarray]:
    """The distinct values of some columns of an array, sorted."""
    X = np.ascontiguousarray(X)
    # the first rows mostly show all categories: a cheap look at the maxima may settle it
    look = partial(_whole_numbers, columns=np.array(columns, dtype=np.int32))
    seen, regular = look(X[:_LOOK])
    if len(X) > _LOOK and not _no_others(X, columns, seen):
        for seen_later, regular_later in ordered_map(look, _stretches(X[_LOOK:])):
            seen |= seen_later
            regular &= regular_later
    categories = []
    for i, j in enumerate(columns):
        if regular[i]:
            values = np.flatnonzero(seen[i])
        else:
            values = np.unique(X[:, j])
        if values.dtype.kind == "f":
            values = values[~np.isnan(values)]
        categories.append(values)
    return categories


def _whole_numbers(X: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of 0, 1, ... occur in the columns, and which columns hold nothing else."""
    seen = np.zeros((len(columns), _MANY), dtype=np.uint8)
    regular = np.zeros(len(columns), dtype=np.uint8)
    native.integer_presence(X, columns, seen, regular)
    return seen, regular


def _no_others(X: np.ndarray, columns: list[int], seen: np.ndarray) -> bool:
    """Whether all whole numbers up to the largest of every column have been seen: there are no
    others."""
    if X.dtype.kind not in "iu":
        return False
    # a negative number is larger than any that is looked for
    unsigned = X.view(f"u{X.itemsize}")
    maxima = list(ordered_map(_maxima, _stretches(unsigned)))
    largest = np.max(maxima, axis=0)
    return all(
        top < _MANY and row[: int(top) + 1].all()
        for top, row in zip(largest[columns], seen)
    )


def _stretches(X: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(X), _LOOK):
        yield X[start : start + _LOOK]


def _maxima(X: np.ndarray) -> np.ndarray:
    """The maximum of every column, many rows at a time: short rows would leave most of each vector
    idle."""
    n, d = X.shape
    n_whole = n - n % 64
    # maxima over rows of 64 d cells, then over the 64 of each column, then the rows left over
    stacked = X[:n_whole].reshape(-1, 64 * d).max(axis=0, initial=0)
    largest = stacked.reshape(64, d).max(axis=0)
    largest_left = X[n_whole:].max(axis=0, initial=0)
    return np.maximum(largest, largest_left)
