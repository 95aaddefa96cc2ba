"""How well a clustering agrees with known classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.data import is_missing, row_weights
from lyceum._core.report import Shown
from lyceum._core.statistics import p_log2_p
from lyceum._core.text import show_count
from lyceum._core.types import Target, Weights
from lyceum.cluster.validity.chance import expected_information
from lyceum.cluster.validity.matching import MATCHES, ClusterMatch
from lyceum.errors import DataError, SettingError
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class PairCounts(Shown):
    """Counts of pairs of rows: whether they are of one class, and whether they are in one cluster.

    Attributes
    ----------
    together : float
        Pairs of one class in one cluster (true positives).
    only_cluster : float
        Pairs of two classes in one cluster (false positives).
    only_class : float
        Pairs of one class in two clusters (false negatives).
    apart : float
        Pairs of two classes in two clusters (true negatives).
    rand : float
        The share of pairs that are judged correctly.
    adjusted_rand_score : float
        The Rand index, corrected for chance.
    precision, recall, f1 : float
        Of the judgment "one class", if a pair is in one cluster.
    jaccard : float
        Pairs together in both over pairs together in either.

    See Also
    --------
    pair_counts : Makes it.
    Agreement : Other measures of the same table.
    adjusted_rand_score : One of its measures alone.

    References
    ----------
    L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> from lyceum.cluster import pair_counts
    >>> pairs = pair_counts(["a", "a", "b", "b"], [0, 0, 0, 1])
    >>> pairs.together, pairs.only_cluster, pairs.only_class, pairs.apart
    (1.0, 2.0, 1.0, 2.0)
    >>> pairs.rand, pairs.recall, round(pairs.precision, 4)  # 3/6, 1/2, 1/3
    (0.5, 0.5, 0.3333)
    """

    together: float
    only_cluster: float
    only_class: float
    apart: float

    @property
    def rand(self) -> float:
        """The share of pairs that are judged rightly."""
        right = self.together + self.apart
        return _share(right, right + self.only_cluster + self.only_class)

    @property
    def adjusted_rand_score(self) -> float:
        """The Rand index, corrected for chance."""
        a = self.together
        b = self.only_cluster
        c = self.only_class
        d = self.apart
        if b == c == 0:
            return 1.0
        # (Rand - expected) / (1 - expected), multiplied out (Hubert and Arabie 1985)
        largest = (a + c) * (c + d) + (a + b) * (b + d)
        return 2 * (a * d - b * c) / largest

    @property
    def precision(self) -> float:
        """The share of pairs in one cluster that are of one class."""
        return _share(self.together, self.together + self.only_cluster)

    @property
    def recall(self) -> float:
        """The share of pairs of one class that are in one cluster."""
        return _share(self.together, self.together + self.only_class)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = 2 * self.together
        return _share(both, both + self.only_cluster + self.only_class)

    @property
    def jaccard(self) -> float:
        """Pairs together in both over pairs together in either."""
        either = self.together + self.only_cluster + self.only_class
        return _share(self.together, either)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


@dataclass(frozen=True)
class Agreement(Shown):
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
    adjusted_mutual_information : float
        The mutual information, corrected for chance; NaN where weights are not whole numbers.

    See Also
    --------
    agreement : Makes it.
    ClusterMatch : Clusters matched with classes.
    PairCounts : Judgments of pairs of rows.
    SumsOfSquares, Silhouette : Measures that need no classes.

    References
    ----------
    C. D. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", Cambridge
    University Press, 2008, section 16.3. N. X. Vinh, J. Epps and J. Bailey, "Information theoretic
    measures for clusterings comparison", Journal of Machine Learning Research 11, 2010.

    Examples
    --------
    >>> from lyceum.cluster import agreement
    >>> measures = agreement(["a", "a", "a", "b"], [0, 0, 1, 1])
    >>> measures.table.tolist(), measures.cluster_purities.tolist(), measures.purity
    ([[2.0, 1.0], [0.0, 1.0]], [1.0, 0.5], 0.75)
    >>> measures.cluster_entropies.tolist(), measures.entropy
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
        # not -0.0 where a cluster is pure
        return 0.0 - p_log2_p(self._shares).sum(axis=0)

    @property
    def entropy(self) -> float:
        """The mean entropy of the clusters, by their weights, in bits: 0 is best."""
        weights = self.table.sum(axis=0)
        return float(np.average(self.cluster_entropies, weights=weights))

    @property
    def cluster_purities(self) -> np.ndarray:
        """The share of the largest class in every cluster."""
        return self._shares.max(axis=0)

    @property
    def purity(self) -> float:
        """The mean purity of the clusters, by their weights: 1 is best."""
        largest = self.table.max(axis=0)
        return float(largest.sum() / self.table.sum())

    @cached_property
    def pairs(self) -> PairCounts:
        """Judgments of all pairs of rows."""
        # n (n - 1) / 2 pairs of n rows: of a cell, of a class, of a cluster, of all
        together = _pairs(self.table).sum()
        classes = _pairs(self.table.sum(axis=1)).sum()
        clusters = _pairs(self.table.sum(axis=0)).sum()
        every = _pairs(self.table.sum())
        return PairCounts(
            together=float(together),
            only_cluster=float(clusters - together),
            only_class=float(classes - together),
            apart=float(every - classes - clusters + together),
        )

    @property
    def mutual_information(self) -> float:
        """The mutual information of class and cluster, in bits."""
        joint = self.table / self.table.sum()
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        cells = joint > 0
        ratio = joint[cells] / independent[cells]
        information = (joint[cells] * np.log2(ratio)).sum()
        return max(0.0, float(information))

    @property
    def normalized_mutual_information(self) -> float:
        """The mutual information over the mean of the two entropies: 1 is best."""
        # 1 for one class in one cluster, where both entropies are 0
        if self._mean_entropy > 0:
            return self.mutual_information / self._mean_entropy
        return 1.0

    @property
    def _mean_entropy(self) -> float:
        """The mean of the entropy of the classes and of that of the clusters, in bits."""
        joint = self.table / self.table.sum()
        class_entropy = -p_log2_p(joint.sum(axis=1)).sum()
        cluster_entropy = -p_log2_p(joint.sum(axis=0)).sum()
        return float(class_entropy + cluster_entropy) / 2

    @property
    def adjusted_mutual_information(self) -> float:
        """The mutual information, corrected for chance: 1 is best, 0 that of random clusters."""
        if (self.table != np.floor(self.table)).any():
            return float("nan")
        # (I - E) / (mean entropy - E), E of all tables with these margins (Vinh et al. 2010)
        expected = expected_information(self.table)
        gain = self.mutual_information - expected
        most = self._mean_entropy - expected
        # one class in one cluster, or each row its own class and cluster: nothing is left to chance
        if abs(most) < 1e-12:
            return 1.0
        return gain / most

    def match(
        self, method: Literal["largest", "greedy", "optimal"] = "optimal"
    ) -> ClusterMatch:
        """Clusters matched with classes; see `match_clusters`."""
        matches = MATCHES[method](self.table)
        return ClusterMatch(self.table, self.classes, self.clusters, matches)

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
            "adjusted_mutual_information": self.adjusted_mutual_information,
            "f1_largest": self.match("largest").f1,
            "f1_greedy": self.match("greedy").f1,
            "f1_optimal": self.match("optimal").f1,
        }

    def summary(self) -> Summary:
        """The measures, and the table."""
        names = map(str, self.classes.tolist())
        rows = [(name, *row) for name, row in zip(names, self.table.tolist())]
        head = ("class", *(f"cluster {name}" for name in self.clusters.tolist()))
        table = Table("Rows", head, rows)
        return Summary("Agreement of clusters and classes", self.as_dict(), [table])


def agreement(
    labels_true: Target, labels_pred: Target, sample_weight: Weights = None
) -> Agreement:
    """Every measure of how well clusters agree with known classes.

    Parameters
    ----------
    labels_true : array of shape (n,)
        The classes.
    labels_pred : array of shape (n,)
        The clusters; noise (-1) is a cluster like the others.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    Agreement

    Examples
    --------
    >>> from lyceum.cluster import agreement
    >>> measures = agreement(["a", "a", "a", "b", "b", "b"], [0, 0, 1, 1, 1, 1])
    >>> round(measures.purity, 4), round(measures.entropy, 4)
    (0.8333, 0.5409)
    >>> round(measures.pairs.adjusted_rand_score, 4)
    0.3243

    See Also
    --------
    match_clusters : clusters as classes.
    """
    labels_true = _labels(labels_true, "labels_true")
    labels_pred = _labels(labels_pred, "labels_pred")
    shape = labels_true.shape
    if shape != labels_pred.shape or len(shape) != 1 or shape == (0,):
        raise SettingError(
            "labels_true and labels_pred must have one entry per row, not shapes"
            f" {shape} and {labels_pred.shape}"
        )
    classes, rows = _codes(labels_true, "labels_true")
    clusters, columns = _codes(labels_pred, "labels_pred")
    w = np.asarray(row_weights(sample_weight, len(rows)), dtype=np.float64)
    shape = (len(classes), len(clusters))
    cells = rows * len(clusters) + columns
    table = np.bincount(cells, w, shape[0] * shape[1]).reshape(shape)
    # a class or cluster of zero-weight rows is left out
    has_rows = table.sum(axis=1) > 0
    has_columns = table.sum(axis=0) > 0
    table = table[has_rows][:, has_columns]
    return Agreement(table, classes[has_rows], clusters[has_columns])


def _labels(labels: Target, name: str) -> np.ndarray:
    """The labels as an array; missing ones are refused, which are no class of their own."""
    array = np.asarray(labels)
    missing = np.zeros(array.shape, dtype=bool)
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind in "OU" and array.ndim == 1:
        # NumPy writes NaN among the texts of a list as a text
        cells: Any = labels
        missing = np.array([is_missing(label) for label in cells], dtype=bool)
    if missing.any():
        raise DataError(
            f"{name} has {show_count(int(missing.sum()), 'missing label')}, the first in row"
            f" {np.flatnonzero(missing)[0]}: leave such rows out of both, or name their class"
        )
    return array


def _codes(labels: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, sorted, and the index of every row among them."""
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(
            f"{name} holds labels that cannot be sorted together ({error}): give all of one type"
        ) from None


def entropy(labels_true: Target, labels_pred: Target) -> float:
    """The mean entropy of the classes in the clusters, in bits: 0 if every cluster has one class.

    Parameters
    ----------
    labels_true : array of shape (n,)
        The classes.
    labels_pred : array of shape (n,)
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
    return agreement(labels_true, labels_pred).entropy


def purity(labels_true: Target, labels_pred: Target) -> float:
    """The share of rows that are of the largest class of their cluster.

    Parameters
    ----------
    labels_true : array of shape (n,)
        The classes.
    labels_pred : array of shape (n,)
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
    return agreement(labels_true, labels_pred).purity


def pair_counts(labels_true: Target, labels_pred: Target) -> PairCounts:
    """Pairwise judgments of a clustering against known classes.

    Parameters
    ----------
    labels_true : array of shape (n,)
        The classes.
    labels_pred : array of shape (n,)
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
    return agreement(labels_true, labels_pred).pairs


def judged_pairs(
    pairs: ArrayLike,
    together: ArrayLike,
    labels_pred: Target,
    sample_weight: Weights = None,
) -> PairCounts:
    """A clustering against judgments of some pairs of rows, e.g. by a person, where no classes are
    known.

    Its `rand` is the share of the judgments with which the clusters agree, its
    `adjusted_rand_score` is Cohen's kappa of the two. With all pairs it is `pair_counts`.

    Parameters
    ----------
    pairs : array of int of shape (m, 2)
        The numbers of the two rows of every pair, counted from 0; a pair may come several times.
    together : array of shape (m,)
        Whether the two belong together: True and False, or 1 and 0.
    labels_pred : array of shape (n,)
        The clusters; noise (-1) is a cluster like the others.
    sample_weight : array of shape (m,), optional
        How often every judgment counts.

    Returns
    -------
    PairCounts

    Examples
    --------
    >>> from lyceum.cluster import judged_pairs
    >>> judged = judged_pairs([[0, 1], [0, 2], [1, 3]], [True, True, False], [0, 0, 1, 1])
    >>> judged
    PairCounts(together=1.0, only_cluster=0.0, only_class=1.0, apart=1.0)
    >>> round(judged.rand, 3), judged.precision, judged.recall
    (0.667, 1.0, 0.5)

    See Also
    --------
    pair_counts : all pairs, where the class of every row is known.
    """
    _, clusters = _codes(_labels(labels_pred, "labels_pred"), "labels_pred")
    rows = np.asarray(pairs)
    judged = np.asarray(together)
    _check_pairs(rows, judged, len(clusters))
    w = np.asarray(row_weights(sample_weight, len(rows)), dtype=np.float64)
    in_cluster = clusters[rows[:, 0]] == clusters[rows[:, 1]]
    # cells: apart, only the judge, only the cluster, both
    counts = np.bincount(2 * in_cluster + judged.astype(np.int64), w, 4).tolist()
    apart, only_class, only_cluster, both = counts
    return PairCounts(both, only_cluster, only_class, apart)


def _check_pairs(rows: np.ndarray, judged: np.ndarray, n: int) -> None:
    """Refuse what is no pair of n rows, or no judgment of one."""
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise SettingError(
            f"pairs must be row numbers of shape (m, 2), but they have the shape {rows.shape} and"
            f" the type {rows.dtype}"
        )
    is_pair = (rows >= 0).all(axis=1) & (rows < n).all(axis=1)
    is_pair &= rows[:, 0] != rows[:, 1]
    if not is_pair.all():
        first = int(np.flatnonzero(~is_pair)[0])
        raise SettingError(
            f"pair {first} is {rows[first].tolist()}: two different row numbers from 0 to {n - 1}"
            " are needed"
        )
    if judged.shape != (len(rows),) or not np.isin(judged, (0, 1)).all():
        raise SettingError(
            f"together must say True or False for each of {show_count(len(rows), 'pair')}, but it"
            f" has the shape {judged.shape}"
        )


def match_clusters(
    labels_true: Target,
    labels_pred: Target,
    method: Literal["largest", "greedy", "optimal"] = "optimal",
) -> ClusterMatch:
    """Match clusters with classes, and measure the F1 of the classes so predicted.

    Parameters
    ----------
    labels_true : array of shape (n,)
        The classes.
    labels_pred : array of shape (n,)
        The clusters.
    method : {"largest", "greedy", "optimal"}, default="optimal"
        "largest": every cluster goes to the class with which it overlaps most; several may go to
        one class. "greedy": the largest overlap of all is matched first, then the largest of what
        is left; one to one. "optimal": the one-to-one matching with the largest overlap in all (the
        Hungarian method).

    Returns
    -------
    ClusterMatch

    Examples
    --------
    >>> from lyceum.cluster import match_clusters
    >>> match = match_clusters(["a", "a", "a", "b", "b", "b"], [0, 0, 1, 1, 1, 1])
    >>> match.classes, round(match.accuracy, 4), round(match.f1, 4)
    ({0: 'a', 1: 'b'}, 0.8333, 0.8286)

    See Also
    --------
    agreement : measures that need no matching.
    """
    if method not in MATCHES:
        raise SettingError(
            f"method must be 'largest', 'greedy' or 'optimal', not {method!r}"
        )
    return agreement(labels_true, labels_pred).match(method)


def _pairs(counts: Any) -> Any:
    return counts * (counts - 1) / 2
