"""DBSCAN: regions where rows lie close together, at one density, and noise."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.clustering import METRICS, SEARCH_CONSTRAINTS
from lyceum._core.constraints import Interval
from lyceum._core.distances import nearest
from lyceum._core.types import Categories
from lyceum.cluster.hierarchy.density import ROUNDING, DenseClusters, DensityLearner
from lyceum.cluster.hierarchy.linkage import cut_merges


class DBSCAN(DensityLearner):
    """Clusters of any shape at one density, with noise.

    A row is a core row if at least `min_samples` rows, itself counted, lie within `eps`. Core rows
    within `eps` of each other are in one cluster. A row that is no core row goes to the cluster of
    its nearest core row within `eps`, or is noise. scikit-learn gives such a border row to the
    first cluster that reaches it; otherwise the clusters are the same.

    Parameters
    ----------
    eps : float, default=0.5
        The largest distance of two neighbors.
    min_samples : int, default=5
        How many rows, itself counted, must be near a core row. More makes clusters smoother.

    Attributes
    ----------
    labels_ : array of int of shape (n_samples,)
        The cluster of every row of `fit`, -1 for noise.
    core_sample_indices_ : array of int of shape (m,)
        The numbers of the core rows among the rows of `fit`.
    components_ : array of shape (m, n_columns)
        The core rows in this order, as the metric compares them; without columns if distances were
        given.
    core_distances_ : array of shape (n_samples,)
        The distance within which a row has `min_samples` rows.
    n_clusters_ : int
        The number of clusters.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster.
    heights_ : array of shape (n_clusters,)
        `eps` for every cluster: rows farther from it are noise.
    linkage_ : array of shape (n - 1, 4)
        The tree of mutual reachability of the rows with a weight, as SciPy has linkages.
    rows_ : array of shape (m, n_columns)
        The rows that `predict` compares with: core rows of the clusters, as the metric compares
        them; without columns if distances were given.
    row_labels_ : array of int of shape (m,)
        Their clusters.
    row_numbers_ : array of int of shape (m,)
        Their numbers among the rows of `fit`.
    row_cores_ : array of shape (m,)
        Their core distances.
    metric_ : Metric
        The metric in use, with what it learned.

    See Also
    --------
    HDBSCAN : clusters of different densities, without a distance to choose.
    AgglomerativeClustering : trees under other linkages.
    KMeans : for clusters around centers.

    References
    ----------
    Ester, M., Kriegel, H.-P., Sander, J. and Xu, X. (1996). A density-based algorithm for
    discovering clusters in large spatial databases with noise. KDD.

    Examples
    --------
    >>> from lyceum.cluster import DBSCAN
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [20.0]]
    >>> model = DBSCAN(eps=0.5, min_samples=2).fit(rows)
    >>> model.labels_.tolist(), model.core_sample_indices_.tolist()
    ([0, 0, 0, 1, 1, 1, -1], [0, 1, 2, 3, 4, 5])
    """

    _parameter_constraints: ClassVar[dict] = {
        "eps": [Interval(Real, 0, None, closed="neither")],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "metric": METRICS,
        **SEARCH_CONSTRAINTS,
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: object = "auto",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    @property
    def _n_core(self) -> int:
        return self.min_samples

    def _cut(
        self,
        X: Any,
        D: np.ndarray | None,
        core: np.ndarray,
        w: np.ndarray,
    ) -> DenseClusters:
        eps = float(self.eps)
        merges = self.linkage_
        # In the tree of mutual reachability, max(core_x, core_y, d), merges up to eps join core
        # rows only, each within eps of the next: the clusters of DBSCAN. Other rows stay alone.
        groups = cut_merges(merges, merges[:, 2] <= eps * ROUNDING)
        is_core = core <= eps * ROUNDING
        labels = np.full(len(core), -1)
        labels[is_core] = np.unique(groups[is_core], return_inverse=True)[1]
        # a row that is no core joins the cluster of its nearest core row within eps, or is noise
        border = np.flatnonzero(~is_core)
        if len(border) and is_core.any():
            if D is None:
                neighbors = nearest(X[border], 1, among=X[is_core], metric=self.metric_)
                index = neighbors.rows[:, 0]
                distances = neighbors.distances[:, 0]
            else:
                to_core = D[np.ix_(border, is_core)]
                index = to_core.argmin(axis=1)
                distances = to_core.min(axis=1)
            labels[border] = np.where(distances <= eps, labels[is_core][index], -1)
        return DenseClusters(labels, np.full(labels.max() + 1, eps))

    @property
    def core_sample_indices_(self) -> np.ndarray:
        """The numbers of the core rows among the rows of `fit`."""
        return np.sort(self.row_numbers_)

    @property
    def components_(self) -> Any:
        """The core rows, in the order of `core_sample_indices_`."""
        return self.rows_[np.argsort(self.row_numbers_)]
