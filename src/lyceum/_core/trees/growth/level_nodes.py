"""Nodes of a tree that grows by levels: their sums, the splits found for them, and the finished
Tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from lyceum._core.native import native
from lyceum._core.trees.growth.bins import Bins
from lyceum._core.trees.growth.grow import Growth, SplitCandidates
from lyceum._core.trees.growth.node_histograms import (
    EVERY_CHILD,
    BinRanges,
    Frontier,
    recenter,
)
from lyceum._core.trees.scikit_arrays import UNDEFINED
from lyceum._core.trees.tree import CATEGORIES, GROUPS, INTERVALS, LEAF, Tree

_GOLDEN = 0x9E3779B97F4A7C15
_BITS = (1 << 64) - 1


@dataclass(slots=True, eq=False)
class BestSplit:
    """How a node is split, in codes."""

    feature: int
    kind: int
    gain: float
    threshold: float
    missing: int  # the child of missing cells, −1 for all
    cuts: np.ndarray
    # the child of every code of the column, the missing one last; −1 where there is none
    branches: np.ndarray


@dataclass(slots=True, eq=False)
class Node:
    """A node with the sums of its target about a center, and its children as soon as its split is
    known."""

    depth: int
    seed: int
    dead: np.ndarray  # (d,) uint8, columns of one value
    sums: np.ndarray
    center: float
    n_rows: int = 0
    impurity: float = 0.0
    may_split: bool = False  # by the stopping rules
    is_searched: bool = False
    split: BestSplit | None = None
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    # (d, 3): gain, score and threshold of every column
    considered: np.ndarray | None = None
    number: int = 0

    @classmethod
    def root(cls, n_columns: int, seed: int) -> Node:
        return cls(
            depth=0,
            seed=_mix_bits(seed + _GOLDEN),
            dead=np.zeros(n_columns, dtype=np.uint8),
            sums=np.empty(0),
            center=0.0,
        )

    def child(self, number: int, sums: np.ndarray, n_rows: int) -> Node:
        """A child that is not in the tree yet; its random numbers depend on its path alone."""
        seed = _mix_bits(self.seed + (number + 1) * _GOLDEN)
        return Node(
            depth=self.depth + 1,
            seed=seed,
            dead=self.dead,
            sums=sums,
            center=self.center,
            n_rows=n_rows,
            parent=self,
        )


def _mix_bits(z: int) -> int:
    """The finaliser of SplitMix64, as in the kernels."""
    z &= _BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _BITS
    return z ^ (z >> 31)


# -- targets ---------------------------------------------------------------------------


class Classes:
    """The weights of the classes."""

    def __init__(self, rules: Any, n_classes: int):
        self.rules = rules
        self.n_classes = n_classes
        self.n_sums = n_classes

    def weight(self, sums: np.ndarray) -> Any:
        return sums.sum(axis=-1)

    def mean(self, node: Node) -> float:
        return 0.0

    def value(self, node: Node) -> np.ndarray:
        return node.sums

    def impurities(self, sums: np.ndarray) -> np.ndarray:
        return _impurities(self.rules, self.n_classes, sums)

    def settle(self, node: Node, sums: np.ndarray, table: np.ndarray) -> None:
        node.sums = sums


class Numbers:
    """Weight, sum and sum of squares about the center of a node."""

    n_classes = None
    n_sums = 3

    def __init__(self, rules: Any):
        self.rules = rules

    def weight(self, sums: np.ndarray) -> Any:
        return sums[..., 0]

    def mean(self, node: Node) -> float:
        return node.center + float(node.sums[1] / node.sums[0])

    def value(self, node: Node) -> np.ndarray:
        return np.array([self.mean(node)])

    def impurities(self, sums: np.ndarray) -> np.ndarray:
        return _impurities(self.rules, 0, sums)

    def settle(self, node: Node, sums: np.ndarray, table: np.ndarray) -> None:
        """Take the sums of a node, and its table in place, about the mean."""
        # Σ w (z − s)² = Σ w z² − s Σ w z for the mean s of z, which is y less the old center
        shift = sums[1] / sums[0]
        table[:] = recenter(table, -shift)
        node.center += float(shift)
        squares = max(0.0, sums[2] - sums[1] * shift)
        node.sums = np.array([sums[0], 0.0, squares])


def _impurities(rules: Any, n_classes: int, sums: np.ndarray) -> np.ndarray:
    out = np.empty(len(sums))
    native.node_impurities(rules, n_classes, sums, out)
    return out


Target = Classes | Numbers


# -- splits ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class NodeSplits:
    """The best split of every slot, as the kernel writes them."""

    feature: np.ndarray
    kind: np.ndarray
    n_children: np.ndarray
    missing: np.ndarray
    gain: np.ndarray
    threshold: np.ndarray
    cuts: np.ndarray  # (slots, max_branches − 1)
    branches: np.ndarray  # (slots, codes)
    considered: np.ndarray | None  # (slots, d, 3), NaN where a column has no split

    @classmethod
    def unknown(cls, n: int, d: int, n_codes: int, growth: Growth) -> NodeSplits:
        """Room for the splits of n nodes and d columns."""
        n_cuts = max(1, growth.max_branches - 1)
        return cls(
            feature=np.full(n, -1, dtype=np.int32),
            kind=np.zeros(n, dtype=np.uint8),
            n_children=np.full(n, -1, dtype=np.int32),
            missing=np.full(n, -1, dtype=np.int32),
            gain=np.full(n, np.nan),
            threshold=np.full(n, np.nan),
            cuts=np.full((n, n_cuts), np.nan),
            branches=np.full((n, n_codes), -1, dtype=np.int32),
            considered=np.full((n, d, 3), np.nan) if growth.record else None,
        )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays in the order of the kernel."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def split(self, slot: int, n_codes: np.ndarray) -> BestSplit | None:
        feature = int(self.feature[slot])
        if feature < 0:
            return None
        kind = int(self.kind[slot])
        n_cuts = 0
        if kind == INTERVALS:
            n_cuts = int(self.n_children[slot]) - 1
        return BestSplit(
            feature=feature,
            kind=kind,
            gain=float(self.gain[slot]),
            threshold=float(self.threshold[slot]),
            missing=int(self.missing[slot]),
            cuts=self.cuts[slot, :n_cuts],
            branches=self.branches[slot, : n_codes[feature] + 1].copy(),
        )


def child_sums(
    split: BestSplit, cells: np.ndarray, rows: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The sums and the numbers of rows of every child, from those of every code of the column.

    Missing cells that go to every child add the child's share of their sums, and count as a row in
    each.
    """
    # the last code is that of missing cells; a code without a branch had no rows
    known = np.flatnonzero(split.branches[:-1] >= 0)
    branch = split.branches[known]
    n_children = max(int(branch.max(initial=0)), split.missing) + 1
    sums = np.zeros((n_children, cells.shape[1]))
    counts = np.zeros(n_children)
    np.add.at(sums, branch, cells[known])
    np.add.at(counts, branch, rows[known])
    if split.missing >= 0:
        sums[split.missing] += cells[-1]
        counts[split.missing] += rows[-1]
    elif rows[-1]:
        child_weight = np.bincount(branch, weight[known], n_children)
        share = child_weight / child_weight.sum()
        sums += share[:, None] * cells[-1]
        counts += rows[-1]
    return sums, counts


def frontier_of(
    nodes: Sequence[Node], root: Node, offsets: np.ndarray, target: Target
) -> Frontier:
    """The tree above some nodes, in codes; these have the slots."""
    order, first = _order_above(nodes, root)
    tables = [np.empty(0, np.int32)]
    start = 0
    n = len(order)
    feature, child, n_children = np.full((3, n), -1, dtype=np.int32)
    table = np.zeros(n, dtype=np.int64)
    share = np.ones(n)
    for i, node in enumerate(order):
        if node not in first:
            continue
        assert node.split is not None
        feature[i] = node.split.feature
        begin = first[node]
        child[i] = begin
        n_children[i] = len(node.children)
        table[i] = start
        if node.split.missing < 0:
            weights = np.array(
                [float(target.weight(below.sums)) for below in node.children]
            )
            share[begin : begin + len(weights)] = weights / weights.sum()
        tables.append(_nodes_of_codes(node.split, begin))
        start += len(tables[-1])
    slots = {node: slot for slot, node in enumerate(nodes)}
    return Frontier(
        offsets=offsets,
        feature=feature,
        table=table,
        branches=np.concatenate(tables),
        child=child,
        n_children=n_children,
        share=share,
        slot=np.array([slots.get(node, -1) for node in order], dtype=np.int32),
    )


def _nodes_of_codes(split: BestSplit, first: int) -> np.ndarray:
    """The node that every code leads to, where the children begin at `first`."""
    branch = split.branches
    destination = np.where(branch >= 0, branch + first, branch)
    if split.missing < 0:
        destination[-1] = EVERY_CHILD
    return destination.astype(np.int32)


def _order_above(
    nodes: Sequence[Node], root: Node
) -> tuple[list[Node], dict[Node, int]]:
    """The nodes from the root down to these, and where the children of those above them begin."""
    # the ancestors; a climb ends where another one has been
    above = set()
    for node in nodes:
        up = node.parent
        while up is not None and up not in above:
            above.add(up)
            up = up.parent
    order = [root]
    first = {}
    for node in order:  # grows as it goes
        if node in above:
            first[node] = len(order)
            order += node.children
    return order, first


def ranked_columns(bins: Bins, ranges: BinRanges, offsets: np.ndarray) -> Any:
    """The bins as the columns of the core, without cells."""
    continuous = ~np.repeat(bins.is_category, bins.n_bins + 1)
    continuous[offsets[1:] - 1] = False  # missing
    sizes = np.where(bins.is_category, 0, bins.n_bins)
    first = (np.cumsum(sizes) - sizes).astype(np.int64)
    low = ranges.low[continuous]
    high = ranges.high[continuous]
    # a bin without rows is as that before
    for start, stop in zip(first, first + sizes):
        np.maximum.accumulate(high[start:stop], out=high[start:stop])
    none = np.empty((len(bins), 0), dtype=np.uint8)
    return native.TreeColumns(
        none, bins.n_bins, bins.is_category.astype(np.uint8), first, low, high
    )


# -- the finished tree -----------------------------------------------------------------


def build_tree(nodes: Sequence[Node], target: Target, bins: Bins) -> Tree:
    """The nodes, in the order of their numbers, as a Tree."""
    n = len(nodes)
    child, missing = np.full((2, n), -1, dtype=np.int32)
    feature = np.full(n, UNDEFINED, dtype=np.int32)
    n_children = np.zeros(n, dtype=np.int32)
    kind = np.full(n, LEAF, dtype=np.uint8)
    threshold = np.full(n, float(UNDEFINED))
    gain = np.zeros(n)
    for i, node in enumerate(nodes):
        split = node.split
        if split is None:
            continue
        feature[i] = split.feature
        kind[i] = split.kind
        gain[i] = split.gain
        missing[i] = split.missing
        child[i] = node.children[0].number
        n_children[i] = len(node.children)
        threshold[i] = split.threshold
    return Tree(
        feature=feature,
        kind=kind,
        child=child,
        n_children=n_children,
        threshold=threshold,
        missing=missing,
        node_values=np.array([target.value(node) for node in nodes]),
        weight=np.array([float(target.weight(node.sums)) for node in nodes]),
        n_rows=np.array([node.n_rows for node in nodes], dtype=np.int64),
        impurity=np.array([node.impurity for node in nodes]),
        gain=gain,
        n_features=len(bins.edges),
        **_split_tables(nodes, bins),
    )


def _split_tables(nodes: Sequence[Node], bins: Bins) -> dict[str, Any]:
    """The cuts of the splits by intervals, the branches of those by categories, how many branches a
    node has, and where its cuts or branches begin."""
    cuts: list[np.ndarray] = [np.empty(0)]
    branches: list[np.ndarray] = [np.empty(0, np.int32)]
    n_cuts = 0
    n_branches = 0
    table = np.full(len(nodes), -1, dtype=np.int32)
    n_codes = np.zeros(len(nodes), dtype=np.int32)
    for i, node in enumerate(nodes):
        split = node.split
        if split is None:
            continue
        if split.kind == INTERVALS:
            cuts.append(split.cuts)
            table[i] = n_cuts
            n_cuts += len(split.cuts)
        elif split.kind in (CATEGORIES, GROUPS):
            # of categories, which may share a bin
            branch = split.branches[bins.tables[split.feature]]
            branches.append(branch)
            table[i] = n_branches
            n_codes[i] = len(branch)
            n_branches += len(branch)
    return {
        "table": table,
        "n_codes": n_codes,
        "cuts": np.concatenate(cuts),
        "branches": np.concatenate(branches),
    }


def collect_candidates(nodes: Sequence[Node]) -> SplitCandidates:
    """Every column considered at the nodes that were searched."""
    candidates = [
        (node.number, column, *node.considered[column])
        for node in nodes
        if node.considered is not None
        for column in np.flatnonzero(~np.isnan(node.considered[:, 0])).tolist()
    ]
    table = np.array(candidates, dtype=np.float64).reshape(-1, 5)
    numbers, columns, *merits = table.T
    return SplitCandidates(numbers.astype(np.int32), columns.astype(np.int32), *merits)
