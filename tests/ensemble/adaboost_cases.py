"""Rows for AdaBoost."""

import numpy as np


def cloud(n=400, K=2, d=4, seed=0):
    """Classes along a curve, with noise; all cells differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))
