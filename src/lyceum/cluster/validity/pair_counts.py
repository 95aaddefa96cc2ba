"""Pairs of rows, judged by a clustering and by known classes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PairCounts:
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
        total = self.together + self.only_cluster + self.only_class + self.apart
        if total:
            return (self.together + self.apart) / total
        return 1.0

    @property
    def adjusted_rand_score(self) -> float:
        """The Rand index, corrected for chance."""
        a = self.together
        b = self.only_cluster
        c = self.only_class
        d = self.apart
        if b == c == 0:
            return 1.0
        return 2 * (a * d - b * c) / ((a + c) * (c + d) + (a + b) * (b + d))

    @property
    def precision(self) -> float:
        """The share of pairs in one cluster that are of one class."""
        total = self.together + self.only_cluster
        if total:
            return self.together / total
        return 1.0

    @property
    def recall(self) -> float:
        """The share of pairs of one class that are in one cluster."""
        total = self.together + self.only_class
        if total:
            return self.together / total
        return 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = 2 * self.together + self.only_cluster + self.only_class
        if total:
            return 2 * self.together / total
        return 1.0

    @property
    def jaccard(self) -> float:
        """Pairs together in both over pairs together in either."""
        total = self.together + self.only_cluster + self.only_class
        if total:
            return self.together / total
        return 1.0
