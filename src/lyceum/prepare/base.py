"""Transformer: what every preparation of the columns shares.

A subclass learns as any learner does and defines `_step(schema)`, the change to every block of rows
with that schema. How the result is contained, and that it streams, is decided here once.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Learner,
    Reading,
    library_of,
    output_library,
    schema_with_names,
    undefined,
)
from lyceum._core.data import (
    Align,
    ArraySource,
    Block,
    CheckCells,
    Design,
    Rows,
    Schema,
    Step,
    is_dask,
    to_arrow,
)
from lyceum._core.types import Data, Target
from lyceum.prepare.containers import contain


class Transformer(TransformerMixin, Learner, auto_wrap_output_keys=None):
    """The base of encoders and of rules for missing values.

    A subclass writes `fit`, as any learner, and `_step(schema)`, the change to every block of rows.

    `transform` gives back what it is given: an array for an array (float32 stays float32), a
    pandas, Polars or pyarrow frame for such a frame, with words and not codes in it; times become
    seconds since 1970. Rows of `scan(...)` come back as rows with one more lazy step: nothing is
    read before a learner asks for them. A Dask array or frame comes back as a lazy one, transformed
    partition by partition. `set_output` applies to arrays and frames.

    Attributes
    ----------
    schema_ : Schema
        The columns of `fit`, with their kinds and categories.
    feature_names_in_ : array of str
        Their names, where the rows of `fit` have some.

    See Also
    --------
    lyceum.base.NewColumns : A transformer whose columns are new ones.
    StandardScaler, OneHotEncoder, SimpleImputer : Transformers.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from lyceum.prepare import Transformer
    >>> from lyceum.statistics import Moments
    >>> @dataclass(frozen=True)
    ... class Subtract:
    ...     low: np.ndarray
    ...     def schema(self, schema):
    ...         return schema
    ...     def __call__(self, block):
    ...         return block.with_X(block.X - self.low, block.schema)
    >>> class FromLowest(Transformer):
    ...     def fit(self, X, y=None):
    ...         self.low_ = self._rows(X).reduce(Moments.of).low
    ...         return self
    ...     def _step(self, schema):
    ...         return Subtract(self.low_)
    >>> FromLowest().fit_transform([[3.0, 10.0], [5.0, 9.0]]).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """

    _parameter_docs: ClassVar[str] = """
    categorical_features : str, bool, mask, indices, names, dict or Schema
        Which columns of numbers hold categories: a mask, indices or names; True for all; the kinds
        of some columns as a dict, or of all as a `Schema`. By default columns go by their types.
    """

    _coding = "codes"
    _takes_missing = True
    _reads_rows: ClassVar[Reading] = "one pass"
    _nan_means_none = True  # e.g. the range of a column of categories
    _keeps_rows: ClassVar[bool] = True

    def _step(self, schema: Schema) -> Step:
        """The change to blocks with the columns of `schema`, which has those of `schema_` under any
        names."""
        raise undefined(self, "_step")

    def fit_transform(
        self,
        X: Data,
        y: Target = None,
        **fit_params: Any,
    ) -> Any:
        """`fit(X, y, **fit_params)`, then `transform(X)`."""
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self, X: Data) -> Any:
        """X after the change that was learned, in the container that it came in.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        """
        check_is_fitted(self)
        return self._through(self._step(Schema(self.schema_.columns)), X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` gives."""
        check_is_fitted(self)
        schema = schema_with_names(self, input_features)
        return np.array(self._step(schema).schema(schema).names, dtype=object)

    def column_sources(self) -> np.ndarray:
        """The number of the input column that every output column comes from, -1 for a new one."""
        # a design knows its sources; other steps keep the names of the columns that they keep
        schema = Schema(self.schema_.columns)
        step = self._step(schema)
        design = getattr(step, "design", step)
        if isinstance(design, Design):
            return design.source
        indices = {name: j for j, name in enumerate(schema.names)}
        return np.array([indices.get(name, -1) for name in step.schema(schema).names])

    def _steps(self) -> list[Step]:
        return [CheckCells(type(self).__name__, self._takes_missing)]

    # -- containers --------------------------------------------------------------------

    def _through(self, step: Step, X: Data) -> Any:
        if isinstance(X, Rows):
            schema = Schema(self.schema_.columns, X.schema.target, X.schema.weight)
            aligned = X.then(Align.between(X.schema, schema))
            return self._prepare_rows(aligned).then(step)
        if is_dask(X):
            return self._through_dask(step, X)
        return self._through_memory(step, X, output_library(self, X))

    def _through_memory(
        self,
        step: Step,
        X: Any,
        library: str | None = None,
    ) -> Any:
        given = library_of(X)
        if given == "arrow":
            X = to_arrow(X)
        rows = self.rows_to_predict(X)
        source: ArraySource = rows.source  # type: ignore[assignment]
        after = rows.then(step)
        cells = after.collect(attrgetter("X"))
        # a step that finds nothing to do hands on the user's own array
        if not sparse.issparse(cells) and np.may_share_memory(cells, source.X):
            cells = cells.copy()
        if getattr(X, "dtype", None) == np.float16:
            cells = cells.astype(np.float16)  # which no kernel knows
        return contain(cells, after.schema, source, X, library or given)

    def _through_dask(self, step: Step, X: Any) -> Any:
        # Dask wants to know the type and the columns of the result before any row is computed
        is_single = getattr(X, "dtype", None) == np.float32
        dtype = np.float32 if is_single else np.float64
        cells = np.empty((0, len(self.schema_)), dtype)
        empty = ArraySource(cells, None, None, Schema(self.schema_.columns))
        after = step(Block(empty.X, None, None, 0, empty.schema))
        if hasattr(X, "columns"):
            nothing = contain(after.X, after.schema, empty, X._meta, "pandas")
            return X.map_partitions(partial(_part, self, step, nothing), meta=nothing)
        chunks = X.chunks[0] if self._keeps_rows else (np.nan,) * X.numblocks[0]
        nothing = contain(after.X, after.schema, empty, None, "array")
        work = partial(_part, self, step, nothing)
        return X.rechunk({1: -1}).map_blocks(
            work, chunks=(chunks, (nothing.shape[1],)), meta=nothing
        )

    # -- tags --------------------------------------------------------------------------

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _part(
    transformer: Transformer,
    step: Step,
    nothing: Any,
    part: Any,
) -> Any:
    """One partition after the step; an empty one needs no validation."""
    if len(part):
        return transformer._through_memory(step, part)
    return nothing
