"""From what a user passes to `fit`, `partial_fit` or `predict` to rows, with scikit-learn's checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from lyceum._native import native
from lyceum._threads import ordered_map
from lyceum.data._align import Align, TargetNumbers, union
from lyceum.data._arrow import is_frame, to_arrow
from lyceum.data._coding import TableCoder, class_codes, labels
from lyceum.data._dask import DaskSource, as_delayed, is_dask, row_counts
from lyceum.data._rows import Rows
from lyceum.data._scan import coded_source, schema_of
from lyceum.data._schema import Column, Kind, Schema
from lyceum.data._sources import ArraySource
from lyceum.data._steps import CheckTarget
from lyceum.errors import DataError, MissingValuesError, SchemaError

__all__ = ["Inputs"]

_KERNEL_TYPES = (np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64)
_LOOK = 1 << 16  # rows looked at at once
_NO_Y = "{} requires y to be passed, but the target y is None"
_MANY = 4096  # whole numbers below this are found by a table, other categories by sorting


@dataclass(frozen=True)
class Inputs:
    """The way in for one learner."""

    learner: Any

    @cached_property
    def who(self) -> str:
        return type(self.learner).__name__

    @cached_property
    def task(self) -> str | None:
        """ "classes", "numbers", or None when there is nothing to predict."""
        return "classes" if is_classifier(self.learner) else "numbers" if is_regressor(self.learner) else None

    # -- fit -----------------------------------------------------------------------------------------------

    def for_fit(self, X: Any, y: Any, w: Any) -> Rows:
        """Rows to learn from; sets the learner's schema, classes and scikit-learn's attributes."""
        rows = self._new_rows(X, y, w, reset=True)
        self._learn_schema(rows.schema)
        return rows

    def for_partial_fit(self, X: Any, y: Any, w: Any, classes: Any = None) -> Rows:
        """Rows to go on learning from: the schema grows by new categories and classes."""
        known = getattr(self.learner, "schema_", None)
        rows = self._new_rows(X, y, w, reset=known is None)
        schema = (
            rows.schema
            if known is None
            else union(known, rows.schema, self.who, self.learner._coding == "codes")
        )
        schema = _with_classes(schema, classes, self.who)
        self._learn_schema(schema)
        return rows if schema is rows.schema else rows.then(Align.between(rows.schema, schema))

    def _learn_schema(self, schema: Schema) -> None:
        learner = self.learner
        learner.schema_ = schema
        learner.n_features_in_ = len(schema)
        if self.task == "classes":
            assert schema.target is not None
            learner.classes_ = schema.target.categories

    def _new_rows(self, X: Any, y: Any, w: Any, reset: bool) -> Rows:
        if isinstance(X, Rows):
            return self._scanned(X, y, w, reset)
        if is_dask(X):
            return self._dask(X, y, w, reset)
        if is_frame(X) and not self._is_plain(X):
            return self._frame(X, y, w, reset)
        return self._array(X, y, w, reset)

    def _scanned(self, rows: Rows, y: Any, w: Any, reset: bool) -> Rows:
        if y is not None or w is not None:
            raise DataError(
                "rows from scan carry their target and weights: give scan(..., target=, weight=) instead"
            )
        if reset:
            self.learner.feature_names_in_ = np.array(rows.schema.names, dtype=object)
        target = rows.schema.target
        if self.task is None:
            return rows
        if target is None:
            raise DataError(f"{self.who} needs a target: give scan(..., target=...)")
        if self.task == "classes" and not target.is_categorical:
            raise SchemaError(
                f"{self.who} predicts classes, but the target {target.name!r} is continuous ({target.why}): "
                f"declare its kind, scan(..., kinds={{{target.name!r}: 'categorical'}}), or use a regressor"
            )
        if self.task == "numbers" and target.is_categorical:
            if target.is_text:
                raise SchemaError(
                    f"{self.who} predicts numbers, but the target {target.name!r} holds categories "
                    f"({target.why}): "
                    "use a classifier"
                )
            rows = rows.then(TargetNumbers(target))
        return rows.then(CheckTarget(self.who))

    def _is_plain(self, frame: Any) -> bool:
        """Whether a frame is nothing but numbers of NumPy's types."""
        if not type(frame).__module__.startswith("pandas") or not hasattr(frame, "dtypes"):
            return False
        return all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes)

    def _array(self, X: Any, y: Any, w: Any, reset: bool) -> Rows:
        X, y = self._validated(X, y, reset)
        X = _for_kernels(X)
        names = getattr(self.learner, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
        categorical = self._categorical(list(names))
        schema = _array_schema(X, [str(name) for name in names], categorical)
        y, target = self._target(y, "y")
        return Rows(ArraySource(X, y, self._weights(w, X), schema.with_target(target)))

    def _validated(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        options = {
            "dtype": "numeric",
            "accept_sparse": "csr" if self.learner._takes_sparse else False,
            "ensure_all_finite": False,
            "reset": reset,
        }
        if self.task is None:
            return validate_data(self.learner, X, **options), None
        X, y = validate_data(self.learner, X, self._checked_y(y, "y"), **options)
        return X, y

    def _checked_y(self, y: Any, name: str) -> np.ndarray | None:
        """The target as a flat array of one type, without gaps."""
        if y is None:
            return None
        if isinstance(y, pa.Array | pa.ChunkedArray):
            y = y.to_numpy(zero_copy_only=False) if isinstance(y, pa.Array) else y.to_numpy()
        y = column_or_1d(np.asarray(y), warn=True)
        if self.task == "classes":
            return labels(y, name)
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{self.who} predicts numbers, but {name!r} cannot be read as such: {error}"
            ) from error
        if not np.isfinite(y).all():
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            raise MissingValuesError(
                f"target {name!r} is missing or infinite (NaN or inf) in row {row}, which {self.who} "
                "cannot learn from: drop such rows first"
            )
        return y

    def _frame(self, X: Any, y: Any, w: Any, reset: bool) -> Rows:
        table = self._table(X, reset)
        schema = schema_of(table, [table.column_names[j] for j in self._categorical(table.column_names)])
        if getattr(self.learner, "categorical_features", "from_dtype") is None:
            text = [column.name for column in schema if not column.numeric]
            if text:
                raise SchemaError(f"column {text[0]!r} holds categories, but categorical_features is None")
        source = coded_source(table, schema)
        if self.task is not None and y is None:
            raise DataError(_NO_Y.format(self.who))
        name = str(getattr(y, "name", None) or "y")
        y = None if self.task is None else self._checked_y(y, name)
        check_consistent_length(source.X, y)
        codes, target = self._target(y, name)
        return Rows(replace(source, y=codes, w=self._weights(w, source.X), schema=schema.with_target(target)))

    def _table(self, X: Any, reset: bool) -> pa.Table:
        table = to_arrow(X)
        if not table.num_rows:
            raise DataError(f"found a table with 0 sample(s) while a minimum of 1 is required by {self.who}")
        _check_feature_names(
            self.learner, X if type(X).__module__.startswith("pandas") else table, reset=reset
        )
        return table

    def _target(self, y: np.ndarray | None, name: str) -> tuple[np.ndarray | None, Column | None]:
        if self.task is None or y is None:
            return None, None
        if self.task == "numbers":
            return np.asarray(y, dtype=np.float64), Column(name, why="y")
        if y.dtype.kind not in "iubU":
            check_classification_targets(y)
        classes, codes = class_codes(y)
        return codes, Column(name, "binary" if len(classes) == 2 else "categorical", classes, "y")

    def _weights(self, w: Any, X: Any) -> np.ndarray | None:
        if w is None:
            return None
        weights = _check_sample_weight(w, X, dtype=np.float64)
        if weights.min(initial=0.0) < 0:
            raise DataError(f"sample_weight has negative values, which {self.who} cannot take")
        if not weights.any():
            raise DataError(f"sample_weight is zero for every row: {self.who} has nothing to learn from")
        return weights

    def _categorical(self, names: list[str]) -> list[int]:
        """The columns that the learner's `categorical_features` names."""
        said = getattr(self.learner, "categorical_features", "from_dtype")
        if said is None or said is False or (isinstance(said, str) and said == "from_dtype"):
            return []
        if said is True:
            return list(range(len(names)))
        said = np.asarray(said)
        if said.dtype.kind == "b":
            if len(said) != len(names):
                raise SchemaError(f"categorical_features has {len(said)} entries for {len(names)} columns")
            return np.flatnonzero(said).tolist()
        if said.dtype.kind in "iu":
            if said.size and (said.min() < 0 or said.max() >= len(names)):
                raise SchemaError(
                    f"categorical_features names column {said.max()}, but there are {len(names)}"
                )
            return said.tolist()
        places = {name: place for place, name in enumerate(names)}
        missing = [name for name in said.tolist() if name not in places]
        if missing:
            raise SchemaError(f"categorical_features names the column {missing[0]!r}, which is not there")
        return [places[name] for name in said.tolist()]

    def _dask(self, X: Any, y: Any, w: Any, reset: bool) -> Rows:
        if self.task is not None and y is None:
            raise DataError(_NO_Y.format(self.who))
        source = DaskSource.of_collections(X, y, w, self.task, self._categorical)
        if reset:
            names = np.array(source.schema.names, dtype=object)
            if hasattr(X, "columns"):
                self.learner.feature_names_in_ = names
            elif hasattr(self.learner, "feature_names_in_"):
                del self.learner.feature_names_in_
        rows = Rows(source)
        return rows if self.task is None else rows.then(CheckTarget(self.who))

    # -- predict -------------------------------------------------------------------------------------------

    def for_predict(self, X: Any) -> Rows:
        """Rows coded by the learner's schema."""
        schema = Schema(self.learner.schema_.columns)
        if isinstance(X, Rows):
            return X.then(Align.between(X.schema, schema))
        if is_dask(X):
            self._check_dask(X, schema)
            return Rows(
                DaskSource(as_delayed(X), None, None, schema, row_counts(X), getattr(X, "dtype", None))
            )
        textual = [column.name for column in schema if column.is_text]
        if is_frame(X) and (textual or not self._is_plain(X)):
            return Rows(coded_source(self._table(X, reset=False), schema))
        if textual:
            raise SchemaError(
                f"{self.who} learned that column {textual[0]!r} holds text, which an array of numbers "
                "cannot: give a frame with the columns that it was fitted on"
            )
        accept = "csr" if self.learner._takes_sparse else False
        X = validate_data(
            self.learner, X, dtype="numeric", accept_sparse=accept, ensure_all_finite=False, reset=False
        )
        return Rows(ArraySource(_for_kernels(X), None, None, schema))

    def _check_dask(self, X: Any, schema: Schema) -> None:
        """Refuse columns that do not fit at once, not when the lazy result is computed."""
        if hasattr(X, "columns"):
            TableCoder(schema).check([str(name) for name in X.columns])
        elif X.ndim != 2 or X.shape[1] != len(schema):
            found = X.shape[1] if X.ndim == 2 else 1
            raise DataError(
                f"X has {found} features, but {self.who} is expecting {len(schema)} features as input"
            )


def _for_kernels(X: Any) -> Any:
    """The array itself if the kernels know its type, else as float64."""
    return X if X.dtype in _KERNEL_TYPES else X.astype(np.float64)


def _with_classes(schema: Schema, classes: Any, who: str) -> Schema:
    if classes is None or schema.target is None:
        return schema
    wanted = np.unique(np.asarray(classes))
    new = np.setdiff1d(schema.target.categories, wanted)  # type: ignore[arg-type]
    if len(new):
        raise DataError(f"y has the label {new[0]!r}, which is not in classes, that {who} was told to expect")
    kind: Kind = "binary" if len(wanted) == 2 else "categorical"
    return schema.with_target(replace(schema.target, kind=kind, categories=wanted))


def _array_schema(X: Any, names: list[str], categorical: list[int]) -> Schema:
    if not categorical:
        return Schema.of_numbers(names)
    if sparse.issparse(X):
        raise SchemaError(
            "categorical_features cannot be used with sparse data: give a dense array or a frame"
        )
    found = dict(zip(categorical, _categories(X, categorical)))
    return Schema(
        tuple(
            Column(name, "categorical", found[j], "declared")
            if j in found
            else Column(name, why="a number in an array")
            for j, name in enumerate(names)
        )
    )


def _categories(X: np.ndarray, columns: list[int]) -> list[np.ndarray]:
    """The distinct values of some columns of an array, in order."""
    X = np.ascontiguousarray(X)
    look = partial(_whole_numbers, columns=np.array(columns, dtype=np.int32))
    seen, regular = look(X[:_LOOK])
    if len(X) > _LOOK and not _no_others(X, columns, seen):
        for more, also in ordered_map(look, _stretches(X[_LOOK:])):
            seen |= more
            regular &= also
    return [np.flatnonzero(seen[i]) if regular[i] else _distinct(X[:, j]) for i, j in enumerate(columns)]


def _whole_numbers(X: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of 0, 1, ... occur in the columns, and which columns hold nothing else."""
    seen = np.zeros((len(columns), _MANY), dtype=np.uint8)
    regular = np.zeros(len(columns), dtype=np.uint8)
    native.integer_presence(X, columns, seen, regular)
    return seen, regular


def _no_others(X: np.ndarray, columns: list[int], seen: np.ndarray) -> bool:
    """Whether all whole numbers up to the largest of every column have been seen: there are no others."""
    if X.dtype.kind not in "iu":
        return False
    unsigned = X.view(f"u{X.itemsize}")  # a negative number is larger than any that is looked for
    largest = np.max(list(ordered_map(_maxima, _stretches(unsigned))), axis=0)
    return all(top < _MANY and row[: int(top) + 1].all() for top, row in zip(largest[columns], seen))


def _stretches(X: np.ndarray) -> Iterator[np.ndarray]:
    return (X[start : start + _LOOK] for start in range(0, len(X), _LOOK))


def _maxima(X: np.ndarray) -> np.ndarray:
    """The maximum of every column, many rows at a time: short rows would leave most of each vector idle."""
    n, d = X.shape
    bulk = X[: n - n % 64].reshape(-1, 64 * d).max(axis=0, initial=0).reshape(64, d).max(axis=0)
    return np.maximum(bulk, X[n - n % 64 :].max(axis=0, initial=0))


def _distinct(values: np.ndarray) -> np.ndarray:
    values = np.unique(values)
    return values[~np.isnan(values)] if values.dtype.kind == "f" else values
