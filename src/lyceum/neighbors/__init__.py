"""Instance-based learning: nearest neighbours, centroids, local regression, radial basis functions."""

from lyceum.neighbors._classifier import KNeighborsClassifier
from lyceum.neighbors._condensing import condense, edit
from lyceum.neighbors._explanation import NeighborExplanation
from lyceum.neighbors._locally_weighted import LocallyWeightedRegression
from lyceum.neighbors._regressor import KNeighborsRegressor

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LocallyWeightedRegression",
    "NeighborExplanation",
    "condense",
    "edit",
]
