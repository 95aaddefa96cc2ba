"""Sums of the cells of every column by class: the statistic of counts in text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block
from lyceum._core.statistics.moments.classes import (
    align_labels,
    class_weights,
    classes_of,
    place_classes,
)


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
        if block.y is None:
            y = np.zeros(len(block), dtype=np.int32)
        else:
            y = block.y
        here = np.flatnonzero(y >= 0)
        w = block.weights
        members = sparse.csr_array(
            (w[here], (y[here], here)), shape=(len(classes), len(block))
        )
        sums = members @ X
        if sparse.issparse(sums):
            sums = sums.toarray()
        else:
            sums = np.asarray(sums, dtype=np.float64)
        return cls(classes, len(block), class_weights(block, len(classes)), sums)

    def merge(self, other: ClassSums) -> ClassSums:
        classes, here, there = align_labels(self.classes, other.classes)
        K = len(classes)
        return ClassSums(
            classes,
            self.n_rows + other.n_rows,
            place_classes(self.class_weight, here, K)
            + place_classes(other.class_weight, there, K),
            place_classes(self.sums, here, K) + place_classes(other.sums, there, K),
        )

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> ClassSums:
        """The sums of the rows matrix x + offset."""
        return replace(
            self, sums=self.sums @ matrix.T + self.class_weight[:, None] * offset
        )


def indicators(X: Any, above: float) -> Any:
    """1 where a cell is above a number, 0 elsewhere; CSR stays CSR, for which the number is at
    least 0."""
    if not sparse.issparse(X):
        return np.greater(X, above).astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return sparse.csr_array(
        ((X.data > above).astype(np.float64), X.indices, X.indptr), shape=X.shape
    )
