"""Categories of many levels as numbers: what the target is like among the rows of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval
from lyceum._core.data import ArraySource, Block, Column, Inputs, Rows, Schema
from lyceum._core.types import Data, Target
from lyceum.errors import DataError, ModelFileError
from lyceum.prepare import Transformer

MANY_LEVELS = 30  # a category with more is encoded where it would be as many columns
_FOLDS = 5


class _ClassTarget(Inputs):
    """The way in where the target has classes."""

    task: ClassVar[Any] = "classes"


class _NumberTarget(Inputs):
    """The way in where the target is a number."""

    task: ClassVar[Any] = "numbers"


class TargetStatistics(Transformer):
    """Columns of many categories replaced by the mean of the target among the rows of a category;
    of more than two classes by the share of every class.

    A mean of few rows is drawn to that of all rows, by the empirical Bayes rule of scikit-learn's
    `TargetEncoder` (Micci-Barreca 2001):

    .. math:: \\lambda \\bar y_c + (1 - \\lambda) \\bar y, \\quad
        \\lambda = \\frac{n_c s^2}{n_c s^2 + s_c^2}

    The rows that it is fitted on are encoded out of fold, as a row that had a say in the mean of
    its category would tell its own target. Missing cells are a category; one that `fit` did not see
    has the mean of all rows.

    Parameters
    ----------
    min_categories : int, default=31
        Columns with fewer stay as they are.
    categorical_features : str, bool, mask, indices, names, dict or Schema, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    labels_ : list of str, or None
        The classes that the values are shares of, if there are more than two.
    encodings_ : list of array of shape (categories + 1, n_values), or None
        Of every column, None for those that stay; the last row is that of missing cells.
    target_mean_ : array of shape (n_values,)
        The mean of all rows.

    See Also
    --------
    lyceum.prepare.OneHotEncoder : A column for every category.
    lyceum.studies.study : Encodes so what would be many columns.

    References
    ----------
    Micci-Barreca, D. (2001). A preprocessing scheme for high-cardinality categorical attributes in
    classification and prediction problems. SIGKDD Explorations 3.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.studies import TargetStatistics
    >>> towns = pd.DataFrame({"town": ["Ulm"] * 4 + ["Bonn"] * 4})
    >>> pay = [1.0, 2.0, 1.0, 2.0, 5.0, 6.0, 5.0, 6.0]
    >>> encoder = TargetStatistics(min_categories=2).fit(towns, pay)
    >>> encoder.transform(towns[3:5])["town"].round(2).tolist()
    [1.53, 5.47]
    """

    _takes_text = True
    _looks_up = True
    _parameter_constraints: ClassVar[dict] = {
        "min_categories": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    labels_: list[str] | None
    encodings_: list[np.ndarray | None]
    target_mean_: np.ndarray

    def __init__(
        self,
        *,
        min_categories: int = MANY_LEVELS + 1,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.min_categories = min_categories
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None):
        """Learn the means of all categories.

        Parameters
        ----------
        X : array, frame or `scan(...)`
        y : array of classes or numbers of shape (n_samples,), if the target is not in the scan
        """
        self._learn(X, y)
        return self

    def fit_transform(self, X: Data, y: Target = None, **fit_params: Any) -> Any:
        """The rows encoded out of fold: every fifth by the means of the others."""
        sums = self._learn(X, y)
        by_fold = [sums.without(fold).encodings() for fold in range(_FOLDS)]
        tables: list[Any] = [None] * len(self.schema_)
        for j in range(len(tables)):
            if self.encodings_[j] is not None:
                tables[j] = np.array([encodings[j] for encodings, _ in by_fold])
        means = np.stack([mean for _, mean in by_fold])
        schema = Schema(self.schema_.columns)
        step = EncodeLevels(schema, tuple(tables), means, self._names())
        encoded = self._through(step, X)
        if isinstance(encoded, Rows) and encoded.in_memory:
            # the fold of a row goes by its number: rows may be divided once they are encoded
            block = encoded.in_one_block(type(self).__name__)
            return Rows(ArraySource.of_block(block))
        return encoded

    def _learn(self, X: Data, y: Target) -> LevelSums:
        target = X.schema.target if isinstance(X, Rows) else None
        if target is None and y is None:
            raise DataError(
                "TargetStatistics requires y to be passed, but the target y is None"
            )
        has_classes = np.asarray(y).dtype.kind != "f"
        if target is not None:
            has_classes = target.is_categorical
        self._validate_params()
        inputs = _ClassTarget if has_classes else _NumberTarget
        rows = inputs(self).for_fit(X, y, None)
        self.__dict__.pop("classes_", None)
        target = rows.schema.target
        assert target is not None
        n_classes = 0
        self.labels_ = None
        if has_classes:
            assert target.categories is not None
            n_classes = len(target.categories)
            if n_classes > 2:
                self.labels_ = [str(label) for label in target.categories]
        levels = [self._n_levels(column) for column in self.schema_]
        of = partial(LevelSums.of, levels=tuple(levels), n_classes=n_classes)
        sums = self._prepare_rows(rows).reduce(of)
        self.encodings_, self.target_mean_ = sums.total().encodings()
        return sums

    def _n_levels(self, column: Column) -> int | None:
        if column.numeric or column.is_free_text or column.categories is None:
            return None
        n = len(column.categories)
        return n if n >= self.min_categories else None

    def _names(self) -> tuple[str, ...] | None:
        return None if self.labels_ is None else tuple(self.labels_)

    def _step(self, schema: Schema) -> EncodeLevels:
        tables = [None if e is None else e[None] for e in self.encodings_]
        mean = self.target_mean_[None]
        return EncodeLevels(schema, tuple(tables), mean, self._names())

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "encodings_"):
            return
        n_values = len(self.target_mean_)
        fits = len(self.encodings_) == len(self.schema_)
        fits = fits and (self.labels_ is None or len(self.labels_) == n_values)
        for column, table in zip(self.schema_, self.encodings_):
            if table is None or not fits:
                continue
            levels = () if column.categories is None else column.categories
            fits = np.shape(table) == (len(levels) + 1, n_values)
        if not fits:
            raise ModelFileError(
                "holds a TargetStatistics whose numbers do not fit together"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def complexity(self) -> int:
        """A number, or one for every class, of each category and of missing cells."""
        return sum(table.size for table in self.encodings_ if table is not None)

    def column_sources(self) -> np.ndarray:
        """The number of the input column that every output column comes from."""
        plan = self._step(Schema(self.schema_.columns)).plan
        return np.array([j for j, _ in plan], dtype=np.intp)


def _fold_of(start: int, n: int) -> np.ndarray:
    """The fold of every row, by a hash of its number."""
    numbers = np.arange(start, start + n, dtype=np.uint64)
    hashed = numbers * np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
    return ((hashed >> np.uint64(33)) % np.uint64(_FOLDS)).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class LevelSums:
    """Weight, sum and sum of squares of the target in every fold and category; merges.

    Attributes
    ----------
    columns : tuple of array of shape (folds, categories + 1, 3, n_values), or None
        Of every column that is encoded.
    all_rows : array of shape (folds, 3, n_values)
        The same over all rows.
    """

    columns: tuple[np.ndarray | None, ...]
    all_rows: np.ndarray

    @classmethod
    def of(
        cls, block: Block, levels: tuple[int | None, ...], n_classes: int
    ) -> LevelSums:
        Y = _target_values(block.y, n_classes)
        w = block.weights * np.isfinite(Y).all(axis=1)
        Y = np.nan_to_num(Y)
        powers = np.stack([np.ones_like(Y), Y, Y**2], axis=1) * w[:, None, None]
        folds = _fold_of(block.start, len(block))
        all_rows = np.zeros((_FOLDS, *powers.shape[1:]))
        np.add.at(all_rows, folds, powers)
        columns: list[np.ndarray | None] = []
        for j, n_levels in enumerate(levels):
            if n_levels is None:
                columns.append(None)
                continue
            sums = np.zeros((_FOLDS, n_levels + 2, *powers.shape[1:]))
            codes = _level_codes(block.dense[:, j], n_levels)
            np.add.at(sums, (folds, codes), powers)
            columns.append(sums[:, : n_levels + 1])
        return cls(tuple(columns), all_rows)

    def merge(self, other: LevelSums) -> LevelSums:
        columns = [
            None if a is None or b is None else a + b
            for a, b in zip(self.columns, other.columns)
        ]
        return LevelSums(tuple(columns), self.all_rows + other.all_rows)

    def total(self) -> LevelSums:
        """The sums of all folds as one."""
        columns = [None if c is None else c.sum(axis=0)[None] for c in self.columns]
        return LevelSums(tuple(columns), self.all_rows.sum(axis=0)[None])

    def without(self, fold: int) -> LevelSums:
        """The sums of all folds but one, as one."""
        total = self.total()
        columns = [
            None if a is None or c is None else a - c[fold]
            for a, c in zip(total.columns, self.columns)
        ]
        return LevelSums(tuple(columns), total.all_rows - self.all_rows[fold])

    def encodings(self) -> tuple[list[np.ndarray | None], np.ndarray]:
        """The mean of every category, drawn to that of all rows, and the latter."""
        n, total, squares = self.all_rows[0]
        mean = total / np.maximum(n, 1e-300)
        variance = np.maximum(squares / np.maximum(n, 1e-300) - mean**2, 0.0)
        encodings: list[np.ndarray | None] = []
        for sums in self.columns:
            if sums is None:
                encodings.append(None)
                continue
            n_c, total_c, squares_c = sums[0].transpose(1, 0, 2)
            known = n_c > 1e-9
            count = np.where(known, n_c, 1.0)
            mean_c = total_c / count
            variance_c = np.maximum(squares_c / count - mean_c**2, 0.0)
            between = variance * count
            both = between + variance_c
            share = np.divide(between, both, out=np.ones_like(both), where=both > 0)
            encodings.append(np.where(known, share * mean_c + (1 - share) * mean, mean))
        return encodings, mean


def _target_values(y: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Numbers, 0 and 1 for the second of two classes, or a column per class; NaN where missing."""
    assert y is not None
    if not n_classes:
        return np.asarray(y, dtype=np.float64)[:, None]
    values = (y[:, None] == np.arange(n_classes)).astype(np.float64)
    values[y < 0] = np.nan
    return values[:, 1:] if n_classes == 2 else values


def _level_codes(cells: np.ndarray, n_levels: int) -> np.ndarray:
    """The codes of cells; missing ones have the code after the last, unknown ones the next."""
    codes = np.where(np.isnan(cells), n_levels, cells).astype(np.intp)
    return np.where((codes < 0) | (codes > n_levels), n_levels + 1, codes)


@dataclass(frozen=True, eq=False)
class EncodeLevels:
    """Columns of categories replaced by numbers.

    Attributes
    ----------
    before : Schema
        The columns as they were.
    tables : tuple of array of shape (folds, categories + 1, n_values), or None
        The numbers of every category, None for columns that stay; one fold for new rows.
    means : array of shape (folds, n_values)
        The numbers of unknown categories.
    labels : tuple of str, or None
        What the values are of, if there are several.
    """

    before: Schema
    tables: tuple[np.ndarray | None, ...]
    means: np.ndarray
    labels: tuple[str, ...] | None

    @cached_property
    def plan(self) -> list[tuple[int, str]]:
        """For every column after: the column before, and its name."""
        plan = []
        for j, (column, table) in enumerate(zip(self.before, self.tables)):
            if table is None or self.labels is None:
                plan.append((j, column.name))
            else:
                plan += [(j, f"{column.name} ({label})") for label in self.labels]
        return plan

    def schema(self, schema: Schema) -> Schema:
        columns = []
        for j, name in self.plan:
            column = schema[j]
            columns.append(column if self.tables[j] is None else Column(name))
        return Schema(tuple(columns), schema.target, schema.weight)

    def __call__(self, block: Block) -> Block:
        X = block.dense
        folds = np.zeros(len(block), dtype=np.intp)
        if len(self.means) > 1:
            folds = _fold_of(block.start, len(block))
        parts = []
        for j, table in enumerate(self.tables):
            if table is None:
                parts.append(np.asarray(X[:, j : j + 1], dtype=np.float64))
                continue
            full = np.concatenate([table, self.means[:, None, :]], axis=1)
            codes = _level_codes(X[:, j], table.shape[1] - 1)
            parts.append(full[folds, codes])
        return block.with_X(np.concatenate(parts, axis=1), self.schema(block.schema))
