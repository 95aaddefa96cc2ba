"""From what a user passes to `fit`, `partial_fit` or `predict` to rows, with scikit-learn's
checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_array,
    check_consistent_length,
)

from lyceum._core.data.files.column_names import numbered_names
from lyceum._core.data.inputs.arrow import frame_table, is_frame
from lyceum._core.data.inputs.fast_validation import (
    check_feature_names,
    validated_array,
    validated_pair,
)
from lyceum._core.data.inputs.pandas_columns import is_pandas
from lyceum._core.data.inputs.separate_target import other_target, refuse_beside_rows
from lyceum._core.data.inputs.text_arrays import (
    check_whole_cells,
    text_array,
    text_columns,
    text_source,
    text_table,
)
from lyceum._core.data.rows.dask import DaskSource, as_delayed, is_dask, row_counts
from lyceum._core.data.rows.rows import Rows
from lyceum._core.data.rows.sources import ArraySource
from lyceum._core.data.rows.steps import CheckCategories, CheckTarget, RowCounter
from lyceum._core.data.rows.tables import coded_source, schema_of
from lyceum._core.data.schema.align import Align, TargetNumbers, union
from lyceum._core.data.schema.array_schema import array_schema
from lyceum._core.data.schema.coding import TableCoder
from lyceum._core.data.schema.column import is_beyond_floats
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.declared_kinds import declare_rows, declared_kinds
from lyceum._core.data.schema.schema import Schema, without_texts
from lyceum._core.data.schema.targets import (
    Task,
    checked_target,
    checked_weights,
    coded_target,
    fill_unlabeled,
    with_classes,
)
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, SchemaError

_KERNEL_TYPES = (
    np.int8,
    np.uint8,
    np.int16,
    np.int32,
    np.int64,
    np.float32,
    np.float64,
)
_NO_Y = "{} requires y to be passed, but the target y is None"
_SAY_SO = (
    "say which columns of an array are categories, e.g. categorical_features=True or [0, 2], or"
    " give a frame"
)


@dataclass(frozen=True)
class Inputs:
    """Turns what a user gives to one learner into rows, checked and coded by the learner's schema.

    Attributes
    ----------
    learner : Learner
        The learner; `for_fit` sets its `schema_`, `n_features_in_`, `n_rows_` and, for a
        classifier, `classes_`.
    caller : str
        The name of its class, for messages.
    task : {"classes", "numbers"} or None
        What it predicts, None when there is nothing to predict.
    takes_unlabeled : bool
        Whether it learns classes from rows without a label too.

    See Also
    --------
    lyceum.base.Learner : Its `fit` and `predict` read rows so.
    Rows : What it gives.

    Examples
    --------
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum._core.data import Inputs
    >>> model = NaiveBayes()
    >>> Inputs(model).for_fit([[1.5], [2.5], [4.0]], ["no", "no", "yes"], None)
    <Rows: 3 rows × 1 column (1 continuous), target 'y' (2 classes), in memory>
    >>> model.classes_.tolist(), model.n_features_in_
    (['no', 'yes'], 1)
    """

    learner: Any

    @cached_property
    def caller(self) -> str:
        return type(self.learner).__name__

    @cached_property
    def task(self) -> Task | None:
        """ "classes", "numbers", or None when there is nothing to predict."""
        if is_classifier(self.learner):
            return "classes"
        if is_regressor(self.learner):
            return "numbers"
        # of a transformer that learns from a target
        return getattr(self.learner, "_target_task", None)

    @cached_property
    def takes_unlabeled(self) -> bool:
        """Whether the learner learns classes from rows without a label too."""
        return self.task == "classes" and bool(
            getattr(self.learner, "_takes_unlabeled", False)
        )

    # -- fit ---------------------------------------------------------------------------

    def for_fit(self, X: Data, y: Target, w: Weights) -> Rows:
        """Rows to learn from; sets the learner's schema, classes and scikit-learn's attributes."""
        rows = self._new_rows(X, y, w, reset=True)
        self._learn_schema(rows.schema)
        return self._count_rows(X, rows)

    def for_partial_fit(
        self, X: Data, y: Target, w: Weights, classes: ArrayLike | None = None
    ) -> Rows:
        """Rows to go on learning from: the schema grows by new categories and classes."""
        learned = getattr(self.learner, "schema_", None)
        rows = self._new_rows(X, y, w, reset=learned is None)
        schema = rows.schema
        n_before = 0
        if learned is not None:
            counts = self.learner._coding == "codes"
            schema = union(learned, rows.schema, self.caller, counts)
            n_before = getattr(self.learner, "n_rows_", 0)
        schema = with_classes(schema, classes, self.caller)
        self._learn_schema(schema)
        rows = self._count_rows(X, rows, n_before)
        if schema is rows.schema:
            return rows
        return rows.then(Align.between(rows.schema, schema))

    def _count_rows(self, given: object, rows: Rows, before: int = 0) -> Rows:
        """Set `n_rows_`, now or, where it takes a pass to count the rows, when the learner has made
        one."""
        n_rows = rows.n_rows
        if n_rows is None and isinstance(given, Rows):
            n_rows = given.n_rows
        if n_rows is not None:
            self.learner.n_rows_ = before + n_rows
            return rows
        # the learner's own pass counts them, so that none is made for the count alone
        self.learner._row_counter = RowCounter(rows, before)
        return rows.then(self.learner._row_counter)

    def _learn_schema(self, schema: Schema) -> None:
        learner = self.learner
        learner.schema_ = without_texts(schema)
        learner.n_features_in_ = len(schema)
        if self.task == "classes":
            assert schema.target is not None
            learner.classes_ = schema.target.categories

    def _new_rows(self, X: Data, y: Target, w: Weights, reset: bool) -> Rows:
        rows = self._read(X, y, w, reset)
        if rows.schema.of_an_array:
            return rows
        text = [column.name for column in rows.schema if column.is_free_text]
        if text and not getattr(self.learner, "_takes_text", False):
            raise SchemaError(
                f"column {text[0]!r} is free text, which {self.caller} cannot take: put "
                "lyceum.prepare.TextVectorizer in front, or leave the column out"
            )
        # a category that a declared schema does not list would be passed over in silence
        if any(column.is_listed for column in rows.schema.columns):
            return rows.then(CheckCategories(self.caller))
        return rows

    def _read(self, X: Any, y: Target, w: Weights, reset: bool) -> Rows:
        if isinstance(X, Rows):
            return self._from_rows(X, y, w, reset)
        if is_dask(X):
            return self._dask(X, y, w, reset)
        # a frame of nothing but numbers goes the shorter way of arrays
        if is_frame(X) and not self._is_plain(X):
            return self._frame(self._table(X, reset), y, w)
        table = self._text_table(X, reset)
        if table is None:
            return self._array(X, y, w, reset)
        return self._frame(table, y, w)

    def _from_rows(self, rows: Rows, y: Target, w: Weights, reset: bool) -> Rows:
        refuse_beside_rows(other_target(rows, y), w)
        if reset:
            self.learner.feature_names_in_ = np.array(rows.schema.names, dtype=object)
        # members of an ensemble get rows whose kinds it has settled
        if not getattr(rows.source, "settled", False):
            self._refuse_categories(rows.schema)
            rows = declare_rows(rows, self._kinds(rows.schema.names), self.caller)
        target = rows.schema.target
        if self.task is None:
            return rows
        if target is None:
            raise DataError(f"{self.caller} needs a target: give scan(..., target=...)")
        if self.task == "classes" and not target.is_categorical:
            raise SchemaError(
                f"{self.caller} predicts classes, but the target {target.name!r} is continuous"
                f" ({target.why}): declare its kind, scan(..., kinds={{{target.name!r}:"
                f" 'categorical'}}), or {getattr(self.learner, '_for_numbers', 'use a regressor')}"
            )
        if self.task == "numbers" and target.is_categorical:
            if target.is_text:
                instead = getattr(self.learner, "_for_classes", "use a classifier")
                raise SchemaError(
                    f"{self.caller} predicts numbers, but the target {target.name!r} holds"
                    f" categories ({target.why}): {instead}"
                )
            rows = rows.then(TargetNumbers(target))
        if self.takes_unlabeled:
            return rows
        return rows.then(CheckTarget(self.caller))

    def _kinds(self, names: Sequence[str], named: bool = True) -> ColumnRoles:
        """The kinds that the learner's `categorical_features` declares."""
        return declared_kinds(
            getattr(self.learner, "categorical_features", None), names, named
        )

    def _refuse_categories(self, schema: Schema) -> None:
        """Raise where there are categories and categorical_features says that there are none."""
        if getattr(self.learner, "categorical_features", "from_dtype") is None:
            text = [column.name for column in schema if not column.numeric]
            if text:
                raise SchemaError(
                    f"column {text[0]!r} holds categories, but categorical_features is None"
                )

    def _is_plain(self, frame: Any) -> bool:
        """Whether a frame is nothing but numbers of NumPy's types, which one type of floats can
        hold."""
        if not is_pandas(frame) or not hasattr(frame, "dtypes"):
            return False
        dtypes = list(frame.dtypes)
        if not all(
            isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in dtypes
        ):
            return False
        # whole numbers of 64 bits may be too large for floats
        for j, dtype in enumerate(dtypes):
            is_wide = dtype.kind in "iu" and dtype.itemsize == 8
            if is_wide and is_beyond_floats(frame.iloc[:, j].to_numpy()):
                return False
        return True

    def _array(self, X: Data, y: Any, w: Weights, reset: bool) -> Rows:
        y, missing = self._labels(y, "y")
        cells = X
        X, y = self._validate_input(X, y, reset)
        X = _for_kernels(X)
        given = getattr(self.learner, "feature_names_in_", None)
        names: Sequence[str]
        if given is None:
            names = numbered_names(X.shape[1])
        else:
            names = [str(name) for name in given]
        roles = self._kinds(names, named=given is not None)
        if X.dtype.kind == "f":
            check_whole_cells(cells, names, roles.in_full)
        schema = array_schema(X, names, roles)
        y, target = coded_target(y, self.task, "y")
        _mark_missing(y, missing)
        weights = checked_weights(w, X, self.caller)
        return Rows(ArraySource(X, y, weights, schema.with_target(target)))

    def _labels(self, y: Target, name: str) -> tuple[Any, np.ndarray | None]:
        """The target, and where a label is missing, for a learner that takes such rows."""
        if self.takes_unlabeled and y is not None:
            return fill_unlabeled(y, name, self.caller)
        return (y, None)

    def _validate_input(self, X: Data, y: Target, reset: bool) -> tuple[Any, Any]:
        options = self._validation_options
        if self.task is None:
            return validated_array(self.learner, X, reset, **options), None
        y = checked_target(y, self.task, "y", self.caller)
        return validated_pair(self.learner, X, y, reset, **options)

    @property
    def _validation_options(self) -> dict[str, Any]:
        """For scikit-learn's checks; cells that are not finite are left to `CheckCells`."""
        return {
            "dtype": "numeric",
            "accept_sparse": "csr" if self.learner._takes_sparse else False,
            "ensure_all_finite": False,
        }

    def _text_table(self, X: Data, reset: bool) -> pa.Table | None:
        """An array with text in columns that `categorical_features` declares, as a table; None for
        others."""
        cells = text_array(X)
        if cells is None:
            return None
        names = [f"x{j}" for j in range(cells.shape[1])]
        roles = self._kinds(names, named=False)
        columns = roles.columns.items()
        listed = {name for name, column in columns if column.is_categorical}
        listed |= roles.in_full
        can_say = hasattr(self.learner, "categorical_features")
        advice = _SAY_SO if can_say else "give a frame"
        # refuses text in other columns
        table = text_table(cells, names, listed, self.caller, advice)
        if not any(names[j] in listed for j in text_columns(cells)):
            return None
        _check_n_features(self.learner, cells, reset=reset)
        _check_feature_names(self.learner, cells, reset=reset)
        return table

    def _frame(self, table: pa.Table, y: Target, w: Weights) -> Rows:
        schema = schema_of(table, self._kinds(table.column_names))
        self._refuse_categories(schema)
        source = coded_source(table, schema)
        if self.task is not None and y is None:
            raise DataError(_NO_Y.format(self.caller))
        name = str(getattr(y, "name", None) or "y")
        y, missing = self._labels(y, name)
        y = checked_target(y, self.task, name, self.caller)
        check_consistent_length(source.X, y)
        codes, target = coded_target(y, self.task, name)
        _mark_missing(codes, missing)
        weights = checked_weights(w, source.X, self.caller)
        schema = schema.with_target(target)
        return Rows(replace(source, y=codes, w=weights, schema=schema))

    def _table(self, X: Any, reset: bool) -> pa.Table:
        table = frame_table(X)
        if not table.num_rows:
            raise DataError(
                f"found a table with 0 sample(s) while a minimum of 1 is required by {self.caller}"
            )
        check_feature_names(self.learner, X if is_pandas(X) else table, reset)
        return table

    def _dask(self, X: Data, y: Target, w: Weights, reset: bool) -> Rows:
        if self.task is not None and y is None:
            raise DataError(_NO_Y.format(self.caller))
        source = DaskSource.of_collections(
            X, y, w, self.task, self._kinds, self.takes_unlabeled
        )
        if reset:
            names = np.array(source.schema.names, dtype=object)
            if hasattr(X, "columns"):
                self.learner.feature_names_in_ = names
            elif hasattr(self.learner, "feature_names_in_"):
                del self.learner.feature_names_in_
        rows = Rows(source)
        if self.task is None or self.takes_unlabeled:
            return rows
        return rows.then(CheckTarget(self.caller))

    # -- predict -----------------------------------------------------------------------

    def for_predict(self, X: Any) -> Rows:
        """Rows coded by the learner's schema."""
        schema = Schema(self.learner.schema_.columns)
        if isinstance(X, Rows):
            if X.schema.columns is schema.columns and X.schema.target is None:
                return X
            return X.then(Align.between(X.schema, schema))
        if is_dask(X):
            self._check_dask(X, schema)
            source = DaskSource(
                as_delayed(X),
                y=None,
                w=None,
                schema=schema,
                lengths=row_counts(X),
                dtype=getattr(X, "dtype", None),
            )
            return Rows(source)
        textual = []
        # the columns of an array, of which there may be a million, are not looked through
        if not schema.of_an_array:
            textual = [column.name for column in schema if column.is_text]
        is_nameless = not hasattr(self.learner, "feature_names_in_")
        if is_nameless and is_frame(X) and not self._is_plain(X):
            X = self._by_places(X, schema)
        if is_frame(X) and (textual or not self._is_plain(X)):
            return Rows(coded_source(self._table(X, reset=False), schema))
        if textual:
            return self._text_to_predict(X, textual)
        cells = _for_kernels(self._cells_to_predict(X))
        if cells.dtype.kind == "f":
            check_whole_cells(X, schema.names, _beyond_floats(schema))
        return Rows(ArraySource(cells, None, None, schema))

    def _by_places(self, X: Any, schema: Schema) -> Any:
        """A frame with other columns than x0, x1, ... where an array was learned: its numbers, as
        scikit-learn takes them, by the places of the columns; the frame where there is text."""
        same_names = [str(name) for name in X.columns] == list(schema.names)
        if same_names or not all(column.numeric for column in schema):
            return X
        try:
            numbers = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            return X
        check_feature_names(self.learner, X, reset=False)
        return numbers

    def _cells_to_predict(self, X: Data) -> Any:
        options = self._validation_options
        if not sparse.issparse(X):
            return validated_array(self.learner, X, reset=False, **options)
        # sparse rows have no names, also where a preparation made them from a frame: nothing to
        # warn of
        X = check_array(X, estimator=self.learner, input_name="X", **options)
        _check_n_features(self.learner, X, reset=False)
        return X

    def _text_to_predict(self, X: Data, textual: list[str]) -> Rows:
        """An array with text where `fit` has seen text."""
        schema = Schema(self.learner.schema_.columns)
        cells = text_array(X, needs_text=not isinstance(X, np.ndarray))
        if cells is None:
            raise SchemaError(
                f"{self.caller} learned that column {textual[0]!r} holds text, which an array of"
                " numbers cannot: give a frame or an array of objects with the columns that it was"
                " fitted on"
            )
        _check_n_features(self.learner, cells, reset=False)
        _check_feature_names(self.learner, cells, reset=False)
        return Rows(
            text_source(cells, schema, self.caller, "it was fitted on numbers there")
        )

    def _check_dask(self, X: Any, schema: Schema) -> None:
        """Refuse columns that do not fit at once, not when the lazy result is computed."""
        if hasattr(X, "columns"):
            TableCoder(schema).check([str(name) for name in X.columns])
        elif X.ndim != 2 or X.shape[1] != len(schema):
            n_features = X.shape[1] if X.ndim == 2 else 1
            raise DataError(
                f"X has {n_features} features, but {self.caller} is expecting {len(schema)}"
                " features as input"
            )


def _mark_missing(codes: np.ndarray | None, missing: np.ndarray | None) -> None:
    if codes is not None and missing is not None:
        codes[missing] = -1


def _beyond_floats(schema: Schema) -> list[str]:
    """The columns with categories that floats would merge."""
    if schema.of_an_array:
        return []
    return [
        column.name
        for column in schema
        if column.categories is not None and is_beyond_floats(column.categories)
    ]


def _for_kernels(X: Any) -> Any:
    """The array itself if the kernels know its type, else as float64."""
    if X.dtype in _KERNEL_TYPES:
        return X
    return X.astype(np.float64)
