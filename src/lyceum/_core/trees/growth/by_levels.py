"""grow_by_levels: a tree from histograms of binned rows, in a few passes over rows of any size.

A pass sums the target over the bins of every column at every open node (`NodeHistograms`); the
splits are chosen from the merged sums by the same search as in `grow`. Only the sums are in memory,
so arrays, files larger than memory and Dask give the same tree, the one that `grow` gives on the
same bins.

A level takes one pass, or several where the sums of its nodes do not fit into `budget` bytes: a
node takes columns × bins × classes numbers, or four per bin where the target is a number. Every
thread holds the sums once or twice, and so does their merging. With `max_leaf_nodes` the node of
the largest gain is split first. The children of all nodes that may still be split are searched
together, so that here too there are about as many passes as levels.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.trees.growth.bins import Bins, BlockCodes
from lyceum._core.trees.growth.grow import Growth, SplitCandidates
from lyceum._core.trees.growth.level_nodes import (
    Classes,
    Node,
    NodeSplits,
    Numbers,
    Target,
    build_tree,
    child_sums,
    collect_candidates,
    frontier_of,
    ranked_columns,
)
from lyceum._core.trees.growth.node_histograms import (
    BinRanges,
    Frontier,
    NodeHistograms,
)
from lyceum._core.trees.tree import Tree
from lyceum.errors import SourceError

BUDGET = 1 << 27
_FEW = 1 << 15  # sums that are searched before another thread has woken up

# the negative gain of a split, weighted; the number of the node
_Waiting = tuple[float, int, Node]


def grow_by_levels(
    rows: Rows,
    bins: Bins,
    growth: Growth,
    n_classes: int | None = None,
    budget: int = BUDGET,
) -> Tree:
    """The tree of all rows, their cells in bins; `n_classes` is None where the target is a number.

    Split forms, ties and stopping rules are those of `grow`.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> rows = scan(pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}), target="y")
    >>> tree = grow_by_levels(rows, Bins.of(rows), Growth(criterion="entropy"), n_classes=2)
    >>> tree.threshold[0].item(), tree.gain[0].item(), tree.node_values[1:].tolist()
    (2.5, 1.0, [[2.0, 0.0], [0.0, 2.0]])
    """
    return grow_by_levels_with_record(rows, bins, growth, n_classes, budget)[0]


def grow_by_levels_with_record(
    rows: Rows,
    bins: Bins,
    growth: Growth,
    n_classes: int | None = None,
    budget: int = BUDGET,
) -> tuple[Tree, SplitCandidates]:
    """The tree, and with `growth.record` every column considered."""
    if growth.criterion == "absolute_error":
        raise SourceError(
            "criterion='absolute_error' needs the rows of a node, which sums over bins do not have:"
            " choose criterion='squared_error', or leave out max_bins and give the rows in memory"
        )
    target: Target
    if n_classes is None:
        target = Numbers(growth.native)
    else:
        target = Classes(growth.native, n_classes)
    grower = _Grower(rows, bins, growth, target, budget)
    if growth.max_leaf_nodes:
        nodes = grower.best_first()
    else:
        nodes = grower.levels()
    return build_tree(nodes, target, bins), collect_candidates(nodes)


@dataclass(frozen=True, slots=True)
class _RootPass:
    """The histograms of the root and the ranges of the bins, in one pass."""

    histograms: NodeHistograms
    ranges: BinRanges

    @classmethod
    def of(
        cls, block: Block, bins: Bins, frontier: Frontier, n_classes: int | None
    ) -> _RootPass:
        coded = BlockCodes(bins.code(block))
        histograms = NodeHistograms.of(block, coded, frontier, n_classes)
        return cls(histograms, BinRanges.of(block, coded, frontier.offsets))

    def merge(self, other: _RootPass) -> _RootPass:
        histograms = self.histograms.merge(other.histograms)
        return _RootPass(histograms, self.ranges.merge(other.ranges))


class _Grower:
    """Searches nodes, pass by pass; a node that has been searched has its split and its children,
    if any."""

    def __init__(
        self, rows: Rows, bins: Bins, growth: Growth, target: Target, budget: int
    ):
        self.rows = rows
        self.bins = bins
        self.growth = growth
        self.target = target
        self.budget = budget
        self.offsets = bins.offsets
        self.rules = growth.native
        self.root = Node.root(len(bins), growth.seed)
        self._search_root()

    # -- the order of growth -----------------------------------------------------------

    def levels(self) -> list[Node]:
        """The nodes of the tree, level by level."""
        nodes = []
        level = [self.root]
        while level:
            self._search_nodes(level)
            nodes += level
            level = [child for node in level for child in node.children]
        for number, node in enumerate(nodes):
            node.number = number
        return nodes

    def best_first(self) -> list[Node]:
        """The nodes of the tree; the split that gains most, weighted by the rows, is made first."""
        max_leaves = self.growth.max_leaf_nodes or 0
        n_leaves = 1
        nodes = [self.root]
        inner = set()
        waiting: list[_Waiting] = []
        self._admit(self.root, waiting, 0)
        while waiting and n_leaves < max_leaves:
            node = heapq.heappop(waiting)[-1]
            n_more = len(node.children) - 1
            if n_leaves + n_more > max_leaves:
                continue
            n_leaves += n_more
            self._search_ahead(node, waiting, max_leaves - n_leaves)
            inner.add(node)
            for number, child in enumerate(node.children, len(nodes)):
                child.number = number
                self._admit(child, waiting, number)
            nodes += node.children
        # nodes that were searched ahead, or found no place among the leaves, stay leaves
        for node in nodes:
            if node not in inner:
                node.split = None
                node.children = []
        return nodes

    def _admit(self, node: Node, waiting: list[_Waiting], number: int) -> None:
        if node.split is not None:
            worth = float(self.target.weight(node.sums)) * node.split.gain
            heapq.heappush(waiting, (-worth, number, node))

    def _search_ahead(self, node: Node, waiting: list[_Waiting], left: int) -> None:
        """Look at the children of a node and, if that takes a pass, at as many others as fit into
        it.

        The others are children of nodes that would be split next, were the gains below them all
        known: what is not known can only push some of them out.
        """
        needed = [child for child in node.children if self._is_open(child)]
        if not needed:
            return
        # growth is played through on a copy of the heap; numbers of nodes to come are not known,
        # and only have to be larger than those given
        ahead = list(waiting)
        others = []
        numbers = count(1 << 40)
        while ahead and left > 0:
            rival = heapq.heappop(ahead)[-1]
            left -= len(rival.children) - 1
            for child in rival.children:
                self._admit(child, ahead, next(numbers))
                if self._is_open(child):
                    others.append(child)
        n_others = max(0, self.nodes_per_pass - len(needed))
        self._search_nodes(needed + others[:n_others])

    def _is_open(self, node: Node) -> bool:
        return not node.is_searched and node.may_split

    def _judge(self, nodes: Sequence[Node]) -> None:
        """Set the impurity of nodes from their sums, and whether the stopping rules let them be
        split."""
        impurities = self.target.impurities(np.array([node.sums for node in nodes]))
        if nodes[0] is self.root:
            self.root_impurity = float(impurities[0])
        # the kernel's stopping rules, so that they are those of `grow`
        flags = np.empty(len(nodes), dtype=np.uint8)
        native.may_split(
            self.rules,
            np.array([node.n_rows for node in nodes], dtype=np.int64),
            np.array([node.depth for node in nodes], dtype=np.int64),
            impurities,
            np.array([self.target.mean(node) for node in nodes]),
            self.root_impurity,
            flags,
        )
        for node, impurity, flag in zip(nodes, impurities.tolist(), flags.tolist()):
            node.impurity = impurity
            node.may_split = bool(flag)

    # -- passes ------------------------------------------------------------------------

    def _search_root(self) -> None:
        frontier = Frontier.of_root(self.bins.n_bins + 1)
        of = partial(
            _RootPass.of,
            bins=self.bins,
            frontier=frontier,
            n_classes=self.target.n_classes,
        )
        root_pass = self.rows.reduce(of)
        self.columns = ranked_columns(self.bins, root_pass.ranges, self.offsets)
        self.root.center = float(root_pass.histograms.center[0])
        tables = self._settle([self.root], root_pass.histograms)
        self.root_weight = float(self.target.weight(self.root.sums))
        self._choose([self.root], tables, root_pass.histograms.counted)
        self.nodes_per_pass = max(1, self.budget // tables.nbytes)

    def _search_nodes(self, nodes: Sequence[Node]) -> None:
        """Find the splits of nodes, in as many passes as their sums need."""
        open_ = [node for node in nodes if self._is_open(node)]
        for start in range(0, len(open_), self.nodes_per_pass):
            self._pass(open_[start : start + self.nodes_per_pass])

    def _pass(self, nodes: Sequence[Node]) -> None:
        if self.target.n_classes is None:
            for node in nodes:
                node.center = float(self.target.value(node)[0])
        frontier = frontier_of(nodes, self.root, self.offsets, self.target)
        center = np.array([node.center for node in nodes])
        of = partial(
            NodeHistograms.of,
            coder=self.bins,
            frontier=frontier,
            n_classes=self.target.n_classes,
            center=center,
        )
        histograms = self.rows.reduce(of)
        tables = self._settle(nodes, histograms)
        self._choose(nodes, tables, histograms.counted)

    def _settle(self, nodes: Sequence[Node], histograms: NodeHistograms) -> np.ndarray:
        """The histograms of the nodes, whose sums are now known from them: those of any column add
        up."""
        tables = histograms.tables
        totals = tables[:, : self.offsets[1]].sum(axis=1)
        for node, table, sums in zip(nodes, tables, totals):
            # without weights the sums of the classes are numbers of rows
            n_rows = sums[-1] if histograms.counted else sums.sum()
            node.n_rows = round(n_rows)
            self.target.settle(node, sums[: self.target.n_sums], table)
            node.is_searched = True
        self._judge(nodes)
        return tables

    # -- splits ------------------------------------------------------------------------

    def _choose(self, nodes: Sequence[Node], tables: np.ndarray, counted: bool) -> None:
        """Split nodes by their histograms; threads take some nodes each, one thread takes few
        sums."""
        n_shares = 4 * n_threads() if tables.size > _FEW else 1
        step = max(1, math.ceil(len(nodes) / n_shares))
        shares = [slice(start, start + step) for start in range(0, len(nodes), step)]
        search = partial(self._search, nodes, tables, counted)
        for share, splits in zip(shares, ordered_map(search, shares)):
            for slot, (node, table) in enumerate(zip(nodes[share], tables[share])):
                if splits.considered is not None:
                    node.considered = splits.considered[slot]
                self._split(node, splits, slot, table, counted)

    def _search(
        self, nodes: Sequence[Node], tables: np.ndarray, counted: bool, share: slice
    ) -> NodeSplits:
        nodes = nodes[share]
        n_codes = int(self.bins.n_bins.max()) + 1
        node_splits = NodeSplits.unknown(
            len(nodes), len(self.bins), n_codes, self.growth
        )
        # the kernel marks columns of one value at a node, which are not searched below it
        dead = np.stack([node.dead for node in nodes])
        share_tables = np.ascontiguousarray(tables[share])
        sums = native.NodeTables(share_tables, self.offsets, counted)
        open_nodes = native.OpenNodes(
            np.array([node.may_split for node in nodes], dtype=np.uint8),
            np.array([node.sums for node in nodes]),
            np.array([node.impurity for node in nodes]),
            np.array([node.seed for node in nodes], dtype=np.uint64),
            dead,
        )
        splits = native.NodeSplits(*node_splits.arrays)
        n_classes = self.target.n_classes or 0
        native.histogram_splits(
            self.columns, self.rules, n_classes, sums, open_nodes, splits
        )
        for node, flags in zip(nodes, dead):
            node.dead = flags
        return node_splits

    def _split(
        self,
        node: Node,
        splits: NodeSplits,
        slot: int,
        table: np.ndarray,
        counted: bool,
    ) -> None:
        """Give a node its split and its children, if the rules allow it."""
        split = splits.split(slot, self.bins.n_bins)
        if split is None:
            return
        share = float(self.target.weight(node.sums)) / self.root_weight
        # a little less, as gains are rounded
        least_decrease = self.growth.min_impurity_decrease * (1 - 1e-12)
        if share * split.gain < least_decrease:
            return
        start = self.offsets[split.feature]
        end = self.offsets[split.feature + 1]
        cells = table[start:end]
        sums = cells[:, : self.target.n_sums]
        rows = cells[:, -1] if counted else cells.sum(axis=1)
        parts, n_rows = child_sums(split, sums, rows, self.target.weight(sums))
        if (
            self.growth.max_p_value is not None
            and native.independence(parts) > self.growth.max_p_value
        ):
            return
        node.split = split
        node.children = [
            node.child(i, part, round(n))
            for i, (part, n) in enumerate(zip(parts, n_rows))
        ]
        self._judge(node.children)
