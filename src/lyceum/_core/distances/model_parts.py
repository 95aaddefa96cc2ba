"""What a model file may hold of a metric: the metrics themselves, and what they learn."""

from __future__ import annotations

from lyceum._core.distances.arrays import ARRAY_METRICS
from lyceum._core.distances.differences import (
    Chebyshev,
    Euclidean,
    Mahalanobis,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
)
from lyceum._core.distances.directions import Correlation, Cosine, SquaredCorrelation
from lyceum._core.distances.gower import Gower
from lyceum._core.distances.matches import Hamming, Jaccard
from lyceum._core.distances.metrics import Metric
from lyceum._core.distances.value_difference import COLUMN_PARTS, ValueDifference

METRIC_CLASSES: tuple[type[Metric], ...] = (
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
    SquaredCorrelation,
    SquaredEuclidean,
    *ARRAY_METRICS,
)
METRIC_PARTS: tuple[type, ...] = (*METRIC_CLASSES, ValueDifference, *COLUMN_PARTS)
