"""Instance-based learning: nearest neighbours, centroids, local regression, radial basis functions."""

from lyceum.neighbors._attribute_weights import AttributeWeights
from lyceum.neighbors._condensing import condense, edit
from lyceum.neighbors._learned_metric import LearnedMetric
from lyceum.neighbors._locally_weighted import LocallyWeightedRegression
from lyceum.neighbors._nearest_centroid import NearestCentroid
from lyceum.neighbors._neighbor_explanation import NeighborExplanation
from lyceum.neighbors._neighbors_classifier import KNeighborsClassifier
from lyceum.neighbors._neighbors_regressor import KNeighborsRegressor
from lyceum.neighbors._rbf_classifier import RBFNetworkClassifier
from lyceum.neighbors._rbf_regressor import RBFNetworkRegressor
from lyceum.neighbors._restricted_coulomb import RestrictedCoulombClassifier

__all__ = [
    "AttributeWeights",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LearnedMetric",
    "LocallyWeightedRegression",
    "NearestCentroid",
    "NeighborExplanation",
    "RBFNetworkClassifier",
    "RBFNetworkRegressor",
    "RestrictedCoulombClassifier",
    "condense",
    "edit",
]
