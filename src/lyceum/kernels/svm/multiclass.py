"""Several classes from machines of two: scores, votes, and posteriors by sigmoids that are fitted
on scores of rows not seen and coupled over the machines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from lyceum._core.base import affine_operation, normalize_posteriors
from lyceum._core.probability import fit_sigmoid
from lyceum._core.types import Estimator, Operation
from lyceum.errors import DataError
from lyceum.kernels.svm.shared_rows import SharedRows

_FOLDS = 5
_CERTAIN = 1e-7  # posteriors of machines keep this distance from 0 and 1
_LEAST = 1e-12  # of a posterior


def machine_classes(n_classes: int, strategy: str) -> list[tuple[int, int]]:
    """The classes of every machine, (against, for); -1 stands for all others."""
    if n_classes < 2:
        return []
    if n_classes == 2:
        return [(0, 1)]
    if strategy == "one_vs_rest":
        return [(-1, k) for k in range(n_classes)]
    return [(second, first) for first, second in combinations(range(n_classes), 2)]


def check_classes_left(codes: np.ndarray, n_classes: int) -> None:
    """Refuse rows of one class where there were more, as weights may leave them."""
    if n_classes > 1 and (codes == codes[0]).all():
        raise DataError(
            "Invalid input - all samples with positive weights belong to the same class: SVC has"
            " none to tell it from"
        )


def machine_rows(codes: np.ndarray, against: int, favored: int) -> np.ndarray:
    """The rows that a machine learns from."""
    if against < 0:
        return np.arange(len(codes))
    return np.flatnonzero((codes == favored) | (codes == against))


def _pair_rows(
    machines: list[tuple[int, int]], codes: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray]]:
    """(machine, row of dual_coef_, support vectors): those of one class against one other class.

    The rows of a class are the other classes in their order, as in scikit-learn.
    """
    for m, pair in enumerate(machines):
        for label, other in (pair, pair[::-1]):
            yield m, other - (other > label), np.flatnonzero(codes == label)


def pack_pairs(
    coef: np.ndarray,
    machines: list[tuple[int, int]],
    codes: np.ndarray,
    n_classes: int,
) -> np.ndarray:
    """Coefficients (n_support, n_machines) of all pairs as (n_classes - 1, n_support): a row has
    one machine against every other class."""
    packed = np.zeros((n_classes - 1, len(codes)))
    for m, row, members in _pair_rows(machines, codes):
        packed[row, members] = coef[members, m]
    return packed


def unpack_pairs(
    packed: np.ndarray,
    machines: list[tuple[int, int]],
    codes: np.ndarray,
) -> np.ndarray:
    """The inverse of `pack_pairs`: zero for the support vectors that a machine has not seen."""
    coef = np.zeros((len(codes), len(machines)))
    for m, row, members in _pair_rows(machines, codes):
        coef[members, m] = packed[row, members]
    return coef


def class_scores(
    scores: np.ndarray,
    machines: list[tuple[int, int]],
    n_classes: int,
) -> np.ndarray:
    """One score per class: that of its own machine, or votes, with sums of scores to break ties.

    >>> class_scores(np.array([[3.5, 6.2, 1.4, 5.5]]), [(-1, k) for k in range(4)], 4).argmax()
    np.int64(1)
    """
    if machines[0][0] < 0:
        return scores
    votes = pair_votes(scores >= 0, machines, n_classes)
    sums = np.zeros((len(scores), n_classes))
    for (against, favored), column in zip(machines, scores.T):
        sums[:, favored] += column
        sums[:, against] -= column
    # |sums| / (3 (|sums| + 1)) is below 1/3: it breaks ties and never outweighs a vote
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def pair_votes(
    won: np.ndarray, machines: list[tuple[int, int]], n_classes: int
) -> np.ndarray:
    """How many machines of pairs vote for every class: `won` says which for the first of theirs.

    >>> pair_votes(np.array([[True, False, True]]), [(1, 0), (2, 0), (2, 1)], 3).tolist()
    [[1.0, 1.0, 1.0]]
    """
    votes = np.zeros((len(won), n_classes))
    for (against, favored), column in zip(machines, won.T):
        votes[:, favored] += column
        votes[:, against] += ~column
    return votes


def coupled_posteriors(
    p: np.ndarray,
    machines: list[tuple[int, int]],
    n_classes: int,
) -> np.ndarray:
    """Posteriors of K classes from those of the machines.

    One against the rest: the posteriors of the classes, made to sum to 1. Pairs: the p that
    minimizes Σ_ij (r_ji p_i - r_ij p_j)² (Wu, Lin and Weng 2004).
    """
    n = len(p)
    if n_classes == 2:
        return np.column_stack([1.0 - p[:, 0], p[:, 0]])
    p = np.clip(p, _CERTAIN, 1.0 - _CERTAIN)
    if machines[0][0] < 0:
        return normalize_posteriors(p)
    # r_ij, the posterior of i by the machine of i and j
    r = np.zeros((n, n_classes, n_classes))
    for (against, favored), column in zip(machines, p.T):
        r[:, favored, against] = column
        r[:, against, favored] = 1.0 - column
    # Lagrange: the quadratic form of the p, bordered by Σ p = 1
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    inner = -r * r.transpose(0, 2, 1)
    system[:, :n_classes, :n_classes] = inner
    each = np.arange(n_classes)
    system[:, each, each] = (r**2).sum(axis=1)
    system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, n_classes] = 1.0
    coupled = np.linalg.solve(system, right)[:, :n_classes, 0]
    return normalize_posteriors(np.maximum(coupled, _LEAST))


def posterior_operations(
    calibration: np.ndarray, machines: list[tuple[int, int]], n_classes: int
) -> list[Operation]:
    """From f of every machine to `coupled_posteriors`, for exported models."""
    slopes, offsets = calibration.T
    p: list[Operation] = [
        ("linear", {"coef": np.diag(slopes).tolist(), "intercept": offsets.tolist()}),
        ("activate", {"function": "sigmoid"}),
    ]
    if n_classes == 2:
        both = {"coef": [[-1.0], [1.0]], "intercept": [1.0, 0.0]}
        return [*p, ("linear", both)]
    if machines[0][0] < 0:
        n = len(machines)
        within = dict(affine_operation(np.zeros(n), np.ones(n))[1])
        within |= {"low": [_CERTAIN] * n, "high": [1.0 - _CERTAIN] * n}
        return [*p, ("affine", within), ("shares", {})]
    pairs = {
        "pairs": [list(pair) for pair in machines],
        "size": n_classes,
        "least": _CERTAIN,
        "floor": _LEAST,
    }
    return [*p, ("couple", pairs)]


def calibrate_machines(
    learner: Estimator,
    rows: SharedRows,
    codes: np.ndarray,
    w: np.ndarray,
    bound: np.ndarray,
) -> np.ndarray:
    """(A, B) of every machine, from five folds; 1 and 0 where a class has too few rows."""
    # a fold for every row, each with its share of every class
    drawn = check_random_state(learner.random_state).permutation(len(codes))
    by_class = drawn[np.argsort(codes[drawn], kind="stable")]
    fold = np.empty(len(codes), dtype=int)
    fold[by_class] = np.arange(len(codes)) % _FOLDS
    sigmoids = np.tile([1.0, 0.0], (len(learner.machines_), 1))
    for m, (against, favored) in enumerate(learner.machines_):
        mine = machine_rows(codes, against, favored)
        positive = codes == favored
        scores = np.full(len(codes), np.nan)
        for k in range(_FOLDS):
            train = mine[fold[mine] != k]
            test = mine[fold[mine] == k]
            if len(test) and 0 < positive[train].sum() < len(train):
                scores[test] = _scores_of_unseen(
                    learner,
                    rows,
                    positive,
                    bound,
                    train=train,
                    test=test,
                )
        seen = np.flatnonzero(np.isfinite(scores))
        if len(seen):
            sigmoids[m] = fit_sigmoid(scores[seen], positive[seen], w[seen])
    return sigmoids


def _scores_of_unseen(
    learner: Any,
    rows: SharedRows,
    positive: np.ndarray,
    bound: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> np.ndarray:
    """f of the rows `test` by a machine of the rows `train`."""
    signs = np.where(positive[train], 1.0, -1.0)
    machine = learner._solve_machine(rows, train, signs, bound[train])
    used = np.flatnonzero(machine.alpha)
    coef = (machine.signs * machine.alpha)[used]
    return rows.sums(train[used], coef, test) + machine.intercept
