"""What `transform` gives back, in every transformer: the same kind of container as its input.

An array for an array, a pandas, Polars or pyarrow frame for such a frame, a lazy Dask collection
for one, and for rows of `scan(...)` rows with one more lazy step, their target and weights as they
were. `set_output` overrides it for arrays and frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils._set_output import ADAPTERS_MANAGER, _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lyceum._core.data import (
    Align,
    Block,
    Column,
    Rows,
    Schema,
    is_dask,
    is_frame,
    to_arrow,
)
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data, Estimator


def library_of(X: Data) -> str:
    """ "pandas", "polars" or "arrow" for frames, "array" for the rest."""
    if not is_frame(X):
        return "array"
    module = type(X).__module__.split(".")[0]
    if module in ("pandas", "polars"):
        return module
    return "arrow"


def output_library(transformer: Any, X: Data) -> str:
    """The library of what `transform` gives back for X: that of X, unless `set_output` says
    otherwise, or the class stands in for scikit-learn's, which gives arrays."""
    wanted = _get_output_config("transform", transformer)["dense"]
    if wanted != "default":
        return wanted
    if getattr(transformer, "_gives_arrays", False):
        return "array"
    return library_of(X)


class NewColumns(TransformerMixin, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """A transformer of a learner whose columns are new ones, all of them numbers.

    `transform` returns `self._in_new_columns(function_of_block, X)`, and `get_feature_names_out`
    the names.

    See Also
    --------
    Learner : What to combine it with.
    lyceum.prepare.Transformer : A transformer whose columns are those of the table, changed.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum.base import Learner, NewColumns
    >>> class RowSum(NewColumns, Learner):
    ...     def fit(self, X, y=None):
    ...         self._rows(X)
    ...         return self
    ...     def transform(self, X):
    ...         return self._in_new_columns(lambda block: block.X.sum(axis=1, keepdims=True), X)
    ...     def get_feature_names_out(self, input_features=None):
    ...         return np.array(["sum"], dtype=object)
    >>> model = RowSum().fit([[1.0, 2.0]])
    >>> model.transform([[3.0, 4.0]]).tolist()
    [[7.0]]
    >>> table = pa.table({"a": [1.0], "b": [2.0]})
    >>> RowSum().fit(table).transform(table).to_pydict()
    {'sum': [3.0]}
    """

    get_feature_names_out: Callable[..., np.ndarray]
    _apply: Callable[..., Any]
    _prepare_rows: Callable[[Rows], Rows]
    schema_: Schema

    def __init_subclass__(cls, **options: Any) -> None:
        """`set_output` exists, and scikit-learn does not wrap `transform` a second time."""
        super().__init_subclass__(auto_wrap_output_keys=None, **options)
        cls._sklearn_auto_wrap_output_keys = {"transform"}

    def _in_new_columns(self, function: Callable[[Block], np.ndarray], X: Any) -> Any:
        """`function` of every block of X, one row per row, in the container that X came in."""
        check_is_fitted(self)
        if isinstance(X, Rows):
            schema = Schema(self.schema_.columns, X.schema.target, X.schema.weight)
            rows = self._prepare_rows(X.then(Align.between(X.schema, schema)))
            names = tuple(self.get_feature_names_out().tolist())
            return rows.then(_Computed(function, names))
        if is_dask(X) and hasattr(X, "columns"):
            # Dask asks for an empty frame of the type to come; no partition is read yet
            empty = np.empty((0, len(self.get_feature_names_out())))
            meta = self._contain(empty, X._meta)
            return X.map_partitions(partial(_part, self, function, meta), meta=meta)
        if is_dask(X):
            return self._apply(function, X)
        if library_of(X) == "arrow":
            X = to_arrow(X)  # a reader can be read once
        return self._contain(self._apply(function, X), X)

    def _contain(self, cells: np.ndarray, X: Data) -> Any:
        """An array, one row for every row of X, in the container that is wanted for X."""
        library = output_library(self, X)
        if library == "array":
            return cells
        names = self.get_feature_names_out().tolist()
        if library == "arrow":
            columns = [np.ascontiguousarray(column) for column in cells.T]
            return pa.table(dict(zip(names, columns)))
        adapter = ADAPTERS_MANAGER.adapters[library]
        return adapter.create_container(cells, X, columns=names)


def _part(
    transformer: Any, function: Callable[[Block], np.ndarray], meta: Any, part: Any
) -> Any:
    if len(part):
        return transformer._in_new_columns(function, part)
    return meta


@dataclass(frozen=True)
class _Computed:
    """A step that puts columns of numbers in the place of those of a block."""

    function: Callable[[Block], np.ndarray]
    names: tuple[str, ...]

    def schema(self, schema: Schema) -> Schema:
        columns = tuple(map(Column, self.names))
        return Schema(columns, schema.target, schema.weight)

    def __call__(self, block: Block) -> Block:
        return block.with_X(self.function(block), self.schema(block.schema))


def schema_with_names(learner: Estimator, input_features: Any) -> Schema:
    """The columns that a learner was fitted on, with the names given as for
    `get_feature_names_out`."""
    names = _check_feature_names_in(learner, input_features)
    columns = [replace(c, name=str(name)) for c, name in zip(learner.schema_, names)]
    return Schema(tuple(columns))
