"""NeighborLists: the nearest stored rows themselves, by scikit-learn's names; and distances that
are given."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import Block, Rows
from lyceum._core.distances import Euclidean, Metric, RadiusNeighbors
from lyceum._core.types import Data
from lyceum.errors import SettingError
from lyceum.neighbors.knn.given_distances import GivenDistances
from lyceum.neighbors.stored_rows import StoredRows, as_cells


class NeighborLists(StoredRows):
    """A learner that lists the neighbors of rows, and takes metric="precomputed"."""

    n_neighbors: Any
    n_neighbors_: int
    radius: Any

    # -- neighbors --------------------------------------------------------------------

    def kneighbors(
        self,
        X: Data = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """The nearest stored rows, weights aside.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features), optional
            By default the stored rows, none of which is its own neighbor.
        n_neighbors : int, optional
            By default the parameter `n_neighbors`, or `n_neighbors_` where it is chosen.
        return_distance : bool, default=True
            Whether distances are given too; else the numbers of the rows alone.

        Returns
        -------
        Neighbors, or array of int of shape (n_samples, n_neighbors)
            `distances` and `rows` of shape (n_samples, n_neighbors), the nearest first.
        """
        check_is_fitted(self)
        k = self._listed_neighbors(n_neighbors, X)
        neighbors = self._neighbor_index.nearest(self._query_points(X), k)
        return neighbors if return_distance else neighbors.rows

    def _listed_neighbors(self, n_neighbors: Any, X: Data) -> int:
        """The number of neighbors to list, checked as in scikit-learn."""
        if n_neighbors is None:
            n_neighbors = self.n_neighbors
            if isinstance(n_neighbors, str):
                n_neighbors = self.n_neighbors_
        if not isinstance(n_neighbors, Integral):
            raise SettingError(
                f"n_neighbors does not take {type(n_neighbors)} value, enter integer value"
            )
        if int(n_neighbors) <= 0:
            raise SettingError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        n_stored = len(self.weights_)
        if int(n_neighbors) > n_stored - (X is None):
            sign = "<" if X is None else "<="
            raise SettingError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {n_neighbors},"
                f" n_samples_fit = {n_stored}: ask for fewer"
            )
        return int(n_neighbors)

    def kneighbors_graph(
        self,
        X: Data = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> sparse.csr_matrix:
        """The graph of the nearest stored rows, sparse, `(n_samples, n_samples_fit_)`.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features), optional
            By default the stored rows, none of which is its own neighbor.
        n_neighbors : int, optional
            By default the parameter `n_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether cells are 1, or distances.
        """
        distances, rows = self.kneighbors(X, n_neighbors)
        if mode not in ("connectivity", "distance"):
            raise SettingError(
                f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}"'
                " instead"
            )
        cells = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        shape = (len(rows), len(self.weights_))
        return sparse.csr_matrix((cells, rows.ravel(), starts), shape=shape)

    @property
    def n_samples_fit_(self) -> int:
        """The number of stored rows."""
        check_is_fitted(self)
        return len(self.weights_)

    @property
    def effective_metric_(self) -> Any:
        """The metric that is computed: Minkowski's distance of p = 2 is the Euclidean one."""
        check_is_fitted(self)
        return self._metric_name if isinstance(self.metric, str) else self.metric

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The parameters of `effective_metric_`."""
        params = dict(self.metric_params or {})
        if self.effective_metric_ == "minkowski":
            return {"p": self._power, **params}
        params.pop("p", None)
        return params

    # -- distances that are given ------------------------------------------------------

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _requested_metric(self) -> Metric:
        if self._is_precomputed:
            return Euclidean()  # of nothing: distances are given
        return super()._requested_metric()

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return self._is_precomputed or super()._takes_sparse

    def _gather(self, rows: Rows) -> Block:
        if not self._is_precomputed:
            return super()._gather(rows)
        # a row of weight zero stays: its distances are a column of all others
        return rows.in_one_block(type(self).__name__, self._alternative())

    def _new_index(self) -> Any:
        if self._is_precomputed:
            return GivenDistances(self.rows_)
        return super()._new_index()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    def radius_neighbors(
        self, X: Data = None, radius: float | None = None
    ) -> RadiusNeighbors:
        """The stored rows within a radius.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features), optional
            By default the stored rows, none of which is its own neighbor.
        radius : float, optional
            By default the parameter `radius`.

        Returns
        -------
        RadiusNeighbors
            `neighbors[i]` are the neighbors of row i, the nearest first.
        """
        if radius is None:
            radius = self.radius
        if radius is None:
            raise SettingError("give a radius: this learner has none")
        check_is_fitted(self)
        return self._neighbor_index.within(self._query_points(X), radius)

    def _query_points(self, X: Data) -> Any:
        if X is None:
            return None
        rows = self.rows_to_predict(X)
        return self._points(as_cells(rows.in_one_block(type(self).__name__)))
