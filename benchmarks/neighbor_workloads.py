"""Workloads of instance-based learning, beside scikit-learn, scikit-learn-intelex, SciPy and
FAISS."""

from __future__ import annotations

import numpy as np
from workloads import Workload, size, workload

_SECTION = "Neighbors"


def _labeled_rows(n: int, d: int, queries: int, dtype, seed: int):
    rng = np.random.default_rng(seed)
    X, Q = (
        rng.standard_normal((m, d), dtype=np.float32).astype(dtype)
        for m in (n, queries)
    )
    rule = rng.standard_normal(d)
    classes = [
        np.digitize(A @ rule, np.quantile(X @ rule, [0.25, 0.5, 0.75])) for A in (X, Q)
    ]
    return X, classes[0], Q, classes[1]


def _lyceum(X, y, Q, k):
    def prepare():
        from lyceum.neighbors import KNeighborsClassifier

        model = KNeighborsClassifier(k).fit(X, y)
        model.predict(Q[:1])
        return lambda: model.predict(Q)

    return prepare


def _sklearn(X, y, Q, k, package="sklearn"):
    def prepare():
        import importlib

        kind = importlib.import_module(f"{package}.neighbors").KNeighborsClassifier
        model = kind(k, n_jobs=-1).fit(X, y)
        return lambda: model.predict(Q)

    return prepare


def _vote(y, rows):
    found = y[rows]
    K = int(y.max()) + 1
    cells = (np.arange(len(found)) * K)[:, None] + found
    return (
        np.bincount(cells.ravel(), minlength=len(found) * K)
        .reshape(-1, K)
        .argmax(axis=1)
    )


def _scipy(X, y, Q, k):
    def prepare():
        from scipy.spatial import cKDTree

        tree = cKDTree(X)
        return lambda: _vote(y, tree.query(Q, k, workers=-1)[1])

    return prepare


def _faiss(X, y, Q, k):
    def prepare():
        import faiss

        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X.astype(np.float32))
        queries = Q.astype(np.float32)
        return lambda: _vote(y, index.search(queries, k)[1])

    return prepare


def _classify(n, d, dtype, scale, seed):
    X, y, Q, truth = _labeled_rows(size(n, scale), d, size(10_000, scale), dtype, seed)
    makers = {
        "lyceum": _lyceum(X, y, Q, 10),
        "sklearn": _sklearn(X, y, Q, 10),
        "sklearnex": _sklearn(X, y, Q, 10, "sklearnex"),
        "faiss flat": _faiss(X, y, Q, 10),
    }
    if d < 10:
        makers["scipy cKDTree"] = _scipy(X, y, Q, 10)
    return Workload(
        _SECTION,
        f"classify 10k queries, k=10, among n={n // 1000}k d={d} {np.dtype(dtype).name}",
        makers,
        lambda found: {"accuracy": float(np.mean(np.asarray(found) == truth))},
        ("accuracy", 1, 2e-3),
    )


@workload
def neighbors_3(scale):
    return _classify(100_000, 3, np.float64, scale, 60)


@workload
def neighbors_64(scale):
    return _classify(50_000, 64, np.float32, scale, 61)


@workload
def neighbors_784(scale):
    return _classify(20_000, 784, np.float32, scale, 62)


@workload
def neighbors_choice_of_k(scale):
    X, y, _, _ = _labeled_rows(size(20_000, scale), 10, 1, np.float64, 63)

    def lyceum():
        from lyceum.neighbors import KNeighborsClassifier

        return lambda: KNeighborsClassifier("leave_one_out").fit(X, y).errors_

    def sklearn():
        from sklearn.neighbors import NearestNeighbors

        def run():
            rows = (
                NearestNeighbors(n_neighbors=50, n_jobs=-1)
                .fit(X)
                .kneighbors(return_distance=False)
            )
            return np.array([np.mean(_vote(y, rows[:, :k]) != y) for k in range(1, 51)])

        return run

    return Workload(
        _SECTION,
        "leave-one-out error for k = 1 ... 50, n=20k d=10",
        {"lyceum": lyceum, "sklearn search, votes by hand": sklearn},
        lambda errors: {"lowest error": float(np.min(errors))},
        ("lowest error", -1, 1e-9),
    )


@workload
def neighbors_local_regression(scale):
    n, q, k = size(100_000, scale), size(10_000, scale), 30
    rng = np.random.default_rng(64)
    X, Q = rng.normal(size=(n, 4)), rng.normal(size=(q, 4))

    def surface(A):
        return np.sin(A[:, 0]) + A[:, 1] * A[:, 2] + A[:, 3]

    y = surface(X) + 0.1 * rng.normal(size=n)

    def lyceum():
        from lyceum.neighbors import LocallyWeightedRegression

        model = LocallyWeightedRegression(n_neighbors=k, standardize=False).fit(X, y)
        model.predict(Q[:1])
        return lambda: model.predict(Q)

    def scipy():
        from scipy.spatial import cKDTree

        tree = cKDTree(X)

        def run():
            d, rows = tree.query(Q, k, workers=-1)
            w = (1 - (d / d[:, -1:]) ** 3) ** 3
            T = np.concatenate([np.ones((q, k, 1)), X[rows] - Q[:, None]], axis=2)
            A = np.einsum("qk,qki,qkj->qij", w, T, T, optimize=True)
            b = np.einsum("qk,qki,qk->qi", w, T, y[rows], optimize=True)
            return np.linalg.solve(A, b[:, :, None])[:, 0, 0]

        return run

    return Workload(
        _SECTION,
        "locally weighted regression, 10k queries among n=100k d=4, k=30",
        {"lyceum": lyceum, "scipy cKDTree + numpy solve": scipy},
        lambda found: {"rmse": float(np.sqrt(np.mean((found - surface(Q)) ** 2)))},
        ("rmse", -1, 1e-3),
    )


@workload
def neighbors_build_and_save(scale):
    X, y, Q, _ = _labeled_rows(size(100_000, scale), 3, 1, np.float64, 65)

    def written(save):
        import tempfile
        from pathlib import Path

        def run():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model"
                save(path)
                return path.stat().st_size

        return run

    def lyceum():
        import lyceum
        from lyceum.neighbors import KNeighborsClassifier

        def save(path):
            model = KNeighborsClassifier().fit(X, y)
            model.predict(Q)  # builds the tree
            lyceum.save(model, path)

        return written(save)

    def sklearn():
        import pickle

        from sklearn.neighbors import KNeighborsClassifier

        def save(path):
            path.write_bytes(pickle.dumps(KNeighborsClassifier().fit(X, y)))

        return written(save)

    return Workload(
        _SECTION,
        "build and save an index of n=100k d=3",
        {"lyceum": lyceum, "sklearn, pickled": sklearn},
        lambda n_bytes: {"megabytes": n_bytes / 1e6},
        ("megabytes", -1, 1e9),
    )
