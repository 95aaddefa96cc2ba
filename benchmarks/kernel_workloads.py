"""Workloads of support vector machines, beside scikit-learn's (libsvm, liblinear) and its Intel
extension."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from workloads import Workload, size, workload


def _two_classes(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes that no plane parts: the sign of a noisy quadratic form."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    few = X[:, :10]
    score = (
        few @ rng.standard_normal(10)
        + ((few @ rng.standard_normal((10, 3))) ** 2).sum(axis=1)
        - 30
    )
    return X, (score + 3 * rng.standard_normal(n) > np.median(score)).astype(np.int64)


def _fit(package: str, name: str, X, y, T, **settings):
    def prepare():
        import importlib

        learner = getattr(importlib.import_module(package), name)
        return lambda: (model := learner(**settings).fit(X, y), model.predict(T))

    return prepare


def _svc_quality(X, y, T, t, kernel, C):
    """The dual objective of the support vectors found, and the accuracy on other rows."""

    def quality(found):
        model, predicted = found
        coef = np.asarray(model.dual_coef_, dtype=np.float64).ravel()
        V = np.asarray(X)[model.support_]
        dual = np.abs(coef).sum() - 0.5 * coef @ kernel.sums(V, coef, V)
        return {
            "dual objective": float(dual),
            "accuracy": float((predicted == t).mean()),
        }

    return quality


def _svc(about, n, d, seed, kernel, C=1.0, peers=("sklearnex", "sklearn"), **settings):
    from lyceum.kernels import as_kernel

    X, y = _two_classes(n + 5000, d, seed)
    X, y, T, t = X[:n], y[:n], X[n:], y[n:]
    ways = {
        "lyceum": _fit("lyceum.kernels", "SVC", X, y, T, kernel=kernel, C=C, **settings)
    }
    for package, title in (("sklearnex.svm", "sklearnex"), ("sklearn.svm", "sklearn")):
        if title in peers:
            ways[title] = _fit(package, "SVC", X, y, T, kernel=kernel, C=C, **settings)
    quality = _svc_quality(X, y, T, t, as_kernel(kernel, **settings), C)
    return Workload(
        "Kernel machines", about, ways, quality, ("dual objective", 1, 1e-3)
    )


@workload
def svc_rbf_10k(scale):
    about = "SVC RBF C=1 gamma=1/20 tol=1e-3, n=10k d=20, +5k predictions"
    return _svc(about, size(10_000, scale), 20, 50, "rbf", gamma=1 / 20)


@workload
def svc_rbf_30k(scale):
    about = "SVC RBF C=1 gamma=1/20 tol=1e-3, n=30k d=20, +5k predictions"
    return _svc(about, size(30_000, scale), 20, 51, "rbf", gamma=1 / 20)


@workload
def svc_rbf_wide(scale):
    about = "SVC RBF C=1 gamma=1/500 tol=1e-3, n=5k d=500, +5k predictions"
    return _svc(about, size(5_000, scale), 500, 52, "rbf", gamma=1 / 500)


@workload
def svc_polynomial(scale):
    about = (
        "SVC polynomial degree 3 C=1 gamma=1/20 coef0=1, n=10k d=20, +5k predictions"
    )
    return _svc(
        about, size(10_000, scale), 20, 53, "poly", gamma=1 / 20, degree=3, coef0=1.0
    )


@workload
def svc_predict(scale):
    """Only the prediction is timed: the machines are fitted before."""
    X, y = _two_classes(5_000, 20, 54)
    T, _ = _two_classes(size(100_000, scale), 20, 55)

    def ready(package):
        def prepare():
            import importlib

            model = importlib.import_module(package).SVC(gamma=1 / 20).fit(X, y)
            return lambda: model.predict(T)

        return prepare

    ways = {
        "lyceum": ready("lyceum.kernels"),
        "sklearnex": ready("sklearnex.svm"),
        "sklearn": ready("sklearn.svm"),
    }
    about = "SVC RBF fitted on 5k rows, d=20: prediction of 100k rows"
    return Workload(
        "Kernel machines",
        about,
        ways,
        lambda found: {"share of 1": float(np.mean(found))},
        ("share of 1", +1, 1e-3),
    )


def _primal(X, y, squared):
    def quality(found):
        model, _ = found
        w, b = model.coef_[0], float(model.intercept_[0])
        xi = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ w + b))
        value = 0.5 * (w @ w + b * b) + (xi**2 if squared else xi).sum()
        return {"objective": float(value)}

    return quality


def _linear(about, X, y, loss, peers):
    T = X[:5]
    ways = {"lyceum": _fit("lyceum.kernels", "LinearSVC", X, y, T, loss=loss)}
    for title, settings in peers.items():
        ways[title] = _fit("sklearn.svm", "LinearSVC", X, y, T, loss=loss, **settings)
    quality = _primal(X, y, loss == "squared_hinge")
    return Workload("Kernel machines", about, ways, quality, ("objective", -1, 1e-3))


@workload
def linear_svc_dense(scale):
    X, y = _two_classes(size(100_000, scale), 50, 56)
    about = "Linear SVM, squared hinge, C=1, n=100k d=50"
    peers = {
        "sklearn primal": {"dual": False},
        "sklearn dual": {"dual": True, "random_state": 0},
    }
    return _linear(about, X, y, "squared_hinge", peers)


@workload
def linear_svc_hinge(scale):
    X, y = _two_classes(size(100_000, scale), 50, 56)
    about = "Linear SVM, hinge, C=1, n=100k d=50"
    return _linear(
        about, X, y, "hinge", {"sklearn dual": {"dual": True, "random_state": 0}}
    )


@workload
def linear_svc_sparse(scale):
    n, d = size(50_000, scale), size(100_000, scale)
    rng = np.random.default_rng(57)
    cells = np.abs(rng.standard_normal(100 * n))
    places = rng.integers(0, d, 100 * n, dtype=np.int32)
    starts = np.arange(0, 100 * n + 1, 100, dtype=np.int32)
    X = sparse.csr_array((cells, places, starts), shape=(n, d))
    X.sum_duplicates()
    y = (X @ rng.standard_normal(d) + 2 * rng.standard_normal(n) > 0).astype(np.int64)
    about = "Linear SVM, squared hinge, C=1, sparse n=50k d=100k, 100 cells per row"
    peers = {
        "sklearn primal": {"dual": False},
        "sklearn dual": {"dual": True, "random_state": 0},
    }
    return _linear(about, X, y, "squared_hinge", peers)
