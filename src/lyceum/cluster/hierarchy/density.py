"""What DBSCAN and HDBSCAN share: core distances, the tree of mutual reachability, and the clusters
of new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import undefined
from lyceum._core.clustering import MetricLearner
from lyceum._core.data import Block
from lyceum._core.distances import NeighborIndex, finite_distances, nearest
from lyceum._core.types import Data, Target, Weights
from lyceum.cluster.explanations import (
    ClusterExplanation,
    adds_up,
    column_terms,
    dense_rows,
    explain_members,
)
from lyceum.cluster.hierarchy.linkage import link_distances, link_edges, spanning_tree
from lyceum.cluster.kmeans.initial_centers import canonical_ranks
from lyceum.errors import DataError
from lyceum.report import Summary, Table

ROUNDING = 1 + 1e-12  # distances this much above a limit are within it


@dataclass(frozen=True, slots=True)
class DenseClusters:
    """The clusters of rows with a weight; `labels` are -1 for noise.

    `heights` are the distances beyond which a row does not belong to a cluster. Clusters of a
    hierarchy have `stabilities`, and their rows `probabilities`: how deep inside they are, from 0
    to 1.
    """

    labels: np.ndarray
    heights: np.ndarray
    stabilities: np.ndarray | None = None
    probabilities: np.ndarray | None = None

    def renumber(self, ranks: np.ndarray) -> DenseClusters:
        """The same clusters, numbered by the least rank of their rows."""
        inside = self.labels >= 0
        least = np.full(len(self.heights), np.iinfo(np.int64).max)
        np.minimum.at(least, self.labels[inside], ranks[inside])
        order = np.argsort(least, kind="stable")
        numbers = np.append(np.argsort(order, kind="stable"), -1)  # noise stays -1
        stabilities = None
        if self.stabilities is not None:
            stabilities = self.stabilities[order]
        return replace(
            self,
            labels=numbers[self.labels],
            heights=self.heights[order],
            stabilities=stabilities,
        )


class DensityLearner(ClusterMixin, MetricLearner):
    """Clusters of core rows: a subclass says how many neighbors make one, and which clusters of
    the tree of mutual reachability there are."""

    n_clusters_: int
    labels_: np.ndarray
    core_distances_: np.ndarray
    heights_: np.ndarray
    counts_: np.ndarray
    linkage_: np.ndarray
    rows_: Any
    row_labels_: np.ndarray
    row_numbers_: np.ndarray
    row_cores_: np.ndarray

    _takes_graphs = True

    @property
    def _n_core(self) -> int:
        """How many rows, itself counted, must be near a core row."""
        raise undefined(self, "_n_core")

    @property
    def _distance_unit(self) -> float:
        """By what distances are divided before they are compared with core distances."""
        return 1.0

    def _cut(
        self,
        X: Data,
        D: np.ndarray | None,
        core: np.ndarray,
        w: np.ndarray,
    ) -> DenseClusters:
        """The clusters of the tree `linkage_`; rows are given by their cells or by distances."""
        raise undefined(self, "_cut")

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
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
        D = None
        cells = used.X
        if self._is_precomputed:
            D = np.array(cells, dtype=np.float64)
        # dense cells give the same tree bit for bit, and are fewer than the distances of all pairs
        elif sparse.issparse(cells) and cells.shape[1] <= cells.shape[0]:
            cells = cells.toarray()
        # a metric without a kernel gives distances of all pairs
        if D is None and (sparse.issparse(cells) or not self._has_kernel):
            D = self._distances(cells)
        core = _core_distances(cells, D, used.weights, self._n_core, self.metric_)
        self.linkage_ = self._reachability_tree(cells, D, core, used.weights)
        clusters = self._cut(cells, D, core, used.weights)
        # the numbers of clusters depend on the cells of their rows, not on the order of the rows
        ranks = canonical_ranks(used.X)
        clusters = clusters.renumber(ranks)
        self._store_core_rows(used, weighted, core, clusters, ranks)
        self._label_all(block, weighted, core, clusters)
        return self

    def _reachability_tree(
        self,
        X: Data,
        D: np.ndarray | None,
        core: np.ndarray,
        w: np.ndarray,
    ) -> np.ndarray:
        """The minimum spanning tree under max(core_x, core_y, d(x, y)), as merges."""
        if D is not None:
            # an edge in one direction counts for both
            reach = np.maximum(np.minimum(D, D.T), np.maximum(core[:, None], core))
            condensed = reach[np.triu_indices(len(D), 1)]
            return link_distances(condensed, len(D), "single", w)
        metric = self.metric_
        points = metric.points(np.ascontiguousarray(X))
        points = np.ascontiguousarray(points, dtype=np.float64)
        n_columns = points.shape[1]
        # the kernel compares raw values (squares, say), which order as the distances do
        raw = np.ascontiguousarray(metric.raw(core, n_columns))  # type: ignore[arg-type]
        a, b, raw_heights = spanning_tree(points, metric, raw)
        heights = finite_distances(metric.distances(raw_heights, n_columns), metric)
        return link_edges(a, b, heights, w)

    def _store_core_rows(
        self,
        block: Block,
        weighted: np.ndarray,
        core: np.ndarray,
        clusters: DenseClusters,
        ranks: np.ndarray,
    ) -> None:
        """Store the rows that `predict` compares with, in the order of their cells."""
        labels = clusters.labels
        inside = labels >= 0
        self.n_clusters_ = len(clusters.heights)
        self.heights_ = clusters.heights
        self.counts_ = np.bincount(
            labels[inside], block.weights[inside], self.n_clusters_
        )
        # core rows of a cluster: dense enough at the height where it ends; noise, -1, takes the 0
        limits = np.append(self.heights_, 0.0)[labels]
        stored = np.flatnonzero(inside & (core <= limits * ROUNDING))
        stored = stored[np.argsort(ranks[stored], kind="stable")]
        self.rows_ = np.empty((len(stored), 0))
        if not self._is_precomputed:
            self.rows_ = block.X[stored]
        self.row_labels_ = labels[stored]
        self.row_cores_ = core[stored]
        self.row_numbers_ = weighted[stored]

    def _label_all(
        self,
        block: Block,
        weighted: np.ndarray,
        core: np.ndarray,
        clusters: DenseClusters,
    ) -> None:
        n = len(block)
        self.labels_ = np.full(n, -1)
        self.labels_[weighted] = clusters.labels
        self.core_distances_ = np.full(n, np.nan)
        self.core_distances_[weighted] = core
        rest = np.setdiff1d(np.arange(n), weighted)
        if len(rest) and not self._is_precomputed:
            self.labels_[rest] = self._nearest(block.take(rest))

    # -- use ---------------------------------------------------------------------------

    def _nearest(self, block: Block) -> np.ndarray:
        if not len(self.row_labels_) or not len(block):
            return np.full(len(block), -1)
        if self._is_precomputed:
            D = self._given_distances(block, square=False)[:, self.row_numbers_]
            index = D.argmin(axis=1)
            distances = D.min(axis=1)
        else:
            neighbors = nearest(block.X, 1, among=self.rows_, metric=self.metric_)
            index = neighbors.rows[:, 0]
            distances = neighbors.distances[:, 0]
        labels = self.row_labels_[index]
        # a row belongs if it would be joined below the height at which the cluster ends
        distances = distances / self._distance_unit
        reach = np.maximum(distances, self.row_cores_[index])
        return np.where(reach <= self.heights_[labels] * ROUNDING, labels, -1)

    def predict(self, X: Data) -> Any:
        """The cluster of every row: that of the nearest core row, or -1 (noise) if it is too far
        away.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
            The rows, (n_samples, n_features).

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest, X)

    @available_if(adds_up)
    def explain(self, X: Data) -> ClusterExplanation:
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
        is_euclidean = self.metric_.name == "euclidean"
        if is_euclidean:
            distance = "squared distance"
        else:
            distance = "distance"
        unit = (
            f"{distance} to the next cluster minus that to its own, or to where it ends"
        )
        stored = (self.row_labels_, self.row_numbers_)
        return explain_members(self, X, self._margins, unit, stored)

    def _margins(self, block: Block) -> np.ndarray:
        X = np.asarray(block.dense, dtype=np.float64)
        labels = self._nearest(block)
        base = np.zeros(len(X))
        terms = np.zeros(X.shape)
        stored = dense_rows(self.rows_)
        if not len(stored) or not len(X):
            return np.column_stack([labels, base, terms])
        index = nearest(X, 1, among=stored, metric=self.metric_).rows[:, 0]
        to_nearest = column_terms(self.metric_, X, stored[index])
        # noise: the distance to the nearest core row, less where its cluster ends
        noise = labels < 0
        ends = self.heights_[self.row_labels_[index[noise]]] * self._distance_unit
        if self.metric_.name == "euclidean":
            ends = ends**2
        base[noise] = -ends
        terms[noise] = to_nearest[noise]
        # members: the distance to the nearest core row of another cluster, less that to its own
        if self.n_clusters_ > 1:
            for c in np.unique(labels[~noise]):
                members = np.flatnonzero(labels == c)
                to_next = self._terms_to(X[members], stored[self.row_labels_ != c])
                terms[members] = to_next - to_nearest[members]
        return np.column_stack([labels, base, terms])

    def _terms_to(self, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What every column adds to the distance to the nearest of some rows."""
        index = nearest(X, 1, among=rows, metric=self.metric_).rows[:, 0]
        return column_terms(self.metric_, X, rows[index])

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """How many clusters and how much noise; the weight and height of every cluster."""
        check_is_fitted(self)
        facts = {
            "clusters": self.n_clusters_,
            "metric": "precomputed" if self._is_precomputed else self.metric_.name,
            "rows": len(self.labels_),
            "noise": float(np.mean(self.labels_ < 0)),
            "smallest core distance": float(np.nanmin(self.core_distances_)),
            "median core distance": float(np.nanmedian(self.core_distances_)),
        }
        if hasattr(self, "eps"):
            facts["eps"] = self.eps
        columns = {"weight": self.counts_, "split off at": self.heights_}
        if hasattr(self, "stabilities_"):
            columns["stability"] = self.stabilities_
        rows = list(zip(range(self.n_clusters_), *columns.values()))
        table = Table("Clusters", ("cluster", *columns), rows)
        return Summary(self._title(), facts, [table])

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
        if self._is_precomputed:
            shapes["rows_"] = (m, 0)
        elif not sparse.issparse(self.rows_):
            shapes["rows_"] = (m, len(self.design_names))
        return shapes

    _nan_means_none = True


def _core_distances(
    X: Any,
    D: np.ndarray | None,
    w: np.ndarray,
    min_samples: int,
    metric: Any,
) -> np.ndarray:
    """The least distance within which the weight of all rows, the row itself counted, is
    `min_samples`."""
    n = len(w)
    # a row that weighs `min_samples` alone is a core at distance 0
    core = np.zeros(n)
    index = None
    if D is None:
        index = NeighborIndex(X, metric=metric)
    # rows whose k nearest do not weigh enough are searched again, with four times as many
    k = min(n - 1, max(1, min_samples - 1))
    unsettled = np.flatnonzero(w < min_samples)
    while len(unsettled):
        if index is not None:
            neighbors = index.nearest(None, k)
            distances = neighbors.distances[unsettled]
            rows = neighbors.rows[unsettled]
        else:
            assert D is not None
            others = D[unsettled]
            others[np.arange(len(unsettled)), unsettled] = np.inf  # a row itself
            rows = np.argsort(others, axis=1, kind="stable")[:, :k]
            distances = np.take_along_axis(others, rows, axis=1)
        weight = w[unsettled][:, None] + np.cumsum(w[rows], axis=1)
        # the first neighbor at which the cumulative weight is enough gives the core distance
        enough = weight >= min_samples * (1 - 1e-12)
        settled = enough.any(axis=1)
        last = np.where(settled, enough.argmax(axis=1), k - 1)
        core[unsettled] = distances[np.arange(len(unsettled)), last]
        unsettled = unsettled[~settled]
        if k == n - 1:
            core[unsettled] = np.inf  # there are fewer rows
            break
        k = min(n - 1, 4 * k)
    return core
