"""Fewer columns."""

from lyceum.reduce._attribute_ranking import AttributeRanking
from lyceum.reduce._classical_mds import ClassicalMDS
from lyceum.reduce._feature_embedding import FeatureEmbedding
from lyceum.reduce._fisher_projection import FisherProjection
from lyceum.reduce._pca import PCA
from lyceum.reduce._subset_selection import SubsetSelection
from lyceum.reduce._svd import SVD

__all__ = [
    "PCA",
    "SVD",
    "AttributeRanking",
    "ClassicalMDS",
    "FeatureEmbedding",
    "FisherProjection",
    "SubsetSelection",
]
