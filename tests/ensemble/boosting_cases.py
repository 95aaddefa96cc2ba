"""Tables for the tests of gradient boosting."""

from __future__ import annotations

import numpy as np


def friedman(n=600, seed=0, d=5):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 5 * X[:, 3]
        + rng.normal(size=n)
    )
    return X, y
