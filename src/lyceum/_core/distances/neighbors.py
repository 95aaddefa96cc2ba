"""The results of a search for neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The neighbors of some queries: nearest first, equally near ones in the order of their row
    numbers.

    Parameters
    ----------
    distances : array of shape (n, k)
        The distances, ascending.
    rows : array of int64 of shape (n, k)
        The row numbers.

    See Also
    --------
    nearest : the search.

    Examples
    --------
    >>> from lyceum.distances import nearest
    >>> nearest([[5.0]], 2, among=[[4.0], [1.0], [7.0]])
    Neighbors(distances=array([[1., 2.]]), rows=array([[0, 2]]))
    >>> distances, rows = nearest([[5.0]], 2, among=[[4.0], [1.0], [7.0]])  # as in scikit-learn
    """

    distances: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[np.ndarray]:
        yield self.distances
        yield self.rows

    def __getitem__(self, part: int) -> np.ndarray:
        return (self.distances, self.rows)[part]


@dataclass(frozen=True, slots=True)
class RadiusNeighbors:
    """The neighbors of some queries within a radius, nearest first.

    Parameters
    ----------
    offsets : array of int64 of shape (n + 1,)
        The neighbors of query i are those from `offsets[i]` up to `offsets[i + 1]`.
    distances : array of shape (number of neighbors,)
        The distances of the neighbors of all queries.
    rows : array of int64 of shape (number of neighbors,)
        Their row numbers.

    Attributes
    ----------
    counts : array of int64 of shape (n,)
        The number of neighbors of every query.

    See Also
    --------
    within_radius : the search.

    Examples
    --------
    >>> from lyceum.distances import within_radius
    >>> found = within_radius([[0.0], [5.0]], 2.0, among=[[4.0], [1.0], [7.0]])
    >>> found.counts.tolist(), found[1].rows.tolist()
    ([1, 2], [0, 2])
    """

    offsets: np.ndarray
    distances: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> Neighbors:
        if not -len(self) <= query < len(self):
            raise IndexError(f"there are {len(self)} queries, but the index is {query}")
        query %= len(self)
        part = slice(self.offsets[query], self.offsets[query + 1])
        return Neighbors(self.distances[part], self.rows[part])

    def __iter__(self) -> Iterator[Neighbors]:
        return (self[query] for query in range(len(self)))

    @property
    def counts(self) -> np.ndarray:
        """How many neighbors every query has."""
        return np.diff(self.offsets)
