"""Workloads of kernel ridge regression and multi-class reductions, beside scikit-learn and
SciPy."""

from __future__ import annotations

import numpy as np
from workloads import Workload, size, workload


def _waves(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


@workload
def kernel_ridge(scale):
    n, d = size(8_000, scale), 20
    X, y = _waves(n, d, 60)
    new, target = _waves(size(5_000, scale), d, 61)

    def lyceum():
        from lyceum.kernels import KernelRidge

        return lambda: (
            KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / 20).fit(X, y).predict(new)
        )

    def sklearn():
        from sklearn.kernel_ridge import KernelRidge

        return lambda: (
            KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / 20).fit(X, y).predict(new)
        )

    def scipy():
        from scipy.linalg import cho_factor, cho_solve
        from scipy.spatial.distance import cdist

        def run():
            K = np.exp(cdist(X, X, "sqeuclidean") / -20)
            K[np.diag_indices(n)] += 1.0
            a = cho_solve(
                cho_factor(K, lower=True, overwrite_a=True, check_finite=False), y
            )
            return np.exp(cdist(new, X, "sqeuclidean") / -20) @ a

        return run

    return Workload(
        "Kernel machines",
        "Kernel ridge RBF gamma=1/20 alpha=1, n=8k d=20, +5k predictions",
        {"lyceum": lyceum, "sklearn": sklearn, "scipy cho_solve by hand": scipy},
        lambda predicted: {
            "mean squared error": float(np.mean((predicted - target) ** 2))
        },
        ("mean squared error", -1, 1e-6),
    )


@workload
def one_vs_rest(scale):
    n, d, K = size(50_000, scale), 50, 10
    rng = np.random.default_rng(62)
    y = rng.integers(0, K, n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(K, d))[y]

    def lyceum():
        from lyceum.ensemble import OneVsRestClassifier
        from lyceum.linear import LogisticRegression

        return lambda: (
            OneVsRestClassifier(LogisticRegression(tol=1e-6)).fit(X, y).predict(X)
        )

    def sklearn():
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier as TheirOneVsRestClassifier

        return lambda: (
            TheirOneVsRestClassifier(LogisticRegression(tol=1e-6)).fit(X, y).predict(X)
        )

    return Workload(
        "Multi-class",
        "One-vs-rest of logistic regressions, n=50k d=50 K=10, +50k predictions",
        {"lyceum": lyceum, "sklearn": sklearn},
        lambda predicted: {"accuracy": float(np.mean(predicted == y))},
        ("accuracy", 1, 1e-3),
    )
