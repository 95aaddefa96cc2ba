"""Clustering."""

from lyceum.cluster._kmeans import KMeans

__all__ = ["KMeans"]
