"""Transformers that scikit-learn has too: its class on arrays and frames, ours by kinds of columns.

An array has one meaning in both libraries, so that a class of the same name inherits scikit-learn's
way with it. What scikit-learn cannot take goes by the kinds of its columns: rows of `scan(...)`,
Dask collections, pyarrow tables, weights, and columns that `categorical_features` names.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils._set_output import ADAPTERS_MANAGER
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from lyceum._core.base import library_of, output_library, undefined
from lyceum._core.data import Column, Rows, Schema, Step, dense_cells, is_dask
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.prepare.base import Transformer
from lyceum.progress import report


def _has_inverse(learner: Any) -> bool:
    """Whether `transform` has an inverse: kinds of columns are not found again."""
    has_inverse = hasattr(learner._theirs, "inverse_transform")
    return has_inverse and not getattr(learner, "by_kinds_", False)


class SharedTransformer(Transformer):
    """The base of transformers that inherit from scikit-learn's class of the same name.

    A subclass names that class in `_theirs`, and defines `_fit_by_kinds` and `_step`.
    """

    _theirs: ClassVar[Any]
    _theirs_takes_weights: ClassVar[bool] = False
    _theirs_takes_sparse: ClassVar[bool] = False
    _usual_kinds: ClassVar[str] = "from_dtype"  # the `categorical_features` of arrays
    _attribute_docs: ClassVar[str] = """
    by_kinds_ : bool
        Whether the columns went by their kinds; False where `fit` got an array or a frame and did
        as scikit-learn does.
    """

    by_kinds_: bool
    categorical_features: Any

    def _fit_by_kinds(self, X: Data, y: Target, sample_weight: Weights) -> None:
        raise undefined(self, "_fit_by_kinds")

    def _goes_by_kinds(self, X: Data) -> bool:
        """Whether X is coded by the kinds of its columns; else scikit-learn's way is taken."""
        declared = self.categorical_features
        is_default = isinstance(declared, str) and declared == self._usual_kinds
        return not is_default or is_beyond_scikit_learn(X)

    def _column(self, name: str, j: int) -> Column:
        """A column of the array that `fit` got."""
        return Column(name)

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None) -> Self:
        """Learn from all rows of X.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : ignored, but by a discretizer that cuts by classes
        sample_weight : array of shape (n_samples,), optional
        """
        is_weighted = sample_weight is not None
        has_own_weights = is_weighted and not self._theirs_takes_weights
        if self._goes_by_kinds(X) or has_own_weights:
            self._fit_by_kinds(self._cells(X), y, sample_weight)
            self.by_kinds_ = True
            return self
        self.__dict__.pop("statistic_", None)
        weights = {"sample_weight": sample_weight} if is_weighted else {}
        n_rows = _num_samples(X)
        report("rows", 0, n_rows)
        self._theirs.fit(self, X, y, **weights)
        report("rows", n_rows, n_rows)
        return self._finish_array(X)

    def _cells(self, X: Any) -> Any:
        """X for the kinds of its columns, which are looked for in dense cells."""
        return dense_cells(X) if self._theirs_takes_sparse else X

    def _finish_array(self, X: Data) -> Self:
        """What every learner has after `fit`, from an array."""
        self.by_kinds_ = False
        self.n_rows_ = _num_samples(X)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        columns = [self._column(str(name), j) for j, name in enumerate(names)]
        self.schema_ = Schema(tuple(columns))
        return self

    def fit_transform(self, X: Data, y: Target = None, **fit_params: Any) -> Any:
        """`fit(X, y, **fit_params)`, then `transform(X)`."""
        return self.fit(X, y, **fit_params).transform(X)

    def transform(self, X: Data) -> Any:
        """X after the change that was learned, in the container that it came in.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        """
        check_is_fitted(self)
        if self.by_kinds_ or is_beyond_scikit_learn(X):
            step = self._step(Schema(self.schema_.columns))
            return self._through(step, self._cells(X))
        cells = self._theirs.transform(self, X)
        return self._as_given(cells, X)

    def _as_given(self, cells: Any, X: Data) -> Any:
        """An array in the container of X, unless `set_output` has put it into one."""
        library = output_library(self, X)
        if sparse.issparse(cells) or not isinstance(cells, np.ndarray):
            return cells
        if library == "array":
            return cells
        names = self.get_feature_names_out().tolist()
        # columns that X has under labels that are no names, such as numbers, get these back
        if library == "pandas" and not hasattr(self, "feature_names_in_"):
            labels = dict(zip(self.schema_.names, getattr(X, "columns", ())))
            names = [labels.get(name, name) for name in names]
        adapter = ADAPTERS_MANAGER.adapters[library]
        frame = adapter.create_container(cells, X, columns=names)
        is_objects = cells.dtype == object and library == "pandas"
        return frame.infer_objects() if is_objects else frame

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns that `transform` gives."""
        check_is_fitted(self)
        if self.by_kinds_:
            return Transformer.get_feature_names_out(self, input_features)
        return self._theirs.get_feature_names_out(self, input_features)

    @available_if(_has_inverse)
    def inverse_transform(self, X: Data) -> Any:
        """X as it was before `transform`, as scikit-learn has it."""
        check_is_fitted(self)
        return self._theirs.inverse_transform(self, X)

    def _no_step(self, why: str) -> SettingError:
        """The refusal of rows after `fit` on an array with settings that only arrays have."""
        return SettingError(
            f"{type(self).__name__} was fitted on an array with {why}: give arrays or frames, or"
            " fit it on a scan or a pyarrow table"
        )

    def _step(self, schema: Schema) -> Step:
        raise undefined(self, "_step")


def is_beyond_scikit_learn(X: Data) -> bool:
    """Whether X is rows, a Dask collection or a pyarrow table, which scikit-learn does not take."""
    return isinstance(X, Rows) or is_dask(X) or library_of(X) == "arrow"


def has_words(X: Any) -> bool:
    """Whether a frame has columns that are not numbers."""
    if library_of(X) == "pandas":
        return any(dtype.kind not in "iufb" for dtype in X.dtypes)
    if library_of(X) == "polars":
        return not all(dtype.is_numeric() for dtype in X.dtypes)
    return False
