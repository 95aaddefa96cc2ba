"""Why a row is in its cluster: the members nearest to it, and what every column adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import Block, dense_cells
from lyceum._core.distances import (
    Gower,
    Metric,
    finite_distances,
    nearest,
    pairwise_blocks,
    unit_rows,
)
from lyceum._core.probability import runner_up
from lyceum._core.types import Data, Estimator
from lyceum.cluster.cluster_distances import cluster_means
from lyceum.cluster.hierarchy.linkage import merge_path
from lyceum.errors import SettingError
from lyceum.report import Explanation, Table

_MEMBERS = 3  # shown for every row
_STEPS = 20  # merges shown of a path
_CELLS = 1 << 21  # compared at once
_ADDITIVE = frozenset(
    {"cosine", "euclidean", "gower", "hamming", "manhattan", "squared_euclidean"}
)


@dataclass(frozen=True)
class ClusterExplanation(Explanation):
    """What every column adds to the margin of a row's cluster over the next one, and its nearest
    members.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    members : array of int of shape (n, 3)
        The rows of its cluster that are nearest to the row, by their numbers; -1 where there are
        fewer.
    distances : array of shape (n, 3)
        Their distances; infinite where there are fewer.

    Attributes
    ----------
    scores : array of shape (n,)
        The explained scores: base plus contributions.

    See Also
    --------
    DBSCAN, HDBSCAN, DivisiveClustering : Their `explain` makes it.
    TreeExplanation : The same with the merges of a tree.
    lyceum.report.Explanation : The base class.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.cluster import DBSCAN
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 0.0]])
    >>> model = DBSCAN(eps=1.5, min_samples=2).fit(X)
    >>> why = model.explain([[2.0, 0.0]])
    >>> why.members[0].tolist(), why.distances[0].tolist()  # its cluster has two rows
    ([1, 0, -1], [1.0, 2.0, inf])
    >>> bool(why.contributions[0, 0] > 0), float(why.contributions[0, 1])
    (True, 0.0)
    """

    members: np.ndarray = None  # type: ignore[assignment]
    distances: np.ndarray = None  # type: ignore[assignment]

    def nearest_members(self, i: int) -> Table:
        """The members of its cluster that are nearest to row i."""
        pairs = zip(self.members[i].tolist(), self.distances[i].tolist())
        lines = [(member, distance) for member, distance in pairs if member >= 0]
        return Table(f"Members near row {i}", ("row", "distance"), lines)

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"members": self.nearest_members(i).as_dict()}

    def _tables(self, i: int) -> list[Table]:
        return [self.row(i), self.nearest_members(i)]

    def _shown_tables(self) -> list[Table]:
        n_shown = min(3, len(self))
        return [table for i in range(n_shown) for table in self._tables(i)]

    def __str__(self) -> str:
        parts = [str(table) for table in self._shown_tables()]
        if len(self) > 3:
            parts.append(f"… and {len(self) - 3} more rows")
        return "\n\n".join(parts)

    def detail(self, i: int) -> Table:
        """The members of its cluster that are nearest to row i."""
        return self.nearest_members(i)

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self._shown_tables())


@dataclass(frozen=True)
class TreeExplanation(ClusterExplanation):
    """A `ClusterExplanation` with the merges of every row's cluster, up the tree.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values, members, distances
        As in `ClusterExplanation`.
    linkage : array of shape (n_fitted - 1, 4)
        All merges, in SciPy's form.

    Attributes
    ----------
    scores : array of shape (n,)
        The explained scores: base plus contributions.

    See Also
    --------
    AgglomerativeClustering : Its `explain` makes it.
    ClusterExplanation : The same without a tree.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.cluster import AgglomerativeClustering
    >>> X = np.array([[0.0], [1.0], [3.0], [10.0]])
    >>> model = AgglomerativeClustering(2, linkage="single").fit(X)
    >>> why = model.explain([[0.0]])
    >>> [row[1:3] for row in why.merges(0).rows]  # the height, and what was joined
    [(1.0, 'row 1'), (2.0, 'row 2'), (7.0, 'row 3')]
    """

    linkage: np.ndarray = None  # type: ignore[assignment]

    @classmethod
    def of(
        cls, explanation: ClusterExplanation, linkage: np.ndarray
    ) -> TreeExplanation:
        """The explanation with the merges of the tree."""
        return explanation.extend(
            cls,
            members=explanation.members,
            distances=explanation.distances,
            linkage=linkage,
        )

    def merges(self, i: int) -> Table:
        """The merges that row i went through, by its nearest member: for a row of `fit` that is
        itself."""
        leaf = int(self.members[i, 0])
        n = len(self.linkage) + 1
        path = merge_path(self.linkage, leaf)
        lines: list[tuple[Any, ...]] = []
        for number, height, other, weight in path.tolist():
            # below n a row, n + t the cluster that merge t made
            joined = f"row {int(other)}"
            if other >= n:
                joined = f"cluster of {self.linkage[int(other) - n, 3]:g}"
            lines.append((n - 1 - int(number), height, joined, weight))
        if len(lines) > _STEPS:
            half = _STEPS // 2
            left_out = ("…", "…", f"… {len(lines) - _STEPS + 1} merges more", "…")
            lines = [*lines[:half], left_out, *lines[1 - half :]]
        columns = ("clusters left", "height", "joined by", "weight together")
        return Table(f"Merges of row {i}, by row {leaf} of fit", columns, lines)

    def _tables(self, i: int) -> list[Table]:
        return [*super()._tables(i), self.merges(i)]

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"merges": self.merges(i).as_dict()}


def adds_up(model: Estimator) -> bool:
    """Whether distances under the model's metric are sums over columns; for `available_if`."""
    metric = model.metric
    if not isinstance(metric, str) or metric != "precomputed":
        metric = getattr(model, "metric_", metric)
    if isinstance(metric, Metric):
        metric = metric.name
    if metric != "auto" and metric not in _ADDITIVE:
        raise AttributeError(
            f"{type(model).__name__}.explain needs a metric that is a sum over columns (Euclidean,"
            f" squared Euclidean, Manhattan, Hamming, cosine, Gower), which {model.metric!r} is not"
        )
    return True


def explain_members(
    model: Estimator,
    X: Data,
    margins: Callable[[Block], np.ndarray],
    unit: str,
    stored: tuple[np.ndarray, np.ndarray],
) -> ClusterExplanation:
    """The explanation by `margins`, with the nearest of the model's `rows_`.

    `stored` are the clusters and the numbers of these.
    """
    labels = np.append(np.arange(model.n_clusters_), -1)  # the last for noise
    explanation, block = model._explain_in_memory(X, margins, unit, labels)
    clusters, numbers = stored
    members = np.full((len(explanation), _MEMBERS), -1)
    distances = np.full((len(explanation), _MEMBERS), np.inf)
    predicted = explanation.predicted
    for c in np.unique(predicted[predicted >= 0]):
        rows = np.flatnonzero(predicted == c)
        among = np.flatnonzero(clusters == c)
        k = min(_MEMBERS, len(among))
        # among the rows of the same cluster alone: those of others are no reason to be in it
        neighbors = nearest(
            block.X[rows], k, among=model.rows_[among], metric=model.metric_
        )
        members[rows, :k] = numbers[among[neighbors.rows]]
        distances[rows, :k] = finite_distances(neighbors.distances, model.metric_)
    return explanation.extend(ClusterExplanation, members=members, distances=distances)


def margins_to_nearest(
    block: Block,
    D: np.ndarray,
    terms: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """The nearest cluster by the distances D, (n, k), base 0, and what every column adds to the
    margin.

    `terms(X, cluster)` is what every column adds to the distance of each row to a cluster.
    """
    own, other = runner_up(-D)
    X = np.asarray(block.dense, dtype=np.float64)
    added = terms(X, other) - terms(X, own)
    return np.column_stack([own, np.zeros(len(X)), added])


# -- linkages --------------------------------------------------------------------------


def linkage_unit(metric: Metric, linkage: str) -> str:
    """What `margins_of_linkage` adds up to."""
    # a mean of Euclidean distances is no sum over columns of squares
    squared = metric.name == "euclidean" and linkage != "average"
    distance = "squared distance" if squared else "distance"
    return f"{distance} to the next cluster minus that to its own"


def margins_of_linkage(
    block: Block, model: Estimator, linkage: str, D: np.ndarray
) -> np.ndarray:
    """The nearest cluster by the distances D, (n, k), base 0, and what every column adds to the
    margin."""
    return margins_to_nearest(
        block, D, lambda X, cluster: _to_clusters(X, cluster, model, linkage)
    )


def _to_clusters(
    X: np.ndarray,
    cluster: np.ndarray,
    model: Estimator,
    linkage: str,
) -> np.ndarray:
    """What every column adds to the distance of each row to a cluster, in the sense of the
    linkage."""
    metric = model.metric_
    out = np.empty(X.shape)
    if linkage in ("centroid", "ward") and metric.name == "euclidean":
        return column_terms(metric, X, cluster_means(model)[cluster])
    for c in np.unique(cluster):
        rows = np.flatnonzero(cluster == c)
        members = slice(*model.starts_[c : c + 2])
        A = X[rows]
        B = dense_rows(model.rows_[members])
        if linkage == "single":
            nearest_rows = nearest(A, 1, among=B, metric=metric).rows[:, 0]
            out[rows] = column_terms(metric, A, B[nearest_rows])
        elif linkage == "complete":
            blocks = pairwise_blocks(A, B, metric=metric)
            farthest = [finite_distances(D, metric).argmax(axis=1) for _, D in blocks]
            out[rows] = column_terms(metric, A, B[np.concatenate(farthest)])
        else:
            out[rows] = _mean_terms(metric, A, B, model.weights_[members])
    return out


def _mean_terms(
    metric: Metric,
    X: np.ndarray,
    Y: np.ndarray,
    w: np.ndarray,
) -> np.ndarray:
    """What every column adds to the mean distance of each row of X to the rows of Y, (n, d).

    A Euclidean distance is laid to the columns by their shares of its square.
    """
    out = np.empty(X.shape)
    share = w / w.sum()
    # all pairs of a few rows of X with the rows of Y, as two tables of equal length
    step = max(1, _CELLS // max(1, Y.size))
    for begin in range(0, len(X), step):
        rows = X[begin : begin + step]
        A = np.repeat(rows, len(Y), axis=0)
        B = np.tile(Y, (len(rows), 1))
        terms = column_terms(metric, A, B)
        if metric.name == "euclidean":
            # d = Σ_j (x_j - y_j)² / d: the terms of the square, divided by the distance
            distance = np.sqrt(terms.sum(axis=1, keepdims=True))
            zeros = np.zeros_like(terms)
            terms = np.divide(terms, distance, out=zeros, where=distance > 0)
        terms = terms.reshape(len(rows), len(Y), -1)
        out[begin : begin + step] = np.einsum("m,nmd->nd", share, terms)
    return out


def dense_rows(rows: Any) -> np.ndarray:
    """Stored rows as a dense array of float64."""
    return np.asarray(dense_cells(rows), dtype=np.float64)


# -- columns of a distance ---------------------------------------------------------------


def terms_unit(metric: Metric) -> str:
    """The name of the distance whose differences the terms add up to."""
    squared = metric.name in ("euclidean", "mahalanobis")
    distance = "squared distance" if squared else "distance"
    return f"{distance} to the next medoid minus that to its own"


def column_terms(
    metric: Metric,
    X: np.ndarray,
    Y: np.ndarray,
) -> np.ndarray:
    """The terms of row i of X and row i of Y, (n, d): their sum is the distance, or its square if
    Euclidean.

    >>> from lyceum.distances import Manhattan
    >>> column_terms(Manhattan(), np.array([[0.0, 1.0]]), np.array([[2.0, 0.5]])).tolist()
    [[2.0, 0.5]]
    """
    if isinstance(metric, Gower):
        return _gower_terms(metric, X, Y)
    if metric.name in ("euclidean", "squared_euclidean"):
        return (X - Y) ** 2
    if metric.name == "manhattan":
        return np.abs(X - Y)
    if metric.name == "hamming":
        return (X != Y) / X.shape[1]
    if metric.name == "cosine":
        U, zero = unit_rows(X)
        V, other = unit_rows(Y)
        # for unit rows 1 - cos = |u - v|² / 2; a row of zeros is at distance 1 from all others,
        # of which a half is for its having no direction
        divisor = np.where(zero != other, 1.0, 2.0)
        return (U - V) ** 2 / divisor[:, None]
    raise SettingError(
        f"distances of the metric {metric.name!r} are no sums over columns: explain takes"
        " Euclidean, Manhattan, Hamming, cosine and Gower's distances"
    )


def _gower_terms(
    metric: Gower,
    X: np.ndarray,
    Y: np.ndarray,
) -> np.ndarray:
    space = metric.space
    A = metric.points(X)
    B = metric.points(Y)
    assert space.weight is not None
    assert space.matched is not None
    # Gower's distance: the mean over the columns known in both rows, weighted, of 0 or 1 for
    # categories and of the difference over the range, at most 1, for numbers
    shared = ~(np.isnan(A) | np.isnan(B))
    distances = np.minimum(np.abs(A - B), 1.0)
    apart = np.where(space.matched.astype(bool), A != B, distances)
    weights = space.weight * shared
    weight_sums = weights.sum(axis=1, keepdims=True)
    parts = weights * np.where(shared, apart, 0.0)
    comparable = weight_sums > 0
    terms = np.divide(parts, weight_sums, out=np.zeros_like(A), where=comparable)
    # rows that share no known cell are at distance 1, whichever column it is laid to
    terms = terms[:, metric.table_columns]
    return np.where(comparable, terms, 1.0 / terms.shape[1])
