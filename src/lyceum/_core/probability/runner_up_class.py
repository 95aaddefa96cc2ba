"""The predicted class against the runner-up, the next best class."""

from __future__ import annotations

import numpy as np

AGAINST_RUNNER_UP = "log-odds against the runner-up"


def runner_up(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The column of the largest score of every row, and that of the next one.

    Parameters
    ----------
    scores : array of shape (n, K)
        One score per class, as log posteriors or votes. Of equal scores the first column comes
        first.

    Returns
    -------
    best, second : array of shape (n,), of int
        With one class both are 0.

    Examples
    --------
    >>> best, second = runner_up(np.array([[0.2, 0.7, 0.1], [0.4, 0.4, 0.2]]))
    >>> best.tolist(), second.tolist()
    ([1, 0], [0, 1])
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    return order[:, 0], order[:, min(1, scores.shape[1] - 1)]


def runner_up_odds(terms: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """The log-odds of the predicted class against the runner-up, column by column.

    Parameters
    ----------
    terms : array of shape (n, K, d)
        What every column adds to the log joint probability of every class.
    constant : array of shape (K,) or (n, K)
        The rest of the log joint probability, as the log prior.

    Returns
    -------
    array of shape (n, d + 2)
        Predicted class, log-odds of the constants (the base), and what every column adds to the
        log-odds. Where a cell is impossible in both classes (both terms are -inf), the column adds
        nothing. With one class the odds are those of the class against itself.

    Examples
    --------
    >>> terms = np.array([[[1.0, 0.5], [0.0, 2.0]]])  # one row, two classes, two columns
    >>> runner_up_odds(terms, np.log([0.5, 0.5])).tolist()
    [[1.0, 0.0, -1.0, 1.5]]
    """
    best, second = runner_up(constant + terms.sum(axis=2))
    rows = np.arange(len(terms))
    constant = np.broadcast_to(constant, terms.shape[:2])
    out = np.empty((len(terms), terms.shape[2] + 2))
    out[:, 0] = best
    out[:, 1] = _difference(constant[rows, best], constant[rows, second])
    out[:, 2:] = _difference(terms[rows, best], terms[rows, second])
    return out


def _difference(best: np.ndarray, second: np.ndarray) -> np.ndarray:
    """best - second, and 0 where they are equal: also for -inf, whose difference is NaN."""
    return np.subtract(best, second, out=np.zeros_like(best), where=best != second)
