"""Divisive clustering: one cluster of all rows is divided, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, finite_sums
from lyceum._core.clustering import METRICS, MetricLearner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.distances import Euclidean, Metric, nearest_center
from lyceum._core.statistics import Moments
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.checks import check_enough_rows
from lyceum.cluster.cluster_distances import (
    clusters_in_order,
    distances_to_clusters,
    labels_in_order,
)
from lyceum.cluster.explanations import (
    adds_up,
    explain_members,
    linkage_unit,
    margins_of_linkage,
)
from lyceum.cluster.hierarchy.division import Division
from lyceum.cluster.kmeans.initial_centers import canonical_ranks
from lyceum.errors import ModelFileError, SettingError
from lyceum.report import Explanation, Summary, Table


class DivisiveClustering(ClusterMixin, MetricLearner):
    """Divisive clustering: from one cluster downwards, always dividing the widest.

    "bisecting" divides the cluster with the largest sum of squares by 2-means, started along its
    principal axis. "diana" divides the cluster with the largest diameter under any distance: the
    row farthest from the others leaves first, and takes along those that are nearer to it than to
    the rest.

    Parameters
    ----------
    n_clusters : int, default=2
        The number of clusters.
    method : {"bisecting", "diana"}, default="bisecting"
        How clusters are divided. "diana" holds the distances of all pairs of rows.
    metric : str or Metric, default="auto"
        For "diana", a metric of `lyceum.distances`, or its name; "precomputed": X holds the
        distances of all pairs of rows. "auto" is Gower's distance where columns hold categories or
        cells are missing, else Euclidean. "bisecting" is Euclidean, with categories as one-of-C
        columns.

    Attributes
    ----------
    labels_ : array of int of shape (n_samples,)
        The cluster of every row of `fit`; of a row of weight zero the one that `predict` gives.
    n_clusters_ : int
        The number of clusters; fewer than wanted if there are fewer distinct rows.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster.
    linkage_ : array of shape (n_clusters - 1, 4)
        The divisions, last first, as SciPy has merges: its rows are the clusters. Heights are
        diameters, or, for "bisecting", sqrt(2 (what the sum of squares falls by)) as in Ward's
        linkage.
    split_centers_ : array of shape (n_divisions, 2, n_columns)
        For "bisecting", the two centers of every division.
    split_parts_ : array of int of shape (n_divisions, 2)
        What the two parts of every division are: a later division, or a cluster c as -1 - c.
    rows_ : array of shape (n, n_columns)
        For "diana", the rows with a weight, in order of their clusters, as the metric compares
        them.
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
    AgglomerativeClustering : from single rows upwards.
    KMeans : all clusters at once, for rows that do not fit into memory.

    References
    ----------
    Kaufman, L. and Rousseeuw, P. J. (1990). Finding Groups in Data, chapter 6. Wiley.
    Steinbach, M., Karypis, G. and Kumar, V. (2000). A comparison of document clustering techniques.
    KDD Workshop on Text Mining.

    Examples
    --------
    >>> from lyceum.cluster import DivisiveClustering
    >>> rows = [[0.0], [1.0], [7.0], [8.0], [30.0]]
    >>> DivisiveClustering(3).fit(rows).labels_.tolist()
    [0, 0, 1, 1, 2]
    >>> DivisiveClustering(2, method="diana", metric="manhattan").fit(rows).linkage_.tolist()
    [[0.0, 1.0, 30.0, 5.0]]
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"bisecting", "diana"})],
        "metric": METRICS,
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        method: str = "bisecting",
        metric: object = "auto",
        categorical_features: Categories = "from_dtype",
    ):
        self.n_clusters = n_clusters
        self.method = method
        self.metric = metric
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Divide the rows of X.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._metric_rows(X, sample_weight)
        block = rows.in_one_block(type(self).__name__, "KMeans")
        weighted = np.flatnonzero(block.weights > 0)
        check_enough_rows(len(weighted), self.n_clusters)
        block, used = self._used_rows(block, weighted)
        ranks = canonical_ranks(used.X)
        D = None
        if self.method == "bisecting":
            finite_sums(Moments.of(used))
        elif self._is_precomputed:
            D = np.asarray(used.dense, dtype=np.float64)
        else:
            D = np.asarray(self._distances(used.X), dtype=np.float64)
        division = Division(used, D)
        division.run(self.n_clusters)
        self._finish(used, ranks, division)
        self.labels_ = labels_in_order(
            self.order_, self.starts_, block, weighted, self._nearest
        )
        return self

    def _chosen_metric(self, rows: Rows) -> Metric:
        if self.method == "diana":
            return super()._chosen_metric(rows)
        if self.metric not in ("auto", "euclidean"):
            raise SettingError(
                "method='bisecting' divides by means and is Euclidean, but metric is"
                f" {self.metric!r}: take method='diana'"
            )
        return Euclidean()

    def _finish(
        self,
        block: Block,
        ranks: np.ndarray,
        division: Division,
    ) -> None:
        # numbered by the first of their rows in the order of the cells, which is no matter of the
        # row numbers
        clusters = sorted(division.clusters, key=lambda rows: int(ranks[rows].min()))
        number = {id(rows): c for c, rows in enumerate(clusters)}
        # identities of arrays name the clusters, as `Division` keeps them
        labels = np.empty(len(block), dtype=np.int64)
        for c, rows in enumerate(clusters):
            labels[rows] = c
        self.n_clusters_ = len(clusters)
        self.order_ = np.lexsort((ranks, labels))
        self.starts_ = np.searchsorted(
            labels[self.order_], np.arange(len(clusters) + 1)
        )
        self.weights_ = block.weights[self.order_]
        self.counts_ = np.bincount(labels, block.weights, len(clusters))
        self.rows_ = np.empty((len(block), 0))
        if self.method == "diana" and not self._is_precomputed:
            self.rows_ = block.X[self.order_]
        shape = (len(division.centers), 2, division.X.shape[1])
        self.split_centers_ = np.array(division.centers).reshape(shape)
        self.split_parts_ = division.parts(number)
        self.linkage_ = self._merges(division)

    def _merges(self, division: Division) -> np.ndarray:
        """The divisions from the last to the first, as merges of clusters."""
        # Division s is undone by merge t = k - 2 - s, which makes cluster k + t; a part is a
        # later division, undone before, or the cluster c as -1 - c. Heights must not fall.
        k = self.n_clusters_
        heights = np.maximum.accumulate(division.heights[::-1])
        merges = np.empty((k - 1, 4))
        weights = [*self.counts_]
        for t in range(k - 1):
            parts = self.split_parts_[k - 2 - t]
            pair = np.where(parts >= 0, 2 * k - 2 - parts, -1 - parts)
            first, second = np.sort(pair)
            weights.append(weights[first] + weights[second])
            merges[t] = (first, second, heights[t], weights[-1])
        return merges

    # -- use ---------------------------------------------------------------------------

    def _to_clusters(self, block: Block) -> np.ndarray:
        D = None
        if self._is_precomputed:
            D = self._given_distances(block, square=False)[:, self.order_]
        return distances_to_clusters(block.X, self, "average", D)

    def _nearest(self, block: Block) -> np.ndarray:
        if self.method == "diana":
            return self._to_clusters(block).argmin(axis=1)
        X = np.asarray(block.dense, dtype=np.float64)
        node = np.full(len(X), 0 if len(self.split_parts_) else -1)
        for rows, _, side, parts in self._descents(X, node):
            node[rows] = parts[side]
        return -1 - node

    def _descents(self, X: np.ndarray, node: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Of every division the rows that come to it, its centers, the side of these rows, and
        the parts; divisions come before those of their parts, which `node` must lead to."""
        for split, centers in enumerate(self.split_centers_):
            rows = np.flatnonzero(node == split)
            if len(rows):
                side, _ = nearest_center(
                    np.ascontiguousarray(X[rows]), np.ascontiguousarray(centers)
                )
                yield rows, centers, side, self.split_parts_[split]

    def predict(self, X: Data) -> Any:
        """The cluster of every row: down the divisions, or for "diana" of the least mean distance.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest, X)

    @available_if(adds_up)
    def explain(self, X: Data) -> Explanation:
        """Why a row is in its cluster: what every column adds to the decision that was closest.

        For "bisecting" that is the division on the row's way down where it was nearest to going the
        other way; the score is the squared distance to the other center minus that to its own. For
        "diana" it is the mean distance to the second nearest cluster minus that to the nearest (a
        Euclidean distance is laid to the columns by their shares of its square), and the
        explanation also has the three `members` nearest to the row, numbered among the rows with a
        weight. There is none for metrics that are no sums over columns (Chebyshev, Minkowski,
        Mahalanobis, correlation, Jaccard, distances that were given).

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        if self.method == "bisecting":
            unit = (
                "squared distance to the other center minus that to its own, at the closest"
                " division"
            )
            labels = np.arange(self.n_clusters_)
            return self._explain(X, self._closest_division, unit, labels=labels)
        clusters = clusters_in_order(self.starts_)
        unit = linkage_unit(self.metric_, "average")
        return explain_members(self, X, self._margins, unit, (clusters, self.order_))

    def _margins(self, block: Block) -> np.ndarray:
        return margins_of_linkage(block, self, "average", self._to_clusters(block))

    def _closest_division(self, block: Block) -> np.ndarray:
        X = np.asarray(block.dense, dtype=np.float64)
        terms = np.zeros(X.shape)
        least = np.full(len(X), np.inf)
        node = np.full(len(X), 0 if len(self.split_parts_) else -1)
        for rows, centers, side, parts in self._descents(X, node):
            # (x - other center)² - (x - own center)² of every column; the least sum decides
            to_other = (X[rows] - centers[1 - side]) ** 2
            to_own = (X[rows] - centers[side]) ** 2
            added = to_other - to_own
            margin = added.sum(axis=1)
            closer = margin < least[rows]
            terms[rows[closer]] = added[closer]
            least[rows[closer]] = margin[closer]
            node[rows] = parts[side]
        return np.column_stack([-1 - node, np.zeros(len(X)), terms])

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The clusters, and the divisions from the first on."""
        check_is_fitted(self)
        weight = self.counts_.sum()
        sizes = [(c, count, count / weight) for c, count in enumerate(self.counts_)]
        weights = [*self.counts_, *self.linkage_[:, 3]]
        divisions = [
            (step, height, weights[int(first)], weights[int(second)])
            for step, (first, second, height, _) in enumerate(self.linkage_[::-1], 1)
        ]
        facts = {
            "clusters": self.n_clusters_,
            "method": self.method,
            "metric": self.metric_.name,
        }
        head = ("division", "height", "weight of one", "weight of the other")
        tables = [
            Table("Clusters", ("cluster", "weight", "share"), sizes),
            Table("Divisions", head, divisions),
        ]
        return Summary(self._title(), facts, tables)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.weights_)
        k = self.n_clusters_
        splits = k - 1
        shapes: dict[str, tuple[int, ...]] = {
            "weights_": (n,),
            "order_": (n,),
            "starts_": (k + 1,),
            "counts_": (k,),
            "linkage_": (splits, 4),
            "split_parts_": (splits, 2),
        }
        if self.method == "bisecting":
            shapes["split_centers_"] = (splits, 2, len(self.design_names))
        return shapes

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "split_parts_"):
            return
        parts = np.asarray(self.split_parts_)
        k = self.n_clusters_
        # a part that is divided again is divided later
        later = parts > np.arange(len(parts))[:, None]
        divided = parts[later]
        final = -1 - parts[~later]
        whole = np.array_equal(np.sort(divided), np.arange(1, len(parts)))
        if not whole or not np.array_equal(np.sort(final), np.arange(k)):
            raise ModelFileError(
                "holds a DivisiveClustering whose divisions are no tree of its clusters"
            )

    _nan_means_none = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.method == "bisecting":
            tags.input_tags.allow_nan = False
        return tags
