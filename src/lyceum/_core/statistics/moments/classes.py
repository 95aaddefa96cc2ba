"""Summaries by class, brought to the same classes before they are merged."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import Block
from lyceum._core.text import show_count
from lyceum.errors import DataError


def align_labels(
    first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All labels of both, and where each side's labels stand among them.

    Equal labels keep their order; different ones are sorted.

    >>> align_labels(np.array(["b", "c"]), np.array(["a", "c"]))[0].tolist()
    ['a', 'b', 'c']
    """
    if first is second or np.array_equal(first, second):
        indices = np.arange(len(first))
        return first, indices, indices
    both = np.union1d(first, second)
    return both, np.searchsorted(both, first), np.searchsorted(both, second)


def place_classes(
    values: np.ndarray,
    indices: np.ndarray,
    size: int,
) -> np.ndarray:
    """`values`, one entry per class, at their places among `size` classes; zeros elsewhere."""
    # all classes in their order: nothing moves
    if len(values) == size and (indices[:-1] < indices[1:]).all():
        return values
    wide = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    wide[indices] = values
    return wide


def class_weights(block: Block, n_classes: int) -> np.ndarray:
    """The total weight of the rows of every class; rows without a class are left out."""
    if block.y is None:
        return np.array([block.weight])
    y = block.y
    w = block.w
    if len(y) and y.min() < 0:
        labeled = y >= 0
        y = y[labeled]
        w = None if w is None else w[labeled]
    return np.bincount(y, w, n_classes).astype(np.float64)


def classes_of(block: Block) -> np.ndarray:
    """The classes of the target; a single one when there is no target."""
    target = block.schema.target
    if block.y is None or target is None or target.categories is None:
        return np.zeros(1, dtype=np.int64)
    return target.categories


def class_of_rows(block: Block) -> np.ndarray:
    """The code of the class of every row; 0 for all when there is no target."""
    if block.y is None:
        return np.zeros(len(block), dtype=np.int32)
    return block.y


def check_responsibilities(responsibilities: np.ndarray, n_rows: int) -> np.ndarray:
    """Responsibilities as a float64 array of shape (n, K)."""
    R = np.ascontiguousarray(responsibilities, dtype=np.float64)
    if R.ndim != 2 or len(R) != n_rows:
        raise DataError(
            f"responsibilities have the shape {R.shape} for {show_count(n_rows, 'row')}: give one"
            " row per row"
        )
    return R


def component_weights(block: Block, responsibilities: np.ndarray) -> np.ndarray:
    """The total weight of every component, Σ w r."""
    if block.w is None:
        return responsibilities.sum(axis=0)
    return block.w @ responsibilities
