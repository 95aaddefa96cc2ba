"""Rates that fall from episode to episode: how fast to learn, how often to explore."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from lyceum.errors import SettingError

Schedule = Callable[[int], float]


def schedule(
    start: float,
    end: float = 0.0,
    *,
    over: int = 1000,
    kind: str = "linear",
) -> Schedule:
    """A rate that falls from `start` to `end`.

    Parameters
    ----------
    start, end : float
    over : int, default=1000
        Episodes until `end` is reached.
    kind : {"linear", "exponential", "harmonic"}, default="linear"
        "exponential" needs end > 0; "harmonic" is start / (1 + t / over), not below `end`.

    Examples
    --------
    >>> falling = schedule(1.0, 0.1, over=10)
    >>> falling(0), falling(5), falling(100)
    (1.0, 0.55, 0.1)
    """
    for name, value in (("start", start), ("end", end), ("over", over)):
        if not isinstance(value, Real) or not np.isfinite(value):
            raise SettingError(f"{name} must be a finite number, not {value!r}")
    if kind == "exponential" and not (start > 0 and end > 0):
        raise SettingError("an exponential schedule needs a start and an end above 0")
    if kind not in ("linear", "exponential", "harmonic"):
        raise SettingError(
            f"kind must be 'linear', 'exponential' or 'harmonic', not {kind!r}"
        )
    if not over > 0:
        raise SettingError(f"over must be a number of episodes above 0, not {over!r}")

    def rate(t: int) -> float:
        share = min(t / over, 1.0)
        if kind == "linear":
            return (1.0 - share) * start + share * end
        if kind == "exponential":
            return start * (end / start) ** share
        return max(start / (1.0 + t / over), end)

    return rate


def as_schedule(rate: Any) -> Schedule:
    """A schedule as it is; a number as the same rate in every episode."""
    if callable(rate):
        return rate
    return lambda t: float(rate)
