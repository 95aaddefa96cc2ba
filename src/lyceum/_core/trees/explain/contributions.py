"""What columns contribute: to a prediction, the changes of value along its path; to a tree, the
impurity that splits by them remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.base import Learner
from lyceum._core.data import Block, Schema
from lyceum._core.report import Explanation, Table
from lyceum._core.trees.decisions import shares
from lyceum._core.trees.explain.labels import Actions
from lyceum._core.trees.router import Router, float_cells
from lyceum._core.trees.tree import LEAF, Tree
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
        # a tree adds to the outputs from `column` on: rows that ask for others skip it
        local = pick - np.int32(column)
        touched = (local >= 0) & (local < values.shape[1])
        if not touched.any():
            continue
        rows = slice(None) if touched.all() else touched
        row_pick = np.ascontiguousarray(local[rows])
        part = np.ascontiguousarray(out[rows])
        router.add_contributions(X[rows], t, values, row_pick, part)
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
    labels: Any = getattr(learner, "classes_", None)
    one_tree = None
    actions = None
    if router is None:
        router = learner._router
        actions = Actions.of(learner)
        if labels is not None and "tree_" in vars(learner):
            one_tree = learner
    if actions is not None:
        # the expected loss Σ_k P(k) L(k, a) of every action in the place of posteriors
        tree: Tree = learner.tree_
        risks = shares(tree.node_values) @ actions.loss
        router = Router([tree], learner.n_features_in_, values=[risks])
        unit = unit or "expected loss"
        labels = actions.labels
    if decide is None and labels is None:
        decide = _only_score
    start = np.atleast_1d(np.asarray(base, dtype=np.float64))
    explained = partial(_explain_rows, router, start, output, one_tree, decide)
    unit = unit or (learner.schema_.target_name if labels is None else "posterior")
    return learner._explain(X, explained, unit, labels)


def _only_score(scores: np.ndarray) -> np.ndarray:
    return scores[:, 0]


def _explain_rows(
    router: Router,
    start: np.ndarray,
    output: int | None,
    learner: Estimator | None,
    decide: Callable[[np.ndarray], np.ndarray] | None,
    block: Block,
) -> np.ndarray:
    """The prediction, the base and the contributions of every row, (n, 2 + d).

    A `learner` of one tree decides by itself, as it may have a default class; else the largest
    score does.
    """
    X = float_cells(block.X)
    n_outputs = router.n_outputs if router.trees else len(start)
    first_scores = np.broadcast_to(start, n_outputs)
    scores = np.tile(first_scores, (len(X), 1))
    if router.trees:
        router.add_values(X, scores)
    if learner is None:
        chosen = scores.argmax(axis=1)
    else:
        chosen = learner._decide(X)
    if output is None:
        pick = chosen.astype(np.int32)
    else:
        pick = np.full(len(X), output, dtype=np.int32)
    parts = contributions(router, X, pick)
    parts[:, 0] += first_scores[pick]
    predicted = chosen if decide is None else decide(scores)
    return np.column_stack([predicted, parts])


# -- importances -----------------------------------------------------------------------


def impurity_importances(
    trees: Tree | Sequence[Tree], n_columns: int, normalize: bool = True
) -> np.ndarray:
    """The share of the fall of impurity that is due to each column: Σ n_i gain_i over its nodes, of
    all.

    Of several trees, the mean of their shares, made to sum to 1; a tree of one node has none.

    Parameters
    ----------
    trees : Tree or sequence of Tree
    n_columns : int
    normalize : bool, default=True
        Shares, that sum to 1; else the fall itself, a row of `fit`.
    """
    trees = [trees] if isinstance(trees, Tree) else list(trees)
    falls = np.zeros(n_columns)
    for tree in trees:
        inner = tree.kind != LEAF
        fall = (tree.weight * np.maximum(tree.gain, 0.0))[inner]
        by_column = np.bincount(tree.feature[inner], fall, minlength=n_columns)
        by_column = by_column / tree.weight[0]
        tree_total = by_column.sum()
        if normalize and tree_total > 0.0:
            by_column = by_column / tree_total
        falls += by_column
    total = falls.sum() if normalize else float(len(trees))
    if total > 0.0:
        return falls / total
    return falls


def importance_table(importances: np.ndarray, schema: Schema) -> Table:
    """Columns by importance, the largest first; columns that are never used are left out."""
    order = np.argsort(-importances, kind="stable")
    rows = [
        (schema[int(j)].name, float(importances[j]))
        for j in order
        if importances[j] != 0
    ]
    return Table("Importances", ("column", "importance"), rows)
