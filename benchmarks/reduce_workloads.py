"""Workloads of subset selection, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
from workloads import Workload, size, workload

_KEPT = 5


def _table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(70)
    X = rng.normal(size=(n, d))
    return X, X[:, :10] @ np.linspace(2.0, 0.5, 10) + rng.normal(size=n)


def _lyceum(X, y):
    def prepare():
        from lyceum.decomposition import SequentialFeatureSelector

        return lambda: (
            SequentialFeatureSelector(n_features_to_select=_KEPT, cv=5, random_state=0)
            .fit(X, y)
            .support_
        )

    return prepare


def _sklearn(X, y):
    def prepare():
        from sklearn.feature_selection import (
            SequentialFeatureSelector as TheirSequentialFeatureSelector,
        )
        from sklearn.linear_model import LinearRegression

        search = TheirSequentialFeatureSelector(
            LinearRegression(),
            n_features_to_select=_KEPT,
            cv=5,
            scoring="neg_mean_squared_error",
        )
        return lambda: search.fit(X, y).support_

    return prepare


def _quality(X, y):
    def quality(support):
        A = np.column_stack([np.ones(len(X)), X[:, support]])
        residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        return {"mean squared error": float((residual**2).mean())}

    return quality


@workload
def forward_selection(scale):
    X, y = _table(size(100_000, scale), 200)
    return Workload(
        "Reduction",
        "Forward selection of 5 of 200 columns by cross-validated least squares, n=100k",
        {"lyceum": _lyceum(X, y), "sklearn SequentialFeatureSelector": _sklearn(X, y)},
        _quality(X, y),
        ("mean squared error", -1, 1e-6),
    )
