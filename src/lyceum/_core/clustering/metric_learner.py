"""Learners that compare rows by any metric: rows as the metric takes them, or a matrix of
distances."""

from __future__ import annotations

import warnings
from itertools import combinations_with_replacement
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lyceum._core.base import Coding, Learner, Reading
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import Block, CheckCells, Column, Inputs, Rows, Schema, Step
from lyceum._core.distances import (
    ALIASES,
    METRIC_CLASSES,
    Euclidean,
    Gower,
    Hamming,
    Mahalanobis,
    Metric,
    StandardizedEuclidean,
    distance_coding,
    finite_distances,
    metric,
    pairwise,
)
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, ModelFileError

_NAMES = {kind.name for kind in METRIC_CLASSES}
_OF_PAIRS = HasMethods(["pairwise"])  # scikit-learn's DistanceMetric objects
NAMED_METRICS: list[Any] = [
    StrOptions({"auto", *_NAMES, *ALIASES}),
    Metric,
    _OF_PAIRS,
    callable,
]
METRICS = [
    StrOptions({"auto", "precomputed", *_NAMES, *ALIASES}),
    Metric,
    _OF_PAIRS,
    callable,
]
SEARCH_CONSTRAINTS: dict[str, Any] = {
    "metric_params": [dict, None],
    "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
    "leaf_size": [Interval(Integral, 1, None, closed="left")],
    "p": [Interval(Real, 0, None, closed="left"), None],
}
_TILE = 256  # rows and columns of a matrix of distances that are compared at once


class MetricLearner(Learner):
    """A learner that compares rows by a metric; `_metric_rows` learns `metric_` and `schema_`.

    "auto" is Gower's distance where a column holds categories or a cell is missing, else the
    Euclidean one. Gower and Hamming compare the cells of the table; all others compare numbers,
    with categories one-of-C.

    Attributes
    ----------
    metric : str or Metric
        The metric as given.
    metric_ : Metric
        The metric as learned.

    See Also
    --------
    lyceum.cluster.KMedoids, lyceum.cluster.DBSCAN : Learners of this kind.
    lyceum.distances.Metric : The metrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum._core.clustering import MetricLearner
    >>> class Distances(MetricLearner):
    ...     def __init__(self, metric="auto"):
    ...         self.metric = metric
    ...     def fit(self, X, y=None, sample_weight=None):
    ...         rows = self._metric_rows(X, sample_weight)
    ...         self.distances_ = self._distances(rows.in_one_block("Distances").X)
    ...         return self
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 5.0], "color": ["red", "red", "blue"]})
    >>> model = Distances().fit(table)
    >>> model.metric_.name, model.distances_[0].tolist()  # (1/4 + 0) / 2, (4/4 + 1) / 2
    ('gower', [0.0, 0.125, 1.0])
    """

    _parameter_docs: ClassVar[str] = """
    metric_params : dict or None
        Parameters of a metric that is given by name.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        scikit-learn's choice of a search. It has no effect here: every search is exact, and the
        quickest is taken.
    leaf_size : int
        Of scikit-learn's trees; has no effect here.
    p : float or None
        The power of metric="minkowski"; None is 2.
    categorical_features : "from_dtype", True, mask, indices, names or None
        Which columns hold categories; one-of-C columns under other metrics than Gower's.
    """

    _takes_missing = True
    _takes_sparse = True
    _reads_rows: ClassVar[Reading] = "in memory"
    _needs_scaling = True
    # whether given distances may be a sparse graph of neighbors
    _takes_graphs: ClassVar[bool] = False

    metric: Any
    metric_: Metric

    def _metric_rows(
        self,
        X: Data,
        sample_weight: Weights,
        y: Target = None,
    ) -> Rows:
        """The rows to fit on, as `metric_` compares them."""
        self._validate_params()
        rows = Inputs(self).for_fit(X, y, sample_weight)
        self.metric_ = self._chosen_metric(rows)
        return self._prepare_rows(rows)

    def _used_rows(self, block: Block, weighted: np.ndarray) -> tuple[Block, Block]:
        """All rows, with given distances to those with a weight alone, and the rows with a
        weight."""
        if self._is_precomputed:
            D = self._given_distances(block)[:, weighted]
            block = block.with_X(D, block.schema)
        if len(weighted) == len(block):
            used = block
        else:
            used = block.take(weighted)
        return block, used

    def _chosen_metric(self, rows: Rows) -> Metric:
        if self._is_precomputed:
            return Euclidean()  # of nothing: distances are given
        chosen = self.metric
        if chosen == "auto":
            mixed = any(column.is_categorical for column in rows.schema)
            takes_gower = mixed or self._has_missing(rows)
            if takes_gower:
                chosen = "gower"
            else:
                chosen = "euclidean"
        distance = self._named_metric(chosen)
        # ranges of columns or a covariance that were not given are learned from the rows
        lacks_ranges = isinstance(distance, Gower) and (
            distance.low is None or distance.schema is None
        )
        if lacks_ranges:
            return distance.learn(rows.then(CheckCells(type(self).__name__, True)))
        may_learn = isinstance(distance, Mahalanobis | StandardizedEuclidean)
        if may_learn and not getattr(distance, "is_known", True):
            self.metric_ = distance  # `_prepare_rows` asks it how rows are coded
            return distance.learn(self._prepare_rows(rows))
        return distance

    def _named_metric(self, chosen: Any) -> Metric:
        """A metric with the parameters that `metric_params` and `p` give it."""
        params = dict(getattr(self, "metric_params", None) or {})
        if chosen in ("minkowski", "p") and getattr(self, "p", None) is not None:
            if "p" in params:
                warnings.warn(
                    "Parameter p is found in metric_params. The corresponding parameter from"
                    " __init__ is ignored.",
                    SyntaxWarning,
                    stacklevel=5,
                )
            params.setdefault("p", self.p)
        return metric(chosen, **params)

    def _has_missing(self, rows: Rows) -> bool:
        """Whether a cell is missing; infinite cells are refused by name later."""
        if rows.in_memory and sparse.issparse(rows.source.block.X):  # type: ignore[attr-defined]
            return bool(np.isnan(rows.source.block.X.data).any())  # type: ignore[attr-defined]
        return rows.reduce(_Missing.of).any_missing

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _coding(self) -> Coding:  # type: ignore[override]
        return distance_coding(self.metric)

    @property
    def _compares_cells(self) -> bool:
        return isinstance(self.metric_, Gower | Hamming)

    def _steps(self) -> list[Step]:
        if self._compares_cells:
            return [CheckCells(type(self).__name__, self.metric_.takes_missing)]
        takes_missing = self.metric_.takes_missing
        return [CheckCells(type(self).__name__, takes_missing), self._design]

    @property
    def _has_kernel(self) -> bool:
        """Whether rows are compared by compiled code, or by a function."""
        return self.metric_.space.name != "function"

    @property
    def design_names(self) -> tuple[str, ...]:
        if self._compares_cells:
            return self.schema_.names
        return self._design.after.names

    def _distances(self, A: ArrayLike, B: Any = None) -> np.ndarray:
        """Distances of all pairs of prepared rows, finite."""
        return finite_distances(pairwise(A, B, metric=self.metric_), self.metric_)

    def _given_distances(self, block: Block, square: bool = True) -> np.ndarray:
        """The matrix of distances that the rows are, after checks."""
        D = self._distance_cells(block)
        is_square = D.shape[0] == D.shape[1]
        if square and not is_square:
            raise DataError(
                f"Distance matrix should be square, got matrix of shape {D.shape}:"
                " metric='precomputed' needs the distances of all pairs of rows"
            )
        # a graph of nearest neighbors has edges in one direction
        is_graph = self._takes_graphs and sparse.issparse(block.X)
        if square and not is_graph and not _is_symmetric(D):
            raise DataError(
                "metric='precomputed' needs the distances of all pairs of rows, a symmetric"
                f" matrix; X has shape {D.shape} and is not symmetric"
            )
        # NaN was refused when the rows were read
        if D.min(initial=0.0) < 0:
            raise DataError("distances cannot be negative, but some cells of X are")
        return D

    def _distance_cells(self, block: Block) -> np.ndarray:
        """Given distances; a sparse graph has those of neighbors alone, the others are absent."""
        if not sparse.issparse(block.X):
            return np.ascontiguousarray(block.dense)
        graph = sparse.coo_array(block.X)
        D = np.full(graph.shape, np.inf)
        D[graph.row, graph.col] = graph.data
        if graph.shape[0] == graph.shape[1]:
            np.fill_diagonal(D, 0.0)
        if not self._takes_graphs and np.isinf(D).any():
            raise DataError(
                f"a sparse matrix of distances leaves out pairs of rows, which"
                f" {type(self).__name__} needs: give a dense matrix of all distances, or take"
                " DBSCAN or HDBSCAN, for which pairs without a distance are no neighbors"
            )
        return D

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (Column, Schema, *METRIC_CLASSES)

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "metric_"):
            return
        if type(self.metric_) not in METRIC_CLASSES:
            raise ModelFileError(f"holds a {type(self).__name__} without a metric")
        if isinstance(self.metric_, Gower):
            shape = (len(self.schema_),)
            for ends in (self.metric_.low, self.metric_.high):
                if not isinstance(ends, np.ndarray) or ends.shape != shape:
                    raise ModelFileError(
                        "holds ranges of columns that are not those of its schema"
                    )
        if hasattr(self, "starts_"):
            self._check_order()

    def _check_order(self) -> None:
        """Raise unless every stored row occurs once, one cluster after another."""
        caller = type(self).__name__
        starts = self.starts_
        order = self.order_
        n = len(self.weights_)
        whole = starts.dtype.kind == order.dtype.kind == "i"
        covers = whole and starts[0] == 0 and starts[-1] == n
        if not covers or (np.diff(starts) <= 0).any():
            raise ModelFileError(
                f"holds a {caller} whose clusters do not begin one after another"
            )
        if not np.array_equal(np.sort(order), np.arange(n)):
            raise ModelFileError(
                f"holds a {caller} whose order_ does not have every row once"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes_missing = self.metric == "auto"
        takes_sparse = True
        if self.metric not in ("auto", "precomputed"):
            chosen = metric(self.metric)
            takes_missing = chosen.takes_missing
            takes_sparse = chosen.takes_sparse
        tags.input_tags.allow_nan = takes_missing
        tags.input_tags.sparse = self._takes_sparse and takes_sparse
        tags.input_tags.pairwise = self._is_precomputed
        return tags


class _Missing:
    """Whether a cell of some rows is missing."""

    def __init__(self, any_missing: bool):
        self.any_missing = any_missing

    @classmethod
    def of(cls, block: Block) -> _Missing:
        if sparse.issparse(block.X):
            cells = block.X.data
        else:
            cells = block.X
        # the least of all cells is NaN if one of them is: no array of truth values is made
        return cls(bool(np.isnan(np.min(cells, initial=np.inf))))

    def merge(self, other: _Missing) -> _Missing:
        return _Missing(self.any_missing or other.any_missing)


def _is_symmetric(D: np.ndarray) -> bool:
    """Whether D is its own transpose up to rounding, tile by tile."""
    # tiles of the upper triangle fit into a cache together with their transposes, which a
    # comparison of the whole matrix with its transpose would miss at every cell
    slices = [slice(i, i + _TILE) for i in range(0, len(D), _TILE)]
    tiles = list(combinations_with_replacement(slices, 2))

    def is_equal(tile: tuple[slice, slice]) -> bool:
        return bool((D[tile] == D[tile[::-1]].T).all())

    if all(ordered_map(is_equal, tiles)):
        return True
    # distances computed twice may differ by rounding; those that are absent do not
    finite = np.isfinite(D)
    most = 1e-6 * max(float(D.max(initial=0.0, where=finite)), 1e-300)
    for rows, columns in tiles:
        one = D[rows, columns]
        other = D[columns, rows].T
        differences = np.zeros(one.shape)
        np.subtract(one, other, out=differences, where=one != other)
        np.abs(differences, out=differences)
        if not (differences <= most).all():
            return False
    return True
