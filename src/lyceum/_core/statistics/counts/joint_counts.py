"""Counts of combinations of categories: the statistic of Bayesian networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from lyceum._core.data import Block, dense_cells
from lyceum._core.statistics.moments.classes import align_labels
from lyceum.errors import SchemaError, SettingError


@dataclass(frozen=True, slots=True)
class JointCounts:
    """The weight of every combination of categories in several sets of categorical columns.

    `table(*names)` has one axis per column of the set. A row with a missing or unknown cell in a
    column of the set is left out of that set's table, and counted in the others. The target, if it
    has classes, is a column like any other. Columns go by their labels, so that counts of rows with
    different categories can be merged.

    Attributes
    ----------
    sets : tuple of tuples of str
        The columns of every table, in the order of its axes.
    names : tuple of str
        The columns in at least one set.
    categories : tuple of arrays
        The labels of every column of `names`, in the order of the axes.
    n_rows : int
        The number of rows.
    weight : float
        The weight of all rows.
    tables : tuple of arrays
        The counts of every set.

    See Also
    --------
    Counts : One column at a time, by class.
    lyceum.bayesnets.learn_parameters : The tables of a network from these counts.
    lyceum.probability.Factor : A table to compute with.

    Examples
    --------
    >>> from functools import partial
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import JointCounts
    >>> sky = pa.table({"sky": ["sun", "rain", "sun", None], "play": ["no", "yes", "yes", "yes"]})
    >>> counts = scan(sky).reduce(partial(JointCounts.of, sets=[("sky", "play"), ("play",)]))
    >>> counts.table("sky", "play").tolist(), counts.table("play").tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [1.0, 3.0])
    >>> counts.states("sky", "play")
    {'sky': ('rain', 'sun'), 'play': ('no', 'yes')}
    """

    sets: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    categories: tuple[np.ndarray, ...]
    n_rows: int
    weight: float
    tables: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, block: Block, sets: Sequence[Sequence[str]]) -> JointCounts:
        """The counts of a block whose cells are codes of categories, as after the step
        `lyceum.data.Recode`.

        Parameters
        ----------
        block : Block
        sets : sequence of sequences of str
            Names of categorical columns, or of the target; an empty set counts all rows.
        """
        wanted = tuple(tuple(columns) for columns in sets)
        names = tuple(dict.fromkeys(chain.from_iterable(wanted)))
        categories = {name: _categories(block, name) for name in names}
        # every column is read once, for all the sets that it is in
        sizes = {name: len(labels) for name, labels in categories.items()}
        codes = {name: _codes(block, name, sizes[name]) for name in names}
        tables = []
        for columns in wanted:
            shape = [sizes[name] for name in columns]
            tables.append(_count(block, [codes[name] for name in columns], shape))
        return cls(
            sets=wanted,
            names=names,
            categories=tuple(categories.values()),
            n_rows=len(block),
            weight=block.weight,
            tables=tuple(tables),
        )

    def merge(self, other: JointCounts) -> JointCounts:
        """The counts of both sets of rows."""
        if self.sets != other.sets:
            raise SettingError(
                f"counts of {self.sets} cannot be merged with counts of {other.sets}"
            )
        # by column: all labels, and the places of either side's labels among them
        aligned = {
            name: align_labels(*labels)
            for name, *labels in zip(self.names, self.categories, other.categories)
        }
        tables = []
        for names, table, other_table in zip(self.sets, self.tables, other.tables):
            columns = [aligned[name] for name in names]
            shape = [len(labels) for labels, _, _ in columns]
            mine = _expand(table, [indices for _, indices, _ in columns], shape)
            theirs = _expand(other_table, [indices for _, _, indices in columns], shape)
            tables.append(mine + theirs)
        return JointCounts(
            sets=self.sets,
            names=self.names,
            categories=tuple(labels for labels, _, _ in aligned.values()),
            n_rows=self.n_rows + other.n_rows,
            weight=self.weight + other.weight,
            tables=tuple(tables),
        )

    def table(self, *names: str) -> np.ndarray:
        """The counts of one set of columns, one axis per column in the order of `names`."""
        for columns, table in zip(self.sets, self.tables):
            if columns == names:
                return table
            if set(columns) == set(names):
                return table.transpose([columns.index(name) for name in names])
        raise KeyError(
            f"no set has exactly the columns {', '.join(names)}; the sets are {list(self.sets)}"
        )

    def states(self, *names: str) -> dict[str, tuple[Any, ...]]:
        """The labels of columns, as `Factor` and `ProbabilityTable` take them."""
        return {
            name: tuple(self.categories[self.names.index(name)].tolist())
            for name in names
        }


def _categories(block: Block, name: str) -> np.ndarray:
    target = block.schema.target
    if target is not None and target.name == name:
        column = target
    elif name in block.schema.names:
        column = block.schema[block.schema.names.index(name)]
    else:
        raise SchemaError(
            f"there is no column {name!r} to count; the columns are {list(block.schema.names)}"
        )
    if column.categories is None:
        raise SchemaError(
            f"column {name!r} holds numbers, which cannot be counted: bin them first"
        )
    return np.asarray(column.categories)


def _codes(
    block: Block,
    name: str,
    n_categories: int,
) -> np.ndarray:
    """The category of every row, -1 where it is missing or unknown."""
    target = block.schema.target
    if target is not None and target.name == name:
        assert block.y is not None
        return block.y.astype(np.int64)
    cells = block.X[:, [block.schema.names.index(name)]]
    cells = np.asarray(dense_cells(cells))[:, 0]
    # a missing cell of codes is NaN where the column came as floats
    if cells.dtype.kind == "f":
        cells = np.where(np.isnan(cells), -1.0, cells)
    codes = cells.astype(np.int64)
    wrong = (codes != cells) | (codes >= n_categories)
    if wrong.any():
        raise SchemaError(
            f"column {name!r} has the cell {cells[wrong.argmax()]:g}, which is no code of its"
            f" {n_categories} categories: recode the rows first, rows.then(lyceum.data.Recode())"
        )
    return codes


def _count(
    block: Block,
    codes: list[np.ndarray],
    shape: list[int],
) -> np.ndarray:
    if not codes:
        return np.array(block.weight)
    if 0 in shape:
        return np.zeros(shape)
    # rows with a missing cell in one of the columns are left out of this table alone
    present = np.logical_and.reduce([column >= 0 for column in codes])
    cells = np.ravel_multi_index([column[present] for column in codes], shape)
    if block.w is None:
        w = None
    else:
        w = block.w[present]
    counts = np.bincount(cells, w, int(np.prod(shape)))
    return counts.astype(np.float64).reshape(shape)


def _expand(
    table: np.ndarray,
    indices: list[np.ndarray],
    shape: list[int],
) -> np.ndarray:
    """A table at the places of its labels among more of them."""
    rises = all((index[:-1] < index[1:]).all() for index in indices)
    if list(table.shape) == shape and rises:
        return table
    wide = np.zeros(shape)
    wide[np.ix_(*indices)] = table
    return wide
