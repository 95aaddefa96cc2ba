"""Subtree raising: a node's largest branch in its place, the node's rows sent down that branch
again.

Nodes of one depth have no rows in common, so all nodes of a level are judged at once: loops are
over levels and over the steps of rows down the tree, never over rows.

A grown tree has no node for a category that no row of a node has: a row of such a category stays at
the node. C4.5 keeps an empty leaf for each, and rows that come to a raised subtree anew fall into
it. So empty leaves are put in before, and those that stayed empty are taken out after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.trees import (
    ARRAYS,
    CATEGORIES,
    LEAF,
    UNDEFINED,
    Parts,
    Tree,
    Walk,
    child_nodes,
    class_impurities,
    walk,
)
from lyceum.errors import DataError, SettingError
from lyceum.trees.pruning.bottom_up import actions, compact

Expected = Callable[[np.ndarray, np.ndarray], np.ndarray]

_SPLIT_ARRAYS = (
    "feature",
    "kind",
    "child",
    "n_children",
    "threshold",
    "table",
    "n_codes",
    "missing",
)
# what an empty leaf has in the arrays of a tree; zeros in the others
_BLANKS = {
    "feature": UNDEFINED,
    "child": -1,
    "threshold": UNDEFINED,
    "table": -1,
    "missing": -1,
}
_BY_NODE = [name for name in ARRAYS if name not in ("cuts", "branches")]
_IMPURITIES = ("entropy", "gini", "misclassification")
# of a weight: sums of fractions that differ by less are equal
_EQUAL = 1e-12


def raise_subtrees(
    tree: Tree,
    cells: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    *,
    expected: Expected,
    slack: float,
    impurity: str,
) -> Tree:
    """The tree with nodes replaced, from the bottom up, by a leaf or by their largest branch.

    `expected(errors, weight)` is the number of errors to expect of leaves. A leaf is taken if it is
    expected to make at most `slack` errors more than the subtree and than the branch, else the
    branch if it is expected to make at most `slack` more than the subtree; a branch put in a node's
    place is pruned again. Rows that come to it and have a category that none of its own rows had
    get a leaf of their own.
    """
    if impurity not in _IMPURITIES:
        choices = ", ".join(map(repr, _IMPURITIES))
        raise SettingError(f"impurity={impurity!r} is not known: choose from {choices}")
    weight = np.asarray(row_weights(weight, len(target)), dtype=np.float64)
    cells = np.asarray(cells)
    whole = _with_empty_branches(tree, cells)
    # _Raising writes into the arrays of its tree
    arrays = {name: getattr(whole, name).copy() for name in ARRAYS}
    raising = _Raising(
        replace(whole, **arrays), cells, np.asarray(target), expected, slack, impurity
    )
    return _without_empty_branches(raising.prune(weight))


class _Raising:
    """A tree in the course of pruning.

    own[i] errors are expected of the rows that end at node i, whose class weights are ended[i];
    errors[i] of all rows that come to it.
    """

    def __init__(
        self, tree: Tree, cells, target, expected: Expected, slack: float, impurity
    ):
        self.tree = tree
        self.parent = tree.parent
        self.depth = tree.depths
        self.cells = cells
        self.target = target
        self.expected = expected
        self.slack = slack
        self.impurity = impurity
        # Without missing cells, or where every split sends them one way, no row is divided: a row
        # then is at one node of a level, and only rows that move need to be sent again.
        divides = (tree.missing < 0) & (tree.kind != LEAF)
        self.undivided = not (divides.any() and np.isnan(cells).any())
        self.own = np.zeros(tree.n_nodes)
        self.errors = np.zeros(tree.n_nodes)
        self.ended = np.zeros_like(tree.node_values)

    def prune(self, weight: np.ndarray) -> Tree:
        rows = np.flatnonzero(weight > 0.0)
        root = np.zeros(len(rows), dtype=np.int64)
        sent = self._walk(Parts(rows, root, weight[rows]))
        n_classes = self.tree.node_values.shape[1]
        came = np.bincount(self.target[rows], weight[rows], n_classes)
        if not np.allclose(came, self.tree.node_values[0]):
            raise DataError(
                "subtree raising needs the rows that the tree was grown on: its classes weigh "
                f"{self.tree.node_values[0].tolist()}, those of the rows given {came.tolist()}"
            )
        self._note_ends(sent)
        if len(rows):
            self._prune(sent.ends, 0)
        return compact(self.tree)

    def _walk(self, parts: Parts) -> Walk:
        if not self.undivided:
            parts = parts.merge_duplicates()
        return walk(self.tree, self.cells, parts)

    def _tables(self, nodes: np.ndarray, *parts: Parts) -> list[np.ndarray]:
        """The class weights of parts at the (rising) nodes; they are at no others."""
        n = len(nodes)
        K = self.tree.node_values.shape[1]
        index = np.empty(self.tree.n_nodes, dtype=np.int64)
        index[nodes] = np.arange(n)
        tables = []
        for part in parts:
            cell = index[part.node] * K + self.target[part.row]
            tables.append(np.bincount(cell, part.weight, n * K).reshape(n, K))
        return tables

    def _expected_of_ends(self, ended: np.ndarray, arrived: np.ndarray) -> np.ndarray:
        """Errors expected of rows that end at nodes, whose class is that of all rows that came
        there."""
        # E = N - right: the weight of the rows that end here and are of another class
        weight = ended.sum(axis=1)
        right = ended[np.arange(len(ended)), actions(arrived)]
        return np.where(weight > 0.0, self.expected(weight - right, weight), 0.0)

    def _note_ends(self, sent: Walk) -> None:
        came = np.unique(sent.arrived.node)
        self.ended[came], arrived = self._tables(came, sent.ends, sent.arrived)
        self.own[came] = self._expected_of_ends(self.ended[came], arrived)
        self.errors[came] = self.own[came]

    # -- pruning, level by level -------------------------------------------------------

    def _prune(self, ends: Parts, top: int) -> Parts:
        """Prune the nodes of depth `top` that these rows end below; where the rows end then."""
        # node[i] is the node of the level, or above it, that part i of a row passes; ends.node[i]
        # the one where it ends
        node = ends.node
        for level in range(int(self.depth[node].max()), top - 1, -1):
            came_from = node
            node = np.where(self.depth[node] > level, self.parent[node], node)
            is_inner = self.tree.kind[node] != LEAF
            parts = np.flatnonzero((self.depth[node] == level) & is_inner)
            if not len(parts):
                continue
            arrived = ends.take(parts).move_to(node[parts])
            leaves, raised = self._judge(arrived, came_from[parts])
            self._make_leaves(leaves)
            ends = ends.move_to(np.where(self._is_in(node, leaves), node, ends.node))
            # a raised branch is at this level now: it is judged again with all its rows
            moves = self._is_in(node, raised)
            if moves.any():
                sent = self._raise(raised, ends.take(moves).move_to(node[moves]))
                again = self._prune(sent, level)
                ends = ends.take(~moves).join(again)
                node = np.concatenate((node[~moves], self._at_level(again.node, level)))
        return ends

    def _judge(
        self, parts: Parts, came_from: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nodes, of those where the parts are, to make leaves, and those to replace by a
        branch."""
        nodes = np.unique(parts.node)
        owner, child = child_nodes(self.tree, nodes)
        below = np.bincount(owner, self.errors[child], minlength=len(nodes))
        subtree = self.own[nodes] + below
        self.errors[nodes] = subtree
        # three choices: the subtree as it is, a leaf, or the largest branch in its place
        value = self.tree.node_values[nodes]
        leaf = self._expected_of_ends(value, value)
        branch = self._branch_errors(nodes, self._largest(nodes), parts, came_from)
        leaves = (leaf <= subtree + self.slack) & (leaf <= branch + self.slack)
        return nodes[leaves], nodes[~leaves & (branch <= subtree + self.slack)]

    def _largest(self, nodes: np.ndarray) -> np.ndarray:
        """The child of most weight of each node, the last of equals as in C4.5."""
        owner, child = child_nodes(self.tree, nodes)
        numbers = np.arange(len(nodes))
        weight = self.tree.weight[child]
        most = np.maximum.reduceat(weight, np.searchsorted(owner, numbers))
        largest = np.flatnonzero(weight >= most[owner] * (1.0 - _EQUAL))
        last = np.searchsorted(owner[largest], numbers, side="right") - 1
        return child[largest][last]

    def _branch_errors(
        self, nodes: np.ndarray, branch: np.ndarray, parts: Parts, came_from: np.ndarray
    ) -> np.ndarray:
        """Errors expected of the nodes' rows, all sent down the largest branch; inf where that is a
        leaf.

        If no row is divided, those of the branch end where they do now, and only the others are
        sent.
        """
        destination = np.full(self.tree.n_nodes, -1)
        is_split = self.tree.kind[branch] != LEAF
        destination[nodes[is_split]] = branch[is_split]
        moves = destination[parts.node] >= 0
        if self.undivided:
            moves &= came_from != destination[parts.node]
        sent = self._walk(parts.take(moves).move_to(destination[parts.node[moves]]))
        touched = np.unique(sent.arrived.node)
        ended, arrived = self._tables(touched, sent.ends, sent.arrived)
        before = 0.0
        branch_errors = 0.0
        if self.undivided:
            # the rows of the branch stay: its errors change only at nodes that others come to
            ended = ended + self.ended[touched]
            arrived = arrived + self.tree.node_values[touched]
            before = self.own[touched]
            branch_errors = self.errors[branch]
        change = self._expected_of_ends(ended, arrived) - before
        level = self.depth[nodes[0]]
        owner = np.searchsorted(nodes, self._at_level(touched, level))
        errors = np.bincount(owner, change, minlength=len(nodes)) + branch_errors
        return np.where(is_split, errors, np.inf)

    def _make_leaves(self, nodes: np.ndarray) -> None:
        self.tree.kind[nodes] = LEAF
        self.ended[nodes] = self.tree.node_values[nodes]
        self.own[nodes] = self._expected_of_ends(self.ended[nodes], self.ended[nodes])
        self.errors[nodes] = self.own[nodes]

    def _raise(self, nodes: np.ndarray, parts: Parts) -> Parts:
        """Put the largest branches in the place of nodes; where their rows end then."""
        tree = self.tree
        branch = self._largest(nodes)
        # a node takes over the split of its branch; what it says of its rows is found again below
        for name in _SPLIT_ARRAYS:
            array = getattr(tree, name)
            array[nodes] = array[branch]
        # the old place of the branch is cut off from the root; its nodes are one level higher now
        tree.kind[branch] = LEAF
        owner, child = child_nodes(tree, nodes)
        self.parent[child] = nodes[owner]
        while len(child):
            self.depth[child] -= 1
            child = child_nodes(tree, child)[1]
        sent = self._walk(parts)
        self._describe(sent)
        self._note_ends(sent)
        return sent.ends

    def _describe(self, sent: Walk) -> None:
        """The counts, impurities and gains of the nodes that rows came to anew."""
        tree = self.tree
        came, counts = np.unique(sent.arrived.node, return_counts=True)
        arrived, passed = self._tables(came, sent.arrived, sent.passed)
        tree.node_values[came] = arrived
        tree.weight[came] = arrived.sum(axis=1)
        tree.n_rows[came] = counts
        tree.impurity[came] = class_impurities(arrived, self.impurity)
        # The gain is (n' I' − Σ n_i I_i) / n over the children i, where n' and I' are of the rows
        # that were passed on by a known cell (C4.5), and n of all that came.
        owner, child = child_nodes(tree, came)
        passed_to = np.zeros((tree.n_nodes, arrived.shape[1]))
        passed_to[came] = passed
        part = passed_to[child]
        known = np.zeros_like(arrived)
        np.add.at(known, owner, part)
        impurity_below = part.sum(axis=1) * class_impurities(part, self.impurity)
        below = np.bincount(owner, impurity_below, minlength=len(came))
        fall = known.sum(axis=1) * class_impurities(known, self.impurity) - below
        gain = np.maximum(fall / tree.weight[came], 0.0)
        tree.gain[came] = np.where(tree.kind[came] == LEAF, 0.0, gain)

    def _at_level(self, node: np.ndarray, level: int) -> np.ndarray:
        """The nodes of this level that the (deeper) nodes are below."""
        while (deeper := self.depth[node] > level).any():
            node = np.where(deeper, self.parent[node], node)
        return node

    def _is_in(self, index: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        among = np.zeros(self.tree.n_nodes, dtype=bool)
        among[nodes] = True
        return among[index]


# -- empty branches --------------------------------------------------------------------


def _with_empty_branches(tree: Tree, cells: np.ndarray) -> Tree:
    """The tree with an empty leaf for every category of `cells` that a node split by category has
    not."""
    owner, entries, code = _category_entries(tree)
    occurs = _occurs(tree.feature[owner], code, cells)
    empty = np.flatnonzero((tree.branches[entries] < 0) & occurs)
    if not len(empty):
        return tree
    owner = owner[empty]
    n_added = np.bincount(owner, minlength=tree.n_nodes)
    new = _numbers_with_leaves(tree, n_added)
    within = np.arange(len(owner)) - np.searchsorted(owner, owner)
    branches = tree.branches.copy()
    branches[entries[empty]] = tree.n_children[owner] + within
    changed = _with_children(tree, new, tree.n_children + n_added)
    n_nodes = tree.n_nodes + len(empty)
    # the nodes at their new numbers, and empty leaves at the others
    arrays: dict[str, Any] = {"cuts": tree.cuts, "branches": branches}
    for name in ARRAYS:
        if name not in arrays:
            old = getattr(changed, name)
            blank = _BLANKS.get(name, 0)
            array = np.full((n_nodes, *old.shape[1:]), blank, dtype=old.dtype)
            array[new] = old
            arrays[name] = array
    return replace(tree, **arrays)


def _occurs(column: np.ndarray, code: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Whether some cell of the column has the code."""
    occurs = np.zeros(len(code), dtype=bool)
    for j in np.unique(column):
        of_column = column == j
        occurs[of_column] = np.isin(code[of_column], cells[:, j])
    return occurs


def _numbers_with_leaves(tree: Tree, n_added: np.ndarray) -> np.ndarray:
    """The numbers of the nodes where the children of each are followed by new leaves."""
    # every node after the last child of a node moves up by as many as the node gets
    last_child = np.where(tree.n_children > 0, tree.child + tree.n_children - 1, 0)
    inserted = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    np.add.at(inserted, last_child + 1, n_added)
    return np.arange(tree.n_nodes) + np.cumsum(inserted)[:-1]


def _without_empty_branches(tree: Tree) -> Tree:
    """The tree without the leaves of categories that no row came to."""
    owner, entries, _ = _category_entries(tree)
    branch = tree.branches[entries]
    first_child = tree.child[owner]
    child = first_child + branch
    empty = (branch >= 0) & (tree.n_rows[child] == 0)
    if not empty.any():
        return tree
    gone = np.zeros(tree.n_nodes, dtype=bool)
    gone[child[empty]] = True
    new = np.cumsum(~gone) - 1
    # branches, and the branch of missing cells, are numbers of children: these are counted again
    branches = tree.branches.copy()
    used = branch >= 0
    branches[entries[used]] = new[child[used]] - new[first_child[used]]
    branches[entries[empty]] = -1
    missing_child = new[tree.child + tree.missing] - new[tree.child]
    missing = np.where(tree.missing >= 0, missing_child, -1)
    n_lost = np.bincount(tree.parent[gone], minlength=tree.n_nodes)
    changed = _with_children(tree, new, tree.n_children - n_lost)
    changed = replace(changed, missing=missing.astype(tree.missing.dtype))
    arrays: dict[str, Any] = {n: getattr(changed, n)[~gone] for n in _BY_NODE}
    return replace(tree, branches=branches, **arrays)


def _with_children(tree: Tree, new: np.ndarray, n_children: np.ndarray) -> Tree:
    """The tree with first children at their new numbers, and as many children as these."""
    child = np.where(tree.child >= 0, new[tree.child], -1)
    return replace(
        tree,
        child=child.astype(tree.child.dtype),
        n_children=n_children.astype(tree.n_children.dtype),
    )


def _category_entries(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all nodes split by category: the node, the index in `branches` and the code of every
    entry."""
    nodes = np.flatnonzero(tree.kind == CATEGORIES)
    count = tree.n_codes[nodes]
    owner = np.repeat(nodes, count)
    start = np.cumsum(count) - count
    code = np.arange(count.sum()) - np.repeat(start, count)
    return owner, tree.table[owner] + code, code
