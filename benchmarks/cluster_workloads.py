"""Workloads of clustering: trees, medoids and silhouettes, beside their fastest peers."""

from __future__ import annotations

import numpy as np
from workloads import Workload, size, workload


def _rows(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def _heights(merges) -> dict[str, float]:
    return {"sum of heights": float(np.asarray(merges)[:, 2].sum())}


def _lyceum_tree(X, method):
    def prepare():
        from lyceum.cluster import AgglomerativeClustering

        return lambda: AgglomerativeClustering(2, linkage=method).fit(X).linkage_

    return prepare


def _scipy_tree(X, method):
    def prepare():
        from scipy.cluster.hierarchy import linkage

        return lambda: linkage(X, method)

    return prepare


def _fastcluster_tree(X, method, vector=False):
    def prepare():
        import fastcluster

        return lambda: (fastcluster.linkage_vector if vector else fastcluster.linkage)(
            X, method
        )

    return prepare


def _sklearn_tree(X, method):
    def prepare():
        from sklearn.cluster import (
            AgglomerativeClustering as TheirAgglomerativeClustering,
        )

        def run():
            model = TheirAgglomerativeClustering(
                None, linkage=method, distance_threshold=0.0
            ).fit(X)
            return np.column_stack(
                [model.children_, model.distances_, model.distances_]
            )

        return run

    return prepare


def _tree(method, scale, vector=False, sklearn=True):
    n = size(10_000, scale)
    X = _rows(n, 10, 60)
    peers = {
        "lyceum": _lyceum_tree(X, method),
        "fastcluster": _fastcluster_tree(X, method),
        "scipy linkage": _scipy_tree(X, method),
    }
    if vector:
        peers["fastcluster linkage_vector"] = _fastcluster_tree(X, method, vector=True)
    if sklearn:
        peers["sklearn AgglomerativeClustering"] = _sklearn_tree(X, method)
    text = (
        f"AgglomerativeClustering, {method} linkage, n=10k d=10 float64 Euclidean, full tree from"
        " points"
    )
    return Workload("Clustering", text, peers, _heights, ("sum of heights", -1, 1e-6))


@workload
def linkage_single(scale):
    return _tree("single", scale, vector=True)


@workload
def linkage_complete(scale):
    return _tree("complete", scale)


@workload
def linkage_average(scale):
    return _tree("average", scale)


@workload
def linkage_ward(scale):
    return _tree("ward", scale, vector=True)


@workload
def linkage_centroid(scale):
    return _tree("centroid", scale, vector=True, sklearn=False)


@workload
def linkage_single_100k(scale):
    n = size(100_000, scale)
    X = _rows(n, 3, 61)

    def hdbscan_tree():
        from hdbscan import HDBSCAN

        def run():
            model = HDBSCAN(
                min_samples=1, approx_min_span_tree=False, core_dist_n_jobs=2
            ).fit(X)
            return model.single_linkage_tree_.to_numpy()

        return run

    return Workload(
        "Clustering",
        "Single linkage n=100k d=3 float64, full tree, no matrix of distances",
        {
            "lyceum": _lyceum_tree(X, "single"),
            # fastcluster's linkage_vector takes n² steps here and did not end in 330 s: it is
            # compared at 10k
            "hdbscan Boruvka": hdbscan_tree,
        },
        _heights,
        ("sum of heights", -1, 1e-6),
    )


@workload
def medoids(scale):
    from scipy.spatial.distance import cdist

    n, k = size(5_000, scale), 20
    X = _rows(n, 10, 62)
    D = cdist(X, X).astype(np.float32)
    start = np.random.default_rng(0).choice(n, k, replace=False)

    def lyceum():
        from lyceum.cluster import KMedoids

        return lambda: KMedoids(k, metric="precomputed", init=start).fit(D).inertia_

    def peer(threads):
        def prepare():
            import kmedoids

            return lambda: (
                kmedoids.fasterpam(D, start.astype(np.uint64), n_cpu=threads).loss
            )

        return prepare

    return Workload(
        "Clustering",
        "k-medoids n=5k K=20, precomputed Euclidean float32, same random start",
        {
            "lyceum": lyceum,
            "kmedoids fasterpam 1": peer(1),
            "kmedoids fasterpam 2": peer(2),
        },
        lambda loss: {"loss": float(loss)},
        ("loss", -1, 0.01),
    )


@workload
def silhouette_20k(scale):
    n = size(20_000, scale)
    X = _rows(n, 16, 63)
    labels = np.random.default_rng(64).integers(0, 10, n)

    def lyceum():
        from lyceum.cluster import silhouette

        return lambda: silhouette(X, labels).mean

    def sklearn():
        from sklearn.metrics import silhouette_score

        return lambda: silhouette_score(X, labels)

    return Workload(
        "Clustering",
        "Silhouette n=20k d=16, 10 clusters, Euclidean",
        {"lyceum": lyceum, "sklearn silhouette_score": sklearn},
        lambda mean: {"silhouette": float(mean)},
        ("silhouette", 1, 1e-6),
    )
