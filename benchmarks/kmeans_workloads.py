"""Workloads of k-means and of principal components."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from workloads import Workload, learner, size, workload


@workload
def pca(scale):
    n, d = size(500_000, scale), 64
    rng = np.random.default_rng(8)
    mixing = 0.9 ** np.arange(d)[:, None] * np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = rng.standard_normal((n, d)) @ mixing + rng.uniform(-1, 1, d)
    covariance = np.cov(X, rowvar=False)

    def quality(model):
        V = model.components_
        return {
            "variance held": np.trace(V @ covariance @ V.T) / np.trace(covariance),
            "variance claimed": np.sum(model.explained_variance_ratio_),
        }

    fit = lambda model: model.fit(X)  # noqa: E731
    settings = {"n_components": 10}
    return Workload(
        "Reduce and cluster",
        "PCA, 10 components, n=500k d=64 float64, fit",
        {
            "lyceum": learner("lyceum.decomposition.PCA", fit, **settings),
            "sklearnex PCA": learner("sklearnex.decomposition.PCA", fit, **settings),
            "sklearn PCA auto": learner("sklearn.decomposition.PCA", fit, **settings),
            "sklearn PCA randomized": learner(
                "sklearn.decomposition.PCA", fit, svd_solver="randomized", **settings
            ),
            "sklearn PCA full": learner(
                "sklearn.decomposition.PCA", fit, svd_solver="full", **settings
            ),
        },
        quality,
        ("variance held", +1, 1e-6),
    )


@workload
def kmeans(scale):
    n, d, k = size(500_000, scale), 32, 64
    rng = np.random.default_rng(9)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X += 0.5 * rng.standard_normal((k, d), dtype=np.float32)[rng.integers(k, size=n)]
    init = X[rng.choice(n, k, replace=False)].copy()

    def faiss_kmeans():
        import faiss

        def run():
            model = faiss.Kmeans(
                d, k, niter=20, max_points_per_centroid=n, min_points_per_centroid=1
            )
            model.train(X, init_centroids=init)
            return SimpleNamespace(
                cluster_centers_=model.centroids, n_iter_=len(model.obj)
            )

        return run

    def quality(model):
        centers = np.asarray(model.cluster_centers_, dtype=np.float64)
        squares, inertia = (centers**2).sum(axis=1), 0.0
        for start in range(0, n, 50_000):
            rows = X[start : start + 50_000].astype(np.float64)
            inertia += (rows**2).sum() + (squares - 2 * rows @ centers.T).min(
                axis=1
            ).sum()
        return {"inertia": inertia, "iterations": model.n_iter_}

    fit = lambda model: model.fit(X)  # noqa: E731
    settings = {"n_clusters": k, "init": init, "n_init": 1, "max_iter": 20, "tol": 0.0}
    return Workload(
        "Reduce and cluster",
        "k-means n=500k d=32 k=64 float32, same init array, 20 iterations, tol 0",
        {
            "lyceum": learner("lyceum.cluster.KMeans", fit, **settings),
            "sklearn KMeans lloyd": learner(
                "sklearn.cluster.KMeans", fit, algorithm="lloyd", **settings
            ),
            "faiss Kmeans": faiss_kmeans,
            "sklearnex KMeans": learner("sklearnex.cluster.KMeans", fit, **settings),
            "sklearn KMeans elkan": learner(
                "sklearn.cluster.KMeans", fit, algorithm="elkan", **settings
            ),
        },
        quality,
        ("inertia", -1, 1e-4),
    )
