from lyceum.neighbors.condensing import condense as condense, edit as edit
from lyceum.neighbors.knn.classifier import KNeighborsClassifier as KNeighborsClassifier
from lyceum.neighbors.knn.explanation import NeighborExplanation as NeighborExplanation
from lyceum.neighbors.knn.regressor import KNeighborsRegressor as KNeighborsRegressor
from lyceum.neighbors.local_regression.local_lines import (
    LocalLineExplanation as LocalLineExplanation,
)
from lyceum.neighbors.local_regression.locally_weighted import (
    LocallyWeightedRegression as LocallyWeightedRegression,
)
from lyceum.neighbors.metrics.attribute_weights import (
    AttributeWeights as AttributeWeights,
)
from lyceum.neighbors.metrics.learned_metric import LearnedMetric as LearnedMetric
from lyceum.neighbors.nearest_centroid import NearestCentroid as NearestCentroid
from lyceum.neighbors.radial.classifier import (
    RBFNetworkClassifier as RBFNetworkClassifier,
)
from lyceum.neighbors.radial.regressor import RBFNetworkRegressor as RBFNetworkRegressor
from lyceum.neighbors.radial.restricted_coulomb import (
    RestrictedCoulombClassifier as RestrictedCoulombClassifier,
)
