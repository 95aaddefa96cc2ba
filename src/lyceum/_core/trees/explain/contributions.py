"""Contributions of columns: the changes of value along the path, credited to the columns tested."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.base import Learner
from lyceum._core.data import Block
from lyceum._core.report import Explanation
from lyceum._core.trees.decisions import shares
from lyceum._core.trees.explain.labels import Actions
from lyceum._core.trees.router import Router, float_cells
from lyceum._core.trees.tree import Tree
from lyceum._core.types import Data, Estimator


def contributions(
    router: Router, X: Data, pick: np.ndarray | None = None
) -> np.ndarray:
    """The base and the contributions of the columns, (n, 1 + d), to output pick_i of row i (0 if
    None).

    With v the values of the router's trees, the base is Σ_t v_t(root), and a step from node a to
    node b of tree t adds v_t(b) − v_t(a) to the column that a tests, times the share of the row
    that goes this way. The sum telescopes: base + contributions is the sum of the values where the
    row ends.
    """
    X = float_cells(X)
    if pick is None:
        pick = np.zeros(len(X), dtype=np.int32)
    else:
        pick = np.ascontiguousarray(pick, dtype=np.int32)
    out = np.zeros((len(X), router.n_columns))
    base = np.zeros(len(X))
    for t, (values, column) in enumerate(zip(router.values, router.columns)):
        local = pick - np.int32(column)
        touched = (local >= 0) & (local < values.shape[1])
        if not touched.any():
            continue
        if touched.all():
            rows = slice(None)
        else:
            rows = touched
        part = np.ascontiguousarray(out[rows])
        router.add_contributions(
            X[rows], t, values, np.ascontiguousarray(local[rows]), part
        )
        out[rows] = part
        base[rows] += values[0, local[rows]]
    return np.column_stack([base, out])


def explain_trees(
    learner: Learner,
    X: Data,
    *,
    router: Router | None = None,
    base: Any = 0.0,
    output: int | None = None,
    decide: Callable[[np.ndarray], np.ndarray] | None = None,
    unit: str | None = None,
) -> Explanation:
    """The contributions of every column to the predictions of a tree, a forest or a boosted sum of
    trees.

    One pass over the rows, whose blocks are shared by the threads. A tree with a loss matrix is
    explained by the expected loss of the action that it takes, the smallest.

    Parameters
    ----------
    learner : fitted learner
        Reads X as in `fit`; `classes_`, if it has them, are the labels of the predictions.
    X : array, frame, Dask collection or `scan(...)`
    router : Router, optional
        The trees, by default `learner._router`. Their scaled values add up to the score: posteriors
        by 1/n_trees for a forest.
    base : float or array of shape (n_outputs,), default=0.0
        What the values of the trees are added to.
    output : int, optional
        The output column that is explained; by default that of the largest score of every row.
    decide : callable, optional
        Scores (n, n_outputs) to the codes of the predicted classes, or to numbers; by default the
        largest score of a classifier, the only score of a regressor.
    unit : str, optional
        The name of the score; by default "posterior" for a classifier and the target for a
        regressor.
    """
    if router is None:
        actions = Actions.of(learner)
    else:
        actions = None
    labels: Any = getattr(learner, "classes_", None)
    trees: Router = learner._router if router is None else router
    if actions is not None:
        trees = _risk_router(learner, actions)
        unit = unit or "expected loss"
        labels = actions.labels
    one_tree = router is None and labels is not None and "tree_" in vars(learner)
    choose = partial(_decide_rows, learner) if one_tree else _largest
    if decide is None and labels is None:
        decide = _only_score
    start = np.atleast_1d(np.asarray(base, dtype=np.float64))
    explained = partial(_explain_rows, trees, start, output, choose, decide)
    unit = unit or (learner.schema_.target_name if labels is None else "posterior")
    return learner._explain(X, explained, unit, labels)


def _risk_router(learner: Estimator, actions: Actions) -> Router:
    """The tree with the expected loss Σ_k P(k) L(k, a) of every action in the place of
    posteriors."""
    tree: Tree = learner.tree_
    return Router(
        [tree], learner.n_features_in_, values=[shares(tree.value) @ actions.loss]
    )


def _largest(X: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return scores.argmax(axis=1)


def _decide_rows(learner: Estimator, X: np.ndarray, scores: np.ndarray) -> np.ndarray:
    return learner._decide(X)


def _only_score(scores: np.ndarray) -> np.ndarray:
    return scores[:, 0]


def _explain_rows(
    router: Router,
    start: np.ndarray,
    output: int | None,
    choose: Callable[[np.ndarray, np.ndarray], np.ndarray],
    decide: Callable[[np.ndarray], np.ndarray] | None,
    block: Block,
) -> np.ndarray:
    """The prediction, the base and the contributions of every row, (n, 2 + d)."""
    X = float_cells(block.X)
    if router.trees:
        n_outputs = router.n_outputs
    else:
        n_outputs = len(start)
    scores = np.tile(np.broadcast_to(start, n_outputs), (len(X), 1))
    if router.trees:
        router.add_values(X, scores)
    chosen = choose(X, scores)
    if output is not None:
        pick = np.full(len(X), output, dtype=np.int32)
    else:
        pick = chosen.astype(np.int32)
    parts = contributions(router, X, pick)
    parts[:, 0] += np.broadcast_to(start, n_outputs)[pick]
    return np.column_stack([chosen if decide is None else decide(scores), parts])
