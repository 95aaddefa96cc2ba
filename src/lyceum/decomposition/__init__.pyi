from lyceum.decomposition.projections.classical_mds import ClassicalMDS as ClassicalMDS
from lyceum.decomposition.projections.discriminant_projection import (
    DiscriminantProjection as DiscriminantProjection,
)
from lyceum.decomposition.projections.pca import PCA as PCA
from lyceum.decomposition.projections.row_svd import RowSVD as RowSVD
from lyceum.decomposition.projections.truncated_svd import TruncatedSVD as TruncatedSVD
from lyceum.decomposition.selection.select_k_best import SelectKBest as SelectKBest
from lyceum.decomposition.selection.sequential_selector import (
    SequentialFeatureSelector as SequentialFeatureSelector,
)
