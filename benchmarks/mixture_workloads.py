"""Workloads of mixtures, beside scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
from workloads import Workload, size, workload


def _groups(n: int, d: int, K: int) -> np.ndarray:
    rng = np.random.default_rng(60)
    return (
        rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * 0.5
        + 2 * rng.normal(size=(K, d))[rng.integers(0, K, n)]
    )


def _start(X: np.ndarray, K: int) -> dict:
    d = X.shape[1]
    return {
        "means_init": X[:K].copy(),
        "weights_init": np.full(K, 1 / K),
        "precisions_init": np.stack([0.3 * np.eye(d)] * K),
    }


def _lyceum(X, K, **settings):
    def prepare():
        from lyceum.mixtures import GaussianMixture

        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return GaussianMixture(
                    K, prior_rows=0, tol=0, max_iter=20, **settings
                ).fit(X)

        return run

    return prepare


def _sklearn(X, K, **settings):
    def prepare():
        from sklearn.mixture import GaussianMixture

        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = GaussianMixture(
                    K,
                    reg_covar=0,
                    tol=0,
                    max_iter=20,
                    init_params="random_from_data",
                    random_state=0,
                    **settings,
                )
                return model.fit(X)

        return run

    return prepare


@workload
def gaussian_mixture(scale):
    X, K = _groups(size(100_000, scale), 16, 8), 8
    start = _start(X, K)
    return Workload(
        "Mixtures",
        "Gaussian mixture, full covariance, n=100k d=16 K=8, 20 EM iterations from one start",
        {"lyceum": _lyceum(X, K, **start), "sklearn": _sklearn(X, K, **start)},
        lambda model: {"log-likelihood per row": float(model.score(X[:5000]))},
        ("log-likelihood per row", 1, 1e-6),
    )
