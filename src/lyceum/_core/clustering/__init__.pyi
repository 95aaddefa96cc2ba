from lyceum._core.clustering.cluster_based import (
    ClusterBased as ClusterBased,
    ClusterWeights as ClusterWeights,
    PlacedExplanation as PlacedExplanation,
    clusters_of_rows as clusters_of_rows,
)
from lyceum._core.clustering.metric_learner import (
    METRICS as METRICS,
    NAMED_METRICS as NAMED_METRICS,
    SEARCH_CONSTRAINTS as SEARCH_CONSTRAINTS,
    MetricLearner as MetricLearner,
)
