"""Which settings of a learner are compared: its defaults, then points spread evenly over its search
space."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_DRAWS = 50


def spread_settings(
    space: Mapping[str, Any], most: int, with_defaults: bool
) -> tuple[dict[str, Any], ...]:
    """At most `most` settings: the defaults (an empty dict), then all combinations or an even
    spread.

    Lists are taken as they are, ranges at `most` points if alone. Where there are more combinations
    than that, the settings are a Latin hypercube, the same for every seed of a study.

    >>> spread_settings({"alpha": (0.1, 10.0, "log")}, 4, True)
    ({}, {'alpha': 0.1}, {'alpha': 1.0}, {'alpha': 10.0})
    """
    first: list[dict[str, Any]] = [{}] if with_defaults else []
    n_settings = most - len(first)
    if not space or n_settings < 1:
        return ()  # the defaults alone: nothing to compare
    n_points = _points_per_range(space, n_settings)
    if n_points:
        choices = [_choices(values, n_points) for values in space.values()]
        return (
            *first,
            *(dict(zip(space, values)) for values in itertools.product(*choices)),
        )
    spread = _even_points(len(space), n_settings)
    drawn = [
        {name: _at(values, u) for (name, values), u in zip(space.items(), point)}
        for point in spread.tolist()
    ]
    return (*first, *(one for i, one in enumerate(drawn) if one not in drawn[:i]))


def _points_per_range(space: Mapping[str, Any], n_settings: int) -> int:
    """How many points of a range all combinations allow; 0 for several ranges, or fewer than five
    points."""
    ranges = sum(isinstance(values, tuple) for values in space.values())
    share = n_settings / math.prod(
        len(values) for values in space.values() if not isinstance(values, tuple)
    )
    if not ranges:
        return int(share >= 1.0)
    n = math.floor(share + 1e-9)
    if len(space) == 1 or (ranges == 1 and n >= 5):
        return n
    return 0


def _choices(values: Any, n_points: int) -> list[Any]:
    """The points of one parameter if all combinations are tried."""
    if not isinstance(values, tuple):
        return list(values)
    if n_points > 1:
        ends = np.linspace(0.0, 1.0, n_points)
    else:
        ends = np.array([0.5])
    points = [_at(values, u) for u in ends.tolist()]
    return [point for i, point in enumerate(points) if point not in points[:i]]


def _at(values: Any, u: float) -> Any:
    """The value at the share u of a list or of a range."""
    if not isinstance(values, tuple):
        return values[min(int(u * len(values)), len(values) - 1)]
    low, high, scale = values
    if scale == "log":
        point = low * (high / low) ** u
    else:
        point = low + (high - low) * u
    if isinstance(low, int) and isinstance(high, int):
        return round(point)
    return float(f"{point:.6g}")


def _even_points(d: int, n: int) -> np.ndarray:
    """n points in the unit cube, one in each of n slices of every axis: of some draws the most
    spread out."""
    rng = np.random.default_rng([d, n])
    best = np.empty((n, d))
    widest = -1.0
    for _ in range(_DRAWS):
        drawn = (np.column_stack([rng.permutation(n) for _ in range(d)]) + 0.5) / n
        apart = ((drawn[:, None] - drawn) ** 2).sum(axis=2) + 2.0 * d * np.eye(n)
        if apart.min() > widest:
            best = drawn
            widest = float(apart.min())
    return best
