"""The seeds of members: functions of the ensemble's seed and of the member's number alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.types import Estimator

_MEMBER = 2  # the stream of chance; those of rows and columns are 0 and 1


def set_seeds(estimator: Estimator, seed: int, member: int, keep: bool = False) -> Any:
    """The estimator with every `random_state` in it set from the seed and the member's number;
    with `keep`, those that are None.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> set_seeds(DecisionTreeClassifier(), 0, 5).random_state == member_seeds(0, 5)[0]
    True
    """
    # those of parts too: "random_state" and "step__random_state", not "my_random_state"
    names = [
        name
        for name, value in sorted(estimator.get_params().items())
        if f"__{name}".endswith("__random_state") and not (keep and value is not None)
    ]
    if not names:
        return estimator
    seeds = member_seeds(seed, member, len(names))
    return estimator.set_params(**dict(zip(names, seeds)))


def member_seeds(seed: int, member: int, count: int = 1) -> list[int]:
    """The seeds of a member."""
    chance = np.random.default_rng((seed, member, _MEMBER))
    return chance.integers(0, 2**31 - 1, count).tolist()
