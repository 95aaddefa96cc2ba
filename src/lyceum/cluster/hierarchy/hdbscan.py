"""HDBSCAN: clusters of the tree of mutual reachability that persist over many densities."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.cluster.hierarchy import fcluster
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_n_features, check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.clustering import METRICS, SEARCH_CONSTRAINTS
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows, is_dask
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.hierarchy.density import DenseClusters, DensityLearner
from lyceum.cluster.hierarchy.hdbscan_rows import (
    MISSING,
    check_search,
    given_distances,
    unusable_rows,
)
from lyceum.errors import SettingError


class HDBSCAN(DensityLearner):
    """Clusters of any shape and of different densities, with noise: the hierarchy of DBSCAN.

    The core distance of a row is the least distance within which it has `min_samples` rows, itself
    counted. The distance at which two rows come together is their mutual reachability, max(core_x,
    core_y, d(x, y)), so that the minimum spanning tree under it holds the clusters of DBSCAN for
    every `eps`. Of these, those that persist longest are chosen: no distance has to be known.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The least weight of a cluster.
    min_samples : int or None, default=None
        How many rows, itself counted, must be near a core row; `min_cluster_size` by default. More
        makes clusters smoother.
    cluster_selection_epsilon : float, default=0.0
        Clusters that are split from each other at a smaller distance than this stay together.
    max_cluster_size : int or None, default=None
        The largest weight of a cluster with "eom"; heavier ones give way to those inside of them.
    alpha : float, default=1.0
        Distances are divided by it before they are compared with core distances.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Which clusters of the hierarchy: those of the largest stability ("excess of mass"), or the
        smallest ones at the ends of the tree.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster. Rows of it that fall out at a larger distance than
        `cluster_selection_epsilon` are noise; if that is 0, those that fall out before it ends.
    store_centers : {"centroid", "medoid", "both"} or None, default=None
        Which centers of the clusters are computed, rows counting by their probabilities.

    Attributes
    ----------
    labels_ : array of int of shape (n_samples,)
        The cluster of every row of `fit`, -1 for noise. In rows of numbers, -2 if a cell is
        infinite and -3 if a cell is missing: these are left out, unless metric="gower" compares
        the cells that are there.
    probabilities_ : array of shape (n_samples,)
        How deep in its cluster a row is, from 0 (noise) to 1: 1 over the distance at which it
        leaves the cluster, in units of the largest such value before the cluster ends. NaN for
        rows with missing cells.
    core_distances_ : array of shape (n_samples,)
        The distance within which a row has `min_samples` rows.
    n_clusters_ : int
        The number of clusters.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster.
    heights_ : array of shape (n_clusters,)
        The distance at which every cluster is split from the others: rows farther from it are
        noise.
    stabilities_ : array of shape (n_clusters,)
        How long every cluster persists, in units of weight over distance.
    centroids_ : array of shape (n_clusters, n_columns)
        The means of the clusters, with `store_centers="centroid"` or "both".
    medoids_ : array of shape (n_clusters, n_columns)
        The rows with the least sum of distances, with `store_centers="medoid"` or "both".
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
    DBSCAN : clusters at one density.
    AgglomerativeClustering : trees under other linkages.
    KMeans : for clusters around centers.

    References
    ----------
    Campello, R. J. G. B., Moulavi, D. and Sander, J. (2013). Density-based clustering based on
    hierarchical density estimates. PAKDD. Malzer, C. and Baum, M. (2020). A hybrid approach to
    hierarchical density-based cluster selection. IEEE MFI.

    Examples
    --------
    >>> from lyceum.cluster import HDBSCAN
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [20.0]]
    >>> HDBSCAN(min_cluster_size=3, min_samples=2).fit(rows).labels_.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """

    probabilities_: np.ndarray

    _parameter_constraints: ClassVar[dict] = {
        "min_cluster_size": [Interval(Integral, 2, None, closed="left")],
        "min_samples": [Interval(Integral, 1, None, closed="left"), None],
        "cluster_selection_epsilon": [Interval(Real, 0, None, closed="left")],
        "max_cluster_size": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "cluster_selection_method": [StrOptions({"eom", "leaf"})],
        "allow_single_cluster": ["boolean"],
        "store_centers": [StrOptions({"centroid", "medoid", "both"}), None],
        "copy": ["boolean"],
        "metric": METRICS,
        **SEARCH_CONSTRAINTS,
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: object = "auto",
        metric_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool = False,
        *,
        categorical_features: Categories = "from_dtype",
    ):
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
            With metric="precomputed" the distances of all pairs, infinite where rows are no
            neighbors, or a sparse graph of those that are.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        self._validate_params()
        check_search(self.algorithm, self.metric, X)
        if self._is_precomputed:
            if self.store_centers is not None:
                raise SettingError(
                    "Cannot store centers when using a precomputed distance matrix."
                    f" store_centers={self.store_centers!r} needs rows and a metric"
                )
            return super().fit(given_distances(X), y, sample_weight)
        unusable = self._unusable(X)
        if unusable is None:
            return super().fit(X, y, sample_weight)
        usable = np.flatnonzero(unusable == 0)
        w = sample_weight
        if w is not None:
            w = np.asarray(w)[usable]
        super().fit(_safe_indexing(X, usable), y, w)
        self._spread_over(unusable, usable)
        return self

    def predict(self, X: Data) -> Any:
        """The cluster of every row: that of the nearest core row, or -1 (noise) if it is too far
        away; of rows of numbers -2 and -3 where cells are infinite or missing, as in `labels_`.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
            The rows, (n_samples, n_features).

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        is_lazy = is_dask(X) or isinstance(X, Rows)
        unusable = None if is_lazy else self._unusable(X)
        if unusable is None:
            return super().predict(X)
        _check_n_features(self, X, reset=False)
        usable = np.flatnonzero(unusable == 0)
        if len(usable):
            unusable[usable] = super().predict(_safe_indexing(X, usable))
        return unusable

    def _unusable(self, X: Data) -> np.ndarray | None:
        """The labels of rows that no distance can be measured to; None where all are usable."""
        if self._is_precomputed or self.metric == "gower":
            return None
        return unusable_rows(X)

    def _spread_over(self, unusable: np.ndarray, usable: np.ndarray) -> None:
        """What was learned of the usable rows as attributes of all rows."""
        labels = unusable.copy()
        labels[usable] = self.labels_
        probabilities = np.where(unusable == MISSING, np.nan, 0.0)
        probabilities[usable] = self.probabilities_
        core = np.full(len(unusable), np.nan)
        core[usable] = self.core_distances_
        self.labels_ = labels
        self.probabilities_ = probabilities
        self.core_distances_ = core
        self.row_numbers_ = usable[self.row_numbers_]

    def dbscan_clustering(
        self, cut_distance: float, min_cluster_size: int = 5
    ) -> np.ndarray:
        """The clusters of DBSCAN* at one density, read off the tree: rows that mutual reachability
        of less than a distance connects.

        Parameters
        ----------
        cut_distance : float
            The distance, `eps` of DBSCAN.
        min_cluster_size : int, default=5
            The least number of rows of a cluster; the rows of smaller ones are noise.

        Returns
        -------
        array of int of shape (n_samples,)
            As `labels_`.
        """
        check_is_fitted(self)
        labels = np.where(self.labels_ < -1, self.labels_, -1)
        tree = self.linkage_
        used = np.flatnonzero(np.isfinite(self.core_distances_))
        groups = fcluster(tree, np.nextafter(cut_distance, 0.0), criterion="distance")
        _, first, group, counts = np.unique(
            groups, return_index=True, return_inverse=True, return_counts=True
        )
        large = counts >= min_cluster_size
        order = np.argsort(np.where(large, first, len(group)), kind="stable")
        numbers = np.full(len(counts), -1)
        numbers[order[: large.sum()]] = np.arange(large.sum())
        labels[used] = numbers[group]
        return labels

    @property
    def _n_core(self) -> int:
        return self.min_samples or self.min_cluster_size

    @property
    def _distance_unit(self) -> float:
        return self.alpha

    def _reachability_tree(
        self,
        X: Data,
        D: np.ndarray | None,
        core: np.ndarray,
        w: np.ndarray,
    ) -> np.ndarray:
        # max(core, d / α) = max(α core, d) / α
        merges = super()._reachability_tree(X, D, self.alpha * core, w)
        merges[:, 2] /= self.alpha
        return merges

    def _cut(
        self,
        X: Data,
        D: np.ndarray | None,
        core: np.ndarray,
        w: np.ndarray,
    ) -> DenseClusters:
        most = max(len(w), w.sum())
        if (self.min_samples or 0) > most:
            raise SettingError(
                f"min_samples ({self.min_samples}) must be at most the number of samples in"
                f" X ({most:g}): no row has so many near it"
            )
        return persistent_clusters(
            self.linkage_,
            w,
            self.min_cluster_size,
            leaves=self.cluster_selection_method == "leaf",
            single=self.allow_single_cluster,
            largest=self.max_cluster_size or np.inf,
            together=self.cluster_selection_epsilon,
        )

    def _label_all(
        self,
        block: Block,
        weighted: np.ndarray,
        core: np.ndarray,
        clusters: DenseClusters,
    ) -> None:
        super()._label_all(block, weighted, core, clusters)
        self.stabilities_ = clusters.stabilities
        self.probabilities_ = np.zeros(len(block))
        self.probabilities_[weighted] = clusters.probabilities
        if self.store_centers is None:
            return
        used = block.take(weighted)
        cells = np.asarray(used.dense, dtype=np.float64)
        # how much every row counts for the center of its cluster
        strength = clusters.probabilities * used.weights
        centroids = []
        medoids = []
        for cluster in range(self.n_clusters_):
            members = np.flatnonzero(clusters.labels == cluster)
            share = strength[members]
            rows = cells[members]
            if self.store_centers != "medoid":
                centroids.append(np.average(rows, axis=0, weights=share))
            if self.store_centers != "centroid":
                sums = self._distances(rows) @ share
                medoids.append(rows[np.argmin(sums)])
        shape = (self.n_clusters_, cells.shape[1])
        if self.store_centers != "medoid":
            self.centroids_ = np.reshape(centroids, shape)
        if self.store_centers != "centroid":
            self.medoids_ = np.reshape(medoids, shape)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return super()._shapes() | {"stabilities_": (self.n_clusters_,)}


# -- the choice of clusters ------------------------------------------------------------


def persistent_clusters(
    merges: np.ndarray,
    w: np.ndarray,
    smallest: float,
    leaves: bool,
    single: bool,
    largest: float = np.inf,
    together: float = 0.0,
) -> DenseClusters:
    """Clusters by excess of mass, or the `leaves` of the tree of clusters (Campello and others
    2013).

    Going down the tree, a merge is a true split if both parts weigh at least `smallest`; otherwise
    rows fall out of a cluster that goes on. A cluster's stability is Σ w (λ of leaving - λ of
    birth), λ = 1 / height. Of a cluster and the clusters inside of it those of the larger stability
    in all are kept, among those that weigh at most `largest`. Clusters that come apart at less than
    the distance `together` are left as one (Malzer and Baum 2020).
    """
    lam = densities(merges[:, 2])
    size = np.concatenate([w, merges[:, 3]])
    children = merges[:, :2].astype(np.int64)
    cluster, parents, births = _split_tree(children, size, lam, smallest)
    leaving, node = _leaving_rows(children, size, lam, smallest)
    last = cluster[node]  # the cluster that every row falls out of
    stability, weight = _stabilities(last, leaving, w, parents, births)
    # all rows are one cluster only if they weigh enough, and some of them are dense
    single = bool(single and size[-1] >= smallest and lam.any())
    kept = _choose_clusters(parents, stability, weight <= largest, leaves, single)
    chosen = np.flatnonzero(_rise(kept, parents, births, together, single))
    # a cluster ends where its last row leaves, or where it is split
    ends = np.zeros(len(parents))
    np.maximum.at(ends, last, leaving)
    np.maximum.at(ends, parents[1:], births[1:])
    starts = births[chosen]
    if chosen.tolist() == [0]:
        # all rows are below the root: those that fall out of it early are noise
        starts = ends[:1] if together == 0 else np.array([1.0 / together])
    labels, probabilities = _place_rows(
        chosen, parents, last, leaving, starts, ends[chosen]
    )
    with np.errstate(divide="ignore"):
        heights = 1.0 / starts
    return DenseClusters(labels, heights, stability[chosen], probabilities)


def densities(heights: np.ndarray) -> np.ndarray:
    """λ = 1 / distance, the density at which a merge comes apart; at distance 0 that of the least
    distance above 0, in place of infinity."""
    floor = heights[heights > 0].min(initial=np.inf)
    if not np.isfinite(floor):
        floor = 1.0
    return 1.0 / np.maximum(heights, floor)


def _stabilities(
    last: np.ndarray,
    leaving: np.ndarray,
    w: np.ndarray,
    parents: np.ndarray,
    births: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Σ w (λ of leaving - λ of birth) of every cluster, and Σ w; its parts leave it where they are
    born."""
    stability = np.bincount(last, w * (leaving - births[last]), len(parents))
    weight = np.bincount(last, w, len(parents))
    # children have higher numbers, so that each is complete before it is added to its parent
    for c in range(len(parents) - 1, 0, -1):
        parent = parents[c]
        weight[parent] += weight[c]
        stability[parent] += weight[c] * (births[c] - births[parent])
    return stability, weight


def _place_rows(
    chosen: np.ndarray,
    parents: np.ndarray,
    last: np.ndarray,
    leaving: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The chosen cluster of every row, -1 for none or if it leaves before the cluster starts, and
    how deep in it the row is: the λ at which it leaves over that at which the cluster ends."""
    # the chosen cluster that every cluster is or lies in, or -1; parents come first
    numbers = np.full(len(parents), -1)
    numbers[chosen] = np.arange(len(chosen))
    for c in range(1, len(parents)):
        if numbers[c] < 0:
            numbers[c] = numbers[parents[c]]
    labels = numbers[last]
    labels[leaving < np.append(starts, 0.0)[labels]] = -1
    inside = labels >= 0
    end = ends[labels[inside]]
    probabilities = np.zeros(len(labels))
    probabilities[inside] = np.minimum(leaving[inside], end) / end
    return labels, probabilities


def _split_tree(
    children: np.ndarray,
    size: np.ndarray,
    lam: np.ndarray,
    smallest: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cluster of every node that weighs enough, and the parents and births of clusters."""
    # From the root down: a merge of two large parts is a split into two new clusters; where a
    # part is too small its rows fall out, and the other part goes on as the same cluster.
    n = len(children) + 1
    parents = [-1]
    births = [0.0]
    large = (size >= smallest).tolist()
    pairs = children.tolist()
    values = lam.tolist()
    cluster = [0] * (2 * n - 1)
    for t in range(n - 2, -1, -1):
        if not large[n + t]:
            continue
        left, right = pairs[t]
        parent = cluster[n + t]
        if large[left] and large[right]:
            for part in (left, right):
                cluster[part] = len(parents)
                parents.append(parent)
                births.append(values[t])
        else:
            cluster[left] = parent
            cluster[right] = parent
    return np.array(cluster), np.array(parents), np.array(births)


def _leaving_rows(
    children: np.ndarray,
    size: np.ndarray,
    lam: np.ndarray,
    smallest: float,
) -> tuple[np.ndarray, np.ndarray]:
    """When every row leaves its cluster, and the node that it leaves it at: the lowest that weighs
    enough."""
    # all rows climb at once, one merge per turn, until their node is large enough
    n = len(children) + 1
    root = 2 * n - 2
    # the node above every node; the root is above itself
    above = np.full(root + 1, root)
    above[children.ravel()] = np.repeat(np.arange(n, root + 1), 2)
    node = np.arange(n)
    small = (size[node] < smallest) & (node < root)
    while small.any():
        node = np.where(small, above[node], node)
        small = (size[node] < smallest) & (node < root)
    # a row that is large enough alone stays to the end
    leaving = np.full(n, lam.max(initial=0.0))
    inner = node >= n
    leaving[inner] = lam[node[inner] - n]
    return leaving, node


def _choose_clusters(
    parents: np.ndarray,
    stability: np.ndarray,
    fits: np.ndarray,
    leaves: bool,
    single: bool,
) -> np.ndarray:
    """Which clusters are kept; never one inside of another, nor, by stability, one too heavy."""
    # From the leaves up: a cluster is better than what is kept inside of it if it is as stable
    # as all of that together. The root counts only where a single cluster is allowed.
    k = len(parents)
    inside = np.zeros(k)  # the stability of what is kept inside of a cluster
    has_children = np.zeros(k, dtype=bool)
    chosen = np.zeros(k, dtype=bool)
    for c in range(k - 1, -1, -1):
        better = not has_children[c]
        if not leaves:
            better = fits[c] and (better or stability[c] >= inside[c])
        chosen[c] = better and (c > 0 or single)
        if c:
            inside[parents[c]] += stability[c] if better else inside[c]
            has_children[parents[c]] = True
    return _outermost(chosen, parents)


def _outermost(chosen: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """The chosen clusters that are not inside of another chosen one."""
    covered = np.zeros(len(parents), dtype=bool)
    for c in range(1, len(parents)):
        covered[c] = covered[parents[c]] or chosen[parents[c]]
    return chosen & ~covered


def _rise(
    chosen: np.ndarray,
    parents: np.ndarray,
    births: np.ndarray,
    together: float,
    single: bool,
) -> np.ndarray:
    """In place of clusters that are born below a distance the first above them that is not."""
    risen = np.zeros(len(parents), dtype=bool)
    for c in np.flatnonzero(chosen):
        # births are λ = 1 / distance
        while c and births[c] * together > 1.0:
            if parents[c] == 0 and not single:
                break
            c = parents[c]
        risen[c] = True
    return _outermost(risen, parents)
