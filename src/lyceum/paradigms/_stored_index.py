"""The index of the rows that a learner stores: made when first needed, never part of the model's state."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lyceum.distances import NeighborIndex

__all__ = ["stored_index"]

_indexes: WeakKeyDictionary[Any, tuple[np.ndarray, NeighborIndex]] = WeakKeyDictionary()


def stored_index(model: Any) -> NeighborIndex:
    """The index of `model.rows_` by `model.metric_`."""
    rows, index = _indexes.get(model, (None, None))
    if index is None or rows is not model.rows_:
        index = NeighborIndex(model.rows_, metric=model.metric_)
        _indexes[model] = (model.rows_, index)
    return index
