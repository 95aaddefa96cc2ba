"""Clusters of any shape: regions where rows lie close together, and noise."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.distances import NeighborIndex, nearest
from lyceum.cluster.cluster_distances import finite_distances
from lyceum.cluster.explanations import ClusterExplanation, adds_up, dense_rows, explain_members
from lyceum.cluster.hierarchy.density_tree import Branches, branches
from lyceum.cluster.hierarchy.linkage import cut_merges, link_distances, link_edges, spanning_tree
from lyceum.cluster.medoids.column_terms import column_terms
from lyceum.cluster.metric_learner import METRICS, MetricLearner, canonical_ranks
from lyceum.errors import DataError
from lyceum.report import Summary, Table


class DensityClusters(ClusterMixin, MetricLearner):
    """Density-based clusters of any shape, with noise: DBSCAN at one density, or its hierarchy over
    all.

    A row is a core row at a distance ε if at least `min_samples` rows, itself counted, lie within
    ε; its core distance is the least such ε. Core rows within ε of each other are in one cluster.
    The distance at which two rows come together is their mutual reachability, max(core_x, core_y,
    d(x, y)), so that the minimum spanning tree under it holds the clusters for every ε.

    With `eps` the tree is cut there (DBSCAN): a row that is no core row goes to the cluster of its
    nearest core row within `eps`, or is noise. Without, clusters of different densities are chosen
    from the tree by how long they persist (HDBSCAN): no distance has to be known.

    Parameters
    ----------
    eps : float or None, default=None
        The distance of DBSCAN; None chooses clusters from the whole hierarchy.
    min_samples : int, default=5
        How many rows, itself counted, must be near a core row. More makes clusters smoother.
    min_cluster_size : int or None, default=None
        The least weight of a cluster of the hierarchy; by default the larger of 5 and
        `min_samples`. Only without `eps`.
    selection : {"stability", "leaves"}, default="stability"
        Which clusters of the hierarchy: those of the largest stability, or the smallest ones at the
        ends of the tree. Only without `eps`.
    allow_single : bool, default=False
        Whether all rows may be one cluster. Only without `eps`.
    metric : str or Metric, default="auto"
        A metric of `lyceum.distances`, or its name; "precomputed": X holds the distances of all
        pairs of rows. "auto" is Gower's distance where columns hold categories or cells are
        missing, else Euclidean.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    labels_ : array of int of shape (n_samples,)
        The cluster of every row of `fit`, -1 for noise.
    strengths_ : array of shape (n_samples,)
        How deep in its cluster a row is, from 0 (noise) to 1; 1 for all rows of a cluster with
        `eps`.
    core_distances_ : array of shape (n_samples,)
        The distance within which a row has `min_samples` rows.
    n_clusters_ : int
        The number of clusters.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster.
    heights_ : array of shape (n_clusters,)
        The distance at which every cluster is split from the others (`eps`, if given): rows farther
        from it are noise.
    stabilities_ : array of shape (n_clusters,)
        How long every cluster persists, in units of weight over distance; NaN with `eps`.
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
    schema_ : Schema
        The columns that were learned from.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if they have names.

    See Also
    --------
    AgglomerativeClustering : trees under other linkages.
    KMeans : for clusters around centers.

    References
    ----------
    Ester, M., Kriegel, H.-P., Sander, J. and Xu, X. (1996). A density-based algorithm for
    discovering clusters in large spatial databases with noise. KDD. Campello, R. J. G. B., Moulavi,
    D. and Sander, J. (2013). Density-based clustering based on hierarchical density estimates.
    PAKDD.

    Examples
    --------
    >>> from lyceum.cluster import DensityClusters
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [20.0]]
    >>> DensityClusters(eps=0.5, min_samples=2).fit(rows).labels_.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    >>> DensityClusters(min_samples=2, min_cluster_size=3).fit(rows).labels_.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """

    _parameter_constraints: ClassVar[dict] = {
        "eps": [Interval(Real, 0, None, closed="neither"), None],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "min_cluster_size": [Interval(Integral, 2, None, closed="left"), None],
        "selection": [StrOptions({"stability", "leaves"})],
        "allow_single": ["boolean"],
        "metric": METRICS,
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        eps: float | None = None,
        *,
        min_samples: int = 5,
        min_cluster_size: int | None = None,
        selection: str = "stability",
        allow_single: bool = False,
        metric: Any = "auto",
        n_jobs: int | None = None,
        categorical_features: Any = "from_dtype",
    ):
        self.eps = eps
        self.min_samples = min_samples
        self.min_cluster_size = min_cluster_size
        self.selection = selection
        self.allow_single = allow_single
        self.metric = metric
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._metric_rows(X, sample_weight)
        block = rows.in_one_block(type(self).__name__, "KMeans or KMedoids")
        weighted = np.flatnonzero(block.weights > 0)
        if len(weighted) < 2:
            raise DataError(
                f"n_samples={len(weighted)} with a weight: {type(self).__name__} needs at least 2"
                " rows"
            )
        block, used = self._used_rows(block, weighted)
        self._label_all(block, weighted, self._learn(used, weighted))
        return self

    def _learn(
        self, block: Block, weighted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Learn from rows with a weight; returns their labels, strengths and core distances."""
        w = block.weights
        D = None
        if self._is_precomputed or sparse.issparse(block.X):
            D = np.array(
                block.X if self._is_precomputed else self._distances(block.X), dtype=np.float64
            )
        core = _core_distances(block.X, D, w, self.min_samples, self.metric_)
        self.linkage_ = self._tree(block.X, D, core, w)
        found = self._cut(self.linkage_, block.X, D, core, w)
        labels = found.labels
        inside = labels >= 0
        # numbered by the first of their rows in the order of the cells, which is no matter of the
        # row numbers
        k = int(labels.max()) + 1
        ranks = canonical_ranks(block.X)
        least = np.full(k, np.iinfo(np.int64).max)
        np.minimum.at(least, labels[inside], ranks[inside])
        order = np.argsort(least, kind="stable")
        number = np.argsort(order, kind="stable")
        labels = np.where(inside, number[labels] if k else -1, -1)
        self.n_clusters_ = k
        self.heights_ = found.heights[order]
        self.stabilities_ = found.stabilities[order]
        self.counts_ = np.bincount(labels[inside], w[inside], k)
        limit = np.append(self.heights_, 0.0)[labels]
        stored = np.flatnonzero(inside & (core <= limit * (1 + 1e-12)))
        stored = stored[np.argsort(ranks[stored], kind="stable")]
        width = np.empty((len(stored), 0))
        if self._is_precomputed:
            self.rows_ = width
        else:
            self.rows_ = block.X[stored]
        self.row_labels_ = labels[stored]
        self.row_cores_ = core[stored]
        self.row_numbers_ = weighted[stored]
        return labels, found.strengths, core

    def _tree(self, X: Any, D: np.ndarray | None, core: np.ndarray, w: np.ndarray) -> np.ndarray:
        if D is not None:
            reach = np.maximum(D, np.maximum(core[:, None], core))
            return link_distances(reach[np.triu_indices(len(D), 1)], len(D), "single", w)
        points = np.ascontiguousarray(
            self.metric_.points(np.ascontiguousarray(X)), dtype=np.float64
        )
        raw = np.ascontiguousarray(self.metric_.raw(core, points.shape[1]))  # type: ignore[arg-type]
        a, b, heights = spanning_tree(points, self.metric_, raw)
        heights = finite_distances(self.metric_.distances(heights, points.shape[1]), self.metric_)
        return link_edges(a, b, heights, w)

    def _cut(
        self, merges: np.ndarray, X: Any, D: np.ndarray | None, core: np.ndarray, w: np.ndarray
    ) -> Branches:
        if self.eps is None:
            smallest = self.min_cluster_size or max(5, self.min_samples)
            return branches(merges, w, smallest, self.selection == "leaves", self.allow_single)
        eps = float(self.eps)
        groups = cut_merges(merges, merges[:, 2] <= eps * (1 + 1e-12))
        is_core = core <= eps * (1 + 1e-12)
        labels = np.full(len(core), -1)
        labels[is_core] = np.unique(groups[is_core], return_inverse=True)[1]
        border = np.flatnonzero(~is_core)
        if len(border) and is_core.any():
            if D is None:
                found = nearest(X[border], 1, among=X[is_core], metric=self.metric_)
                near = found.distances[:, 0]
                place = found.rows[:, 0]
            else:
                place = D[np.ix_(border, is_core)].argmin(axis=1)
                near = D[np.ix_(border, is_core)].min(axis=1)
            labels[border] = np.where(near <= eps, labels[is_core][place], -1)
        k = int(labels.max()) + 1
        return Branches(labels, (labels >= 0).astype(float), np.full(k, eps), np.full(k, np.nan))

    def _label_all(self, block: Block, weighted: np.ndarray, found: tuple[np.ndarray, ...]) -> None:
        n = len(block)
        self.labels_ = np.full(n, -1)
        self.strengths_ = np.zeros(n)
        self.core_distances_ = np.full(n, np.nan)
        self.labels_[weighted], self.strengths_[weighted], self.core_distances_[weighted] = found
        rest = np.setdiff1d(np.arange(n), weighted)
        if len(rest) and not self._is_precomputed:
            self.labels_[rest] = self._nearest(block.take(rest))

    # -- use ---------------------------------------------------------------------------

    def _nearest(self, block: Block) -> np.ndarray:
        if not len(self.row_labels_) or not len(block):
            return np.full(len(block), -1)
        if self._is_precomputed:
            D = self._given_distances(block, square=False)[:, self.row_numbers_]
            near = D.min(axis=1)
            place = D.argmin(axis=1)
        else:
            found = nearest(block.X, 1, among=self.rows_, metric=self.metric_)
            near = found.distances[:, 0]
            place = found.rows[:, 0]
        labels = self.row_labels_[place]
        if self.eps is not None:
            reach = near
        else:
            reach = np.maximum(near, self.row_cores_[place])
        return np.where(reach <= self.heights_[labels] * (1 + 1e-12), labels, -1)

    def predict(self, X: Any) -> Any:
        """The cluster of every row: that of the nearest core row, or -1 (noise) if it is too far
        away.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest, X)

    @available_if(adds_up)
    def explain(self, X: Any) -> ClusterExplanation:
        """Why a row is in its cluster, or noise: what every column adds, and the core rows near it.

        The score says how much farther the next choice is: the distance to the nearest core row of
        another cluster minus that to the nearest of its own; for noise, the distance to the nearest
        core row minus the height of its cluster (the base), beyond which rows are noise. Distances
        are squared if Euclidean. With one cluster the contributions of its rows are zero. There is
        none for metrics that are no sums over columns (Chebyshev, Minkowski, Mahalanobis,
        correlation, Jaccard, distances that were given).

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        ClusterExplanation
            With the three core rows of its cluster nearest to every row, `members`, numbered among
            the rows of `fit`, and their `distances`; none for noise.
        """
        check_is_fitted(self)
        if self.metric_.name == "euclidean":
            what = "squared distance"
        else:
            what = "distance"
        unit = f"{what} to the next cluster minus that to its own, or to where it ends"
        return explain_members(self, X, self._margins, unit, (self.row_labels_, self.row_numbers_))

    def _margins(self, block: Block) -> np.ndarray:
        X = np.asarray(block.dense, dtype=np.float64)
        labels = self._nearest(block)
        base = np.zeros(len(X))
        terms = np.zeros(X.shape)
        stored = dense_rows(self.rows_)
        if not len(stored) or not len(X):
            return np.column_stack([labels, base, terms])
        place = nearest(X, 1, among=stored, metric=self.metric_).rows[:, 0]
        to_own = column_terms(self.metric_, X, stored[place])
        noise = labels < 0
        ends = self.heights_[self.row_labels_[place[noise]]]
        base[noise] = -(ends**2 if self.metric_.name == "euclidean" else ends)
        terms[noise] = to_own[noise]
        for c in np.unique(labels[~noise]) if self.n_clusters_ > 1 else ():
            here = np.flatnonzero(labels == c)
            others = stored[self.row_labels_ != c]
            found = nearest(X[here], 1, among=others, metric=self.metric_).rows[:, 0]
            terms[here] = column_terms(self.metric_, X[here], others[found]) - to_own[here]
        return np.column_stack([labels, base, terms])

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """How many clusters and how much noise; the weight, height and stability of every
        cluster."""
        check_is_fitted(self)
        facts = {
            "clusters": self.n_clusters_,
            "metric": "precomputed" if self._is_precomputed else self.metric_.name,
            "rows": len(self.labels_),
            "noise": float(np.mean(self.labels_ < 0)),
            "smallest core distance": float(np.nanmin(self.core_distances_)),
            "median core distance": float(np.nanmedian(self.core_distances_)),
        }
        if self.eps is not None:
            facts["eps"] = self.eps
        rows = list(zip(range(self.n_clusters_), self.counts_, self.heights_, self.stabilities_))
        head = ("cluster", "weight", "split off at", "stability")
        return Summary(self._title(), facts, [Table("Clusters", head, rows)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.row_labels_)
        k = self.n_clusters_
        shapes: dict[str, tuple[int, ...]] = {
            "row_labels_": (m,),
            "row_numbers_": (m,),
            "row_cores_": (m,),
            "heights_": (k,),
            "counts_": (k,),
        }
        if not sparse.issparse(self.rows_):
            shapes["rows_"] = (m, 0 if self._is_precomputed else len(self.design_names))
        return shapes

    _nan_means_none = True


def _core_distances(
    X: Any, D: np.ndarray | None, w: np.ndarray, min_samples: int, metric: Any
) -> np.ndarray:
    """The least distance within which the weight of all rows, the row itself counted, is
    `min_samples`."""
    n = len(w)
    core = np.zeros(n)
    open_ = np.flatnonzero(w < min_samples)
    if D is None:
        index = NeighborIndex(X, metric=metric)
    else:
        index = None
    k = min(n - 1, max(1, min_samples - 1))
    while len(open_):
        if index is not None:
            found = index.nearest(None, k)
            near = found.distances[open_]
            rows = found.rows[open_]
        else:
            assert D is not None
            others = D[open_].copy()
            others[np.arange(len(open_)), open_] = np.inf
            rows = np.argsort(others, axis=1, kind="stable")[:, :k]
            near = np.take_along_axis(others, rows, axis=1)
        total = w[open_][:, None] + np.cumsum(w[rows], axis=1)
        enough = total >= min_samples * (1 - 1e-12)
        place = np.where(enough.any(axis=1), enough.argmax(axis=1), k - 1)
        core[open_] = near[np.arange(len(open_)), place]
        if k == n - 1:
            core[open_[~enough.any(axis=1)]] = np.inf  # there are fewer rows
            break
        open_ = open_[~enough.any(axis=1)]
        k = min(n - 1, 4 * k)
    return core
