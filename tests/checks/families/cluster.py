"""Clusters and mixtures, as they are put to the laws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from tests.checks.laws import Case
from tests.checks.tables import data_for

from lyceum.bayes import NaiveBayes
from lyceum.cluster import KMeans

# Starts from three fixed rows: which rows k-means picks depends on the order and number of rows.
_MEANS = data_for(BaseEstimator()).X[:3].copy()
_FIXED = KMeans(3, init=_MEANS, n_init=1)
_QUICK = KMeans(3, n_init=1, random_state=0)
_TABLES = np.random.default_rng(5).uniform(0.2, 0.8, (3, _MEANS.shape[1]))
_MIXTURE = {
    "n_components": 3,
    "means_init": _MEANS,
    "n_init": 1,
    "tol": 0.2,
    "random_state": 0,
}
_COUNTS = {
    "n_components": 3,
    "probabilities_init": _TABLES / _TABLES.sum(axis=1, keepdims=True),
    "tol": 0.2,
    "random_state": 0,
}

SETTINGS: dict[str, dict[str, Any]] = {
    # single linkage holds no distances: 40,000 rows have 800 million pairs
    "AgglomerativeClustering": {"n_clusters": 3, "linkage": "single"},
    "ClusterFeatures": {"clusterer": _FIXED, "keep": False},
    "ClusterLabels": {"clusterer": _FIXED},
    "ClusterClassifier": {"clusterer": _FIXED, "classifier": NaiveBayes()},
    "DBSCAN": {"eps": 2.0, "min_samples": 4},
    "HDBSCAN": {"min_cluster_size": 12, "min_samples": 4},
    "DivisiveClustering": {"n_clusters": 3},
    "FuzzyCMeans": {"n_clusters": 3, "init": _MEANS, "tol": 1e-3},
    "KMedoids": {
        "n_clusters": 3,
        "max_samples": 1000,
        "n_subsamples": 1,
        "random_state": 0,
    },
    "GaussianMixture": _MIXTURE,
    "BayesianGaussianMixture": _MIXTURE,
    "StudentMixture": _MIXTURE,
    "BernoulliMixture": {**_COUNTS, "probabilities_init": _TABLES},
    "MultinomialMixture": _COUNTS,
}

_ON_CLUSTERS = Case(
    mixed={"clusterer": KMeans(3, random_state=0)},
    moved={"clusterer": KMeans(3, init=_MEANS + 1e6, n_init=1)},
)
_FROM_MEANS = Case(mixed={"means_init": None}, moved={"means_init": _MEANS + 1e6})
CASES: dict[str, Case] = {
    # merges go by row numbers, and a row of weight 2 is one row of the tree
    "AgglomerativeClustering": Case(skip=("linkage_", "rows_", "weights_")),
    "ClusterFeatures": Case(
        mixed={"clusterer": KMeans(3, random_state=0), "keep": True},
        moved={"clusterer": KMeans(3, init=_MEANS + 1e6, n_init=1)},
    ),
    "ClusterLabels": _ON_CLUSTERS,
    "ClusterClassifier": _ON_CLUSTERS,
    "DBSCAN": Case(
        skip=("linkage_", "rows_", "row_cores_", "core_distances_"),
    ),
    "HDBSCAN": Case(
        leaves_out=True,
        skip=("linkage_", "rows_", "row_cores_", "core_distances_", "probabilities_"),
    ),
    "DivisiveClustering": Case(skip=("linkage_", "rows_", "weights_")),
    "FuzzyCMeans": Case(
        mixed={"init": "k-means++", "random_state": 0}, moved={"init": _MEANS + 1e6}
    ),
    "GaussianMixture": _FROM_MEANS,
    "BayesianGaussianMixture": _FROM_MEANS,
    "StudentMixture": _FROM_MEANS,
    "BernoulliMixture": Case(
        mixed={"probabilities_init": None}, moved={"binarize": 1e6}
    ),
    "MultinomialMixture": Case(
        mixed={"probabilities_init": None},
        without={"cells_may_be_a_million_away": "counts have an origin"},
    ),
}

SCIKIT_SETTINGS: dict[str, dict[str, Any]] = {
    "BayesianGaussianMixture": {"n_components": 2, "n_init": 1, "tol": 1e-2},
    "BernoulliMixture": {"tol": 1e-2},
    "ClusterFeatures": {"clusterer": _QUICK},
    "ClusterLabels": {"clusterer": _QUICK},
    "FuzzyCMeans": {"n_clusters": 3, "n_init": 1, "tol": 1e-3},
    "MultinomialMixture": {"tol": 1e-2},
    "StudentMixture": {"tol": 1e-2},
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    name: {
        f"check_estimator_sparse_{kind}": (
            "the check asks whatever has predict_proba for classifier_tags, "
            "which a mixture has none of"
        )
        for kind in ("array", "matrix")
    }
    for name in ("BernoulliMixture", "MultinomialMixture")
}
