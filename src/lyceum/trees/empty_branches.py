"""Empty branches: leaves for the categories that no row of a node has, which raised subtrees may
need.

A grown tree has no node for them: a row of such a category stays at the node. C4.5 keeps an empty
leaf for each, and rows that come to a raised subtree anew fall into it.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from lyceum._core.trees import CATEGORIES, Tree


def with_empty_branches(tree: Tree, cells: np.ndarray) -> Tree:
    """The tree with an empty leaf for every category of `cells` that a node split by category has
    not."""
    nodes = np.flatnonzero(tree.kind == CATEGORIES)
    entries, code = _entries(tree, nodes)
    lacking = (tree.branches[entries] < 0) & _occurs(tree, nodes, code, cells)
    empty = np.flatnonzero(lacking)
    if not len(empty):
        return tree
    owner = np.repeat(nodes, tree.n_codes[nodes])[empty]
    added = np.bincount(owner, minlength=tree.n_nodes)
    new = _numbers_with_leaves(tree, added)
    within = np.arange(len(owner)) - np.searchsorted(owner, owner)
    branches = tree.branches.copy()
    branches[entries[empty]] = tree.n_children[owner] + within
    child = np.where(tree.child >= 0, new[tree.child], -1)
    n_children = tree.n_children + added
    changed = replace(
        tree,
        child=child.astype(tree.child.dtype),
        n_children=n_children.astype(tree.n_children.dtype),
        branches=branches,
    )
    return _spread(changed, new, tree.n_nodes + len(empty))


def _numbers_with_leaves(tree: Tree, added: np.ndarray) -> np.ndarray:
    """The numbers of the nodes where the children of each are followed by `added` new leaves."""
    last = np.where(tree.n_children > 0, tree.child + tree.n_children - 1, 0)
    # new leaves right before each node
    before = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.add.at(before, last + 1, added)
    return np.arange(tree.n_nodes) + np.cumsum(before)[:-1]


# what an empty leaf has in the arrays of a tree; zeros in the others
_BLANKS = {"feature": -1, "child": -1, "threshold": np.nan, "table": -1, "missing": -1}


def _spread(tree: Tree, new: np.ndarray, size: int) -> Tree:
    """The nodes of a tree at the numbers `new`, and empty leaves at the others."""
    arrays = {}
    for each in fields(tree):
        old = getattr(tree, each.name)
        if each.name in ("cuts", "branches"):
            arrays[each.name] = old
            continue
        shape = (size, *old.shape[1:])
        array = np.full(shape, _BLANKS.get(each.name, 0), dtype=old.dtype)
        array[new] = old
        arrays[each.name] = array
    return Tree(**arrays)


def without_empty_branches(tree: Tree) -> Tree:
    """The tree without the leaves of categories that no row came to."""
    nodes = np.flatnonzero(tree.kind == CATEGORIES)
    entries, _ = _entries(tree, nodes)
    branch = tree.branches[entries]
    # child of the node of every entry
    first = np.repeat(tree.child[nodes], tree.n_codes[nodes])
    child = first + branch
    empty = (branch >= 0) & (tree.n_rows[child] == 0)
    if not empty.any():
        return tree
    gone = np.zeros(tree.n_nodes, dtype=bool)
    gone[child[empty]] = True
    new = np.cumsum(~gone) - 1
    # branches are numbers of children, counted again
    branches = tree.branches.copy()
    used = branch >= 0
    branches[entries[used]] = new[child[used]] - new[first[used]]
    branches[entries[empty]] = -1
    return _drop_nodes(replace(tree, branches=branches), gone)


def _drop_nodes(tree: Tree, gone: np.ndarray) -> Tree:
    """The tree without some leaves; its `branches` are those of the new tree already."""
    new = np.cumsum(~gone) - 1
    lost = np.bincount(tree.parent[gone], minlength=tree.n_nodes)
    missing = np.where(
        tree.missing >= 0, new[tree.child + tree.missing] - new[tree.child], -1
    )
    new_child = np.where(tree.child >= 0, new[tree.child], -1)
    changed = replace(
        tree,
        child=new_child.astype(tree.child.dtype),
        n_children=(tree.n_children - lost).astype(tree.n_children.dtype),
        missing=missing.astype(tree.missing.dtype),
    )
    arrays = {"cuts": tree.cuts, "branches": tree.branches}
    for each in fields(tree):
        if each.name not in arrays:
            arrays[each.name] = getattr(changed, each.name)[~gone]
    return Tree(**arrays)


def _entries(tree: Tree, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices in `branches` of nodes split by category, and the codes there."""
    count = tree.n_codes[nodes]
    start = np.cumsum(count) - count
    code = np.arange(count.sum()) - np.repeat(start, count)
    return np.repeat(tree.table[nodes], count) + code, code


def _occurs(
    tree: Tree, nodes: np.ndarray, code: np.ndarray, cells: np.ndarray
) -> np.ndarray:
    """Whether some cell of the column that a node is split by has the code."""
    column = np.repeat(tree.feature[nodes], tree.n_codes[nodes])
    occurs = np.zeros(len(code), dtype=bool)
    for j in np.unique(column):
        entries = column == j
        occurs[entries] = np.isin(code[entries], cells[:, j])
    return occurs
