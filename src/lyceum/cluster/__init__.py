"""Clustering: k-means, medoids, trees and densities; how good a clustering is, and how many clusters.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.cluster._agglomerative import Agglomerative
    from lyceum.cluster._alignment import Alignment
    from lyceum.cluster._bayesian_mixture import BayesianGaussianMixture
    from lyceum.cluster._bernoulli_mixture import BernoulliMixture
    from lyceum.cluster._choose_k import KChoice, choose_k
    from lyceum.cluster._cluster_based import (
        ClusterBased,
        ClusterWeights,
        PlacedExplanation,
        clusters_of_rows,
        scaled_kmeans,
    )
    from lyceum.cluster._cluster_features import ClusterFeatures
    from lyceum.cluster._cluster_labels import ClusterLabels
    from lyceum.cluster._cluster_reasons import ClusterExplanation, TreeExplanation
    from lyceum.cluster._density_clusters import DensityClusters
    from lyceum.cluster._divisive import Divisive
    from lyceum.cluster._external import (
        Agreement,
        adjusted_rand,
        agreement,
        align,
        entropy,
        mutual_information,
        pair_counts,
        purity,
    )
    from lyceum.cluster._fuzzy import FuzzyCMeans
    from lyceum.cluster._gaussian_mixture import GaussianMixture
    from lyceum.cluster._kmeans import KMeans
    from lyceum.cluster._kmedoids import KMedoids
    from lyceum.cluster._metric_learner import NAMED_METRICS, MetricLearner
    from lyceum.cluster._multinomial_mixture import MultinomialMixture
    from lyceum.cluster._pair_counts import PairCounts
    from lyceum.cluster._student_mixture import StudentMixture
    from lyceum.cluster._to_clusters import finite_distances
    from lyceum.cluster._top_columns import top_columns
    from lyceum.cluster._validity import (
        Proximity,
        Silhouette,
        SumsOfSquares,
        proximity,
        silhouette,
        sums_of_squares,
    )

__all__ = [
    "NAMED_METRICS",
    "Agglomerative",
    "Agreement",
    "Alignment",
    "BayesianGaussianMixture",
    "BernoulliMixture",
    "ClusterBased",
    "ClusterExplanation",
    "ClusterFeatures",
    "ClusterLabels",
    "ClusterWeights",
    "DensityClusters",
    "Divisive",
    "FuzzyCMeans",
    "GaussianMixture",
    "KChoice",
    "KMeans",
    "KMedoids",
    "MetricLearner",
    "MultinomialMixture",
    "PairCounts",
    "PlacedExplanation",
    "Proximity",
    "Silhouette",
    "StudentMixture",
    "SumsOfSquares",
    "TreeExplanation",
    "adjusted_rand",
    "agreement",
    "align",
    "choose_k",
    "clusters_of_rows",
    "entropy",
    "finite_distances",
    "mutual_information",
    "pair_counts",
    "proximity",
    "purity",
    "scaled_kmeans",
    "silhouette",
    "sums_of_squares",
    "top_columns",
]

_MODULES = {
    "_agglomerative": ("Agglomerative",),
    "_alignment": ("Alignment",),
    "_bayesian_mixture": ("BayesianGaussianMixture",),
    "_bernoulli_mixture": ("BernoulliMixture",),
    "_choose_k": ("KChoice", "choose_k"),
    "_cluster_based": (
        "ClusterBased",
        "ClusterWeights",
        "PlacedExplanation",
        "clusters_of_rows",
        "scaled_kmeans",
    ),
    "_cluster_features": ("ClusterFeatures",),
    "_cluster_labels": ("ClusterLabels",),
    "_cluster_reasons": ("ClusterExplanation", "TreeExplanation"),
    "_density_clusters": ("DensityClusters",),
    "_divisive": ("Divisive",),
    "_external": (
        "Agreement",
        "adjusted_rand",
        "agreement",
        "align",
        "entropy",
        "mutual_information",
        "pair_counts",
        "purity",
    ),
    "_fuzzy": ("FuzzyCMeans",),
    "_gaussian_mixture": ("GaussianMixture",),
    "_kmeans": ("KMeans",),
    "_kmedoids": ("KMedoids",),
    "_metric_learner": ("NAMED_METRICS", "MetricLearner"),
    "_multinomial_mixture": ("MultinomialMixture",),
    "_pair_counts": ("PairCounts",),
    "_student_mixture": ("StudentMixture",),
    "_to_clusters": ("finite_distances",),
    "_top_columns": ("top_columns",),
    "_validity": ("Proximity", "Silhouette", "SumsOfSquares", "proximity", "silhouette", "sums_of_squares"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
