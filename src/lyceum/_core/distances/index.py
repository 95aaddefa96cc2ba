"""An exact index of rows: leaves under a tree of boxes for few columns, else all pairs."""

from __future__ import annotations

import math
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy import sparse

from lyceum._core.distances.metrics import (
    Metric,
    check_same_categories,
    metric as as_metric,
    points_of,
    schema_of,
)
from lyceum._core.distances.native_comparisons import alike, raw_nearest, raw_pairwise
from lyceum._core.distances.neighbors import Neighbors, RadiusNeighbors
from lyceum._core.native import native
from lyceum._core.text import show_count
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.types import Data
from lyceum.errors import SettingError

# of a tree; with more, few boxes can be skipped, and comparing all pairs is faster
_MOST_COLUMNS = 8
_FEWEST_ROWS = 512  # of a tree
_QUERIES = 8192  # per task
_FEW = 1 << 15  # distances that are there before another thread has woken up
_RADIUS_QUERIES = 1024  # per task on the tree within a radius
_PAIRS = 1 << 20  # raw values in memory per task


def check_k(k: Any) -> None:
    """Refuse a number of neighbors that is no whole number of at least 1."""
    if not (isinstance(k, Integral) and int(k) >= 1):
        raise SettingError(f"k must be a whole number of at least 1, but it is {k!r}")


class NeighborIndex:
    """An exact index for repeated searches among the same rows.

    With few columns rows are grouped into leaves of 32 under a tree of bounding boxes, most of
    which a search skips. Otherwise all pairs are compared. Both give the same distances, bit for
    bit, and the same rows: of equally distant ones those with the lowest numbers.

    Parameters
    ----------
    rows : array, sparse array or Rows of shape (m, d)
        The rows to search; they are kept in memory.
    metric : str or Metric, default="euclidean"
        See `lyceum.distances.metric` for the names.
    algorithm : {"auto", "tree", "all pairs"}, default="auto"
        "tree" needs dense rows and a metric of differences (Euclidean, Manhattan, Chebyshev,
        Minkowski, Mahalanobis, cosine, correlation, value difference). "auto" takes it for at most
        8 columns and at least 512 rows.

    Attributes
    ----------
    metric : Metric
        The metric.
    algorithm : str
        The algorithm in use.

    See Also
    --------
    nearest : one search.

    Examples
    --------
    >>> from lyceum.distances import NeighborIndex
    >>> index = NeighborIndex([[4.0], [1.0], [7.0]])
    >>> index.nearest([[5.0]], 2).rows.tolist()
    [[0, 2]]
    >>> index.within([[5.0]], 1.5)[0].rows.tolist()
    [0]
    >>> index.nearest(None, 1).rows.tolist()  # of every row among the others
    [[1], [0], [0]]
    """

    def __init__(
        self,
        rows: Any,
        *,
        metric: str | Metric = "euclidean",
        algorithm: Literal["auto", "tree", "all pairs"] = "auto",
    ):
        self.metric = as_metric(metric)
        self._space = self.metric.space
        self._schema = schema_of(rows)
        self._points = points_of(self.metric, rows)
        self.algorithm = self._choose(algorithm)

    def _choose(self, algorithm: str) -> str:
        n, d = self._points.shape
        is_dense = not sparse.issparse(self._points)
        possible = self._space.has_boxes and is_dense and n > 0 and d > 0
        if algorithm == "tree" and not possible:
            raise SettingError(
                f"a tree needs dense rows and a metric of differences, which {self.metric.name!r}"
                " is not here: choose algorithm='all pairs'"
            )
        if algorithm not in ("auto", "tree", "all pairs"):
            raise SettingError(
                f"algorithm must be 'auto', 'tree' or 'all pairs', not {algorithm!r}"
            )
        if algorithm != "auto":
            return algorithm
        if possible and d <= _MOST_COLUMNS and n >= _FEWEST_ROWS:
            return "tree"
        return "all pairs"

    def __len__(self) -> int:
        return self._points.shape[0]

    def __repr__(self) -> str:
        n, d = self._points.shape
        return (
            f"NeighborIndex({show_count(n, 'row')} of {show_count(d, 'column')},"
            f" metric={self.metric!r}, algorithm={self.algorithm!r})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """The state without the native tree, which is rebuilt when it is needed."""
        return {name: value for name, value in vars(self).items() if name != "_tree"}

    @cached_property
    def _tree(self) -> Any:
        # rows in the order of leaves, so that those of a leaf are next to each other
        Z = np.asarray(self._points, dtype=np.float64)
        order = np.empty(len(Z), dtype=np.int64)
        native.leaf_order(np.ascontiguousarray(Z), native.leaf_rows, order)
        return native.LeafTree(np.ascontiguousarray(Z[order]), order)

    # -- nearest -----------------------------------------------------------------------

    def nearest(self, X: Data, k: int) -> Neighbors:
        """The k nearest rows for every row of X, or, if X is None, for every row among the others.

        Parameters
        ----------
        X : array, sparse array or Rows of shape (n, d), or None
        k : int
            How many neighbors.

        Returns
        -------
        Neighbors
            `distances` and `rows` of shape (n, k), the nearest first.
        """
        check_k(k)
        n_rows = len(self) - (X is None)
        if k > n_rows:
            choice = f"choose from 1 to {n_rows}" if n_rows else "give more rows"
            raise SettingError(
                f"k is {k}, but the search is among {show_count(n_rows, 'row')}: {choice}"
            )
        points, rows = self._queries(X)
        n, d = points.shape
        space = self._space
        # made here, before threads ask for it
        tree = self._tree if self.algorithm == "tree" else None
        raw = np.empty((n, k))
        indices = np.empty((n, k), dtype=np.int64)

        def work(part: slice) -> None:
            skip = np.arange(part.start, part.stop) if X is None else None
            if tree is None:
                nearest = raw_nearest(space, points[part], rows, int(k), skip)
                raw[part], indices[part] = nearest
            else:
                tree.nearest(
                    space.name,
                    space.power,
                    points[part],
                    skip,
                    raw[part],
                    indices[part],
                )
            raw[part] = self.metric.distances(raw[part], d)

        for _ in ordered_map(work, self._stretches(n, _QUERIES)):
            pass
        return Neighbors(raw, indices)

    def _queries(self, X: Data) -> tuple[Any, Any]:
        """The prepared rows of X, and the rows to search in the same form."""
        check_same_categories(self._schema, schema_of(X))
        points = self._points if X is None else points_of(self.metric, X)
        A, B = alike(points, self._points)
        if self.algorithm == "tree":
            if sparse.issparse(A):
                raise SettingError(
                    "a tree of dense rows cannot take sparse queries: give X.toarray()"
                )
            A = np.ascontiguousarray(A, dtype=np.float64)
        return A, B

    def _stretches(self, n: int, most: int) -> list[slice]:
        """Equal stretches of at most this many queries, as many for every thread; one if there are
        few."""
        if not n:
            return []
        threads = n_threads() if n * len(self) > _FEW else 1
        count = min(n, threads * math.ceil(n / (threads * most)))
        return [slice(n * i // count, n * (i + 1) // count) for i in range(count)]

    # -- within a radius ---------------------------------------------------------------

    def within(self, X: Data, radius: float) -> RadiusNeighbors:
        """All rows within `radius` of every row of X, or, if X is None, of every row among the
        others.

        Parameters
        ----------
        X : array, sparse array or Rows of shape (n, d), or None
        radius : float
            The largest distance.

        Returns
        -------
        RadiusNeighbors
            `found[i]` are the neighbors of row i, the nearest first.
        """
        if not (isinstance(radius, Real) and radius >= 0):
            raise SettingError(f"the radius must be at least 0, but it is {radius!r}")
        points, rows = self._queries(X)
        step = max(1, _PAIRS // max(1, len(self)))
        if self.algorithm == "tree":
            step = _RADIUS_QUERIES

        def work(part: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            query, near, distances = self._pairs_within(points[part], rows, radius)
            query += part.start
            if X is None:
                is_other = near != query
                return query[is_other], near[is_other], distances[is_other]
            return query, near, distances

        parts = [_NOTHING, *ordered_map(work, self._stretches(points.shape[0], step))]
        query, near, distances = (np.concatenate(part) for part in zip(*parts))
        counts = np.bincount(query.astype(np.int64), minlength=points.shape[0])
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return RadiusNeighbors(offsets, distances, near.astype(np.int64))

    def _pairs_within(
        self, points: Any, rows: Any, radius: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs of queries and rows within the radius, the nearest first, with distances."""
        d = points.shape[1]
        # A root may round: raw values a little above the limit are let through, and the distance
        # itself decides.
        limit = self.metric.raw(float(radius), d) * (1 + 1e-12)
        query, near, raw = self._raw_within(points, rows, limit)
        distances = self.metric.distances(np.array(raw), d)
        inside = distances <= radius
        query = query[inside]
        near = near[inside]
        distances = distances[inside]
        # rows of all pairs come in their order, so that a stable sort leaves it to equal distances
        keys: tuple[np.ndarray, ...] = (distances, query)
        if self.algorithm == "tree":
            keys = (near, distances, query)
        order = np.lexsort(keys)
        return query[order], near[order], distances[order]

    def _raw_within(
        self, points: Any, rows: Any, limit: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pairs of queries and rows whose raw values are at most the limit, and these."""
        if self.algorithm == "tree":
            counts = np.empty(points.shape[0], dtype=np.int64)
            raw, near = self._tree.within(
                self._space.name, self._space.power, points, limit, counts
            )
            return np.repeat(np.arange(len(counts)), counts), near, raw
        block = np.empty((points.shape[0], len(self)))
        raw_pairwise(self._space, points, rows, block)
        query, near = np.nonzero(block <= limit)
        return query, near, block[query, near]


_NOTHING = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
