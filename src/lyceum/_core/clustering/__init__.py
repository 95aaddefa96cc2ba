"""What learners of several rooms share that compare rows by a metric, or use clusters of rows."""

from lyceum._core.clustering.cluster_based import (
    ClusterBased,
    ClusterWeights,
    PlacedExplanation,
    clusters_of_rows,
)
from lyceum._core.clustering.metric_learner import (
    METRICS,
    NAMED_METRICS,
    SEARCH_CONSTRAINTS,
    MetricLearner,
)

__all__ = [
    "METRICS",
    "NAMED_METRICS",
    "SEARCH_CONSTRAINTS",
    "ClusterBased",
    "ClusterWeights",
    "MetricLearner",
    "PlacedExplanation",
    "clusters_of_rows",
]
