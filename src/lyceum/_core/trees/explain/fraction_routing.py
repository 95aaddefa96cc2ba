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
        starts = np.flatnonzero(
            np.append(True, (np.diff(parts.row) != 0) | (np.diff(parts.node) != 0))
        )
        return Parts(
            parts.row[starts], parts.node[starts], np.add.reduceat(parts.weight, starts)
        )


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
    while len(parts.row):
        to, divided = _next(tree, cells, parts)
        on = to >= 0
        ended.append(parts.take(~on & ~divided))
        passed.append(parts.take(on).move_to(to[on]))
        parts = passed[-1]
        if divided.any():
            parts = parts.join(_spread(tree, arrived[-1].take(divided), parts))
        arrived.append(parts)
    return Walk(*map(_join, (ended, arrived, passed)))


def _next(tree: Tree, cells: np.ndarray, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """The child that each part goes to, -1 if it stays or is divided; and whether it is divided."""
    node = parts.node
    kind = tree.kind[node]
    cell = cells[parts.row, tree.feature[node]].astype(np.float64)
    missing = np.isnan(cell) & (kind != LEAF)
    branch = np.where(missing, tree.missing[node], -1)
    by_threshold = (kind == THRESHOLD) & ~missing
    branch[by_threshold] = cell[by_threshold] > tree.threshold[node[by_threshold]]
    by_interval = (kind == INTERVALS) & ~missing
    branch[by_interval] = _intervals(tree, node[by_interval], cell[by_interval])
    by_category = np.flatnonzero((kind >= CATEGORIES) & ~missing)
    code = cell[by_category].astype(np.int64)
    has_entry = (code >= 0) & (code < tree.n_codes[node[by_category]])
    by_category = by_category[has_entry]
    entry = tree.table[node[by_category]] + code[has_entry]
    branch[by_category] = tree.branches[entry]
    child = np.where(branch >= 0, tree.child[node] + branch, -1)
    return child, missing & (branch < 0)


def _intervals(tree: Tree, node: np.ndarray, cell: np.ndarray) -> np.ndarray:
    below = np.zeros(len(node), dtype=np.int64)
    n_cuts = tree.n_children[node] - 1
    first = tree.table[node]
    for k in range(int(n_cuts.max(initial=0))):
        has = np.flatnonzero(k < n_cuts)
        below[has] += tree.cuts[first[has] + k] < cell[has]
    return below


def _spread(tree: Tree, parts: Parts, passed: Parts) -> Parts:
    """Divide parts among all children by the weight of the rows that were not divided."""
    each, child = child_nodes(tree, parts.node)
    known = np.bincount(passed.node, passed.weight, tree.n_nodes)[child]
    none = np.bincount(each, known, minlength=len(parts.row)) <= 0.0
    by = np.where(none[each], tree.weight[child], known)
    share = by / np.bincount(each, by, minlength=len(parts.row))[each]
    out = Parts(parts.row[each], child, parts.weight[each] * share)
    return out.take(out.weight > 0.0)


def child_nodes(tree: Tree, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All children of nodes, and the place among `nodes` of the parent of each."""
    counts = np.where(tree.kind[nodes] == LEAF, 0, tree.n_children[nodes])
    each = np.repeat(np.arange(len(nodes)), counts)
    within = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts)
    return each, tree.child[nodes][each] + within
