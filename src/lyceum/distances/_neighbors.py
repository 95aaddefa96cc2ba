"""What a search for neighbours gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["Neighbors", "RadiusNeighbors"]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Neighbours in the order of their distances, equal ones in the order of their row numbers.

    Attributes
    ----------
    distances : array of shape (n, k)
    rows : array of int64 of shape (n, k)
    """

    distances: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class RadiusNeighbors:
    """For every query its neighbours within a radius, in the order of their distances.

    Attributes
    ----------
    offsets : array of int64 of shape (n + 1,)
        The neighbours of query i are those from `offsets[i]` up to `offsets[i + 1]`.
    distances : array of shape (all neighbours,)
    rows : array of int64 of shape (all neighbours,)
    """

    offsets: np.ndarray
    distances: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> Neighbors:
        if not -len(self) <= query < len(self):
            raise IndexError(f"there are {len(self)} queries, but number {query} was asked for")
        some = slice(*self.offsets[query % len(self) :][:2])
        return Neighbors(self.distances[some], self.rows[some])

    def __iter__(self) -> Iterator[Neighbors]:
        return (self[query] for query in range(len(self)))

    @property
    def counts(self) -> np.ndarray:
        """How many neighbours every query has."""
        return np.diff(self.offsets)
