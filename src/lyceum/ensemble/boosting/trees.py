"""Trees of gradient boosting: grown on bins, kept as `Tree`s on the columns' own values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.native import native
from lyceum._core.threads import n_threads
from lyceum._core.trees import (
    GROUPS,
    LEAF,
    THRESHOLD,
    UNDEFINED,
    BinnedRows,
    Bins,
    Tree,
)
from lyceum.ensemble.boosting.losses import Loss

MOST_LEAVES = 32768


@dataclass(frozen=True, slots=True)
class GrownTree:
    """A tree on bins: every node's column (−1: a leaf), bin, first child, and the side of missing
    cells."""

    splits: np.ndarray  # int32 (4, n_nodes)
    sides: np.ndarray  # uint8 (n_nodes, 256), of categories: 0 left, 1 right, 2 stay
    gain: np.ndarray  # float64, of the second-order objective
    n_rows: np.ndarray  # int64

    @property
    def column(self) -> np.ndarray:
        return self.splits[0]

    @property
    def child(self) -> np.ndarray:
        return self.splits[2]

    @property
    def leaves(self) -> np.ndarray:
        return np.flatnonzero(self.column < 0)

    def sum_up(self, leaf_sums: np.ndarray) -> np.ndarray:
        """Sums over leaves for every node, from those at the leaves."""
        sums = leaf_sums.copy()
        first_child = self.child.tolist()
        # children come after their parents: from the last node to the root
        for node in np.flatnonzero(self.column >= 0)[::-1].tolist():
            left = first_child[node]
            sums[node] = sums[left] + sums[left + 1]
        return sums


class TreeGrower:
    """Grows trees on binned rows, and sends binned rows down them."""

    def __init__(
        self,
        binned: BinnedRows,
        bins: Bins,
        rules: native.BoostRules,
        learning_rate: float,
    ) -> None:
        self.bins = bins
        self.rules = rules
        self.smoothing = rules.smoothing  # in rows
        self.learning_rate = learning_rate
        self.is_category = bins.is_category
        self.has_categories = bool(self.is_category.any())
        self.n_rows = len(binned)
        assert binned.by_row is not None
        self.table = native.BoostTable(
            binned.by_row,
            binned.columns,
            bins.n_bins,
            self.is_category.astype(np.uint8),
        )
        # where every row ended in the last tree
        self.node = np.empty(len(binned), dtype=np.uint16)

    def grow(
        self,
        loss: Loss,
        g: np.ndarray,
        h: np.ndarray | None,
        rows: np.ndarray | None,
        columns: np.ndarray,
    ) -> GrownTree:
        """A tree on all rows, or on some; `columns` (d,) says which columns it may use."""
        rules = self.rules
        rules.exact = loss.is_exact
        rules.max_gradient, rules.max_hessian = loss.tops
        if h is not None and self.has_categories:
            # by the mean hessian: a constant would outweigh hessians, which fall as the classes
            # are told apart
            rules.smoothing = self.smoothing * (float(h.sum()) / loss.weight)
        splits, gain, n_rows, sides = self.table.grow(
            g, h, rows, columns.astype(np.uint8), rules, n_threads(), self.node
        )
        return GrownTree(splits, sides, gain, n_rows)

    def with_values(
        self,
        tree: GrownTree,
        loss: Loss,
        g: np.ndarray,
        h: np.ndarray | None,
        scores: np.ndarray,
    ) -> Tree:
        """The tree with values: the Newton step, or the loss's own constant, times the learning
        rate."""
        # growing has left in `self.node` where its rows ended: one pass sums g, h and w per leaf
        sums = np.zeros((len(tree.gain), 3))
        native.boost_node_sums(self.node, g, h, loss.w, n_threads(), sums)
        sums = tree.sum_up(sums)
        # G, H and the weight of every node; the Newton step is -G / (H + λ)
        G, H, weight = sums.T
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(self.rules.min_hessian <= H, -G / (H + self.rules.l2), 0.0)
            fall = np.where(weight > 0, tree.gain / weight, 0.0)
            objective = np.where(weight > 0, 0.5 * G * step / weight, 0.0)
        value = self._leaf_values(tree, loss, scores, step, weight)
        if self.rules.directions:
            value = self._in_order(tree, value)
        return self._as_tree(
            tree,
            value=self.learning_rate * value,
            weight=weight,
            objective=objective,
            fall=fall,
        )

    def _leaf_values(
        self,
        tree: GrownTree,
        loss: Loss,
        scores: np.ndarray,
        step: np.ndarray,
        weight: np.ndarray,
    ) -> np.ndarray:
        """The values of nodes, for the losses with constants of their own those at inner nodes by
        weight."""
        if type(loss).leaf_value is Loss.leaf_value:
            return step
        # rows in the order of their nodes: those of node i are between ends[i] and ends[i + 1]
        order = np.argsort(self.node, kind="stable")
        ends = np.searchsorted(self.node[order], np.arange(len(step) + 1))
        weighted_values = np.zeros(len(step))
        for leaf in tree.leaves:
            value = loss.leaf_value(order[ends[leaf] : ends[leaf + 1]], scores)
            assert value is not None
            weighted_values[leaf] = weight[leaf] * value
        return tree.sum_up(weighted_values) / np.where(weight > 0, weight, 1.0)

    def _in_order(self, tree: GrownTree, value: np.ndarray) -> np.ndarray:
        """The values, within the bounds that splits on monotone columns set: what is below such a
        split stays on its side of the middle of the two values."""
        directions = self.rules.directions
        value = value.copy()
        bounds = np.tile([-np.inf, np.inf], (len(value), 1))
        # children come after their parents
        for node in np.flatnonzero(tree.column >= 0).tolist():
            left = int(tree.child[node])
            children = [left, left + 1]
            bounds[children] = bounds[node]
            value[children] = np.clip(value[children], *bounds[node])
            direction = directions[tree.column[node]]
            if direction:
                middle = value[children].mean()
                low, high = children[::direction]
                bounds[low, 1] = bounds[high, 0] = middle
                value[low] = min(value[low], middle)
                value[high] = max(value[high], middle)
        return value

    def route(self, tree: GrownTree, rest: bool = False) -> None:
        """Find the node of every row, or with `rest` of those that the tree was not grown on."""
        self.table.route(tree.splits, tree.sides, rest, n_threads(), self.node)

    def add_values(self, value: np.ndarray, score: np.ndarray) -> None:
        """Add to every row's score the value of its node."""
        native.boost_add_values(
            self.node, np.ascontiguousarray(value), n_threads(), score
        )

    def _as_tree(
        self,
        tree: GrownTree,
        value: np.ndarray,
        weight: np.ndarray,
        objective: np.ndarray,
        fall: np.ndarray,
    ) -> Tree:
        """On the columns' own values: thresholds are the edges of bins."""
        # a split sends the bins up to `last` to the left
        n = len(value)
        column, last, child, missing_left = tree.splits
        inner = column >= 0
        is_group = np.zeros(n, dtype=bool)
        is_group[inner] = self.is_category[column[inner]]
        threshold = np.where(inner, np.nan, UNDEFINED)
        for node in np.flatnonzero(inner & ~is_group).tolist():
            edges = self.bins.edges[column[node]]
            # the last bin's upper bound: known cells go left, missing ones right
            threshold[node] = np.inf
            if last[node] < len(edges):
                threshold[node] = edges[last[node]]
        table, n_codes, branches = self._branches(tree, np.flatnonzero(is_group))
        kind = np.full(n, LEAF, dtype=np.uint8)
        kind[inner] = THRESHOLD
        kind[is_group] = GROUPS
        return Tree(
            feature=np.where(inner, column, UNDEFINED).astype(np.int32),
            kind=kind,
            child=child.copy(),
            n_children=np.where(inner, 2, 0).astype(np.int32),
            threshold=threshold,
            table=table,
            n_codes=n_codes,
            missing=np.where(inner, 1 - missing_left, -1).astype(np.int32),
            cuts=np.empty(0),
            branches=branches,
            node_values=value[:, None],
            weight=weight,
            n_rows=tree.n_rows,
            impurity=objective,
            gain=fall,
            n_features=len(self.is_category),
        )

    def _branches(
        self,
        tree: GrownTree,
        nodes: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The children of the categories at these nodes, -1 to stay, one table after the other;
        and of all nodes the start of their table and its length."""
        table = np.full(len(tree.gain), -1, np.int32)
        n_codes = np.zeros(len(tree.gain), np.int32)
        branches = [np.empty(0, np.int32)]
        size = 0
        for node in nodes.tolist():
            bins = self.bins.tables[tree.column[node]]
            side = tree.sides[node][bins].astype(np.int32)
            table[node] = size
            n_codes[node] = len(side)
            branches.append(np.where(side > 1, -1, side))
            size += len(side)
        return table, n_codes, np.concatenate(branches).astype(np.int32)
