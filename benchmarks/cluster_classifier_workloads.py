"""Workloads of classifiers that stand on clusters, beside the same by hand with scikit-learn."""

from __future__ import annotations

import numpy as np
from workloads import Workload, fit_predictor, size, workload


def _classes(n: int, seed: int):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n) > 0).astype(
        int
    )


def _accuracy(X, y):
    return lambda predict: {"accuracy": float((np.asarray(predict(X)) == y).mean())}


def _by_cluster(X, y):
    """scikit-learn's k-means, and a logistic regression for every cluster, by hand."""

    def prepare():
        from sklearn.cluster import KMeans
        from sklearn.linear_model import LogisticRegression

        def run():
            groups = KMeans(8, n_init=1, random_state=0).fit(X)
            experts = [
                LogisticRegression().fit(X[groups.labels_ == c], y[groups.labels_ == c])
                for c in range(8)
            ]

            def predict(Z):
                found, labels = np.empty(len(Z), dtype=int), groups.predict(Z)
                for c, expert in enumerate(experts):
                    found[labels == c] = expert.predict(Z[labels == c])
                return found

            return predict

        return run

    return prepare


@workload
def cluster_classifier(scale):
    n = size(100_000, scale)
    (X, y), test = _classes(n, 54), _classes(20_000, 55)

    def ours():
        from lyceum.cluster import KMeans
        from lyceum.ensemble import ClusterClassifier
        from lyceum.linear import LogisticRegression

        return ClusterClassifier(
            clusterer=KMeans(8, n_init=1, random_state=0),
            classifier=LogisticRegression(),
        )

    return Workload(
        "Clustering",
        "a logistic regression per cluster, K=8, n=100k d=20",
        {"lyceum": fit_predictor(ours, X, y), "sklearn by hand": _by_cluster(X, y)},
        _accuracy(*test),
        ("accuracy", 1, 0.01),
    )


def _blobs(n: int, seed: int):
    """Rows about 16 centers of 4 classes, and the classes of which one row in a hundred is
    known."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(7).normal(0.0, 6.0, (16, 10))
    group = rng.integers(0, 16, n)
    X, y = centers[group] + rng.standard_normal((n, 10)), group % 4
    return X, y, np.where(rng.random(n) < 0.01, y, -1)


@workload
def cluster_labels(scale):
    n = size(100_000, scale)
    (X, _, known), test = _blobs(n, 56), _blobs(20_000, 57)[:2]

    def ours():
        from lyceum.cluster import ClusterLabels, KMeans

        return ClusterLabels(clusterer=KMeans(16, n_init=1, random_state=0))

    def by_hand():
        from sklearn.cluster import KMeans

        def run():
            groups = KMeans(16, n_init=1, random_state=0).fit(X)
            there = known >= 0
            counts = np.zeros((16, 4))
            np.add.at(counts, (groups.labels_[there], known[there]), 1.0)
            return lambda Z: counts.argmax(axis=1)[groups.predict(Z)]

        return run

    return Workload(
        "Clustering",
        "cluster, then label: K=16, one label in a hundred, n=100k d=10",
        {"lyceum": fit_predictor(ours, X, known), "sklearn by hand": by_hand},
        _accuracy(*test),
        ("accuracy", 1, 0.02),
    )
