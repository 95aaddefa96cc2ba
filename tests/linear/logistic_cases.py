"""Rows and objective for the tests of logistic regression."""

import numpy as np
from scipy.special import log_softmax


def rows(K=2, n=400, d=4, seed=0, offset=0.0, strength=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, K)) * strength + rng.gumbel(size=(n, K))
    return X + offset, scores.argmax(axis=1)


def objective(coef, intercept, X, y, C=1.0, w=None):
    """The sum of log losses and ||b||² / (2C), from the definition."""
    scores = X @ coef.T + intercept
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(y)), scores[:, 0]])
    losses = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
    return (losses if w is None else w * losses).sum() + (coef**2).sum() / (2 * C)
