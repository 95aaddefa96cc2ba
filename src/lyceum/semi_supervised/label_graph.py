"""Graphs whose edges weigh how near rows are, and labels that pass along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances import Euclidean, Metric, finite_distances, nearest
from lyceum.errors import DataError, SettingError
from lyceum.progress import report

_ROWS = 256  # of dense weights, compared with columns at once


def neighbor_graph(
    X: Any,
    k: int,
    kernel: str,
    gamma: float | None,
    metric: Metric | None = None,
) -> tuple[sparse.csr_array, float]:
    """The graph in which a row is joined with its k nearest ones, and γ.

    With "knn" the edges weigh 1 and lead from a row to its nearest. Else they weigh exp(-γ d²), and
    a row is also joined with those to which it is nearest.

    >>> W, _ = neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "knn", None)
    >>> W.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
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
        gamma = 1.0
        if width > 0:
            gamma = 1.0 / (2.0 * width**2)
    if kernel == "knn":
        weight = np.ones(n * k)
    else:
        weight = np.exp(-gamma * distances.ravel() ** 2)
    # every row of the matrix has k edges; the maximum with its transpose joins both ways
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    W = sparse.csr_array((weight, neighbors.rows.ravel(), starts), shape=(n, n))
    W.sort_indices()
    if kernel != "knn":
        W = W.maximum(W.T).tocsr()
    W.eliminate_zeros()  # edges whose exp(-γ d²) underflows
    return W, gamma


def kernel_matrix(kernel: Callable[..., Any], A: Any, B: Any) -> Any:
    """The weights that a function gives to pairs of rows, checked."""
    W = kernel(A, B)
    if sparse.issparse(W):
        W = sparse.csr_array(W)
        cells = W.data
    else:
        W = np.asarray(W, dtype=np.float64)
        cells = W
    shape = (A.shape[0], B.shape[0])
    if W.shape != shape:
        raise SettingError(
            f"the function that is given as kernel makes a matrix of the shape {W.shape} of"
            f" {shape[0]} and {shape[1]} rows: make one of {shape}, a weight for every pair"
        )
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise SettingError(
            "the function that is given as kernel makes weights that are negative or not finite"
        )
    return W


def without_loops(W: Any) -> Any:
    """A graph whose rows are not joined with themselves."""
    if sparse.issparse(W):
        W = sparse.csr_array(W, copy=True)
        W.setdiag(0.0)
        W.eliminate_zeros()
        return W
    W = np.array(W, dtype=np.float64)
    np.fill_diagonal(W, 0.0)
    return W


def _scaled(W: Any, left: np.ndarray, right: np.ndarray) -> Any:
    """diag(left) W diag(right)."""
    if sparse.issparse(W):
        return sparse.csr_array(W.multiply(left[:, None]).multiply(right[None, :]))
    return left[:, None] * W * right


def _is_symmetric(W: Any) -> bool:
    """Whether W is its own transpose up to rounding; dense weights are compared a few rows at a
    time, without a second matrix."""
    n = W.shape[0]
    step = n if sparse.issparse(W) else _ROWS
    largest = 0.0
    difference = 0.0
    for start in range(0, n, max(1, step)):
        rows = W[start : start + step]
        columns = W[:, start : start + step]
        largest = max(largest, abs(rows).max())
        difference = max(difference, abs(rows - columns.T).max())
    return bool(difference <= 1e-12 * largest)


def spread(
    W: Any,
    Y: np.ndarray,
    alpha: float,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int]:
    """F = (1 - α) (I - αS)^(-1) Y with S = D^(-1/2) W D^(-1/2), and the steps it took; one more
    than `max_iter` where these were not enough."""
    degree = np.asarray(W.sum(axis=0), dtype=np.float64)
    scale = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    S = _scaled(W, scale, scale)
    return _solve(S, alpha, (1.0 - alpha) * Y, max_iter, tol)


def propagate(
    W: Any,
    Y: np.ndarray,
    labeled: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int]:
    """The harmonic function: the known rows keep their labels, every other is the mean of its
    neighbors. And the steps it took; one more than `max_iter` where these were not enough."""
    F = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1e-300)
    # where no label arrives the system is singular: from the labeled rows, along the edges
    reached = np.zeros(len(Y))
    reached[labeled] = 1.0
    count = 0
    while count < np.count_nonzero(reached):
        count = int(np.count_nonzero(reached))
        reached = np.maximum(reached, (W @ reached > 0).astype(np.float64))
    is_inner = reached > 0
    is_inner[labeled] = False
    rows = np.flatnonzero(is_inner)
    if not len(rows):
        return F, 0
    # what no label reaches says nothing: means are those of the others
    outer = W[rows][:, labeled]
    inner = W[rows][:, rows]
    degree = np.asarray(outer.sum(axis=1) + inner.sum(axis=1), dtype=np.float64)
    # (D_uu − W_uu) F_u = W_ul Y_l in units of D^(-1/2): (I − S) G = D^(-1/2) W_ul Y_l
    scale = 1.0 / np.sqrt(degree)
    S = _scaled(inner, scale, scale)
    known = scale[:, None] * np.asarray(outer @ F[labeled])
    solution, steps = _solve(S, 1.0, known, max_iter, tol)
    F[rows] = scale[:, None] * solution
    return F, steps


def _solve(
    S: Any, share: float, B: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """F = share S F + B, and the steps it took; one more than `max_iter` if they were too few."""
    if _is_symmetric(S):
        # I − share S is positive definite, as the eigenvalues of S are within [−1, 1]
        return _conjugate_gradients(lambda P: P - share * (S @ P), B, max_iter, tol)
    F = B
    for step in range(1, max_iter + 1):
        new = share * (S @ F) + B
        change = np.abs(new - F).sum()
        F = new
        report("steps", step, max_iter)
        if change <= tol:
            return F, step
    return F, max_iter + 1


def _conjugate_gradients(
    apply: Callable[[np.ndarray], np.ndarray],
    B: np.ndarray,
    max_iter: int,
    tol: float,
) -> tuple[np.ndarray, int]:
    """Conjugate gradients for all columns of B at once, for a symmetric positive definite
    operator."""
    # residuals R = B − AF, directions P, and |R|² of every column; one that is done stands still
    F = np.zeros_like(B)
    R = B.copy()
    P = R.copy()
    size = np.einsum("nk,nk->k", R, R)
    goal = (1e-3 * tol) ** 2 * size
    step = 0
    while step < max_iter and (size > goal).any():
        AP = apply(P)
        curve = np.einsum("nk,nk->k", P, AP)
        moves = (curve > 0) & (size > goal)
        pace = np.divide(size, curve, out=np.zeros_like(size), where=moves)
        F += pace * P
        R -= pace * AP
        new_size = np.einsum("nk,nk->k", R, R)
        P *= np.divide(new_size, size, out=np.zeros_like(size), where=size > 0)
        P += R
        size = new_size
        step += 1
        report("steps", step, max_iter)
    if (size > goal).any():
        step += 1
    return F, step
