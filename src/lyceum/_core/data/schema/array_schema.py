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
    if listed:
        categories = dict(zip(listed, _categories(X, listed)))
    else:
        categories = {}
    return Schema(
        tuple(_column(name, categories.get(j), roles) for j, name in enumerate(names))
    )


def _column(name: str, categories: np.ndarray | None, roles: ColumnRoles) -> Column:
    if name in roles.columns:
        return roles.columns[name]
    if name in roles.kinds:
        return declared_column(name, roles.kinds[name], categories)
    return Column(name, why="a number in an array")


def _categories(X: np.ndarray, columns: list[int]) -> list[np.ndarray]:
    """The distinct values of some columns of an array, sorted."""
    X = np.ascontiguousarray(X)
    look = partial(_whole_numbers, columns=np.array(columns, dtype=np.int32))
    seen, regular = look(X[:_LOOK])
    if len(X) > _LOOK and not _no_others(X, columns, seen):
        for more, also in ordered_map(look, _stretches(X[_LOOK:])):
            seen |= more
            regular &= also
    return [
        np.flatnonzero(seen[i]) if regular[i] else _distinct(X[:, j])
        for i, j in enumerate(columns)
    ]


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
    largest = np.max(list(ordered_map(_maxima, _stretches(unsigned))), axis=0)
    return all(
        top < _MANY and row[: int(top) + 1].all()
        for top, row in zip(largest[columns], seen)
    )


def _stretches(X: np.ndarray) -> Iterator[np.ndarray]:
    return (X[start : start + _LOOK] for start in range(0, len(X), _LOOK))


def _maxima(X: np.ndarray) -> np.ndarray:
    """The maximum of every column, many rows at a time: short rows would leave most of each vector
    idle."""
    n, d = X.shape
    bulk = (
        X[: n - n % 64]
        .reshape(-1, 64 * d)
        .max(axis=0, initial=0)
        .reshape(64, d)
        .max(axis=0)
    )
    return np.maximum(bulk, X[n - n % 64 :].max(axis=0, initial=0))


def _distinct(values: np.ndarray) -> np.ndarray:
    values = np.unique(values)
    if values.dtype.kind == "f":
        return values[~np.isnan(values)]
    return values
