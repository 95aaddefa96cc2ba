"""Fewer columns."""

from lyceum.reduce._pca import PCA

__all__ = ["PCA"]
