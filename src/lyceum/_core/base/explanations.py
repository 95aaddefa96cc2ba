"""Explanations in table columns, with the cells explained, from one pass through the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.base.replacement import parts_by_replacement
from lyceum._core.data import (
    Block,
    Column,
    Design,
    Rows,
    Schema,
    Step,
    WatchedRows,
    constant_columns,
)
from lyceum._core.report import Explanation
from lyceum._core.types import Frame

UNKNOWN = "(unknown)"  # a category that was not there in `fit`

_FRAME_CELLS = 100  # of other rows that are put into a frame

Parts = Callable[[Block], np.ndarray]


def collect_explanation(
    rows: Rows,
    steps: Sequence[Step],
    parts: Parts,
    unit: str,
    labels: Sequence[Any] | np.ndarray | None,
) -> tuple[Explanation, np.ndarray]:
    """The explanation of coded rows, read once, and the further columns of `parts`.

    Parameters
    ----------
    rows : Rows
        Cells coded by the schema of the learner.
    steps : sequence of Step
        What stands between these cells and the learner; contributions of design columns are added
        up.
    parts : function of a block
        Gives an array of shape (n, 2 + n_columns): what is predicted (a number, or a code into
        `labels`), the base, and what every column of the block adds. Further columns are given back
        as they are.
    unit : str
        What the contributions are measured in.
    labels : sequence, optional
        What the codes stand for.
    """
    explain = partial(_explain_block, steps=tuple(steps), parts=parts)
    table = np.asarray(rows.collect(explain), np.float64)
    schema = rows.schema
    if schema.has_free_text:  # every block lists its own texts: one list for all rows
        block = rows.in_one_block("explain")
        table[:, -len(schema) :] = block.dense
        return _Reading(block.schema, unit, labels)(table)
    reading = _Reading(schema, unit, labels)
    explanation, more = reading(table)
    if isinstance(rows, WatchedRows):
        rows.finished(explanation, reading)
    return explanation, more


def explain_frame(
    frame: Frame,
    rows: Rows,
    background: np.ndarray,
    answer: Callable[[Any], np.ndarray],
    unit: str,
    labels: Sequence[Any] | np.ndarray | None,
    more: Callable[[Any], np.ndarray] | None = None,
) -> tuple[Explanation, np.ndarray]:
    """The explanation of an answer that is given for frames only: whole columns are replaced in the
    frame.

    Parameters
    ----------
    frame : pandas or Polars frame, or Arrow table
        The rows to explain.
    rows : Rows
        The same rows, coded.
    background : array of shape (m, d)
        The coded rows that explanations start from; see `background_rows`. Of wide frames only the
        first are used, as every cell takes an answer for the frame.
    answer : function of a frame
        As in `parts_by_replacement`.
    unit, labels
        As in `collect_explanation`.
    more : function of a frame, optional
        The further columns of every row, (n, m).
    """
    cells = np.asarray(rows.in_one_block("explain").dense, dtype=np.float64)
    schema = Schema(rows.schema.columns)
    n, d = cells.shape
    n_background = max(1, min(len(background), _FRAME_CELLS // max(d, 1)))
    chosen = np.linspace(0, len(background) - 1, n_background).round().astype(np.intp)
    rng = np.random.default_rng(0)
    table = np.zeros((n, 2 + d))
    for row in background[chosen]:
        with_other = constant_columns(frame, row, schema)

        # In place of cells there are flags, the same in all rows: 1 where a column is the frame's
        # own, 0 where it is that of the other row.
        def answer_of(is_own: np.ndarray, with_other: Any = with_other) -> np.ndarray:
            answers = answer(with_other(is_own[0] == 0.0))
            if len(is_own) == 1:
                return answers[:1]
            return answers

        order = rng.permutation(d)
        parts = parts_by_replacement(np.ones((n, d)), np.zeros(d), answer_of, order)
        table[:, 0] = parts[:, 0]
        table[:, 1] += parts[:, 1] / n_background
        table[:, 2 + order] += parts[:, 2:] / n_background
    columns = [table, cells]
    if more is not None:
        columns.insert(1, more(frame))
    return _Reading(schema, unit, labels)(np.column_stack(columns))


class _Reading:
    """Reads explanations from what is predicted, base, contributions, whatever else there is, and
    cells, side by side."""

    def __init__(
        self, schema: Schema, unit: str, labels: Sequence[Any] | np.ndarray | None
    ):
        self.names = tuple(schema.names)
        self.unit = unit
        self.labels = None if labels is None else np.asarray(labels)
        self.cells = [_cell_reader(column) for column in schema]

    def __call__(self, table: np.ndarray) -> tuple[Explanation, np.ndarray]:
        d = len(self.names)
        predicted = table[:, 0]
        if self.labels is not None:
            predicted = self.labels[predicted.astype(np.intp)]
        end = table.shape[1] - d
        explanation = Explanation(
            names=self.names,
            contributions=table[:, 2 : 2 + d],
            base=table[:, 1],
            predicted=predicted,
            unit=self.unit,
            values=self._values(table[:, end:]),
        )
        return explanation, table[:, 2 + d : end]

    def _values(self, cells: np.ndarray) -> np.ndarray:
        """The cells as they were written: numbers or categories, None where missing."""
        values = np.empty(cells.shape, dtype=object)
        for j, read in enumerate(self.cells):
            values[:, j] = [
                None if cell != cell else read(cell) for cell in cells[:, j].tolist()
            ]
        return values


def _cell_reader(column: Column) -> Callable[[float], Any]:
    """From a coded cell to what was written."""
    if column.categories is not None and column.categories.dtype.kind == "b":
        return (0.0).__lt__
    if column.numeric:
        return float
    names: dict[float, Any] = {}
    for code, name in enumerate(np.asarray(column.categories).astype(object)):
        names[code] = name
    # -1, and any code beyond the categories, is unknown
    return lambda code: names.get(code, UNKNOWN)


def sum_by_source(parts: np.ndarray, source: np.ndarray, n_columns: int) -> np.ndarray:
    """Contributions of design columns, (n, m), added up by the table column that each comes from,
    (n, d).

    Parameters
    ----------
    parts : array of shape (n, m)
    source : array of shape (m,), of int, ascending
        The table column of every design column.
    n_columns : int
        The number d of table columns.

    Examples
    --------
    >>> sum_by_source(np.array([[1.0, 2.0, 3.0]]), np.array([0, 2, 2]), 3).tolist()
    [[1.0, 0.0, 5.0]]
    """
    out = np.zeros((len(parts), n_columns))
    columns, starts = np.unique(source, return_index=True)
    if len(columns):
        out[:, columns] = np.add.reduceat(parts, starts, axis=1)
    return out


def _explain_block(block: Block, steps: tuple[Step, ...], parts: Parts) -> np.ndarray:
    # the cells before the steps are those that people know
    cells = np.asarray(block.dense, dtype=np.float64)
    design = None
    for step in steps:
        block = step(block)
        if isinstance(step, Design):
            design = step
    table = parts(block)
    if design is None:
        return np.column_stack([table, cells])
    head, added, more = np.split(table, [2, 2 + len(design.source)], axis=1)
    added = sum_by_source(added, design.source, len(design.before))
    return np.column_stack([head, added, more, cells])
