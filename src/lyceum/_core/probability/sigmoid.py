"""Platt's sigmoid: scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from lyceum._core.statistics import PositiveFactor


def fit_sigmoid(scores: np.ndarray, positive: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(A, B) of P(positive | f) = 1 / (1 + exp(-(A f + B))) by Newton's method.

    The targets are (n₊ + 1) / (n₊ + 2) and 1 / (n₋ + 2) instead of 1 and 0, so that A stays finite
    where the scores separate the classes.

    Parameters
    ----------
    scores : array of shape (n,)
        f, one per row.
    positive : array of bool of shape (n,)
        Which rows are positive.
    w : array of shape (n,)
        Weights of the rows.

    Returns
    -------
    array of shape (2,)
        A and B.

    See Also
    --------
    lyceum.decision.PosteriorMap : The sigmoid and other maps of posteriors.

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods", Advances in Large Margin Classifiers, 1999. H.-T. Lin, C.-J. Lin and R. C.
    Weng, "A note on Platt's probabilistic outputs for support vector machines", Machine Learning
    68, 2007.

    Examples
    --------
    >>> slope, _ = fit_sigmoid(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))
    >>> round(float(expit(slope)), 4)  # (1 + 1) / (1 + 2)
    0.6667
    """
    # from A = 0 and B of the shares of the classes
    n_positive = float(w[positive].sum())
    n_negative = float(w[~positive].sum())
    high = (n_positive + 1.0) / (n_positive + 2.0)
    target = np.where(positive, high, 1.0 / (n_negative + 2.0))
    Z = np.column_stack([scores, np.ones(len(scores))])
    theta = np.array([0.0, np.log((n_positive + 1.0) / (n_negative + 1.0))])

    def cost(theta: np.ndarray) -> float:
        u = Z @ theta
        return float(w @ (np.logaddexp(0.0, u) - target * u))

    for _ in range(100):
        p = expit(Z @ theta)
        gradient = Z.T @ (w * (p - target))
        curvature = w * p * (1 - p)
        hessian = (Z * curvature[:, None]).T @ Z
        step = -PositiveFactor.of(hessian).solve(gradient)
        theta = theta + _step_length(cost, theta, step, float(gradient @ step)) * step
        if np.abs(gradient).max() < 1e-9 * max(1.0, w.sum()):
            break
    return theta


def _step_length(
    cost: Callable[[np.ndarray], float],
    theta: np.ndarray,
    step: np.ndarray,
    slope: float,
) -> float:
    """1, halved until the cost falls by a part of what the slope along the step promises
    (Armijo)."""
    value = cost(theta)
    promised = 1e-4 * slope
    length = 1.0
    while cost(theta + length * step) > value + length * promised and length > 1e-10:
        length /= 2
    return length
