"""Targets, classes and weights as `fit` takes them: checked, and classes as codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from lyceum._core.data.inputs.arrow import EXACT
from lyceum._core.data.inputs.fast_validation import is_flat
from lyceum._core.data.inputs.pandas_columns import (
    is_missing,
    is_pandas,
    with_arrow_type,
)
from lyceum._core.data.schema.coding import class_codes, labels, target_numbers
from lyceum._core.data.schema.column import Column, categorical_kind
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import is_arrow
from lyceum._core.types import Data, Weights
from lyceum.errors import DataError, MissingValuesError

Task = Literal["classes", "numbers"]
_LARGEST_WEIGHT = 1e100  # sums of products of larger ones overflow
_SMALLEST_WEIGHT = 1e-100  # sums of products of smaller ones vanish
_NEGLIGIBLE = 1e-150  # of the largest weight: such a row counts as one of weight zero


def _as_array(y: Any) -> np.ndarray:
    """The target as an array; of a list, whole numbers that floats would round stay as they are."""
    values = np.asarray(y)
    if not isinstance(y, list | tuple) or values.dtype.kind != "f":
        return values
    if any(isinstance(value, int) and abs(value) > EXACT for value in y):
        return np.asarray(y, dtype=object)
    return values


def checked_target(
    y: Any, task: Task | None, name: str, caller: str
) -> np.ndarray | None:
    """The target as a flat array of one type, without missing values."""
    if y is None or task is None:
        return None
    _check_dense(y, caller)
    if is_arrow(y, "Array"):
        y = y.to_numpy(zero_copy_only=False)
    elif is_arrow(y, "ChunkedArray"):
        y = y.to_numpy()
    if is_pandas(y) and hasattr(y, "dtype"):
        y = with_arrow_type(y, f"target {name!r}")
    y = _as_array(y)
    if not is_flat(y, "iubUf"):
        y = column_or_1d(y, warn=True)
    if task == "classes":
        return labels(y, name)
    try:
        y = target_numbers(y, name)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{caller} predicts numbers, but {name!r} cannot be read as such: {error}"
        ) from error
    if not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise MissingValuesError(
            f"target {name!r} is missing or infinite (NaN or inf) in row {row}, which {caller} "
            "cannot learn from: drop such rows first"
        )
    return y


def _check_dense(y: Any, caller: str) -> None:
    if sparse.issparse(y):
        raise DataError(
            f"y is sparse, and {caller} learns from an array: give y.toarray(), or one column of it"
        )


def fill_unlabeled(y: Any, name: str, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """A target with some label in place of those that are missing, and where they were missing.

    None, NaN and pandas' NA are missing. So is -1 among numbers, which is scikit-learn's
    convention, unless only one other label occurs: classes may be called -1 and 1.

    >>> fill_unlabeled([2, -1, 3], "y", "A learner")
    (array([2, 2, 3]), array([False,  True, False]))
    """
    _check_dense(y, caller)
    if is_arrow(y, "Array", "ChunkedArray"):
        y = y.to_pylist()
    elif is_pandas(y) and hasattr(y, "dtype"):
        y = with_arrow_type(y, f"target {name!r}")
    # NumPy would make text of None among text
    dtype = object if isinstance(y, list) and None in y else None
    y = column_or_1d(np.asarray(y, dtype=dtype), warn=True)
    if y.dtype == object:
        missing = np.array([is_missing(label) for label in y], dtype=bool)
    elif y.dtype.kind in "fmM":
        missing = y != y
    else:
        missing = np.zeros(len(y), dtype=bool)
    if y.dtype.kind in "ifO":
        marked = np.zeros(len(y), dtype=bool)
        marked[~missing] = [
            not isinstance(label, str) and label == -1 for label in y[~missing].tolist()
        ]
        others = set(y[~missing & ~marked].tolist())
        if len(others) != 1:
            missing = missing | marked
    if missing.all():
        raise DataError(
            f"no row has a label in {name!r}: {caller} needs at least one row of every class"
        )
    # any label will do, as the codes of these rows become -1 later
    y = y.copy()
    y[missing] = y[np.flatnonzero(~missing)[0]]
    # the type that the labels have without the missing ones
    if y.dtype == object:
        y = np.array(y.tolist())
    return y, missing


def coded_target(
    y: np.ndarray | None, task: Task | None, name: str
) -> tuple[np.ndarray | None, Column | None]:
    """Class codes or numbers, and the target's column."""
    if task is None or y is None:
        return None, None
    if task == "numbers":
        return np.asarray(y, dtype=np.float64), Column(name, why="y")
    if y.dtype.kind not in "iubU":
        check_classification_targets(y)
    classes, codes = class_codes(y)
    return codes, Column(name, categorical_kind(classes), classes, "y")


def checked_weights(w: Any, X: Any, caller: str) -> np.ndarray | None:
    """The weights of the rows: numbers of at least 0, and some more than 0.

    A weight below 1e-150 of the largest becomes zero: products with it would be no numbers of full
    precision any more, or none at all.
    """
    if w is None:
        return None
    # what scikit-learn's checks would let pass needs none of them, as they take long for few rows
    is_checked = (
        is_flat(w, "f")
        and w.dtype == np.float64
        and w.shape == X.shape[:1]
        and np.isfinite(w).all()
    )
    weights = w if is_checked else _check_weight_numbers(w, X)
    if weights.min(initial=0.0) < 0:
        raise DataError(
            f"Negative values in data passed to `sample_weight`, which {caller} cannot take"
        )
    largest = weights.max(initial=0.0)
    if largest > _LARGEST_WEIGHT:
        raise DataError(
            f"sample_weight holds {largest:g}, whose sums overflow: rescale the weights"
        )
    if largest == 0.0:
        raise DataError(
            f"sample_weight is zero for every row: {caller} has nothing to learn from"
        )
    if largest < _SMALLEST_WEIGHT:
        raise DataError(
            f"sample_weight is at most {largest:g}, so that products with it vanish: rescale the"
            " weights"
        )
    is_negligible = (weights > 0.0) & (weights < _NEGLIGIBLE * largest)
    if is_negligible.any():
        return np.where(is_negligible, 0.0, weights)
    return weights


def _check_weight_numbers(w: Weights, X: Data) -> np.ndarray:
    """One number per row, by scikit-learn's checks; what cannot be read as numbers is refused by
    name."""
    try:
        if np.asarray(w).dtype.kind in "mM":
            raise TypeError("they are times")
        return _check_sample_weight(w, X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if "sample_weight" in str(error):
            raise
        raise DataError(f"sample_weight cannot be read as numbers: {error}") from error


def with_classes(schema: Schema, classes: ArrayLike | None, caller: str) -> Schema:
    """The schema with all classes that were given to `partial_fit`."""
    if classes is None or schema.target is None:
        return schema
    wanted = np.unique(np.asarray(classes))
    new = np.setdiff1d(schema.target.categories, wanted)  # type: ignore[arg-type]
    if len(new):
        raise DataError(
            f"y has the label {new[0]!r}, which is not among the classes given to {caller}"
        )
    kind = categorical_kind(wanted)
    return schema.with_target(replace(schema.target, kind=kind, categories=wanted))
