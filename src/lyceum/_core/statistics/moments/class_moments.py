"""Per-class moments: the statistic of Gaussian discriminants and of Gaussian naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.data import Block, dense_cells
from lyceum._core.native import native
from lyceum._core.statistics.memory import check_square_matrices
from lyceum._core.statistics.moments.classes import (
    align_labels,
    check_responsibilities,
    class_of_rows,
    class_weights,
    classes_of,
    component_weights,
    place_classes,
)
from lyceum._core.types import Data


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """Weight, mean and scatter of every column in every class; missing cells are left out one by
    one.

    With responsibilities r_ik in place of classes, row i counts with the weight w_i r_ik in
    component k; the components are numbered from 0.

    Attributes
    ----------
    classes : array
        The labels.
    n_rows : int
        The number of rows.
    class_weight : array of shape (K,)
        The weight of the rows of every class.
    weight : array of shape (K, d)
        The weight of the known cells.
    mean : array of shape (K, d)
        Their mean.
    scatter : array of shape (K, d)
        The sum of w (x - mean)².
    is_finite : bool
        Whether no sum has overflowed.

    See Also
    --------
    Moments : Without classes.
    ClassScatter : With all products of columns.
    Counts : For columns of categories.
    lyceum.bayes.NaiveBayes : A learner from this statistic.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import ClassMoments
    >>> rows = scan(pa.table({"x": [1.0, 3.0, None, 7.0], "y": ["a", "a", "a", "b"]}), target="y")
    >>> moments = rows.reduce(ClassMoments.of)
    >>> moments.mean.ravel().tolist(), moments.weight.ravel().tolist()
    ([2.0, 7.0], [2.0, 1.0])
    """

    classes: np.ndarray
    n_rows: int
    class_weight: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def of(
        cls,
        block: Block,
        columns: np.ndarray | None = None,
        responsibilities: np.ndarray | None = None,
    ) -> ClassMoments:
        """The moments of a block.

        Parameters
        ----------
        block : Block
        columns : array of int, optional
            Places of columns; all by default.
        responsibilities : array of shape (n, K), optional
            The share of every component in every row, in place of the classes of the target.
        """
        X = block.X
        if columns is not None and len(columns) < X.shape[1]:
            X = X[:, columns]
        X = _dense(X)
        if responsibilities is None:
            classes = classes_of(block)
            sums = np.zeros((3, len(classes), X.shape[1]))
            if X.shape[1]:
                native.class_moments(X, block.y, block.w, *sums)
            class_weight = class_weights(block, len(classes))
        else:
            R = check_responsibilities(responsibilities, len(block))
            classes = np.arange(R.shape[1])
            sums = np.zeros((3, len(classes), X.shape[1]))
            if X.shape[1]:
                native.soft_moments(X, R, block.w, *sums)
            class_weight = component_weights(block, R)
        return cls(classes, len(block), class_weight, *sums)

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        return bool(np.isfinite(self.scatter).all() and np.isfinite(self.mean).all())

    def merge(self, other: ClassMoments) -> ClassMoments:
        classes, here, there = align_labels(self.classes, other.classes)
        a_weight, a_mean, a_scatter, a_total = (
            place_classes(v, here, len(classes)) for v in self._values()
        )
        b_weight, b_mean, b_scatter, b_total = (
            place_classes(v, there, len(classes)) for v in other._values()
        )
        # Chan, Golub and LeVeque (1983), in every class: the scatter between the means is added
        weight = a_weight + b_weight
        share = np.divide(b_weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = b_mean - a_mean
        return ClassMoments(
            classes=classes,
            n_rows=self.n_rows + other.n_rows,
            class_weight=a_total + b_total,
            weight=weight,
            mean=a_mean + share * delta,
            scatter=a_scatter + b_scatter + a_weight * share * delta**2,
        )

    def _values(self) -> tuple[np.ndarray, ...]:
        return self.weight, self.mean, self.scatter, self.class_weight

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> ClassMoments:
        """The moments of the rows matrix x + offset, for rows without missing cells.

        A column that comes from several must be an indicator, as when a new category becomes the
        reference: its scatter follows from its mean.
        """
        shape = (len(self.classes), len(offset))
        weight = np.broadcast_to(self.class_weight[:, None], shape)
        mean = self.mean @ matrix.T + offset
        # an indicator of mean p has the scatter w p (1 - p), a scaled column its own, scaled
        of_indicators = weight * np.maximum(mean * (1.0 - mean), 0.0)
        several = (matrix != 0).sum(axis=1) > 1
        scatter = np.where(several, of_indicators, self.scatter @ matrix.T**2)
        return replace(self, weight=weight.copy(), mean=mean, scatter=scatter)

    def over_classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weight, mean and scatter of every column over all classes together."""
        return _over_classes(self.weight, self.mean, self.scatter)


@dataclass(frozen=True, slots=True)
class ClassScatter:
    """Weight and mean of every class, and full scatter matrices: one per class, or one pooled over
    them.

    With responsibilities r_ik in place of classes, row i counts with the weight w_i r_ik in
    component k; the components are numbered from 0.

    Attributes
    ----------
    classes : array
        The labels.
    n_rows : int
        The number of rows.
    weight : array of shape (K,)
        The weight of the rows of every class.
    mean : array of shape (K, d)
        Their mean.
    scatter : array of shape (K, d, d)
        The sum of w (x - mean)(x - mean)ᵀ; of shape (1, d, d) when pooled.
    pooled : bool
        Whether there is one scatter of all classes, each about its own mean.
    class_weight : array of shape (K,)
        The same as `weight`.
    is_finite : bool
        Whether no sum has overflowed.

    See Also
    --------
    Scatter : Without classes.
    ClassMoments : Without products of columns, and with missing cells.
    lyceum.bayes.QuadraticDiscriminantAnalysis : A learner from this statistic.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import ClassScatter
    >>> rows = scan(pa.table({"x": [1.0, 3.0, 7.0, 8.5], "y": ["a", "a", "b", "b"]}), target="y")
    >>> rows.reduce(ClassScatter.of).scatter.ravel().tolist()
    [2.0, 1.125]
    """

    classes: np.ndarray
    n_rows: int
    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    pooled: bool

    @classmethod
    def of(
        cls,
        block: Block,
        pooled: bool = False,
        responsibilities: np.ndarray | None = None,
    ) -> ClassScatter:
        """The scatter of a block.

        Parameters
        ----------
        block : Block
        pooled : bool, default=False
            Whether the scatters about the class means are added up in one.
        responsibilities : array of shape (n, K), optional
            The share of every component in every row, in place of the classes of the target.
        """
        X = _dense(block.X)
        d = block.X.shape[1]
        if responsibilities is None:
            R = None
            classes = classes_of(block)
        else:
            R = check_responsibilities(responsibilities, len(block))
            classes = np.arange(R.shape[1])
        K = len(classes)
        n_matrices = 1 if pooled else K
        check_square_matrices(d, n_matrices)
        weight = np.zeros(K)
        mean = np.zeros((K, d))
        scatter = np.zeros((n_matrices, d, d))
        if R is None:
            y = class_of_rows(block)
            native.class_scatter(X, y, block.w, weight, mean, scatter, pooled)
        else:
            native.soft_scatter(X, R, block.w, weight, mean, scatter, pooled)
        return cls(classes, len(block), weight, mean, scatter, pooled)

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        return bool(np.isfinite(self.scatter).all() and np.isfinite(self.mean).all())

    def merge(self, other: ClassScatter) -> ClassScatter:
        classes, here, there = align_labels(self.classes, other.classes)
        K = len(classes)
        a_weight = place_classes(self.weight, here, K)
        a_mean = place_classes(self.mean, here, K)
        b_weight = place_classes(other.weight, there, K)
        b_mean = place_classes(other.mean, there, K)
        weight = a_weight + b_weight
        share = np.divide(b_weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = b_mean - a_mean
        # w_a w_b / (w_a + w_b) δ δᵀ in every class
        factor = (a_weight * share)[:, None, None]
        between = factor * delta[:, :, None] * delta[:, None, :]
        if self.pooled:
            scatter = self.scatter + other.scatter + between.sum(axis=0, keepdims=True)
        else:
            a_scatter = place_classes(self.scatter, here, K)
            b_scatter = place_classes(other.scatter, there, K)
            scatter = a_scatter + b_scatter + between
        return replace(
            self,
            classes=classes,
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=a_mean + share[:, None] * delta,
            scatter=scatter,
        )

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> ClassScatter:
        """The summary of the rows matrix x + offset."""
        return replace(
            self,
            mean=self.mean @ matrix.T + offset,
            scatter=matrix @ self.scatter @ matrix.T,
        )

    @property
    def class_weight(self) -> np.ndarray:
        return self.weight

    def over_classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weight, mean and scatter of every column over all classes together."""
        # the diagonals; a pooled matrix stands for the sum over classes
        within = np.einsum("kjj->kj", self.scatter)
        weight = np.broadcast_to(self.weight[:, None], self.mean.shape)
        return _over_classes(weight, self.mean, within)


def _over_classes(
    weight: np.ndarray, mean: np.ndarray, scatter: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """sum_k S_k + sum_k w_k (m_k - m)^2, with m the mean over the classes, column by column."""
    all_weight = weight.sum(axis=0)
    # about the first class that has a cell, so that equal means stay equal to the last bit
    first_class = (weight > 0).argmax(axis=0)
    start = np.take_along_axis(mean, first_class[None], axis=0)[0]
    moved = np.where(weight > 0, mean - start, 0.0)
    sums = (weight * moved).sum(axis=0)
    zeros = np.zeros_like(all_weight)
    shift = np.divide(sums, all_weight, out=zeros, where=all_weight > 0)
    between = (weight * (moved - shift) ** 2).sum(axis=0)
    return all_weight, start + shift, scatter.sum(axis=0) + between


def _dense(X: Data) -> np.ndarray:
    X = dense_cells(X)
    is_float = X.dtype in (np.float32, np.float64)
    return np.ascontiguousarray(X, dtype=X.dtype if is_float else np.float64)
