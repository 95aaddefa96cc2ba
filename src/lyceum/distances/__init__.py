"""Distances: metrics of rows, all pairs in blocks, and the nearest rows."""

from lyceum.distances._centers import nearest_center
from lyceum.distances._differences import (
    Chebyshev,
    Euclidean,
    Mahalanobis,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
)
from lyceum.distances._directions import Correlation, Cosine, unit_rows
from lyceum.distances._float_matrix import check_finite, float_matrix
from lyceum.distances._function import FunctionMetric
from lyceum.distances._gower import Gower
from lyceum.distances._index import NeighborIndex
from lyceum.distances._matches import Hamming, Jaccard
from lyceum.distances._metric import Metric, metric
from lyceum.distances._model_parts import METRIC_PARTS
from lyceum.distances._nearest import NearestLists, nearest, within_radius
from lyceum.distances._neighbors import Neighbors, RadiusNeighbors
from lyceum.distances._pairwise import pairwise, pairwise_blocks
from lyceum.distances._value_difference import ValueDifference

__all__ = [
    "METRIC_PARTS",
    "Chebyshev",
    "Correlation",
    "Cosine",
    "Euclidean",
    "FunctionMetric",
    "Gower",
    "Hamming",
    "Jaccard",
    "Mahalanobis",
    "Manhattan",
    "Metric",
    "Minkowski",
    "NearestLists",
    "NeighborIndex",
    "Neighbors",
    "RadiusNeighbors",
    "SquaredEuclidean",
    "ValueDifference",
    "check_finite",
    "float_matrix",
    "metric",
    "nearest",
    "nearest_center",
    "pairwise",
    "pairwise_blocks",
    "unit_rows",
    "within_radius",
]
