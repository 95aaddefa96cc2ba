"""Explanations as odds: what every column says for the predicted class and against the next best one."""

from __future__ import annotations

import numpy as np

from lyceum.report import Explanation

__all__ = ["ODDS", "log_odds", "odds_explanation"]

ODDS = "log-odds against the runner-up"


def log_odds(terms: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Rows of (predicted class, base, what every column adds) from the additive terms of the log joint.

    `terms` has the shape (n, K, d), `constant` (K,). Where neither class can have the cell at all (both terms
    are -inf), the column adds nothing. With one class there is no runner-up, and the odds are those of the
    class against itself.
    """
    joint = constant + terms.sum(axis=2)
    order = np.argsort(-joint, axis=1, kind="stable")
    rows, best, second = np.arange(len(joint)), order[:, 0], order[:, min(1, joint.shape[1] - 1)]
    out = np.empty((len(joint), terms.shape[2] + 2))
    out[:, 0] = best
    out[:, 1] = _difference(constant[best], constant[second])
    out[:, 2:] = _difference(terms[rows, best], terms[rows, second])
    return out


def _difference(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return np.subtract(one, two, out=np.zeros_like(one), where=one != two)


def odds_explanation(odds: np.ndarray, names: tuple[str, ...], classes: np.ndarray) -> Explanation:
    """The rows of `log_odds` as an explanation."""
    return Explanation(names, odds[:, 2:], odds[:, 1], classes[odds[:, 0].astype(np.intp)], ODDS)
