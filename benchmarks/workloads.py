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


# Neural ---------------------------------------------------------------------------------------------------


def augmented_digits(n, seed=10):
    """Real 8 × 8 digits, shifted by up to one pixel, scaled and noised; and 500 others as they are."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    kept, held = order[500:], order[:500]
    rows = rng.choice(kept, n)
    padded = np.pad(images[rows].reshape(n, 8, 8) / 16.0, ((0, 0), (1, 1), (1, 1)))
    down, right = rng.integers(0, 3, (2, n))
    cells = np.arange(8)
    at = np.arange(n)[:, None, None]
    X = padded[at, down[at] + cells[:, None], right[at] + cells].reshape(n, 64)
    X = X * rng.uniform(0.8, 1.2, (n, 1)) + 0.05 * rng.standard_normal((n, 64))
    return X.astype(np.float32), labels[rows], (images[held] / 16.0).astype(np.float32), labels[held]


def torch_mlp(X, y, test, threads):
    def prepare():
        import torch

        def run():
            torch.set_num_threads(threads)
            torch.manual_seed(0)
            layers = [torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU()]
            model = torch.nn.Sequential(*layers, torch.nn.Linear(128, 10))
            descent = torch.optim.Adam(model.parameters(), lr=1e-3)
            rows, labels = torch.from_numpy(X), torch.from_numpy(y)
            for _ in range(10):
                for batch in torch.randperm(len(rows)).split(128):
                    descent.zero_grad()
                    torch.nn.functional.cross_entropy(model(rows[batch]), labels[batch]).backward()
                    descent.step()
            with torch.no_grad():
                return model(torch.from_numpy(test)).argmax(dim=1).numpy()

        return run

    return prepare


@workload
def mlp(scale):
    X, y, test, truth = augmented_digits(size(60_000, scale))

    def use(model):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's, that ten epochs are few
            return model.fit(X, y).predict(test)

    common = {"hidden_layer_sizes": (128, 128), "batch_size": 128, "max_iter": 10, "random_state": 0}
    return Workload(
        "Neural",
        "MLP 64-128-128-10 relu, Adam lr 1e-3, 10 epochs, batch 128, n=60k float32 (augmented real digits)",
        {
            "lyceum": learner("lyceum.neural.MLPClassifier", use, dtype="float32", tol=None, **common),
            "sklearn MLPClassifier": learner("sklearn.neural_network.MLPClassifier", use, **common),
            "torch eager 2 threads": torch_mlp(X, y, test, 2),
            "torch eager 1 thread": torch_mlp(X, y, test, 1),
        },
        accuracy(truth),
        ("accuracy", +1, 1e-2),
    )


# Density --------------------------------------------------------------------------------------------------


def kernel_density_workload(scale, n, m, d, h, fft):
    """Gaussian kernel density of n normal rows at m points; the quality is the largest relative error."""
    rng = np.random.default_rng(11)
    n, m = size(n, scale), size(m, scale)
    X, points = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    some = points[:200]
    squares = ((some[:, None] - X) ** 2).sum(axis=2) if d * n <= 200_000 else None
    exact = np.empty(len(some))
    for i, point in enumerate(some):
        q = squares[i] if squares is not None else ((X - point) ** 2).sum(axis=1)
        exact[i] = np.exp(-0.5 * q / h**2).mean() / (h * np.sqrt(2 * np.pi)) ** d

    def scipy_kde():
        from scipy.stats import gaussian_kde

        def run():
            model = gaussian_kde(X.T)
            model.set_bandwidth(1.0)
            model.cho_cov = h * np.eye(d)  # a plain product kernel, as all others have
            model.log_det = 2 * d * np.log(h * np.sqrt(2 * np.pi))
            return model(points.T)

        return run

    def kdepy_fft():
        from KDEpy import FFTKDE
        from scipy.interpolate import RegularGridInterpolator

        def run():
            grid, values = FFTKDE(kernel="gaussian", bw=h).fit(X).evaluate(fft)
            if d == 1:
                return np.interp(points[:, 0], np.ravel(grid), values)
            axes = [np.unique(column) for column in grid.T]
            return RegularGridInterpolator(axes, values.reshape([fft] * d))(points)

        return run

    use = lambda model: np.exp(model.fit(X).score_samples(points))  # noqa: E731
    return Workload(
        "Density",
        f"KDE Gaussian h={h}, {d}-d n={n:,}, density at {m:,} points, relative error 1e-4",
        {
            "lyceum": learner("lyceum.density.KernelDensity", use, bandwidth=h, tolerance=1e-4),
            f"KDEpy FFTKDE {fft}^{d} grid + interp": kdepy_fft,
            "sklearn KernelDensity rtol=1e-4": learner(
                "sklearn.neighbors.KernelDensity", use, bandwidth=h, rtol=1e-4
            ),
            "scipy gaussian_kde": scipy_kde,
        },
        lambda found: {
            "within 1e-4": float(np.abs(found[:200] / exact - 1).max() <= 1e-4),
            "relative error": np.abs(found[:200] / exact - 1).max(),
        },
        ("within 1e-4", +1, 0.0),
    )


@workload
def kde_1d(scale):
    return kernel_density_workload(scale, 100_000, 10_000, 1, 0.15, 2**14)


@workload
def kde_3d(scale):
    return kernel_density_workload(scale, 50_000, 5_000, 3, 0.3, 64)


@workload
def kde_bandwidth(scale):
    n = size(20_000, scale)
    rng = np.random.default_rng(12)
    x = np.where(rng.random(n) < 0.5, rng.normal(size=n), 0.3 * rng.normal(size=n) + 3)

    def likelihood(h):
        """The mean leave-one-out log-likelihood, in blocks of all pairs."""
        total = 0.0
        for start in range(0, n, 1000):
            block = np.exp(-0.5 * ((x[start : start + 1000, None] - x) / h) ** 2).sum(axis=1) - 1.0
            total += np.log(block / ((n - 1) * h * np.sqrt(2 * np.pi))).sum()
        return total / n

    def lyceum_search():
        from lyceum.density import likelihood_bandwidth

        return lambda: likelihood_bandwidth(x)

    def plain_search():
        from scipy.optimize import minimize_scalar

        def run():
            found = minimize_scalar(
                lambda log_h: -likelihood(np.exp(log_h)),
                bounds=(-6, 1),
                method="bounded",
                options={"xatol": 1e-3},
            )
            return float(np.exp(found.x))

        return run

    return Workload(
        "Density",
        f"Leave-one-out likelihood bandwidth, Gaussian, 1-d n={n:,}",
        {"lyceum": lyceum_search, "scipy minimize_scalar over all pairs in NumPy": plain_search},
        lambda h: {"mean leave-one-out log-likelihood": likelihood(h), "bandwidth": h},
        ("mean leave-one-out log-likelihood", +1, 1e-4),
    )


def path_quality(X, y, alphas):
    """Mean objective 1/(2n) |y - Xb|² + alpha |b|₁ over the path, without an intercept; the same for all."""

    def quality(coefs):
        values = [((y - X @ b) ** 2).mean() / 2 + alpha * np.abs(b).sum() for alpha, b in zip(alphas, coefs)]
        return {"objective": float(np.mean(values)), "not zero at the end": int(np.count_nonzero(coefs[-1]))}

    return quality


def path_contenders(X, y, alphas):
    """Whole paths at each one's tolerance of 1e-4; a thunk returns coefficients (n_alphas, d)."""

    def of(where, run):
        module, _, name = where.rpartition(".")

        def prepare():
            function = getattr(import_module(module), name)
            return lambda: run(function)

        return prepare

    lyceum = {"alphas": alphas, "fit_intercept": False, "tol": 1e-4}
    return {
        "lyceum": of("lyceum.linear.lasso_path", lambda path: path(X, y, **lyceum).coefs),
        "celer_path": of(
            "celer.celer_path", lambda path: path(X, y, "lasso", alphas=alphas, max_iter=100, tol=1e-4)[1].T
        ),
        "sklearn lasso_path": of(
            "sklearn.linear_model.lasso_path", lambda path: path(X, y, alphas=alphas, max_iter=100_000)[1].T
        ),
        "skglm Lasso.path": of("skglm.Lasso", lambda cls: cls(fit_intercept=False).path(X, y, alphas)[1].T),
    }


@workload
def lasso_path_dense(scale):
    rng = np.random.default_rng(10)
    n, d = size(2_000, scale), max(500, round(5_000 * scale))
    X = rng.standard_normal((n, d))
    for j in range(1, d):  # neighbours are correlated
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    X = np.asfortranarray(X - X.mean(axis=0))
    y = X @ np.where(rng.random(d) < 0.02, rng.standard_normal(d), 0.0)
    y += rng.standard_normal(n) * y.std() / 3
    y -= y.mean()
    alphas = np.geomspace(1, 0.01, 50) * np.abs(X.T @ y).max() / n
    return Workload(
        "Linear",
        "Lasso path, 50 alphas down to 0.01 alpha_max, dense n=2k d=5k",
        path_contenders(X, y, alphas),
        path_quality(X, y, alphas),
        ("objective", -1, 1e-3),
    )


@workload
def lasso_path_sparse(scale):
    from scipy import sparse

    rng = np.random.default_rng(11)
    n, d, words = size(20_000, scale), max(2_000, round(50_000 * scale)), 100
    shares = 1 / np.arange(1, d + 1)
    at = rng.choice(d, n * words, p=shares / shares.sum())
    X = sparse.csc_matrix((np.ones(n * words), (np.repeat(np.arange(n), words), at)), shape=(n, d))
    rarity = np.log(n / (1 + np.diff(X.indptr)))  # as in TF-IDF
    X = sparse.csc_matrix(X @ sparse.diags(np.maximum(rarity, 0.01)))
    X = sparse.csc_matrix(sparse.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X)
    y = X @ np.where(rng.random(d) < 0.01, 10 * rng.standard_normal(d), 0.0)
    y += rng.standard_normal(n) * y.std() / 2
    y -= y.mean()
    alphas = np.geomspace(1, 0.05, 30) * np.abs(X.T @ y).max() / n
    return Workload(
        "Linear",
        "Lasso path, 30 alphas down to 0.05 alpha_max, sparse text-like n=20k d=50k (CSC)",
        path_contenders(X, y, alphas),
        path_quality(X, y, alphas),
        ("objective", -1, 1e-3),
    )


@workload
def lasso_cv(scale):
    X, y = linear_rows(size(200_000, scale), 50, seed=12)
    fit = lambda model: model.fit(X, y)  # noqa: E731
    return Workload(
        "Linear",
        "Lasso, 100 alphas by 10-fold cross-validation, n=200k d=50",
        {
            "lyceum": learner("lyceum.linear.LassoCV", fit),
            "sklearn LassoCV": learner("sklearn.linear_model.LassoCV", fit, cv=10, n_jobs=2),
        },
        regression_quality(X, y),
        ("R²", +1, 1e-4),
    )


@workload
def ridge_cv(scale):
    X, y = linear_rows(size(200_000, scale), 50, seed=13)
    fit = lambda model: model.fit(X, y)  # noqa: E731
    alphas = np.geomspace(1e-2, 1e6, 100)
    return Workload(
        "Linear",
        "Ridge, 100 alphas by cross-validation (10 folds; scikit-learn leaves one out), n=200k d=50",
        {
            "lyceum": learner("lyceum.linear.RidgeCV", fit, alphas=alphas),
            "sklearn RidgeCV": learner("sklearn.linear_model.RidgeCV", fit, alphas=alphas),
        },
        regression_quality(X, y),
        ("R²", +1, 1e-4),
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
