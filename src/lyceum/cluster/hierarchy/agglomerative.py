"""Agglomerative clustering: the closest clusters are merged, one pair after another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, NewColumns
from lyceum._core.clustering import METRICS, MetricLearner
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.cluster_distances import (
    clusters_in_order,
    distances_to_clusters,
    labels_in_order,
)
from lyceum.cluster.explanations import (
    TreeExplanation,
    adds_up,
    explain_members,
    linkage_unit,
    margins_of_linkage,
)
from lyceum.cluster.hierarchy.constrained import checked_graph, link_neighbors
from lyceum.cluster.hierarchy.linkage import (
    LINKAGES,
    cut_inconsistent,
    cut_merges,
    link_distances,
    link_rows,
    merge_members,
)
from lyceum.cluster.kmeans.initial_centers import canonical_ranks
from lyceum.errors import DataError, SettingError
from lyceum.report import Summary, Table

_BY_SIZE = {"weighted": "average", "median": "centroid"}
# merges in the summary: all if they are few, else the last
_FEW_MERGES = 20
_LAST_MERGES = 11
_FEW_ROWS = 10  # of a merge that are listed by their numbers


class AgglomerativeClustering(
    ClassNamePrefixFeaturesOutMixin, NewColumns, ClusterMixin, MetricLearner
):
    """Agglomerative clustering: a tree of all rows, made by always merging the two closest
    clusters.

    How far apart two clusters are is what the linkage says:

    =========  ==============================================================================
    single     the least distance of a row of one and a row of the other
    complete   the largest distance
    average    the mean distance (UPGMA)
    weighted   the mean of the distances of the two parts it was made of, whatever their sizes
               (WPGMA)
    centroid   the distance of their means; heights may fall from a merge to the next (UPGMC)
    median     the distance of their centers, where the center of a merged cluster is midway
               between those of its parts; heights may fall (WPGMC)
    ward       how much the sum of squares grows: sqrt(2 na nb / (na + nb)) |mean_a - mean_b|
    =========  ==============================================================================

    Single linkage is read off the minimum spanning tree, Ward's and centroid linkage off the means
    of clusters: without the distances of all pairs. The others hold them once, as half a matrix (8
    n² / 2 bytes). Centroid and Ward's linkage of distances that are not Euclidean do so too, and go
    by Lance and Williams's formula, as median linkage always does.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Cut the tree into this many clusters.
    linkage : {"single", "complete", "average", "weighted", "centroid", "median", "ward"}, \
default="ward"
        The distance of two clusters.
    connectivity : array, sparse array, function of the rows, or None, default=None
        Which rows are neighbors, of shape (n_samples, n_samples), as
        `sklearn.neighbors.kneighbors_graph` gives it: only clusters that an edge joins are merged,
        and heights may fall. Parts of the graph are joined by their closest rows.
    distance_threshold : float or None, default=None
        Cut the tree at this height instead: clusters at this distance or farther are not merged;
        `n_clusters` must be None.
    inconsistency : float or None, default=None
        Cut the tree above merges that are no more inconsistent than this, where the inconsistency
        of a merge is (height - mean) / standard deviation over the merges within
        `inconsistency_depth` levels;
        `n_clusters` must be None.
    inconsistency_depth : int, default=2
        The levels over which inconsistency is taken.

    Attributes
    ----------
    linkage_ : array of shape (n - 1, 4)
        The merges of the n rows with a weight, as SciPy has them: the numbers of two clusters, the
        height, and the weight of both. Clusters below n are single rows; merge t makes cluster n +
        t.
    labels_ : array of int of shape (n_samples,)
        The cluster of every row of `fit`; of a row of weight zero the one that `predict` gives.
    children_ : array of int of shape (n - 1, 2)
        The two clusters of every merge, as `linkage_` numbers them.
    distances_ : array of shape (n - 1,)
        The height of every merge.
    n_leaves_ : int
        The number n of rows with a weight.
    n_clusters_ : int
        The number of clusters.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster.
    rows_ : array of shape (n, n_columns)
        The rows with a weight, in order of their clusters, as the metric compares them; without
        columns if distances were given.
    weights_ : array of shape (n,)
        Their weights.
    starts_ : array of int of shape (n_clusters + 1,)
        Where every cluster starts among `rows_`, and the end.
    order_ : array of int of shape (n,)
        The number of every row of `rows_` among the rows with a weight.
    metric_ : Metric
        The metric in use, with what it learned.

    See Also
    --------
    DivisiveClustering : from one cluster downwards.
    DBSCAN, HDBSCAN : clusters of any shape, with noise.
    KMeans : for rows that do not fit into memory.
    lyceum.plot.dendrogram : the tree as a picture.

    References
    ----------
    Müllner, D. (2011). Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
    Murtagh, F. (1983). A survey of recent advances in hierarchical clustering algorithms. The
    Computer Journal 26(4). March, W. B., Ram, P. and Gray, A. G. (2010). Fast Euclidean minimum
    spanning tree. KDD.

    Examples
    --------
    >>> from lyceum.cluster import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2, linkage="average").fit([[0.0], [1.0], [7.0], [9.0]])
    >>> model.labels_.tolist(), model.linkage_[:, 2].tolist()
    ([0, 0, 1, 1], [1.0, 2.0, 7.5])
    """

    _step_kind = StepKind(
        "merge",
        (
            StepColumn("height", "height", "the distance of the two clusters"),
            StepColumn("one", "one", "the rows of one cluster", unit="row numbers"),
            StepColumn("other", "other", "the rows of the other", unit="row numbers"),
            StepColumn("clusters", "clusters", "clusters that are left"),
        ),
    )
    _without_effect: ClassVar[dict[str, str]] = {
        "memory": "another cut of the same tree is `cut`, without another fit",
        "compute_full_tree": "the tree is always built in full",
        "compute_distances": "the heights of merges are always there",
    }
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": METRICS,
        "memory": [str, HasMethods("cache"), None],
        "connectivity": ["array-like", "sparse matrix", callable, None],
        "compute_full_tree": [StrOptions({"auto"}), "boolean"],
        "compute_distances": ["boolean"],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "inconsistency": [Interval(Real, 0, None, closed="left"), None],
        "inconsistency_depth": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: object = "auto",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: bool | str = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        inconsistency: float | None = None,
        inconsistency_depth: int = 2,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.inconsistency = inconsistency
        self.inconsistency_depth = inconsistency_depth
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Build the tree of the rows of X, and cut it.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        self._check_cut()
        rows = self._metric_rows(X, sample_weight)
        block = rows.in_one_block(type(self).__name__, "KMeans or KMedoids")
        weighted = np.flatnonzero(block.weights > 0)
        fewest = max(2, self.n_clusters or 0)
        if len(weighted) < fewest:
            raise DataError(
                f"n_samples={len(weighted)} with a weight: {type(self).__name__} needs at least "
                f"{fewest} rows"
            )
        used = block
        # zero-weight rows are no part of the tree; they are labeled afterwards
        if len(weighted) < len(block):
            used = block.take(weighted)
        self._learn(used, self._tree(used, weighted, len(block)))
        self.labels_ = labels_in_order(
            self.order_, self.starts_, block, weighted, self._nearest
        )
        return self

    def _check_cut(self) -> None:
        names = ("n_clusters", "distance_threshold", "inconsistency")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            raise SettingError(
                "Exactly one of n_clusters, distance_threshold and inconsistency says where the"
                f" tree is cut, the others must be None; given are {', '.join(given) or 'none'}"
            )
        if self.distance_threshold is not None and not self.compute_full_tree:
            raise SettingError(
                "compute_full_tree must be True if distance_threshold is set"
            )

    def _tree(self, block: Block, weighted: np.ndarray, n_rows: int) -> np.ndarray:
        w = block.w
        # weights that are all 1 are none
        if w is not None and (w == 1.0).all():
            w = None
        if self.connectivity is not None:
            return self._tree_of_neighbors(block, weighted, n_rows)
        if not self._is_precomputed:
            return link_rows(block.X, self.linkage, self.metric_, w)
        n_used = len(weighted)
        square = block.X.shape[1] == n_used or n_used == len(block)
        D = self._given_distances(block, square=square)
        if D.shape[1] != len(weighted):
            raise DataError(
                "rows of weight zero cannot be left out of distances that were given"
            )
        condensed = D[np.triu_indices(len(D), 1)]
        return link_distances(condensed, len(D), self.linkage, w)

    def _tree_of_neighbors(
        self, block: Block, weighted: np.ndarray, n_rows: int
    ) -> np.ndarray:
        if callable(self.connectivity):
            graph = checked_graph(self.connectivity(block.X), len(block))
        else:
            graph = checked_graph(self.connectivity, n_rows)
            if n_rows > len(weighted):
                graph = graph[weighted][:, weighted]
        if not self._is_precomputed:
            return link_neighbors(
                block.X, graph, self.linkage, self.metric_, block.weights
            )
        D = self._given_distances(block)
        return link_neighbors(D, graph, self.linkage, None, block.weights)

    def _learn(self, block: Block, merges: np.ndarray) -> None:
        # numbered by the first of their rows in the order of the cells, which is no matter of the
        # row numbers
        ranks = canonical_ranks(block.X)
        labels = _in_order(self._cut(merges), ranks)
        self.linkage_ = merges
        self.n_clusters_ = int(labels.max()) + 1
        self.order_ = np.lexsort((ranks, labels))
        self.rows_ = block.X[self.order_]
        if not sparse.issparse(self.rows_):
            self.rows_ = np.ascontiguousarray(self.rows_)
        self.weights_ = block.weights[self.order_]
        self.starts_ = np.searchsorted(
            labels[self.order_], np.arange(self.n_clusters_ + 1)
        )
        self.counts_ = np.bincount(labels, block.weights, self.n_clusters_)

    def _cut(self, merges: np.ndarray) -> np.ndarray:
        if self.inconsistency is not None:
            return cut_inconsistent(
                merges, self.inconsistency, self.inconsistency_depth
            )
        if self.distance_threshold is not None:
            # a centroid linkage may merge below an earlier merge, which must stay merged
            heights = np.maximum.accumulate(merges[:, 2])
            return cut_merges(merges, heights < self.distance_threshold)
        assert self.n_clusters is not None
        # n - k of the n - 1 merges leave k clusters
        n_merged = len(merges) + 1 - self.n_clusters
        return cut_merges(merges, np.arange(len(merges)) < n_merged)

    def cut(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        inconsistency: float | None = None,
    ) -> np.ndarray:
        """The clusters of another cut of the same tree, without another fit.

        Parameters
        ----------
        n_clusters : int or None, default=None
            Cut the tree into this many clusters,
        distance_threshold : float or None, default=None
            or at this height,
        inconsistency : float or None, default=None
            or above merges that are no more inconsistent than this; one of the three must be given.

        Returns
        -------
        array of int of shape (n_leaves,)
            The cluster of every row with a weight.

        Examples
        --------
        >>> from lyceum.cluster import AgglomerativeClustering
        >>> model = AgglomerativeClustering(2, linkage="single").fit([[0.0], [1.0], [4.0], [9.0]])
        >>> model.cut(3).tolist(), model.cut(distance_threshold=4.0).tolist()
        ([0, 0, 1, 2], [0, 0, 0, 1])
        """
        check_is_fitted(self)
        other = clone(self).set_params(
            n_clusters=n_clusters,
            distance_threshold=distance_threshold,
            inconsistency=inconsistency,
        )
        other._validate_params()
        other._check_cut()
        if n_clusters is not None and n_clusters > self.n_leaves_:
            raise SettingError(
                f"n_clusters={n_clusters}, but the tree has {self.n_leaves_} rows"
            )
        indices = np.argsort(self.order_, kind="stable")
        # given distances are not kept: their clusters are numbered in the order of `labels_`
        ranks = indices
        if not self._is_precomputed:
            ranks = canonical_ranks(self.rows_[indices])
        return _in_order(other._cut(self.linkage_), ranks)

    # -- use ---------------------------------------------------------------------------

    def _to_clusters(self, block: Block) -> np.ndarray:
        if self._is_precomputed:
            D = self._given_distances(block, square=False)[:, self.order_]
            return distances_to_clusters(None, self, self._rule_of_rows, D)
        return distances_to_clusters(block.X, self, self._rule_of_rows)

    @property
    def _rule_of_rows(self) -> str:
        """The linkage by which further rows are compared with clusters, whose parts count by their
        sizes."""
        return _BY_SIZE.get(self.linkage, self.linkage)

    def _nearest(self, block: Block) -> np.ndarray:
        return self._to_clusters(block).argmin(axis=1)

    def predict(self, X: Data) -> Any:
        """The cluster nearest to every row, in the sense of the linkage; it may differ from
        `labels_`.

        Nearest is by the least distance for single linkage, the largest for complete, the mean for
        average and weighted, and the distance to the mean for centroid, median and Ward (for other
        metrics than the Euclidean, the mean distance).

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest, X)

    def transform(self, X: Data) -> Any:
        """The distance of every row to every cluster, as `predict` takes it.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_clusters)
        """
        return self._in_new_columns(self._to_clusters, X)

    @available_if(adds_up)
    def explain(self, X: Data) -> TreeExplanation:
        """Why a row is nearest to its cluster: what every column adds to the difference, and near
        members.

        The score is the distance to the second nearest cluster minus that to the nearest, as
        `transform` has them; of squared distances for the Euclidean metric, except for average
        linkage, where a distance is laid to the columns by their shares of its square. Like
        `predict` it may put a row of `fit` elsewhere than `labels_`. There is none for metrics that
        are no sums over columns (Chebyshev, Minkowski, Mahalanobis, correlation, Jaccard, distances
        that were given).

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        TreeExplanation
            With the three `members` of its cluster nearest to every row, numbered among the rows
            with a weight, and their `distances`; `merges(i)` is the way of row i up the tree, with
            the heights.
        """
        check_is_fitted(self)
        # where a linkage has no means to compare with, rows go by their mean distances
        linkage = self._rule_of_rows
        if linkage in ("centroid", "ward") and self.metric_.name != "euclidean":
            linkage = "average"
        clusters = clusters_in_order(self.starts_)
        unit = linkage_unit(self.metric_, linkage)
        margins = partial(self._margins, linkage)
        stored = (clusters, self.order_)
        explanation = explain_members(self, X, margins, unit, stored)
        return TreeExplanation.of(explanation, self.linkage_)

    def _margins(self, linkage: str, block: Block) -> np.ndarray:
        return margins_of_linkage(block, self, linkage, self._to_clusters(block))

    # -- what was learned --------------------------------------------------------------

    @property
    def children_(self) -> np.ndarray:
        """The two clusters of every merge: below n a row, n + t what merge t made."""
        return self.linkage_[:, :2].astype(np.int64)

    @property
    def distances_(self) -> np.ndarray:
        """The height of every merge."""
        return self.linkage_[:, 2]

    @property
    def n_leaves_(self) -> int:
        """The number of rows with a weight."""
        return len(self.linkage_) + 1

    def _step_records(self) -> list[dict[str, Any]]:
        """The merges, from the first to the last."""
        members = self.merge_members()
        n = len(members) + 1
        return [
            {
                "step": i,
                "height": float(height),
                "one": one,
                "other": other,
                "clusters": n - i,
            }
            for i, (height, (one, other)) in enumerate(zip(self.distances_, members), 1)
        ]

    def merge_members(
        self, merges: Iterable[int] | None = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rows of the two clusters of every merge, from the first merge to the last.

        Parameters
        ----------
        merges : iterable of int or None, default=None
            The numbers of the merges, counted from 0; None for all.

        Returns
        -------
        list of pairs of arrays of int
            The numbers of the rows among those with a weight, in ascending order.

        Examples
        --------
        >>> from lyceum.cluster import AgglomerativeClustering
        >>> model = AgglomerativeClustering(2, linkage="single").fit([[0.0], [5.0], [1.0]])
        >>> [(one.tolist(), other.tolist()) for one, other in model.merge_members()]
        [([0], [2]), ([1], [0, 2])]
        """
        check_is_fitted(self)
        return merge_members(self.linkage_, merges)

    def summary(self) -> Summary:
        """The cut, the clusters and their heights, and the merges with their members: all of them
        if they are few, else the last."""
        check_is_fitted(self)
        facts = {
            "rows": self.n_leaves_,
            "linkage": self.linkage,
            "metric": "precomputed" if self._is_precomputed else self.metric_.name,
            "clusters": self.n_clusters_,
        }
        weight = self.counts_.sum()
        sizes = [(k, count, count / weight) for k, count in enumerate(self.counts_)]
        tables = [
            Table("Clusters", ("cluster", "weight", "share"), sizes),
            self._merge_table(),
        ]
        return Summary(self._title(), facts, tables)

    def _merge_table(self) -> Table:
        """Every merge from the first, or if they are many the last ones from the root."""
        n = self.n_leaves_
        # the weights of single rows come first, then those of the clusters that merges made
        weights = np.empty(n)
        weights[self.order_] = self.weights_
        weights = np.append(weights, self.linkage_[:, 3])
        if n - 1 <= _FEW_MERGES:
            title = "Merges"
            steps = range(n - 1)
        else:
            title = "Last merges"
            steps = range(n - 2, n - 2 - _LAST_MERGES, -1)
        rows = []
        for t, members in zip(steps, self.merge_members(steps)):
            parts = weights[self.children_[t]].tolist()
            shown = [_row_list(part) for part in members]
            rows.append((n - t - 1, self.distances_[t], *parts, *shown))
        heads = (
            "clusters left",
            "height",
            "weight of one",
            "weight of the other",
            "rows of one",
            "rows of the other",
        )
        return Table(title, heads, rows)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.linkage_) + 1
        k = self.n_clusters_
        shapes: dict[str, tuple[int, ...]] = {
            "linkage_": (n - 1, 4),
            "weights_": (n,),
            "order_": (n,),
            "starts_": (k + 1,),
            "counts_": (k,),
        }
        if self._is_precomputed:
            shapes["rows_"] = (n, 0)
        elif not sparse.issparse(self.rows_):
            shapes["rows_"] = (n, len(self.design_names))
        return shapes

    _nan_means_none = True

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_


def _in_order(labels: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The labels, numbered by the least rank of their rows."""
    least = np.full(labels.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, labels, ranks)
    # argsort twice: the rank of every cluster
    order = np.argsort(least, kind="stable")
    return np.argsort(order, kind="stable")[labels]


def _row_list(rows: np.ndarray) -> str:
    """The first row numbers, and how many more there are."""
    listed = ", ".join(map(str, rows[:_FEW_ROWS].tolist()))
    if len(rows) <= _FEW_ROWS:
        return listed
    return f"{listed} and {len(rows) - _FEW_ROWS} more"
