"""Prunings the slow way: all there are, and C4.5's subtree raising as the recursion that defines
it."""

from dataclasses import replace
from itertools import product

import numpy as np
from tests.trees.growth_reference import split_of
from tests.trees.tree_reference import Referee
from tests.trees.tree_reference_parts import Node, is_missing, weight_of

from lyceum._core.trees import CATEGORIES, INTERVALS, LEAF, Tree
from lyceum.trees.pruning.confidence import SLACK, upper_errors


def all_prunings(tree, node=0):
    """The leaves of every tree that pruning below `node` can give."""
    found = [(node,)]
    if tree.kind[node] != LEAF:
        below = [all_prunings(tree, child) for child in tree.children(node)]
        found += [sum(parts, ()) for parts in product(*below)]
    return found


def leaves_under(tree, pruned, node=0, at=0):
    """The nodes of `tree` that are leaves of `pruned`."""
    if pruned.kind[at] == LEAF:
        return [node]
    pairs = zip(tree.children(node), pruned.children(at))
    return [
        leaf
        for child, there in pairs
        for leaf in leaves_under(tree, pruned, child, there)
    ]


class J48:
    """C4.5's pruning, rows in hand: a leaf, or the largest branch put in place and pruned again."""

    def __init__(self, referee: Referee, tree: Tree, level: float):
        self.referee, self.level = referee, level
        self.root = self._node(tree, 0, referee.root(), 0)

    def _node(self, tree, number, rows, depth):
        node = Node(rows, depth)
        if tree.kind[number] != LEAF:
            node.split = split_of(tree, number)
            parts = self.referee.send(node.split, rows)
            node.children = [
                self._node(tree, child, part, depth + 1)
                for child, part in zip(tree.children(number), parts)
            ]
            if node.split.kind == CATEGORIES:
                self._add_empty_leaves(node)
        return node

    def _add_empty_leaves(self, node):
        """One for every category of the table that no row of the node has."""
        cells = (row[node.split.column] for row in self.referee.cells)
        codes = sorted(
            {int(cell) for cell in cells if not is_missing(cell)}
            - set(node.split.branch)
        )
        for code in codes:
            branch = {**node.split.branch, code: len(node.children)}
            node.split = replace(
                node.split, branch=branch, n_children=len(node.children) + 1
            )
            node.children.append(Node([], node.depth + 1))

    def _drop_empty_leaves(self, node):
        if node.split is None:
            return
        if node.split.kind == CATEGORIES:
            here = [k for k, child in enumerate(node.children) if child.rows]
            branch = {
                code: here.index(k)
                for code, k in node.split.branch.items()
                if k in here
            }
            missing = here.index(node.split.missing) if node.split.missing >= 0 else -1
            node.split = replace(
                node.split, branch=branch, n_children=len(here), missing=missing
            )
            node.children = [node.children[k] for k in here]
        for child in node.children:
            self._drop_empty_leaves(child)

    def bound(self, rows, of=None):
        """Errors expected of rows that all get the class of most of `of`."""
        if not rows:
            return 0.0
        counts, by = (
            self.referee.value(rows),
            self.referee.value(rows if of is None else of),
        )
        wrong = sum(counts) - counts[by.index(max(by))]
        return float(upper_errors(wrong, sum(counts), self.level))

    def staying(self, node, rows):
        """Rows of categories without a branch."""
        gone = {i for part in self.referee.send(node.split, rows) for i, _ in part}
        return [(i, w) for i, w in rows if i not in gone]

    def errors(self, node, rows):
        if node.split is None:
            return self.bound(rows)
        parts = self.referee.send(node.split, rows)
        own = self.bound(self.staying(node, rows), rows)
        return own + sum(
            self.errors(child, part) for child, part in zip(node.children, parts)
        )

    def prune(self, node):
        if node.split is None:
            return
        for child in node.children:
            self.prune(child)
        weights = [weight_of(child.rows) for child in node.children]
        last = max(
            k
            for k, weight in enumerate(weights)
            if weight >= max(weights) * (1 - 1e-12)
        )
        largest = node.children[last]
        leaf, whole = self.bound(node.rows), self.errors(node, node.rows)
        branch = self.errors(largest, node.rows)
        if leaf <= whole + SLACK and leaf <= branch + SLACK:
            node.split, node.children = None, []
        elif branch <= whole + SLACK:
            node.split, node.children = largest.split, largest.children
            self.fill(node, node.rows)
            self.prune(node)

    def fill(self, node, rows):
        node.rows = rows
        if node.split is not None:
            for child, part in zip(node.children, self.referee.send(node.split, rows)):
                self.fill(child, part)

    def pruned(self) -> Tree:
        self.prune(self.root)
        self._drop_empty_leaves(self.root)
        self._gains(self.root)
        nodes, child = [self.root], {}
        for node in nodes:
            if node.split is not None:
                child[id(node)] = len(nodes)
                nodes.extend(node.children)
        return self.referee._arrays(nodes, child)

    def _gains(self, node):
        if node.split is not None:
            known = self.referee.gain(node.split, node.rows)
            node.split = type(node.split)(
                **{**vars(node.split), "gain": max(known, 0.0)}
            )
            for child in node.children:
                self._gains(child)


def interval_tree() -> Tree:
    """Column 0 in three intervals; the first and the last of them by column 1, in three and in
    three."""
    kind = np.array(
        [INTERVALS, INTERVALS, LEAF, INTERVALS, *[LEAF] * 6], dtype=np.uint8
    )
    inner = kind != LEAF
    n = len(kind)
    return Tree(
        feature=np.array([0, 1, -1, 1, *[-1] * 6], dtype=np.int32),
        kind=kind,
        child=np.array([1, 4, -1, 7, *[-1] * 6], dtype=np.int32),
        n_children=np.where(inner, 3, 0).astype(np.int32),
        threshold=np.full(n, np.nan),
        table=np.array([0, 2, -1, 4, *[-1] * 6], dtype=np.int32),
        n_codes=np.zeros(n, dtype=np.int32),
        missing=np.full(n, -1, dtype=np.int32),
        cuts=np.array([0.0, 1.0, 3.0, 4.0, 2.0, 5.0]),
        branches=np.empty(0, dtype=np.int32),
        node_values=np.array(
            [
                [6.0, 6.0],
                [2, 2],
                [2, 2],
                [2, 2],
                [1, 0],
                [1, 1],
                [0, 1],
                [1, 0],
                [0, 2],
                [1, 0],
            ]
        ),
        weight=np.array([12.0, 4, 4, 4, 1, 2, 1, 1, 2, 1]),
        n_rows=np.array([12, 4, 4, 4, 1, 2, 1, 1, 2, 1]),
        impurity=np.zeros(n),
        gain=np.where(inner, 0.1, 0.0),
    )
