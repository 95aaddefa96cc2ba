"""Learners that use clusters have in common: a clusterer of any library, and the cluster of every
row."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Learner,
    replace_columns,
    takes_missing,
    takes_rows,
    undefined,
    without_names,
)
from lyceum._core.data import ArraySource, Block, CheckCells, Rows, Schema, Step
from lyceum._core.report import Explanation, Table
from lyceum._core.types import Data
from lyceum.errors import DataError, ModelFileError


@dataclass(frozen=True)
class PlacedExplanation(Explanation):
    """What every column adds to a prediction, and the cluster of the row.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    clusters : array of int of shape (n,)
        The cluster of every row; -1 for none.
    about : mapping of int to Table
        A table about every cluster.

    Attributes
    ----------
    scores : array of shape (n,)
        The explained scores: base plus contributions.

    See Also
    --------
    lyceum.cluster.ClusterLabels : Its `explain` makes it.
    lyceum.ensemble.ClusterClassifier : Another learner whose `explain` makes it.
    lyceum.report.Explanation : The base class.

    Examples
    --------
    >>> from lyceum.cluster import ClusterLabels, KMeans
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> model = ClusterLabels(KMeans(2, random_state=0)).fit(X, ["a", None, None, None, "b", None])
    >>> why = model.explain([[1.5], [11.5]])
    >>> why.predicted.tolist(), bool(why.clusters[0] != why.clusters[1])
    (['a', 'b'], True)
    >>> why.detail(0).columns
    ('class', 'weight of labels', 'posterior')
    """

    clusters: np.ndarray = None  # type: ignore[assignment]
    about: Mapping[int, Table] = None  # type: ignore[assignment]

    def detail(self, i: int) -> Table | None:
        """The table about the cluster of row i."""
        return self.about.get(int(self.clusters[i]))

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"cluster": int(self.clusters[i])}


@dataclass(frozen=True, slots=True)
class ClusterWeights:
    """The weight of every class in every cluster, and of the rows without a class or a cluster.

    Attributes
    ----------
    table : array of shape (n_clusters + 1, n_classes + 1)
        The last row is for rows without a cluster, the last column for rows without a class.

    See Also
    --------
    lyceum.cluster.ClusterLabels : A learner from this statistic.
    lyceum.cluster.Agreement : The table of classes and clusters of given labels.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum._core.clustering import ClusterWeights
    >>> from lyceum.data import scan
    >>> rows = scan(pa.table({"x": [1.0, 2.0, 8.0, 9.0], "y": ["a", "a", "a", "b"]}), target="y")
    >>> def is_large(block):
    ...     return block.X[:, 0] > 5
    >>> weights = rows.reduce(lambda block: ClusterWeights.of(block, is_large, n_classes=2))
    >>> weights.table.tolist()
    [[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    table: np.ndarray

    @classmethod
    def of(
        cls,
        block: Block,
        clusters_of: Callable[[Block], np.ndarray],
        n_classes: int,
    ) -> ClusterWeights:
        """The weights in a block, by the clusters that a function gives to its rows."""
        labels = np.asarray(clusters_of(block), dtype=np.int64)
        # the last column is for rows without a class, the last row for those without a cluster
        n_columns = n_classes + 1
        n_rows = int(labels.max(initial=-1)) + 2
        if block.y is None:
            y = np.zeros(len(labels), dtype=np.int64)
        else:
            y = block.y.astype(np.int64)
        row = np.where(labels < 0, n_rows - 1, labels)
        column = np.where(y < 0, n_classes, y)
        cells = row * n_columns + column
        table = np.bincount(cells, block.weights, n_rows * n_columns)
        return cls(table.reshape(n_rows, n_columns))

    def merge(self, other: ClusterWeights) -> ClusterWeights:
        # blocks may have seen different numbers of clusters
        few, many = sorted((self.table, other.table), key=len)
        table = many.copy()
        table[: len(few) - 1] += few[:-1]
        table[-1] += few[-1]
        return ClusterWeights(table)


@dataclass(frozen=True, slots=True)
class _WithoutTarget:
    """Rows as clusterers see them: without the classes, which they must not learn from."""

    dense: bool = False  # whether sparse cells become an array, a block at a time

    def schema(self, schema: Schema) -> Schema:
        return Schema(schema.columns)

    def __call__(self, block: Block) -> Block:
        X = block.dense if self.dense else block.X
        return replace(block, X=X, y=None, schema=Schema(block.schema.columns))


class ClusterBased(Learner):
    """A learner that fits a clusterer first, `KMeans` or any other, and then uses the clusters of
    rows.

    A clusterer of Lyceum, or a pipeline of its learners, gets rows as they come. A clusterer of
    another library gets numbers in memory, with categories as columns of 0 and 1.

    Attributes
    ----------
    clusterer : learner or None
        The clusterer as given; None for the learner's own.
    clusterer_ : learner
        The fitted clusterer.
    typical_ : array of shape (n_features,)
        Typical cells, where explanations start.

    See Also
    --------
    lyceum.cluster.ClusterLabels, lyceum.cluster.ClusterFeatures : Learners of this kind.
    lyceum.ensemble.ClusterClassifier : Another one.

    Examples
    --------
    A learner that gives every row the size of its cluster:

    >>> import numpy as np
    >>> from lyceum._core.clustering import ClusterBased, clusters_of_rows
    >>> from lyceum.cluster import KMeans
    >>> class ClusterSize(ClusterBased):
    ...     def __init__(self, clusterer=None):
    ...         self.clusterer = clusterer
    ...     def fit(self, X, y=None):
    ...         self._fit_clusterer(self._rows(X))
    ...         self.sizes_ = np.bincount(self.predict_cluster(X))
    ...         return self
    ...     def predict(self, X):
    ...         return self._apply(lambda block: self.sizes_[clusters_of_rows(self, block)], X)
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0]]
    >>> ClusterSize(KMeans(2, random_state=0)).fit(X).predict([[1.0], [9.0]]).tolist()
    [3, 2]
    """

    clusterer: Any
    clusterer_: Any
    random_state: int | np.random.RandomState | None
    typical_: np.ndarray

    def _default_clusterer(self, n_rows: int | None = None) -> Any:
        """The clusterer for `n_rows` rows if none is given."""
        raise undefined(self, "_default_clusterer")

    def _limit_clusters(self, n_clusters: int, n_rows: int | None) -> int:
        """At most as many clusters as there are rows."""
        if n_rows is None:
            return n_clusters
        if n_rows == 0:
            raise DataError("no row has a weight: clusters need at least one")
        return min(n_clusters, n_rows)

    @property
    def _clusterer(self) -> Any:
        if self.clusterer is None:
            return self._default_clusterer()
        return self.clusterer

    _coding = "every_category"

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return takes_missing(self._clusterer)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._clusterer).input_tags.sparse)

    def _steps(self) -> list[Step]:
        return [CheckCells(type(self).__name__, self._takes_missing)]

    # -- fit ---------------------------------------------------------------------------

    def _fit_clusterer(self, rows: Rows, n_rows: int | None = None) -> None:
        """Learn `clusterer_` from the rows; the target is hidden from it."""
        if self.clusterer is None:
            clusterer = self._default_clusterer(n_rows)
        else:
            clusterer = clone(self.clusterer)
        rows = rows.then(_WithoutTarget())
        if takes_rows(clusterer):
            self.clusterer_ = clusterer.fit(rows)
            # columns without names must not get those of a scan
            if not hasattr(self, "feature_names_in_"):
                without_names(self.clusterer_)
            return
        block = rows.then(self._design).in_one_block(
            type(self).__name__, "clusterer=KMeans()"
        )
        if block.w is None:
            weights = {}
        else:
            weights = {"sample_weight": block.w}
        self.clusterer_ = clusterer.fit(block.X, **weights)

    def _learn_typical(self, rows: Rows, imputer: Any) -> int:
        """Learn where explanations start, in one pass; gives the number of rows that have a
        weight."""
        with warnings.catch_warnings():
            # a column of missing cells only: its 0 stays 0 in both
            warnings.simplefilter("ignore")
            filled = imputer.fit(rows.then(_WithoutTarget(dense=True)))
        self.typical_ = filled.fill_
        return int(filled.statistic_.parts[0].n_rows)

    def _cluster_weights(self, rows: Rows) -> ClusterWeights:
        """The weight of every class in every cluster, in one pass."""
        of = partial(
            ClusterWeights.of,
            clusters_of=partial(clusters_of_rows, self),
            n_classes=len(self.classes_),
        )
        return rows.reduce(of)

    # -- predict -----------------------------------------------------------------------

    def _ask_clusterer(self, method: str, block: Block) -> Any:
        """The result of a method of the clusterer for the rows of a block."""
        ask = getattr(self.clusterer_, method)
        if takes_rows(self.clusterer_):
            schema = Schema(block.schema.columns)
            return ask(Rows(ArraySource(block.X, None, None, schema, coded=True)))
        return ask(self._design(block).X)

    def predict_cluster(self, X: Data) -> Any:
        """The cluster of every row, as the clusterer numbers them; -1 for none.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        return self._apply(partial(clusters_of_rows, self), X)

    def _explain_placed(
        self,
        X: Data,
        answer: Callable[[Block], np.ndarray],
        about: Mapping[int, Table],
    ) -> PlacedExplanation:
        """What every column adds to the posterior of the class that is predicted, from `typical_`
        on."""
        parts = partial(_parts, self, answer)
        explanation, more = self._explain_with_more(X, parts, "posterior")
        clusters = more[:, 0].astype(np.int64)
        return explanation.extend(PlacedExplanation, clusters=clusters, about=about)

    # -- model files -------------------------------------------------------------------

    def _check_clusterer(self, method: str) -> None:
        """Raise ModelFileError if a fitted learner has no clusterer with this method."""
        clusterer = vars(self).get("clusterer_")
        if "n_features_in_" in vars(self) and not hasattr(clusterer, method):
            raise ModelFileError(
                f"holds a {type(self).__name__} without a clusterer that can {method}"
            )


def clusters_of_rows(model: ClusterBased, block: Block) -> np.ndarray:
    """The cluster of every row of a block; none for no rows."""
    if not len(block):
        return np.empty(0, dtype=np.int64)
    return np.asarray(model._ask_clusterer("predict", block)).astype(np.int64)


def _parts(
    model: ClusterBased,
    answer: Callable[[Block], np.ndarray],
    block: Block,
) -> np.ndarray:
    """Prediction, base and contributions of the rows, and their clusters."""
    # cells are replaced one column at a time, which sparse rows are bad at
    if sparse.issparse(block.X):
        block = block.with_X(block.dense, block.schema)
    columns = replace_columns(block, model.typical_, answer)
    return np.column_stack([columns, clusters_of_rows(model, block)])
