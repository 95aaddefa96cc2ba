"""GivenDistances: neighbors among rows whose distances are given, metric="precomputed"."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances import Neighbors, RadiusNeighbors
from lyceum.errors import DataError


class GivenDistances:
    """The stored rows of a learner that is given distances, searched as a `NeighborIndex` is.

    Queries are rows of distances to the stored rows. In a sparse graph, cells that are not stored
    are farther than all others, and a stored zero is a distance of zero.
    """

    def __init__(self, distances: Any) -> None:
        n_rows, n_columns = distances.shape
        if n_rows != n_columns:
            raise DataError(
                f"Precomputed matrix must be square: it has shape {distances.shape}, and"
                " metric='precomputed' needs the distances of all pairs of rows of fit"
            )
        self.distances = distances

    def __len__(self) -> int:
        return self.distances.shape[0]

    def nearest(self, X: Any, k: int) -> Neighbors:
        """The k nearest rows of every query; of None, of every stored row among the others."""
        table = self._table(X)
        if k > table.shape[1] - (X is None):
            raise DataError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit ="
                f" {len(self)}, n_samples = {table.shape[0]}"
            )
        order = np.argsort(table, axis=1, kind="stable")[:, :k]
        distances = np.take_along_axis(table, order, axis=1)
        if np.isinf(distances).any():
            row = int(np.flatnonzero(np.isinf(distances).any(axis=1))[0])
            n_stored = int(np.isfinite(table[row]).sum())
            raise DataError(
                f"{k} neighbors are required per sample, but row {row} of the graph has only"
                f" {n_stored}: store more of its distances"
            )
        return Neighbors(distances, order.astype(np.int64))

    def within(self, X: Any, radius: float) -> RadiusNeighbors:
        """The rows within a radius of every query, nearest first."""
        table = self._table(X)
        order = np.argsort(table, axis=1, kind="stable")
        ordered = np.take_along_axis(table, order, axis=1)
        is_near = ordered <= radius
        offsets = np.concatenate([[0], np.cumsum(is_near.sum(axis=1))])
        return RadiusNeighbors(
            offsets.astype(np.int64), ordered[is_near], order[is_near]
        )

    def _table(self, X: Any) -> np.ndarray:
        """Distances of queries to the stored rows, infinite where none is stored."""
        given = self.distances if X is None else X
        if sparse.issparse(given):
            graph = sparse.coo_array(given)
            table = np.full(graph.shape, np.inf)
            table[graph.row, graph.col] = graph.data
        else:
            table = np.array(given, dtype=np.float64)
        if (table < 0).any():
            raise DataError(
                "Negative values in data passed to precomputed distance matrix."
            )
        if X is None:
            np.fill_diagonal(table, np.inf)
        return table
