"""Patterns (CPDAGs), what graphs with the same independences have in common: learned by tests (PC),
oriented, extended to a graph, and how far apart two are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lyceum._core.statistics import independence_test
from lyceum.bayesnets.structure.coded_data import CodedData
from lyceum.bayesnets.structure.search import EdgeRules
from lyceum.errors import DataError
from lyceum.progress import report

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


@dataclass(frozen=True)
class Pattern:
    """A partly directed graph on variables 0 ... n - 1.

    Attributes
    ----------
    n : int
    directed : set of (from, to)
    undirected : set of (smaller, larger)
        Edges that may point either way.
    """

    n: int
    directed: frozenset[tuple[int, int]]
    undirected: frozenset[tuple[int, int]]


def pc(
    data: CodedData,
    alpha: float = 0.05,
    kind: str = "g2",
    rules: EdgeRules | None = None,
) -> tuple[Pattern, int]:
    """The pattern (CPDAG) that the tests leave, and their number.

    A required edge is not tested, and a pair whose edge is forbidden both ways is apart from the
    start, which says nothing about colliders. An edge that is required, or forbidden one way, has
    its direction before any other is found (C. Meek, "Causal inference and causal explanation with
    background knowledge", 1995).

    P. Spirtes and C. Glymour 1991; in the order-independent form of D. Colombo and M. H. Maathuis,
    "Order- independent constraint-based causal structure learning", Journal of Machine Learning
    Research 15, 2014.
    """
    n = len(data.states)
    if rules is None:
        nothing = np.zeros((n, n), dtype=bool)
        rules = EdgeRules(nothing, nothing, n)
    # a pair apart from the start counts as separated by all variables: none is its collider
    required = rules.required
    barred = rules.forbidden | required.T
    skeleton = _Skeleton(data, alpha, kind)
    barred_both_ways = barred & barred.T & ~required & ~required.T
    for u, v in np.argwhere(barred_both_ways).tolist():
        skeleton.neighbors[u].discard(v)
        skeleton.separators[u, v] = tuple(range(n))
    size = 0
    while skeleton.test_all(size, required | required.T):
        size += 1
    # required edges, and those that are forbidden the other way
    directions = [(u, v) for u, v in np.argwhere(required).tolist()]
    for v, u in np.argwhere(barred & ~required.T).tolist():
        if v in skeleton.neighbors[u]:
            directions.append((u, v))
    pattern = orient(
        skeleton.neighbors, skeleton.separators, skeleton.strengths, directions
    )
    return pattern, skeleton.n_tests


class _Skeleton:
    """The edges that the tests have left so far, and what they found."""

    def __init__(self, data: CodedData, alpha: float, kind: str) -> None:
        self.data = data
        self.alpha = alpha
        self.kind = kind
        variables = set(range(len(data.states)))
        self.neighbors = {v: variables - {v} for v in variables}
        self.separators: dict[tuple[int, int], tuple[int, ...]] = {}
        # the largest p-value of an edge
        self.strengths: dict[tuple[int, int], float] = {}
        self.n_tests = 0

    def test_all(self, size: int, certain: np.ndarray) -> bool:
        """Test every pair that is not certain given sets of neighbors of this size, if any are."""
        # the neighbors at the start of the level, so that the order of the tests does not matter
        around = {v: sorted(others) for v, others in self.neighbors.items()}
        pairs = [(u, v) for u, others in around.items() for v in others if u < v]
        if not any(len(around[u]) > size or len(around[v]) > size for u, v in pairs):
            return False
        for done, (u, v) in enumerate(pairs):
            report(f"tests given {size} variables", done, len(pairs))
            if not certain[u, v]:
                self._test(u, v, _sets(around, u, v, size))
        return True

    def _test(self, u: int, v: int, conditions: Iterable[tuple[int, ...]]) -> None:
        """Remove the edge of u and v if they are independent given one of the conditions."""
        for condition in conditions:
            counts = self.data.counts((u, v, *condition))
            test = independence_test(counts, self.kind)
            self.n_tests += 1
            if test.p_value > self.alpha:
                self.neighbors[u].discard(v)
                self.neighbors[v].discard(u)
                self.separators[u, v] = condition
                return
            strongest = self.strengths.get((u, v), 0.0)
            self.strengths[u, v] = max(strongest, test.p_value)


def _sets(
    around: dict[int, list[int]], u: int, v: int, size: int
) -> Iterator[tuple[int, ...]]:
    """Sets of neighbors of u without v, then of v without u, each once."""
    first = [w for w in around[u] if w != v]
    second = [w for w in around[v] if w != u]
    yield from combinations(first, size)
    if not size:
        return
    seen = set(first)
    for condition in combinations(second, size):
        if not seen.issuperset(condition):
            yield condition


class _Marks:
    """Edges while they are being oriented."""

    def __init__(self, neighbors: Mapping[int, set[int]]) -> None:
        self.neighbors = neighbors
        self.to: dict[int, set[int]] = {v: set() for v in neighbors}  # v → w

    def is_open(self, u: int, v: int) -> bool:
        return v in self.neighbors[u] and v not in self.to[u] and u not in self.to[v]

    def direct(self, u: int, v: int) -> bool:
        if not self.is_open(u, v):
            return False
        self.to[u].add(v)
        return True

    def leads(self, start: int, end: int) -> bool:
        """Whether directed edges lead from one variable to another."""
        waiting = [start]
        seen = {start}
        while waiting:
            for v in self.to[waiting.pop()]:
                if v == end:
                    return True
                if v not in seen:
                    seen.add(v)
                    waiting.append(v)
        return False

    def follows(self, u: int, v: int) -> bool:
        """Whether one of Meek's four rules directs the open edge u → v."""
        beside_u = self.neighbors[u]
        beside_v = self.neighbors[v]
        # 1: w → u, w not beside v: v → u would be a new collider
        for w in beside_u:
            if u in self.to[w] and w not in beside_v and w != v:
                return True
        # 2: u → w → v: v → u would close a cycle
        if any(v in self.to[w] for w in self.to[u]):
            return True
        # 3: u – a → v and u – b → v, a not beside b
        between = [w for w in beside_u if self.is_open(u, w) and v in self.to[w]]
        if any(b not in self.neighbors[a] for a, b in combinations(between, 2)):
            return True
        # 4: w → x → v, w not beside v, both beside u; only where some directions are given
        for w in beside_u:
            if w == v or w in beside_v:
                continue
            if any(v in self.to[x] for x in self.to[w] & beside_u):
                return True
        return False

    def close(self) -> None:
        """Apply Meek's rules until nothing changes: no new collider, no cycle."""
        changed = True
        while changed:
            changed = False
            for u in self.neighbors:
                for v in sorted(self.neighbors[u]):
                    if not self.is_open(u, v):
                        continue
                    if self.follows(u, v) and not self.leads(v, u):
                        changed |= self.direct(u, v)

    def pattern(self) -> Pattern:
        directed = {(u, v) for u, targets in self.to.items() for v in targets}
        pairs = {
            (u, v) for u, others in self.neighbors.items() for v in others if u < v
        }
        undirected = {pair for pair in pairs if self.is_open(*pair)}
        return Pattern(len(self.neighbors), frozenset(directed), frozenset(undirected))


def orient(
    neighbors: Mapping[int, set[int]],
    separators: Mapping[tuple[int, int], tuple[int, ...]],
    strengths: Mapping[tuple[int, int], float],
    directions: Iterable[tuple[int, int]] = (),
) -> Pattern:
    """Colliders u → w ← v where w separates u and v by no test, then what follows from them.

    Edges in `directions` have it first; one that would then close a cycle is left out.
    """
    marks = _Marks(neighbors)
    for u, v in directions:
        if marks.leads(v, u):
            marks.neighbors[u].discard(v)
            marks.neighbors[v].discard(u)
        else:
            marks.direct(u, v)
    # u → w ← v where u and v are apart and w is not in what separates them, each after the p-value
    # of the weaker of its edges: the surest first, where two contradict each other
    colliders = []
    for w in neighbors:
        for u, v in combinations(sorted(neighbors[w]), 2):
            if v in neighbors[u] or w in separators.get((u, v), ()):
                continue
            edges = [(min(end, w), max(end, w)) for end in (u, v)]
            weaker = max(strengths.get(edge, 0.0) for edge in edges)
            colliders.append((weaker, u, w, v))
    for _, u, w, v in sorted(colliders):
        if u in marks.to[w] or v in marks.to[w]:
            continue
        if marks.leads(w, u) or marks.leads(w, v):
            continue
        marks.direct(u, w)
        marks.direct(v, w)
    marks.close()
    return marks.pattern()


def pattern_of(net: BayesNet) -> Pattern:
    """The pattern of a network: all graphs with the same independences have the same one."""
    index = net.index_of
    neighbors: dict[int, set[int]] = {i: set() for i in range(len(net.names))}
    for parent, child in net.edges:
        neighbors[index[parent]].add(index[child])
        neighbors[index[child]].add(index[parent])
    marks = _Marks(neighbors)
    for u, w, v in v_structures(net):
        marks.direct(index[u], index[w])
        marks.direct(index[v], index[w])
    marks.close()
    return marks.pattern()


def v_structures(net: BayesNet) -> list[tuple[str, str, str]]:
    """Every u → w ← v of which u and v are not joined, as (u, w, v)."""
    joined = {frozenset(edge) for edge in net.edges}
    return [
        (u, node.name, v)
        for node in net.nodes
        for u, v in combinations(node.parents, 2)
        if frozenset((u, v)) not in joined
    ]


def extend(pattern: Pattern) -> list[set[int]]:
    """The parents of every variable in a graph without cycles that has the directions of the
    pattern.

    By D. Dor and M. Tarsi (1992): a node without outgoing edges whose open neighbors are
    neighbors of all its others becomes a sink. Where a pattern has no such graph, the remaining
    edges follow the numbers.
    """
    into, out, neighbors = _adjacent_sets(pattern)
    parents: list[set[int]] = [set() for _ in range(pattern.n)]

    def is_simplicial(v: int) -> bool:
        adjacent = neighbors[v] | into[v] | out[v]
        return all(
            adjacent - {w} <= neighbors[w] | into[w] | out[w] for w in neighbors[v]
        )

    # a sink takes its open edges as parents and leaves the graph
    left = set(range(pattern.n))
    while left:
        sinks = [v for v in left if not out[v]]
        simplicial = [v for v in sinks if is_simplicial(v)]
        v = max(simplicial or sinks or left)
        parents[v] = (into[v] | neighbors[v]) & left - {v}
        left.discard(v)
        for edges in (into, out, neighbors):
            for w in left:
                edges[w].discard(v)
    return parents


def _adjacent_sets(
    pattern: Pattern,
) -> tuple[list[set[int]], list[set[int]], list[set[int]]]:
    """Of every variable those with an edge into it, those it has an edge to, and those joined by
    an edge without direction."""
    into: list[set[int]] = [set() for _ in range(pattern.n)]
    out: list[set[int]] = [set() for _ in range(pattern.n)]
    neighbors: list[set[int]] = [set() for _ in range(pattern.n)]
    for u, v in pattern.directed:
        out[u].add(v)
        into[v].add(u)
    for u, v in pattern.undirected:
        neighbors[u].add(v)
        neighbors[v].add(u)
    return into, out, neighbors


def structural_distance(net: BayesNet, other: BayesNet) -> int:
    """The structural Hamming distance of two networks: edges of their patterns that differ.

    An edge that is missing, added or differently directed counts once. Networks with the same
    independences are at distance 0 (I. Tsamardinos, L. E. Brown and C. F. Aliferis, Machine
    Learning 65, 2006).

    Parameters
    ----------
    net, other : BayesNet
        On the same variables.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode, structural_distance
    >>> forward = BayesNet([TableNode("a", [0, 1]), TableNode("b", [0, 1], ["a"])])
    >>> backward = BayesNet([TableNode("a", [0, 1], ["b"]), TableNode("b", [0, 1])])
    >>> structural_distance(forward, backward)
    0
    """
    if set(net.names) != set(other.names):
        raise DataError(
            "the networks have different variables, so that their structures cannot be compared"
        )
    # every edge by its two names, which the networks may have in another order
    marks = []
    for compared in (net, other):
        pattern = pattern_of(compared)
        names = compared.names
        edges = {}
        for u, v in pattern.directed:
            ends = (names[u], names[v])
            edges[frozenset(ends)] = ends
        for u, v in pattern.undirected:
            edges[frozenset((names[u], names[v]))] = ("", "")
        marks.append(edges)
    pairs = set(marks[0]) | set(marks[1])
    return sum(marks[0].get(pair) != marks[1].get(pair) for pair in pairs)
