"""Fewer columns.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
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

_MODULES = {
    "_attribute_ranking": ("AttributeRanking",),
    "_classical_mds": ("ClassicalMDS",),
    "_feature_embedding": ("FeatureEmbedding",),
    "_fisher_projection": ("FisherProjection",),
    "_pca": ("PCA",),
    "_subset_selection": ("SubsetSelection",),
    "_svd": ("SVD",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
