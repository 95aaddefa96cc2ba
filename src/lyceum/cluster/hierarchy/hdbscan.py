"""HDBSCAN: clusters of the tree of mutual reachability that persist over many densities."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.clustering import METRICS
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.types import Categories, Data
from lyceum.cluster.hierarchy.density import DenseClusters, DensityLearner


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
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Which clusters of the hierarchy: those of the largest stability ("excess of mass"), or the
        smallest ones at the ends of the tree.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster.

    Attributes
    ----------
    labels_ : array of int of shape (n_samples,)
        The cluster of every row of `fit`, -1 for noise.
    probabilities_ : array of shape (n_samples,)
        How deep in its cluster a row is, from 0 (noise) to 1: 1 over the distance at which it
        leaves the cluster, in units of the largest such value before the cluster ends.
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
    hierarchical density estimates. PAKDD.

    Examples
    --------
    >>> from lyceum.cluster import HDBSCAN
    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [20.0]]
    >>> HDBSCAN(min_cluster_size=3, min_samples=2).fit(rows).labels_.tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """

    _parameter_constraints: ClassVar[dict] = {
        "min_cluster_size": [Interval(Integral, 2, None, closed="left")],
        "min_samples": [Interval(Integral, 1, None, closed="left"), None],
        "cluster_selection_method": [StrOptions({"eom", "leaf"})],
        "allow_single_cluster": ["boolean"],
        "metric": METRICS,
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        *,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        metric: object = "auto",
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.metric = metric
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    @property
    def _n_core(self) -> int:
        return self.min_samples or self.min_cluster_size

    def _cut(
        self,
        X: Data,
        D: np.ndarray | None,
        core: np.ndarray,
        w: np.ndarray,
    ) -> DenseClusters:
        return persistent_clusters(
            self.linkage_,
            w,
            self.min_cluster_size,
            leaves=self.cluster_selection_method == "leaf",
            single=self.allow_single_cluster,
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

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return super()._shapes() | {"stabilities_": (self.n_clusters_,)}


# -- the choice of clusters ------------------------------------------------------------


def persistent_clusters(
    merges: np.ndarray,
    w: np.ndarray,
    smallest: float,
    leaves: bool,
    single: bool,
) -> DenseClusters:
    """Clusters by excess of mass, or the `leaves` of the tree of clusters (Campello and others
    2013).

    Going down the tree, a merge is a true split if both parts weigh at least `smallest`; otherwise
    rows fall out of a cluster that goes on. A cluster's stability is Σ w (λ of leaving - λ of
    birth), λ = 1 / height. Of a cluster and the clusters inside of it those of the larger stability
    in all are kept.
    """
    # λ = 1 / distance, the density at which a merge comes apart; at distance 0 that of the least
    # distance above 0, in place of infinity
    heights = merges[:, 2]
    floor = heights[heights > 0].min(initial=np.inf)
    if not np.isfinite(floor):
        floor = 1.0
    lam = 1.0 / np.maximum(heights, floor)
    size = np.concatenate([w, merges[:, 3]])
    children = merges[:, :2].astype(np.int64)
    cluster, parents, births = _split_tree(children, size, lam, smallest)
    leaving, node = _leaving_rows(children, size, lam, smallest)
    last = cluster[node]  # the cluster that every row falls out of
    stability = _stabilities(last, leaving, w, parents, births)
    # all rows are one cluster only if they weigh enough, and some of them are dense
    single = single and size[-1] >= smallest and lam.any()
    chosen = np.flatnonzero(_choose_clusters(parents, stability, leaves, single))
    # a cluster ends where its last row leaves, or where it is split
    ends = np.zeros(len(parents))
    np.maximum.at(ends, last, leaving)
    np.maximum.at(ends, parents[1:], births[1:])
    labels, probabilities = _place_rows(chosen, parents, last, leaving, ends[chosen])
    with np.errstate(divide="ignore"):
        heights = 1.0 / births[chosen]
    return DenseClusters(labels, heights, stability[chosen], probabilities)


def _stabilities(
    last: np.ndarray,
    leaving: np.ndarray,
    w: np.ndarray,
    parents: np.ndarray,
    births: np.ndarray,
) -> np.ndarray:
    """Σ w (λ of leaving - λ of birth) of every cluster; its parts leave it where they are born."""
    stability = np.bincount(last, w * (leaving - births[last]), len(parents))
    weight = np.bincount(last, w, len(parents))
    # children have higher numbers, so that each is complete before it is added to its parent
    for c in range(len(parents) - 1, 0, -1):
        parent = parents[c]
        weight[parent] += weight[c]
        stability[parent] += weight[c] * (births[c] - births[parent])
    return stability


def _place_rows(
    chosen: np.ndarray,
    parents: np.ndarray,
    last: np.ndarray,
    leaving: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The chosen cluster of every row, -1 for none, and how deep in it the row is: the λ at which
    it leaves over that at which the cluster ends."""
    # the chosen cluster that every cluster is or lies in, or -1; parents come first
    numbers = np.full(len(parents), -1)
    numbers[chosen] = np.arange(len(chosen))
    for c in range(1, len(parents)):
        if numbers[c] < 0:
            numbers[c] = numbers[parents[c]]
    labels = numbers[last]
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
    leaves: bool,
    single: bool,
) -> np.ndarray:
    """Which clusters are kept; never one inside of another."""
    # From the leaves up: a cluster is better than what is kept inside of it if it is as stable
    # as all of that together. The root counts only where a single cluster is allowed.
    k = len(parents)
    inside = np.zeros(k)  # the stability of what is kept inside of a cluster
    has_children = np.zeros(k, dtype=bool)
    chosen = np.zeros(k, dtype=bool)
    for c in range(k - 1, -1, -1):
        better = not has_children[c]
        if not leaves:
            better = better or stability[c] >= inside[c]
        chosen[c] = better and (c > 0 or single)
        if c:
            inside[parents[c]] += max(stability[c], inside[c])
            has_children[parents[c]] = True
    covered = np.zeros(k, dtype=bool)  # by a kept cluster above
    for c in range(1, k):
        covered[c] = covered[parents[c]] or chosen[parents[c]]
    return chosen & ~covered
