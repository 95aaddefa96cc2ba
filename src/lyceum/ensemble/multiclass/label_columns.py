"""Targets of several columns: classes per column, or 0 and 1 per label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from lyceum._core.data import is_frame, to_arrow
from lyceum.errors import DataError

SIDES = np.array([0, 1])  # the classes of a label: a row has it or not


class LabelColumns(NamedTuple):
    """The columns of a target: their cells (n, L), names, and whether each is a label of 0 and
    1."""

    cells: np.ndarray
    names: np.ndarray

    @property
    def classes(self) -> list[np.ndarray]:
        """The classes of every column; 0 and 1 of a label, also where all rows have it."""
        return [
            SIDES if np.isin(column, SIDES).all() else np.unique(column)
            for column in self.columns
        ]

    @property
    def columns(self) -> list[np.ndarray]:
        return [_plain(column) for column in self.cells.T]


def _plain(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind != "O":
        return column
    return np.array(column.tolist())


def target_columns(y: Any, learner: str) -> LabelColumns:
    """The columns of a target: of a matrix, of a frame, or a label per column of sets of labels.

    >>> target_columns([{"b"}, {"a", "b"}, set()], "A learner").cells.tolist()
    [[0, 1], [1, 1], [0, 0]]
    >>> target_columns([["x", 3], ["y", 4]], "A learner").classes[0].tolist()
    ['x', 'y']
    """
    if y is None:
        raise DataError(f"{learner} requires y to be passed, but the target y is None")
    if is_frame(y):
        table = to_arrow(y)
        columns = [column.to_numpy() for column in table.columns]
        names = np.array(table.column_names)
        return LabelColumns(_checked(np.column_stack(columns)), names)
    if sparse.issparse(y):
        y = y.toarray()
    if not hasattr(y, "ndim"):
        y = _as_array(y, learner)
    if getattr(y, "ndim", 0) == 2:
        return LabelColumns(_checked(np.asarray(y)), np.arange(y.shape[1]))
    if getattr(y, "ndim", 0) == 1:
        check_classification_targets(y)
        y = _as_array(list(y), learner)
    return _of_sets(y)


def _checked(cells: np.ndarray) -> np.ndarray:
    if cells.shape[1] == 0:
        raise DataError("y has no columns: give one per target")
    if cells.dtype.kind == "f":
        check_classification_targets(cells)
    if np.isin(cells, SIDES).all():
        return cells.astype(np.int64)
    return cells


def _as_array(y: Any, learner: str) -> Any:
    """Lists of one length are a matrix, other sequences are sets of labels."""
    rows: list[Any] = []
    for row in y:
        if isinstance(row, str | bytes) or not hasattr(row, "__iter__"):
            raise DataError(
                f"y has one label per row: for {learner} give a column per target, 0 and 1 for"
                " every label, or a set of labels per row; OneVsRestClassifier takes one label"
                " per row"
            )
        rows.append(row)
    lengths = {len(row) for row in rows}
    are_lists = all(isinstance(row, list | np.ndarray) for row in rows)
    if are_lists and len(lengths) == 1 and lengths != {0}:
        width = lengths.pop()
        columns = [np.array([row[j] for row in rows]) for j in range(width)]
        if len({column.dtype.kind for column in columns}) == 1:
            return np.column_stack(columns)
        cells = np.empty((len(rows), width), dtype=object)
        for j, column in enumerate(columns):
            cells[:, j] = column.tolist()
        return cells
    return rows


def _of_sets(rows: Any) -> LabelColumns:
    if isinstance(rows, np.ndarray):
        return LabelColumns(_checked(rows), np.arange(rows.shape[1]))
    labels = sorted({label for row in rows for label in row})
    if not labels:
        raise DataError("no row has any label: there is nothing to learn")
    index = {label: j for j, label in enumerate(labels)}
    Y = np.zeros((len(rows), len(labels)), dtype=np.int64)
    for i, row in enumerate(rows):
        Y[i, [index[label] for label in row]] = 1
    return LabelColumns(Y, np.array(labels))
