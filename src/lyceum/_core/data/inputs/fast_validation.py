"""scikit-learn's checks of cells and targets, skipped where they would find nothing.

They find the library, type and names of what is given, which takes longer than the prediction for a
few rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, validate_data

from lyceum._core.data.inputs.arrow import is_frame
from lyceum._core.lazy_arrow import is_arrow
from lyceum._core.types import Data, Estimator, Target
from lyceum.errors import SourceError

_TYPES = frozenset(map(np.dtype, ("i1", "u1", "i2", "i4", "i8", "f4", "f8")))


def check_feature_names(learner: Any, X: Any, reset: bool) -> None:
    """Set `feature_names_in_`, or compare the names of a frame or table with it."""
    if is_arrow(X, "Table"):
        names = X.column_names
    else:
        names = list(X.columns)
    if names and all(type(name) is str for name in names):
        if reset:
            learner.feature_names_in_ = np.array(names, dtype=object)
            return
        learned = getattr(learner, "feature_names_in_", None)
        if learned is not None and list(learned) == names:
            return
    _check_feature_names(learner, X, reset=reset)


def validated_array(learner: Estimator, X: Any, reset: bool, **options: Any) -> Any:
    """What scikit-learn's `validate_data` gives for X: an array, or a frame of nothing but
    numbers."""
    cells = np.asarray(X) if is_frame(X) else X
    if not _is_regular(cells) or not _fits(learner, cells, reset):
        try:
            return validate_data(learner, X, reset=reset, **options)
        except TypeError as error:
            _refuse_objects(X, error)
            raise
    _check_names(learner, X, cells, reset)
    return cells


def validated_pair(
    learner: Estimator, X: Any, y: Any, reset: bool, **options: Any
) -> tuple[Any, Any]:
    """What `validate_data` gives for X and a target that `checked_target` has checked."""
    cells = np.asarray(X) if is_frame(X) else X
    is_checked = (
        _is_regular(cells)
        and is_flat(y, "iubUf")
        and len(y) == len(cells)
        and _fits(learner, cells, reset)
    )
    if is_checked and y.dtype.kind == "f":
        is_checked = np.isfinite(y).all()
    if not is_checked:
        try:
            return validate_data(learner, X, y, reset=reset, **options)
        except TypeError as error:
            _refuse_objects(X, error)
            raise
    _check_names(learner, X, cells, reset)
    return cells, y


def _refuse_objects(X: Any, error: TypeError) -> None:
    """Raise an error that names the first cell which is no number, if X is an array of objects."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O" or X.ndim != 2:
        return
    for (row, j), cell in np.ndenumerate(X):
        try:
            float(cell)
        except ValueError:
            continue
        except TypeError:
            raise SourceError(
                f"column 'x{j}' holds {cell!r} in row {row}, which is no number: give numbers, or"
                f" a frame, whose dates are understood ({error})"
            ) from error


def is_flat(y: Target, kinds: str) -> bool:
    """Whether y is an array of one dimension, one cell after the other, of one of the kinds of
    types."""
    return (
        type(y) is np.ndarray
        and y.ndim == 1
        and y.flags.c_contiguous
        and y.dtype.kind in kinds
    )


def _is_regular(X: Data) -> bool:
    """Whether X is an array of rows of numbers that kernels take."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in _TYPES


def _fits(learner: Any, X: np.ndarray, reset: bool) -> bool:
    """Whether X has the number of columns that it has to have; `reset` sets this number."""
    if reset:
        learner.n_features_in_ = X.shape[1]
    return getattr(learner, "n_features_in_", -1) == X.shape[1]


def _check_names(learner: Estimator, X: Data, cells: np.ndarray, reset: bool) -> None:
    if X is not cells:
        check_feature_names(learner, X, reset)
    elif hasattr(learner, "feature_names_in_"):  # arrays have no names
        _check_feature_names(learner, X, reset=reset)
