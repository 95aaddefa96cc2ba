"""How good a clustering is, by the rows alone: sums of squares, silhouettes, the proximity
graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lyceum._core.data import dense_cells, row_weights
from lyceum._core.distances import (
    Metric,
    check_finite,
    float_matrix,
    metric,
    pairwise,
)
from lyceum._core.report import Shown
from lyceum._core.text import show_count
from lyceum._core.types import Data, Weights
from lyceum.cluster.cluster_distances import distance_sums
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class SumsOfSquares(Shown):
    """Sums of squares of a clustering: total = within + between.

    Attributes
    ----------
    total : float
        TSS, of all rows about their mean.
    within : float
        WSS or SSE, of the rows about the means of their clusters.
    between : float
        BSS, of the cluster means about the mean of all rows, times the clusters' weights.
    clusters : array
        The label of every cluster.
    weights : array
        The weight of every cluster.
    within_clusters, between_clusters : array
        The share of every cluster in `within` and `between`.

    See Also
    --------
    sums_of_squares : Makes it.
    Silhouette : A measure that compares clusters with their neighbors.
    KMeans : Minimizes `within`.

    Examples
    --------
    >>> from lyceum.cluster import sums_of_squares
    >>> sums = sums_of_squares([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> sums.total, sums.within, sums.between
    (104.0, 4.0, 100.0)
    >>> sums.within_clusters.tolist(), sums.between_clusters.tolist()
    ([2.0, 2.0], [50.0, 50.0])
    """

    total: float
    within: float
    between: float
    clusters: np.ndarray
    weights: np.ndarray
    within_clusters: np.ndarray
    between_clusters: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """The sums by name."""
        return {"total": self.total, "within": self.within, "between": self.between}

    def summary(self) -> Summary:
        """The sums, and those of every cluster."""
        columns = (
            self.clusters.tolist(),
            self.weights,
            self.within_clusters,
            self.between_clusters,
        )
        head = ("cluster", "weight", "within", "between")
        table = Table("Clusters", head, list(zip(*columns)))
        return Summary("Sums of squares", self.as_dict(), [table])


def sums_of_squares(
    X: Data, labels: ArrayLike | None, sample_weight: Weights = None
) -> SumsOfSquares:
    """The total, within-cluster and between-cluster sums of squares.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    labels : array of shape (n,)
        The cluster of every row; -1 is noise and is left out.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    SumsOfSquares

    Examples
    --------
    >>> from lyceum.cluster import sums_of_squares
    >>> sums = sums_of_squares([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> sums.total, sums.within, sums.between
    (104.0, 4.0, 100.0)

    See Also
    --------
    silhouette : a measure that compares clusters with their neighbors.
    """
    X = np.asarray(dense_cells(X))
    codes, names, w, weighted = _clusters(X, labels, sample_weight)
    X = _centered(X[weighted], "sums of squares")
    weights = np.bincount(codes, w, len(names))
    means = (_members(codes, w, len(names)) @ X) / weights[:, None]
    mean = weights @ means / weights.sum()
    # within = Σ w |x - m_c|², between = Σ_c W_c |m_c - m|²
    squares = ((X - means[codes]) ** 2).sum(axis=1)
    spread = w * squares
    within = np.bincount(codes, spread, len(names))
    between = weights * ((means - mean) ** 2).sum(axis=1)
    return SumsOfSquares(
        total=float(w @ ((X - mean) ** 2).sum(axis=1)),
        within=float(within.sum()),
        between=float(between.sum()),
        clusters=names,
        weights=weights,
        within_clusters=within,
        between_clusters=between,
    )


@dataclass(frozen=True, slots=True)
class Silhouette(Shown):
    """Silhouettes of rows, clusters and a clustering, from -1 to 1.

    Attributes
    ----------
    points : array of shape (n,)
        (b - a) / max(a, b) of every row; NaN for noise.
    labels : array of shape (n,)
        The cluster of every row.
    clusters : array
        The label of every cluster.
    weights : array
        The weight of every cluster.
    cluster_means : array
        The mean silhouette of the rows of every cluster.
    mean : float
        The mean over all rows.
    mean_of_clusters : float
        The mean over the clusters, each counted once.

    See Also
    --------
    silhouette : Makes it.
    lyceum.plot.silhouette : The picture.
    KChoice : Several numbers of clusters.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster
    analysis", Journal of Computational and Applied Mathematics 20, 1987.

    Examples
    --------
    >>> from lyceum.cluster import silhouette
    >>> widths = silhouette([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> widths.points.round(3).tolist()  # of the first: a = 2, b = 11, 9 / 11
    [0.818, 0.778, 0.778, 0.818]
    >>> widths.cluster_means.round(3).tolist(), round(widths.mean, 3)
    ([0.798, 0.798], 0.798)
    """

    points: np.ndarray
    labels: np.ndarray
    clusters: np.ndarray
    weights: np.ndarray
    cluster_means: np.ndarray
    mean: float
    mean_of_clusters: float

    def as_dict(self) -> dict[str, Any]:
        """The two means, and those of clusters."""
        names = map(str, self.clusters.tolist())
        means = dict(zip(names, self.cluster_means.tolist()))
        return {
            "mean": self.mean,
            "mean_of_clusters": self.mean_of_clusters,
            "cluster_means": means,
        }

    def summary(self) -> Summary:
        """The means, and the silhouette of every cluster."""
        rows = list(zip(self.clusters.tolist(), self.weights, self.cluster_means))
        facts = {
            "mean over rows": self.mean,
            "mean over clusters": self.mean_of_clusters,
        }
        table = Table("Clusters", ("cluster", "weight", "silhouette"), rows)
        return Summary("Silhouette", facts, [table])


def silhouette(
    X: Data,
    labels: ArrayLike | None,
    *,
    metric: str | Metric = "euclidean",
    sample_weight: Weights = None,
) -> Silhouette:
    """Silhouettes: how much nearer every row is to its own cluster than to the next.

    s = (b - a) / max(a, b), where a is the mean distance to the other rows of its cluster, and b
    the least mean distance to the rows of another cluster; 0 for the only row of a cluster.
    Distances are added up as they are computed, so that 100,000 rows need no more memory than the
    rows and their sums to every cluster.

    Parameters
    ----------
    X : array, sparse array or Rows of shape (n, d)
        The rows; or their distances (n, n) if metric="precomputed".
    labels : array of shape (n,)
        The cluster of every row, at least two; -1 is noise and is left out.
    metric : str or Metric, default="euclidean"
        A metric of `lyceum.distances`, its name, or "precomputed". Metrics that learn, such as
        Gower's, must have been fitted.
    sample_weight : array of shape (n,), optional
        How often every row counts.

    Returns
    -------
    Silhouette

    Examples
    --------
    >>> from lyceum.cluster import silhouette
    >>> widths = silhouette([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> widths.points.round(3).tolist(), round(widths.mean, 3)
    ([0.818, 0.778, 0.778, 0.818], 0.798)

    See Also
    --------
    lyceum.plot.silhouette : the picture.
    choose_k : the number of clusters of the largest mean silhouette, and other choices.

    References
    ----------
    Rousseeuw, P. J. (1987). Silhouettes: a graphical aid to the interpretation and validation of
    cluster analysis. Journal of Computational and Applied Mathematics 20.
    """
    X = _rows_of(X)
    codes, names, w, weighted = _clusters(X, labels, sample_weight)
    if len(names) < 2:
        raise DataError(
            f"a silhouette compares clusters, but there is {len(names)}: at least 2 are needed"
        )
    sums = _sums_by_cluster(X, weighted, codes, w, len(names), metric)
    weights = np.bincount(codes, w, len(names))
    # s = (b - a) / max(a, b): a is the mean distance to the rest of the row's cluster, b that to
    # the nearest other cluster; 0 for a row that is alone
    rows = np.arange(len(codes))
    others = weights[codes] - 1.0
    a = np.divide(sums[rows, codes], others, out=np.zeros(len(rows)), where=others > 0)
    means = sums / weights
    means[rows, codes] = np.inf
    b = means.min(axis=1)
    largest = np.maximum(a, b)
    defined = (largest > 0) & (others > 0)
    s = np.divide(b - a, largest, out=np.zeros(len(a)), where=defined)
    labels = np.asarray(labels)
    points = np.full(len(labels), np.nan)
    points[weighted] = s
    cluster_means = np.bincount(codes, w * s, len(names)) / weights
    return Silhouette(
        points=points,
        labels=labels,
        clusters=names,
        weights=weights,
        cluster_means=cluster_means,
        mean=float(w @ s / w.sum()),
        mean_of_clusters=float(cluster_means.mean()),
    )


def davies_bouldin_score(
    X: Data, labels: ArrayLike | None, sample_weight: Weights = None
) -> float:
    """The Davies-Bouldin index: how wide clusters are beside their distances; 0 is best.

    The mean over clusters i of max_j (s_i + s_j) / |m_i - m_j|, where s is the mean distance of the
    rows of a cluster to their mean m. Clusters with the same mean are not compared, as in
    scikit-learn.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    labels : array of shape (n,)
        The cluster of every row, at least two; -1 is noise and is left out.
    sample_weight : array of shape (n,), optional
        How often every row counts.

    Returns
    -------
    float

    Examples
    --------
    >>> from lyceum.cluster import davies_bouldin_score
    >>> davies_bouldin_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])  # (1 + 1) / 10
    0.2

    See Also
    --------
    silhouette : compares rows rather than means.

    References
    ----------
    Davies, D. L. and Bouldin, D. W. (1979). A cluster separation measure. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 1(2).
    """
    X = np.asarray(dense_cells(_rows_of(X)))
    codes, names, w, weighted = _clusters(X, labels, sample_weight)
    if len(names) < 2:
        raise DataError(
            f"the Davies-Bouldin index compares clusters, but there is {len(names)}: at least 2 are"
            " needed"
        )
    X = _centered(X[weighted], "the Davies-Bouldin index")
    weights = np.bincount(codes, w, len(names))
    means = (_members(codes, w, len(names)) @ X) / weights[:, None]
    to_mean = np.sqrt(((X - means[codes]) ** 2).sum(axis=1))
    widths = np.bincount(codes, w * to_mean, len(names)) / weights
    apart = pairwise(means)
    # a cluster is not compared with itself
    apart[apart == 0] = np.inf
    ratios = (widths[:, None] + widths) / apart
    return float(ratios.max(axis=1).mean())


@dataclass(frozen=True, slots=True)
class Proximity(Shown):
    """Cohesion and separation in the graph whose edges are the proximities of all pairs of rows.

    Attributes
    ----------
    clusters : array
        The label of every cluster.
    cohesion : array of shape (k,)
        The sum of the edges within every cluster, each pair once.
    separation : array of shape (k, k)
        The sum of the edges between two clusters; zero on the diagonal.
    total_cohesion, total_separation : float
        The sums of all edges within clusters, and between clusters.

    See Also
    --------
    proximity : Makes it.
    Silhouette : Both as one number per row.

    Examples
    --------
    >>> from lyceum.cluster import proximity
    >>> pairs = proximity([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> pairs.cohesion.tolist(), pairs.separation.tolist()  # 10 + 12 + 8 + 10
    ([2.0, 2.0], [[0.0, 40.0], [40.0, 0.0]])
    >>> pairs.total_cohesion, pairs.total_separation
    (4.0, 40.0)
    """

    clusters: np.ndarray
    cohesion: np.ndarray
    separation: np.ndarray

    @property
    def total_cohesion(self) -> float:
        """All edges within clusters."""
        return float(self.cohesion.sum())

    @property
    def total_separation(self) -> float:
        """All edges between clusters."""
        return float(self.separation.sum() / 2)

    def as_dict(self) -> dict[str, Any]:
        """The two totals, and the sums of every cluster."""
        return {
            "cohesion": self.total_cohesion,
            "separation": self.total_separation,
            "cohesion_of_clusters": self.cohesion.tolist(),
            "separation_of_clusters": self.separation.sum(axis=1).tolist(),
        }


def proximity(
    X: Data,
    labels: ArrayLike | None,
    *,
    metric: str | Metric = "euclidean",
    sample_weight: Weights = None,
) -> Proximity:
    """Cohesion and separation of clusters in the proximity graph.

    With distances, good clusters have small cohesion and large separation; with similarities
    (precomputed) it is the other way round.

    Parameters
    ----------
    X : array, sparse array or Rows of shape (n, d)
        The rows; or their distances or similarities (n, n) if metric="precomputed".
    labels : array of shape (n,)
        The cluster of every row; -1 is noise and is left out.
    metric : str or Metric, default="euclidean"
        A metric of `lyceum.distances`, its name, or "precomputed".
    sample_weight : array of shape (n,), optional

    Returns
    -------
    Proximity

    Examples
    --------
    >>> from lyceum.cluster import proximity
    >>> pairs = proximity([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    >>> pairs.cohesion.tolist(), pairs.total_separation
    ([2.0, 2.0], 40.0)

    See Also
    --------
    silhouette : both as one number.
    """
    X = _rows_of(X)
    codes, names, w, weighted = _clusters(X, labels, sample_weight)
    sums = _sums_by_cluster(X, weighted, codes, w, len(names), metric)
    # the proximities of all pairs of rows, summed by the two clusters of a pair
    edges = _members(codes, w, len(names)) @ sums
    if isinstance(metric, str) and metric == "precomputed":
        # similarities have a diagonal, but a row has no edge to itself
        loops = w**2 * np.asarray(X)[weighted, weighted]
        edges = edges - np.diag(np.bincount(codes, loops, len(names)))
    cohesion = np.diag(edges) / 2
    return Proximity(names, cohesion, edges - np.diag(np.diag(edges)))


def _centered(X: np.ndarray, caller: str) -> np.ndarray:
    """Finite cells about their means, so that an offset takes no digits."""
    cells = np.asarray(float_matrix(X, f"{caller} must have"), dtype=np.float64)
    if not np.isfinite(cells).all():
        raise MissingValuesError(
            f"{caller} cannot take missing or infinite cells: fill them first, e.g. by "
            "lyceum.prepare.SimpleImputer()"
        )
    return cells - cells.mean(axis=0)


def _members(
    codes: np.ndarray,
    w: np.ndarray,
    k: int,
) -> sparse.csr_array:
    """The (k, n) matrix of the weights of rows in their clusters: a product with it sums by
    cluster."""
    n = len(w)
    return sparse.csr_array((w, (codes, np.arange(n))), shape=(k, n))


def _rows_of(X: Data) -> Any:
    from lyceum._core.data import Rows

    if isinstance(X, Rows):
        return X.in_one_block("a measure of validity").X
    if sparse.issparse(X):
        return X
    return np.asarray(X)


def _clusters(
    X: Any, labels: Any, w: Weights
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Codes, labels of the clusters, weights and places of the rows that are not noise and have a
    weight."""
    labels = np.asarray(labels)
    if labels.shape != (X.shape[0],):
        raise SettingError(
            f"labels has shape {labels.shape}, but X has {show_count(X.shape[0], 'row')}"
        )
    w = np.asarray(row_weights(w, len(labels)), dtype=np.float64)
    is_weight = (w >= 0) & np.isfinite(w)
    if w.shape != labels.shape or not is_weight.all():
        if w.shape == labels.shape:
            others = " and holds others"
        else:
            others = ""
        raise SettingError(
            f"sample_weight must be {show_count(len(labels), 'number')} of at least 0, one per row,"
            f" but it has shape {w.shape}{others}"
        )
    keep = w > 0
    # -1 is noise, which is no cluster
    if labels.dtype.kind in "if":
        keep &= labels != -1
    weighted = np.flatnonzero(keep)
    if not len(weighted):
        raise DataError(
            "there is no row in any cluster: all are noise or have weight zero"
        )
    names, codes = np.unique(labels[weighted], return_inverse=True)
    return codes, names, w[weighted], weighted


def _sums_by_cluster(
    X: Any,
    weighted: np.ndarray,
    codes: np.ndarray,
    w: np.ndarray,
    k: int,
    how: str | Metric,
) -> np.ndarray:
    """The weighted sums of the distances of every row to the rows of every cluster."""
    if isinstance(how, str) and how == "precomputed":
        D = np.asarray(X, dtype=np.float64)
        if D.ndim != 2 or D.shape[0] != D.shape[1]:
            raise DataError(
                f"metric='precomputed' needs the distances of all pairs, not shape {D.shape}"
            )
        D = D[np.ix_(weighted, weighted)]
        return (_members(codes, w, k) @ D.T).T
    chosen = metric(how)
    if len(weighted) < X.shape[0]:
        rows = X[weighted]
    else:
        rows = X
    if not sparse.issparse(rows):
        rows = float_matrix(rows, "a measure of validity needs")
        name = f"the metric {chosen.name!r}"
        check_finite(rows, name, chosen.takes_missing, "the metric 'gower'")
    # the rows cluster by cluster, as the kernel wants them
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(k + 1))
    return distance_sums(rows, rows[order], w[order], starts, chosen)
