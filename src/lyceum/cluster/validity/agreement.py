"""How well a clustering agrees with known classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.statistics import p_log2_p
from lyceum.cluster.validity.matching import MATCHES, ClusterMatch
from lyceum.cluster.validity.pair_counts import PairCounts
from lyceum.errors import DataError, SettingError
from lyceum.report import Summary, Table


@dataclass(frozen=True)
class Agreement:
    """The table of classes and clusters, and every measure of their agreement.

    Attributes
    ----------
    table : array of shape (n_classes, n_clusters)
        The weight of the rows of every class in every cluster.
    classes, clusters : array
        Their labels.
    cluster_entropies, entropy : array of shape (n_clusters,), and float
        The entropy of the classes in every cluster, in bits, and its mean by weight: 0 is best.
    cluster_purities, purity : array of shape (n_clusters,), and float
        The share of the largest class in every cluster, and its mean by weight: 1 is best.
    pairs : PairCounts
        Judgments of all pairs of rows.
    mutual_information, normalized_mutual_information : float
        The mutual information of class and cluster, in bits; and over the mean of the two
        entropies.

    See Also
    --------
    agreement : Makes it.
    ClusterMatch : Clusters matched with classes.
    PairCounts : Judgments of pairs of rows.
    SumsOfSquares, Silhouette : Measures that need no classes.

    References
    ----------
    C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", Cambridge
    University Press, 2008, section 16.3.

    Examples
    --------
    >>> from lyceum.cluster import agreement
    >>> found = agreement(["a", "a", "a", "b"], [0, 0, 1, 1])
    >>> found.table.tolist(), found.cluster_purities.tolist(), found.purity
    ([[2.0, 1.0], [0.0, 1.0]], [1.0, 0.5], 0.75)
    >>> found.cluster_entropies.tolist(), found.entropy
    ([0.0, 1.0], 0.5)
    """

    table: np.ndarray
    classes: np.ndarray
    clusters: np.ndarray

    @cached_property
    def _shares(self) -> np.ndarray:
        """The share of every class in every cluster."""
        return self.table / self.table.sum(axis=0)

    @property
    def cluster_entropies(self) -> np.ndarray:
        """The entropy of the classes in every cluster, in bits."""
        return 0.0 - p_log2_p(self._shares).sum(axis=0)  # not -0.0 where a cluster is pure

    @property
    def entropy(self) -> float:
        """The mean entropy of the clusters, by their weights, in bits: 0 is best."""
        return float(np.average(self.cluster_entropies, weights=self.table.sum(axis=0)))

    @property
    def cluster_purities(self) -> np.ndarray:
        """The share of the largest class in every cluster."""
        return self._shares.max(axis=0)

    @property
    def purity(self) -> float:
        """The mean purity of the clusters, by their weights: 1 is best."""
        return float(self.table.max(axis=0).sum() / self.table.sum())

    @cached_property
    def pairs(self) -> PairCounts:
        """Judgments of all pairs of rows."""
        together = _pairs(self.table).sum()
        classes = _pairs(self.table.sum(axis=1)).sum()
        clusters = _pairs(self.table.sum(axis=0)).sum()
        total = _pairs(self.table.sum())
        return PairCounts(
            float(together),
            float(clusters - together),
            float(classes - together),
            float(total - classes - clusters + together),
        )

    @property
    def mutual_information(self) -> float:
        """The mutual information of class and cluster, in bits."""
        joint = self.table / self.table.sum()
        free = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        some = joint > 0
        return max(0.0, float((joint[some] * np.log2(joint[some] / free[some])).sum()))

    @property
    def normalized_mutual_information(self) -> float:
        """The mutual information over the mean of the two entropies: 1 is best."""
        joint = self.table / self.table.sum()
        mean = -(p_log2_p(joint.sum(axis=1)).sum() + p_log2_p(joint.sum(axis=0)).sum()) / 2
        if mean > 0:
            return self.mutual_information / mean
        return 1.0

    def align(self, method: Literal["largest", "greedy", "optimal"] = "optimal") -> ClusterMatch:
        """Clusters matched with classes; see `align`."""
        return ClusterMatch(self.table, self.classes, self.clusters, MATCHES[method](self.table))

    def as_dict(self) -> dict[str, Any]:
        """The measures by name."""
        return {
            "entropy": self.entropy,
            "purity": self.purity,
            "rand": self.pairs.rand,
            "adjusted_rand_score": self.pairs.adjusted_rand_score,
            "pair_f1": self.pairs.f1,
            "mutual_information": self.mutual_information,
            "normalized_mutual_information": self.normalized_mutual_information,
            "f1_largest": self.align("largest").f1,
            "f1_greedy": self.align("greedy").f1,
            "f1_optimal": self.align("optimal").f1,
        }

    def summary(self) -> Summary:
        """The measures, and the table."""
        rows = [(str(name), *row) for name, row in zip(self.classes.tolist(), self.table.tolist())]
        head = ("class", *(f"cluster {name}" for name in self.clusters.tolist()))
        return Summary(
            "Agreement of clusters and classes", self.as_dict(), [Table("Rows", head, rows)]
        )


def agreement(y: Any, labels: Any, sample_weight: Any = None) -> Agreement:
    """Every measure of how well clusters agree with known classes.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters; noise (-1) is a cluster like the others.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    Agreement

    Examples
    --------
    >>> from lyceum.cluster import agreement
    >>> found = agreement(["a", "a", "a", "b", "b", "b"], [0, 0, 1, 1, 1, 1])
    >>> round(found.purity, 4), round(found.entropy, 4), round(found.pairs.adjusted_rand_score, 4)
    (0.8333, 0.5409, 0.3243)

    See Also
    --------
    match_clusters : clusters as classes.
    """
    y = np.asarray(y)
    labels = np.asarray(labels)
    if y.shape != labels.shape or y.ndim != 1 or not len(y):
        raise SettingError(
            f"y and labels must have one entry per row, not shapes {y.shape} and {labels.shape}"
        )
    (classes, rows), (clusters, columns) = _codes(y, "y"), _codes(labels, "labels")
    w = np.asarray(row_weights(sample_weight, len(y)), dtype=np.float64)
    table = np.bincount(rows * len(clusters) + columns, w, len(classes) * len(clusters))
    table = table.reshape(len(classes), len(clusters))
    kept = table.sum(axis=0) > 0, table.sum(axis=1) > 0
    return Agreement(table[kept[1]][:, kept[0]], classes[kept[1]], clusters[kept[0]])


def _codes(labels: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, sorted, and the place of every row among them."""
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(
            f"{name} holds labels that cannot be sorted together ({error}): give all of one type,"
            " and fill missing ones"
        ) from None


def entropy(y: Any, labels: Any) -> float:
    """The mean entropy of the classes in the clusters, in bits: 0 if every cluster has one class.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters.

    Returns
    -------
    float

    Examples
    --------
    >>> from lyceum.cluster import entropy
    >>> entropy(["a", "b", "a", "b"], [0, 0, 1, 1])
    1.0
    """
    return agreement(y, labels).entropy


def purity(y: Any, labels: Any) -> float:
    """The share of rows that are of the largest class of their cluster.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters.

    Returns
    -------
    float

    Examples
    --------
    >>> from lyceum.cluster import purity
    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    return agreement(y, labels).purity


def adjusted_rand_score(y: Any, labels: Any) -> float:
    """The adjusted Rand index: 1 for equal partitions, about 0 for unrelated ones.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters.

    Returns
    -------
    float

    Examples
    --------
    >>> from lyceum.cluster import adjusted_rand_score
    >>> adjusted_rand_score([0, 0, 1, 1], [5, 5, 3, 3])
    1.0

    References
    ----------
    Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2.
    """
    return agreement(y, labels).pairs.adjusted_rand_score


def mutual_information(y: Any, labels: Any, *, normalized: bool = False) -> float:
    """The mutual information of classes and clusters, in bits; or over the mean of the two
    entropies.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters.
    normalized : bool, default=False
        Whether to divide by the mean of the two entropies, so that 1 is best.

    Returns
    -------
    float

    Examples
    --------
    >>> from lyceum.cluster import mutual_information
    >>> mutual_information([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    found = agreement(y, labels)
    if normalized:
        return found.normalized_mutual_information
    return found.mutual_information


def pair_counts(y: Any, labels: Any) -> PairCounts:
    """Pairwise judgments of a clustering against known classes.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters.

    Returns
    -------
    PairCounts

    Examples
    --------
    >>> from lyceum.cluster import pair_counts
    >>> pair_counts(["a", "a", "b", "b"], [0, 0, 0, 1])
    PairCounts(together=1.0, only_cluster=2.0, only_class=1.0, apart=2.0)
    """
    return agreement(y, labels).pairs


def match_clusters(
    y: Any, labels: Any, method: Literal["largest", "greedy", "optimal"] = "optimal"
) -> ClusterMatch:
    """Match clusters with classes, and measure the F1 of the classes so predicted.

    Parameters
    ----------
    y : array of shape (n,)
        The classes.
    labels : array of shape (n,)
        The clusters.
    method : {"largest", "greedy", "optimal"}, default="optimal"
        "largest": every cluster goes to the class with which it overlaps most; several may go to
        one class. "greedy": the largest overlap of all is matched first, then the largest of what
        is left; one to one. "optimal": the one-to-one matching with the largest overlap in all (the
        Hungarian method).

    Returns
    -------
    Alignment

    Examples
    --------
    >>> from lyceum.cluster import match_clusters
    >>> found = match_clusters(["a", "a", "a", "b", "b", "b"], [0, 0, 1, 1, 1, 1])
    >>> found.classes, round(found.accuracy, 4), round(found.f1, 4)
    ({0: 'a', 1: 'b'}, 0.8333, 0.8286)

    See Also
    --------
    agreement : measures that need no matching.
    """
    if method not in MATCHES:
        raise SettingError(f"method must be 'largest', 'greedy' or 'optimal', not {method!r}")
    return agreement(y, labels).align(method)


def _pairs(counts: Any) -> Any:
    return counts * (counts - 1) / 2
