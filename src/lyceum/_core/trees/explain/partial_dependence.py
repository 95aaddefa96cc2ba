"""Partial dependence from the trees alone: rows of the fit go on as shares of every node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lyceum._core.data import Column, Schema
from lyceum._core.trees.router import Router
from lyceum._core.trees.tree import INTERVALS, LEAF, THRESHOLD, Tree


def partial_dependence(
    router: Router,
    grid: np.ndarray,
    columns: Sequence[int],
    schema: Schema,
) -> np.ndarray:
    """The mean prediction of trees where some columns have the cells of the grid, (n_outputs, m).

    At a split on one of the columns a grid point goes to one side. At every other split it goes to
    all children, with the shares of their weight in the fit (Friedman 2001, section 8.2): no rows
    are needed, and every tree is walked once.

    Parameters
    ----------
    grid : array of shape (m, q)
        Cells as they are given to `fit`.
    columns : q numbers of columns
    """
    cells = {
        int(column): _coded(schema.columns[column], grid[:, k])
        for k, column in enumerate(columns)
    }
    mean = np.zeros((router.n_outputs, len(grid)))
    for t, (values, first) in enumerate(zip(router.values, router.columns)):
        shares = _node_shares(router.trees[t], cells, len(grid))
        mean[first : first + values.shape[1]] += values.T @ shares
    return mean


def _coded(column: Column, cells: np.ndarray) -> np.ndarray:
    """Cells as trees see them: numbers, or codes of categories, -1 for an unknown one."""
    if column.categories is None or column.numeric:
        return np.asarray(cells, dtype=np.float64)
    codes = {category: code for code, category in enumerate(column.categories.tolist())}
    return np.array([codes.get(cell, -1) for cell in cells.tolist()], dtype=np.float64)


def _node_shares(tree: Tree, cells: dict[int, np.ndarray], m: int) -> np.ndarray:
    """The share of every grid point that ends at every node, (n_nodes, m)."""
    shares = np.zeros((tree.n_nodes, m))
    shares[0] = 1.0
    # children come after their parents
    for node in np.flatnonzero(tree.kind != LEAF).tolist():
        children = tree.children(node)
        given = cells.get(int(tree.feature[node]))
        if given is None:
            weight = tree.weight[children.start : children.stop, None]
            shares[children.start : children.stop] = (
                shares[node] * weight / weight.sum()
            )
            shares[node] = 0.0
            continue
        sides = _sides(tree, node, given)
        for side, child in enumerate(children):
            shares[child] = np.where(sides == side, shares[node], 0.0)
        shares[node][sides >= 0] = 0.0  # the others stay
    return shares


def _sides(tree: Tree, node: int, cells: np.ndarray) -> np.ndarray:
    """The child, by its number among the children, that every cell goes to; -1 for none."""
    missing = np.isnan(cells)
    kind = tree.kind[node]
    if kind == THRESHOLD:
        sides = (cells > tree.threshold[node]).astype(np.int64)
    elif kind == INTERVALS:
        first = tree.table[node]
        cuts = tree.cuts[first : first + tree.n_children[node] - 1]
        sides = np.searchsorted(cuts, cells, side="left")
    else:
        first = tree.table[node]
        branches = tree.branches[first : first + tree.n_codes[node]]
        codes = np.where(missing, -1, cells).astype(np.int64)
        known = (codes >= 0) & (codes < len(branches))
        sides = np.where(known, branches[np.where(known, codes, 0)], -1)
    return np.where(missing, tree.missing[node], sides)
