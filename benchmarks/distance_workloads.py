"""Workloads of nearest neighbors, beside scikit-learn's and FAISS's exact ones."""

from __future__ import annotations

import numpy as np
from workloads import Workload, size, workload


def _rows(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)


def _lyceum(queries, rows, k):
    def prepare():
        from lyceum.distances import nearest

        return lambda: nearest(queries, k, among=rows).rows

    return prepare


def _sklearn(queries, rows, k, algorithm):
    def prepare():
        from sklearn.neighbors import NearestNeighbors

        return lambda: (
            NearestNeighbors(algorithm=algorithm, n_jobs=-1)
            .fit(rows)
            .kneighbors(queries, k, return_distance=False)
        )

    return prepare


def _faiss(queries, rows, k):
    def prepare():
        import faiss

        def run():
            index = faiss.IndexFlatL2(rows.shape[1])
            index.add(rows)
            return index.search(queries, k)[1]

        return run

    return prepare


def _scipy(queries, rows, k):
    def prepare():
        from scipy.spatial import KDTree

        return lambda: KDTree(rows).query(queries, k, workers=-1)[1]

    return prepare


def _found(queries, rows, k):
    """The mean distance of the neighbors found of some queries, and the share of the nearest in
    them."""
    some = np.arange(0, len(queries), max(1, len(queries) // 200))
    D = np.array(
        [
            ((rows.astype(np.float64) - query) ** 2).sum(axis=1)
            for query in queries[some]
        ]
    )
    nearest = np.sort(D, axis=1)[:, :k]

    def quality(found):
        squares = np.take_along_axis(D, np.asarray(found)[some], axis=1)
        return {
            "mean distance": float(np.sqrt(squares).mean()),
            "exact": float(np.isclose(squares, nearest).mean()),
        }

    return quality


@workload
def nearest_20(scale):
    n, d, k = size(100_000, scale), 20, 10
    rows, queries = _rows(n, d, 40), _rows(min(n, 20_000), d, 41)
    return Workload(
        "Neighbors",
        "10 nearest rows, 20k queries among n=100k d=20 float32, exact",
        {
            "lyceum": _lyceum(queries, rows, k),
            "sklearn brute": _sklearn(queries, rows, k, "brute"),
            "faiss flat": _faiss(queries, rows, k),
        },
        _found(queries, rows, k),
        ("mean distance", -1, 1e-9),
    )


@workload
def nearest_3(scale):
    n, d, k = size(300_000, scale), 3, 10
    rows, queries = (
        _rows(n, d, 42).astype(np.float64),
        _rows(n, d, 43).astype(np.float64),
    )
    return Workload(
        "Neighbors",
        "10 nearest rows, 300k queries among n=300k d=3 float64, exact",
        {
            "lyceum": _lyceum(queries, rows, k),
            "sklearn kd_tree": _sklearn(queries, rows, k, "kd_tree"),
            "scipy KDTree": _scipy(queries, rows, k),
        },
        _found(queries, rows, k),
        ("mean distance", -1, 1e-9),
    )
