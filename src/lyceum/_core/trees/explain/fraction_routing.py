"""Rows sent down a tree from any of its nodes, divided anew where cells are missing.

A row of `fit` whose cell is missing is divided by the weights of the rows whose cell is not. Those
weights change when other rows come to a node, and `walk` finds them as it goes; `_route` takes them
as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lyceum._core.trees.tree import CATEGORIES, INTERVALS, LEAF, THRESHOLD, Tree


class Parts(NamedTuple):
    """Rows, divided or not, at nodes."""

    row: np.ndarray
    node: np.ndarray
    weight: np.ndarray

    def take(self, which: np.ndarray | slice) -> Parts:
        return Parts(self.row[which], self.node[which], self.weight[which])

    def move_to(self, node: np.ndarray) -> Parts:
        return Parts(self.row, node, self.weight)

    def join(self, other: Parts) -> Parts:
        return _join([self, other])

    def merge_duplicates(self) -> Parts:
        """Parts of the same row at the same node are added up."""
        if not len(self.row):
            return self
        parts = self.take(np.lexsort((self.row, self.node)))
        is_other = (np.diff(parts.row) != 0) | (np.diff(parts.node) != 0)
        starts = np.flatnonzero(np.append(True, is_other))
        weight = np.add.reduceat(parts.weight, starts)
        return Parts(parts.row[starts], parts.node[starts], weight)


def _join(parts: Iterable[Parts]) -> Parts:
    return Parts(*map(np.concatenate, zip(*parts)))


class Walk(NamedTuple):
    """The outcome of rows sent down a tree."""

    ends: Parts  # where they ended
    arrived: Parts  # where they came to
    passed: Parts  # where they came to undivided


def walk(tree: Tree, cells: np.ndarray, parts: Parts) -> Walk:
    """Send rows down from where they are; all rows of a node come to it in the same step."""
    ended = [parts.take(slice(0))]
    arrived = [parts]
    passed = [parts.take(slice(0))]
    # one level per step, as the shares of divided rows need all others of their node
    while len(parts.row):
        child, divided = _next(tree, cells, parts)
        goes_on = child >= 0
        ended.append(parts.take(~goes_on & ~divided))
        undivided = parts.take(goes_on).move_to(child[goes_on])
        passed.append(undivided)
        if divided.any():
            shares = _divide(tree, parts.take(divided), undivided)
            parts = undivided.join(shares)
        else:
            parts = undivided
        arrived.append(parts)
    return Walk(*map(_join, (ended, arrived, passed)))


def _next(tree: Tree, cells: np.ndarray, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """The child that each part goes to, -1 if it stays or is divided; and whether it is divided."""
    node = parts.node
    kind = tree.kind[node]
    cell = cells[parts.row, np.maximum(tree.feature[node], 0)].astype(np.float64)
    # a missing cell goes where the split sends it; -1 divides the row among all children
    missing = np.isnan(cell) & (kind != LEAF)
    branch = np.where(missing, tree.missing[node], -1)
    by_threshold = (kind == THRESHOLD) & ~missing
    branch[by_threshold] = cell[by_threshold] > tree.threshold[node[by_threshold]]
    by_interval = (kind == INTERVALS) & ~missing
    branch[by_interval] = _cuts_below(tree, node[by_interval], cell[by_interval])
    # a category that no row of the node had in `fit` has no entry, or -1: the row stays
    by_category = np.flatnonzero((kind >= CATEGORIES) & ~missing)
    code = cell[by_category].astype(np.int64)
    has_entry = (code >= 0) & (code < tree.n_codes[node[by_category]])
    by_category = by_category[has_entry]
    entry = tree.table[node[by_category]] + code[has_entry]
    branch[by_category] = tree.branches[entry]
    child = np.where(branch >= 0, tree.child[node] + branch, -1)
    return child, missing & (branch < 0)


def _cuts_below(tree: Tree, node: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """How many cuts of its node are below a cell, which is the number of its branch."""
    first = tree.table[node]
    n_cuts = tree.n_children[node] - 1
    # the k-th cuts of all nodes at once
    n_below = np.zeros(len(node), dtype=np.int64)
    for k in range(int(n_cuts.max(initial=0))):
        has = np.flatnonzero(k < n_cuts)
        n_below[has] += tree.cuts[first[has] + k] < cell[has]
    return n_below


def _divide(tree: Tree, parts: Parts, undivided: Parts) -> Parts:
    """Divide parts among all children by the weight of the rows that were not divided."""
    n = len(parts.row)
    part, child = child_nodes(tree, parts.node)
    weight = np.bincount(undivided.node, undivided.weight, tree.n_nodes)[child]
    # where no row was undivided, by the weights of `fit`
    is_empty = np.bincount(part, weight, minlength=n) <= 0.0
    weight = np.where(is_empty[part], tree.weight[child], weight)
    share = weight / np.bincount(part, weight, minlength=n)[part]
    divided = Parts(parts.row[part], child, parts.weight[part] * share)
    return divided.take(divided.weight > 0.0)


def child_nodes(tree: Tree, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index among `nodes` of the parent of every child of theirs, and all these children."""
    counts = np.where(tree.kind[nodes] == LEAF, 0, tree.n_children[nodes])
    owner = np.repeat(np.arange(len(nodes)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, tree.child[nodes][owner] + within
