"""Posteriors of support vector classifiers: sigmoids fitted on scores of rows not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from lyceum._core.probability import fit_sigmoid

_FOLDS = 5


def calibrate_machines(
    learner: Any, cells: Any, codes: np.ndarray, w: np.ndarray, bound: np.ndarray
) -> np.ndarray:
    """(A, B) of every machine, from five folds; 1 and 0 where a class has too few rows."""
    fold = _folds(codes, learner.random_state)
    found = np.tile([1.0, 0.0], (len(learner.machines_), 1))
    for m, (against, favored) in enumerate(learner.machines_):
        mine = (codes == favored) | ((codes == against) if against >= 0 else True)
        positive = codes == favored
        scores = np.full(len(codes), np.nan)
        for k in range(_FOLDS):
            train = np.flatnonzero(mine & (fold != k))
            test = np.flatnonzero(mine & (fold == k))
            if len(test) and 0 < positive[train].sum() < len(train):
                scores[test] = _scores(learner, cells, positive, bound, train, test)
        seen = np.flatnonzero(np.isfinite(scores))
        if len(seen):
            found[m] = fit_sigmoid(scores[seen], positive[seen], w[seen])
    return found


def _folds(codes: np.ndarray, seed: Any) -> np.ndarray:
    """A fold for every row, each with its share of every class."""
    drawn = check_random_state(seed).permutation(len(codes))
    fold = np.empty(len(codes), dtype=int)
    fold[drawn[np.argsort(codes[drawn], kind="stable")]] = np.arange(len(codes)) % _FOLDS
    return fold


def _scores(
    learner: Any,
    cells: Any,
    positive: np.ndarray,
    bound: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> np.ndarray:
    given = learner._is_precomputed
    if given:
        X = cells[np.ix_(train, train)]
    else:
        X = cells[train]
    if given:
        Y = cells[np.ix_(test, train)]
    else:
        Y = cells[test]
    machine = learner._solve_machine(X, np.where(positive[train], 1.0, -1.0), bound[train])
    used = np.flatnonzero(machine.alpha)
    coef = (machine.signs * machine.alpha)[used]
    if given:
        return Y[:, used] @ coef + machine.intercept
    return learner.kernel_.sums(X[used], coef, Y) + machine.intercept
