"""Classes of rows for the tests of discriminants."""

import numpy as np
import pytest

from lyceum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

BOTH = pytest.mark.parametrize(
    "learner", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]
)
STRUCTURES = ["full", "diagonal", "spherical"]


def classes_of_rows(n=200, d=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    shapes = np.eye(d) + 0.3 * rng.normal(size=(K, d, d))
    X = np.einsum("nj,njk->nk", rng.normal(size=(n, d)), shapes[y]) + 0.7 * y[:, None]
    return X, y


def within(X, y, w=None):
    """Scatter of every class and weights of the classes, by definition."""
    w = np.ones(len(X)) if w is None else w
    scatters, weights = [], []
    for k in np.unique(y):
        Z = X[y == k] - np.average(X[y == k], axis=0, weights=w[y == k])
        scatters.append((w[y == k, None] * Z).T @ Z)
        weights.append(w[y == k].sum())
    return np.array(scatters), np.array(weights)


def structured(S, structure):
    d = len(S)
    return {
        "full": S,
        "diagonal": np.diag(np.diag(S)),
        "spherical": np.trace(S) / d * np.eye(d),
    }[structure]
