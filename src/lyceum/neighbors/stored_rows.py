"""StoredRows: what the methods that keep their rows share: the metric, the scales and the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Coding, Learner
from lyceum._core.constraints import HasMethods, StrOptions
from lyceum._core.data import (
    Align,
    ArraySource,
    Block,
    CheckCells,
    Design,
    Rows,
    Schema,
    Step,
    design_change,
)
from lyceum._core.distances import (
    ALIASES,
    METRIC_CLASSES,
    METRIC_PARTS,
    Gower,
    Mahalanobis,
    Metric,
    NeighborIndex,
    StandardizedEuclidean,
    ValueDifference,
    distance_coding,
    metric as metric_named,
)
from lyceum._core.probability import RIDGE, whiten
from lyceum._core.statistics import UNEXPLAINED, Moments, PositiveFactor
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Data, Estimator
from lyceum.errors import DataError, ModelFileError, SettingError

MIXED = ("gower", "value_difference")  # compare codes, and take missing cells
NAMES = {kind.name for kind in METRIC_CLASSES} | set(MIXED)
# what Minkowski's distance is for some powers; these are compared faster, and sparse rows too
_POWERS = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
STORED_CONSTRAINTS: dict[str, list[Any]] = {
    "metric": [
        StrOptions({*NAMES, *ALIASES}),
        Metric,
        HasMethods(["pairwise"]),
        callable,
    ],
    "metric_params": [dict, None],
    "standardize": ["boolean", StrOptions({"range"})],
    "categorical_features": CATEGORICAL_FEATURES,
}
_WILD = 100.0  # standard deviations that differ by more are mentioned in the summary
_UNSCALED = ("euclidean", "manhattan", "minkowski", "chebyshev")
_LISTED = 1 << 24  # neighbors in memory at a time


def check_not_empty(learner: Estimator, block: Block) -> None:
    """Refuse a block without a row, zero-weight rows being gone."""
    if not len(block):
        raise DataError(
            f"{type(learner).__name__} needs a row (sample) of positive weight, but there is none"
        )


class StoredRows(Learner):
    """A learner that keeps its rows: `rows_`, `targets_` and `weights_`, with an index of them.

    A subclass has the parameters `metric`, `metric_params` and `standardize`.
    """

    _reads_rows = "in memory"

    _missing_advice: ClassVar[str] = (
        ", or take metric='gower', which compares the cells that are not missing"
    )

    metric: Any
    metric_params: Any
    standardize: Any

    rows_: Any
    targets_: np.ndarray
    weights_: np.ndarray
    metric_: Metric
    center_: np.ndarray
    scale_: np.ndarray
    n_undetermined_: int
    _index: NeighborIndex

    # -- what is taken depends on the metric -------------------------------------------

    def _requested_metric(self) -> Metric:
        if not isinstance(self.metric, str):
            if self.metric_params:
                raise SettingError(
                    "metric_params belong to a metric that is given by its name"
                )
            return metric_named(self.metric)
        name = self._metric_name
        params = dict(self.metric_params or {})
        if self.metric in ("minkowski", "p"):
            power = params.pop("p", self._power)
            if name == "minkowski":
                params["p"] = power
        return metric_named(name, **params)

    @property
    def _power(self) -> float:
        """Minkowski's p: of `metric_params`, or the parameter `p`."""
        return (self.metric_params or {}).get("p", getattr(self, "p", 2))

    @property
    def _metric_name(self) -> str:
        if not isinstance(self.metric, str):
            return metric_named(self.metric).name
        is_power = self.metric in ("minkowski", "p")
        if is_power and "w" not in (self.metric_params or {}):
            return _POWERS.get(self._power, "minkowski")
        return ALIASES.get(self.metric, self.metric)

    @property
    def _is_mixed(self) -> bool:
        return self._metric_name in MIXED

    @property
    def _coding(self) -> Coding:  # type: ignore[override]
        if self._is_mixed:
            return "codes"
        return distance_coding(self.metric, self.metric_params)

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return self._is_mixed or self._metric_name == "nan_euclidean"

    @property
    def _nan_means_none(self) -> bool:  # type: ignore[override]
        return self._takes_missing

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        name = self._metric_name
        return any(kind.takes_sparse for kind in METRIC_CLASSES if kind.name == name)

    def _steps(self) -> list[Step]:
        # metrics of mixed columns know the cells as the schema codes them
        if self._is_mixed:
            return [CheckCells(type(self).__name__, True)]
        return [
            CheckCells(type(self).__name__, self._takes_missing, self._missing_advice),
            self._design,
        ]

    def _rows(self, X: Data, *data: Any) -> Rows:
        if sparse.issparse(X) and not self._takes_sparse:
            raise SettingError(
                f"Metric {self._metric_name!r} not valid for sparse input: give X.toarray(), or"
                " take a metric that compares sparse rows, such as 'euclidean' or 'manhattan'"
            )
        return super()._rows(X, *data)

    # -- keeping rows ------------------------------------------------------------------

    def _gather(self, rows: Rows) -> Block:
        block = rows.in_one_block(type(self).__name__, self._alternative())
        return block.without_zero_weights()

    def _alternative(self) -> str:
        return (
            "NearestCentroid, or lyceum.distances.nearest(X, k, among=rows), "
            "which streams the rows"
        )

    def _keep(self, block: Block) -> None:
        """Store the rows of a block, and learn metric and scales from them."""
        check_not_empty(self, block)
        assert block.y is not None
        self.rows_ = as_cells(block).copy()  # the array may be the user's own
        self.targets_ = block.y
        self.weights_ = np.array(block.weights)
        self._learn_metric()

    def _keep_more(self, block: Block, known: Schema | None) -> None:
        """Add the rows of a block to those stored under the schema `known`."""
        if known is not None and not len(block):
            raise DataError("there is no row (sample) of positive weight to add")
        if known is None or not hasattr(self, "rows_"):
            return self._keep(block)
        old = self._old_block(known)
        assert block.y is not None
        parts = [old.X, as_cells(block)]
        if any(map(sparse.issparse, parts)):
            parts = [sparse.csr_array(part) for part in parts]
            self.rows_ = sparse.vstack(parts, format="csr")
        else:
            self.rows_ = np.concatenate(parts)
        self.targets_ = np.concatenate([old.y, block.y])
        self.weights_ = np.concatenate([self.weights_, block.weights])
        return self._learn_metric()

    def _old_block(self, known: Schema) -> Block:
        """The stored rows in the codes and design columns of the schema of now."""
        before = replace(known, weight=None)
        after = replace(self.schema_, weight=None)
        if self._is_mixed:
            stored = Block(self.rows_, self.targets_, None, 0, before)
            return Align.between(before, after)(stored)
        # design columns are not those of the schema: the targets alone are aligned, and the cells
        # are changed by x' = A x + b
        before = Schema((), before.target)
        after = Schema((), after.target)
        no_cells = np.empty((len(self.targets_), 0))
        stored = Block(no_cells, self.targets_, None, 0, before)
        old = Align.between(before, after)(stored)
        matrix, offset = design_change(known, self._design)
        if np.array_equal(matrix, np.eye(len(matrix))):
            return replace(old, X=self.rows_)
        X = self.rows_ @ matrix.T.astype(self.rows_.dtype)
        if sparse.issparse(self.rows_):
            return replace(old, X=sparse.csr_array(X))
        return replace(old, X=np.asarray(X + offset, dtype=self.rows_.dtype))

    def _stored_rows(self) -> Rows:
        """The stored rows as rows to learn from."""
        if self._is_mixed:
            columns = self.schema_.columns
        else:
            columns = self._design.after.columns
        schema = Schema(columns, self.schema_.target)
        source = ArraySource(
            self.rows_, self.targets_, self.weights_, schema, coded=True
        )
        return Rows(source)

    # -- metric, scales and index ------------------------------------------------------

    def _learn_metric(self) -> None:
        rows = self._stored_rows()
        self._learn_scale(rows)
        metric = self._requested_metric()
        self.__dict__.pop("n_undetermined_", None)
        if isinstance(metric, Mahalanobis) and not metric.is_known:
            source = rows.source
            assert isinstance(source, ArraySource)
            scaled = Rows(replace(source, X=self._points(source.X)))
            metric, self.n_undetermined_ = invertible(metric.learn(scaled))
        elif isinstance(metric, StandardizedEuclidean) or (
            isinstance(metric, Gower) and metric.schema is None
        ):
            metric = metric.learn(rows)
        elif isinstance(metric, ValueDifference) and not metric.columns:
            metric = self._fit_value_difference(metric, rows)
        self._set_metric(metric)

    def _set_metric(self, metric: Metric) -> None:
        """Compare the stored rows by this metric."""
        self.metric_ = metric
        self._index = self._new_index()

    def _new_index(self) -> Any:
        return NeighborIndex(self._points(self.rows_), metric=self.metric_)

    def _fit_value_difference(self, metric: ValueDifference, rows: Rows) -> Metric:
        return metric.learn(rows)

    def _learn_scale(self, rows: Rows) -> None:
        d = self.rows_.shape[1]
        self.center_ = np.zeros(d)
        self.scale_ = np.ones(d)
        if self.standardize is False:
            return
        if self._is_mixed or self._metric_name in ("hamming", "jaccard"):
            raise SettingError(
                f"standardize={self.standardize!r} has no meaning for the metric"
                f" {self._metric_name!r}, which does not compare columns by their units:"
                " leave standardize at False"
            )
        numbers = are_numbers(self.schema_, self._design)
        moments = moments_of(rows)
        if not sparse.issparse(self.rows_):
            self.center_[numbers] = moments.mean[numbers]
        self.scale_[numbers] = spreads_of(moments, self.standardize)[numbers]

    def _points(self, X: Any) -> Any:
        """Cells in the units that the metric compares."""
        if self.standardize is False:
            return X
        if sparse.issparse(X):
            # not centered: zeros stay zeros
            scaled = X.copy()
            data = X.data / self.scale_[X.indices]
            scaled.data = data.astype(X.dtype, copy=False)
            return scaled
        return ((X - self.center_) / self.scale_).astype(X.dtype, copy=False)

    @property
    def _neighbor_index(self) -> NeighborIndex:
        """The index of the stored rows; made again after a model file was read."""
        if "_index" in vars(self):
            return self._index
        return self._new_index()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "metric_" in state and "rows_" in state:
            self._index = self._new_index()

    # -- rows to look up ---------------------------------------------------------------

    def _apply_to_all(
        self, function: Callable[[Any], np.ndarray], X: Data, n_listed: int
    ) -> Any:
        """`function` of all rows of X at once where they are in memory: the search uses threads
        itself."""
        if X is None:
            check_is_fitted(self)
            return function(None)  # every stored row, by the others
        rows = self.rows_to_predict(X)
        source = rows.source
        # one row is a block anyway, and collected it can be compiled for records
        if (
            isinstance(source, ArraySource)
            and source.n_rows > 1
            and source.n_rows * max(1, n_listed) <= _LISTED
        ):
            return function(rows.in_one_block(type(self).__name__))
        return rows.collect(function)

    def _scale_warning(self) -> str | None:
        """A warning about columns whose units alone decide which rows are near."""
        if (
            self.standardize is not False
            or self._metric_name not in _UNSCALED
            or sparse.issparse(self.rows_)
        ):
            return None
        numbers = np.flatnonzero(are_numbers(self.schema_, self._design))
        spread = np.sqrt(moments_of(self._stored_rows()).variance())[numbers]
        numbers = numbers[spread > 0]
        spread = spread[spread > 0]
        if not len(spread) or spread.max() < _WILD * spread.min():
            return None
        widest = self.design_names[numbers[spread.argmax()]]
        narrowest = self.design_names[numbers[spread.argmin()]]
        return (
            f"{widest!r} varies {spread.max() / spread.min():.3g} times as much as {narrowest!r}"
            " and decides alone: standardize=True would weigh them alike"
        )

    # -- model files -------------------------------------------------------------------

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), *METRIC_PARTS)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.weights_)
        d = len(self.design_names)
        shapes: dict[str, tuple[int, ...]] = {
            "targets_": self.targets_.shape,
            "weights_": (n,),
            "center_": (d,),
            "scale_": (d,),
        }
        if sparse.issparse(self.rows_):
            return shapes
        return {"rows_": (n, d), **shapes}

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "rows_"):
            return
        caller = type(self).__name__
        if self.rows_.shape != (len(self.weights_), len(self.design_names)):
            raise ModelFileError(
                f"has stored rows of shape {self.rows_.shape} in a {caller}, which do not fit it"
            )
        if not isinstance(self.metric_, Metric) or self._metric_name not in (
            self.metric_.name,
            "precomputed",
        ):
            raise ModelFileError(
                f"has another metric in {caller}.metric_ than in its settings"
            )


# -- helpers ---------------------------------------------------------------------------


def as_cells(block: Block) -> Any:
    """The cells of a block as floats, CSR or dense and in the order of rows."""
    X = block.X
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    if sparse.issparse(X):
        return X
    return np.ascontiguousarray(X)


def moments_of(rows: Rows) -> Moments:
    """Mean, spread and range of every column."""
    return rows.reduce(Moments.of)


def spreads_of(moments: Moments, standardize: bool | str) -> np.ndarray:
    """The unit of every column: its range or its standard deviation, 1 where it is constant."""
    with np.errstate(invalid="ignore"):
        if standardize == "range":
            spread = moments.high - moments.low
        else:
            spread = np.sqrt(moments.variance())
    return np.where((spread > 0) & np.isfinite(spread), spread, 1.0)


def number_scales(
    moments: Moments, schema: Schema, design: Design, standardize: bool | str
) -> np.ndarray:
    """The units of the design columns: 1 for indicators, and for numbers that stay as they are."""
    if standardize is False:
        return np.ones(len(design.source))
    is_number = are_numbers(schema, design)
    return np.where(is_number, spreads_of(moments, standardize), 1.0)


def are_numbers(schema: Schema, design: Design) -> np.ndarray:
    """Which design columns are numbers of the table, not indicators of categories."""
    numeric = np.array([column.numeric for column in schema], dtype=bool)
    return numeric[design.source]


def invertible(metric: Mahalanobis) -> tuple[Mahalanobis, int]:
    """The metric, its covariance made positive definite where columns are constant or sums of
    others.

    Also the number of directions in which the rows do not vary, which have their length from a
    ridge.
    """
    S = np.array(metric.covariance, dtype=np.float64)
    variance = np.diag(S)
    unit = 1.0
    if variance.any():
        unit = float(variance.mean())
    # a constant column has no variance of its own to take a part of
    ridge = np.where(variance > 0, whiten(S, variance).ridge, RIDGE * unit)
    n_flat = 0
    if ridge.any():
        n_flat = max(1, len(S) - PositiveFactor.of(S, level=UNEXPLAINED).rank)
    return replace(metric, covariance=S + np.diag(ridge)), n_flat


def flat_fact(n_flat: int, n_columns: int) -> dict[str, str]:
    """The line of a summary about directions without variance, for the metrics of `invertible`."""
    return undetermined_fact(
        n_flat, n_columns, "direction", "a small ridge was added to the covariance"
    )
