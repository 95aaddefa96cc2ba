from lyceum._core.distances.arrays import (
    BrayCurtis as BrayCurtis,
    Canberra as Canberra,
    Dice as Dice,
    ForeignMetric as ForeignMetric,
    Haversine as Haversine,
    NanEuclidean as NanEuclidean,
    RogersTanimoto as RogersTanimoto,
    RussellRao as RussellRao,
    SokalMichener as SokalMichener,
    SokalSneath as SokalSneath,
    StandardizedEuclidean as StandardizedEuclidean,
)
from lyceum._core.distances.category_coding import distance_coding as distance_coding
from lyceum._core.distances.centers import nearest_center as nearest_center
from lyceum._core.distances.differences import (
    Chebyshev as Chebyshev,
    Euclidean as Euclidean,
    Mahalanobis as Mahalanobis,
    Manhattan as Manhattan,
    Minkowski as Minkowski,
    SquaredEuclidean as SquaredEuclidean,
)
from lyceum._core.distances.directions import (
    Correlation as Correlation,
    Cosine as Cosine,
    SquaredCorrelation as SquaredCorrelation,
    unit_rows as unit_rows,
)
from lyceum._core.distances.function import FunctionMetric as FunctionMetric
from lyceum._core.distances.gower import (
    Gower as Gower,
    finite_distances as finite_distances,
)
from lyceum._core.distances.index import NeighborIndex as NeighborIndex
from lyceum._core.distances.matches import Hamming as Hamming, Jaccard as Jaccard
from lyceum._core.distances.matrices import (
    check_finite as check_finite,
    float_matrix as float_matrix,
)
from lyceum._core.distances.metrics import (
    ALIASES as ALIASES,
    Metric as Metric,
    metric as metric,
)
from lyceum._core.distances.model_parts import (
    METRIC_CLASSES as METRIC_CLASSES,
    METRIC_PARTS as METRIC_PARTS,
)
from lyceum._core.distances.nearest_rows import (
    NearestLists as NearestLists,
    nearest as nearest,
    within_radius as within_radius,
)
from lyceum._core.distances.neighbors import (
    Neighbors as Neighbors,
    RadiusNeighbors as RadiusNeighbors,
)
from lyceum._core.distances.pairs import (
    pairwise as pairwise,
    pairwise_blocks as pairwise_blocks,
)
from lyceum._core.distances.row_index import (
    check_class_codes as check_class_codes,
    check_stored as check_stored,
    float_cells as float_cells,
    queries as queries,
    stored_index as stored_index,
)
from lyceum._core.distances.value_difference import ValueDifference as ValueDifference
