"""Impurity importances: how much impurity the splits by each column remove."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.report import Table
from lyceum._core.trees.tree import LEAF, Tree


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
    if isinstance(trees, Tree):
        trees = [trees]
    else:
        trees = list(trees)
    falls = np.zeros(n_columns)
    for tree in trees:
        inner = tree.kind != LEAF
        fall = (tree.weight * np.maximum(tree.gain, 0.0))[inner]
        columns = (
            np.bincount(tree.feature[inner], fall, minlength=n_columns) / tree.weight[0]
        )
        falls += (
            columns / columns.sum() if normalize and columns.sum() > 0.0 else columns
        )
    if normalize:
        total = falls.sum()
    else:
        total = float(len(trees))
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
