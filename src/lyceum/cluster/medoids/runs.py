"""The input and the result of a run of k-medoids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import Block, stack_rows
from lyceum._core.statistics import RowSample
from lyceum.cluster.kmeans.initial_centers import Points


@dataclass(frozen=True, slots=True)
class MedoidSums:
    """The weight of the rows nearest to every medoid, and the sum of their distances."""

    weights: np.ndarray
    loss: float

    @classmethod
    def of(
        cls, block: Block, medoids: Any, distances: Callable[[Block, Any], np.ndarray]
    ) -> MedoidSums:
        D = distances(block, medoids)
        labels = D.argmin(axis=1)
        w = block.weights
        return cls(
            np.bincount(labels, w, D.shape[1]),
            float(w @ D.min(axis=1).astype(np.float64)),
        )

    def merge(self, other: MedoidSums) -> MedoidSums:
        return MedoidSums(self.weights + other.weights, self.loss + other.loss)


@dataclass(frozen=True, slots=True)
class MedoidRun:
    """Medoids, their row numbers, the losses on the way, the loss over all rows, and labels if
    known."""

    medoids: Any
    numbers: np.ndarray
    history: list[float]
    sums: MedoidSums
    labels: np.ndarray | None = None

    @property
    def loss(self) -> float:
        return self.sums.loss


class Candidates:
    """The distinct rows of a sample, and the medoids of the run before, with weights and row
    numbers."""

    def __init__(self, sample: RowSample, before: MedoidRun | None):
        X = sample.X
        w = sample.weights
        numbers = sample.rows
        if before is not None:
            X = stack_rows([X, before.medoids])
            w = np.append(w, np.zeros(len(before.numbers)))
            numbers = np.append(numbers, before.numbers)
        points = Points(X, w)
        self.X = points.X
        self.w = points.w
        self.numbers = np.full(len(points), np.iinfo(np.int64).max)
        np.minimum.at(self.numbers, points.groups, numbers)

    def rows(self, chosen: np.ndarray) -> Any:
        return self.X[chosen]
