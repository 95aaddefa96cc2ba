"""Empty branches: leaves for the categories that no row of a node has, which raised subtrees may
need.

A grown tree has no node for them: a row of such a category stays at the node. C4.5 keeps an empty
leaf for each, and rows that come to a raised subtree anew fall into it.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from lyceum._core.trees import CATEGORIES, Tree


def with_empty_branches(tree: Tree, cells: np.ndarray) -> Tree:
    """The tree with an empty leaf for every category of `cells` that a node split by category has
    not."""
    nodes = np.flatnonzero(tree.kind == CATEGORIES)
    at, code = _entries(tree, nodes)
    empty = np.flatnonzero((tree.branches[at] < 0) & _occurs(tree, nodes, code, cells))
    if not len(empty):
        return tree
    owner = np.repeat(nodes, tree.n_codes[nodes])[empty]
    added = np.bincount(owner, minlength=tree.n_nodes)
    # the children of a node, and after them its new leaves, stay beside each other
    last = np.where(tree.n_children > 0, tree.child + tree.n_children - 1, 0)
    before = np.zeros(tree.n_nodes + 1, dtype=np.int64)  # new leaves before each node
    np.add.at(before, last + 1, added)
    new = np.arange(tree.n_nodes) + np.cumsum(before)[:-1]
    within = np.arange(len(owner)) - np.searchsorted(owner, owner)
    branches = tree.branches.copy()
    branches[at[empty]] = tree.n_children[owner] + within
    size = tree.n_nodes + len(empty)

    def spread(old: np.ndarray, blank: float) -> np.ndarray:
        out = np.full((size, *old.shape[1:]), blank, dtype=old.dtype)
        out[new] = old
        return out

    child = np.where(tree.child >= 0, new[tree.child], -1).astype(tree.child.dtype)
    return Tree(
        feature=spread(tree.feature, -1),
        kind=spread(tree.kind, 0),
        child=spread(child, -1),
        n_children=spread((tree.n_children + added).astype(tree.n_children.dtype), 0),
        threshold=spread(tree.threshold, np.nan),
        table=spread(tree.table, -1),
        n_codes=spread(tree.n_codes, 0),
        missing=spread(tree.missing, -1),
        cuts=tree.cuts,
        branches=branches,
        value=spread(tree.value, 0),
        weight=spread(tree.weight, 0),
        n_rows=spread(tree.n_rows, 0),
        impurity=spread(tree.impurity, 0),
        gain=spread(tree.gain, 0),
    )


def without_empty_branches(tree: Tree) -> Tree:
    """The tree without the leaves of categories that no row came to."""
    nodes = np.flatnonzero(tree.kind == CATEGORIES)
    at, _ = _entries(tree, nodes)
    owner = np.repeat(nodes, tree.n_codes[nodes])
    branch = tree.branches[at]
    empty = np.flatnonzero((branch >= 0) & (tree.n_rows[tree.child[owner] + branch] == 0))
    if not len(empty):
        return tree
    gone = np.zeros(tree.n_nodes, dtype=bool)
    gone[(tree.child[owner] + branch)[empty]] = True
    old = np.flatnonzero(~gone)
    new = np.cumsum(~gone) - 1
    branches = tree.branches.copy()
    left = branch >= 0  # numbers of the children, counted again
    branches[at[left]] = (new[tree.child[owner] + branch] - new[tree.child[owner]])[left]
    branches[at[empty]] = -1
    lost = np.bincount(tree.parent[gone], minlength=tree.n_nodes)
    inner = tree.child >= 0
    missing = np.where(tree.missing >= 0, new[tree.child + tree.missing] - new[tree.child], -1)
    changed = {
        "child": np.where(inner, new[tree.child], -1).astype(tree.child.dtype)[old],
        "n_children": (tree.n_children - lost).astype(tree.n_children.dtype)[old],
        "missing": missing.astype(tree.missing.dtype)[old],
        "cuts": tree.cuts,
        "branches": branches,
    }
    kept = {
        each.name: getattr(tree, each.name)[old]
        for each in fields(tree)
        if each.name not in changed
    }
    return Tree(**kept, **changed)


def _entries(tree: Tree, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places in `branches` of nodes split by category, and the codes there."""
    count = tree.n_codes[nodes]
    code = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(tree.table[nodes], count) + code, code


def _occurs(tree: Tree, nodes: np.ndarray, code: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Whether some cell of the column that a node is split by has the code."""
    column = np.repeat(tree.feature[nodes], tree.n_codes[nodes])
    occurs = np.zeros(len(code), dtype=bool)
    for j in np.unique(column):
        here = column == j
        occurs[here] = np.isin(code[here], cells[:, j])
    return occurs
