"""Subtree raising: a node's largest branch in its place, the node's rows sent down that branch
again.

Nodes of one depth have no rows in common, so all nodes of a level are judged at once: loops are
over levels and over the steps of rows down the tree, never over rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.trees import (
    LEAF,
    Parts,
    Tree,
    Walk,
    child_nodes,
    class_impurities,
    walk,
)
from lyceum.errors import DataError, SettingError
from lyceum.trees.empty_branches import with_empty_branches, without_empty_branches
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
IMPURITIES = ("entropy", "gini", "misclassification")
EQUAL = 1e-12  # of a weight: sums of fractions that differ by less are equal


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
    if impurity not in IMPURITIES:
        raise SettingError(
            f"impurity={impurity!r} is not known: choose from {', '.join(map(repr, IMPURITIES))}"
        )
    weight = np.asarray(row_weights(weight, len(target)), dtype=np.float64)
    cells = np.asarray(cells)
    whole = with_empty_branches(tree, cells)
    own = Tree(
        **{field.name: getattr(whole, field.name).copy() for field in fields(whole)}
    )
    raising = _Raising(own, cells, np.asarray(target), expected, slack, impurity)
    return without_empty_branches(raising.prune(weight))


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
        divides = (tree.missing < 0) & (tree.kind != LEAF)
        # no row is divided
        self.undivided = not (divides.any() and np.isnan(cells).any())
        self.own = np.zeros(tree.n_nodes)
        self.errors = np.zeros(tree.n_nodes)
        self.ended = np.zeros_like(tree.value)

    def prune(self, weight: np.ndarray) -> Tree:
        rows = np.flatnonzero(weight > 0.0)
        sent = self._walk(
            Parts(rows, np.zeros(len(rows), dtype=np.int64), weight[rows])
        )
        came = np.bincount(self.target[rows], weight[rows], self.tree.value.shape[1])
        if not np.allclose(came, self.tree.value[0]):
            raise DataError(
                "subtree raising needs the rows that the tree was grown on: its classes weigh "
                f"{self.tree.value[0].tolist()}, those of the rows given {came.tolist()}"
            )
        self._note_ends(sent)
        if len(rows):
            self._prune(sent.ends, 0)
        return compact(self.tree)

    def _walk(self, parts: Parts) -> Walk:
        return walk(
            self.tree, self.cells, parts if self.undivided else parts.merge_duplicates()
        )

    def _tables(self, nodes: np.ndarray, *parts: Parts) -> list[np.ndarray]:
        """The class weights of parts at the (rising) nodes; they are at no others."""
        n = len(nodes)
        K = self.tree.value.shape[1]
        index = np.empty(self.tree.n_nodes, dtype=np.int64)
        index[nodes] = np.arange(n)
        at = [index[part.node] * K + self.target[part.row] for part in parts]
        return [
            np.bincount(cell, part.weight, n * K).reshape(n, K)
            for cell, part in zip(at, parts)
        ]

    def _expected_of_ends(self, ended: np.ndarray, arrived: np.ndarray) -> np.ndarray:
        """Errors expected of rows that end at nodes, whose class is that of all rows that came
        there."""
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
        index = ends.node
        for level in range(int(self.depth[index].max()), top - 1, -1):
            came_from = index
            index = np.where(self.depth[index] > level, self.parent[index], index)
            here = np.flatnonzero(
                (self.depth[index] == level) & (self.tree.kind[index] != LEAF)
            )
            if not len(here):
                continue
            leaves, raised = self._judge(
                ends.take(here).move_to(index[here]), came_from[here]
            )
            self._make_leaves(leaves)
            ends = ends.move_to(np.where(self._is_in(index, leaves), index, ends.node))
            up = self._is_in(index, raised)
            if up.any():
                again = self._prune(
                    self._raise(raised, ends.take(up).move_to(index[up])), level
                )
                ends = ends.take(~up).join(again)
                index = np.concatenate((index[~up], self._at_level(again.node, level)))
        return ends

    def _judge(
        self, parts: Parts, came_from: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nodes, of those where the parts are, to make leaves, and those to replace by a
        branch."""
        nodes = np.unique(parts.node)
        each, child = child_nodes(self.tree, nodes)
        subtree = self.own[nodes] + np.bincount(
            each, self.errors[child], minlength=len(nodes)
        )
        self.errors[nodes] = subtree
        value = self.tree.value[nodes]
        leaf = self._expected_of_ends(value, value)
        branch = self._branch_errors(nodes, self._largest(nodes), parts, came_from)
        leaves = (leaf <= subtree + self.slack) & (leaf <= branch + self.slack)
        return nodes[leaves], nodes[~leaves & (branch <= subtree + self.slack)]

    def _largest(self, nodes: np.ndarray) -> np.ndarray:
        """The child of most weight of each node, the last of equals as in C4.5."""
        each, child = child_nodes(self.tree, nodes)
        weight = self.tree.weight[child]
        most = np.maximum.reduceat(weight, np.searchsorted(each, np.arange(len(nodes))))
        largest = np.flatnonzero(weight >= most[each] * (1.0 - EQUAL))
        return child[largest][
            np.searchsorted(each[largest], np.arange(len(nodes)), side="right") - 1
        ]

    def _branch_errors(
        self, nodes: np.ndarray, branch: np.ndarray, parts: Parts, came_from: np.ndarray
    ) -> np.ndarray:
        """Errors expected of the nodes' rows, all sent down the largest branch; inf where that is a
        leaf.

        If no row is divided, those of the branch end where they do now, and only the others are
        sent.
        """
        level = self.depth[nodes[0]]
        to = np.full(self.tree.n_nodes, -1)
        split = self.tree.kind[branch] != LEAF
        to[nodes[split]] = branch[split]
        moves = to[parts.node] >= 0
        if self.undivided:
            moves &= came_from != to[parts.node]
        sent = self._walk(parts.take(moves).move_to(to[parts.node[moves]]))
        touched = np.unique(sent.arrived.node)
        ended, arrived = self._tables(touched, sent.ends, sent.arrived)
        if self.undivided:
            ended = ended + self.ended[touched]
            arrived = arrived + self.tree.value[touched]
        now = self._expected_of_ends(ended, arrived) - (
            self.own[touched] if self.undivided else 0.0
        )
        of = np.searchsorted(nodes, self._at_level(touched, level))
        errors = np.bincount(of, now, minlength=len(nodes)) + (
            self.errors[branch] if self.undivided else 0.0
        )
        return np.where(split, errors, np.inf)

    def _make_leaves(self, nodes: np.ndarray) -> None:
        self.tree.kind[nodes] = LEAF
        self.ended[nodes] = self.tree.value[nodes]
        self.own[nodes] = self._expected_of_ends(self.ended[nodes], self.ended[nodes])
        self.errors[nodes] = self.own[nodes]

    def _raise(self, nodes: np.ndarray, parts: Parts) -> Parts:
        """Put the largest branches in the place of nodes; where their rows end then."""
        tree = self.tree
        branch = self._largest(nodes)
        for name in _SPLIT_ARRAYS:
            array = getattr(tree, name)
            array[nodes] = array[branch]
        tree.kind[branch] = LEAF
        each, child = child_nodes(self.tree, nodes)
        self.parent[child] = nodes[each]
        while len(child):
            self.depth[child] -= 1
            child = child_nodes(self.tree, child)[1]
        sent = self._walk(parts)
        self._describe(sent)
        self._note_ends(sent)
        return sent.ends

    def _describe(self, sent: Walk) -> None:
        """The counts, impurities and gains of the nodes that rows came to anew."""
        tree = self.tree
        came, counts = np.unique(sent.arrived.node, return_counts=True)
        arrived, passed = self._tables(came, sent.arrived, sent.passed)
        tree.value[came] = arrived
        tree.weight[came] = arrived.sum(axis=1)
        tree.n_rows[came] = counts
        tree.impurity[came] = self._impurity(arrived)
        each, child = child_nodes(self.tree, came)
        part = np.zeros((tree.n_nodes, arrived.shape[1]))
        part[came] = passed
        part = part[child]
        known = np.zeros_like(arrived)
        np.add.at(known, each, part)
        left = np.bincount(
            each, part.sum(axis=1) * self._impurity(part), minlength=len(came)
        )
        fall = known.sum(axis=1) * self._impurity(known) - left
        tree.gain[came] = np.where(
            tree.kind[came] == LEAF, 0.0, np.maximum(fall / tree.weight[came], 0.0)
        )

    def _impurity(self, value: np.ndarray) -> np.ndarray:
        return class_impurities(value, self.impurity)

    def _at_level(self, node: np.ndarray, level: int) -> np.ndarray:
        while (deeper := self.depth[node] > level).any():
            node = np.where(deeper, self.parent[node], node)
        return node

    def _is_in(self, index: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        among = np.zeros(self.tree.n_nodes, dtype=bool)
        among[nodes] = True
        return among[index]
