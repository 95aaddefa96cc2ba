"""Clusters matched with classes: by largest overlap, greedily, and optimally."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from lyceum._core.report import Shown


@dataclass(frozen=True)
class ClusterMatch(Shown):
    """Clusters matched with classes.

    Attributes
    ----------
    table : array of shape (n_classes, n_clusters)
        The weight of the rows of every class in every cluster.
    class_names, cluster_names : array
        Their labels.
    matches : array of int of shape (n_clusters,)
        The class of every cluster, as its index in `class_names`; -1 for none.
    classes : dict
        The class of every cluster, None for none.
    accuracy : float
        The share of rows whose cluster is matched with their class.
    class_f1, f1 : array of shape (n_classes,), and float
        The F1 of every class, and their mean.

    See Also
    --------
    match_clusters : Makes it.
    Agreement : Measures that need no matching.

    References
    ----------
    H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics
    Quarterly 2, 1955.

    Examples
    --------
    >>> from lyceum.cluster import match_clusters
    >>> match = match_clusters(["a", "a", "a", "b", "b", "b"], [0, 0, 1, 1, 1, 1])
    >>> match.classes, match.class_f1.round(4).tolist()  # 2·2/(2 + 3), 2·3/(4 + 3)
    ({0: 'a', 1: 'b'}, [0.8, 0.8571])
    """

    table: np.ndarray
    class_names: np.ndarray
    cluster_names: np.ndarray
    matches: np.ndarray

    @property
    def classes(self) -> dict[Any, Any]:
        """The class of every cluster, None for none."""
        names = self.class_names.tolist()
        pairs = zip(self.cluster_names.tolist(), self.matches.tolist())
        return {cluster: names[m] if m >= 0 else None for cluster, m in pairs}

    @cached_property
    def _counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """True positives, rows predicted, and rows of every class."""
        table = self.table
        hit = np.zeros(len(table))
        predicted = np.zeros(len(table))
        for cluster in np.flatnonzero(self.matches >= 0):
            label = self.matches[cluster]
            hit[label] += table[label, cluster]
            predicted[label] += table[:, cluster].sum()
        return hit, predicted, table.sum(axis=1)

    @property
    def accuracy(self) -> float:
        """The share of rows whose cluster is matched with their class."""
        hit, _, sizes = self._counts
        return float(hit.sum() / sizes.sum())

    @property
    def class_f1(self) -> np.ndarray:
        """The F1 of every class."""
        hit, predicted, sizes = self._counts
        return 2 * hit / (predicted + sizes)

    @property
    def f1(self) -> float:
        """The mean F1 of the classes."""
        return float(self.class_f1.mean())


def _greedy(table: np.ndarray) -> np.ndarray:
    # the largest cell left, then its row and column are out
    left = table.astype(np.float64).copy()
    matches = np.full(table.shape[1], -1)
    for _ in range(min(table.shape)):
        row, column = np.unravel_index(int(left.argmax()), left.shape)
        matches[column] = row
        left[row] = -1.0
        left[:, column] = -1.0
    return matches


def _optimal(table: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    # one class per cluster, so that the sum of the matched cells is largest
    rows, columns = linear_sum_assignment(table, maximize=True)
    matches = np.full(table.shape[1], -1)
    matches[columns] = rows
    return matches


MATCHES: dict[str, Callable[..., Any]] = {
    "largest": partial(np.argmax, axis=0),
    "greedy": _greedy,
    "optimal": _optimal,
}
