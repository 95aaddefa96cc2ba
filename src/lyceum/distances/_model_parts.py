"""What a model file may hold of a metric: the metrics themselves, and what they learn."""

from __future__ import annotations

from lyceum.distances._differences import (
    Chebyshev,
    Euclidean,
    Mahalanobis,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
)
from lyceum.distances._directions import Correlation, Cosine
from lyceum.distances._gower import Gower
from lyceum.distances._matches import Hamming, Jaccard
from lyceum.distances._value_difference import COLUMN_PARTS, ValueDifference

__all__ = ["METRIC_PARTS"]

METRIC_PARTS: tuple[type, ...] = (
    Chebyshev,
    Correlation,
    Cosine,
    Euclidean,
    Gower,
    Hamming,
    Jaccard,
    Mahalanobis,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
    ValueDifference,
    *COLUMN_PARTS,
)
