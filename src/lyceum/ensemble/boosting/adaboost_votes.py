"""The votes of the members of AdaBoost on new rows, and what follows from them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lyceum._core.members import MemberData, one_hot
from lyceum._core.native import native
from lyceum._core.probability import runner_up
from lyceum._core.threads import ordered_map
from lyceum._core.trees import Router, contributions
from lyceum.ensemble.tree_members import are_trees, cells_of_trees, forest, votes


def _forest(model: Any) -> Router:
    """One router for members that are trees, whose nodes vote 2α."""
    return forest(model, [None] * len(model.estimators_), votes, 2.0 * model.alphas_)


def all_votes(model: Any, data: MemberData) -> np.ndarray:
    """V, (n, K), summed in the order of the members."""
    if data.source is not None and are_trees(model.estimators_, one_leaf=True):
        return _forest(model).sums(cells_of_trees(data.source))
    work = partial(data.class_codes, classes=model.classes_)
    total: np.ndarray | None = None
    for codes, alpha in zip(ordered_map(work, model.estimators_), model.alphas_.tolist()):
        if total is None:
            total = np.zeros((len(codes), len(model.classes_)))
            rows = np.arange(len(codes))
        total[rows, codes] += 2.0 * alpha
    assert total is not None
    return total


def one_vote(model: Any, i: int, data: MemberData) -> np.ndarray:
    """What member i adds to V."""
    codes = data.class_codes(model.estimators_[i], model.classes_)
    return 2.0 * model.alphas_[i] * one_hot(codes, len(model.classes_))


def of_votes(total: np.ndarray) -> np.ndarray:
    """V less its mean over the classes, or with two classes F."""
    if total.shape[1] == 2:
        return 0.5 * (total[:, 1] - total[:, 0])
    return total - total.mean(axis=1, keepdims=True)


def voted_classes(model: Any, data: MemberData) -> np.ndarray:
    return model.classes_[all_votes(model, data).argmax(axis=1)]


def decision(model: Any, data: MemberData) -> np.ndarray:
    return of_votes(all_votes(model, data))


def posterior(model: Any, data: MemberData) -> np.ndarray:
    joint = all_votes(model, data)
    native.posterior(joint)
    return joint


def log_posterior(model: Any, data: MemberData) -> np.ndarray:
    joint = all_votes(model, data)
    native.log_posterior(joint)
    return joint


def odds_of_columns(model: Any, data: MemberData) -> np.ndarray:
    """Rows of (predicted class, base, what every column adds) to the difference of V to the
    runner-up."""
    assert data.source is not None
    router = _forest(model)
    X = cells_of_trees(data.source)
    best, second = runner_up(router.sums(X))
    return np.column_stack(
        [best, contributions(router, X, best) - contributions(router, X, second)]
    )
