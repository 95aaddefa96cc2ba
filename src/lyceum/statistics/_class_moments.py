"""Per-class moments: the statistic of Gaussian discriminants and of Gaussian naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lyceum._native import kernels
from lyceum.data import Block
from lyceum.statistics._classes import align_classes, spread

__all__ = ["ClassMoments", "ClassScatter"]


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """Weight, mean and scatter of every column in every class; missing cells are left out one by one.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> rows = scan(pa.table({"x": [1.0, 3.0, None, 7.0], "y": ["a", "a", "a", "b"]}), target="y")
    >>> moments = rows.reduce(ClassMoments.of)
    >>> moments.mean.ravel().tolist(), moments.weight.ravel().tolist()
    ([2.0, 7.0], [2.0, 1.0])
    """

    classes: np.ndarray
    n_rows: int
    class_weight: np.ndarray  # (K,)
    weight: np.ndarray  # (K, d)
    mean: np.ndarray  # (K, d)
    scatter: np.ndarray  # (K, d): sum of w (x - mean)^2

    @classmethod
    def of(cls, block: Block) -> ClassMoments:
        classes = _classes(block)
        shape = (len(classes), block.X.shape[1])
        weight, mean, scatter = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        X = block.X if block.X.dtype.kind == "f" else block.X.astype(np.float64)
        kernels.class_moments(X, block.y, block.w, weight, mean, scatter)
        return cls(classes, len(block), class_weights(block, len(classes)), weight, mean, scatter)

    def merge(self, other: ClassMoments) -> ClassMoments:
        classes, here, there = align_classes(self.classes, other.classes)
        a_weight, a_mean, a_scatter, a_total = (spread(v, here, len(classes)) for v in self._values())
        b_weight, b_mean, b_scatter, b_total = (spread(v, there, len(classes)) for v in other._values())
        weight = a_weight + b_weight
        share = np.divide(b_weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = b_mean - a_mean
        return ClassMoments(
            classes,
            self.n_rows + other.n_rows,
            a_total + b_total,
            weight,
            a_mean + share * delta,
            a_scatter + b_scatter + a_weight * share * delta**2,
        )

    def _values(self) -> tuple[np.ndarray, ...]:
        return self.weight, self.mean, self.scatter, self.class_weight


@dataclass(frozen=True, slots=True)
class ClassScatter:
    """Weight and mean of every class, and full scatter matrices: one a class, or one pooled over the classes."""

    classes: np.ndarray
    n_rows: int
    weight: np.ndarray  # (K,)
    mean: np.ndarray  # (K, d)
    scatter: np.ndarray  # (K, d, d), or (1, d, d) about the class means when pooled
    pooled: bool

    @classmethod
    def of(cls, block: Block, pooled: bool = False) -> ClassScatter:
        classes = _classes(block)
        K, d = len(classes), block.X.shape[1]
        X = block.X.toarray() if sparse.issparse(block.X) else block.X
        weight, mean, scatter = np.zeros(K), np.zeros((K, d)), np.zeros((1 if pooled else K, d, d))
        kernels.class_scatter(X, block.y, block.w, weight, mean, scatter, pooled)
        return cls(classes, len(block), weight, mean, scatter, pooled)

    def merge(self, other: ClassScatter) -> ClassScatter:
        classes, here, there = align_classes(self.classes, other.classes)
        K = len(classes)
        a_weight, a_mean = spread(self.weight, here, K), spread(self.mean, here, K)
        b_weight, b_mean = spread(other.weight, there, K), spread(other.mean, there, K)
        weight = a_weight + b_weight
        share = np.divide(b_weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = b_mean - a_mean
        between = (a_weight * share)[:, None, None] * delta[:, :, None] * delta[:, None, :]
        if self.pooled:
            scatter = self.scatter + other.scatter + between.sum(axis=0, keepdims=True)
        else:
            scatter = spread(self.scatter, here, K) + spread(other.scatter, there, K) + between
        mean = a_mean + share[:, None] * delta
        return ClassScatter(classes, self.n_rows + other.n_rows, weight, mean, scatter, self.pooled)


def class_weights(block: Block, n_classes: int) -> np.ndarray:
    """The total weight of the rows of every class."""
    if block.y is None:
        return np.array([block.weight])
    return np.bincount(block.y, block.w, n_classes).astype(np.float64)


def _classes(block: Block) -> np.ndarray:
    """The classes of the target; a single one when there is no target."""
    target = block.schema.target
    if block.y is None or target is None or target.categories is None:
        return np.zeros(1, dtype=np.int64)
    return target.categories
