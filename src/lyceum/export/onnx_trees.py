"""Trees as nodes of ONNX: TreeEnsemble where every row ends in one leaf, level by level where
missing cells part rows among leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import numpy_helper

from lyceum.export.onnx_graph import Graph

_LEQ = 0
_MEMBER = 6
_SUM = 1
_NODE_ARRAYS = (
    "modes",
    "features",
    "splits",
    "true",
    "trueleaf",
    "false",
    "falseleaf",
    "missing",
)


@dataclass
class Branch:
    """A way out of a node: to cells in (low, high], or to codes."""

    low: float = -math.inf
    high: float = math.inf
    codes: list[int] | None = None
    others: bool = False  # whether codes that no branch names go here too
    missing: float = 0.0  # the share of a row whose cell is missing
    to: Any = None  # a NodeTest, or the values of a leaf


@dataclass
class NodeTest:
    """A test of one column with all its ways out."""

    feature: int
    branches: list[Branch] = field(default_factory=list)
    n_codes: int = 0


def tree_sums(graph: Graph, x: str, p: dict[str, Any]) -> str:
    """The sum of the values of all trees, (N, K)."""
    width = len(p["start"])
    roots = [_node(tree, 0, width) for tree in p["trees"]]
    if graph.may_be_missing and any(map(_parts_rows, roots)):
        return _by_levels(graph, x, roots, width)
    return _by_ensemble(graph, x, roots, width)


def _node(tree: dict[str, Any], node: int, width: int) -> NodeTest | np.ndarray:
    """A node of an exported tree with everything below it; a leaf is its values."""
    value = np.zeros(width)
    own = tree["value"][node]
    value[tree["column"] : tree["column"] + len(own)] = own
    if tree["kind"][node] == 0:
        return value
    first = tree["child"][node]
    children = range(first, first + tree["n_children"][node])
    made = _test(tree, node, children)
    for branch, child in zip(made.branches, children):
        branch.to = _node(tree, child, width)
    if made.n_codes:  # codes without a child stay, as do unknown ones
        made.branches.append(Branch(codes=[], others=True, to=value))
    return made


def _test(tree: dict[str, Any], node: int, children: range) -> NodeTest:
    """The test of a node; its branches lead nowhere yet."""
    kind = tree["kind"][node]
    start = tree["table"][node]
    made = NodeTest(tree["feature"][node])
    if kind == 1:
        made.branches = _intervals([tree["threshold"][node]])
    elif kind == 2:
        made.branches = _intervals(tree["cuts"][start : start + len(children) - 1])
    else:
        made.n_codes = tree["n_codes"][node]
        ways = tree["branches"][start : start + made.n_codes]
        made.branches = [
            Branch(codes=[code for code, way in enumerate(ways) if way == step])
            for step in range(len(children))
        ]
    for branch, share in zip(made.branches, _missing_shares(tree, node, children)):
        branch.missing = share
    return made


def _intervals(cuts: list[float]) -> list[Branch]:
    ends = [-math.inf, *cuts, math.inf]
    return [Branch(low, high) for low, high in pairwise(ends)]


def _missing_shares(tree: dict[str, Any], node: int, children: range) -> list[float]:
    step = tree["missing"][node]
    if step >= 0:
        return [float(i == step) for i in range(len(children))]
    weights = [tree["weight"][child] for child in children]
    whole = sum(weights)
    return [weight / whole if weight > 0 else 0.0 for weight in weights]


def _parts_rows(root: NodeTest | np.ndarray) -> bool:
    if not isinstance(root, NodeTest):
        return False
    parted = sum(branch.missing > 0 for branch in root.branches) > 1
    return parted or any(_parts_rows(branch.to) for branch in root.branches)


# -- TreeEnsemble ----------------------------------------------------------------------


class _Ensemble:
    """The arrays of TreeEnsemble. A leaf of it has one number: here its value where trees give one
    each, else its row in a table of values."""

    def __init__(self, width: int):
        self.width = width
        self.values: list[np.ndarray] = []
        self.targets: list[int] = []
        self.nodes: dict[str, list[Any]] = {name: [] for name in _NODE_ARRAYS}
        self.members: list[float] = []
        self.roots: list[int] = []

    def add_tree(self, root: NodeTest | np.ndarray, target: int) -> None:
        if not isinstance(
            root, NodeTest
        ):  # a test whose two ways lead to the same leaf
            root = NodeTest(0, [Branch(high=0.0, to=root), Branch(low=0.0, to=root)])
        self.roots.append(len(self.nodes["modes"]))
        self._add(root, 0, target)

    def _add(self, node: NodeTest, first: int, target: int) -> int:
        """The test of one branch against all later ones, and what both lead to."""
        index = len(self.nodes["modes"])
        branch = node.branches[first]
        for name in self.nodes:
            self.nodes[name].append(0)
        is_member = branch.codes is not None
        self._set(index, "modes", _MEMBER if is_member else _LEQ)
        self._set(index, "features", node.feature)
        self._set(index, "splits", math.nan if is_member else branch.high)
        self._set(index, "missing", int(branch.missing > 0))
        if is_member:
            codes = branch.codes or [-2]  # no cell has this code
            self.members += [*map(float, codes), math.nan]
        self._lead(index, "true", branch.to, target)
        rest: Any = node.branches[first + 1].to
        if first + 2 < len(node.branches):
            self._set(index, "false", self._add(node, first + 1, target))
        else:
            self._lead(index, "false", rest, target)
        return index

    def _set(self, index: int, name: str, value: Any) -> None:
        self.nodes[name][index] = value

    def _lead(
        self, index: int, way: str, to: NodeTest | np.ndarray, target: int
    ) -> None:
        if isinstance(to, NodeTest):
            self._set(index, way, self._add(to, 0, target))
            return
        self._set(index, f"{way}leaf", 1)
        self._set(index, way, len(self.values))
        self.values.append(to)
        self.targets.append(target)

    def write(self, graph: Graph, x: str, weights: np.ndarray, n_targets: int) -> str:
        nodes = self.nodes
        attributes: dict[str, Any] = {
            "n_targets": n_targets,
            "aggregate_function": _SUM,
            "post_transform": 0,
            "tree_roots": self.roots,
            "nodes_modes": _tensor("modes", nodes["modes"], np.uint8),
            "nodes_featureids": nodes["features"],
            "nodes_splits": _tensor("splits", nodes["splits"]),
            "nodes_truenodeids": nodes["true"],
            "nodes_trueleafs": nodes["trueleaf"],
            "nodes_falsenodeids": nodes["false"],
            "nodes_falseleafs": nodes["falseleaf"],
            "nodes_missing_value_tracks_true": nodes["missing"],
            "leaf_targetids": self.targets,
            "leaf_weights": _tensor("weights", weights),
        }
        if self.members:
            attributes["membership_values"] = _tensor("members", self.members)
        return graph.node("TreeEnsemble", x, **attributes)


def _tensor(name: str, values: Any, dtype: Any = np.float64) -> Any:
    return numpy_helper.from_array(np.asarray(values, dtype=dtype), name)


def _by_ensemble(graph: Graph, x: str, roots: list[Any], width: int) -> str:
    if width == 1:
        ensemble = _Ensemble(width)
        for root in roots:
            ensemble.add_tree(root, 0)
        weights = np.concatenate(ensemble.values)
        return ensemble.write(graph, x, weights, 1)
    ensemble = _Ensemble(width)
    for t, root in enumerate(roots):
        ensemble.add_tree(root, t)
    numbers = np.arange(len(ensemble.values), dtype=np.float64)
    leaves = ensemble.write(graph, x, numbers, len(roots))
    table = graph.constant(np.array(ensemble.values))
    return graph.total(graph.node("Gather", table, graph.whole(leaves), axis=0))


# -- level by level --------------------------------------------------------------------


def _by_levels(graph: Graph, x: str, roots: list[Any], width: int) -> str:
    """The share of every row that comes to every node of a level, times the values of leaves."""
    start = np.sum([root for root in roots if not isinstance(root, NodeTest)], axis=0)
    total = graph.constant(np.broadcast_to(start, (1, width)))
    level = [root for root in roots if isinstance(root, NodeTest)]
    shares = graph.rows_like(x, [1.0] * len(level))
    while level:
        ways = [(i, node, way) for i, node in enumerate(level) for way in node.branches]
        parents = graph.columns(shares, [i for i, _, _ in ways])
        shares = graph.node("Mul", parents, _taken(graph, x, ways))
        leaves = [k for k, (_, _, way) in enumerate(ways) if not _is_test(way.to)]
        inner = [k for k, (_, _, way) in enumerate(ways) if _is_test(way.to)]
        if leaves:
            values = graph.constant(np.array([ways[k][2].to for k in leaves]))
            ended = graph.node("MatMul", graph.columns(shares, leaves), values)
            total = graph.node("Add", total, ended)
        if inner:
            shares = graph.columns(shares, inner)
        level = [ways[k][2].to for k in inner]
    return total


def _is_test(to: Any) -> bool:
    return isinstance(to, NodeTest)


def _taken(graph: Graph, x: str, ways: list[tuple[int, NodeTest, Branch]]) -> str:
    """The share of a row at a node that takes each way out of it, (N, ways)."""
    cells = graph.columns(x, [node.feature for _, node, _ in ways])
    above = graph.node(
        "Not",
        graph.node("LessOrEqual", cells, graph.constant([[w.low for *_, w in ways]])),
    )
    within = graph.node(
        "LessOrEqual", cells, graph.constant([[w.high for *_, w in ways]])
    )
    taken = graph.number(graph.node("And", above, within))
    is_coded = [way.codes is not None for *_, way in ways]
    if any(is_coded):
        coded = _taken_by_code(graph, cells, ways)
        taken = graph.node("Where", graph.constant([is_coded], np.bool_), coded, taken)
    missing = graph.constant([[way.missing for *_, way in ways]])
    return graph.node("Where", graph.node("IsNaN", cells), missing, taken)


def _taken_by_code(
    graph: Graph, cells: str, ways: list[tuple[int, NodeTest, Branch]]
) -> str:
    """The same of codes: a table for every way, one after the other, each with an end for unknown
    codes."""
    tables = [_code_table(node, way) for _, node, way in ways]
    sizes = np.array([len(table) - 1 for table in tables], dtype=np.float64)
    starts = np.concatenate([[0.0], np.cumsum(sizes + 1.0)[:-1]])
    known = graph.node(
        "And",
        graph.node("GreaterOrEqual", cells, graph.constant(0.0)),
        graph.node("Less", cells, graph.constant([sizes])),
    )
    code = graph.node("Where", known, cells, graph.constant([sizes]))
    index = graph.whole(graph.node("Add", code, graph.constant([starts])))
    return graph.node("Gather", graph.constant(np.concatenate(tables)), index, axis=0)


def _code_table(node: NodeTest, way: Branch) -> np.ndarray:
    """Whether every code takes this way; the last entry is that of unknown codes."""
    if way.codes is None:
        return np.zeros(1)
    table = np.zeros(node.n_codes + 1)
    if not way.others:
        table[way.codes] = 1.0
        return table
    table[:] = 1.0
    for other in node.branches:
        table[other.codes or []] = 0.0
    return table
