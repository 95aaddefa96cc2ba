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
    class_weights,
    classes_of,
    component_weights,
    place_classes,
)
from lyceum.errors import SchemaError

_COUNTED = (np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64)


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
        columns = block.schema.categorical
        R = None
        if responsibilities is not None:
            R = check_responsibilities(responsibilities, len(block))
        if R is None:
            classes = classes_of(block)
        else:
            classes = np.arange(R.shape[1])
        categories = tuple(np.asarray(schema[j].categories) for j in columns)
        names = tuple(schema[j].name for j in columns)
        counts = np.zeros((sum(map(len, categories)), len(classes)))
        if len(counts):
            X, indices = _cells_to_count(block.X, columns)
            offsets = _offsets(categories)
            if R is not None:
                native.soft_counts(X, R, block.w, indices, offsets, counts)
            else:
                if block.y is None:
                    y = np.zeros(len(block), dtype=np.int32)
                else:
                    y = block.y
                native.class_counts(X, y, block.w, indices, offsets, counts)
        if R is None:
            weight = class_weights(block, len(classes))
        else:
            weight = component_weights(block, R)
        return cls(names, categories, classes, len(block), weight, counts)

    def merge(self, other: Counts) -> Counts:
        if self.names != other.names:
            raise SchemaError(
                f"counts of the columns {self.names} cannot be merged with those of {other.names}"
            )
        classes, here, there = align_labels(self.classes, other.classes)
        categories = tuple(
            align_labels(a, b)[0] for a, b in zip(self.categories, other.categories)
        )
        K = len(classes)
        one = self.arrange(categories).counts
        two = other.arrange(categories).counts
        return Counts(
            self.names,
            categories,
            classes,
            self.n_rows + other.n_rows,
            place_classes(self.class_weight, here, K)
            + place_classes(other.class_weight, there, K),
            place_classes(one.T, here, K).T + place_classes(two.T, there, K).T,
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
        return dict(zip(self.names, np.split(self.counts, self.offsets[1:-1])))

    def arrange(self, categories: Sequence[np.ndarray]) -> Counts:
        """The same counts with the categories of every column in another order, or among more of
        them."""
        if all(
            mine is wanted or np.array_equal(mine, wanted)
            for mine, wanted in zip(self.categories, categories)
        ):
            return self
        offsets = _offsets(categories)
        counts = np.zeros((offsets[-1], len(self.classes)))
        starts = zip(self.categories, categories, offsets)
        counts[
            np.concatenate(
                [start + _positions_in(mine, wanted) for mine, wanted, start in starts]
            )
        ] = self.counts
        return replace(self, categories=tuple(categories), counts=counts)


def _offsets(categories: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(
        [[0], np.cumsum([len(labels) for labels in categories])]
    ).astype(np.int64)


def _positions_in(mine: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where my labels stand among those wanted."""
    order = np.argsort(wanted, kind="stable")
    ranks = np.searchsorted(wanted, mine, sorter=order)
    if len(order):
        positions = order[np.minimum(ranks, len(order) - 1)]
    else:
        positions = ranks
    if len(order) < len(mine) or not np.array_equal(wanted[positions], mine):
        raise SchemaError(
            "the categories wanted do not hold all those that were counted"
        )
    return positions


def _cells_to_count(X: Any, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells that the kernel takes, without a copy if possible, and the places of the columns in
    them."""
    if sparse.issparse(X):
        X = X[:, columns].toarray()
        columns = np.arange(len(columns))
    if X.dtype not in _COUNTED:
        X = X.astype(np.int64)
    return np.ascontiguousarray(X), columns.astype(np.int32)
