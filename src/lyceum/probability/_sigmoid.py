"""Platt's sigmoid: scores to probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

__all__ = ["fit_sigmoid"]


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(A, B) of P(positive | f) = 1 / (1 + exp(-(A f + B))) by Newton's method (Platt 1999, Lin et al. 2007).

    Targets are pulled in to (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2), so that separated scores give no 0 or 1.

    >>> slope, _ = fit_sigmoid(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))
    >>> round(float(expit(slope)), 4)  # (1 + 1) / (1 + 2)
    0.6667
    """
    high, low = float(w[positive].sum()), float(w[~positive].sum())
    target = np.where(positive, (high + 1.0) / (high + 2.0), 1.0 / (low + 2.0))
    Z = np.column_stack([scores, np.ones(len(scores))])
    theta = np.array([0.0, np.log((high + 1.0) / (low + 1.0))])

    def cost(at: np.ndarray) -> float:
        u = Z @ at
        return float(w @ (np.logaddexp(0.0, u) - target * u))

    value = cost(theta)
    for _ in range(100):
        p = expit(Z @ theta)
        gradient = Z.T @ (w * (p - target))
        hessian = (Z * (w * p * (1 - p))[:, None]).T @ Z + 1e-12 * np.eye(2)
        step, length = -np.linalg.solve(hessian, gradient), 1.0
        while cost(theta + length * step) > value + 1e-4 * length * float(gradient @ step) and length > 1e-10:
            length /= 2
        theta = theta + length * step
        value = cost(theta)
        if np.abs(gradient).max() < 1e-9 * max(1.0, w.sum()):
            break
    return theta
