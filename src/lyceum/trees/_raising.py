"""Subtree raising: a node's largest branch in its place, the node's rows sent down that branch again.

Nodes of one depth have no rows in common, so a whole level is judged at once: loops are over levels and over
the steps of rows down the tree, never over rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from lyceum.errors import DataError
from lyceum.trees._pruning import actions, compact
from lyceum.trees._tree import CATEGORIES, INTERVALS, LEAF, THRESHOLD, Tree

__all__ = ["raise_subtrees"]

Expected = Callable[[np.ndarray, np.ndarray], np.ndarray]

IMPURITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "entropy": lambda p: -(p * np.log2(np.where(p > 0.0, p, 1.0))).sum(axis=1),
    "gini": lambda p: 1.0 - (p * p).sum(axis=1),
    "misclassification": lambda p: 1.0 - p.max(axis=1),
}


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

    `expected(errors, weight)` says how many errors to expect of leaves. A leaf is taken if it is expected to
    make at most `slack` errors more than the subtree and than the branch, else the branch if it is expected
    to make at most `slack` more than the subtree; a branch put in a node's place is pruned again.
    """
    if impurity not in IMPURITIES:
        raise DataError(f"impurity={impurity!r} is not known: choose from {', '.join(map(repr, IMPURITIES))}")
    weight = np.ones(len(target)) if weight is None else np.asarray(weight, dtype=np.float64)
    own = Tree(**{field.name: getattr(tree, field.name).copy() for field in fields(tree)})
    raising = _Raising(own, np.asarray(cells), np.asarray(target), expected, slack, IMPURITIES[impurity])
    return raising.pruned(weight)


class Parts(NamedTuple):
    """Rows, in part or whole, at nodes."""

    row: np.ndarray
    node: np.ndarray
    weight: np.ndarray

    def take(self, which: np.ndarray) -> Parts:
        return Parts(self.row[which], self.node[which], self.weight[which])

    def moved(self, node: np.ndarray) -> Parts:
        return Parts(self.row, node, self.weight)

    def join(self, other: Parts) -> Parts:
        return Parts(*map(np.concatenate, zip(self, other)))

    def merged(self) -> Parts:
        """The parts of a row that are at one node made one."""
        parts = self.take(np.lexsort((self.row, self.node)))
        starts = np.flatnonzero(np.append(True, (np.diff(parts.row) != 0) | (np.diff(parts.node) != 0)))
        return Parts(parts.row[starts], parts.node[starts], np.add.reduceat(parts.weight, starts))


@dataclass(slots=True)
class Walk:
    """What came of rows sent down a tree."""

    ends: Parts  # where they ended
    arrived: np.ndarray  # (n_nodes, K), class weights of the rows that came to each node
    passed: np.ndarray  # (n_nodes, K), of those that were not divided at its parent
    n_rows: np.ndarray  # (n_nodes,)


class _Raising:
    """A tree in the course of pruning.

    own[i] errors are expected of the rows that end at node i, whose class weights are ended[i]; errors[i] of
    all rows that come to it.
    """

    def __init__(self, tree: Tree, cells, target, expected: Expected, slack: float, impurity):
        self.tree, self.parent, self.depth = tree, tree.parent, tree.depths
        self.cells, self.target = cells, target
        self.expected, self.slack, self.impurity = expected, slack, impurity
        self.whole = not np.isnan(cells).any()  # then no row is divided
        self.own, self.errors = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
        self.ended = np.zeros_like(tree.value)

    def pruned(self, weight: np.ndarray) -> Tree:
        rows = np.flatnonzero(weight > 0.0)
        walk = self._walk(Parts(rows, np.zeros(len(rows), dtype=np.int64), weight[rows]))
        if not np.allclose(walk.arrived[0], self.tree.value[0]):
            raise DataError(
                "subtree raising needs the rows that the tree was grown on: its classes weigh "
                f"{self.tree.value[0].tolist()}, those of the rows given {walk.arrived[0].tolist()}"
            )
        self._note_ends(walk)
        if len(rows):
            self._prune(walk.ends, 0)
        return compact(self.tree)

    # -- rows down the tree -----------------------------------------------------------------------------

    def _walk(self, parts: Parts) -> Walk:
        """Send rows down from where they are; all rows of a node come to it in the same step."""
        n, K = self.tree.value.shape
        ended = []
        walk = Walk(parts, np.zeros((n, K)), np.zeros((n, K)), np.zeros(n, dtype=np.int64))
        while len(parts.row):
            walk.arrived += self._table(parts)
            walk.n_rows += np.bincount(parts.node, minlength=n)
            to, divided = self._next(parts)
            on = to >= 0
            ended.append(parts.take(~on & ~divided))
            passed = parts.take(on).moved(to[on])
            table = self._table(passed)
            walk.passed += table
            parts = passed.join(self._spread(parts.take(divided), table)) if divided.any() else passed
        walk.ends = Parts(*map(np.concatenate, zip(*ended))) if ended else parts
        return walk

    def _next(self, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
        """The child that each part goes to, -1 if it stays or is divided; and whether it is divided."""
        tree, node = self.tree, parts.node
        kind = tree.kind[node]
        cell = self.cells[parts.row, tree.feature[node]].astype(np.float64)
        missing = np.isnan(cell) & (kind != LEAF)
        branch = np.where(missing, tree.missing[node], -1)
        at = np.flatnonzero((kind == THRESHOLD) & ~missing)
        branch[at] = cell[at] > tree.threshold[node[at]]
        at = np.flatnonzero((kind == INTERVALS) & ~missing)
        branch[at] = self._intervals(node[at], cell[at])
        at = np.flatnonzero((kind >= CATEGORIES) & ~missing)
        code = cell[at].astype(np.int64)
        fits = (code >= 0) & (code < tree.n_codes[node[at]])
        at, code = at[fits], code[fits]
        branch[at] = tree.branches[tree.table[node[at]] + code]
        return np.where(branch >= 0, tree.child[node] + branch, -1), missing & (branch < 0)

    def _intervals(self, node: np.ndarray, cell: np.ndarray) -> np.ndarray:
        below = np.zeros(len(node), dtype=np.int64)
        n_cuts, first = self.tree.n_children[node] - 1, self.tree.table[node]
        for k in range(int(n_cuts.max(initial=0))):
            has = np.flatnonzero(k < n_cuts)
            below[has] += self.tree.cuts[first[has] + k] < cell[has]
        return below

    def _spread(self, parts: Parts, passed: np.ndarray) -> Parts:
        """Divide parts among all children by the weight of the rows that were not divided."""
        each, child = self._children(parts.node)
        known = passed.sum(axis=1)[child]
        none = np.bincount(each, known, minlength=len(parts.row)) <= 0.0
        by = np.where(none[each], self.tree.weight[child], known)
        share = by / np.bincount(each, by, minlength=len(parts.row))[each]
        out = Parts(parts.row[each], child, parts.weight[each] * share)
        return out.take(out.weight > 0.0)

    def _children(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All children of nodes, and the place among `nodes` of the parent of each."""
        counts = np.where(self.tree.kind[nodes] == LEAF, 0, self.tree.n_children[nodes])
        each = np.repeat(np.arange(len(nodes)), counts)
        within = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts)
        return each, self.tree.child[nodes][each] + within

    def _table(self, parts: Parts) -> np.ndarray:
        """The class weights of parts, by node."""
        n, K = self.tree.value.shape
        return np.bincount(parts.node * K + self.target[parts.row], parts.weight, n * K).reshape(n, K)

    def _expected_of_ends(self, ended: np.ndarray, arrived: np.ndarray) -> np.ndarray:
        """Errors expected of rows that end at nodes, whose class is that of all rows that came there."""
        weight = ended.sum(axis=1)
        right = ended[np.arange(len(ended)), actions(arrived)]
        return np.where(weight > 0.0, self.expected(weight - right, weight), 0.0)

    def _note_ends(self, walk: Walk) -> None:
        came = walk.n_rows > 0
        self.ended[came] = self._table(walk.ends)[came]
        self.own[came] = self._expected_of_ends(self.ended[came], walk.arrived[came])
        self.errors[came] = self.own[came]

    # -- pruning, level by level ------------------------------------------------------------------------

    def _prune(self, ends: Parts, top: int) -> Parts:
        """Prune the nodes of depth `top` that these rows end below; where the rows end then."""
        place = ends.node
        for level in range(int(self.depth[place].max()), top - 1, -1):
            came_from = place
            place = np.where(self.depth[place] > level, self.parent[place], place)
            here = np.flatnonzero((self.depth[place] == level) & (self.tree.kind[place] != LEAF))
            if not len(here):
                continue
            leaves, raised = self._judge(ends.take(here).moved(place[here]), came_from[here])
            self._make_leaves(leaves)
            ends = ends.moved(np.where(self._is_in(place, leaves), place, ends.node))
            up = self._is_in(place, raised)
            if up.any():
                again = self._prune(self._raise(raised, ends.take(up).moved(place[up])), level)
                ends = ends.take(~up).join(again)
                place = np.concatenate((place[~up], self._at_level(again.node, level)))
        return ends

    def _judge(self, parts: Parts, came_from: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes, of those where the parts are, to make leaves, and those to replace by a branch."""
        nodes = np.unique(parts.node)
        each, child = self._children(nodes)
        whole = self.own[nodes] + np.bincount(each, self.errors[child], minlength=len(nodes))
        self.errors[nodes] = whole
        value = self.tree.value[nodes]
        leaf = self._expected_of_ends(value, value)
        branch = self._branch_errors(nodes, self._largest(nodes), parts, came_from)
        leaves = (leaf <= whole + self.slack) & (leaf <= branch + self.slack)
        return nodes[leaves], nodes[~leaves & (branch <= whole + self.slack)]

    def _largest(self, nodes: np.ndarray) -> np.ndarray:
        """The child of most weight of each node, the first of equals."""
        each, child = self._children(nodes)
        order = np.lexsort((child, -self.tree.weight[child], each))
        return child[order][np.flatnonzero(np.append(True, np.diff(each)))]

    def _branch_errors(
        self, nodes: np.ndarray, branch: np.ndarray, parts: Parts, came_from: np.ndarray
    ) -> np.ndarray:
        """Errors expected of the nodes' rows, all sent down the largest branch; inf where that is a leaf.

        If no row is divided, those of the branch end where they do now, and only the others are sent.
        """
        level = self.depth[nodes[0]]
        to = np.full(self.tree.n_nodes, -1)
        split = self.tree.kind[branch] != LEAF
        to[nodes[split]] = branch[split]
        moves = to[parts.node] >= 0
        if self.whole:
            moves &= came_from != to[parts.node]
        sent = parts.take(moves).moved(to[parts.node[moves]])
        walk = self._walk(sent if self.whole or not len(sent.row) else sent.merged())
        touched = np.flatnonzero(walk.n_rows)
        ended, arrived = self._table(walk.ends)[touched], walk.arrived[touched]
        if self.whole:
            ended, arrived = ended + self.ended[touched], arrived + self.tree.value[touched]
        now = self._expected_of_ends(ended, arrived) - (self.own[touched] if self.whole else 0.0)
        of = np.searchsorted(nodes, self._at_level(touched, level))
        errors = np.bincount(of, now, minlength=len(nodes)) + (self.errors[branch] if self.whole else 0.0)
        return np.where(split, errors, np.inf)

    def _make_leaves(self, nodes: np.ndarray) -> None:
        self.tree.kind[nodes] = LEAF
        self.ended[nodes] = self.tree.value[nodes]
        self.own[nodes] = self._expected_of_ends(self.ended[nodes], self.ended[nodes])
        self.errors[nodes] = self.own[nodes]

    def _raise(self, nodes: np.ndarray, parts: Parts) -> Parts:
        """Put the largest branches in the place of nodes; where their rows end then."""
        tree, branch = self.tree, self._largest(nodes)
        for part in (tree.feature, tree.kind, tree.child, tree.n_children, tree.threshold, tree.table,
                     tree.n_codes, tree.missing):  # fmt: skip
            part[nodes] = part[branch]
        tree.kind[branch] = LEAF
        each, child = self._children(nodes)
        self.parent[child] = nodes[each]
        while len(child):
            self.depth[child] -= 1
            child = self._children(child)[1]
        walk = self._walk(parts if self.whole else parts.merged())
        self._describe(walk)
        self._note_ends(walk)
        return walk.ends

    def _describe(self, walk: Walk) -> None:
        """The counts, impurities and gains of the nodes that rows came to anew."""
        tree, came = self.tree, np.flatnonzero(walk.n_rows)
        tree.value[came] = walk.arrived[came]
        tree.weight[came] = walk.arrived[came].sum(axis=1)
        tree.n_rows[came] = walk.n_rows[came]
        tree.impurity[came] = self._impurity(walk.arrived[came])
        each, child = self._children(came)
        part = walk.passed[child]
        known = np.zeros((len(came), part.shape[1]))
        np.add.at(known, each, part)
        left = np.bincount(each, part.sum(axis=1) * self._impurity(part), minlength=len(came))
        fall = known.sum(axis=1) * self._impurity(known) - left
        tree.gain[came] = np.where(tree.kind[came] == LEAF, 0.0, np.maximum(fall / tree.weight[came], 0.0))

    def _impurity(self, value: np.ndarray) -> np.ndarray:
        total = value.sum(axis=1, keepdims=True)
        return self.impurity(value / np.where(total > 0.0, total, 1.0))

    def _at_level(self, node: np.ndarray, level: int) -> np.ndarray:
        while (deeper := self.depth[node] > level).any():
            node = np.where(deeper, self.parent[node], node)
        return node

    def _is_in(self, place: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        among = np.zeros(self.tree.n_nodes, dtype=bool)
        among[nodes] = True
        return among[place]
