"""Distances: metrics of rows, all pairs in blocks, and the nearest rows."""

from lyceum._core.distances.arrays import (
    BrayCurtis,
    Canberra,
    Dice,
    ForeignMetric,
    Haversine,
    NanEuclidean,
    RogersTanimoto,
    RussellRao,
    SokalMichener,
    SokalSneath,
    StandardizedEuclidean,
)
from lyceum._core.distances.category_coding import distance_coding
from lyceum._core.distances.centers import nearest_center
from lyceum._core.distances.differences import (
    Chebyshev,
    Euclidean,
    Mahalanobis,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
)
from lyceum._core.distances.directions import (
    Correlation,
    Cosine,
    SquaredCorrelation,
    unit_rows,
)
from lyceum._core.distances.function import FunctionMetric
from lyceum._core.distances.gower import Gower, finite_distances
from lyceum._core.distances.index import NeighborIndex
from lyceum._core.distances.matches import Hamming, Jaccard
from lyceum._core.distances.matrices import check_finite, float_matrix
from lyceum._core.distances.metrics import ALIASES, Metric, metric
from lyceum._core.distances.model_parts import METRIC_CLASSES, METRIC_PARTS
from lyceum._core.distances.nearest_rows import NearestLists, nearest, within_radius
from lyceum._core.distances.neighbors import Neighbors, RadiusNeighbors
from lyceum._core.distances.pairs import pairwise, pairwise_blocks
from lyceum._core.distances.row_index import (
    check_class_codes,
    check_stored,
    float_cells,
    queries,
    stored_index,
)
from lyceum._core.distances.value_difference import ValueDifference

__all__ = [
    "ALIASES",
    "METRIC_CLASSES",
    "METRIC_PARTS",
    "BrayCurtis",
    "Canberra",
    "Chebyshev",
    "Correlation",
    "Cosine",
    "Dice",
    "Euclidean",
    "ForeignMetric",
    "FunctionMetric",
    "Gower",
    "Hamming",
    "Haversine",
    "Jaccard",
    "Mahalanobis",
    "Manhattan",
    "Metric",
    "Minkowski",
    "NanEuclidean",
    "NearestLists",
    "NeighborIndex",
    "Neighbors",
    "RadiusNeighbors",
    "RogersTanimoto",
    "RussellRao",
    "SokalMichener",
    "SokalSneath",
    "SquaredCorrelation",
    "SquaredEuclidean",
    "StandardizedEuclidean",
    "ValueDifference",
    "check_class_codes",
    "check_finite",
    "check_stored",
    "distance_coding",
    "finite_distances",
    "float_cells",
    "float_matrix",
    "metric",
    "nearest",
    "nearest_center",
    "pairwise",
    "pairwise_blocks",
    "queries",
    "stored_index",
    "unit_rows",
    "within_radius",
]
