"""AUC and F1 as losses of rows: their mean is 1 − AUC or 1 − F1, and their spread is its standard
error.

Both are functions of all rows together. A row's loss is the value plus N times the change of the
value when the row weighs more (its influence), so that intervals and paired tests over rows hold
for them too; for AUC the standard error is DeLong's.
"""

from __future__ import annotations

import itertools

import numpy as np


def auc_losses(y: np.ndarray, posteriors: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Losses with the mean 1 − AUC; for more than two classes Hand and Till's mean over pairs of
    classes.

    >>> y, p = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.4, 0.9])
    >>> float(auc_losses(y, np.column_stack([1 - p, p]), np.ones(4)).mean())
    0.25
    """
    pairs = list(itertools.combinations(np.unique(y).tolist(), 2))
    if not pairs:
        return np.full(len(y), 0.5)  # one class: nothing to rank
    total = np.zeros(len(y))
    for low, high in pairs:
        rows = np.flatnonzero((y == low) | (y == high))
        # of two classes one score says all; of more, each class has its own
        scores = [posteriors[rows, high]]
        scores += [] if posteriors.shape[1] == 2 else [-posteriors[rows, low]]
        pair_losses = [
            _pair_losses(y[rows] == high, score, w[rows], w.sum()) for score in scores
        ]
        value = float(np.mean([area for area, _ in pair_losses]))
        part = np.full(len(y), value)
        part[rows] += np.mean([influence for _, influence in pair_losses], axis=0)
        total += part
    return total / len(pairs)


def _pair_losses(
    upper: np.ndarray, score: np.ndarray, w: np.ndarray, all_weight: float
) -> tuple:
    """1 − AUC, and the influence of every row, from the share of the other class on the wrong side
    of it."""
    wrong = np.empty(len(score))
    for mine, sign in ((upper, 1.0), (~upper, -1.0)):
        s = sign * score[mine]
        other = sign * score[~mine]
        v = w[~mine]
        order = np.argsort(other, kind="stable")
        at_most = np.append(0.0, np.cumsum(v[order]))
        below = at_most[np.searchsorted(other[order], s, side="left")]
        upto = at_most[np.searchsorted(other[order], s, side="right")]
        wrong[mine] = 1.0 - 0.5 * (below + upto) / at_most[-1]
    area = float(np.average(wrong[upper], weights=w[upper]))
    weight_of_class = np.where(upper, w[upper].sum(), w[~upper].sum())
    return area, (wrong - area) * all_weight / weight_of_class


def f1_losses(y: np.ndarray, named: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Losses with the mean 1 − F1, F1 = 2 TP / (2 TP + FP + FN) averaged over the classes that
    occur.

    >>> y, named = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> round(1 - float(f1_losses(y, named, np.ones(4)).mean()), 4)
    0.7333
    """
    present = np.unique(y)
    total = np.zeros(len(y))
    for k in present:
        true = (y == k).astype(np.float64)
        assigned = (named == k).astype(np.float64)
        both = 2.0 * true * assigned
        either = true + assigned
        size = float(w @ either)
        f1 = float(w @ both) / size
        total += 1.0 - f1 - (both - f1 * either) * w.sum() / size
    return total / len(present)
