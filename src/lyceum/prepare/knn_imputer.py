"""Missing cells filled from the nearest rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn import impute
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block, Column, Schema, as_float, codes_of
from lyceum._core.distances import METRIC_PARTS, Gower, NeighborIndex
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.prepare.imputer import FillRules, cell_value, column_stats, fill_values
from lyceum.prepare.shared_transformer import SharedTransformer, has_words
from lyceum.prepare.steps import renamed
from lyceum.report import Summary, Table


class KNNImputer(SharedTransformer, impute.KNNImputer):
    """Fill every missing cell from the nearest rows in which that column is known.

    Arrays and frames of numbers are filled as scikit-learn does, by the Euclidean distance over the
    columns known in both. Rows of `scan(...)`, pyarrow tables, weighted rows and frames with words,
    and all with `metric="gower"`, are filled as follows.

    Rows are compared by Gower's distance over the columns known in both. A number is filled with
    the mean of the k nearest rows, a category with their commonest one (the first of equally common
    ones), each counted by weight or, with `weights="distance"`, by weight over distance. Where no
    row shares a known column, and in a column with nothing but missing cells, the mean or the
    commonest category of the column is taken. The rows are kept in memory.

    Parameters
    ----------
    missing_values : number, str, nan or None, default=nan
        What stands for a missing cell in an array.
    n_neighbors : int, default=5
        The number of neighbors, k.
    weights : {"uniform", "distance"} or function of distances, default="uniform"
        Whether near rows count for more.
    metric : {"nan_euclidean", "gower"} or function of two rows, default="nan_euclidean"
        The distance of rows of an array.
    copy : bool, default=True
        Whether an array that is given may not be changed.
    add_indicator : bool, default=False
        Whether every column of an array with missing cells in `fit` gets a 0/1 column that says
        where they were.
    keep_empty_features : bool, default=False
        Whether columns of an array with nothing but missing cells stay, as 0.
    categorical_features : str, bool, mask, indices, names, dict or Schema, default="from_dtype"
        Which columns of numbers hold categories, as in `SimpleImputer`.

    Attributes
    ----------
    rows_ : array of shape (n, n_features)
        The rows, as coded cells; NaN where missing.
    weights_ : array of shape (n,)
        Their weights.
    fill_ : array of shape (n_features,)
        The cells that fill where no neighbor can.
    filled_schema_ : Schema
        The columns after filling.
    missing_ : array of shape (n_features,)
        The share of every column that was missing.
    indicator_ : MissingIndicator or None
        Finds the missing cells of arrays, with `add_indicator`.
    metric_ : Gower
        The distance as it was learned.

    See Also
    --------
    SimpleImputer : one value per column.
    IterativeImputer : a regression or a classifier for every column.

    References
    ----------
    Troyanskaya, O. et al. (2001). Missing value estimation methods for DNA microarrays.
    Bioinformatics 17(6).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import KNNImputer
    >>> table = pa.table({"age": [20.0, 22.0, 60.0, 61.0, None], "sex": ["f", "f", "m", None, "m"]})
    >>> KNNImputer(n_neighbors=1).fit_transform(table).to_pydict()
    {'age': [20.0, 22.0, 60.0, 61.0, 60.0], 'sex': ['f', 'f', 'm', 'm', 'm']}
    """

    _theirs = impute.KNNImputer
    _reads_rows = "in memory"
    _parameter_constraints: ClassVar[dict] = {
        **impute.KNNImputer._parameter_constraints,
        "metric": [StrOptions({"nan_euclidean", "gower"}), callable],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        n_neighbors: int = 5,
        weights: Any = "uniform",
        metric: Any = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.missing_values = missing_values
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.categorical_features = categorical_features

    def _goes_by_kinds(self, X: Data) -> bool:
        is_own = isinstance(self.metric, str) and self.metric == "gower"
        return is_own or has_words(X) or super()._goes_by_kinds(X)

    def _fit_by_kinds(self, X: Data, y: Target, sample_weight: Weights) -> None:
        """Store the rows, and learn the ranges of the columns."""
        if callable(self.weights) or callable(self.metric) or self.add_indicator:
            raise SettingError(
                "KNNImputer goes by the kinds of columns here, with Gower's distance: a function,"
                " or add_indicator=True, is for arrays of numbers"
            )
        rows = self._rows(X, y, sample_weight)
        name = type(self).__name__
        block = rows.in_one_block(name, "IterativeImputer or SimpleImputer")
        block = block.without_zero_weights()
        statistic = column_stats(block, False)
        counts = statistic.parts[0]
        self.filled_schema_, self.fill_ = fill_values(
            self.schema_, statistic, FillRules("mean", "mode"), name
        )
        self.missing_ = counts.missing / counts.weight
        self.rows_ = as_float(block.X).astype(np.float64)
        self.weights_ = np.array(block.weights)
        self.metric_ = Gower().learn(rows)

    def _finish_array(self, X: Data) -> Any:
        self.rows_ = self._fit_X
        self.weights_ = np.ones(len(self._fit_X))
        self.missing_ = self._mask_fit_X.mean(axis=0)
        self.fill_ = np.zeros(self.n_features_in_)
        super()._finish_array(X)
        self.filled_schema_ = self.schema_
        return self

    def _step(self, schema: Schema) -> FillFromRows:
        if not self.by_kinds_:
            raise self._no_step("the Euclidean distance")
        return FillFromRows(
            before=schema,
            filled=self.filled_schema_,
            rows=self.rows_,
            weights=self.weights_,
            otherwise=self.fill_,
            metric=self.metric_,
            k=int(self.n_neighbors),
            by_distance=self.weights == "distance",
        )

    def summary(self) -> Summary:
        """How much of every column is missing, and what is taken where no neighbor can say."""
        check_is_fitted(self)
        values = map(cell_value, self.filled_schema_, self.fill_)
        columns = zip(self.schema_, self.missing_.tolist(), values)
        rows = [
            (column.name, column.kind, share, value) for column, share, value in columns
        ]
        table = Table("Columns", ("column", "kind", "missing", "otherwise"), rows)
        facts = {
            "columns": self.n_features_in_,
            "stored rows": len(self.rows_),
            "neighbors k": self.n_neighbors,
        }
        return Summary(self._title(), facts, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), *METRIC_PARTS)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.weights_)
        d = self.n_features_in_
        return {"rows_": (n, d), "weights_": (n,), "fill_": (d,)}


@dataclass(frozen=True, eq=False)
class FillFromRows:
    """Missing cells of blocks filled from stored rows."""

    before: Schema
    filled: Schema
    rows: np.ndarray
    weights: np.ndarray
    otherwise: np.ndarray
    metric: Gower
    k: int
    by_distance: bool

    @cached_property
    def after(self) -> Schema:
        return renamed(self.filled, self.before)

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=self.after.columns)

    def __call__(self, block: Block) -> Block:
        X = as_float(block.X)
        missing = np.isnan(X)
        if not missing.any():
            return block.with_X(X, self.schema(block.schema))
        filled = X.astype(np.float64)
        for j in np.flatnonzero(missing.any(axis=0)).tolist():
            rows = np.flatnonzero(missing[:, j])
            cells = np.asarray(X[rows], dtype=np.float64)
            filled[rows, j] = self._fill_cells(cells, j)
        filled = filled.astype(X.dtype, copy=False)
        return block.with_X(filled, self.schema(block.schema))

    def _fill_cells(self, X: np.ndarray, j: int) -> np.ndarray:
        """What fills column j of rows that lack it."""
        known = np.flatnonzero(~np.isnan(self.rows[:, j]))
        if not len(known):
            return np.full(len(X), self.otherwise[j])
        # votes are the weights of the neighbors; those at no finite distance have none
        neighbors = self._index(j, known).nearest(X, min(self.k, len(known)))
        distances = neighbors.distances
        weights = self.weights[known][neighbors.rows]
        votes = np.where(np.isfinite(distances), weights, 0.0)
        if self.by_distance:
            votes = _over_distance(votes, distances)
        cells = self.rows[known, j][neighbors.rows]
        column = self.filled[j]
        lost = ~(votes.sum(axis=1) > 0)
        votes[lost] = 1.0
        if column.is_categorical:
            values = _commonest(cells, votes, column)
        else:
            values = (cells * votes).sum(axis=1) / votes.sum(axis=1)
        return np.where(lost, self.otherwise[j], values)

    def _index(self, j: int, known: np.ndarray) -> NeighborIndex:
        # one index per column, of the rows that know it, made when a block first needs it
        cache: dict[int, NeighborIndex] = self.__dict__.setdefault("_indices", {})
        if j not in cache:
            cache[j] = NeighborIndex(self.rows[known], metric=self.metric)
        return cache[j]


def _over_distance(votes: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Votes over distances; rows at distance 0 alone where there are any."""
    hits = distances == 0.0
    has_hit = hits.any(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.where(hits, 1.0, distances)
    return votes * np.where(has_hit, hits, inverse)


def _commonest(cells: np.ndarray, votes: np.ndarray, column: Column) -> np.ndarray:
    """The cell of most votes in every row, the first category of equal ones."""
    categories = np.asarray(column.categories)
    if column.numeric:
        codes = codes_of(cells.ravel(), categories).reshape(cells.shape)
    else:
        codes = cells
    # the votes of every row and category, in one table
    K = max(1, len(categories))
    codes = np.clip(codes, 0, K - 1).astype(np.int64)
    entries = (np.arange(len(cells)) * K)[:, None] + codes
    sums = np.bincount(entries.ravel(), votes.ravel(), len(cells) * K)
    best = sums.reshape(-1, K).argmax(axis=1)
    if column.numeric:
        return categories[best].astype(np.float64)
    return best.astype(np.float64)
