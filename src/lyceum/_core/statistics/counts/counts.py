"""Counts of categories by class: the statistic of tables, in naive Bayes, Bayesian networks and
trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.statistics.moments.classes import (
    align_labels,
    check_responsibilities,
    class_of_rows,
    class_weights,
    classes_of,
    component_weights,
    place_classes,
)
from lyceum.errors import SchemaError

# the types of cells that the kernels take
_COUNTED = (
    np.int8,
    np.uint8,
    np.int16,
    np.int32,
    np.int64,
    np.float32,
    np.float64,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """The weight of every category of every categorical column, in every class of the target.

    The tables of the columns are stacked: `counts[offsets[j] + v, k]` is the weight of the rows of
    class k whose column j has its category v. Missing and unknown cells are not counted. Without a
    target there is one class, and the tables are the marginal ones. Columns and classes go by their
    labels, so summaries of rows that do not have the same categories or classes can be merged.

    Attributes
    ----------
    names : tuple of str
        The m categorical columns.
    categories : tuple of array
        Their labels in the order of the rows of their tables.
    classes : array of shape (K,)
        The labels.
    n_rows : int
        The number of rows.
    class_weight : array of shape (K,)
        The weight of the rows of every class.
    counts : array of shape (all categories, K)
        The weight of the rows with each category, column after column.
    offsets : array of shape (m + 1,)
        Where the table of every column starts in `counts`, and the end of the last one.

    See Also
    --------
    JointCounts : Combinations of several columns.
    ClassMoments : For columns of numbers.
    lyceum.bayes.NaiveBayes : A learner from this statistic.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import Counts
    >>> sky = pa.table({"sky": ["sun", "rain", "sun", None], "play": ["no", "yes", "yes", "yes"]})
    >>> counts = scan(sky, target="play").reduce(Counts.of)
    >>> counts.classes.tolist(), counts.categories[0].tolist(), counts.table("sky").tolist()
    (['no', 'yes'], ['rain', 'sun'], [[0.0, 1.0], [1.0, 1.0]])
    """

    names: tuple[str, ...]
    categories: tuple[np.ndarray, ...]
    classes: np.ndarray
    n_rows: int
    class_weight: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, block: Block, responsibilities: np.ndarray | None = None) -> Counts:
        """The counts of a block.

        Parameters
        ----------
        block : Block
        responsibilities : array of shape (n, K), optional
            The share of every component in every row, in place of the classes of the target. Row i
            counts with the weight w_i r_ik in component k; the components are numbered from 0.
        """
        schema = block.schema
        columns = schema.categorical
        categories = tuple(np.asarray(schema[j].categories) for j in columns)
        names = tuple(schema[j].name for j in columns)
        if responsibilities is None:
            R = None
            classes = classes_of(block)
            weight = class_weights(block, len(classes))
        else:
            R = check_responsibilities(responsibilities, len(block))
            classes = np.arange(R.shape[1])
            weight = component_weights(block, R)
        offsets = _offsets(categories)
        counts = np.zeros((offsets[-1], len(classes)))
        if len(counts):
            X, indices = _cells_to_count(block.X, columns)
            if R is None:
                y = class_of_rows(block)
                native.class_counts(X, y, block.w, indices, offsets, counts)
            else:
                native.soft_counts(X, R, block.w, indices, offsets, counts)
        return cls(names, categories, classes, len(block), weight, counts)

    def merge(self, other: Counts) -> Counts:
        if self.names != other.names:
            raise SchemaError(
                f"counts of the columns {self.names} cannot be merged with those of {other.names}"
            )
        classes, *indices = align_labels(self.classes, other.classes)
        pairs = zip(self.categories, other.categories)
        categories = tuple(align_labels(first, second)[0] for first, second in pairs)
        K = len(classes)
        # both sides among the classes and the categories of either
        counts = np.zeros((sum(map(len, categories)), K))
        class_weight = np.zeros(K)
        for side, class_indices in zip((self, other), indices):
            table = side.arrange(categories).counts
            counts += place_classes(table.T, class_indices, K).T
            class_weight += place_classes(side.class_weight, class_indices, K)
        return replace(
            self,
            categories=categories,
            classes=classes,
            n_rows=self.n_rows + other.n_rows,
            class_weight=class_weight,
            counts=counts,
        )

    @property
    def offsets(self) -> np.ndarray:
        """Where the table of every column starts in `counts`, and the end of the last one."""
        return _offsets(self.categories)

    def table(self, name: str) -> np.ndarray:
        """The table of one column: rows are categories, columns are classes."""
        j = self.names.index(name)
        first, last = self.offsets[j : j + 2]
        return self.counts[first:last]

    def tables(self) -> dict[str, np.ndarray]:
        """The tables of all columns by name: one look at every column, however many there are."""
        tables = np.split(self.counts, self.offsets[1:-1])
        return dict(zip(self.names, tables))

    def arrange(self, categories: Sequence[np.ndarray]) -> Counts:
        """The same counts with the categories of every column in another order, or among more of
        them."""
        pairs = list(zip(self.categories, categories))
        if all(
            mine is wanted or np.array_equal(mine, wanted) for mine, wanted in pairs
        ):
            return self
        offsets = _offsets(categories)
        # rows of categories that were not counted stay 0
        counts = np.zeros((offsets[-1], len(self.classes)))
        rows = [
            start + _positions_in(mine, wanted)
            for (mine, wanted), start in zip(pairs, offsets)
        ]
        counts[np.concatenate(rows)] = self.counts
        return replace(self, categories=tuple(categories), counts=counts)


def _offsets(categories: Sequence[np.ndarray]) -> np.ndarray:
    sizes = [len(labels) for labels in categories]
    return np.cumsum([0, *sizes], dtype=np.int64)


def _positions_in(mine: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where my labels stand among those wanted."""
    order = np.argsort(wanted, kind="stable")
    positions = np.searchsorted(wanted, mine, sorter=order)
    if len(order):
        positions = order[np.minimum(positions, len(order) - 1)]
    if len(order) < len(mine) or not np.array_equal(wanted[positions], mine):
        raise SchemaError(
            "the categories wanted do not hold all those that were counted"
        )
    return positions


def _cells_to_count(X: Any, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells that the kernel takes, without a copy if possible, and the places of the columns in
    them."""
    # only the categorical columns become dense
    if sparse.issparse(X):
        X = X[:, columns].toarray()
        columns = np.arange(len(columns))
    if X.dtype not in _COUNTED:
        X = X.astype(np.int64)
    return np.ascontiguousarray(X), columns.astype(np.int32)
