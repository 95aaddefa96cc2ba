"""Clusters as features of rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, NewColumns, complexity
from lyceum._core.clustering import ClusterBased, clusters_of_rows
from lyceum._core.constraints import HasMethods, StrOptions
from lyceum._core.data import Block, Rows, dense_cells
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.kmeans.kmeans import KMeans
from lyceum.report import Summary, Table


class ClusterFeatures(NewColumns, ClusterBased):
    """Clusters as features: the distance to every cluster, or the cluster itself, beside the
    columns.

    Parameters
    ----------
    clusterer : clustering learner, optional
        `KMeans()` by default. "distances" needs its `transform`. One of another library is given
        numbers, with categories as columns of 0 and 1.
    kind : {"distances", "one_of_k"}, default="distances"
        The new columns: distances to the clusters, or 1 for a row's own cluster and 0 for the
        others.
    keep : bool, default=True
        Whether the given columns stay, before the new ones; categories as columns of 0 and 1.

    Attributes
    ----------
    clusterer_ : clustering learner
        The fitted one.
    n_features_in_ : int
        The number of given columns.
    feature_names_in_ : ndarray of str
        Names of the given columns, where they have some.

    See Also
    --------
    lyceum.ensemble.ClusterClassifier : A classifier per cluster instead.

    Examples
    --------
    >>> from lyceum.cluster import ClusterFeatures, KMeans
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> ClusterFeatures(KMeans(2, init=[[0.0], [9.0]]), kind="one_of_k").fit_transform(X).tolist()
    [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [9.0, 0.0, 1.0], [10.0, 0.0, 1.0]]
    """

    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "clusterer": [HasMethods(["fit"]), None],
        "kind": [StrOptions({"distances", "one_of_k"})],
        "keep": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        kind: Literal["distances", "one_of_k"] = "distances",
        keep: bool = True,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.clusterer = clusterer
        self.kind = kind
        self.keep = keep
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _default_clusterer(self, n_rows: int | None = None) -> Any:
        return KMeans(random_state=self.random_state)

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit the clusterer on the rows; y is ignored.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        self._fit_clusterer(self._rows(X, None, sample_weight))
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the given columns, if they are kept, and of the new ones."""
        check_is_fitted(self)
        input_names = _check_feature_names_in(self, input_features)
        design_names = self._design.after.names
        names = []
        if self.keep:
            renamed = dict(zip(self.schema_.names, map(str, input_names)))
            # a name that the design has several times belongs to the parts of one column
            for name in design_names:
                is_single = design_names.count(name) == 1
                names.append(renamed.get(name, name) if is_single else name)
        names += [f"clusterfeatures{k}" for k in range(self._n_clusters)]
        return np.array(names, dtype=object)

    @property
    def _n_clusters(self) -> int:
        if self.kind == "distances":
            return len(self.clusterer_.get_feature_names_out())
        # the largest label, as clusterers do not agree on an attribute for their number
        return int(np.max(np.asarray(self.clusterer_.labels_), initial=0)) + 1

    def transform(self, X: Data) -> Any:
        """The new columns of X, after its own if they are kept, in the container that X came in.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        if sparse.issparse(X):
            block = self.rows_to_predict(X).in_one_block(type(self).__name__)
            return self._append_columns(block)
        return self._in_new_columns(partial(_append_columns, self), X)

    def _append_columns(self, block: Block) -> Any:
        cells = self._design(block)
        # clusterers of other libraries refuse tables without rows
        if not len(block):
            new = np.empty((0, self._n_clusters))
        elif self.kind == "distances":
            new = self._ask_clusterer("transform", block)
            if isinstance(new, Rows):
                new = new.in_one_block(type(self).__name__).dense
            new = np.asarray(new)
        else:
            # noise, -1, is no column: all zeros
            labels = clusters_of_rows(self, block)
            clusters = np.arange(self._n_clusters)
            new = (labels[:, None] == clusters).astype(np.float64)
        if not self.keep:
            return new
        if sparse.issparse(cells.X):
            return sparse.hstack([cells.X, sparse.csr_array(new)], format="csr")
        dense = np.asarray(cells.dense, dtype=np.float64)
        return np.hstack([dense, new])

    def summary(self) -> Summary:
        """The clusterer, and the columns that it adds."""
        check_is_fitted(self)
        given: int | str = self.n_features_in_
        if not self.keep:
            given = f"{given}, left out"
        facts = {
            "clusterer": type(self.clusterer_).__name__,
            "columns given": given,
            "columns added": f"{self._n_clusters}, {self.kind.replace('_', ' ')}",
        }
        return Summary("ClusterFeatures", facts, own_tables(self.clusterer_))

    def complexity(self) -> int:
        """How many numbers the clusterer needs."""
        check_is_fitted(self)
        return complexity(self.clusterer_)

    def _check_model(self) -> None:
        super()._check_model()
        self._check_clusterer("transform" if self.kind == "distances" else "predict")


def _append_columns(model: ClusterFeatures, block: Block) -> np.ndarray:
    return dense_cells(model._append_columns(block))


def own_tables(clusterer: Any) -> Sequence[Table]:
    """The tables of the clusterer's own summary, if it has one."""
    if hasattr(clusterer, "summary"):
        return clusterer.summary().tables
    return ()
