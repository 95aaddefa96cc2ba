"""The seed that everything random in a fit follows from."""

from __future__ import annotations

import numpy as np

from lyceum._core.types import Seed


def seed_from(random_state: Seed) -> int:
    """A whole number from `random_state`: an int is its own seed, None and generators draw one.

    >>> seed_from(7)
    7
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return drawn_seed(random_state)


def drawn_seed(random_state: Seed) -> int:
    """A whole number drawn from `random_state`, from an int too.

    >>> drawn_seed(7) == np.random.RandomState(7).randint(2**31 - 1)
    True
    """
    # statistics alone do not need scikit-learn
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
