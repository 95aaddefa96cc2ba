"""The workloads in memory: data, contenders and a quality measure each. Sizes are those at --scale 1.

A workload is a function of the scale. Contenders are named; "lyceum" is ours, the others are peers. Every
contender gets the same arrays and its own defaults, unless the workload's title says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
WORKLOADS: dict[str, Callable[[float], Workload]] = {}


@dataclass
class Workload:
    group: str
    title: str
    contenders: dict[str, Callable]  # name -> function that imports and returns the thunk to be timed
    quality: Callable[[Any], dict]  # what a thunk returned -> named numbers
    compare: tuple[
        str, int, float
    ]  # quality that must be equal: name, +1 if more is better, relative tolerance


def workload(function):
    WORKLOADS[function.__name__.replace("_", "-")] = function
    return function


def size(n: int, scale: float) -> int:
    return max(2_000, round(n * scale))


# Contenders -----------------------------------------------------------------------------------------------


def learner(where: str, use: Callable[[Any], Any], **settings) -> Callable:
    """A contender that makes the class at `where` (imported untimed) and uses it (timed)."""
    module, _, name = where.rpartition(".")

    def prepare():
        cls = getattr(import_module(module), name)
        return lambda: use(cls(**settings))

    return prepare


def plain(function: Callable, *args) -> Callable:
    return lambda: lambda: function(*args)


def normal_equations(X, y, alpha=0.0):
    n, d = X.shape
    mean, y_mean = np.ones(n) @ X / n, y.mean()
    gram = X.T @ X - n * np.outer(mean, mean) + alpha * np.eye(d)
    coef = np.linalg.solve(gram, X.T @ y - n * mean * y_mean)
    return SimpleNamespace(coef_=coef, intercept_=y_mean - mean @ coef)


def lstsq(X, y, alpha=0.0):
    """Least squares by SVD on centred rows, with sqrt(alpha) I below them: the reference."""
    mean, y_mean, d = X.mean(axis=0), y.mean(), X.shape[1]
    rows, values = X - mean, y - y_mean
    if alpha:
        rows = np.vstack([rows, np.sqrt(alpha) * np.eye(d)])
        values = np.concatenate([values, np.zeros(d)])
    coef = np.linalg.lstsq(rows, values)[0]
    return SimpleNamespace(coef_=coef, intercept_=y_mean - mean @ coef)


# Data and qualities ---------------------------------------------------------------------------------------


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


def linear_rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.uniform(-1, 1, d)
    return X, X @ rng.standard_normal(d) + 3.0 + rng.standard_normal(n)


def softmax_rows(n, d, n_classes, seed=0):
    """Classes drawn from a true softmax model (the largest of noisy scores)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, n_classes)) / np.sqrt(d) * 2.0
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def accuracy(y):
    return lambda predicted: {"accuracy": np.mean(np.asarray(predicted) == y)}


def regression_quality(X, y, alpha=0.0):
    reference = lstsq(X, y, alpha)

    def quality(model):
        residual = y - X @ np.ravel(model.coef_) - float(np.ravel(model.intercept_)[0])
        difference = np.abs(np.ravel(model.coef_) - reference.coef_).max()
        return {"R²": 1 - residual @ residual / y.var() / len(y), "max |Δcoef| from SVD": difference}

    return quality


def logistic_quality(X, y, C=1.0):
    """Objective: the sum of log losses + ||w||² / (2C), the intercept not penalised; the same for all."""

    def quality(model):
        coef = np.atleast_2d(model.coef_)
        scores = X @ coef.T + np.ravel(model.intercept_)
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(y)), scores])
        top = scores.max(axis=1)
        log_total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        loss = (log_total - scores[np.arange(len(y)), y]).sum()
        return {
            "objective": loss + (coef**2).sum() / (2 * C),
            "accuracy": np.mean(scores.argmax(axis=1) == y),
        }

    return quality


# Bayes ----------------------------------------------------------------------------------------------------


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
        edges = rng.dirichlet(np.full(levels, 8.0), size=n_classes).cumsum(axis=1)[:, :-1]
        X[:, j] = (rng.random(n)[:, None] > edges[y]).sum(axis=1)
    use = lambda model: model.fit(X, y).predict(X)  # noqa: E731
    return Workload(
        "Bayes",
        "Categorical naive Bayes, fit + predict the same, n=1M d=20 (int64, 10 levels), 5 classes",
        {
            "lyceum": learner("lyceum.bayes.NaiveBayes", use, categorical_features=True),
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
            "lyceum": learner("lyceum.bayes.LinearDiscriminant", use),
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
            "lyceum": learner("lyceum.bayes.QuadraticDiscriminant", use),
            "sklearn QDA": learner("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis", use),
        },
        accuracy(y),
        ("accuracy", +1, 1e-3),
    )


# Linear ---------------------------------------------------------------------------------------------------


@workload
def ols(scale):
    X, y = linear_rows(size(1_000_000, scale), 50, seed=4)
    fit = lambda model: model.fit(X, y)  # noqa: E731
    return Workload(
        "Linear",
        "Ordinary least squares with intercept, n=1M d=50 float64",
        {
            "lyceum": learner("lyceum.linear.LinearRegression", fit),
            "sklearnex LinearRegression": learner("sklearnex.linear_model.LinearRegression", fit),
            "numpy normal equations by hand": plain(normal_equations, X, y),
            "numpy lstsq": plain(lstsq, X, y),
            "sklearn LinearRegression": learner("sklearn.linear_model.LinearRegression", fit),
        },
        regression_quality(X, y),
        ("R²", +1, 1e-9),
    )


@workload
def ridge(scale):
    X, y = linear_rows(size(1_000_000, scale), 50, seed=5)
    fit = lambda model: model.fit(X, y)  # noqa: E731
    return Workload(
        "Linear",
        "Ridge alpha=1 with intercept, n=1M d=50 float64",
        {
            "lyceum": learner("lyceum.linear.Ridge", fit, alpha=1.0),
            "sklearnex Ridge": learner("sklearnex.linear_model.Ridge", fit, alpha=1.0),
            "numpy normal equations by hand": plain(normal_equations, X, y, 1.0),
            "sklearn Ridge cholesky": learner(
                "sklearn.linear_model.Ridge", fit, alpha=1.0, solver="cholesky"
            ),
        },
        regression_quality(X, y, 1.0),
        ("R²", +1, 1e-9),
    )


def logistic_contenders(X, y):
    fit = lambda model: model.fit(X, y)  # noqa: E731
    return {
        "lyceum": learner("lyceum.linear.LogisticRegression", fit, C=1.0),
        "sklearnex lbfgs": learner("sklearnex.linear_model.LogisticRegression", fit, C=1.0),
        "sklearn lbfgs": learner("sklearn.linear_model.LogisticRegression", fit, C=1.0),
        "sklearn newton-cholesky": learner(
            "sklearn.linear_model.LogisticRegression", fit, C=1.0, solver="newton-cholesky"
        ),
    }


@workload
def logistic(scale):
    X, y = softmax_rows(size(500_000, scale), 50, 2, seed=6)
    title = "Logistic regression L2 C=1, n=500k d=50 binary"
    return Workload(
        "Linear", title, logistic_contenders(X, y), logistic_quality(X, y), ("objective", -1, 1e-5)
    )


@workload
def multinomial(scale):
    X, y = softmax_rows(size(100_000, scale), 50, 10, seed=7)
    title = "Multinomial logistic L2 C=1, n=100k d=50, 10 classes"
    return Workload(
        "Linear", title, logistic_contenders(X, y), logistic_quality(X, y), ("objective", -1, 1e-5)
    )


# Reduce and cluster ---------------------------------------------------------------------------------------


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
            "lyceum": learner("lyceum.reduce.PCA", fit, **settings),
            "sklearnex PCA": learner("sklearnex.decomposition.PCA", fit, **settings),
            "sklearn PCA auto": learner("sklearn.decomposition.PCA", fit, **settings),
            "sklearn PCA randomized": learner(
                "sklearn.decomposition.PCA", fit, svd_solver="randomized", **settings
            ),
            "sklearn PCA full": learner("sklearn.decomposition.PCA", fit, svd_solver="full", **settings),
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
            model = faiss.Kmeans(d, k, niter=20, max_points_per_centroid=n, min_points_per_centroid=1)
            model.train(X, init_centroids=init)
            return SimpleNamespace(cluster_centers_=model.centroids, n_iter_=len(model.obj))

        return run

    def quality(model):
        centers = np.asarray(model.cluster_centers_, dtype=np.float64)
        squares, inertia = (centers**2).sum(axis=1), 0.0
        for start in range(0, n, 50_000):
            rows = X[start : start + 50_000].astype(np.float64)
            inertia += (rows**2).sum() + (squares - 2 * rows @ centers.T).min(axis=1).sum()
        return {"inertia": inertia, "iterations": model.n_iter_}

    fit = lambda model: model.fit(X)  # noqa: E731
    settings = {"n_clusters": k, "init": init, "n_init": 1, "max_iter": 20, "tol": 0.0}
    return Workload(
        "Reduce and cluster",
        "k-means n=500k d=32 k=64 float32, same init array, 20 iterations, tol 0",
        {
            "lyceum": learner("lyceum.cluster.KMeans", fit, **settings),
            "sklearn KMeans lloyd": learner("sklearn.cluster.KMeans", fit, algorithm="lloyd", **settings),
            "faiss Kmeans": faiss_kmeans,
            "sklearnex KMeans": learner("sklearnex.cluster.KMeans", fit, **settings),
            "sklearn KMeans elkan": learner("sklearn.cluster.KMeans", fit, algorithm="elkan", **settings),
        },
        quality,
        ("inertia", -1, 1e-4),
    )
