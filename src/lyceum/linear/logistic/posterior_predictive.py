"""Posteriors of classes under the Laplace posterior N(w*, H⁻¹) of the weights of a logistic
regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from lyceum._core.data import Block

_CELLS = 1 << 16  # of the scores of some draws, which are taken at once


def plug_in(learner: Any, block: Block) -> np.ndarray:
    """The scores at the mode of the weights, (n, K)."""
    return _with_zero(block.X @ learner.coef_.T + learner.intercept_)


def probit(learner: Any, block: Block) -> np.ndarray:
    """Scores shrunk by (1 + π σ²/8)^(-1/2), σ² being the variance of a score (MacKay, 1992).

    For more than two classes every score is shrunk by its own variance, which depends on the
    reference class.
    """
    Z = _center(learner, block)
    scores = block.X @ learner.coef_.T + learner.intercept_
    outputs = len(scores.T)
    size = Z.shape[1]
    blocks = learner.posterior_covariance_.reshape(outputs, size, outputs, size)
    variance = np.column_stack(
        [np.einsum("ij,jk,ik->i", Z, blocks[k, :, k], Z, optimize=True) for k in range(outputs)]
    )
    return _with_zero(scores / np.sqrt(1 + np.pi / 8 * np.maximum(variance, 0.0)))


def monte_carlo(learner: Any, block: Block) -> np.ndarray:
    """The log of the mean posterior over draws of the weights, the same draws for every row."""
    Z = _center(learner, block)
    total = np.full((len(block), len(learner.classes_)), -np.inf)
    draws = learner._draws()
    at_once = max(1, _CELLS // max(1, total.size))
    for first in range(0, len(draws), at_once):
        scores = _with_zero(Z @ draws[first : first + at_once].transpose(0, 2, 1))
        total = np.logaddexp.reduce(
            np.concatenate([total[None], log_softmax(scores, axis=-1)]), axis=0
        )
    return total - logsumexp(total, axis=1, keepdims=True)


PREDICTIVES: dict[str, Callable[[Any, Block], np.ndarray]] = {
    "plugin": plug_in,
    "probit": probit,
    "monte_carlo": monte_carlo,
}


def _with_zero(scores: np.ndarray) -> np.ndarray:
    """Two classes have one score: that of the first is 0."""
    if scores.shape[-1] == 1:
        return np.concatenate([np.zeros_like(scores), scores], axis=-1)
    return scores


def _center(learner: Any, block: Block) -> np.ndarray:
    """(x - mean, 1), where the covariance of the weights is known without loss of digits."""
    X = block.dense
    if learner.fit_intercept:
        shift = learner.mean_
    else:
        shift = np.zeros_like(learner.mean_)
    return np.column_stack([X - shift, np.ones(len(X))])
