"""The seed that everything random in a fit follows from."""

from __future__ import annotations

from typing import Any

import numpy as np


def seed_from(random_state: Any) -> int:
    """A whole number from `random_state`: an int is its own seed, None and generators draw one.

    >>> seed_from(7)
    7
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    from sklearn.utils import check_random_state  # statistics alone do not need scikit-learn

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
