"""A grid over the plane of two columns, to draw the predictions of a model on it."""

from __future__ import annotations

from typing import Any

import numpy as np

# standard deviations that hold 95 % of a Gaussian of two columns: √(-2 log 0.05)
ELLIPSE = 2.4477


def in_columns_of(model: Any, grid: np.ndarray) -> Any:
    """The grid as a table of the model's columns, if it knows them by name."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return grid
    from lyceum._core.lazy_arrow import pa

    return pa.table({str(name): column for name, column in zip(names, grid.T)})


def plane_grid(
    rows: np.ndarray, beyond: float, steps: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """The coordinates along both columns, and all points of the grid, (steps², 2).

    Parameters
    ----------
    rows : array of shape (n, 2)
        Rows to cover; missing cells are left out.
    beyond : float
        How far the grid goes beyond them on every side, in ranges of the column.
    steps : int
        Points along a side.

    Examples
    --------
    >>> sides, points = plane_grid(np.array([[0.0, 5.0], [1.0, 5.0]]), 0.5, 3)
    >>> [side.tolist() for side in sides], points.shape
    ([[-0.5, 0.5, 1.5], [4.5, 5.0, 5.5]], (9, 2))
    """
    # a column without a range gets one of 1
    low = np.nanmin(rows, axis=0)
    high = np.nanmax(rows, axis=0)
    pad = beyond * np.where(high > low, high - low, 1.0)
    sides = [np.linspace(a, b, steps) for a, b in zip(low - pad, high + pad)]
    return sides, np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
