from lyceum.decomposition.projections.classical_mds import ClassicalMDS as ClassicalMDS
from lyceum.decomposition.projections.feature_embedding import FeatureEmbedding as FeatureEmbedding
from lyceum.decomposition.projections.fisher_projection import FisherProjection as FisherProjection
from lyceum.decomposition.projections.pca import PCA as PCA
from lyceum.decomposition.projections.svd import SVD as SVD
from lyceum.decomposition.selection.attribute_ranking import AttributeRanking as AttributeRanking
from lyceum.decomposition.selection.subset_selection import SubsetSelection as SubsetSelection
