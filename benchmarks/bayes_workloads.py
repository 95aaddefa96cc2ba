"""Workloads of naive Bayes and of discriminants."""

from __future__ import annotations

import numpy as np
from workloads import Workload, accuracy, learner, size, workload


def class_rows(n, d, n_classes=5, spread=0.4, own_shape=False, seed=0):
    """Gaussian classes with one common covariance, or each with its own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    means = spread * rng.standard_normal((n_classes, d))
    X = rng.standard_normal((n, d))
    shapes = np.eye(d) + 0.1 * rng.standard_normal((n_classes, d, d))
    for k in range(n_classes):
        X[y == k] = X[y == k] @ shapes[k if own_shape else 0] + means[k]
    return X, y


@workload
def gaussian_nb(scale):
    X, y = class_rows(size(1_000_000, scale), 20)
    use = lambda model: model.fit(X, y).predict(X)  # noqa: E731
    return Workload(
        "Bayes",
        "Gaussian naive Bayes, fit + predict the same, n=1M d=20, 5 classes",
        {
            "lyceum": learner("lyceum.bayes.NaiveBayes", use),
            "sklearn GaussianNB": learner("sklearn.naive_bayes.GaussianNB", use),
        },
        accuracy(y),
        ("accuracy", +1, 1e-3),
    )


@workload
def categorical_nb(scale):
    n, d, levels, n_classes = size(1_000_000, scale), 20, 10, 5
    rng = np.random.default_rng(1)
    y, X = rng.integers(n_classes, size=n), np.empty((n, d), dtype=np.int64)
    for j in range(d):
        edges = rng.dirichlet(np.full(levels, 8.0), size=n_classes).cumsum(axis=1)[
            :, :-1
        ]
        X[:, j] = (rng.random(n)[:, None] > edges[y]).sum(axis=1)
    use = lambda model: model.fit(X, y).predict(X)  # noqa: E731
    return Workload(
        "Bayes",
        "Categorical naive Bayes, fit + predict the same, n=1M d=20 (int64, 10 levels), 5 classes",
        {
            "lyceum": learner(
                "lyceum.bayes.NaiveBayes", use, categorical_features=True
            ),
            "sklearn CategoricalNB": learner("sklearn.naive_bayes.CategoricalNB", use),
        },
        accuracy(y),
        ("accuracy", +1, 1e-3),
    )


@workload
def lda(scale):
    X, y = class_rows(size(500_000, scale), 32, seed=2)
    use = lambda model: model.fit(X, y).predict(X)  # noqa: E731
    peer = "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"
    return Workload(
        "Bayes",
        "Linear discriminant, fit + predict the same, n=500k d=32, 5 classes",
        {
            "lyceum": learner("lyceum.bayes.LinearDiscriminantAnalysis", use),
            "sklearn LDA lsqr": learner(peer, use, solver="lsqr"),
            "sklearn LDA svd": learner(peer, use, solver="svd"),
        },
        accuracy(y),
        ("accuracy", +1, 1e-3),
    )


@workload
def qda(scale):
    X, y = class_rows(size(500_000, scale), 32, spread=0.2, own_shape=True, seed=3)
    use = lambda model: model.fit(X, y).predict(X)  # noqa: E731
    return Workload(
        "Bayes",
        "Quadratic discriminant, fit + predict the same, n=500k d=32, 5 classes",
        {
            "lyceum": learner("lyceum.bayes.QuadraticDiscriminantAnalysis", use),
            "sklearn QDA": learner(
                "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis", use
            ),
        },
        accuracy(y),
        ("accuracy", +1, 1e-3),
    )
