"""Tables for the tests of decision trees."""

import numpy as np


def numbers(n=300, seed=0):
    """Columns without ties, exact in single precision; three classes, a number, weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.permutation(n) / 8 for _ in range(4)])
    score = X[:, 0] - X[:, 1] + rng.normal(scale=8, size=n)
    y = np.digitize(score, [-8, 6])
    return X, np.array(["a", "b", "c"])[y], score, rng.choice([0.5, 0.75, 1.0, 1.5], n)


# -- pruning ---------------------------------------------------------------------------


def noisy(n=300, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0.5).astype(int)
