"""Workloads of linear models: least squares, ridge, logistic regression, the lasso, choices of a
penalty."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import numpy as np
from workloads import Workload, learner, plain, size, workload


def normal_equations(X, y, alpha=0.0):
    n, d = X.shape
    mean, y_mean = np.ones(n) @ X / n, y.mean()
    gram = X.T @ X - n * np.outer(mean, mean) + alpha * np.eye(d)
    coef = np.linalg.solve(gram, X.T @ y - n * mean * y_mean)
    return SimpleNamespace(coef_=coef, intercept_=y_mean - mean @ coef)


def lstsq(X, y, alpha=0.0):
    """Least squares by SVD on centered rows, with sqrt(alpha) I below them: the reference."""
    mean, y_mean, d = X.mean(axis=0), y.mean(), X.shape[1]
    rows, values = X - mean, y - y_mean
    if alpha:
        rows = np.vstack([rows, np.sqrt(alpha) * np.eye(d)])
        values = np.concatenate([values, np.zeros(d)])
    coef = np.linalg.lstsq(rows, values)[0]
    return SimpleNamespace(coef_=coef, intercept_=y_mean - mean @ coef)


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


def regression_quality(X, y, alpha=0.0):
    reference = lstsq(X, y, alpha)

    def quality(model):
        residual = y - X @ np.ravel(model.coef_) - float(np.ravel(model.intercept_)[0])
        difference = np.abs(np.ravel(model.coef_) - reference.coef_).max()
        return {
            "R²": 1 - residual @ residual / y.var() / len(y),
            "max |Δcoef| from SVD": difference,
        }

    return quality


def logistic_quality(X, y, C=1.0):
    """Objective: the sum of log losses + ||w||² / (2C), the intercept not penalized; the same for
    all."""

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


@workload
def ols(scale):
    X, y = linear_rows(size(1_000_000, scale), 50, seed=4)
    fit = lambda model: model.fit(X, y)  # noqa: E731
    return Workload(
        "Linear",
        "Ordinary least squares with intercept, n=1M d=50 float64",
        {
            "lyceum": learner("lyceum.linear.LinearRegression", fit),
            "sklearnex LinearRegression": learner(
                "sklearnex.linear_model.LinearRegression", fit
            ),
            "numpy normal equations by hand": plain(normal_equations, X, y),
            "numpy lstsq": plain(lstsq, X, y),
            "sklearn LinearRegression": learner(
                "sklearn.linear_model.LinearRegression", fit
            ),
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
        "sklearnex lbfgs": learner(
            "sklearnex.linear_model.LogisticRegression", fit, C=1.0
        ),
        "sklearn lbfgs": learner("sklearn.linear_model.LogisticRegression", fit, C=1.0),
        "sklearn newton-cholesky": learner(
            "sklearn.linear_model.LogisticRegression",
            fit,
            C=1.0,
            solver="newton-cholesky",
        ),
    }


@workload
def logistic(scale):
    X, y = softmax_rows(size(500_000, scale), 50, 2, seed=6)
    title = "Logistic regression L2 C=1, n=500k d=50 binary"
    return Workload(
        "Linear",
        title,
        logistic_contenders(X, y),
        logistic_quality(X, y),
        ("objective", -1, 1e-5),
    )


@workload
def multinomial(scale):
    X, y = softmax_rows(size(100_000, scale), 50, 10, seed=7)
    title = "Multinomial logistic L2 C=1, n=100k d=50, 10 classes"
    return Workload(
        "Linear",
        title,
        logistic_contenders(X, y),
        logistic_quality(X, y),
        ("objective", -1, 1e-5),
    )


def path_quality(X, y, alphas):
    """Mean objective 1/(2n) |y - Xb|² + alpha |b|₁ over the path, without an intercept; the same
    for all."""

    def quality(coefs):
        values = [
            ((y - X @ b) ** 2).mean() / 2 + alpha * np.abs(b).sum()
            for alpha, b in zip(alphas, coefs)
        ]
        return {
            "objective": float(np.mean(values)),
            "not zero at the end": int(np.count_nonzero(coefs[-1])),
        }

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
        "lyceum": of(
            "lyceum.linear.lasso_path", lambda path: path(X, y, **lyceum).coefs
        ),
        "celer_path": of(
            "celer.celer_path",
            lambda path: (
                path(X, y, "lasso", alphas=alphas, max_iter=100, tol=1e-4)[1].T
            ),
        ),
        "sklearn lasso_path": of(
            "sklearn.linear_model.lasso_path",
            lambda path: path(X, y, alphas=alphas, max_iter=100_000)[1].T,
        ),
        "skglm Lasso.path": of(
            "skglm.Lasso", lambda cls: cls(fit_intercept=False).path(X, y, alphas)[1].T
        ),
    }


@workload
def lasso_path_dense(scale):
    rng = np.random.default_rng(10)
    n, d = size(2_000, scale), max(500, round(5_000 * scale))
    X = rng.standard_normal((n, d))
    for j in range(1, d):  # neighbors are correlated
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
    X = sparse.csc_matrix(
        (np.ones(n * words), (np.repeat(np.arange(n), words), at)), shape=(n, d)
    )
    rarity = np.log(n / (1 + np.diff(X.indptr)))  # as in TF-IDF
    X = sparse.csc_matrix(X @ sparse.diags(np.maximum(rarity, 0.01)))
    X = sparse.csc_matrix(
        sparse.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X
    )
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
            "lyceum": learner("lyceum.linear.LassoCV", fit, cv=10),
            "sklearn LassoCV": learner(
                "sklearn.linear_model.LassoCV", fit, cv=10, n_jobs=2
            ),
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
        "Ridge, 100 alphas by cross-validation (10 folds; scikit-learn leaves one out), n=200k"
        " d=50",
        {
            "lyceum": learner("lyceum.linear.RidgeCV", fit, alphas=alphas, cv=10),
            "sklearn RidgeCV": learner(
                "sklearn.linear_model.RidgeCV", fit, alphas=alphas
            ),
        },
        regression_quality(X, y),
        ("R²", +1, 1e-4),
    )
