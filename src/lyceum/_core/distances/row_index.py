"""The index of the rows that a learner stores: made when first needed, never part of the model's
state."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from lyceum._core.data import Block
from lyceum._core.distances import NeighborIndex
from lyceum._core.types import Estimator
from lyceum.errors import ModelFileError

_indexes: WeakKeyDictionary[Any, tuple[Any, NeighborIndex]] = WeakKeyDictionary()


def float_cells(block: Block) -> Any:
    """The cells of a block in double precision: sparse as they came, or dense and in the order of
    rows."""
    if sparse.issparse(block.X):
        return sparse.csr_array(block.X, dtype=np.float64)
    return np.ascontiguousarray(block.X, dtype=np.float64)


def queries(model: Estimator, block: Block) -> Any:
    """The rows of a block as the index of the model takes them: dense where `model.rows_` are."""
    if sparse.issparse(model.rows_):
        return float_cells(block)
    return np.ascontiguousarray(block.dense, dtype=np.float64)


def check_stored(model: Estimator, n: int) -> None:
    """Raise unless `model.rows_`, read from a file, are n rows of the model's columns."""
    rows = model.rows_
    shape = (n, len(model.design_names))
    if rows.shape != shape:
        raise ModelFileError(
            f"has {type(model).__name__}.rows_ of shape {rows.shape}, not {shape}"
        )


def check_class_codes(model: Estimator, name: str) -> None:
    """Raise unless an attribute, read from a file, holds numbers of the model's classes.

    What counts them (np.bincount) takes codes of any size, also beyond its memory.
    """
    codes = getattr(model, name)
    is_plain = codes.dtype.kind == "i" and codes.ndim == 1
    if not is_plain or ((codes < 0) | (codes >= len(model.classes_))).any():
        raise ModelFileError(
            f"has class codes in {type(model).__name__}.{name} that are no classes"
        )


def stored_index(model: Estimator) -> NeighborIndex:
    """The index of `model.rows_` by `model.metric_`."""
    rows, index = _indexes.get(model, (None, None))
    if index is None or rows is not model.rows_:
        index = NeighborIndex(model.rows_, metric=model.metric_)
        _indexes[model] = (model.rows_, index)
    return index
