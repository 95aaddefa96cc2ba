"""Nearest rows, in memory or with the searched rows streamed from a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.distances.index import NeighborIndex, check_k
from lyceum._core.distances.metrics import (
    Metric,
    check_same_categories,
    metric as as_metric,
    points_of,
    schema_of,
)
from lyceum._core.distances.native_comparisons import alike, raw_nearest
from lyceum._core.distances.neighbors import Neighbors, RadiusNeighbors
from lyceum._core.text import show_count
from lyceum._core.types import Data
from lyceum.errors import SettingError


def nearest(
    X: Data, k: int, *, among: Any = None, metric: str | Metric = "euclidean"
) -> Neighbors:
    """The k nearest rows for every row of X, exactly.

    Rows at equal distances come in the order of their numbers (equal before a root is taken). Rows
    scanned from a file or from Dask are streamed; the result is that of rows in memory.

    Parameters
    ----------
    X : array, sparse array or Rows of shape (n, d)
    k : int
        How many neighbors.
    among : array, sparse array or Rows of shape (m, d), optional
        The rows to search. By default those of X, where no row is a neighbor of itself.
    metric : str or Metric, default="euclidean"
        See `lyceum.distances.metric` for the names.

    Returns
    -------
    Neighbors
        `distances` and `rows` of shape (n, k), the nearest first.

    Examples
    --------
    >>> from lyceum.distances import nearest
    >>> found = nearest([[0.0], [5.0]], 2, among=[[4.0], [1.0], [7.0]])
    >>> found.rows.tolist(), found.distances.tolist()
    ([[1, 0], [0, 2]], [[1.0, 4.0], [1.0, 2.0]])

    See Also
    --------
    NeighborIndex : for many questions about the same rows.
    within_radius : all rows within a distance.
    """
    metric = as_metric(metric)
    if isinstance(among, Rows):
        check_same_categories(among.schema, schema_of(X))
        points = points_of(metric, X)
        check_k(k)
        metric.check_schema(among.schema)
        of = partial(NearestLists.of, points=points, metric=metric, k=int(k))
        return among.reduce(of).finish()
    if among is None:
        return NeighborIndex(X, metric=metric).nearest(None, k)
    return NeighborIndex(among, metric=metric).nearest(X, k)


def within_radius(
    X: Data, radius: float, *, among: Any = None, metric: str | Metric = "euclidean"
) -> RadiusNeighbors:
    """All rows within a distance of every row of X.

    Parameters
    ----------
    X : array, sparse array or Rows of shape (n, d)
    radius : float
        The largest distance.
    among : array, sparse array or Rows of shape (m, d), optional
        The rows to search. By default those of X, where no row is a neighbor of itself.
    metric : str or Metric, default="euclidean"
        See `lyceum.distances.metric` for the names.

    Returns
    -------
    RadiusNeighbors
        `found[i]` are the neighbors of row i, the nearest first.

    Examples
    --------
    >>> from lyceum.distances import within_radius
    >>> found = within_radius([[0.0], [5.0]], 2.0, among=[[4.0], [1.0], [7.0]])
    >>> found[1].rows.tolist(), found[1].distances.tolist()
    ([0, 2], [1.0, 2.0])

    See Also
    --------
    nearest : a fixed number of neighbors.
    """
    if among is None:
        return NeighborIndex(X, metric=metric).within(None, radius)
    return NeighborIndex(among, metric=metric).within(X, radius)


@dataclass(frozen=True, slots=True)
class NearestLists:
    """The k nearest of the rows seen so far, for each of some fixed points: a statistic that
    merges.

    Parameters
    ----------
    metric : Metric
        How rows are compared.
    n_columns : int
        The number of columns compared.
    n_rows : int
        The number of rows seen.
    raw : array of shape (n, k)
        The raw values of the metric, ascending; infinite where fewer than k rows were seen.
    rows : array of int64 of shape (n, k)
        The row numbers; -1 where fewer than k rows were seen.

    See Also
    --------
    nearest : the search that uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.distances import Euclidean
    >>> from lyceum._core.distances import NearestLists
    >>> rows = scan(np.array([[4.0], [1.0], [7.0]]))
    >>> points = np.array([[5.0]])
    >>> settings = {"points": points, "metric": Euclidean(), "k": 2}
    >>> lists = rows.reduce(lambda block: NearestLists.of(block, **settings))
    >>> lists.finish().rows.tolist()
    [[0, 2]]
    """

    metric: Metric
    n_columns: int
    n_rows: int
    raw: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, block: Block, points: Any, metric: Metric, k: int) -> NearestLists:
        """The lists of one block.

        Parameters
        ----------
        block : Block
            Rows to search, numbered from its start.
        points : array or CSR array of shape (n, d)
            The points as the metric prepares them, `metric.points(X)`.
        metric : Metric
        k : int
            How many neighbors.
        """
        A, B = alike(points, points_of(metric, block.X))
        raw, rows = raw_nearest(metric.space, A, B, k, None, block.start)
        return cls(metric, A.shape[1], len(block), raw, rows)

    def merge(self, other: NearestLists) -> NearestLists:
        """The lists of both sets of rows.

        Parameters
        ----------
        other : NearestLists
            Lists for the same points, from other rows.
        """
        k = self.raw.shape[1]
        raw = np.hstack([self.raw, other.raw])
        rows = np.hstack([self.rows, other.rows])
        # by distance, places without a row last, then by row number: the order of merging is free
        order = np.lexsort((rows, rows < 0, raw), axis=1)[:, :k]
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            raw=np.take_along_axis(raw, order, axis=1),
            rows=np.take_along_axis(rows, order, axis=1),
        )

    def finish(self) -> Neighbors:
        """The neighbors, after all rows are merged."""
        k = self.raw.shape[1]
        if self.n_rows < k:
            raise SettingError(
                f"k is {k}, but the search is among {show_count(self.n_rows, 'row')}: choose fewer"
            )
        distances = self.metric.distances(self.raw.copy(), self.n_columns)
        return Neighbors(distances, self.rows)
