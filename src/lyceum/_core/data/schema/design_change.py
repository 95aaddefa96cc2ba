"""Design columns of an older schema in those of a newer one, for statistics without its new
categories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lyceum._core.data.rows.steps import Design
from lyceum._core.data.schema.column import Column
from lyceum._core.data.schema.schema import Schema


def design_change(known: Schema, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """The matrix and offset of z ↦ matrix z + offset, from rows coded by `known` to the same rows
    coded by `design`.

    `design` has the columns of `known`, some with more categories, which no older row has.
    """
    old = replace(design, before=Schema(known.columns))
    matrix = np.zeros((len(design.after), len(old.after)))
    offset = np.zeros(len(design.after))
    for j, (before, after) in enumerate(zip(old.before, design.before)):
        was = np.flatnonzero(old.source == j)
        now = np.flatnonzero(design.source == j)
        if after.numeric:
            matrix[now, was] = 1.0
            continue
        categories = np.asarray(after.categories)
        slopes, starts = _indicators(before, len(was))
        for i, value in zip(now, categories[len(categories) - len(now) :]):
            for index in np.flatnonzero(np.asarray(before.categories) == value):
                matrix[i, was] = slopes[index]
                offset[i] = starts[index]
    return matrix, offset


def _indicators(column: Column, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The indicator of every category as slopes @ z + starts, with z the design columns."""
    n = len(np.asarray(column.categories))
    # two numbers a < b as they are: b is where (z - a) / (b - a) is 1
    if column.numeric:
        a, b = np.asarray(column.categories, dtype=np.float64)
        return np.array([[-1.0], [1.0]]) / (b - a), np.array([b, -a]) / (b - a)
    if width == n:
        return np.eye(n), np.zeros(n)
    return np.vstack([-np.ones(n - 1), np.eye(n - 1)]), np.append(1.0, np.zeros(n - 1))
