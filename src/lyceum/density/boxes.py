"""What densities share: boxes, weighted quantiles and the chain rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.text import show_count
from lyceum.errors import SettingError

CATEGORIES: dict[str, list] = {"categorical_features": CATEGORICAL_FEATURES}


def chain_terms(joint: np.ndarray) -> np.ndarray:
    """The log density, zero, and what every column adds, (n, 2 + d), given the columns before it.

    `joint` has the log densities of the first 1, 2, ..., d columns. After a term of -inf the others
    are 0.
    """
    zeros = np.zeros(len(joint))
    before = np.column_stack([zeros, joint[:, :-1]])
    terms = np.subtract(
        joint, before, out=np.zeros_like(joint), where=np.isfinite(before)
    )
    return np.column_stack([joint[:, -1], zeros, terms])


def check_box(box: Any, names: tuple[str, ...]) -> np.ndarray:
    """Lower and upper ends of every column, (d, 2); infinite ends are allowed."""
    ends = np.asarray(box, dtype=np.float64)
    if ends.shape == (2,) and len(names) == 1:
        ends = ends[None]
    if ends.shape != (len(names), 2):
        raise SettingError(
            f"box has the shape {ends.shape}: give a low and a high end for "
            f"{show_count(len(names), 'column')}"
        )
    wrong = np.flatnonzero(~(ends[:, 0] <= ends[:, 1]))
    if len(wrong):
        low, high = ends[wrong[0]]
        raise SettingError(
            f"box goes from {low} to {high} in column {names[wrong[0]]!r}: give low <= high"
        )
    return ends


def weighted_inverse_cdf(
    values: np.ndarray, weight: np.ndarray | None, quantile: float
) -> float:
    """The smallest value such that the values up to it have at least the share `quantile` of the
    weight."""
    # a sum of weights may exceed its share by rounding, which must not skip to the next value
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    position = np.searchsorted(shares, quantile * shares[-1] * (1 - 1e-12))
    return float(values[order[min(position, len(values) - 1)]])
