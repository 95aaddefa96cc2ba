"""Why trees predict what they do: the change of value along the path, credited to the columns tested."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from lyceum.base import Learner
from lyceum.data import Block, Schema
from lyceum.report import Explanation, Table
from lyceum.tree_core._router import Router, float_cells, shares
from lyceum.tree_core._tree import Tree
from lyceum.tree_core._tree_labels import Actions, TreeLabels

__all__ = ["contributions", "explain_trees", "path_of"]


def contributions(router: Router, X: Any, pick: np.ndarray | None = None) -> np.ndarray:
    """The base and what every column adds, (n, 1 + d), for output column pick_i of row i (the first if None).

    With v the values of the router's trees, the base is Σ_t v_t(root), and a step from node a to node b of
    tree t adds v_t(b) − v_t(a) to the column that a tests, times the share of the row that goes this way. The
    sum telescopes: base + contributions are the summed values of where the row ends.
    """
    X = float_cells(X)
    pick = np.zeros(len(X), dtype=np.int32) if pick is None else np.ascontiguousarray(pick, dtype=np.int32)
    out, base = np.zeros((len(X), router.n_columns)), np.zeros(len(X))
    for t, (values, column) in enumerate(zip(router.values, router.columns)):
        local = pick - np.int32(column)
        touched = (local >= 0) & (local < values.shape[1])
        if not touched.any():
            continue
        rows = slice(None) if touched.all() else touched
        part = np.ascontiguousarray(out[rows])
        router.add_contributions(X[rows], t, values, np.ascontiguousarray(local[rows]), part)
        out[rows] = part
        base[rows] += values[0, local[rows]]
    return np.column_stack([base, out])


def explain_trees(
    learner: Learner,
    X: Any,
    *,
    router: Router | None = None,
    unit: str | None = None,
    base: Any = 0.0,
    of: int | None = None,
) -> Explanation:
    """What every column adds to the predictions of a tree, a forest or a boosted sum of trees.

    Parameters
    ----------
    learner : fitted learner
        Reads X as in `fit`, and predicts.
    X : rows
    router : Router, optional
        Its trees, by default `learner._router`; their values, scaled, add up to the score: posteriors by
        1/n_trees for a forest.
    unit : str, optional
        What the score is; by default the posterior of a classifier and the number of a regressor.
    base : float or array of shape (n_outputs,), default=0.0
        What the trees are added to.
    of : int, optional
        The output column that is explained; by default that of the largest score of every row.

    A tree with a loss matrix is explained by the expected loss of the action that it takes, the least.
    """
    actions = Actions.of(learner) if router is None and of is None else None
    if actions is not None:
        router, unit = _risks(learner, actions), unit or "expected loss"
    trees: Router = learner._router if router is None else router
    start = np.broadcast_to(np.asarray(base, dtype=np.float64), trees.n_outputs)
    parts = np.asarray(learner._apply(partial(_parts, trees, start, of, actions is not None), X))
    predicted = np.asarray(learner.predict(X))
    target = learner.schema_.target_name
    what = unit or ("posterior" if hasattr(learner, "classes_") else target)
    return Explanation(learner.schema_.names, parts[:, 1:], parts[:, 0], predicted, what)


def _risks(learner: Any, actions: Actions) -> Router:
    """The tree with the expected loss Σ_k P(k) L(k, a) of every action in the place of posteriors."""
    tree: Tree = learner.tree_
    return Router([tree], learner.n_features_in_, values=[shares(tree.value) @ actions.loss])


def _parts(router: Router, start: np.ndarray, of: int | None, least: bool, block: Block) -> np.ndarray:
    X = float_cells(block.X)
    if of is None:
        scores = router.sums(X) + start
        pick = (np.argmin(scores, axis=1) if least else np.argmax(scores, axis=1)).astype(np.int32)
    else:
        pick = np.full(len(X), of, dtype=np.int32)
    parts = contributions(router, X, pick)
    parts[:, 0] += start[pick]
    return parts


def path_of(
    tree: Tree,
    schema: Schema,
    row: Any,
    classes: Sequence[Any] | None = None,
    *,
    of: int | None = None,
) -> Table:
    """The steps of one row of coded cells: what was asked, what the cell is, and how the value changed.

    The value is the posterior of class number `of` (by default the class predicted), or the predicted number.
    A missing cell may send a row several ways; `share` says how much of it goes where.
    """
    X = float_cells(row).reshape(1, -1)
    values = tree.value if classes is None else shares(tree.value)
    router = Router([tree], len(schema), values=[values])
    if of is None:
        of = int(np.argmax(router.sums(X)[0]))
    words, parents = TreeLabels(tree, schema, classes), tree.parent
    visited = router.visited(X)
    steps: list[Sequence[Any]] = [(0, "(root)", "", 1.0, float(values[0, of]), 0.0)]
    for node, share in zip(visited.indices[1:].tolist(), visited.data[1:].tolist()):
        parent = int(parents[node])
        asked = words.condition(parent, node - int(tree.child[parent]))
        cell = _cell(words, parent, float(X[0, tree.feature[parent]]))
        now, before = float(values[node, of]), float(values[parent, of])
        steps.append((node, asked, cell, float(share), now, share * (now - before)))
    score = "mean" if classes is None else f"P({words.target} = {classes[of]})"
    return Table("", ("node", "asked", "cell", "share", score, "change"), steps)


def _cell(words: TreeLabels, node: int, cell: float) -> str:
    if np.isnan(cell):
        return "missing"
    column = words.schema[int(words.tree.feature[node])]
    if not column.is_categorical:
        return f"{cell:.6g}"
    return words.categories(node, [int(cell)])[0] if cell >= 0 else "unknown"
