"""Sparse graphs of neighbors, and labels that spread on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances import Euclidean, Metric, finite_distances, nearest
from lyceum.errors import DataError
from lyceum.progress import report


def neighbor_graph(
    X: Any, k: int, kernel: str, gamma: float | None, metric: Metric | None = None
) -> tuple[sparse.csr_array, float]:
    """The symmetric graph in which a row is joined with its k nearest ones, and with those it is
    nearest to.

    Edges weigh 1, or exp(-γ d²).

    >>> W, _ = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "knn", None)
    >>> W.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    n = X.shape[0]
    k = min(k, n - 1)
    if k < 1:
        return sparse.csr_array((n, n)), 1.0 if gamma is None else gamma
    if metric is None:
        metric = Euclidean()
    neighbors = nearest(X, k, metric=metric)
    distances = finite_distances(neighbors.distances, metric)
    if not np.isfinite(distances).all() or distances.max() > 1e150:
        raise DataError(
            "the squares of the distances overflow: standardize the columns first"
        )
    if gamma is None:
        width = float(distances[:, -1].mean())
        if width > 0:
            gamma = 1.0 / (2.0 * width**2)
        else:
            gamma = 1.0
    if kernel == "knn":
        weight = np.ones(n * k)
    else:
        weight = np.exp(-gamma * distances.ravel() ** 2)
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    W = sparse.csr_array((weight, neighbors.rows.ravel(), starts), shape=(n, n))
    W.sort_indices()
    W = W.maximum(W.T).tocsr()
    W.eliminate_zeros()  # edges whose exp(-γ d²) underflows
    return W, gamma


def spread(
    W: sparse.csr_array, Y: np.ndarray, alpha: float, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """F = (1 - α) (I - αS)^(-1) Y with S = D^(-1/2) W D^(-1/2), and the steps it took."""
    degree = W.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    S = sparse.csr_array(W.multiply(scale[:, None]).multiply(scale[None, :]))
    return _solve(lambda P: P - alpha * (S @ P), (1.0 - alpha) * Y, max_iter, tol)


def propagate(
    W: sparse.csr_array, Y: np.ndarray, labeled: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """The harmonic function: the known rows keep their labels, every other is the mean of its
    neighbors."""
    F = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1e-300)
    hidden = np.setdiff1d(np.arange(len(Y)), labeled)
    degree = W.sum(axis=1)
    _, part = sparse.csgraph.connected_components(W, directed=False)
    reached = np.isin(part[hidden], part[labeled])
    rows = hidden[reached]  # where no label arrives the system is singular
    if not len(rows):
        return F, 0
    inner = W[rows]
    outer = inner[:, labeled] @ F[labeled]
    scale = 1.0 / np.sqrt(degree[rows])
    S = sparse.csr_array(
        inner[:, rows].multiply(scale[:, None]).multiply(scale[None, :])
    )
    solution, steps = _solve(lambda P: P - S @ P, scale[:, None] * outer, max_iter, tol)
    F[rows] = scale[:, None] * solution
    return F, steps


def _solve(
    apply: Callable[[np.ndarray], np.ndarray], B: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """Conjugate gradients for all columns of B at once, for a symmetric positive definite
    operator."""
    F = np.zeros_like(B)
    R = B.copy()
    P = R.copy()
    size = np.einsum("nk,nk->k", R, R)
    goal = tol**2 * size
    step = 0
    while step < max_iter and (size > goal).any():
        AP = apply(P)
        curve = np.einsum("nk,nk->k", P, AP)
        pace = np.divide(
            size, curve, out=np.zeros_like(size), where=(curve > 0) & (size > goal)
        )
        F += pace * P
        R -= pace * AP
        new = np.einsum("nk,nk->k", R, R)
        P *= np.divide(new, size, out=np.zeros_like(size), where=size > 0)
        P += R
        size = new
        step += 1
        report("steps", step, max_iter)
    return F, step
