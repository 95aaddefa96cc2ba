"""Weights that sum to 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum.errors import SettingError, number_setting


def check_shares(weights: Any, n: int, what: str, each: str) -> np.ndarray:
    """Weights scaled to sum to 1; equal ones for None.

    Parameters
    ----------
    weights : array of shape (n,), or None
        Finite, not negative, and not all zero.
    n : int
    what : str
        The name of the setting, for messages.
    each : str
        The thing that has a weight, for messages.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> check_shares([1, 3], 2, "weights", "member").tolist()
    [0.25, 0.75]
    """
    if weights is None:
        return np.full(n, 1.0 / n)
    found = number_setting(what, weights)
    if found.shape != (n,):
        raise SettingError(
            f"{what} has the shape {found.shape}: give one number per {each}, {n} in all"
        )
    if not np.isfinite(found).all() or (found < 0).any() or not found.sum() > 0:
        raise SettingError(
            f"{what} must be finite, not negative and not all zero, not {found.tolist()}"
        )
    return found / found.sum()
