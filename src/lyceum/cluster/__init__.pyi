from sklearn.metrics import (
    adjusted_mutual_info_score as adjusted_mutual_info_score,
    adjusted_rand_score as adjusted_rand_score,
    mutual_info_score as mutual_info_score,
    normalized_mutual_info_score as normalized_mutual_info_score,
)

from lyceum.cluster.explanations import (
    ClusterExplanation as ClusterExplanation,
    TreeExplanation as TreeExplanation,
)
from lyceum.cluster.features.cluster_features import ClusterFeatures as ClusterFeatures
from lyceum.cluster.features.cluster_labels import ClusterLabels as ClusterLabels
from lyceum.cluster.hierarchy.agglomerative import (
    AgglomerativeClustering as AgglomerativeClustering,
)
from lyceum.cluster.hierarchy.dbscan import DBSCAN as DBSCAN
from lyceum.cluster.hierarchy.divisive import DivisiveClustering as DivisiveClustering
from lyceum.cluster.hierarchy.hdbscan import HDBSCAN as HDBSCAN
from lyceum.cluster.kmeans.fuzzy import FuzzyCMeans as FuzzyCMeans
from lyceum.cluster.kmeans.kmeans import KMeans as KMeans
from lyceum.cluster.medoids.kmedoids import KMedoids as KMedoids
from lyceum.cluster.validity.agreement import (
    Agreement as Agreement,
    PairCounts as PairCounts,
    agreement as agreement,
    entropy as entropy,
    judged_pairs as judged_pairs,
    match_clusters as match_clusters,
    pair_counts as pair_counts,
    purity as purity,
)
from lyceum.cluster.validity.choose_k import KChoice as KChoice, choose_k as choose_k
from lyceum.cluster.validity.internal import (
    Proximity as Proximity,
    Silhouette as Silhouette,
    SumsOfSquares as SumsOfSquares,
    davies_bouldin_score as davies_bouldin_score,
    proximity as proximity,
    silhouette as silhouette,
    sums_of_squares as sums_of_squares,
)
from lyceum.cluster.validity.matching import ClusterMatch as ClusterMatch
