"""midpoints: thresholds that separate neighboring values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.native import native


def midpoints(low: Any, high: Any) -> np.ndarray:
    """The midpoints of pairs low < high, never rounded up to the larger one.

    Where no number lies between the two it is the lower one, so that low ≤ midpoint < high always
    holds.

    Parameters
    ----------
    low, high : array
        Of the same shape. Where both are equal, infinite too, it is their value.

    Examples
    --------
    >>> midpoints([1.0, 0.0], [2.0, 5e-324]).tolist()
    [1.5, 0.0]
    """
    low = np.asarray(low, dtype=np.float64)
    high = np.asarray(high, dtype=np.float64)
    out = np.empty(low.size)
    native.midpoints(np.ravel(low), np.ravel(high), out)
    return out.reshape(low.shape)
