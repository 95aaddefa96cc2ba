"""Instance-based learning: nearest neighbours, centroids, local regression, radial basis functions.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
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

_MODULES = {
    "_attribute_weights": ("AttributeWeights",),
    "_condensing": ("condense", "edit"),
    "_learned_metric": ("LearnedMetric",),
    "_locally_weighted": ("LocallyWeightedRegression",),
    "_nearest_centroid": ("NearestCentroid",),
    "_neighbor_explanation": ("NeighborExplanation",),
    "_neighbors_classifier": ("KNeighborsClassifier",),
    "_neighbors_regressor": ("KNeighborsRegressor",),
    "_rbf_classifier": ("RBFNetworkClassifier",),
    "_rbf_regressor": ("RBFNetworkRegressor",),
    "_restricted_coulomb": ("RestrictedCoulombClassifier",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
