"""Softmax regression on targets that are shares, with offsets: gates, and models with a prior
model."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import optimize


def softmax(scores: np.ndarray) -> np.ndarray:
    """exp(s_k) / Σ_j exp(s_j) of every row.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    out = np.exp(scores - scores.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


def fit_softmax(
    X: np.ndarray,
    shares: np.ndarray,
    w: np.ndarray,
    *,
    alpha: float = 0.0,
    offset: np.ndarray | None = None,
    start: np.ndarray | None = None,
    max_iter: int = 200,
    tol: float = 1e-8,
) -> np.ndarray:
    """Weights V of shape (K, d + 1), the intercept last, that maximize the likelihood of shares of
    classes.

    The objective is Σ_i w_i Σ_k t_ik log softmax_k(o_i + V [x_i; 1]) - α/2 Σ_k |v_k|², intercepts
    not penalized, by L-BFGS, which never lowers it.

    Parameters
    ----------
    X : array of shape (n, d)
    shares : array of shape (n, K)
        The shares t of the classes; rows need not sum to 1.
    w : array of shape (n,)
        Weights.
    alpha : float, default=0.0
        The penalty on all weights but the intercepts.
    offset : array of shape (n, K), optional
        Scores o to which those of the weights are added.
    start : array of shape (K, d + 1), optional
        Where to start; zero by default.
    max_iter : int, default=200
        The most steps.
    tol : float, default=1e-8
        Stop when no part of the gradient, divided by the weight of all rows, is larger.

    Examples
    --------
    >>> X = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> shares = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [0.25, 0.75]])
    >>> V = fit_softmax(X, shares, np.ones(4))
    >>> softmax(X @ V[:, :1].T + V[:, 1]).round(4)[[0, 2]].tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    shape = (shares.shape[1], X.shape[1] + 1)
    if start is None:
        start = np.zeros(shape)
    total = w @ shares.sum(axis=1)
    if not total > 0.0:
        return start
    # per unit of weight, so that the tolerance does not depend on the number of rows
    weighted = shares * (w / total)[:, None]
    value_and_gradient = partial(_penalized_loss, X, weighted, offset, alpha / total)
    outcome = optimize.minimize(
        value_and_gradient,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0, "maxcor": 20},
    )
    return outcome.x.reshape(shape)


def _penalized_loss(
    X: np.ndarray,
    weighted: np.ndarray,
    offset: np.ndarray | None,
    penalty: float,
    flat: np.ndarray,
) -> tuple[float, np.ndarray]:
    """-Σ t log softmax + penalty/2 Σ|v|², and its gradient; `weighted` has t times the weights."""
    d = X.shape[1]
    V = flat.reshape(-1, d + 1)
    mass = weighted.sum(axis=1, keepdims=True)
    scores = X @ V[:, :d].T
    scores += V[:, d]
    if offset is not None:
        scores += offset
    # less the largest score, so that no exponential overflows
    scores -= scores.max(axis=1, keepdims=True)
    P = np.exp(scores)
    size = P.sum(axis=1, keepdims=True)
    log_sizes = (mass * np.log(size)).sum()
    value = -float((weighted * scores).sum() - log_sizes)
    # the gradient in the scores is mass · p - t
    P *= mass / size
    P -= weighted
    gradient = np.empty_like(V)
    gradient[:, :d] = P.T @ X + penalty * V[:, :d]
    gradient[:, d] = P.sum(axis=0)
    squares = float((V[:, :d] ** 2).sum())
    return value + 0.5 * penalty * squares, gradient.ravel()
