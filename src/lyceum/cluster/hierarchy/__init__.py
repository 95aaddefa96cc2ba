"""Trees of clusters: agglomerative, divisive, by density."""
