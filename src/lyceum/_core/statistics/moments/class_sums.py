"""Sums of the cells of every column by class: the statistic of counts in text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, dense_cells
from lyceum._core.statistics.moments.classes import (
    align_labels,
    class_of_rows,
    class_weights,
    classes_of,
    place_classes,
)
from lyceum._core.statistics.sparse import canonical


@dataclass(frozen=True, slots=True)
class ClassSums:
    """The weighted sum of every column in every class; with `above`, of 1 for every cell above that
    number.

    Takes CSR rows as they are. Cells that are not stored are zeros.

    Attributes
    ----------
    classes : array
        The labels.
    n_rows : int
        The number of rows.
    class_weight : array of shape (K,)
        The weight of the rows of every class.
    sums : array of shape (K, d)
        The weighted sum of the cells.

    See Also
    --------
    Counts : For columns of categories.
    lyceum.bayes.MultinomialNB : A learner from this statistic.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import ClassSums
    >>> rows = scan(pa.table({"word": [2.0, 0.0, 5.0], "y": ["a", "b", "a"]}), target="y")
    >>> rows.reduce(ClassSums.of).sums.tolist()
    [[7.0], [0.0]]
    """

    classes: np.ndarray
    n_rows: int
    class_weight: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, block: Block, above: float | None = None) -> ClassSums:
        classes = classes_of(block)
        if above is None:
            X = block.X
        else:
            X = indicators(block.X, above)
        # member[k, i] is the weight of row i if it is of class k: sums by class are a product
        y = class_of_rows(block)
        labeled = np.flatnonzero(y >= 0)
        cells = (block.weights[labeled], (y[labeled], labeled))
        member = sparse.csr_array(cells, shape=(len(classes), len(block)))
        sums = np.asarray(dense_cells(member @ X), dtype=np.float64)
        return cls(classes, len(block), class_weights(block, len(classes)), sums)

    def merge(self, other: ClassSums) -> ClassSums:
        classes, here, there = align_labels(self.classes, other.classes)
        K = len(classes)
        weight = place_classes(self.class_weight, here, K)
        other_weight = place_classes(other.class_weight, there, K)
        sums = place_classes(self.sums, here, K)
        other_sums = place_classes(other.sums, there, K)
        return ClassSums(
            classes=classes,
            n_rows=self.n_rows + other.n_rows,
            class_weight=weight + other_weight,
            sums=sums + other_sums,
        )

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> ClassSums:
        """The sums of the rows matrix x + offset."""
        sums = self.sums @ matrix.T + self.class_weight[:, None] * offset
        return replace(self, sums=sums)


def indicators(X: Any, above: float) -> Any:
    """1 where a cell is above a number, 0 elsewhere; CSR stays CSR, for which the number is at
    least 0."""
    if not sparse.issparse(X):
        return np.greater(X, above).astype(np.float64)
    X = canonical(X)
    is_above = (X.data > above).astype(np.float64)
    return sparse.csr_array((is_above, X.indices, X.indptr), shape=X.shape)
